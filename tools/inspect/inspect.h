// The verbs of the program miodb for the bytes of databases that nobody has open: checking, dumping, telling where
// parts were moved to. Programs use this header; the files behind it see the library's inside.
//
// Threads: one. Results go to stdout and errors to stderr, which begin with the name of the program as its user wrote
// it. Nothing but MoveParts changes anything.

#ifndef MIODB_TOOLS_INSPECT_INSPECT_H_
#define MIODB_TOOLS_INSPECT_INSPECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "miodb/options.h"
#include "miodb/status.h"

namespace miodb {

enum ExitCode : int {
  kExitOk = 0,         // looked at, undamaged; done
  kExitDamage = 1,     // looked at, damaged; something else lies there
  kExitCannotRun = 2,  // usage, no such file, open elsewhere, another version
};

struct CheckRequest {
  std::string path;  // the database's directory, or its pool
  bool json = false;
  bool lost_power = false;  // a hole in the log is its end
  std::string ssd;          // the directory of the SSD tier; empty: its files are not checked
  std::string wal;          // empty: where the database remembers its log files
  std::vector<std::string> regions;
};

// Verifies everything.
ExitCode CheckDatabase(const char* program, const CheckRequest& request);

struct DumpRequest {
  std::string path;  // as above, and so are the last three
  bool header = false;
  bool manifest = false;
  bool tables = false;
  bool log = false;
  bool values = false;
  std::optional<uint64_t> table;  // whose entries are shown
  std::optional<uint64_t> file;   // the same of a table file; with ssd
  std::string ssd;
  std::string wal;
  std::vector<std::string> regions;
};

// Shows what is chosen, or, if nothing is, all but entries.
ExitCode DumpDatabase(const char* program, const DumpRequest& request);

struct MoveRequest {
  std::string directory;
  std::optional<std::string> pool;  // not given: where it was
  std::optional<std::string> wal;
  std::optional<std::string> ssd;
  std::vector<std::string> regions;
};

// Has STORE name the places to which parts have been moved.
ExitCode MoveParts(const char* program, const MoveRequest& request);

// Fills in where the database in this directory has its parts, by what it says itself, and the mode of its log, so that
// it can be opened by its name alone. NotFound if it says nothing: there is none, or its STORE is missing.
Status FindPlaces(const std::string& directory, Options* options);

// Whether the database in this directory, whose parts are where the options say, keeps flushed log for followers
// (Options::keep_log_bytes), as its manifest tells before any open changes that. True if that cannot be read.
bool KeepsLog(const std::string& directory, const Options& options);

}  // namespace miodb

#endif  // MIODB_TOOLS_INSPECT_INSPECT_H_
