// The number from the manifest of a LevelDB directory at which numbers of new files begin. Table files from there on
// are nobody's: a compaction that was cut off left them, and whoever opens the database writes over them.
//
// Threads: any. Errors: none; a manifest that is damaged is read as far as it goes, and LevelDB itself refuses it.

#ifndef MIODB_TOOLS_MIODB_STORES_LEVELDB_MANIFEST_H_
#define MIODB_TOOLS_MIODB_STORES_LEVELDB_MANIFEST_H_

#include <cstdint>
#include <string>

namespace miodb::tool {

// The number that the next file gets; the greatest of all if the manifest named by CURRENT does not say.
uint64_t NextFileOfLevelDb(const std::string& directory);

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_LEVELDB_MANIFEST_H_
