#include "src/util/files/read_rings.h"

#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "src/util/check/check.h"
#include "src/util/files/descriptors.h"

namespace miodb {

namespace {

// Reads that one ring has under way at a time.
constexpr unsigned kDepth = 64;

// Rings that are kept for later calls.
constexpr size_t kIdleRings = 16;

// Waits until a read has ended, and stores what has become of all that have. Returns how many.
size_t Reap(io_uring* ring) {
  io_uring_cqe* answer = nullptr;
  const int waited = io_uring_wait_cqe(ring, &answer);
  CHECK(waited == 0 || waited == -EINTR);  // memory must not be left to a kernel that may still write to it
  size_t ended = 0;
  for (; answer != nullptr; ended++) {
    static_cast<ReadRings::Read*>(io_uring_cqe_get_data(answer))->got = answer->res;
    io_uring_cqe_seen(ring, answer);
    answer = nullptr;
    if (io_uring_peek_cqe(ring, &answer) != 0) answer = nullptr;
  }
  return ended;
}

}  // namespace

// A ring and its memory shared with the kernel. made is false until the kernel has set it up, so that a failed one is
// not torn down.
struct ReadRings::Ring {
  Ring() = default;
  ~Ring() {
    if (made) io_uring_queue_exit(&ring);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  io_uring ring{};
  bool made = false;
};

// Rings are made by the first reads and kept for later ones, because making one is several system calls.
ReadRings::ReadRings() = default;
ReadRings::~ReadRings() = default;

// nullptr if there is none to be had.
std::unique_ptr<ReadRings::Ring> ReadRings::Take() {
  if (!possible()) return nullptr;
  {
    MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Ring> ring = std::move(idle_.back());
      idle_.pop_back();
      DCHECK(ring->made);
      return ring;
    }
    idle_.reserve(kIdleRings);
  }
  auto ring = std::make_unique<Ring>();
  const int error = -MakeDescriptor([&] { return io_uring_queue_init(kDepth, &ring->ring, 0); });
  ring->made = error == 0;
  if (ring->made) return ring;
  // Too little memory or too few descriptors may be enough another time.
  const bool for_now = error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN;
  if (!for_now) possible_.store(false, std::memory_order_relaxed);  // a hint
  return nullptr;
}

// Keeps up to kDepth reads in the kernel and does not return before every one that it took has ended: their memory and
// descriptors are the caller's, and the kernel may write to them until then. If the kernel refuses to take more, the
// reads that it has are waited for, all other reads get an error, and the ring is thrown away instead of being used
// again, because entries in it were never submitted.
bool ReadRings::Run(Read* reads, size_t count) {
  DCHECK(std::none_of(reads, reads + count, [](const Read& read) { return read.bytes == nullptr; }));
  std::unique_ptr<Ring> owned = Take();
  if (owned == nullptr) return false;
  io_uring* const ring = &owned->ring;
  size_t begun = 0;  // put into the ring
  size_t taken = 0;  // of them, by the kernel
  size_t ended = 0;  // of them, read or failed
  bool refused = false;
  for (;;) {
    while (begun < count && begun - ended < kDepth) {
      io_uring_sqe* const entry = io_uring_get_sqe(ring);
      CHECK(entry != nullptr);  // there are kDepth of them
      Read* const read = &reads[begun++];
      io_uring_prep_read(entry, read->descriptor, read->bytes, static_cast<unsigned>(read->size), read->offset);
      io_uring_sqe_set_data(entry, read);
    }
    if (taken < begun && !refused) {
      const int submitted = io_uring_submit(ring);
      if (submitted > 0) taken += static_cast<size_t>(submitted);
      // A kernel that is short of something may take more when it has ended what it has.
      refused = submitted < 0 && submitted != -EINTR && ended == taken;
    }
    CHECK(ended <= taken && taken <= begun && begun <= count);
    if (ended < taken) {
      ended += Reap(ring);
    } else if (taken == count || refused) {
      break;
    }
  }
  for (size_t i = taken; i < count; i++) reads[i].got = -EIO;
  if (refused) return taken > 0;  // the ring goes with what the kernel did not take of it
  // Kernels whose rings cannot do this kind of read say EINVAL to every one.
  const bool unknown = std::all_of(reads, reads + count, [](const Read& read) { return read.got == -EINVAL; });
  if (unknown) {
    possible_.store(false, std::memory_order_relaxed);  // a hint
    return false;
  }
  CHECK_EQ(ended, count);  // the kernel writes no more into what the caller gave
  MutexLock lock(&mutex_);
  if (idle_.size() < kIdleRings) idle_.push_back(std::move(owned));
  DCHECK_LE(idle_.size(), kIdleRings);
  return true;
}

}  // namespace miodb
