// Keys and values of the workloads, the same bytes for every engine.
//
// Threads: KeyFormat and ValuePool are read-only after construction; each thread owns its KeyBuffer and ValueCursor.

#ifndef MIODB_BENCHMARKS_DB_BENCH_CONFIG_GENERATOR_H_
#define MIODB_BENCHMARKS_DB_BENCH_CONFIG_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/draw/random.h"

namespace miodb::bench {

struct Config;

// How the number of a key becomes its bytes.
//   decimal: key_prefix times 'a', then the number in decimal, zero padded to key_size digits.
//   binary:  key_prefix times 'a', then, with keys_per_prefix > 0, a prefix of prefix_size bytes: the number modulo
//            (num / keys_per_prefix), big-endian in at most 8 bytes, padded with '0'; then the number big-endian in
//            min(8, what is left) bytes; then '0' up to key_size.
// With second_key_size the number decides which size its key has. The number then has the room of the smaller size, and
// '0' fills the larger one, so the order of keys is that of their numbers.
class KeyFormat {
 public:
  explicit KeyFormat(const Config& config);

  // The problem of the sizes for keys 0..num-1, or nothing.
  std::string Problem(int64_t num) const;

  // Bytes of the key of this number.
  size_t Bytes(uint64_t number) const {
    return key_bytes_ == second_bytes_ || !IsSecond(number) ? key_bytes_ : second_bytes_;
  }

 private:
  friend class KeyBuffer;

  bool IsSecond(uint64_t number) const;

  bool binary_;
  size_t lead_bytes_;    // The 'a's.
  size_t prefix_bytes_;  // 0: no prefix.
  size_t number_bytes_;  // Digits, or big-endian bytes.
  size_t key_bytes_;     // All of it.
  size_t second_bytes_;  // The same of the other keys; key_bytes_: there are none.
  double second_share_;
  uint64_t prefixes_;  // Distinct prefixes; 0: no prefix.
};

// The keys that a store has, in its order; their numbers are 0, 1, 2, ...
class ExistingKeys {
 public:
  void Add(std::string_view key) {
    bytes_.append(key);
    ends_.push_back(bytes_.size());
  }

  uint64_t count() const { return ends_.size(); }

  // REQUIRES: number < count().
  std::string_view At(uint64_t number) const {
    const size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

// Makes keys in a single buffer; each key overwrites the previous one.
class KeyBuffer {
 public:
  // With "existing", which outlives this, numbers stand for those keys and the format does not matter.
  explicit KeyBuffer(const KeyFormat& format, const ExistingKeys* existing = nullptr);

  // The key of this number.
  std::string_view Make(uint64_t number) {
    if (existing_ != nullptr) return existing_->At(number);
    Fill(number);
    return std::string_view(bytes_.data(), format_.Bytes(number));
  }

  // A key that no Make ever gives, of a format, and that sorts right after the key of this number: that key and one
  // byte more.
  std::string_view MakeMissing(uint64_t number) { return MakeWith(number, '.'); }

  // The key of this number and one byte more.
  std::string_view MakeWith(uint64_t number, char last);

 private:
  void Fill(uint64_t number);

  KeyFormat format_;
  const ExistingKeys* existing_;
  std::string bytes_;
  size_t marked_ = 0;  // Where MakeWith put its byte last.
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

#endif  // MIODB_BENCHMARKS_DB_BENCH_CONFIG_GENERATOR_H_
