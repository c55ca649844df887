// The hash that spreads key numbers, and the names of keys.
//
// FNV-1a over the eight little-endian bytes of the number. Java YCSB, the reference, takes the absolute value of the
// signed result; its C++ ports take it unsigned, which names half of the keys differently. The two forms are here,
// because databases and key lists are exchanged.

#ifndef MIODB_YCSBC_WORKLOAD_HASH_H_
#define MIODB_YCSBC_WORKLOAD_HASH_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "benchmarks/common/draw/fnv.h"

namespace miodb::ycsb {

enum class KeyHash { kJava, kCpp };

inline uint64_t Fnv64(uint64_t number) {
  uint64_t hash = bench::kFnvOfNothing;
  for (int i = 0; i < 8; i++, number >>= 8) hash = bench::FnvStep(hash, static_cast<unsigned char>(number & 0xff));
  return hash;
}

inline uint64_t Fnv64(uint64_t number, KeyHash kind) {
  const uint64_t hash = Fnv64(number);
  const bool is_negative = (hash >> 63) != 0;
  return kind == KeyHash::kJava && is_negative ? ~hash + 1 : hash;
}

// Makes "user" and the decimal number, in one buffer that each call overwrites. Threads: one per buffer.
class KeyBuffer {
 public:
  static constexpr int kMaxPadding = 100;

  // "is_hashed": names come from the hash of the number. "padding": the least number of digits.
  KeyBuffer(bool is_hashed, KeyHash hash, int padding) : is_hashed_(is_hashed), hash_(hash), padding_(padding) {}

  std::string_view Make(uint64_t number) {
    if (is_hashed_) number = Fnv64(number, hash_);
    char* const digits = bytes_ + kPrefixBytes;
    char* end = std::to_chars(digits, bytes_ + sizeof(bytes_), number).ptr;
    const std::ptrdiff_t missing = padding_ - (end - digits);
    if (missing > 0) {
      std::memmove(digits + missing, digits, static_cast<size_t>(end - digits));
      std::memset(digits, '0', static_cast<size_t>(missing));
      end += missing;
    }
    return std::string_view(bytes_, static_cast<size_t>(end - bytes_));
  }

 private:
  static constexpr int kPrefixBytes = 4;

  bool is_hashed_;
  KeyHash hash_;
  int padding_;
  char bytes_[kPrefixBytes + kMaxPadding] = {'u', 's', 'e', 'r'};
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_HASH_H_
