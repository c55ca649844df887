#include "src/log/file_log_format.h"

#include <cinttypes>
#include <cstdio>

namespace miodb {

std::string LogFileName(uint64_t number, size_t block_size) {
  char name[64];
  if (block_size == kUsualLogBlock) {
    snprintf(name, sizeof(name), "%06" PRIu64 ".log", number);
  } else {
    snprintf(name, sizeof(name), "%06" PRIu64 "-%zu.log", number, block_size);
  }
  return name;
}

bool ParseLogFileName(const std::string& name, uint64_t* number, size_t* block_size) {
  *block_size = kUsualLogBlock;
  if (sscanf(name.c_str(), "%" SCNu64 "-%zu", number, block_size) < 1) return false;
  return IsLogBlockSize(*block_size) && name == LogFileName(*number, *block_size);
}

}  // namespace miodb
