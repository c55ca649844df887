// Files that are read and written past the page cache of the system (O_DIRECT), through buffers that are aligned as the
// device wants it.
//
// Threads: as RandomAccessFile and WritableFile say. After a crash: as with other files; until Sync or Close a
// file may be longer than what was appended, with zeros behind it.
//
// Errors: NotSupported where the file system has no direct input and output.

#ifndef MIODB_SRC_UTIL_FILES_DIRECT_FILE_H_
#define MIODB_SRC_UTIL_FILES_DIRECT_FILE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "miodb/env.h"
#include "miodb/status.h"
#include "src/util/check/check.h"
#include "src/util/files/own_files.h"

namespace miodb {

// Offsets, lengths and addresses are multiples of this, which is enough for every device of today.
inline constexpr size_t kDirectAlignment = 4096;
static_assert(std::has_single_bit(kDirectAlignment));

inline constexpr uint64_t AlignDown(uint64_t n) { return n & ~uint64_t{kDirectAlignment - 1}; }
inline constexpr uint64_t AlignUp(uint64_t n) { return AlignDown(n + kDirectAlignment - 1); }

// Memory that such files are read into without a copy.
struct AlignedDelete {
  void operator()(char* p) const { free(p); }
};
using AlignedBytes = std::unique_ptr<char[], AlignedDelete>;

// REQUIRES: size is a multiple of kDirectAlignment.
inline AlignedBytes NewAlignedBytes(size_t size) {
  CHECK(size > 0 && size % kDirectAlignment == 0);
  char* const p = static_cast<char*>(aligned_alloc(kDirectAlignment, size));
  if (p == nullptr) throw std::bad_alloc();
  return AlignedBytes(p);
}

Status OpenDirectForReading(const std::string& fname, RandomAccessFile** result);

// The file is emptied, or made.
Status OpenDirectForWriting(const std::string& fname, FileAccess access, Links links, WritableFile** result);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_DIRECT_FILE_H_
