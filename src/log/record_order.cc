// The sort: by 32 bits of each key, counted and not compared, and by comparisons where these are equal.

#include "src/log/record_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "src/util/check/check.h"

namespace miodb {

namespace {

Slice KeyAt(const char* base, const char* limit, uint32_t place) {
  RecordView record;
  CHECK(ParseRecord(base + place, limit, &record));
  return record.key;
}

// How many bytes all the keys have in common at their beginning.
size_t CommonPrefix(const std::vector<Slice>& keys) {
  DCHECK(!keys.empty());
  size_t prefix = keys.front().size();
  for (const Slice& key : keys) {
    prefix = std::min(prefix, key.size());
    if (memcmp(key.data(), keys.front().data(), prefix) == 0) continue;
    size_t same = 0;
    while (key[same] == keys.front()[same]) same++;
    prefix = same;
  }
  return prefix;
}

// Makes 32 bits of 64. If two results differ, the smaller result is that of the smaller number. varying: bits in which
// numbers differ; the highest of them are taken, and of keys of digits, which differ in half of each byte, that half.
uint32_t Squeeze(uint64_t number, uint64_t varying) {
  constexpr uint64_t kLowHalves = 0x0f0f0f0f0f0f0f0fu;
  if ((varying & ~kLowHalves) != 0) return static_cast<uint32_t>(number << std::countl_zero(varying) >> 32);
  number &= kLowHalves;
  number = (number | number >> 4) & 0x00ff00ff00ff00ffu;
  number = (number | number >> 8) & 0x0000ffff0000ffffu;
  return static_cast<uint32_t>(number | number >> 16);
}

// A number above the place that it belongs to, so that items are moved as one word.
using Item = uint64_t;

constexpr int kPlaceBits = 32;
uint32_t PlaceOf(Item item) { return static_cast<uint32_t>(item); }
uint32_t NumberOf(Item item) { return static_cast<uint32_t>(item >> kPlaceBits); }

// A radix sort by the numbers from the last digit to the first, each pass stable; digits in which no two differ need
// none.
void SortByNumber(std::vector<Item>* items) {
  constexpr int kDigitBits = 11, kDigits = 3;
  static_assert(kDigitBits * kDigits >= 64 - kPlaceBits);
  constexpr size_t kValues = size_t{1} << kDigitBits;
  const auto digit = [](Item item, int i) { return item >> (kPlaceBits + kDigitBits * i) & (kValues - 1); };
  std::array<std::array<uint32_t, kValues>, kDigits> counts = {};
  for (const Item item : *items) {
    for (int i = 0; i < kDigits; i++) counts[i][digit(item, i)]++;
  }
  DCHECK(!items->empty() && items->size() <= UINT32_MAX);
  std::vector<Item> sorted(items->size());
  for (int i = 0; i < kDigits; i++) {
    if (counts[i][digit(items->front(), i)] == items->size()) continue;
    uint32_t before = 0;
    for (uint32_t& count : counts[i]) before += std::exchange(count, before);
    for (const Item item : *items) sorted[counts[i][digit(item, i)]++] = item;
    items->swap(sorted);
  }
}

// Keys' heads behind what all begin with, squeezed.
void AddNumbers(const char* base, const char* limit, std::vector<Item>* items) {
  DCHECK(!items->empty());
  std::vector<Slice> keys;
  keys.reserve(items->size());
  for (const Item item : *items) keys.push_back(KeyAt(base, limit, PlaceOf(item)));
  const size_t prefix = CommonPrefix(keys);
  const uint64_t first = KeyHead(keys.front(), prefix);
  uint64_t varying = 0;
  for (const Slice& key : keys) varying |= KeyHead(key, prefix) ^ first;
  for (size_t i = 0; i < keys.size(); i++) {
    (*items)[i] |= uint64_t{Squeeze(KeyHead(keys[i], prefix), varying)} << kPlaceBits;
  }
}

}  // namespace

// Items begin with the newest record and every sort is stable, so of one key the newer version stays in front.
void SortByKey(const KeyOrder& order, const char* base, const char* limit, std::vector<uint32_t>* places) {
  if (places->size() < 2) return;
  DCHECK_LE(static_cast<uint64_t>(limit - base), kMaxOrderedBytes);
  DCHECK(std::is_sorted(places->begin(), places->end()));
  std::vector<Item> items(places->rbegin(), places->rend());
  if (order.bytewise()) {
    AddNumbers(base, limit, &items);
    SortByNumber(&items);
  }
  for (auto begin = items.begin(); begin != items.end();) {
    auto end = begin + 1;
    while (end != items.end() && NumberOf(*end) == NumberOf(*begin)) ++end;
    if (end - begin > 1) {
      std::stable_sort(begin, end, [&](Item a, Item b) {
        return order.Compare(KeyAt(base, limit, PlaceOf(a)), KeyAt(base, limit, PlaceOf(b))) < 0;
      });
    }
    begin = end;
  }
  for (size_t i = 0; i < items.size(); i++) (*places)[i] = PlaceOf(items[i]);
}

}  // namespace miodb
