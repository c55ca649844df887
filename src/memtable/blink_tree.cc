#include "src/memtable/blink_tree.h"

#include <new>

#include "src/util/check.h"
#include "src/util/cpu_relax.h"

namespace miodb {

namespace {

template <typename T>
T* Allocate(Arena* arena) {
  static_assert(alignof(T) <= Arena::kCacheLine);
  return new (arena->Allocate(sizeof(T))) T{};
}

// So often an inserter looks at a lock that another one holds: some times what a change of a page takes.
constexpr int kLooksAtLock = 100;

// Asks for the lines of a page that a search in it looks at.
template <typename Page>
void Prefetch(const Page* page) {
  const char* const begin = reinterpret_cast<const char*>(page);
  for (size_t i = 0; i < sizeof(Page); i += 64) __builtin_prefetch(begin + i);
}

}  // namespace

// In this file, unless said otherwise: relaxed loads and stores of heads and places are those of the inserter, who
// reads what it has written, or of readers, to whom the tree is a hint; what a place leads to is published by its
// release store and the reader's acquire load.

// An empty tree has one leaf whose slot 0 leads to head_. So every search ends at an entry, no page is ever empty, and
// the leftmost page of each level has a slot 0 without a key: FirstBefore knows these pages by head_, and no search
// compares their slot 0.
BLinkTree::BLinkTree(KeyOrder order, Arena* arena)
    : order_(order), arena_(arena), head_(Allocate<Entry>(arena)), root_(NewPage(0, head_)), last_(head_) {
  Page* const root = root_.load(std::memory_order_relaxed);
  root->slots[0].place.store(head_, std::memory_order_relaxed);
  root->count.store(1, std::memory_order_relaxed);
}

BLinkTree::Entry* BLinkTree::NewEntry(ArenaPiece* memory) {
  char* const bytes = memory->Allocate(sizeof(Entry));
  return bytes != nullptr ? new (bytes) Entry{} : nullptr;
}

// The caller publishes the page, by the release store of the link that leads to it. An arena's memory holds what was
// there before, so Allocate makes the page zero: count, right and the slots above count are never read uninitialized.
BLinkTree::Page* BLinkTree::NewPage(uint32_t level, Entry* first) {
  Page* const page = Allocate<Page>(arena_);
  page->level = static_cast<uint16_t>(level);
  page->first = first;
  return page;
}

// The heads are computed once for a search, which compares them with dozens of slots. Under another order than the
// bytewise one they stay zero and nobody looks at them.
BLinkTree::Target BLinkTree::MakeTarget(const Slice& key, uint64_t sequence) const {
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

// The same comparison where the first 16 bytes, padded with zeros, do not decide or mean nothing.
bool BLinkTree::BeforeLikeHeads(const Entry* entry, const Target& target) const {
  DCHECK(entry != head_);
  const size_t key_size = entry->key_size();
  if (target.bytewise && (key_size <= 16 || target.key.size() <= 16)) {
    if (key_size != target.key.size()) return key_size < target.key.size();  // the shorter is a prefix of the longer
    return TagSequence(entry->tag) > target.sequence;
  }
  const int c = order_.Compare(KeyOf(entry), target.key);
  return c != 0 ? c < 0 : TagSequence(entry->tag) > target.sequence;
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
  uint32_t base = 0;
  while (count > 1) {
    const uint32_t half = count / 2;
    base = SlotBefore(page, base + half, target) ? base + half : base;
    count -= half;
  }
  return base;
}

// The page of this level in which the target's place is, and the last slot before the target there, if the tree does
// not change meanwhile. The slot is not compared once more.
inline const BLinkTree::Page* BLinkTree::FindPage(const Target& target, uint32_t level, uint32_t* found) const {
  const Page* page = root_.load(std::memory_order_acquire);
  for (;;) {
    // acquire: the slots below count are filled in.
    const uint32_t count = page->count.load(std::memory_order_acquire);
    uint32_t slot = LastSlotBefore(page, count, target);
    if (slot + 1 == count) {
      const Page* const right = page->right.load(std::memory_order_acquire);
      if (right != nullptr && FirstBefore(right, target)) {
        page = right;
        continue;
      }
    }
    if (page->level == level) {
      *found = slot;
      return page;
    }
    const Page* child;
    for (;; slot--) {
      child = static_cast<const Page*>(page->slots[slot].place.load(std::memory_order_acquire));
      Prefetch(child);
      if (slot == 0 || FirstBefore(child, target)) break;
    }
    DCHECK_EQ(child->level + 1, page->level);
    page = child;
  }
}

// The entry to start from at the place that FindPage has found in a leaf: one before the target.
inline BLinkTree::Entry* BLinkTree::EntryAt(const Page* page, uint32_t slot, const Target& target) const {
  DCHECK_EQ(page->level, 0);
  for (; slot > 0; slot--) {
    Entry* const entry = static_cast<Entry*>(page->slots[slot].place.load(std::memory_order_acquire));
    if (Before(entry, target)) return entry;
  }
  return page->first;
}

// An entry before the target, the last one of the tree if it does not change meanwhile; head_ if there is none.
BLinkTree::Entry* BLinkTree::Find(const Target& target) const {
  uint32_t slot;
  const Page* const page = FindPage(target, 0, &slot);
  return EntryAt(page, slot, target);
}

// The inserter meets no half-done change, since it alone makes them: it needs no look to the right and no second
// comparison, and may remember the pages on its way. So this search is the short one, and Find is the one that bears
// with changes.
BLinkTree::Entry* BLinkTree::FindForInsert(const Target& target, Path* path) const {
  Page* page = root_.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t slot = LastSlotBefore(page, page->count.load(std::memory_order_relaxed), target);
    DCHECK_LT(page->level, kMaxLevels);
    path->steps[page->level] = {page, slot};
    void* const place = page->slots[slot].place.load(std::memory_order_relaxed);
    if (page->level == 0) return static_cast<Entry*>(place);
    page = static_cast<Page*>(place);
    Prefetch(page);
  }
}

// The way to the last entry: where keys ascend, as in a load, this spares all comparisons but the one with last_.
BLinkTree::Entry* BLinkTree::FindEnd(Path* path) const {
  Page* page = root_.load(std::memory_order_relaxed);
  for (;;) {
    DCHECK(page->right.load(std::memory_order_relaxed) == nullptr);
    const uint32_t slot = page->count.load(std::memory_order_relaxed) - 1;
    path->steps[page->level] = {page, slot};
    void* const place = page->slots[slot].place.load(std::memory_order_relaxed);
    if (page->level == 0) return static_cast<Entry*>(place);
    page = static_cast<Page*>(place);
  }
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

// The order is entry, list, tree. An entry that is linked into the list is found by every reader that began at an
// entry before it, whether a page leads to it or not; so the insert is complete for readers at the one release store,
// and a reader that meets the tree in the middle of AddSlot loses nothing. An insert that runs out of memory in
// AddSlot has linked the entry; the leader then ends all writing, because its sequence may not be given out twice.
void BLinkTree::Insert(const Slice& key, uint64_t tag, const char* record, size_t record_size) {
  if (left_out_.load(std::memory_order_relaxed) > 0) [[unlikely]]  // relaxed: nobody else inserts
    return InsertWithSlotsLeftOut(key, tag, record, record_size);
  const Target target = MakeTarget(key, TagSequence(tag));
  Path path;
  Entry* const previous = last_ == head_ || Before(last_, target) ? FindEnd(&path) : FindForInsert(target, &path);
  Entry* const entry = Allocate<Entry>(arena_);
  Fill(entry, target, tag, record, record_size);
  Entry* const next = previous->next.load(std::memory_order_relaxed);
  DCHECK(previous == head_ || previous->head[0] <= target.head[0]);
  DCHECK(next == nullptr || next->head[0] >= target.head[0]);
  DCHECK_EQ(next == nullptr, previous == last_);
  entry->next.store(next, std::memory_order_relaxed);  // nobody sees it yet
  // release: publishes the entry and its record to readers' acquire loads in Next.
  previous->next.store(entry, std::memory_order_release);
  if (next == nullptr) last_ = entry;
  AddSlot(&path, 0, entry->head, entry);
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: a statistic
}

// The slots move from the right end, each copied before it is overwritten, so a reader that walks the page meanwhile
// may see a slot twice and never misses one. The count rises last: a reader that does not see it yet stops one slot
// earlier and takes the list from there.
inline void BLinkTree::PutSlot(Page* page, uint32_t at, const uint64_t* head, void* place) {
  const uint32_t count = page->count.load(std::memory_order_relaxed);
  DCHECK(at > 0 && at <= count && count < kFanout);  // slot 0 never changes
  for (uint32_t i = count; i > at; i--) page->slots[i].Copy(page->slots[i - 1]);
  page->slots[at].Set(head[0], head[1], place);
  page->count.store(count + 1, std::memory_order_release);  // release: pairs with the acquire in FindPage
}

// Puts a slot behind the path's on this level, splitting the page if it is full.
void BLinkTree::AddSlot(Path* path, uint32_t level, const uint64_t* head, void* place) {
  Page* page = path->steps[level].page;
  uint32_t at = path->steps[level].slot + 1;
  if (page->count.load(std::memory_order_relaxed) == kFanout) page = Split(path, level, &at);
  DCHECK_EQ(page->level, level);
  PutSlot(page, at, head, place);
}

// Moves the upper half of a full page to a new one on its right and returns the page where slot at is now, with *at
// changed to what it is there. What comes at the end of the last page begins a page: ascending keys leave full ones.
// The order of publication: the new page is filled in, then the old one names it as its neighbour, then the level
// above gets a slot for it, and last the old page's count falls. Between the second and the last step the upper half
// is in both pages, which readers cannot tell; before the third they come to the new page through its neighbour. A
// tree whose root splits is one level higher from the store of root_ on; a reader that has loaded the old root finds
// everything through its neighbours.
BLinkTree::Page* BLinkTree::Split(Path* path, uint32_t level, uint32_t* at) {
  Page* const page = path->steps[level].page;
  CHECK_EQ(page->count.load(std::memory_order_relaxed), kFanout);
  Page* const neighbour = page->right.load(std::memory_order_relaxed);
  const uint32_t stays = neighbour == nullptr && *at == kFanout ? kFanout - 1 : kFanout / 2;
  void* const place = page->slots[stays].place.load(std::memory_order_relaxed);
  Entry* const first = level == 0 ? static_cast<Entry*>(place) : static_cast<Page*>(place)->first;
  Page* const right = NewPage(level, first);
  for (uint32_t i = stays; i < kFanout; i++) right->slots[i - stays].Copy(page->slots[i]);
  // relaxed: nobody sees the new page yet.
  right->count.store(kFanout - stays, std::memory_order_relaxed);
  right->right.store(neighbour, std::memory_order_relaxed);
  // release: publishes the new page.
  page->right.store(right, std::memory_order_release);
  if (root_.load(std::memory_order_relaxed) == page) {
    CHECK(level + 1 < kMaxLevels);
    Page* const root = NewPage(level + 1, page->first);
    root->slots[0].Set(page->slots[0].head[0].load(std::memory_order_relaxed),
                       page->slots[0].head[1].load(std::memory_order_relaxed), page);
    root->count.store(1, std::memory_order_relaxed);
    path->steps[level + 1] = {root, 0};
    root_.store(root, std::memory_order_release);  // release: publishes the page
  }
  const uint64_t head[2] = {right->slots[0].head[0].load(std::memory_order_relaxed),
                            right->slots[0].head[1].load(std::memory_order_relaxed)};
  AddSlot(path, level + 1, head, right);
  page->count.store(stays, std::memory_order_release);
  if (*at <= stays) return page;
  *at -= stays;
  CHECK_LE(*at, right->count.load(std::memory_order_relaxed));
  return right;
}

// The order is that of Insert. Others may have linked entries behind the one that the search ended at, or do so now:
// the walk goes on from there, and the compare-and-swap tells.
void BLinkTree::InsertBeside(Entry* entry, ArenaPiece* memory, const Slice& key, uint64_t tag, const char* record,
                             size_t record_size) {
  const Target target = MakeTarget(key, TagSequence(tag));
  Fill(entry, target, tag, record, record_size);
  uint32_t slot;
  Page* const page = const_cast<Page*>(FindPage(target, 0, &slot));
  Entry* previous = EntryAt(page, slot, target);
  Entry* next = previous->Next();
  do {
    for (; next != nullptr && Before(next, target); next = next->Next()) previous = next;
    entry->next.store(next, std::memory_order_relaxed);  // nobody sees it yet
    // release: publishes the entry and its record. acquire: of the entry that came in between.
  } while (!previous->next.compare_exchange_weak(next, entry, std::memory_order_release, std::memory_order_acquire));
  AddSlotBeside(page, target, entry, memory);
}

// What one inserter remembers, who is the last and how many there are, would be a line that all write.
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
  uint32_t slot;
  Page* const above = const_cast<Page*>(FindPage(first, right->level + 1U, &slot));
  AddSlotBeside(above, first, right, memory);
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

// Find may stop early where the tree changes, so the walk along the list decides: it ends at the last entry before the
// target that was linked when the walk came by. For an iterator that is as good as any moment, because versions above
// its sequence do not count and those below it are all there.
BLinkTree::Entry* BLinkTree::SeekBefore(const Slice& key, uint64_t sequence) const {
  const Target target = MakeTarget(key, sequence);
  Entry* entry = Find(target);
  for (Entry* next = entry->Next(); next != nullptr && Before(next, target); next = next->Next()) entry = next;
  return entry == head_ ? nullptr : entry;
}

void BLinkTree::Check() const {
  uint64_t count = 0;
  const Entry* last = nullptr;
  for (const Entry* entry = First(); entry != nullptr; last = entry, entry = entry->Next(), count++) {
    CHECK_LE(entry->key_offset() + entry->key_size(), entry->record_size);
    CHECK(last == nullptr || last->head[0] < entry->head[0] ||
          (last->head[0] == entry->head[0] && last->head[1] <= entry->head[1]));
  }
  CHECK_EQ(count, this->count());
  CHECK(last == nullptr ? last_ == head_ : last == last_);
  const Page* page = root_.load(std::memory_order_acquire);
  for (;;) {
    uint64_t slots = 0;
    for (const Page* p = page; p != nullptr; p = p->right.load(std::memory_order_acquire)) {
      CHECK_EQ(p->level, page->level);
      CHECK(p == page ? p->first == head_ : p->first != head_);
      slots += p->count.load(std::memory_order_acquire);
    }
    if (page->level == 0) {
      CHECK_LE(slots, count + 1);                                              // and that of head_
      CHECK_LE(count + 1 - slots, left_out_.load(std::memory_order_relaxed));  // which may be of other levels
      return;
    }
    page = static_cast<const Page*>(page->slots[0].place.load(std::memory_order_acquire));
  }
}

BLinkTree::Entry* BLinkTree::Seek(const Slice& key, uint64_t sequence) const {
  const Target target = MakeTarget(key, sequence);
  Entry* entry = Find(target)->Next();
  while (entry != nullptr && Before(entry, target)) entry = entry->Next();
  return entry;
}

// Goes to the right on every level, because a page that was split may not be known to the level above yet, and ends
// with a walk along the list, because the last entries may not be in a page yet.
BLinkTree::Entry* BLinkTree::Last() const {
  const Page* page = root_.load(std::memory_order_acquire);
  for (;;) {
    if (const Page* const right = page->right.load(std::memory_order_acquire); right != nullptr) {
      page = right;
      continue;
    }
    // acquire: as in Find.
    void* const place =
        page->slots[page->count.load(std::memory_order_acquire) - 1].place.load(std::memory_order_acquire);
    if (page->level > 0) {
      page = static_cast<const Page*>(place);
      continue;
    }
    Entry* entry = static_cast<Entry*>(place);
    for (Entry* next = entry->Next(); next != nullptr; next = next->Next()) entry = next;
    return entry == head_ ? nullptr : entry;
  }
}

}  // namespace miodb
