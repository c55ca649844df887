// What the writers of the kill test write, and what they tell about it while they live.
//
// Every writer owns its keys and does its operations in order: operation n of a writer is a function of the seed, the
// writer and n. So the test knows from two numbers per writer, in memory that survives the kill, what must be in the
// database and what may be.

#ifndef MIODB_TESTS_CRASH_KILL_WORKLOAD_H_
#define MIODB_TESTS_CRASH_KILL_WORKLOAD_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace miodb::test {

constexpr int kMaxKillWriters = 3;

enum class KillPhase : uint32_t { kStarting, kOpening, kWriting, kFlushing, kCompacting, kClosing, kClosed, kFailed };

// Lies in a file that both processes map.
struct KillShared {
  struct Writer {
    std::atomic<uint64_t> begun;         // the last operation that was started
    std::atomic<uint64_t> acknowledged;  // the last one that returned OK
    std::atomic<uint64_t> flushed;       // the last one that was acknowledged before a flush that returned OK
  };
  std::atomic<KillPhase> phase;
  std::atomic<uint64_t> operations;  // acknowledged by all writers
  Writer writers[kMaxKillWriters];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Maps the file, which is created if it is missing. Ends the program on failure. Never unmapped.
KillShared* MapKillShared(const std::string& path);

struct KillUpdate {
  std::string key;
  std::string value;
  bool deletion;
};

// One to sixteen updates, to be written as one batch, or as a single put or delete if there is one.
std::vector<KillUpdate> KillOperation(uint64_t seed, int writer, uint64_t n);

// What a writer's keys hold.
using KillState = std::map<std::string, std::string>;

void ApplyKillOperation(uint64_t seed, int writer, uint64_t n, KillState* state);

// The prefix of all keys of a writer.
std::string KillPrefix(int writer);

}  // namespace miodb::test

#endif  // MIODB_TESTS_CRASH_KILL_WORKLOAD_H_
