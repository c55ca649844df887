// Records of a chunk are in the order of a stable sort by key of what was written last first.

#include "src/log/record_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/generator.h"
#include "tests/common/random/random.h"
#include "tests/common/test_secret.h"

namespace miodb::test {
namespace {

class RecordOrderTest : public testing::TestWithParam<const Comparator* (*)()> {
 protected:
  void Add(const std::string& key) {
    places_.push_back(static_cast<uint32_t>(bytes_.size()));
    bytes_.resize(bytes_.size() + RecordSize(key.size(), 3));
    uint64_t hash;
    char* const place = bytes_.data() + places_.back();
    memcpy(EncodeRecordHead(place, PackTag(places_.size(), kTypeValue), key, "abc", kTestSecret, &hash), "abc", 3);
    keys_.push_back(key);
    bytes_.append(places_.size() % 3, '\xff');  // frames' headers lie between records
  }

  void ExpectSorted() {
    const KeyOrder order(GetParam()());
    std::vector<size_t> expected;
    for (size_t i = keys_.size(); i > 0; i--) expected.push_back(i - 1);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](size_t a, size_t b) { return order.Compare(keys_[a], keys_[b]) < 0; });
    std::vector<uint32_t> sorted = places_;
    SortByKey(order, bytes_.data(), bytes_.data() + bytes_.size(), &sorted);
    ASSERT_EQ(expected.size(), sorted.size());
    for (size_t i = 0; i < sorted.size(); i++) ASSERT_EQ(places_[expected[i]], sorted[i]) << i;
  }

  std::string bytes_;
  std::vector<uint32_t> places_;
  std::vector<std::string> keys_;
};

TEST_P(RecordOrderTest, NoneAndOneAreSorted) {
  ExpectSorted();
  Add("a");
  ExpectSorted();
}

TEST_P(RecordOrderTest, AnyKeysAreSorted) {
  for (const uint64_t seed : Seeds(ByScale(20, 60, 300))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    bytes_.clear();
    places_.clear();
    keys_.clear();
    const KeySpace keys(KeyStyle::kMixed, 1 + random.Uniform(400), seed);
    const std::string prefix = random.OneIn(2) ? random.Bytes(random.Uniform(20)) : "";
    for (uint64_t i = 0, n = random.Uniform(1000); i < n; i++) Add(prefix + keys.Any(&random));
    ExpectSorted();
  }
}

// What numbers are made of differs: digits, bytes, zeros at the end that a head does not tell from the end of a key.
TEST_P(RecordOrderTest, KeysOfDigitsOfBytesAndOfZerosAreSorted) {
  for (const uint64_t seed : Seeds(ByScale(20, 60, 300))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    bytes_.clear();
    places_.clear();
    keys_.clear();
    const uint64_t style = random.Uniform(3);
    for (int i = 0; i < 500; i++) {
      std::string key;
      for (uint64_t left = style == 2 ? random.Uniform(12) : 16; left > 0; left--) {
        key.push_back(static_cast<char>(style == 0 ? '0' + random.Uniform(10) : random.Uniform(style == 1 ? 256 : 2)));
      }
      Add(key);
    }
    ExpectSorted();
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, RecordOrderTest, testing::Values(&BytewiseComparator, &CaseInsensitiveComparator));

}  // namespace
}  // namespace miodb::test
