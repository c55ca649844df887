// Log files: LevelDB's log format, and what the files are called.
//
// A file is a row of blocks of equal size; the last may be short. A block holds fragments:
//
//   u32 masked CRC-32C of type and payload | u16 payload size | u8 type | payload
//
// A record is one full fragment, or a first, middle ones and a last. Less than a header's bytes at the end of a block
// are zero, and so is everything from where a fragment of type 0 and size 0 begins: padding, which any reader of the
// format skips. The payload of a record is a batch (src/api/batch/write_batch_internal.h): one write group.
//
// A file's name tells its number, ascending, and its block size unless that is the format's usual one:
// 000017.log, 000018-8192.log. So a file can be read whatever the options are today.

#ifndef MIODB_SRC_LOG_FILE_LOG_FORMAT_H_
#define MIODB_SRC_LOG_FILE_LOG_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace miodb {

inline constexpr size_t kFragmentHeaderBytes = 4 + 2 + 1;

enum FragmentType : uint8_t {
  kPaddingFragment = 0,
  kFullFragment = 1,
  kFirstFragment = 2,
  kMiddleFragment = 3,
  kLastFragment = 4,
};

// Block sizes are powers of two in this range: the largest is what a u16 can measure.
inline constexpr size_t kLeastLogBlock = 256;
inline constexpr size_t kUsualLogBlock = 32 * 1024;
inline constexpr size_t kMostLogBlock = 64 * 1024;
static_assert(kMostLogBlock - kFragmentHeaderBytes <= UINT16_MAX && kFragmentHeaderBytes < kLeastLogBlock);

inline bool IsLogBlockSize(uint64_t size) {
  return size >= kLeastLogBlock && size <= kMostLogBlock && (size & (size - 1)) == 0;
}

// Files are numbered one by one, so the number of none is near this, and the next one's never wraps.
inline constexpr uint64_t kMostLogNumber = UINT64_MAX / 2;

std::string LogFileName(uint64_t number, size_t block_size);

// A log file by its name.
struct LogFile {
  uint64_t number = 0;
  size_t block_size = kUsualLogBlock;

  std::string name() const { return LogFileName(number, block_size); }
};

// False for names of other files.
bool ParseLogFileName(const std::string& name, uint64_t* number, size_t* block_size);

}  // namespace miodb

#endif  // MIODB_SRC_LOG_FILE_LOG_FORMAT_H_
