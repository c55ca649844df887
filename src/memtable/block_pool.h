// Equal blocks of DRAM for memtables, recycled, so that a put takes its memory from pages that were faulted in before.
//
// A memtable begins with a small one and, where none is ready, goes on with small ones, each as large as all it has:
// few entries take little. Once one has outgrown these, blocks are worth preparing. All memtables with blocks of one
// size may share a pool.
//
// Threads: any. Blocks must all be given back before the pool is destroyed.

#ifndef MIODB_SRC_MEMTABLE_BLOCK_POOL_H_
#define MIODB_SRC_MEMTABLE_BLOCK_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/numa/numa.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class BlockPool {
 public:
  static constexpr size_t kCacheLine = 64;

  // block_bytes: a multiple of Arena::kCacheLine. keep: free blocks to hold on to; more go back to the system. node:
  // the NUMA node of all of them; kAnyNode: wherever.
  BlockPool(size_t block_bytes, size_t keep, int node = kAnyNode)
      : block_bytes_(block_bytes), keep_(keep), node_(node) {
    CHECK_GT(block_bytes_, 0u);
    free_.reserve(keep);  // so that Give, which destructors call, needs no memory
  }
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  size_t block_bytes() const { return block_bytes_; }

  char* Take();
  void Give(char* block);

  // The next block for who has so many bytes of blocks: a small one if it is the first, or while that is less than a
  // block and no block is free. *bytes: its size, at least that of the first; goes back with it.
  char* TakeNext(size_t have, size_t* bytes);
  void GiveBack(char* block, size_t bytes);

  // Whether somebody had use for more than half a block.
  bool in_use() const { return in_use_.load(std::memory_order_relaxed); }  // relaxed: a hint

  // Sees to it that count free blocks are there, faulted in. Called in the background.
  void Prepare(size_t count);

  // Gives the free blocks back to the system if nobody has taken one for so long; until somebody has use for them
  // again, none are prepared. Called now and then.
  void GiveBackIdle(uint64_t now_micros, uint64_t window_micros);

  // Where the free blocks lie.
  PageSample Sample();

 private:
  static constexpr size_t kFirstBytes = 16 * 1024;
  static_assert(kFirstBytes % kCacheLine == 0);

  char* TakeFree();
  void Keep(char* block);
  char* NewBlock(size_t block_bytes) const;

  const size_t block_bytes_;
  const size_t keep_;
  const int node_;
  std::atomic<int64_t> out_{0};  // blocks that were handed out and have not come back
  Mutex mutex_;
  std::vector<char*> free_ GUARDED_BY(mutex_);
  uint64_t taken_ GUARDED_BY(mutex_) = 0;        // free blocks, so far
  uint64_t seen_taken_ GUARDED_BY(mutex_) = 0;   // by GiveBackIdle
  uint64_t seen_micros_ GUARDED_BY(mutex_) = 0;  // when it saw another number than before
  std::atomic<bool> in_use_{false};
};

// Bump allocation from blocks. A single thread allocates at a time, or several take pieces (ArenaPiece). Allocations
// live until the arena dies.
class Arena {
 public:
  static constexpr size_t kCacheLine = BlockPool::kCacheLine;

  explicit Arena(BlockPool* pool) : pool_(pool) { CHECK(pool_ != nullptr); }
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // n bytes at the start of a cache line. REQUIRES: n <= block_bytes() and 16 KiB.
  char* Allocate(size_t n) {
    n = (n + kCacheLine - 1) & ~(kCacheLine - 1);
    if (n > static_cast<size_t>(end_ - next_)) NewBlock();
    DCHECK_LE(n, static_cast<size_t>(end_ - next_));
    char* const result = next_;
    next_ += n;
    return result;
  }

  // Allocate, by any of several threads of which none calls Allocate meanwhile. nullptr: there is no memory.
  char* AllocateBeside(size_t n) EXCLUDES(piece_mutex_);

  // Bytes taken from the pool. Any thread.
  size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }  // relaxed: a statistic

 private:
  void NewBlock();

  BlockPool* const pool_;
  struct Block {
    char* bytes;
    size_t size;
  };

  std::vector<Block> blocks_;
  char* next_ = nullptr;
  char* end_ = nullptr;
  std::atomic<size_t> memory_bytes_{0};
  Mutex piece_mutex_;  // orders those who call AllocateBeside
};

// A thread's part of an arena in which several threads allocate: bump allocation from pieces, which spares them a lock.
//
// Threads: one at a time. Ownership: the arena's, which outlives the piece.
class alignas(64) ArenaPiece {
 public:
  explicit ArenaPiece(Arena* arena) : arena_(arena) { CHECK(arena_ != nullptr); }
  ArenaPiece(const ArenaPiece&) = delete;
  ArenaPiece& operator=(const ArenaPiece&) = delete;

  // n bytes at the start of a cache line, or nullptr where there is no memory. REQUIRES: n <= kPieceBytes.
  char* Allocate(size_t n) {
    n = (n + Arena::kCacheLine - 1) & ~(Arena::kCacheLine - 1);
    if (n > static_cast<size_t>(end_ - next_) && !NewPiece()) return nullptr;
    DCHECK_LE(n, static_cast<size_t>(end_ - next_));
    char* const result = next_;
    next_ += n;
    return result;
  }

 private:
  static constexpr size_t kPieceBytes = 8 * 1024;

  bool NewPiece();

  Arena* const arena_;
  char* next_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace miodb

#endif  // MIODB_SRC_MEMTABLE_BLOCK_POOL_H_
