#include "src/memtable/blink_tree.h"

#include <new>

#include "src/memtable/blink_tree_search.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

template <typename T>
T* Allocate(Arena* arena) {
  static_assert(alignof(T) <= Arena::kCacheLine);
  return new (arena->Allocate(sizeof(T))) T{};
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

// The caller publishes the page, by the release store of the link that leads to it. An arena's memory holds what was
// there before, so Allocate makes the page zero: count, right and the slots above count are never read uninitialized.
BLinkTree::Page* BLinkTree::NewPage(uint32_t level, Entry* first) {
  Page* const page = Allocate<Page>(arena_);
  page->level = static_cast<uint16_t>(level);
  page->first = first;
  return page;
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

// An entry before the target, the last one of the tree if it does not change meanwhile; head_ if there is none.
BLinkTree::Entry* BLinkTree::Find(const Target& target) const { return EntryBefore(target, FindPage(target, 0)); }

void BLinkTree::Search::Start(const BLinkTree& tree, const Slice& key, uint64_t sequence) {
  tree_ = &tree;
  stage_ = Stage::kPages;
  target_ = tree.MakeTarget(key, sequence);
  way_ = {tree.root_.load(std::memory_order_acquire)};
}

bool BLinkTree::Search::Step() {
  DCHECK(tree_ != nullptr);
  switch (stage_) {
    case Stage::kPages:
      if (tree_->Descend(target_, 0, &way_)) stage_ = Stage::kLeaf;
      return false;
    case Stage::kLeaf:
      entry_ = tree_->EntryBefore(target_, way_)->Next();
      stage_ = Stage::kList;
      break;
    case Stage::kList:
      if (entry_ == nullptr || !tree_->Before(entry_, target_)) return true;
      entry_ = entry_->Next();
      break;
  }
  __builtin_prefetch(entry_);
  return false;
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
    PrefetchLines(page, sizeof(Page));
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

// The order is entry, list, tree. An entry that is linked into the list is found by every reader that began at an
// entry before it, whether a page leads to it or not; so the insert is complete for readers at the one release store,
// and a reader that meets the tree in the middle of AddSlot loses nothing. An insert that runs out of memory in
// AddSlot has linked the entry and leaves its slot out; a leader then ends all writing, because the sequence may not be
// given out twice.
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
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: a statistic
  try {
    AddSlot(&path, 0, entry->head, entry);
  } catch (const std::bad_alloc&) {
    left_out_.fetch_add(1, std::memory_order_relaxed);  // relaxed: nobody else inserts
    throw;
  }
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
// changed to what it is there. An entry that comes at the end of the last page begins a new page, so ascending keys
// leave full pages. The order of publication: the new page is filled in, then the old one names it as its neighbour,
// then the level above gets a slot for it, and last the old page's count falls. Between the second and the last step
// the upper half is in both pages, which readers cannot tell; before the third they come to the new page through its
// neighbour. A tree whose root splits is one level higher from the store of root_ on; a reader that has loaded the old
// root finds everything through its neighbours.
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

// Find may stop early where the tree changes, so the walk along the list decides: it ends at the last entry before the
// target that was linked when the walk came by. Any moment serves an iterator, because versions above its sequence do
// not count and all versions below its sequence are linked.
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

// A share ends with the last version of the first key of a leaf. Entries that leaves do not show may lie in any share.
std::vector<BLinkTree::Share> BLinkTree::ShareOut(size_t count) const {
  CHECK_GT(count, 0u);
  if (First() == nullptr) return {};
  const uint64_t left_out = left_out_.load(std::memory_order_relaxed);  // relaxed: nobody inserts
  const Page* page = root_.load(std::memory_order_acquire);
  while (page->level > 0) page = static_cast<const Page*>(page->slots[0].place.load(std::memory_order_acquire));
  std::vector<Share> shares;
  const Entry* before = nullptr;
  uint64_t passed = page->count.load(std::memory_order_acquire) - 1;  // entries of leaves; the first has head_
  uint64_t begin = 0;                                                 // the same where the share began
  for (page = page->right; page != nullptr && shares.size() + 1 < count; page = page->right) {
    if (passed >= this->count() * (shares.size() + 1) / count) {
      const Entry* last = page->first;
      uint64_t versions = 1;
      for (; last->Next() != nullptr && order_.Equal(KeyOf(last), KeyOf(last->Next())); versions++) last = last->Next();
      if (last->Next() == nullptr) break;
      if (last != before) {
        shares.push_back({before, last, passed - begin + versions + left_out});
        before = last;
        begin = passed;
      }
    }
    passed += page->count.load(std::memory_order_acquire);
  }
  shares.push_back({before, last_, this->count() - begin});
  DCHECK_LE(shares.size(), count);
  return shares;
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
