// The index of a memtable: a skip list in DRAM over records that lie elsewhere.
//
// Threads: one thread inserts at a time (the leader of a write group); any number read meanwhile, without locks and
// without waiting. Why that is safe:
//   1. Nodes are never removed or changed once linked; they live as long as the list.
//   2. A node is filled in before the release store that links it, and readers follow links with acquire loads, so a
//      reader that sees a node sees all of it and its record.
//   3. Links are set from level 0 up, so a node found on a higher level is on all lower ones.
//
// A node holds the first 16 key bytes, so that most comparisons touch no record.

#ifndef MIODB_SRC_MEMTABLE_SKIP_LIST_H_
#define MIODB_SRC_MEMTABLE_SKIP_LIST_H_

#include <atomic>
#include <cstdint>

#include "miodb/slice.h"
#include "src/format/record.h"
#include "src/memtable/block_pool.h"
#include "src/util/key_order.h"
#include "src/util/random.h"

namespace miodb {

class SkipList {
 public:
  // In one cache line up to height 3, which 98 % of the nodes do not exceed.
  struct alignas(64) Node {
    uint64_t head[2];  // KeyHead at 0 and 8
    uint64_t tag;
    const char* record;
    uint32_t record_size;
    uint32_t key_place;          // size of the key << 8 | its offset from record
    std::atomic<Node*> next[3];  // as many as the node is high

    // Acquire: pairs with the release in Link; whoever sees a node sees what is in it.
    Node* Next(int level) const { return next[level].load(std::memory_order_acquire); }
  };

  // The longest node, so that an arena's blocks can be made long enough.
  static constexpr int kMaxHeight = 14;
  static constexpr size_t kMaxNodeBytes =
      (sizeof(Node) + (kMaxHeight - 3) * sizeof(std::atomic<Node*>) + alignof(Node) - 1) / alignof(Node) *
      alignof(Node);

  SkipList(KeyOrder order, Arena* arena, uint64_t seed);
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // Adds a version. REQUIRES: no version with this key and tag is in the list; one inserter at a time.
  void Insert(const Slice& key, uint64_t tag, const char* record, size_t record_size);

  // The first node not before (key, sequence), or nullptr.
  Node* Seek(const Slice& key, uint64_t sequence) const;

  // The last node before (key, sequence), or nullptr.
  Node* SeekBefore(const Slice& key, uint64_t sequence) const;

  Node* First() const { return head_->Next(0); }
  Node* Last() const;

  // The node before this one, or nullptr.
  Node* Before(const Node* node) const { return SeekBefore(KeyOf(node), TagSequence(node->tag)); }

  static Slice KeyOf(const Node* node);

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }  // relaxed: a statistic

 private:
  // What is being looked for.
  struct Target {
    Slice key;
    uint64_t head[2];
    uint64_t sequence;
    bool bytewise;
  };

  Target MakeTarget(const Slice& key, uint64_t sequence) const;
  bool Before(const Node* node, const Target& target) const;
  bool BeforeLikeHeads(const Node* node, const Target& target) const;
  static void PrefetchBelow(const Node* node, int level);
  Node* NewNode(int height);
  int RandomHeight();
  void FindPredecessors(const Target& target, Node** previous) const;

  const KeyOrder order_;
  Arena* const arena_;
  Node* const head_;

  // Of the inserter. tail_[i] is the last node on level i: an insert beyond the end needs no search.
  Node* tail_[kMaxHeight];
  Random random_;

  std::atomic<int> height_{1};
  std::atomic<uint64_t> count_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_MEMTABLE_SKIP_LIST_H_
