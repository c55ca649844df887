#include "tests/stress/db_stress/worker.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "src/util/bytes/hash.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/random/random.h"
#include "tests/stress/db_stress/operands.h"
#include "tests/stress/db_stress/readers.h"

namespace miodb::test {

void StressWorker::Fail(const std::string& what) {
  if (failed_.exchange(true)) return;
  std::fprintf(stderr, "db_stress: worker: %s\n", what.c_str());
  state_->phase.store(StressPhase::kFailed);
}

bool StressWorker::Done() const { return failed_.load() || state_->stop.load(); }

// The unit's only writer knows the unit's version before the update.
void StressWorker::AddUpdates(uint32_t unit, uint32_t version, WriteBatch* batch) const {
  const bool deletion = data_.IsDeletion(unit, version);
  const uint32_t before = state_->units[unit].committed.load();
  for (uint32_t member = 0; member < StressData::Members(unit); member++) {
    const std::string& key = data_.keys()[data_.Rank(unit, member)].text;
    if (StressData::IsSingle(unit)) {
      batch->SingleDelete(key);
    } else if (deletion) {
      batch->Delete(key);
    } else if (data_.IsMerged(unit, version)) {
      batch->Merge(key, MakeOperand(before, !data_.IsDeletion(unit, before), data_.Value(unit, member, version)));
      continue;
    }
    if (!deletion) batch->Put(key, data_.Value(unit, member, version));
  }
}

// A single update goes in without a batch.
Status StressWorker::WriteOperation(int writer, uint64_t n, const std::vector<uint32_t>& units,
                                    const uint32_t* versions) {
  struct Single final : WriteBatch::Handler {
    void Put(const Slice& key, const Slice& value) override { status = db->Put(options, key, value); }
    void Delete(const Slice& key) override { status = db->Delete(options, key); }
    Status Merge(const Slice& key, const Slice& operand) override { return status = db->Merge(options, key, operand); }
    Status SingleDelete(const Slice& key) override { return status = db->SingleDelete(options, key); }
    DB* db = nullptr;
    WriteOptions options;
    Status status;
  };
  Single single;
  single.db = db_.get();
  single.options.sync = Mix64(n, static_cast<uint64_t>(writer)) % 16 == 0;
  WriteBatch batch;
  for (size_t i = 0; i < units.size(); i++) AddUpdates(units[i], versions[i], &batch);
  const bool alone = units.size() == 1 && StressData::Members(units[0]) == 1 &&
                     (!StressData::IsSingle(units[0]) || data_.IsDeletion(units[0], versions[0]));
  if (!alone) return db_->Write(single.options, &batch);
  const Status s = batch.Iterate(&single);
  return s.ok() ? single.status : s;
}

void StressWorker::WriteLoop(int writer) {
  ExpectedState::Writer& mine = state_->writers[writer];
  uint32_t versions[8];
  for (uint64_t n = 1; n < kMaxStressOperations && !Done(); n++) {
    const std::vector<uint32_t> units = PlanOperation(flags_.seed, data_, round_, writer, n);
    OperationTimes& times = state_->times[writer][n];
    times.begun.store(state_->Tick());
    mine.begun.store(n);
    for (size_t i = 0; i < units.size(); i++) {
      UnitState& unit = state_->units[units[i]];
      versions[i] = unit.begun.load() + 1;
      unit.begun.store(versions[i]);
    }
    const Status s = WriteOperation(writer, n, units, versions);
    const bool refused = s.IsNoSpace() && round_.options.pool_size > 0;
    times.ended.store(state_->Tick() | (refused ? kRefused : 0));
    state_->operations.fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
    if (refused) {
      state_->refusals.fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    if (!s.ok()) return Fail("write: " + s.ToString());
    for (size_t i = 0; i < units.size(); i++) state_->units[units[i]].committed.store(versions[i]);
  }
}

// Returns whether there is no more than a lack of space to complain of.
bool StressWorker::Disturb(uint64_t dice, const std::string& from, const std::string& to) {
  const Slice begin = from, end = to;
  const Range range(begin, end);
  std::string text;
  uint64_t size;
  if (dice < 5) {
    state_->phase.store(StressPhase::kFlushing);
    const uint64_t tick = state_->Tick();
    const Status s = db_->Flush();
    if (s.ok()) {
      state_->flushed.store(tick);
    } else if (!s.IsNoSpace() || round_.options.pool_size == 0) {
      Fail("flush: " + s.ToString());
    }
  } else if (dice < 8) {
    state_->phase.store(StressPhase::kCompacting);
    db_->CompactRange(dice == 5 ? &begin : nullptr, dice == 6 ? &end : nullptr);
  } else if (dice == 8) {
    db_->GetApproximateSizes(&range, 1, &size);
  } else {
    db_->GetProperty("leveldb.sstables", &text);
    db_->GetProperty("leveldb.stats", &text);
    db_->GetProperty("leveldb.approximate-memory-usage", &text);
    if (!db_->GetProperty("miodb.background-error", &text) || text != "OK") Fail("background error: " + text);
  }
  return !failed_.load();
}

void StressWorker::DisturbLoop() {
  Random random(Mix64(flags_.seed, round_.number));
  const std::vector<StressKey>& keys = data_.keys();
  while (!Done()) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(20000)));
    const std::string& from = keys[random.Uniform(keys.size() / 2)].text;
    if (!Disturb(random.Uniform(10), from, keys[keys.size() / 2].text)) return;
    state_->phase.store(StressPhase::kWriting);
  }
}

int StressWorker::Run(const std::string& path) {
  state_->phase.store(StressPhase::kOpening);
  DB* opened = nullptr;
  Options options = AtPath(round_.options, path);
  if (round_.file_faults > 0) {
    faulty_files_ =
        std::make_unique<FaultyFiles>(Mix64(flags_.seed, round_.number), round_.file_faults, &state_->file_faults);
    options.env = faulty_files_.get();
  }
  Status s = DB::Open(options, path, &opened);
  db_.reset(opened);
  if (!s.ok()) {
    Fail("open: " + s.ToString());
    return 1;
  }
  if (faulty_files_ != nullptr) faulty_files_->Arm();
  state_->phase.store(StressPhase::kWriting);
  std::vector<std::thread> threads;
  for (int w = 0; w < round_.writers; w++) threads.emplace_back([this, w] { WriteLoop(w); });
  using Loop = std::string (StressReader::*)();
  std::vector<Loop> loops = {&StressReader::GetLoop, &StressReader::ScanLoop, &StressReader::SnapshotLoop};
  if (flags_.reads) loops.push_back(&StressReader::ScanLoop);
  for (const Loop loop : loops) {
    threads.emplace_back([this, loop, seed = Mix64(flags_.seed + threads.size(), round_.number)] {
      StressReader reader(db_.get(), data_, state_, seed, &state_->stop);
      const std::string fault = (reader.*loop)();
      if (!fault.empty()) {
        Fail(fault);
        state_->stop.store(true);
      }
    });
  }
  DisturbLoop();
  for (std::thread& thread : threads) thread.join();
  if (failed_.load()) return 1;
  state_->phase.store(StressPhase::kClosing);
  std::string merges;
  if (db_->GetProperty("miodb.merges", &merges)) state_->merges.fetch_add(std::strtoull(merges.c_str(), nullptr, 10));
  db_.reset();
  state_->closed.store(true);
  state_->phase.store(StressPhase::kClosed);
  return 0;
}

}  // namespace miodb::test
