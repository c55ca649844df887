#include "src/memtable/block_pool.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace miodb {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;

}  // namespace

BlockPool::~BlockPool() {
  for (char* block : free_) free(block);
}

char* BlockPool::NewBlock() const {
  const bool huge = block_bytes_ % kHugePage == 0;
  const size_t alignment = huge ? kHugePage : kPage;
  const size_t bytes = (block_bytes_ + alignment - 1) / alignment * alignment;
  char* const block = static_cast<char*>(aligned_alloc(alignment, bytes));
  if (block == nullptr) throw std::bad_alloc();
  if (node_ != kAnyNode && !MoveAndBindMemory(block, bytes, node_).ok()) {
    free(block);
    throw std::bad_alloc();
  }
  if (huge) madvise(block, block_bytes_, MADV_HUGEPAGE);
  return block;
}

char* BlockPool::Take() {
  {
    MutexLock lock(&mutex_);
    if (!free_.empty()) {
      char* const block = free_.back();
      free_.pop_back();
      return block;
    }
  }
  return NewBlock();
}

void BlockPool::Give(char* block) {
  {
    MutexLock lock(&mutex_);
    if (free_.size() < keep_) {
      free_.push_back(block);
      return;
    }
  }
  free(block);
}

void BlockPool::Prepare(size_t count) {
  for (;;) {
    {
      MutexLock lock(&mutex_);
      if (free_.size() >= count || free_.size() >= keep_) return;
    }
    char* const block = NewBlock();
    memset(block, 0, block_bytes_);
    Give(block);
  }
}

PageSample BlockPool::Sample() {
  PageSample sample;
  MutexLock lock(&mutex_);
  for (const char* block : free_) SamplePages(block, block_bytes_, 2, Touch::kForWriting, &sample);
  return sample;
}

Arena::~Arena() {
  for (char* block : blocks_) pool_->Give(block);
}

void Arena::NewBlock() {
  blocks_.reserve(blocks_.size() + 1);  // first: without memory there is no block to lose
  char* const block = pool_->Take();
  blocks_.push_back(block);
  next_ = block;
  end_ = block + pool_->block_bytes();
  memory_bytes_.store(blocks_.size() * pool_->block_bytes(), std::memory_order_relaxed);  // relaxed: a statistic
}

}  // namespace miodb
