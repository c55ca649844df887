// Background work comes to an end by itself: whatever has happened to a database, once nobody calls it any more there
// are few jobs, and then none. Random histories of all kinds of records under options of all kinds, without threads, so
// that a seed fixes the history and jobs are counted, not waited for.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "miodb/compaction_filter.h"
#include "miodb/lifetime.h"
#include "miodb/merge_operator.h"
#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kSecond = 1000 * 1000;

std::atomic<uint64_t> g_date{0};
std::atomic<uint64_t> g_quiet{0};

uint64_t Jobs(DB* db) {
  uint64_t jobs = 0;
  for (const char* name : {"miodb.flushes", "miodb.merges", "miodb.drains", "miodb.ssd-compactions"}) {
    jobs += NumberProperty(db, name);
  }
  return jobs;
}

// No history has so many jobs.
constexpr uint64_t kManyJobs = 5000;

// A caller that waits for too many jobs is told to stop, and then the test fails. A writer that waits for room cannot
// be told, so the program ends.
struct Bound {
  DB* db = nullptr;
  uint64_t most_jobs = kManyJobs;  // since the open
} g_bound;

void StopAtBound() {
  if (g_bound.db == nullptr) return;  // an open that replays its log
  const uint64_t jobs = Jobs(g_bound.db);
  CHECK_LE(jobs, 2 * g_bound.most_jobs);
  if (jobs > g_bound.most_jobs) g_bound.db->StopWaiting();
}

// What an operator makes of several operands, and of one.
enum class Partial { kNever, kOfSeveral, kSame, kShorter, kOtherSize, kLonger };
constexpr Partial kPartials[] = {Partial::kNever,   Partial::kOfSeveral, Partial::kSame,
                                 Partial::kShorter, Partial::kOtherSize, Partial::kLonger};

// Numbers in decimal digits, of any width, whose sum counts.
class Sum final : public MergeOperator {
 public:
  explicit Sum(Partial partial) : partial_(partial) {}
  const char* Name() const override { return "Sum"; }
  bool FullMerge(const Slice& key, const Slice* existing, const std::vector<Slice>& operands,
                 std::string* result) const override {
    if (partial_ == Partial::kNever && !key.empty() && key[key.size() - 1] == '7') return false;
    *result = std::to_string(Add(operands) + (existing != nullptr ? Number(*existing) : 0));
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::vector<Slice>& operands, std::string* result) const override {
    if (partial_ == Partial::kNever) return false;
    *result = std::to_string(Add(operands));
    const size_t size = operands.front().size();
    const size_t wanted = partial_ == Partial::kSame        ? size
                          : partial_ == Partial::kOtherSize ? size ^ 8
                          : partial_ == Partial::kLonger    ? size + 1
                                                            : 0;
    if (result->size() < wanted) result->insert(0, wanted - result->size(), '0');
    return true;
  }
  bool AllowSingleOperand() const override { return partial_ > Partial::kOfSeveral; }

 private:
  static uint64_t Number(const Slice& digits) {
    uint64_t number = 0;
    for (size_t i = 0; i < digits.size(); i++) number = number * 10 + static_cast<uint64_t>(digits[i] - '0');
    return number % 1000;
  }
  static uint64_t Add(const std::vector<Slice>& operands) {
    uint64_t sum = 0;
    for (const Slice& operand : operands) sum += Number(operand);
    return sum;
  }

  const Partial partial_;
};

// Removes some, and gives others one digit more each time that it is asked.
class AnyFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "AnyFilter"; }
  Decision Filter(int, const Slice& key, ValueKind, const Slice& value, std::string* new_value) const override {
    const uint64_t dice = Hash64(key.data(), key.size(), value.size()) % 10;
    if (dice == 0 && key.starts_with("key")) return Decision::kRemove;
    if (dice > 3) return Decision::kKeep;
    *new_value = value.ToString() + "1";
    return Decision::kChangeValue;
  }
};

class World {
 public:
  explicit World(uint64_t seed)
      : random_(seed),
        keys_(uint64_t{100} << random_.Uniform(5)),
        sum_(kPartials[random_.Uniform(std::size(kPartials))]),
        limited_(random_.OneIn(4)) {
    g_date = (uint64_t{4000000000} + random_.Uniform(1000)) * kSecond;
    g_quiet = kSecond;
    g_bound = Bound();
    options_.create_if_missing = true;
    options_.merge_operator = random_.OneIn(6) ? append_.get() : &sum_;
    if (random_.OneIn(3)) options_.compaction_filter = &filter_;
    options_.write_buffer_size = 2048u << random_.Uniform(4);
    options_.log_chunk_size = 4096;
    options_.pool_growth = 64 << 10;
    options_.num_levels = static_cast<int>(2 + random_.Uniform(4));
    options_.level_trigger = static_cast<int>(2 + random_.Uniform(3));
    options_.partition_size = 4096u << random_.Uniform(4);
    options_.lazy_copy_limit = random_.OneIn(4) ? 0 : 32u << random_.Uniform(7);
    options_.space_amplification_percent = static_cast<int>(random_.OneIn(2) ? 105 : 105 + random_.Uniform(100));
    options_.filter_bits_per_key = random_.OneIn(3) ? 0 : 10;
    if (random_.OneIn(3)) options_.keep_log_bytes = 4096u << random_.Uniform(6);
    if (limited_) options_.pool_size = uint64_t{384 * 1024} << random_.Uniform(3);
    const uint64_t log = random_.Uniform(4);
    if (log < 2) options_.log_mode = log == 0 ? kLogFile : kLogOff;
    if (random_.OneIn(2)) AddTier();
    options_.merge_policy = OwnMergePolicy(&random_);
    hooks_.background = BackgroundMode::kBySteps;
    hooks_.wall_micros = [] { return g_date.load(); };
    hooks_.quiet_micros = [] { return g_quiet.load(); };
    hooks_.before_step = &StopAtBound;
    Open();
  }
  ~World() { Close(); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Step() {
    switch (random_.Uniform(24)) {
      case 0:
        g_date += random_.Uniform(2 * kSecond);
        break;
      case 1:
        if (held_.size() < 4) held_.push_back(db_->GetSnapshot());
        break;
      case 2:
        if (!held_.empty()) ReleaseOne(random_.Uniform(held_.size()));
        break;
      case 3:
      case 4:
      case 5:
        Background();
        break;
      case 6:
        if (random_.OneIn(20)) Reopen();
        break;
      case 7:
        if (random_.OneIn(20)) Bounded([this] { db_->CompactRange(nullptr, nullptr); });
        break;
      case 8:
        if (random_.OneIn(6)) Check(db_->Flush());
        break;
      case 9:
        if (random_.OneIn(20)) ChangeFamilies();
        break;
      default:
        Write();
    }
  }

  // Nobody calls, then writers are seen to be quiet. How many jobs there are meanwhile has to follow from the tables.
  void ComeToRest() {
    if (random_.OneIn(2)) ReleaseAll();
    const uint64_t most = 4 * Tables();
    uint64_t jobs = Work(most);
    g_quiet += 3600 * kSecond;
    jobs += Work(most);
    EXPECT_LE(jobs, most);
    EXPECT_EQ(0u, Work(most));
  }

  // The same of callers who wait for all of it, and who soon find nothing when they call again.
  void Settle() {
    if (random_.OneIn(2)) ReleaseAll();
    const auto jobs_of = [this](const char* what, auto call) {
      SCOPED_TRACE(what);
      // The second call may collect what the first one has left as garbage. Where space is wanting each call tries
      // once more.
      for (int i = 0; i < 2; i++) Bounded(call);
      const uint64_t jobs = Jobs(db_.get());
      Bounded(call);
      if (!refused_) {
        EXPECT_EQ(jobs, Jobs(db_.get())) << "jobs of the third call";
      }
    };
    jobs_of("WaitForIdle", [this] { Check(db_->WaitForIdle()); });
    EXPECT_EQ(0u, Work(4 * Tables()));
    // A level of the tier may have become due by what CompactRange moved down.
    jobs_of("CompactRange", [this] { db_->CompactRange(nullptr, nullptr); });
    const uint64_t most = 4 * Tables();
    EXPECT_LE(Work(most), most);
    EXPECT_EQ(0u, Work(most));
  }

 private:
  // A small pool in front of a tier of few small files, so that most of what is written goes down.
  void AddTier() {
    options_.ssd_path = dir_ / "ssd";
    options_.nvm_budget = 8u << 10 << random_.Uniform(4);
    options_.ssd_file_size = 4096;
    options_.ssd_level_size = random_.OneIn(2) ? 16 << 10 : 0;
    options_.ssd_levels = static_cast<int>(2 + random_.Uniform(3));
    if (!random_.OneIn(3)) return;
    options_.pool_path = "anonymous";
    options_.log_mode = kLogFile;
    options_.keep_log_bytes = 0;
  }

  // A call that waits for no more jobs than follow from the tables.
  template <typename Call>
  void Bounded(Call call) {
    const uint64_t most = Jobs(db_.get()) + 4 * Tables();
    g_bound.most_jobs = most;
    call();
    g_bound.most_jobs = kManyJobs;
    ASSERT_LE(Jobs(db_.get()), most);
  }

  // Only a pool of limited size may refuse something.
  void Check(const Status& s) {
    if (s.IsNoSpace() && limited_) {
      refused_ = true;
    } else {
      ASSERT_OK(s);
    }
  }

  void Open() {
    ASSERT_OK(DBImpl::Open(options_, dir_ / "db", hooks_, &db_));
    g_bound.db = db_.get();
    if (!db_->GetColumnFamily("family", &families_[1]).ok()) families_[1] = nullptr;
  }
  void Close() {
    ReleaseAll();
    g_bound.db = nullptr;
    db_.reset();
  }
  void Reopen() {
    if (options_.log_mode == kLogOff) Check(db_->Flush());
    Close();
    Open();
  }

  void ReleaseOne(size_t i) {
    db_->ReleaseSnapshot(held_[i]);
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(i));
  }
  void ReleaseAll() {
    while (!held_.empty()) ReleaseOne(0);
  }

  void ChangeFamilies() {
    ColumnFamilyHandle*& family = families_[1];
    if (family == nullptr) {
      Check(db_->CreateColumnFamily("family", &family));
    } else {
      Check(db_->DropColumnFamily(family));
      family = nullptr;
    }
  }

  void Background() {
    constexpr DBImpl::Step kSteps[] = {DBImpl::Step::kPrepare, DBImpl::Step::kFlush, DBImpl::Step::kMerge,
                                       DBImpl::Step::kSsd};
    const DBImpl::Step step = kSteps[random_.Uniform(4)];
    for (uint64_t i = random_.Skewed(4); i > 0 && db_->RunStep(step); i--) {
    }
  }

  // Keys of single deletions are put once, and have nothing else.
  void AddUpdate(ColumnFamilyHandle* family, WriteBatch* batch) {
    const uint64_t number = random_.Uniform(keys_);
    const std::string key = "key" + std::to_string(number);
    std::string digits(random_.Skewed(6), '0');
    digits += std::to_string(random_.Uniform(100));
    const uint64_t dice = random_.Uniform(20);
    if (dice < 8) {
      batch->Put(family, key, digits + std::string(random_.Skewed(8), '1'));
    } else if (dice < 15) {
      batch->Merge(family, key, digits);
    } else if (dice < 17) {
      batch->Delete(family, key);
    } else if (dice < 19) {
      const std::string single = "single" + std::to_string(single_ / 2);
      single_++ % 2 == 0 ? batch->Put(nullptr, single, digits) : batch->SingleDelete(nullptr, single);
    } else if (random_.OneIn(6)) {
      batch->DeleteRange(family, key, "key" + std::to_string(number) + "z");
    }
  }

  void Write() {
    WriteOptions options;
    if (random_.OneIn(3)) options.lifetime_seconds = 1 + random_.Uniform(10);
    const uint64_t single = single_;
    WriteBatch batch;
    const int log_of_most = random_.OneIn(20) ? 10 : 4;
    for (uint64_t i = random_.Skewed(log_of_most); i > 0; i--) AddUpdate(families_[random_.Uniform(2)], &batch);
    const Status s = db_->Write(options, &batch);
    if (!s.ok()) single_ = (single + 1) / 2 * 2;  // the put of a pair that was begun stays
    Check(s);
  }

  // Tables of the pool and of the SSD tier, with those that memtables become: in front of a tier partitions are as
  // small as the pool's budget wants, so that a memtable becomes several.
  uint64_t Tables() {
    uint64_t tables = 1 + static_cast<uint64_t>(options_.max_immutable_memtables);
    if (!options_.ssd_path.empty()) tables *= 1 + options_.write_buffer_size / 4096;
    for (int level = 0; level < options_.num_levels; level++) {
      tables += NumberProperty(db_.get(), "leveldb.num-files-at-level" + std::to_string(level));
    }
    return tables + (options_.ssd_path.empty() ? 0 : NumberProperty(db_.get(), "miodb.ssd-files"));
  }

  // Runs the due jobs as threads would, which look for work again after a look in vain, and returns their number. The
  // work stops at one job more than most.
  uint64_t Work(uint64_t most) {
    uint64_t jobs = 0;
    for (int in_vain = 0; in_vain < 2 && jobs <= most;) {
      const bool worked =
          db_->RunStep(DBImpl::Step::kFlush) || db_->RunStep(DBImpl::Step::kMerge) || db_->RunStep(DBImpl::Step::kSsd);
      jobs += worked ? 1 : 0;
      in_vain = worked || db_->RunStep(DBImpl::Step::kPrepare) ? 0 : in_vain + 1;
    }
    return jobs;
  }

  Random random_;
  const uint64_t keys_;
  TestDir dir_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator("0")};
  const Sum sum_;
  const AnyFilter filter_;
  const bool limited_;
  Options options_;
  DBImpl::Hooks hooks_;
  std::unique_ptr<DBImpl> db_;
  ColumnFamilyHandle* families_[2] = {nullptr, nullptr};  // the first is the default one
  std::vector<const Snapshot*> held_;
  uint64_t single_ = 0;  // updates of keys that are deleted by single deletions
  bool refused_ = false;
};

TEST(RestTest, AfterTheLastCallThereAreFewJobsAndThenNone) {
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 10 : 40, 300, 20000))) {
    SCOPED_TRACE(Repeat(seed));
    World world(seed);
    for (int round = 0; round < 3 && !testing::Test::HasFailure(); round++) {
      for (uint64_t i = 0; i < 500 && !testing::Test::HasFailure(); i++) world.Step();
      if (!testing::Test::HasFailure()) world.ComeToRest();
    }
    if (!testing::Test::HasFailure()) world.Settle();
    if (testing::Test::HasFailure()) return;
  }
}

// Nearly all bases are on SSD and operands of other keys in the pool, so that each stays alone for a long time.
TEST(RestTest, ALoneOperandThatGetsNoShorterIsLeftWhereItIs) {
  constexpr uint64_t kCount = 2000;
  const TestDir dir;
  const Sum sum(Partial::kSame);
  Options options;
  options.create_if_missing = true;
  options.merge_operator = &sum;
  options.ssd_path = dir / "ssd";
  options.nvm_budget = 64 << 10;
  options.num_levels = 2;
  options.write_buffer_size = 8 << 10;
  options.partition_size = 4 << 10;
  options.space_amplification_percent = 106;
  options.pool_size = 64 << 20;
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  hooks.before_step = &StopAtBound;
  g_bound.db = nullptr;
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options, dir / "db", hooks, &db));
  g_bound = {db.get(), kManyJobs};
  for (uint64_t i = 0; i < kCount; i++) ASSERT_OK(db->Put(WriteOptions(), FilledKey(i), std::string(100, '1')));
  ASSERT_OK(db->WaitForIdle());
  const std::string operand(31, '0');
  for (uint64_t round = 0; round < 20; round++) {
    g_bound.most_jobs = Jobs(db.get()) + 100;
    for (uint64_t i = 0; i < kCount; i += 7) {
      ASSERT_OK(db->Merge(WriteOptions(), FilledKey(i), operand + "7"));
      if (i % 3 != round % 3) continue;
      ASSERT_OK(db->Put(WriteOptions(), FilledKey(i + 1), std::string(60, '2')));
    }
    ASSERT_OK(db->WaitForIdle());
  }
  g_bound.db = nullptr;
}

}  // namespace
}  // namespace miodb::test
