// Options of LevelDB and RocksDB that have a counterpart here. docs/options_map.md shows the table.
//
// Threads: any.

#ifndef MIODB_TOOLS_MIODB_STORES_OPTION_MAP_H_
#define MIODB_TOOLS_MIODB_STORES_OPTION_MAP_H_

#include <string>

#include "miodb/status.h"

namespace miodb::tool {

// The options of this table in the file OPTIONS of the RocksDB database in this directory, a line each; empty if there
// is no such file.
std::string DescribeOptions(const std::string& directory);

// Where the RocksDB database in this directory has its log, if its options say that it is elsewhere; else nothing.
// NotFound: the folder that they name is not there, and the directory has no log either. IOError: the options cannot be
// read.
Status WalDirectoryOf(const std::string& directory, std::string* wal_directory);

// The table of docs/options_map.md.
std::string OptionMapText();

// The table of docs/options.md: all options of MioDB.
std::string OptionTableText();

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_OPTION_MAP_H_
