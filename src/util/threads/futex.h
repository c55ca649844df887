// Sleep until another thread changes a word.
//
//   Sleeper:  while (word.load(std::memory_order_acquire) == kAsleep) FutexWait(&word, kAsleep);
//   Waker:    if (word.exchange(kDone, std::memory_order_release) == kAsleep) FutexWake(&word);
//
// std::atomic::wait is no substitute: libstdc++ calls sched_yield before it sleeps, and a thread that yields to one
// that computes gets its CPU back after a time slice, which is milliseconds.

#ifndef MIODB_SRC_UTIL_THREADS_FUTEX_H_
#define MIODB_SRC_UTIL_THREADS_FUTEX_H_

#include <atomic>
#include <cstdint>

namespace miodb {

// Sleeps unless the word has another value than expected. May return without cause.
void FutexWait(const std::atomic<int>* word, int expected);

// The same, but not much longer than this many microseconds. False if the time ran out.
bool FutexWaitFor(const std::atomic<int>* word, int expected, uint64_t micros);

// Wakes up to count threads that sleep on the word. Only the address is used: the word itself may be gone already.
void FutexWake(const std::atomic<int>* word, int count = 1);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_THREADS_FUTEX_H_
