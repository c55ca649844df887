// Readers, iterators and snapshots against writers, flushes and every kind of compaction.
//
// Keys come in groups of kGroup; one writer owns a group and always writes all of it in one batch, in steps. Step n of
// a group gives each of its keys the value "<key> <n> ...", or deletes them if IsDeletion(n); immortal groups are never
// deleted. A writer publishes the step that it begins and the step that was acknowledged. So whoever reads knows, from
// the acknowledged step before the read and the begun step after it, which answers are allowed:
//
//   missed    no key although no allowed step is a deletion
//   stale     a step before the acknowledged one, or before one that this reader has seen already
//   repeated  an iterator yields a key twice, or keys out of order
//   torn      two keys of a group at different steps in one state
//
// Meant for ThreadSanitizer as well. MIODB_TEST_SCALE sets how long it runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "miodb/write_batch.h"
#include "src/util/hash.h"
#include "src/util/random.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

constexpr uint64_t kGroups = 96;
constexpr uint64_t kGroup = 4;  // keys of a group
constexpr uint64_t kKeys = kGroups * kGroup;
constexpr uint64_t kAbsent = UINT64_MAX;

bool IsImmortal(uint64_t group) { return group % 3 == 0; }
bool IsDeletion(uint64_t group, uint64_t step) {
  return step == 0 || (!IsImmortal(group) && Mix64(group, step) % 4 == 0);
}

// Keys of a group lie far from each other, so that a batch touches several tables and partitions.
std::string KeyOf(uint64_t group, uint64_t member) {
  char text[32];
  std::snprintf(text, sizeof(text), "key%02u-%04u", static_cast<unsigned>(member), static_cast<unsigned>(group));
  return text;
}

std::string ValueOf(const std::string& key, uint64_t step) {
  const uint64_t hash = Mix64(step, key.size());
  const size_t padding = hash % 50 == 0 ? 6000 : hash % 300;
  return key + " " + std::to_string(step) + " " + std::string(padding, static_cast<char>('a' + step % 26));
}

// The step in a value, or kAbsent if it is not one that belongs to the key.
uint64_t StepOf(const std::string& key, const Slice& value) {
  if (!value.starts_with(key + " ")) return kAbsent;
  const uint64_t step = std::strtoull(value.ToString().c_str() + key.size() + 1, nullptr, 10);
  return value == Slice(ValueOf(key, step)) ? step : kAbsent;
}

struct alignas(64) GroupState {
  std::atomic<uint64_t> begun{0};
  std::atomic<uint64_t> acknowledged{0};
};

// The steps that one state may show of each group.
struct Window {
  std::vector<uint64_t> low;
  std::vector<uint64_t> high;
};

class Stress {
 public:
  Stress(const Options& options, int writers, uint64_t seed) : seed_(seed), writers_(writers), groups_(kGroups) {
    EXPECT_OK(OpenDb(options, dir_ / "db", &db_));
  }

  void Run(std::chrono::milliseconds duration) {
    ASSERT_NE(nullptr, db_);
    for (uint64_t group = 0; group < kGroups; group++) WriteStep(group);
    std::vector<std::thread> threads;
    for (int w = 0; w < writers_; w++) threads.emplace_back([this, w] { WriteLoop(w); });
    uint64_t thread_seed = seed_ * 100;
    for (auto loop :
         {&Stress::GetLoop, &Stress::GetLoop, &Stress::ScanLoop, &Stress::SnapshotLoop, &Stress::WorkLoop}) {
      threads.emplace_back([this, loop, s = thread_seed++] { (this->*loop)(s); });
    }
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end && !stop_.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stop_.store(true);
    for (std::thread& thread : threads) thread.join();
    CheckSettled();
  }

 private:
  // Reports a failure once and stops all threads.
  void Fail(const std::string& what) {
    if (!stop_.exchange(true)) ADD_FAILURE() << what << "; seed " << seed_;
  }

  bool Good(const Status& s, const char* what) {
    if (!s.ok()) Fail(std::string(what) + ": " + s.ToString());
    return s.ok();
  }

  void WriteStep(uint64_t group) {
    GroupState& state = groups_[group];
    const uint64_t step = state.begun.load(std::memory_order_relaxed) + 1;  // relaxed: this thread's own
    state.begun.store(step, std::memory_order_seq_cst);
    WriteBatch batch;
    for (uint64_t member = 0; member < kGroup; member++) {
      const std::string key = KeyOf(group, member);
      if (IsDeletion(group, step)) {
        batch.Delete(key);
      } else {
        batch.Put(key, ValueOf(key, step));
      }
    }
    if (Good(db_->Write(WriteOptions(), &batch), "write")) state.acknowledged.store(step, std::memory_order_seq_cst);
  }

  void WriteLoop(int writer) {
    Random random(Mix64(seed_, static_cast<uint64_t>(writer)));
    const auto writers = static_cast<uint64_t>(writers_);
    const uint64_t own = (kGroups - static_cast<uint64_t>(writer) + writers - 1) / writers;
    while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: a wish
      WriteStep(static_cast<uint64_t>(writer) + random.Uniform(own) * writers);
    }
  }

  uint64_t Acknowledged(uint64_t group) const { return groups_[group].acknowledged.load(std::memory_order_seq_cst); }
  uint64_t Begun(uint64_t group) const { return groups_[group].begun.load(std::memory_order_seq_cst); }

  // Whether a state between steps low and high may show this step (kAbsent: no key). The message says why not.
  static std::string Judge(uint64_t group, uint64_t step, uint64_t low, uint64_t high) {
    const std::string window = " at steps " + std::to_string(low) + " to " + std::to_string(high);
    if (step == kAbsent) {
      for (uint64_t s = low; s <= high; s++) {
        if (IsDeletion(group, s)) return "";
      }
      return "missed" + window;
    }
    if (step < low) return "stale, step " + std::to_string(step) + window;
    if (step > high) return "step " + std::to_string(step) + " from the future" + window;
    return IsDeletion(group, step) ? "step " + std::to_string(step) + " was a deletion" : "";
  }

  // Reads one key. What a reader has seen raises what it may see next.
  void GetLoop(uint64_t seed) {
    Random random(seed);
    std::vector<uint64_t> seen(kKeys, 0);
    std::string value;
    PinnableSlice pinned;
    while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: a wish
      const uint64_t group = random.Uniform(kGroups);
      const uint64_t member = random.Uniform(kGroup);
      const std::string key = KeyOf(group, member);
      uint64_t& last = seen[group * kGroup + member];
      const uint64_t low = std::max(last, Acknowledged(group));
      const bool pin = random.OneIn(2);
      const Status s = pin ? db_->Get(ReadOptions(), key, &pinned) : db_->Get(ReadOptions(), key, &value);
      const uint64_t high = Begun(group);
      uint64_t step = kAbsent;
      if (s.ok()) {
        step = StepOf(key, pin ? Slice(pinned) : Slice(value));
        if (step == kAbsent) return Fail("Get of " + key + ": a value that is not its own");
      } else if (!s.IsNotFound()) {
        return Fail("Get of " + key + ": " + s.ToString());
      }
      const std::string fault = Judge(group, step, low, high);
      if (!fault.empty()) return Fail("Get of " + key + ": " + fault);
      last = low;
      if (step != kAbsent) last = step;
      while (step == kAbsent && !IsDeletion(group, last)) last++;
    }
  }

  void Low(Window* window) const {
    window->low.resize(kGroups);
    for (uint64_t group = 0; group < kGroups; group++) window->low[group] = Acknowledged(group);
  }
  void High(Window* window) const {
    window->high.resize(kGroups);
    for (uint64_t group = 0; group < kGroups; group++) window->high[group] = Begun(group);
  }

  // Reads a whole state forward and judges it. Stores the step of every key.
  bool Scan(Iterator* it, const Window& window, std::vector<uint64_t>* steps) {
    steps->assign(kKeys, kAbsent);
    std::string last;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const std::string key = it->key().ToString();
      unsigned member, group;
      if (std::sscanf(key.c_str(), "key%02u-%04u", &member, &group) != 2 || group >= kGroups || member >= kGroup ||
          key != KeyOf(group, member)) {
        Fail("a scan yields the unknown key " + key);
        return false;
      }
      if (key <= last) Fail("a scan yields " + key + " after " + last);
      last = key;
      (*steps)[group * kGroup + member] = StepOf(key, it->value());
      if ((*steps)[group * kGroup + member] == kAbsent)
        Fail("a scan yields a value of " + key + " that is not its own");
    }
    if (!Good(it->status(), "scan")) return false;
    for (uint64_t group = 0; group < kGroups; group++) {
      const uint64_t* const of_group = &(*steps)[group * kGroup];
      for (uint64_t member = 0; member < kGroup; member++) {
        const std::string fault = Judge(group, of_group[member], window.low[group], window.high[group]);
        if (!fault.empty()) Fail("a scan, " + KeyOf(group, member) + ": " + fault);
        if (of_group[member] != of_group[0]) Fail("a scan sees half of a batch at " + KeyOf(group, member));
      }
    }
    return !stop_.load(std::memory_order_relaxed);  // relaxed: a wish
  }

  // The same state backward must be the same.
  void ScanBackward(Iterator* it, const std::vector<uint64_t>& steps) {
    uint64_t left = 0;
    for (const uint64_t step : steps) left += step != kAbsent;
    std::string last;
    for (it->SeekToLast(); it->Valid(); it->Prev(), left--) {
      const std::string key = it->key().ToString();
      if (!last.empty() && key >= last) return Fail("a backward scan yields " + key + " after " + last);
      last = key;
      const uint64_t group = std::strtoull(key.c_str() + 6, nullptr, 10);
      const uint64_t member = std::strtoull(key.c_str() + 3, nullptr, 10);
      const uint64_t forward = steps[group * kGroup + member];
      if (forward == kAbsent) return Fail("a backward scan yields " + key + ", which the forward scan missed");
      if (StepOf(key, it->value()) != forward) return Fail("a backward scan yields another step of " + key);
      if (left == 0) return Fail("a backward scan yields more keys than the forward scan");
    }
    if (Good(it->status(), "backward scan") && left != 0)
      Fail("a backward scan misses " + std::to_string(left) + " keys");
  }

  // Seeks to a key, then goes to and fro.
  void Wander(Iterator* it, const std::vector<uint64_t>& steps, Random* random) {
    std::vector<std::string> keys;
    for (uint64_t member = 0; member < kGroup; member++) {
      for (uint64_t group = 0; group < kGroups; group++) {
        if (steps[group * kGroup + member] != kAbsent) keys.push_back(KeyOf(group, member));
      }
    }
    const std::string target = KeyOf(random->Uniform(kGroups), random->Uniform(kGroup));
    auto at = std::lower_bound(keys.begin(), keys.end(), target);
    it->Seek(target);
    for (int i = 0; i < 200; i++) {
      if (it->Valid() != (at != keys.end())) return Fail("an iterator is Valid where it should not be, or the reverse");
      if (!it->Valid()) return;
      if (it->key() != Slice(*at)) return Fail("an iterator stands on " + it->key().ToString() + " instead of " + *at);
      if (random->OneIn(2)) {
        it->Next();
        ++at;
      } else if (at == keys.begin()) {
        it->Prev();
        at = keys.end();
      } else {
        it->Prev();
        --at;
      }
    }
  }

  void ScanLoop(uint64_t seed) {
    Random random(seed);
    std::vector<uint64_t> steps;
    while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: a wish
      Window window;
      Low(&window);
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      High(&window);
      if (!Scan(it.get(), window, &steps)) return;
      ScanBackward(it.get(), steps);
      Wander(it.get(), steps, &random);
    }
  }

  // Several snapshots at a time, each read again and again until it is let go.
  void SnapshotLoop(uint64_t seed) {
    struct Held {
      const Snapshot* handle;
      Window window;
      std::vector<uint64_t> steps;
    };
    Random random(seed);
    std::vector<Held> held;
    while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: a wish
      if (held.size() < 3) {
        Held fresh;
        Low(&fresh.window);
        fresh.handle = db_->GetSnapshot();
        High(&fresh.window);
        ReadAt(fresh.handle, fresh.window, &fresh.steps, &random);
        held.push_back(fresh);
      }
      const size_t which = random.Uniform(held.size());
      std::vector<uint64_t> steps;
      ReadAt(held[which].handle, held[which].window, &steps, &random);
      if (steps != held[which].steps) Fail("a snapshot shows another state than before");
      if (random.OneIn(4)) {
        db_->ReleaseSnapshot(held[which].handle);
        held.erase(held.begin() + static_cast<ptrdiff_t>(which));
      }
    }
    for (const Held& snapshot : held) db_->ReleaseSnapshot(snapshot.handle);
  }

  // Scans at a snapshot; gets of some keys must agree.
  void ReadAt(const Snapshot* snapshot, const Window& window, std::vector<uint64_t>* steps, Random* random) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    if (!Scan(it.get(), window, steps)) return;
    std::string value;
    for (int i = 0; i < 20; i++) {
      const uint64_t group = random->Uniform(kGroups);
      const uint64_t member = random->Uniform(kGroup);
      const std::string key = KeyOf(group, member);
      const Status s = db_->Get(options, key, &value);
      if (!s.ok() && !s.IsNotFound()) return Fail("Get at a snapshot: " + s.ToString());
      const uint64_t step = s.ok() ? StepOf(key, value) : kAbsent;
      if (step != (*steps)[group * kGroup + member]) return Fail("Get and scan at one snapshot differ at " + key);
    }
  }

  // Asks for work that would otherwise come seldom, and for figures.
  void WorkLoop(uint64_t seed) {
    Random random(seed);
    std::string text;
    while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: a wish
      std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(20000)));
      const std::string keys[2] = {KeyOf(0, random.Uniform(kGroup)), KeyOf(kGroups - 1, random.Uniform(kGroup))};
      const Slice from = keys[0], to = keys[1];
      const Range range(from, to);
      uint64_t size;
      switch (random.Uniform(6)) {
        case 0:
          db_->CompactRange(random.OneIn(2) ? &from : nullptr, random.OneIn(2) ? &to : nullptr);
          break;
        case 1:
          db_->GetApproximateSizes(&range, 1, &size);
          break;
        case 2:
          db_->GetProperty("leveldb.sstables", &text);
          db_->GetProperty("miodb.counters", &text);
          break;
        case 3:
          db_->GetProperty("leveldb.stats", &text);
          db_->GetProperty("leveldb.approximate-memory-usage", &text);
          break;
        default:
          Good(db_->Flush(), "flush");
          break;
      }
    }
  }

  void CheckSettled() {
    if (testing::Test::HasFailure()) return;
    EXPECT_OK(db_->WaitForIdle());
    stop_.store(false);
    Window window;
    Low(&window);
    High(&window);
    for (uint64_t group = 0; group < kGroups; group++) EXPECT_EQ(window.low[group], window.high[group]);
    std::vector<uint64_t> steps;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    if (Scan(it.get(), window, &steps)) ScanBackward(it.get(), steps);
    EXPECT_GT(NumberProperty(db_.get(), "miodb.merges"), 0u) << "nothing was merged, so nothing was proved";
  }

  const uint64_t seed_;
  const int writers_;
  const TestDir dir_;
  std::unique_ptr<DB> db_;
  std::vector<GroupState> groups_;
  std::atomic<bool> stop_{false};
};

struct Mix {
  const char* options;
  int writers;
};

std::ostream& operator<<(std::ostream& out, const Mix& mix) {
  return out << mix.options << " with " << mix.writers << " writers";
}

class ConcurrencyTest : public testing::TestWithParam<Mix> {};

TEST_P(ConcurrencyTest, NoKeyIsMissedStaleRepeatedOrTorn) {
  // All mixes together: 3 seconds, 20 seconds, 10 minutes.
  const uint64_t millis = ByScale(500, 3400, 100000);
  for (const uint64_t seed : Seeds(1)) {
    SCOPED_TRACE(Repeat(seed));
    Stress(FindOptionSet(GetParam().options).options, GetParam().writers, seed).Run(std::chrono::milliseconds(millis));
  }
}

INSTANTIATE_TEST_SUITE_P(Mixes, ConcurrencyTest,
                         testing::Values(Mix{"tiny", 1}, Mix{"tiny", 3}, Mix{"two_levels", 2}, Mix{"trigger_4", 4},
                                         Mix{"log_off", 2}, Mix{"no_lazy_copy", 2}),
                         [](const testing::TestParamInfo<Mix>& mix) {
                           return std::string(mix.param.options) + "_" + std::to_string(mix.param.writers);
                         });

}  // namespace
}  // namespace miodb::test
