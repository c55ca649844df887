#include "src/memtable/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

// A memtable's DRAM comes in blocks, and blocks go round: the prepare thread makes them and faults their pages in, an
// arena takes them in the middle of puts, and the memtable gives them back when its last reader has gone. So a put
// takes no page faults and no memory from the system, as long as the prepare thread keeps up; where it does not, the
// put makes its block itself.

#include "src/util/bytes/make_room.h"
#include "src/util/files/page.h"

namespace miodb {

// Blocks of arenas that are still in use are not here, so memtables have to be gone before the pool is.
BlockPool::~BlockPool() {
  DCHECK_EQ(out_.load(std::memory_order_relaxed), 0);  // relaxed: ordered by whatever ended the memtables
  for (char* block : free_) free(block);
}

// A block of whole huge pages is aligned to them and asked for as such: a put then misses the TLB once for each 2 MiB
// instead of each 4 KiB. Without a node that was asked for there is no block at all, rather than one elsewhere: memory
// of another node would show as latency that nobody could explain.
char* BlockPool::NewBlock(size_t block_bytes) const {
  CHECK(block_bytes > 0 && block_bytes <= block_bytes_);
  const bool huge = block_bytes % kHugePageBytes == 0;
  const size_t alignment = huge ? kHugePageBytes : kPageBytes;
  const size_t bytes = (block_bytes + alignment - 1) / alignment * alignment;
  char* const block = static_cast<char*>(aligned_alloc(alignment, bytes));
  if (block == nullptr) throw std::bad_alloc();
  if (node_ != kAnyNode && !MoveAndBindMemory(block, bytes, node_).ok()) {
    free(block);
    throw std::bad_alloc();
  }
  if (huge) madvise(block, block_bytes, MADV_HUGEPAGE);
  return block;
}

// A free block, the one that was given back last, because its lines may still be in a cache. Null: none is free.
char* BlockPool::TakeFree() {
  MutexLock lock(&mutex_);
  if (free_.empty()) return nullptr;
  char* const block = free_.back();
  free_.pop_back();
  taken_++;
  return block;
}

char* BlockPool::Take() {
  char* block = TakeFree();
  if (block == nullptr) block = NewBlock(block_bytes_);
  out_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  return block;
}

// Doubles what the arena has, from kFirstBytes up, until a whole block is worth it: a database of a few keys then
// needs kilobytes, and an empty memtable one small block, whatever is free. in_use_ rises as soon as one memtable is on
// its way to a whole block, so that the next one finds blocks that are faulted in.
char* BlockPool::TakeNext(size_t have, size_t* bytes) {
  if (have > block_bytes_ / 4) in_use_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  *bytes = block_bytes_;
  char* block = have > 0 || block_bytes_ <= kFirstBytes ? TakeFree() : nullptr;
  if (block == nullptr) {
    if (have < block_bytes_) *bytes = std::min(std::max(have, kFirstBytes), block_bytes_);
    block = NewBlock(*bytes);
  }
  out_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  return block;
}

// Small blocks are freed, since only whole ones fit every arena.
void BlockPool::GiveBack(char* block, size_t bytes) {
  CHECK(bytes > 0 && bytes <= block_bytes_);
  if (bytes == block_bytes_) return Give(block);
  out_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
  free(block);
}

// Called by destructors: free_ has its room since the constructor, so that nothing here needs memory or throws.
void BlockPool::Give(char* block) {
  CHECK_GT(out_.fetch_sub(1, std::memory_order_relaxed), 0);  // relaxed: a count
  Keep(block);
}

void BlockPool::Keep(char* block) {
  CHECK(block != nullptr);
  {
    MutexLock lock(&mutex_);
    DCHECK(std::find(free_.begin(), free_.end(), block) == free_.end());
    if (free_.size() < keep_) {
      CHECK_LT(free_.size(), free_.capacity());  // destructors come here: it needs no memory
      free_.push_back(block);
      return;
    }
  }
  free(block);
}

// Works a block at a time without the lock held, since clearing one takes long. Two threads that prepare at once may
// make one block more than was asked for; Give drops what is above keep_.
void BlockPool::Prepare(size_t count) {
  for (;;) {
    {
      MutexLock lock(&mutex_);
      if (free_.size() >= count || free_.size() >= keep_) return;
    }
    char* const block = NewBlock(block_bytes_);
    // Touching every page faults it in here, in the background, and not in a put.
    memset(block, 0, block_bytes_);
    Keep(block);
  }
}

void BlockPool::GiveBackIdle(uint64_t now_micros, uint64_t window_micros) {
  {
    MutexLock lock(&mutex_);
    if (free_.empty() || taken_ != seen_taken_ || seen_micros_ == 0) {
      seen_taken_ = taken_;
      seen_micros_ = now_micros;
    }
    if (now_micros - std::min(now_micros, seen_micros_) < window_micros) return;
    in_use_.store(false, std::memory_order_relaxed);  // relaxed: a hint
  }
  for (;;) {
    char* block;
    {
      MutexLock lock(&mutex_);
      if (free_.empty() || taken_ != seen_taken_) return;
      block = free_.back();
      free_.pop_back();
    }
    free(block);
  }
}

// Looks only at blocks that nobody uses: they can be touched for writing, and were made as those in use were.
PageSample BlockPool::Sample() {
  PageSample sample;
  MutexLock lock(&mutex_);
  for (const char* block : free_) SamplePages(block, block_bytes_, 2, Touch::kForWriting, &sample);
  return sample;
}

Arena::~Arena() {
  for (const Block& block : blocks_) pool_->GiveBack(block.bytes, block.size);
}

// The rest of the last block is given up: it is less than one allocation, and no allocation is larger than
// kMaxAllocation of the tree.
void Arena::NewBlock() {
  MakeRoom(&blocks_);  // first: without memory there is no block to lose
  Block block;
  block.bytes = pool_->TakeNext(memory_bytes(), &block.size);
  blocks_.push_back(block);
  next_ = block.bytes;
  end_ = block.bytes + block.size;
  CHECK_EQ(reinterpret_cast<uintptr_t>(next_) % kCacheLine, 0u);
  memory_bytes_.store(memory_bytes() + block.size, std::memory_order_relaxed);  // relaxed: a statistic
}

// Lack of memory is a result here and no exception, because a writer that has its place in the log already could not
// survive an exception.
char* Arena::AllocateBeside(size_t n) {
  MutexLock lock(&piece_mutex_);
  try {
    return Allocate(n);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// The rest of the piece before is given up, as with blocks.
bool ArenaPiece::NewPiece() {
  char* const piece = arena_->AllocateBeside(kPieceBytes);
  if (piece == nullptr) return false;
  next_ = piece;
  end_ = piece + kPieceBytes;
  return true;
}

}  // namespace miodb
