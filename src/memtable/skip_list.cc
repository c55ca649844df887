#include "src/memtable/skip_list.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "src/util/check.h"

namespace miodb {

SkipList::SkipList(KeyOrder order, Arena* arena, uint64_t seed)
    : order_(order), arena_(arena), head_(NewNode(kMaxHeight)), random_(seed) {
  for (Node*& tail : tail_) tail = head_;
}

SkipList::Node* SkipList::NewNode(int height) {
  const size_t links = static_cast<size_t>(height) * sizeof(std::atomic<Node*>);
  char* const memory = arena_->Allocate(std::max(sizeof(Node), offsetof(Node, next) + links));
  static_assert(alignof(Node) <= Arena::kCacheLine);
  Node* const node = new (memory) Node;
  // relaxed: nobody sees the node yet.
  for (int i = 0; i < height; i++) new (&node->next[i]) std::atomic<Node*>(nullptr);
  return node;
}

int SkipList::RandomHeight() {
  // Each level holds a quarter of the one below.
  uint64_t bits = random_.Next64();
  int height = 1;
  while (height < kMaxHeight && (bits & 3) == 0) {
    height++;
    bits >>= 2;
  }
  return height;
}

Slice SkipList::KeyOf(const Node* node) { return Slice(node->record + (node->key_place & 0xff), node->key_place >> 8); }

SkipList::Target SkipList::MakeTarget(const Slice& key, uint64_t sequence) const {
  Target target{key, {0, 0}, sequence, order_.bytewise()};
  if (order_.bytewise()) {
    target.head[0] = KeyHead(key, 0);
    target.head[1] = KeyHead(key, 8);
  }
  return target;
}

// Whether node comes before target in (key ascending, sequence descending) order.
inline bool SkipList::Before(const Node* node, const Target& target) const {
  if (target.bytewise) {
    if (node->head[0] != target.head[0]) return node->head[0] < target.head[0];
    if (node->head[1] != target.head[1]) return node->head[1] < target.head[1];
  }
  return BeforeLikeHeads(node, target);
}

// The same where the first 16 bytes, padded with zeros, do not decide or mean nothing.
bool SkipList::BeforeLikeHeads(const Node* node, const Target& target) const {
  const size_t key_size = node->key_place >> 8;
  if (target.bytewise && (key_size <= 16 || target.key.size() <= 16)) {
    if (key_size != target.key.size()) return key_size < target.key.size();  // the shorter is a prefix of the longer
    return TagSequence(node->tag) > target.sequence;
  }
  const int c = order_.Compare(KeyOf(node), target.key);
  return c != 0 ? c < 0 : TagSequence(node->tag) > target.sequence;
}

// Asks for the node that is compared next if the search goes down here.
inline void SkipList::PrefetchBelow(const Node* node, int level) {
  if (level > 0) __builtin_prefetch(node->next[level - 1].load(std::memory_order_relaxed));  // relaxed: a hint
}

void SkipList::FindPredecessors(const Target& target, Node** previous) const {
  Node* node = head_;
  // relaxed: only the inserter changes the height, and it is the caller.
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; level--) {
    for (;;) {
      Node* const next = node->Next(level);
      if (next == nullptr) break;
      PrefetchBelow(node, level);
      if (!Before(next, target)) break;
      node = next;
    }
    previous[level] = node;
  }
}

void SkipList::Insert(const Slice& key, uint64_t tag, const char* record, size_t record_size) {
  const Target target = MakeTarget(key, TagSequence(tag));
  const int height = RandomHeight();
  Node* const node = NewNode(height);
  node->head[0] = target.head[0];
  node->head[1] = target.head[1];
  node->tag = tag;
  node->record = record;
  node->record_size = static_cast<uint32_t>(record_size);
  node->key_place = static_cast<uint32_t>(key.size() << 8 | RecordHeaderSize(key.size(), record_size));

  // relaxed: only the inserter changes the height.
  if (height > height_.load(std::memory_order_relaxed)) {
    // relaxed: a reader that sees the new height before the links finds nullptr there and goes down.
    height_.store(height, std::memory_order_relaxed);
  }
  Node* found[kMaxHeight];
  Node** previous = tail_;
  if (tail_[0] != head_ && !Before(tail_[0], target)) {
    FindPredecessors(target, found);
    previous = found;
  }
  for (int level = 0; level < height; level++) {
    // relaxed: the node is not linked on this level yet.
    Node* const next = previous[level]->next[level].load(std::memory_order_relaxed);
    node->next[level].store(next, std::memory_order_relaxed);
    // release: publishes the node and its record to readers' acquire loads in Next.
    previous[level]->next[level].store(node, std::memory_order_release);
    if (next == nullptr) tail_[level] = node;
  }
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: a statistic
}

SkipList::Node* SkipList::SeekBefore(const Slice& key, uint64_t sequence) const {
  const Target target = MakeTarget(key, sequence);
  Node* node = head_;
  // relaxed: a stale height costs steps, not correctness.
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; level--) {
    for (;;) {
      Node* const next = node->Next(level);
      if (next == nullptr || !Before(next, target)) break;
      node = next;
    }
  }
  return node == head_ ? nullptr : node;
}

SkipList::Node* SkipList::Seek(const Slice& key, uint64_t sequence) const {
  const Target target = MakeTarget(key, sequence);
  Node* node = head_;
  Node* stop = nullptr;
  // relaxed: as in SeekBefore.
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; level--) {
    for (;;) {
      Node* const next = node->Next(level);
      if (next == stop) break;  // nullptr, or compared on the level above
      PrefetchBelow(node, level);
      if (!Before(next, target)) {
        stop = next;
        break;
      }
      node = next;
    }
  }
  // On level 0 the search ended before the first node that is not before the target. A node inserted after the
  // comparison may stand in between; it is newer than any sequence this reader may see, or it is a valid answer.
  Node* next = node->Next(0);
  while (next != nullptr && Before(next, target)) next = next->Next(0);
  return next;
}

SkipList::Node* SkipList::Last() const {
  Node* node = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; level--) {  // relaxed: as in SeekBefore
    for (Node* next = node->Next(level); next != nullptr; next = node->Next(level)) node = next;
  }
  return node == head_ ? nullptr : node;
}

}  // namespace miodb
