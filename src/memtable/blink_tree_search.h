// The searches and comparisons of a BLinkTree that all its inserts and reads share, inline: blink_tree.cc, for one
// inserter and for reads, and blink_tree_beside.cc, for several inserters.

#ifndef MIODB_SRC_MEMTABLE_BLINK_TREE_SEARCH_H_
#define MIODB_SRC_MEMTABLE_BLINK_TREE_SEARCH_H_

#include "src/memtable/blink_tree.h"
#include "src/util/bytes/last_where.h"
#include "src/util/bytes/prefetch.h"
#include "src/util/check/check.h"

namespace miodb {

// The heads are computed once for a search, which compares them with dozens of slots. Under another order than the
// bytewise one they stay zero and nobody looks at them.
inline BLinkTree::Target BLinkTree::MakeTarget(const Slice& key, uint64_t sequence) const {
  Target target{key, {0, 0}, sequence, order_.bytewise()};
  if (order_.bytewise()) {
    target.head[0] = KeyHead(key, 0);
    target.head[1] = KeyHead(key, 8);
  }
  return target;
}

// Whether the entry comes before target in (key ascending, sequence descending) order.
inline bool BLinkTree::Before(const Entry* entry, const Target& target) const {
  if (target.bytewise) {
    if (entry->head[0] != target.head[0]) return entry->head[0] < target.head[0];
    if (entry->head[1] != target.head[1]) return entry->head[1] < target.head[1];
  }
  return BeforeLikeHeads(entry, target);
}

// REQUIRES: the slot has a key, so it is not slot 0 of a leftmost page.
inline bool BLinkTree::SlotBefore(const Page* page, uint32_t index, const Target& target) const {
  DCHECK_LT(index, kFanout);
  const Slot& slot = page->slots[index];
  if (target.bytewise) {
    const auto join = [](uint64_t high, uint64_t low) { return static_cast<unsigned __int128>(high) << 64 | low; };
    const auto a = join(slot.head[0].load(std::memory_order_relaxed), slot.head[1].load(std::memory_order_relaxed));
    const auto b = join(target.head[0], target.head[1]);
    if (__builtin_expect(a != b, 1)) return a < b;
  }
  void* const place = slot.place.load(std::memory_order_acquire);
  return BeforeLikeHeads(page->level == 0 ? static_cast<Entry*>(place) : static_cast<Page*>(place)->first, target);
}

inline bool BLinkTree::FirstBefore(const Page* page, const Target& target) const {
  return page->first == head_ || SlotBefore(page, 0, target);
}

// REQUIRES: slot 0 is before the target.
inline uint32_t BLinkTree::LastSlotBefore(const Page* page, uint32_t count, const Target& target) const {
  DCHECK(count > 0 && count <= kFanout);
  return LastWhere(count, [&](uint32_t slot) { return SlotBefore(page, slot, target); });
}

// Looks at one page and asks for what it leads to: true if it is of the level that is looked for. A page may turn out
// not to begin before the target, where its parent was caught in the middle of a change; then the slot on the left is
// taken.
[[gnu::always_inline]] inline bool BLinkTree::Descend(const Target& target, uint32_t level, Way* way) const {
  Page* page = way->page;
  DCHECK(way->slot == 0 || way->parent != nullptr);
  if (way->slot > 0 && !FirstBefore(page, target)) {
    way->page = static_cast<Page*>(way->parent->slots[--way->slot].place.load(std::memory_order_acquire));
    PrefetchLines(way->page, sizeof(Page));
    return false;
  }
  uint32_t count, slot;
  for (;;) {
    // acquire: the slots below count are filled in.
    count = page->count.load(std::memory_order_acquire);
    slot = LastSlotBefore(page, count, target);
    if (slot + 1 < count) break;
    Page* const right = page->right.load(std::memory_order_acquire);
    if (right == nullptr || !FirstBefore(right, target)) break;
    page = right;
  }
  way->slot = slot;
  void* const place = page->slots[slot].place.load(std::memory_order_acquire);
  if (page->level == level) {
    way->page = page;
    __builtin_prefetch(place);
    if (slot + 1 < count) __builtin_prefetch(page->slots[slot + 1].place.load(std::memory_order_relaxed));
    return true;
  }
  way->parent = page;
  way->page = static_cast<Page*>(place);
  DCHECK_EQ(way->page->level + 1, page->level);
  PrefetchLines(way->page, sizeof(Page));
  return false;
}

// The page of this level in which the target's place is, and the last slot before the target there, if the tree does
// not change meanwhile. The slot is not compared once more.
[[gnu::always_inline]] inline BLinkTree::Way BLinkTree::FindPage(const Target& target, uint32_t level) const {
  Way way{root_.load(std::memory_order_acquire)};
  while (!Descend(target, level, &way)) {
  }
  return way;
}

// The entry that the leaf's slot leads to, or one on its left if that is not before the target.
[[gnu::always_inline]] inline BLinkTree::Entry* BLinkTree::EntryBefore(const Target& target, const Way& leaf) const {
  DCHECK_EQ(leaf.page->level, 0u);
  for (uint32_t slot = leaf.slot; slot > 0; slot--) {
    Entry* const entry = static_cast<Entry*>(leaf.page->slots[slot].place.load(std::memory_order_acquire));
    if (Before(entry, target)) return entry;
  }
  return leaf.page->first;
}

// Everything of an entry but its link.
inline void BLinkTree::Fill(Entry* entry, const Target& target, uint64_t tag, const char* record,
                            size_t record_size) const {
  const size_t key_size = target.key.size();
  entry->head[0] = target.head[0];
  entry->head[1] = target.head[1];
  entry->tag = tag;
  entry->record = record;
  entry->record_size = static_cast<uint32_t>(record_size);
  entry->key_place = static_cast<uint32_t>(key_size << kKeyOffsetBits | RecordHeaderSize(key_size, record_size));
  DCHECK(KeyOf(entry).size() == key_size && entry->key_offset() + key_size <= record_size);
}

// The slots move from the right end, each copied before it is overwritten, so a reader that walks the page meanwhile
// may see a slot twice and never misses one. The count rises last: a reader that does not see it yet stops one slot
// earlier and takes the list from there.
inline void BLinkTree::PutSlot(Page* page, uint32_t at, const uint64_t* head, void* place) {
  const uint32_t count = page->count.load(std::memory_order_relaxed);
  DCHECK(at > 0 && at <= count && count < kFanout);  // slot 0 never changes
  for (uint32_t i = count; i > at; i--) page->slots[i].Copy(page->slots[i - 1]);
  page->slots[at].Set(head[0], head[1], place);
  page->count.store(count + 1, std::memory_order_release);  // release: pairs with the acquire in Descend
}

}  // namespace miodb

#endif  // MIODB_SRC_MEMTABLE_BLINK_TREE_SEARCH_H_
