// A process that is killed at any moment loses no acknowledged write and tears no batch, and its database does not
// leak.
//
// Each round starts kill_child_main on the same database, kills it (while it opens, writes, flushes, compacts or
// closes), opens the database and compares. What is found is the state from which the next round goes on.

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "src/util/hash.h"
#include "src/util/random.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/crash/kill_workload.h"

namespace miodb::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMostOperations = 30000;  // of one child

class KillTest : public DbTestBase, public testing::WithParamInterface<const char*> {
 protected:
  void Run(uint64_t seed, uint64_t rounds) {
    seed_ = seed;
    options_ = FindOptionSet(GetParam()).options;
    shared_ = MapKillShared(dir_ / "shared");
    Random random(seed);
    for (round_ = 0; round_ < rounds && !HasFailure(); round_++) {
      const KillPhase phase = RunChild(&random);
      SCOPED_TRACE("round " + std::to_string(round_) + ", killed in phase " + std::to_string(static_cast<int>(phase)));
      Open();
      if (HasFatalFailure()) return;
      for (int writer = 0; writer < kMaxKillWriters; writer++) CheckWriter(writer);
      if (round_ % 4 == 3) CheckSpace();
      Close();
    }
    if (!HasFailure()) CheckNothingLeaked();
  }

 private:
  pid_t StartChild(int writers, uint64_t most) {
    const std::string program = std::string(MIODB_TEST_BINARY_DIR) + "/tests/crash/kill_child_main";
    std::vector<std::string> words = {program,
                                      path_,
                                      GetParam(),
                                      dir_ / "shared",
                                      std::to_string(seed_),
                                      std::to_string(writers),
                                      std::to_string(most)};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = -1;
    EXPECT_EQ(0, posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv.data(), environ));
    return pid;
  }

  // Waits until the child is in a phase, has done so many operations, has ended, or takes too long.
  void WaitFor(KillPhase phase, uint64_t operations) {
    const auto give_up = Clock::now() + std::chrono::seconds(20);
    while (Clock::now() < give_up) {
      const KillPhase now = shared_->phase.load();
      if (now == KillPhase::kClosed || now == KillPhase::kFailed) return;
      if (now == phase && shared_->operations.load() >= operations) return;
      std::this_thread::yield();
    }
  }

  // Lets a child run and kills it. Returns the phase in which it was.
  KillPhase RunChild(Random* random) {
    shared_->phase.store(KillPhase::kStarting);
    shared_->operations.store(0);
    for (KillShared::Writer& writer : shared_->writers) {
      writer.acknowledged.store(writer.begun.load());
      writer.flushed.store(writer.begun.load());
    }
    constexpr KillPhase kTargets[] = {KillPhase::kOpening,  KillPhase::kWriting,    KillPhase::kWriting,
                                      KillPhase::kFlushing, KillPhase::kCompacting, KillPhase::kClosing};
    const KillPhase target = kTargets[random->Uniform(6)];
    const uint64_t most = target == KillPhase::kClosing ? random->Uniform(1000) : kMostOperations;
    const int writers = 1 + static_cast<int>(random->Uniform(kMaxKillWriters));
    const pid_t pid = StartChild(writers, most);
    if (pid < 0) return KillPhase::kFailed;
    WaitFor(target, target == KillPhase::kWriting ? random->Skewed(12) : 0);
    std::this_thread::sleep_for(
        std::chrono::microseconds(random->Uniform(target == KillPhase::kWriting ? 30000 : 3000)));
    kill(pid, SIGKILL);
    int status = 0;
    EXPECT_EQ(pid, waitpid(pid, &status, 0));
    const KillPhase phase = shared_->phase.load();
    EXPECT_TRUE(phase != KillPhase::kFailed) << "the child says why above";
    EXPECT_TRUE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        << "the child ended by itself, wait status " << status;
    return phase;
  }

  // What the database holds of one writer, by a scan; a backward scan and gets must agree.
  void ReadState(int writer, KillState* state) {
    ReadOptions verify;
    verify.verify_checksums = true;
    const std::string prefix = KillPrefix(writer);
    const std::unique_ptr<Iterator> it(db_->NewIterator(verify));
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      ASSERT_TRUE(state->emplace(it->key().ToString(), it->value().ToString()).second) << it->key().ToString();
    }
    ASSERT_OK(it->status());
    for (const auto& [key, value] : *state) ASSERT_TRUE(Get(key) == value) << key;
    size_t backward = 0;
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward += it->key().starts_with(prefix);
    ASSERT_OK(it->status());
    ASSERT_EQ(state->size(), backward);
  }

  // The writer's state must be the one after some operation that is not before the last one that had to survive.
  void CheckWriter(int writer) {
    KillShared::Writer& shared = shared_->writers[writer];
    KillState found;
    ReadState(writer, &found);
    if (HasFatalFailure()) return;
    KillState& state = states_[writer];
    uint64_t& done = done_[writer];
    const uint64_t begun = shared.begun.load();
    const uint64_t promised = options_.log_mode == kLogOff ? shared.flushed.load() : shared.acknowledged.load();
    while (done < promised) ApplyKillOperation(seed_, writer, ++done, &state);
    const KillState needed = state;
    while (state != found && done < begun) ApplyKillOperation(seed_, writer, ++done, &state);
    ASSERT_TRUE(state == found) << "writer " << writer << ", operations " << promised << " (must be there) to " << begun
                                << " (may be there): " << Difference(needed, found);
    // An operation that was lost in the crash is not done again.
    done = begun;
  }

  static std::string Difference(const KillState& wanted, const KillState& found) {
    std::string text;
    for (const auto& [key, value] : wanted) {
      const auto it = found.find(key);
      if (it == found.end()) {
        text += "\n  lost " + value.substr(0, 90);
      } else if (it->second != value) {
        text += "\n  " + value.substr(0, 90) + " is " + it->second.substr(0, 90);
      }
    }
    for (const auto& [key, value] : found) {
      if (wanted.count(key) == 0) text += "\n  more " + value.substr(0, 90);
    }
    return text.substr(0, 3000);
  }

  void CheckSpace() {
    uint64_t live = 0;
    for (const KillState& state : states_) {
      for (const auto& [key, value] : state) live += key.size() + value.size() + 64;
    }
    Settle();
    EXPECT_LE(Counter("pool-bytes-used"), 2 * live + 4 * options_.write_buffer_size + 512 * kKiB);
    EXPECT_LE(Counter("pool-bytes-file"), 64 * kKiB * kKiB);
  }

  // With everything deleted the pool must be as empty as a new one.
  void CheckNothingLeaked() {
    Open();
    for (const KillState& state : states_) {
      for (const auto& [key, value] : state) Delete(key);
    }
    Settle();
    const uint64_t used = Counter("pool-bytes-used");
    const std::string counters = Property("miodb.counters");
    EXPECT_EQ("", Forward(db_.get()));
    path_ = dir_ / "empty";
    Open();
    Put("a", "1");
    Delete("a");
    Settle();
    // A manifest area may still have the size that it needed for more tables.
    EXPECT_LE(used, Counter("pool-bytes-used") + 64 * kKiB) << "leaked over " << round_ << " kills\n" << counters;
  }

  uint64_t seed_ = 0;
  uint64_t round_ = 0;
  KillShared* shared_ = nullptr;
  KillState states_[kMaxKillWriters];
  uint64_t done_[kMaxKillWriters] = {};  // operations that are in the state or lost for good
};

TEST_P(KillTest, KeepsEveryAcknowledgedWriteAndEveryBatchWhole) {
  for (const uint64_t seed : Seeds(1)) {
    SCOPED_TRACE(Repeat(seed));
    Run(seed, ByScale(15, 40, 300));
  }
}

INSTANTIATE_TEST_SUITE_P(OptionSets, KillTest,
                         testing::Values("small", "tiny", "two_levels", "trigger_4", "log_off", "no_lazy_copy",
                                         "file_mode", "small_growth"),
                         [](const testing::TestParamInfo<const char*>& set) { return std::string(set.param); });

}  // namespace
}  // namespace miodb::test
