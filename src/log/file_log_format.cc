// Names of log files, both ways: a name is one only if it is what the number and the block size would be called.

#include "src/log/file_log_format.h"

#include <cinttypes>
#include <cstdio>

namespace miodb {

// Logs of the usual block size have LevelDB's names, so that LevelDB's tools find them; another size stands in the
// name.
std::string LogFileName(uint64_t number, size_t block_size) {
  char name[64];  // 20 digits at most for each number
  if (block_size == kUsualLogBlock) {
    snprintf(name, sizeof(name), "%06" PRIu64 ".log", number);
  } else {
    snprintf(name, sizeof(name), "%06" PRIu64 "-%zu.log", number, block_size);
  }
  return name;
}

// Another spelling of the same number, with more zeros say, is no log file: it would be counted twice.
bool ParseLogFileName(const std::string& name, uint64_t* number, size_t* block_size) {
  *block_size = kUsualLogBlock;
  if (sscanf(name.c_str(), "%" SCNu64 "-%zu", number, block_size) < 1) return false;
  return IsLogBlockSize(*block_size) && *number <= kMostLogNumber && name == LogFileName(*number, *block_size);
}

}  // namespace miodb
