// Keys and values for random tests. A key is a function of its number, so that histories overwrite, delete and look up
// the same keys again.

#ifndef MIODB_TESTS_COMMON_RANDOM_GENERATOR_H_
#define MIODB_TESTS_COMMON_RANDOM_GENERATOR_H_

#include <cstdint>
#include <string>

#include "tests/common/random/random.h"

namespace miodb::test {

enum class KeyStyle {
  kShort,       // 0 to 4 letters: many keys are prefixes of others
  kLongShared,  // a few prefixes of 50 to 120 bytes, then a number
  kBinary,      // bytes 0x00, 0x01 and 0xff only, 0 to 12 of them
  kNumbers,     // 16 decimal digits
  kLetters,     // 1 to 3 letters of either case, for orders that ignore case
  kMixed,       // all but kLetters, and now and then a key of some KiB
};

class KeySpace {
 public:
  // Two spaces of one style, size and seed are the same. REQUIRES: count > 0.
  KeySpace(KeyStyle style, uint64_t count, uint64_t seed) : style_(style), count_(count), seed_(seed) {}

  uint64_t count() const { return count_; }

  // The key of number i. Different numbers may give the same key. REQUIRES: i < count().
  std::string Key(uint64_t i) const;

  // A random key of the set.
  std::string Any(Random* random) const { return Key(random->Uniform(count_)); }

  // A random key, or something near it that may lie between two keys: a target for searches.
  std::string Near(Random* random) const;

 private:
  const KeyStyle style_;
  const uint64_t count_;
  const uint64_t seed_;
};

// Mostly tens to hundreds of bytes, sometimes none, rarely up to max_bytes.
std::string AnyValue(Random* random, size_t max_bytes);

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_RANDOM_GENERATOR_H_
