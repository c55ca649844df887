// Remembers, roughly, which of many things were read a short while ago. A cache that keeps a thing only at the second
// of two reads that lie close together is not flooded by things that are read once, and such a read costs it a line of
// memory.
//
// A bucket has a few marks, one for each thing that it remembers. A thing that is new takes the place of the oldest in
// the back half of its bucket. A thing that is read again goes to the front half, where new things do not push it out,
// and the oldest of that half takes its place in the back.
//
// Threads: any number. Two threads that meet in a bucket may lose a mark, so an answer is a hint.
//
// Errors: the constructor throws bad_alloc without memory.

#ifndef MIODB_SRC_UTIL_THREADS_RECENT_READS_H_
#define MIODB_SRC_UTIL_THREADS_RECENT_READS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "src/util/check/check.h"

namespace miodb {

class RecentReads {
 public:
  // most: the things that are remembered at most, about. All of them are, until SetWindow says otherwise.
  explicit RecentReads(size_t most) : most_buckets_(BucketsFor(most)), buckets_(most_buckets_) {
    // Zeros are empty marks, and large memory from calloc takes pages only as they are used. A bucket lies in one line.
    size_t room = memory_bytes() + kLineBytes;
    memory_.reset(std::calloc(room, 1));
    if (memory_ == nullptr) throw std::bad_alloc();
    void* begin = memory_.get();
    marks_ = static_cast<Mark*>(std::align(kLineBytes, memory_bytes(), begin, room));
    CHECK(marks_ != nullptr);
  }

  // Notes a thing by a hash of it, all of whose bits count. True: the thing was noted before, and was not pushed out by
  // others since.
  bool Touch(uint64_t hash) {
    // relaxed, here and below: a hint of its own.
    const uint64_t bucket = (hash & UINT32_MAX) * buckets_.load(std::memory_order_relaxed) >> 32;
    DCHECK_LT(bucket, most_buckets_);
    Mark* const marks = &marks_[bucket * kMarks];
    const uint32_t mark = static_cast<uint32_t>(hash >> 32) | 1;  // 0 is an empty place
    for (size_t i = 0; i < kMarks; i++) {
      if (marks[i].load(std::memory_order_relaxed) != mark) continue;
      if (i >= kFront) {
        Move(&marks[kFront - 1], &marks[i]);
        PushFront(marks, mark);
      }
      return true;
    }
    PushFront(marks + kFront, mark);
    return false;
  }

  // Remembers about so many things from now on. Small changes are left out, since each change forgets most of what is
  // remembered.
  void SetWindow(size_t things) {
    const uint32_t buckets = std::min(BucketsFor(things), most_buckets_);
    const uint32_t now = buckets_.load(std::memory_order_relaxed);  // relaxed: see Touch
    DCHECK(buckets > 0 && now > 0);
    if (buckets > now + now / 4 || buckets < now - now / 4) buckets_.store(buckets, std::memory_order_relaxed);
  }

  size_t memory_bytes() const { return size_t{most_buckets_} * kMarks * sizeof(Mark); }

 private:
  using Mark = std::atomic<uint32_t>;

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  static constexpr size_t kMarks = 8;  // of a bucket
  static constexpr size_t kFront = kMarks / 2;
  static constexpr size_t kLineBytes = 64;
  static_assert(sizeof(Mark) == sizeof(uint32_t) && Mark::is_always_lock_free);
  static_assert(kLineBytes % (kMarks * sizeof(Mark)) == 0);

  static void Move(const Mark* from, Mark* to) {
    to->store(from->load(std::memory_order_relaxed), std::memory_order_relaxed);  // relaxed: see Touch
  }

  // Puts the mark at the front of half a bucket, in place of the last one.
  static void PushFront(Mark* half, uint32_t mark) {
    DCHECK_NE(mark, 0u);
    for (size_t i = kFront - 1; i > 0; i--) Move(&half[i - 1], &half[i]);
    half[0].store(mark, std::memory_order_relaxed);  // relaxed: see Touch
  }

  static uint32_t BucketsFor(size_t things) {
    return static_cast<uint32_t>(std::clamp<size_t>(things / kMarks, 1, UINT32_MAX / 2));
  }

  const uint32_t most_buckets_;
  std::atomic<uint32_t> buckets_;  // in use
  std::unique_ptr<void, Free> memory_;
  Mark* marks_ = nullptr;  // in memory_
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_THREADS_RECENT_READS_H_
