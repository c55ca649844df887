// Inserts by several threads at once.

#include <new>

#include "src/memtable/blink_tree_search.h"
#include "src/util/clock/cpu_relax.h"

namespace miodb {

namespace {

// So often an inserter looks at a lock that another one holds: some times what a change of a page takes.
constexpr int kLooksAtLock = 100;

}  // namespace

// Loads and stores that are relaxed without more being said are those of the holder of a page's lock, or of a page that
// nobody else sees yet.

BLinkTree::Entry* BLinkTree::NewEntry(ArenaPiece* memory) {
  char* const bytes = memory->Allocate(sizeof(Entry));
  return bytes != nullptr ? new (bytes) Entry{} : nullptr;
}

// The order is that of Insert. More threads may have linked entries behind the entry that the search ended at, or do so
// now: the walk goes on from there, and the compare-and-swap tells.
void BLinkTree::InsertBeside(Entry* entry, ArenaPiece* memory, const Slice& key, uint64_t tag, const char* record,
                             size_t record_size) {
  const Target target = MakeTarget(key, TagSequence(tag));
  Fill(entry, target, tag, record, record_size);
  const Way leaf = FindPage(target, 0);
  Entry* previous = EntryBefore(target, leaf);
  Entry* next = previous->Next();
  do {
    for (; next != nullptr && Before(next, target); next = next->Next()) previous = next;
    entry->next.store(next, std::memory_order_relaxed);  // nobody sees it yet
    // release: publishes the entry and its record. acquire: of the entry that came in between.
  } while (!previous->next.compare_exchange_weak(next, entry, std::memory_order_release, std::memory_order_acquire));
  AddSlotBeside(leaf.page, target, entry, memory);
}

// The last entry and the count, which a single inserter keeps up to date, would be a cache line that all threads write.
void BLinkTree::EndBeside(uint64_t added) {
  // relaxed, both: nobody inserts
  count_.store(count_.load(std::memory_order_relaxed) + added, std::memory_order_relaxed);
  Entry* const last = Last();
  last_ = last != nullptr ? last : head_;
}

// Insert follows the tree and believes it, so where slots are missing it cannot be used.
void BLinkTree::InsertWithSlotsLeftOut(const Slice& key, uint64_t tag, const char* record, size_t record_size) {
  Entry* const entry = NewEntry(&piece_);
  if (entry == nullptr) throw std::bad_alloc();
  InsertBeside(entry, &piece_, key, tag, record, record_size);
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: nobody else inserts
  if (entry->next.load(std::memory_order_relaxed) == nullptr) last_ = entry;
}

// The page of the same level in which the target's place is, locked: this one or one on its right, since pages are
// split meanwhile and never joined. nullptr: somebody holds it for too long.
BLinkTree::Page* BLinkTree::Lock(Page* page, const Target& target) const {
  for (int look = 0; look < kLooksAtLock; look++) {
    // acquire: sees what the holder before did. relaxed: only to spare the exchange.
    if (page->locked.load(std::memory_order_relaxed) || page->locked.exchange(true, std::memory_order_acquire)) {
      CpuRelax();
      continue;
    }
    Page* const right = page->right.load(std::memory_order_acquire);
    if (right == nullptr || !FirstBefore(right, target)) return page;
    page->locked.store(false, std::memory_order_release);
    page = right;
    look = 0;
  }
  return nullptr;
}

// AddSlot among several inserters. The place is looked for under the lock, and a level's lock is let go of before the
// level above is looked at: what is not named there yet is found from its left neighbour. The new page of a split has
// the slot already when others can see it, so only one page is locked at any time.
void BLinkTree::AddSlotBeside(Page* page, const Target& target, void* place, ArenaPiece* memory) {
  page = Lock(page, target);
  if (page == nullptr) {
    left_out_.fetch_add(1, std::memory_order_relaxed);  // relaxed: read when nobody inserts
    return;
  }
  const uint32_t count = page->count.load(std::memory_order_relaxed);
  const uint32_t at = LastSlotBefore(page, count, target) + 1;
  Page* right = nullptr;
  if (count < kFanout) {
    PutSlot(page, at, target.head, place);
  } else {
    right = SplitBeside(page, at, target, place, memory);
  }
  page->locked.store(false, std::memory_order_release);  // release: what the next holder sees
  if (right == nullptr) return;
  const Target first = MakeTarget(KeyOf(right->first), TagSequence(right->first->tag));
  AddSlotBeside(FindPage(first, right->level + 1U).page, first, right, memory);
}

// Splits a full page, of which the caller holds the lock, and puts the slot where it belongs. Returns the new page if
// the level above has to be told of it. A root's successor is there before anybody can come to the new page and look
// for the level above it. The slot is left out where there is no memory.
BLinkTree::Page* BLinkTree::SplitBeside(Page* page, uint32_t at, const Target& target, void* place,
                                        ArenaPiece* memory) {
  const bool is_root = root_.load(std::memory_order_relaxed) == page;
  char* const right_bytes = memory->Allocate(sizeof(Page));
  char* const root_bytes = is_root ? memory->Allocate(sizeof(Page)) : nullptr;
  if (right_bytes == nullptr || (is_root && root_bytes == nullptr)) {
    left_out_.fetch_add(1, std::memory_order_relaxed);  // relaxed: read when nobody inserts
    return nullptr;
  }
  Page* const neighbour = page->right.load(std::memory_order_relaxed);
  const uint32_t stays = neighbour == nullptr && at == kFanout ? kFanout - 1 : kFanout / 2;
  Page* const right = new (right_bytes) Page{};
  right->level = page->level;
  void* const first = page->slots[stays].place.load(std::memory_order_relaxed);
  right->first = page->level == 0 ? static_cast<Entry*>(first) : static_cast<Page*>(first)->first;
  for (uint32_t i = stays; i < kFanout; i++) right->slots[i - stays].Copy(page->slots[i]);
  // relaxed: nobody sees the new page yet.
  right->count.store(kFanout - stays, std::memory_order_relaxed);
  right->right.store(neighbour, std::memory_order_relaxed);
  if (at > stays) PutSlot(right, at - stays, target.head, place);
  if (is_root) {
    CHECK(page->level + 1U < kMaxLevels);
    Page* const root = new (root_bytes) Page{};
    root->level = static_cast<uint16_t>(page->level + 1);
    root->first = page->first;
    Page* const below[2] = {page, right};
    for (uint32_t i = 0; i < 2; i++) {
      root->slots[i].Set(below[i]->slots[0].head[0].load(std::memory_order_relaxed),
                         below[i]->slots[0].head[1].load(std::memory_order_relaxed), below[i]);
    }
    root->count.store(2, std::memory_order_relaxed);
    root_.store(root, std::memory_order_release);  // release: publishes both new pages
  }
  page->right.store(right, std::memory_order_release);  // release: publishes the new page
  page->count.store(stays, std::memory_order_release);
  if (at <= stays) PutSlot(page, at, target.head, place);
  return is_root ? nullptr : right;
}

}  // namespace miodb
