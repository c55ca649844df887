// Keys and values of the workloads, the same bytes for every engine.
//
// Threads: KeyFormat and ValuePool are read-only after construction; each thread owns its KeyBuffer and ValueCursor.

#ifndef MIODB_BENCHMARKS_GENERATOR_H_
#define MIODB_BENCHMARKS_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/common/random.h"

namespace miodb::bench {

struct Config;

// How the number of a key becomes its bytes.
//   decimal: key_prefix times 'a', then the number in decimal, zero padded to key_size digits.
//   binary:  key_prefix times 'a', then, with keys_per_prefix > 0, a prefix of prefix_size bytes: the number modulo
//            (num / keys_per_prefix), big-endian in at most 8 bytes, padded with '0'; then the number big-endian in
//            min(8, what is left) bytes; then '0' up to key_size.
class KeyFormat {
 public:
  explicit KeyFormat(const Config& config);

  // What is wrong with the sizes for keys 0..num-1, or nothing.
  std::string Problem(int64_t num) const;

 private:
  friend class KeyBuffer;

  bool binary_;
  size_t lead_bytes_;    // The 'a's.
  size_t prefix_bytes_;  // 0: no prefix.
  size_t number_bytes_;  // Digits, or big-endian bytes.
  size_t key_bytes_;     // All of it.
  uint64_t prefixes_;    // Distinct prefixes; 0: no prefix.
};

// One key at a time in one buffer; Make overwrites the previous key.
class KeyBuffer {
 public:
  explicit KeyBuffer(const KeyFormat& format);

  // The key of this number.
  std::string_view Make(uint64_t number) {
    Fill(number);
    return std::string_view(bytes_.data(), format_.key_bytes_);
  }

  // A key that no Make ever gives and that sorts right after the key of this number: that key and one byte more.
  std::string_view MakeMissing(uint64_t number) {
    Fill(number);
    return std::string_view(bytes_.data(), format_.key_bytes_ + 1);
  }

 private:
  void Fill(uint64_t number);

  KeyFormat format_;
  std::string bytes_;
};

// How large values are: all alike, uniform in [min, max], or normal with mean (min + max) / 2 and standard deviation
// (max - min) / 6, cut off at min and max.
class ValueSizes {
 public:
  explicit ValueSizes(const Config& config);

  static ValueSizes Fixed(size_t bytes) { return ValueSizes(Kind::kFixed, bytes, bytes); }

  // Draws from "random" unless all sizes are alike.
  size_t Next(Random* random) const { return kind_ == Kind::kFixed ? max_ : Draw(random); }

  size_t max() const { return max_; }
  double mean() const { return (static_cast<double>(min_) + static_cast<double>(max_)) / 2; }

  // "100 bytes each", "uniform from 10 to 20 bytes".
  std::string ToString() const;

 private:
  enum class Kind { kFixed, kUniform, kNormal };

  ValueSizes(Kind kind, size_t min, size_t max) : kind_(kind), min_(min), max_(max) {}

  size_t Draw(Random* random) const;

  Kind kind_;
  size_t min_;
  size_t max_;
};

// A block of bytes whose windows serve as values. Made of 100-byte pieces; a piece repeats int(100 * ratio) random
// printable bytes, so that a compressor brings it down to about that fraction.
class ValuePool {
 public:
  static constexpr size_t kPieceBytes = 100;

  // Holds at least max(1 MiB, 2 * max_value_bytes).
  ValuePool(uint64_t seed, double compression_ratio, size_t max_value_bytes);

  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Successive windows of a pool.
class ValueCursor {
 public:
  // Starts anywhere; "start" is taken modulo the size of the pool.
  ValueCursor(const ValuePool& pool, uint64_t start) : bytes_(pool.bytes()), at_(start % bytes_.size()) {}

  // REQUIRES: size <= the size of the pool.
  std::string_view Next(size_t size) {
    if (at_ + size > bytes_.size()) at_ = 0;
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

 private:
  std::string_view bytes_;
  size_t at_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_GENERATOR_H_
