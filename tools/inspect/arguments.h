// Arguments that checking and dumping share: finding the pool and its log.

#ifndef MIODB_TOOLS_INSPECT_ARGUMENTS_H_
#define MIODB_TOOLS_INSPECT_ARGUMENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/nvm/pool/pool_image.h"
#include "tools/inspect/inspect.h"

namespace miodb {

// Opens the pool at path, or in the directory path, with its further regions: regions are paths where they may be,
// besides those that the database remembers. On failure prints why, for this program, and returns the exit code in
// *code.
bool OpenImage(const char* program, const std::string& path, const std::vector<std::string>& regions,
               std::unique_ptr<PoolImage>* image, ExitCode* code);

// Whether this is the directory of a database whose pool is volatile memory.
bool IsVolatile(const std::string& path);

// Where the log files of the database at path are (or of that in whose directory the pool at path is), as the database
// remembers it, or, if wal_dir is not empty, there. *folder is empty if it has none, or none with writes. False, and an
// error is printed, if that cannot be read, for the reason in *code.
bool FindLogFolder(const char* program, const std::string& path, const std::string& wal_dir, std::string* folder,
                   uint64_t* log_id, ExitCode* code);

}  // namespace miodb

#endif  // MIODB_TOOLS_INSPECT_ARGUMENTS_H_
