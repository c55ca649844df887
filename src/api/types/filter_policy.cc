#include "miodb/filter_policy.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "miodb/slice.h"
#include "src/api/types/table_bloom.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

// LevelDB's Bloom filter for table files.

namespace miodb {

namespace {

// The hash that the filter format prescribes. The hash reads four bytes at a time and adds the last one to three bytes
// as a little-endian number.
uint32_t FilterHash(const Slice& key) {
  constexpr uint32_t kMultiplier = 0xc6a4a793;
  constexpr uint32_t kSeed = 0xbc9f1d34;
  const char* p = key.data();
  size_t left = key.size();
  uint32_t h = kSeed ^ (static_cast<uint32_t>(left) * kMultiplier);
  for (; left >= 4; p += 4, left -= 4) {
    h = (h + DecodeFixed32(p)) * kMultiplier;
    h ^= h >> 16;
  }
  if (left > 0) {
    uint32_t tail = 0;
    for (size_t i = left; i-- > 0;) tail = (tail << 8) | static_cast<uint8_t>(p[i]);
    h = (h + tail) * kMultiplier;
    h ^= h >> 24;
  }
  return h;
}

// LevelDB's format to the bit, so that its tools and RocksDB's read the filters and its tables keep theirs. A single
// hash is the start and, rotated, the step of all probes, which comes close to as many independent hashes (Kirsch and
// Mitzenmacher, Less hashing, same performance, 2006).
class BloomFilterPolicy final : public FilterPolicy {
 public:
  // The numbers of bytes that the bits of a filter may have.
  enum class Sizes : uint8_t {
    kAny,  // as LevelDB makes them
    kOdd,  // rounded up to an odd number (NewTableBloomPolicy)
  };

  // ln 2 probes for each bit per key make the fewest false positives. A negative number of bits counts as none.
  BloomFilterPolicy(int bits_per_key, Sizes sizes)
      : sizes_(sizes),
        bits_per_key_(static_cast<size_t>(std::max(bits_per_key, 0))),
        probes_(static_cast<uint8_t>(
            std::clamp(static_cast<double>(bits_per_key_) * 0.69, 1.0, static_cast<double>(kMaxProbes)))) {
    CHECK(probes_ >= 1 && probes_ <= kMaxProbes);
  }

  const char* Name() const override { return "leveldb.BuiltinBloomFilter2"; }

  // The filter is added behind what dst has: its bits, then one byte with the number of probes.
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    // Fewer than 64 bits would make short filters say yes too often.
    const size_t wanted_bits = std::max<size_t>(static_cast<size_t>(n) * bits_per_key_, 64);
    const size_t bytes = (wanted_bits + 7) / 8 | (sizes_ == Sizes::kOdd ? 1 : 0);
    const size_t bits = bytes * 8;
    CHECK(bits >= wanted_bits && (sizes_ == Sizes::kAny || bytes % 2 == 1));

    CHECK_GE(n, 0);
    const size_t start = dst->size();
    dst->resize(start + bytes, '\0');
    dst->push_back(static_cast<char>(probes_));
    char* array = &(*dst)[start];
    for (int i = 0; i < n; ++i) {
      uint32_t h = FilterHash(keys[i]);
      const uint32_t step = std::rotr(h, 17);
      for (uint8_t probe = 0; probe < probes_; ++probe, h += step) {
        const size_t bit = h % bits;
        DCHECK_LT(bit / 8, bytes);
        array[bit / 8] = static_cast<char>(array[bit / 8] | (1 << (bit % 8)));
      }
    }
  }

  // Works for every filter of the format, however many bits or probes its maker chose, and reads within its bytes
  // whatever they are: the number of bits comes from the length.
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    if (filter.size() < 2) return false;  // no bits: what CreateFilter never makes
    const size_t bits = (filter.size() - 1) * 8;

    // The number of probes of whoever made the filter, which need not be ours.
    const auto probes = static_cast<uint8_t>(filter[filter.size() - 1]);
    if (probes > kMaxProbes) return true;

    uint32_t h = FilterHash(key);
    const uint32_t step = std::rotr(h, 17);
    for (uint8_t probe = 0; probe < probes; ++probe, h += step) {
      const size_t bit = h % bits;
      DCHECK_LT(bit / 8, filter.size() - 1);
      if ((filter[bit / 8] & (1 << (bit % 8))) == 0) return false;
    }
    return true;
  }

 private:
  static constexpr uint8_t kMaxProbes = 30;

  const Sizes sizes_;
  const size_t bits_per_key_;
  const uint8_t probes_;
};

}  // namespace

FilterPolicy::~FilterPolicy() = default;

const FilterPolicy* NewBloomFilterPolicy(int bits_per_key) {
  return new BloomFilterPolicy(bits_per_key, BloomFilterPolicy::Sizes::kAny);
}

// An odd number of bytes for filters of the engine's own table files: the step of the probes and the number of bits
// then have fewer factors in common, so fewer keys set the same few bits over and over. Readers of the format see no
// difference.
std::unique_ptr<const FilterPolicy> NewTableBloomPolicy(int bits_per_key) {
  return std::make_unique<BloomFilterPolicy>(bits_per_key, BloomFilterPolicy::Sizes::kOdd);
}

}  // namespace miodb
