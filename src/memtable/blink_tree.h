// The index of a memtable: records that lie elsewhere, in key order. The entries form a sorted linked list, and a
// B-link tree (a B+-tree whose pages know their right neighbours) leads to a place in that list.
//
// The list is the truth, the tree a hint. A search follows the tree to some entry that it verifies to be before what is
// looked for, and walks the list from there; whatever the tree shows while it changes costs steps, not correctness.
//
// Threads: one thread inserts at a time (Insert, by the leader of a write group), or several do (InsertBeside); any
// number read meanwhile, without locks, without waiting and without trying again. Why that is safe:
//   1. Entries are never removed or changed once linked; entries and pages live as long as the tree.
//   2. An entry is filled in before the release store that links it, and readers follow links with acquire loads, so a
//      reader that sees an entry sees all of it and its record. An entry is linked before it enters a page.
//   3. Slot 0 of a page never changes. The others move to the right one by one to make room, so that at any moment each
//      is missing or there twice at the most, and in order. A slot caught in the middle may show the bytes of one key
//      and the place of another; what it leads to is compared once more, and if it is not before the target the slot on
//      its left is taken.
//   4. A page that is split names its new right neighbour before it lets go of the upper half, and a search that ends
//      at the last slot of a page looks to the right.
//   5. If several threads insert, each links its entry by a compare-and-swap of the link before it, and changes a page
//      only while it holds the page's lock, one at a time. An inserter that does not get the lock soon, because its
//      holder has lost its CPU, leaves the slot out: the list has the entry, and what the tree lacks costs steps.
//
// Pages and entries hold the first 16 key bytes, so that most comparisons touch no record.

#ifndef MIODB_SRC_MEMTABLE_BLINK_TREE_H_
#define MIODB_SRC_MEMTABLE_BLINK_TREE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "miodb/slice.h"
#include "src/format/record.h"
#include "src/memtable/block_pool.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

class BLinkTree {
 public:
  static constexpr int kKeyOffsetBits = 5;
  static_assert(kMaxRecordHeader < (1 << kKeyOffsetBits) && kMaxKeySize < size_t{1} << (32 - kKeyOffsetBits));

  struct alignas(64) Entry {
    uint64_t head[2];  // KeyHead at 0 and 8
    uint64_t tag;
    const char* record;
    uint32_t record_size;
    uint32_t key_place;  // size of the key << kKeyOffsetBits | its offset from record
    std::atomic<Entry*> next;

    size_t key_size() const { return key_place >> kKeyOffsetBits; }
    size_t key_offset() const { return key_place & ((1U << kKeyOffsetBits) - 1); }

    // Acquire: pairs with the release in Link; whoever sees an entry sees what is in it.
    Entry* Next() const { return next.load(std::memory_order_acquire); }
  };

  BLinkTree(KeyOrder order, Arena* arena);
  BLinkTree(const BLinkTree&) = delete;
  BLinkTree& operator=(const BLinkTree&) = delete;

  // Adds a version. REQUIRES: no version with this key and tag is there; one inserter at a time.
  void Insert(const Slice& key, uint64_t tag, const char* record, size_t record_size);

  // An entry for InsertBeside. nullptr: there is no memory.
  static Entry* NewEntry(ArenaPiece* memory);

  // Adds a version, by any of several inserters. entry: a new one of the caller's; memory: the caller's. REQUIRES: no
  // version with this key and tag is there; nobody calls Insert meanwhile.
  void InsertBeside(Entry* entry, ArenaPiece* memory, const Slice& key, uint64_t tag, const char* record,
                    size_t record_size);

  // So many versions were added by InsertBeside since the last call, and whoever added them has ended. To be called
  // before the next Insert.
  void EndBeside(uint64_t added);

  // The first entry not before (key, sequence), or nullptr.
  Entry* Seek(const Slice& key, uint64_t sequence) const;

  // The last entry before (key, sequence), or nullptr.
  Entry* SeekBefore(const Slice& key, uint64_t sequence) const;

  Entry* First() const { return head_->Next(); }
  Entry* Last() const;

  // The entry before this one, or nullptr.
  Entry* Before(const Entry* entry) const { return SeekBefore(KeyOf(entry), TagSequence(entry->tag)); }

  // Whether an entry that was found as the one before another is. Keys lie on the medium, where damage may say else.
  bool InOrder(const Entry* before, const Entry* entry) const {
    if (order_.bytewise() && before->head[0] != entry->head[0]) return before->head[0] < entry->head[0];
    const int c = order_.Compare(KeyOf(before), KeyOf(entry));
    return c != 0 ? c < 0 : before->tag > entry->tag;
  }

  static Slice KeyOf(const Entry* entry) {
    DCHECK(entry->record != nullptr && entry->key_offset() + entry->key_size() <= entry->record_size);
    return Slice(entry->record + entry->key_offset(), entry->key_size());
  }

  // Without those that were added by InsertBeside and not told of by EndBeside yet.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }  // relaxed: a statistic

  // Entries side by side, with all versions of their keys.
  struct Share {
    const Entry* before;  // the entry before them; null: they begin with the first
    const Entry* last;
    uint64_t most;  // there are no more of them
  };

  // Cuts the entries into so many shares of about the same number, or fewer where keys have many versions. None is
  // empty. Visits every leaf. REQUIRES: nobody inserts.
  std::vector<Share> ShareOut(size_t count) const;

  // Checks what must hold while nobody inserts: the entries are as many as were inserted, the heads in their order, and
  // each page's first comes before that of the page on its right. Reads no record.
  void Check() const;

 private:
  static constexpr uint32_t kFanout = 32;
  static constexpr uint32_t kMaxLevels = 12;

  // The key of an entry, and the way to it: the entry itself in leaves (level 0), else the page whose first it is.
  struct Slot {
    std::atomic<uint64_t> head[2];
    std::atomic<void*> place;

    // release: publishes what the place leads to. relaxed: the heads are hints.
    void Set(uint64_t head0, uint64_t head1, void* to) {
      place.store(to, std::memory_order_release);
      head[0].store(head0, std::memory_order_relaxed);
      head[1].store(head1, std::memory_order_relaxed);
    }
    // relaxed: the inserter reads what it has written.
    void Copy(const Slot& from) {
      Set(from.head[0].load(std::memory_order_relaxed), from.head[1].load(std::memory_order_relaxed),
          from.place.load(std::memory_order_relaxed));
    }
  };

  struct alignas(64) Page {
    std::atomic<uint32_t> count;
    uint16_t level;
    std::atomic<bool> locked;  // by one of several inserters
    Entry* first;              // the smallest that is found here; never changes
    std::atomic<Page*> right;
    Slot slots[kFanout];  // ascending; slot 0 is first's
  };
  static_assert(kFanout >= 2 && kFanout % 2 == 0);
  static_assert(sizeof(Entry) == 64);  // one line

 public:
  // The longest allocation, so that an arena's blocks can be made long enough.
  static constexpr size_t kMaxAllocation = sizeof(Page);

 private:
  // The target of a search.
  struct Target {
    Slice key;
    uint64_t head[2];
    uint64_t sequence;
    bool bytewise;
  };

  // The inserter's way: the page and slot on each level through which it came.
  struct Path {
    struct Step {
      Page* page;
      uint32_t slot;
    };
    std::array<Step, kMaxLevels> steps;
  };

  // How far a search has come.
  struct Way {
    Page* page;                    // to be looked at
    const Page* parent = nullptr;  // where slot led to the page; null: the page is known to begin before the target
    uint32_t slot = 0;             // at the end, that of page
  };

 public:
  // A Seek that is made in steps, so that several wait for memory together. Threads: one. The tree and the key must
  // outlive it.
  class Search {
   public:
    void Start(const BLinkTree& tree, const Slice& key, uint64_t sequence);

    // Does what Seek does until it would wait for memory, asks for that memory and returns. True: there are no more
    // steps, and entry() is what Seek would have given; its line was asked for or read.
    bool Step();
    const Entry* entry() const { return entry_; }

   private:
    enum class Stage : uint8_t { kPages, kLeaf, kList };

    const BLinkTree* tree_ = nullptr;
    Stage stage_ = Stage::kPages;
    Target target_ = {};
    Way way_ = {};
    const Entry* entry_ = nullptr;
  };

 private:
  Target MakeTarget(const Slice& key, uint64_t sequence) const;
  Page* NewPage(uint32_t level, Entry* first);
  bool Before(const Entry* entry, const Target& target) const;
  bool BeforeLikeHeads(const Entry* entry, const Target& target) const;
  bool SlotBefore(const Page* page, uint32_t slot, const Target& target) const;
  bool FirstBefore(const Page* page, const Target& target) const;
  uint32_t LastSlotBefore(const Page* page, uint32_t count, const Target& target) const;
  bool Descend(const Target& target, uint32_t level, Way* way) const;
  Way FindPage(const Target& target, uint32_t level) const;
  Entry* EntryBefore(const Target& target, const Way& leaf) const;
  Entry* Find(const Target& target) const;
  Entry* FindForInsert(const Target& target, Path* path) const;
  Entry* FindEnd(Path* path) const;
  void AddSlot(Path* path, uint32_t level, const uint64_t* head, void* place);
  Page* Split(Path* path, uint32_t level, uint32_t* slot);
  void Fill(Entry* entry, const Target& target, uint64_t tag, const char* record, size_t record_size) const;
  static void PutSlot(Page* page, uint32_t at, const uint64_t* head, void* place);
  void InsertWithSlotsLeftOut(const Slice& key, uint64_t tag, const char* record, size_t record_size);
  Page* Lock(Page* page, const Target& target) const;
  void AddSlotBeside(Page* page, const Target& target, void* place, ArenaPiece* memory);
  Page* SplitBeside(Page* page, uint32_t at, const Target& target, void* place, ArenaPiece* memory);

  const KeyOrder order_;
  Arena* const arena_;
  Entry* const head_;  // before all others; it has no record
  std::atomic<Page*> root_;
  Entry* last_;  // of the inserter
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> left_out_{0};  // slots, of all levels
  ArenaPiece piece_{arena_};           // of an inserter that is alone with a tree that lacks slots
};

}  // namespace miodb

#endif  // MIODB_SRC_MEMTABLE_BLINK_TREE_H_
