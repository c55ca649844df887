#include "src/util/bytes/shared_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

using Item = std::shared_ptr<const uint64_t>;

struct Least {
  void Add(const Item& item) { value = std::min(value, *item); }
  void Add(const Least& other) { value = std::min(value, other.value); }
  uint64_t value = UINT64_MAX;
};

using List = SharedList<Item, Least, 4>;

// The items below a limit. Also how many items were looked at.
std::vector<Item> FindBelow(const List& list, uint64_t limit, size_t* seen) {
  std::vector<Item> found;
  *seen = 0;
  list.Search([&](const Least& part) { return part.value < limit; },
              [&](const Item& item) {
                ++*seen;
                if (*item < limit) found.push_back(item);
              });
  return found;
}

void ExpectSame(const std::vector<Item>& expected, const List& list) {
  ASSERT_EQ(expected.size(), list.size());
  ASSERT_EQ(expected.empty(), list.empty());
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), list.begin(), list.end()));
  for (size_t i = 0; i < expected.size(); i++) ASSERT_EQ(expected[i], list[i]);
  for (const uint64_t limit : {0, 1, 20, 1000}) {
    std::vector<Item> below;
    std::copy_if(expected.begin(), expected.end(), std::back_inserter(below),
                 [&](const Item& i) { return *i < limit; });
    size_t seen;
    EXPECT_EQ(below, FindBelow(list, limit, &seen));
  }
  if (expected.empty()) return;
  EXPECT_EQ(expected.front(), list.front());
  EXPECT_EQ(expected.back(), list.back());
}

TEST(SharedListTest, FollowsAVectorAndItsCopiesStayAsTheyWere) {
  for (uint64_t seed : Seeds(ByScale(5, 20, 200))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    std::vector<Item> model;
    List list;
    std::vector<std::pair<std::vector<Item>, List>> copies;
    for (int round = 0; round < 12; round++) {
      const bool grows = random.OneIn(2);
      for (uint64_t n = random.Uniform(150); n > 0; n--) {
        if (model.empty() || random.OneIn(grows ? 4 : 2) != grows) {
          const size_t i = random.OneIn(3) ? model.size() : random.Uniform(model.size() + 1);
          const Item item = std::make_shared<const uint64_t>(n);
          model.insert(model.begin() + static_cast<ptrdiff_t>(i), item);
          list.Insert(i, item);
        } else {
          const size_t i = random.Uniform(model.size());
          model.erase(model.begin() + static_cast<ptrdiff_t>(i));
          list.Erase(i);
        }
        if (random.OneIn(40)) copies.emplace_back(model, list);
      }
      ExpectSame(model, list);
      if (HasFatalFailure()) return;
    }
    for (const auto& [items, copy] : copies) ExpectSame(items, copy);
    const Item last = model.empty() ? nullptr : model.back();
    model.clear();
    copies.clear();
    EXPECT_EQ(last == nullptr ? 0 : 2, last.use_count()) << "held by the list alone";
    list = List();
    EXPECT_EQ(last == nullptr ? 0 : 1, last.use_count());
  }
}

// The least item of a part is its first, since the items are in order.
struct Below {
  uint64_t key;
  bool operator()(const Item& item) const { return *item < key; }
  bool operator()(const Least& part) const { return part.value < key; }
};

TEST(SharedListTest, FindsWhatGoesBeforeAPlace) {
  Random random(1);
  for (const uint64_t size : {0, 1, 3, 4, 5, 16, 17, 300}) {
    List list;
    std::vector<uint64_t> there;
    for (uint64_t i = 0; i < size; i++) {
      const auto behind = there.begin() + static_cast<ptrdiff_t>(random.Uniform(there.size() + 1));
      there.insert(behind, 2 * i);
    }
    for (const uint64_t key : there) list.Insert(list.CountBefore(Below{key}), std::make_shared<const uint64_t>(key));
    std::sort(there.begin(), there.end());
    for (;; there.erase(there.begin() + static_cast<ptrdiff_t>(random.Uniform(there.size())))) {
      if (there.size() < list.size()) {
        size_t gone = 0;
        while (gone < there.size() && *list[gone] == there[gone]) gone++;
        list.Erase(gone);
      }
      for (uint64_t key = 0; key <= 2 * size; key++) {
        const auto behind = std::lower_bound(there.begin(), there.end(), key);
        EXPECT_EQ(static_cast<size_t>(behind - there.begin()), list.CountBefore(Below{key}));
        const Item* const last = list.LastBefore(Below{key});
        ASSERT_EQ(behind == there.begin(), last == nullptr);
        if (last != nullptr) {
          EXPECT_EQ(*std::prev(behind), **last);
        }
      }
      if (there.empty()) break;
    }
  }
}

TEST(SharedListTest, ASearchLeavesOutThePartsThatHaveNothingForIt) {
  std::vector<Item> items;
  for (uint64_t i = 0; i < 4096; i++) items.push_back(std::make_shared<const uint64_t>(i * 2654435761 % 4096));
  size_t seen;
  EXPECT_EQ(3u, FindBelow(List(items), 3, &seen).size());
  EXPECT_LE(seen, 3u * 4);
}

}  // namespace
}  // namespace miodb::test
