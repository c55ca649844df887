// What fuzz targets share.
//
// Every stored format is checksummed, so bytes that somebody made up nearly never get past the first check. Hence
// targets take a first byte that says whether checksums are made right before the bytes are read.

#ifndef MIODB_TESTS_FUZZ_FUZZ_H_
#define MIODB_TESTS_FUZZ_FUZZ_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "miodb/slice.h"

// Ends the program, which is how a target reports a finding.
#define FUZZ_CHECK(condition)                                                           \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fprintf(stderr, "%s:%d: finding: %s is false\n", __FILE__, __LINE__, #condition); \
      abort();                                                                          \
    }                                                                                   \
  } while (false)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace miodb::fuzz {

// Takes the first byte off the input; 0 if there is none.
inline uint8_t TakeByte(const uint8_t** data, size_t* size) {
  if (*size == 0) return 0;
  const uint8_t byte = **data;
  ++*data;
  --*size;
  return byte;
}

// Fills *to with the input's next bytes, as far as they reach, and takes them off.
template <typename T>
void TakeInto(T* to, const uint8_t** data, size_t* size) {
  const size_t taken = std::min(sizeof(T), *size);
  memcpy(static_cast<void*>(to), *data, taken);
  *data += taken;
  *size -= taken;
}

// A copy of the input in memory of just its size, so that the sanitizer sees a read behind it.
class ExactBuffer {
 public:
  ExactBuffer(const uint8_t* data, size_t size) : bytes_(new char[size]), size_(size) {
    if (size > 0) memcpy(bytes_, data, size);
  }
  ~ExactBuffer() { delete[] bytes_; }
  ExactBuffer(const ExactBuffer&) = delete;
  ExactBuffer& operator=(const ExactBuffer&) = delete;

  char* data() { return bytes_; }
  const char* end() const { return bytes_ + size_; }
  size_t size() const { return size_; }
  Slice slice() const { return Slice(bytes_, size_); }

 private:
  char* const bytes_;
  const size_t size_;
};

}  // namespace miodb::fuzz

#endif  // MIODB_TESTS_FUZZ_FUZZ_H_
