// Random histories of values with and without lifetimes, deletions, merges, single deletions, snapshots, flushes,
// merges and reopenings, under a clock of the test's, beside a model: for each key what was put last, until when, and
// what was merged into it since. Without threads, so that a seed fixes the history.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/lifetime.h"
#include "miodb/merge_operator.h"
#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "src/inspect/verify/verify.h"
#include "src/nvm/pool/pool_image.h"
#include "tests/common/environment.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

std::atomic<uint64_t> g_date{0};

constexpr uint64_t kSecond = 1000 * 1000;
constexpr uint64_t kKeys = 60;

// The versions of a key. An operand outlives the value that it was merged into.
struct Chain {
  std::string value;
  uint64_t expiry = UINT64_MAX;
  bool has_value = false;
  std::vector<std::string> operands;
  int puts = 0;  // since it was removed: a single deletion asks for one at most

  bool Lives() const { return has_value && g_date < expiry; }
  std::optional<std::string> Shown() const {
    std::optional<std::string> shown;
    if (Lives()) shown = value;
    for (const std::string& operand : operands) shown = shown.has_value() ? *shown + "," + operand : operand;
    return shown;
  }
};
using State = std::map<std::string, Chain>;

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    g_date = (uint64_t{4000000000} + random_.Uniform(1000)) * kSecond;
    options_.create_if_missing = true;
    options_.merge_operator = append_.get();
    options_.write_buffer_size = 2048u << random_.Uniform(4);
    options_.log_chunk_size = 4096;
    options_.pool_growth = 64 << 10;
    options_.num_levels = static_cast<int>(2 + random_.Uniform(4));
    options_.level_trigger = static_cast<int>(2 + random_.Uniform(3));
    options_.merge_policy = AnyMergePolicy(&random_);
    options_.partition_size = 4096u << random_.Uniform(4);
    options_.lazy_copy_limit = random_.OneIn(4) ? 0 : 32u << random_.Uniform(7);
    options_.space_amplification_percent = static_cast<int>(105 + random_.Uniform(100));
    options_.filter_bits_per_key = random_.OneIn(3) ? 0 : 10;
    options_.paranoid_checks = random_.OneIn(3);
    if (random_.OneIn(5)) options_.log_mode = kLogFile;
    if (random_.OneIn(3)) {
      options_.ssd_path = dir_ / "ssd";
      options_.nvm_budget = 8 << 10;
      options_.ssd_file_size = 4096;
      options_.ssd_level_size = 16 << 10;
      if (random_.OneIn(3)) {
        options_.pool_path = "anonymous";
        options_.log_mode = kLogFile;
      }
    }
    hooks_.background = BackgroundMode::kBySteps;
    hooks_.wall_micros = [] { return g_date.load(); };
    Open();
  }
  ~World() { Release(); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Step() {
    switch (random_.Uniform(20)) {
      case 0:
        g_date += random_.Uniform(3 * kSecond);
        break;
      case 1:
        if (held_.size() < 4) held_.push_back({db_->GetSnapshot(), state_});
        break;
      case 2:
        if (!held_.empty()) ReleaseOne(random_.Uniform(held_.size()));
        break;
      case 3:
      case 4:
        Background();
        break;
      case 5:
        return random_.OneIn(20) ? Reopen() : Scan(nullptr, state_);
      case 6:
        if (random_.OneIn(10)) db_->CompactRange(nullptr, nullptr);
        break;
      case 7:
        if (random_.OneIn(10)) ASSERT_OK(db_->Flush());
        break;
      case 8:
      case 9:
      case 10:
        return Read();
      default:
        return Write();
    }
  }

  void CheckAll() {
    CheckNow("in the end");
    for (const Held& held : held_) Scan(held.snapshot, held.state);
    Reopen();
    CheckNow("reopened");
    g_date += 100 * kSecond;
    CheckNow("all expired");
    db_->CompactRange(nullptr, nullptr);
    CheckNow("compacted");
    Verify();
  }

 private:
  struct Held {
    const Snapshot* snapshot;
    State state;
  };

  void CheckNow(const char* stage) {
    SCOPED_TRACE(stage);
    Scan(nullptr, state_);
  }

  std::string AnyKey() { return "key" + std::to_string(random_.Uniform(kKeys)); }
  std::string AnyText() { return std::string(random_.Skewed(9), 'v') + std::to_string(random_.Uniform(1000)); }

  void Open() {
    options_.lifetime_seconds = random_.OneIn(2) ? 0 : 1 + random_.Uniform(8);
    ASSERT_OK(DBImpl::Open(options_, dir_ / "db", hooks_, &db_));
  }

  void ReleaseOne(size_t i) {
    db_->ReleaseSnapshot(held_[i].snapshot);
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(i));
  }
  void Release() {
    while (!held_.empty()) ReleaseOne(0);
  }

  void Reopen() {
    Release();
    Verify();
    Open();
  }

  // What the closed database says of itself has to hold.
  void Verify() {
    db_.reset();
    if (options_.pool_path == "anonymous") return;
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(dir_ / "db/pool", &image));
    VerifyOptions verify;
    verify.ssd_path = options_.ssd_path;
    const VerifyResult result = VerifyPool(*image, BytewiseComparator(), verify);
    for (const Problem& problem : result.problems) ADD_FAILURE() << problem.place << ": " << problem.reason;
  }

  void Background() {
    constexpr DBImpl::Step kSteps[] = {DBImpl::Step::kPrepare, DBImpl::Step::kFlush, DBImpl::Step::kMerge,
                                       DBImpl::Step::kSsd};
    const DBImpl::Step step = kSteps[random_.Uniform(4)];
    for (uint64_t i = random_.Skewed(4); i > 0 && db_->RunStep(step); i--) {
    }
  }

  // Adds one update to batch and state. lifetime: in seconds, as the write's options have it.
  void AddUpdate(uint64_t lifetime, WriteBatch* batch) {
    const std::string key = AnyKey(), text = AnyText();
    const bool plain = key < "key4";  // others are deleted by single deletions alone, and not merged
    Chain& chain = state_[key];
    switch (random_.Uniform(8)) {
      case 0:
        if (!plain) return;
        batch->Delete(key);
        chain = Chain();
        return;
      case 1:
        if (!plain) return;
        batch->Merge(key, text);
        chain.operands.push_back(text);
        return;
      case 2:
        if (plain || chain.puts > 1) return;
        batch->SingleDelete(key);
        chain = Chain();
        return;
      default:
        const int puts = chain.puts + 1;
        batch->Put(key, text);
        chain = Chain();
        chain.value = text;
        chain.has_value = true;
        chain.puts = puts;
        if (lifetime == 0) lifetime = options_.lifetime_seconds;
        if (lifetime != 0 && lifetime != kNoLifetime) chain.expiry = g_date + lifetime * kSecond;
    }
  }

  void Write() {
    WriteOptions options;
    options.lifetime_seconds = random_.OneIn(3) ? 0 : random_.OneIn(3) ? kNoLifetime : 1 + random_.Uniform(10);
    WriteBatch batch;
    for (uint64_t i = random_.OneIn(2) ? 1 : random_.Skewed(4); i > 0; i--) AddUpdate(options.lifetime_seconds, &batch);
    ASSERT_OK(db_->Write(options, &batch));
  }

  void CheckRead(const State& state, const std::string& key, const Status& s, const std::string& value) {
    const auto found = state.find(key);
    const std::optional<std::string> shown = found == state.end() ? std::nullopt : found->second.Shown();
    if (!shown.has_value()) {
      ASSERT_TRUE(s.IsNotFound()) << key << ": " << s.ToString() << " " << value;
    } else {
      ASSERT_TRUE(s.ok()) << key << " should have " << *shown << ": " << s.ToString();
      ASSERT_EQ(*shown, value) << key;
    }
  }

  void Read() {
    const Held* const held = held_.empty() || random_.OneIn(2) ? nullptr : &held_[random_.Uniform(held_.size())];
    const State& state = held != nullptr ? held->state : state_;
    ReadOptions options;
    options.snapshot = held != nullptr ? held->snapshot : nullptr;
    options.verify_checksums = random_.OneIn(2);
    std::vector<std::string> keys;
    for (uint64_t i = 1 + random_.Skewed(3); i > 0; i--) keys.push_back(AnyKey());
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> pinned;
    std::vector<std::string> values;
    const std::vector<Status> with_pins = db_->MultiGet(options, slices, &pinned);
    const std::vector<Status> with_copies = db_->MultiGet(options, slices, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      std::string value;
      CheckRead(state, keys[i], db_->Get(options, keys[i], &value), value);
      CheckRead(state, keys[i], with_copies[i], values[i]);
      CheckRead(state, keys[i], with_pins[i], pinned[i].ToString());
    }
  }

  using Pairs = std::vector<std::pair<std::string, std::string>>;

  static void ExpectSame(const Pairs& expected, const Pairs& got) {
    const std::map<std::string, std::string> wanted(expected.begin(), expected.end());
    std::map<std::string, std::string> more(got.begin(), got.end());
    ASSERT_EQ(got.size(), more.size());
    for (const auto& [key, value] : wanted) {
      ASSERT_EQ(1u, more.count(key)) << key << " is not there";
      ASSERT_EQ(value, more[key]) << key;
    }
    for (const auto& pair : got) ASSERT_EQ(1u, wanted.count(pair.first)) << pair.first << " is there: " << pair.second;
    ASSERT_EQ(expected, got);
  }

  void Scan(const Snapshot* snapshot, const State& state) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    Pairs expected, forward, backward;
    for (const auto& [key, chain] : state) {
      if (const auto shown = chain.Shown()) expected.emplace_back(key, *shown);
    }
    for (it->SeekToFirst(); it->Valid(); it->Next()) forward.emplace_back(it->key().ToString(), it->value().ToString());
    ASSERT_OK(it->status());
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      backward.emplace(backward.begin(), it->key().ToString(), it->value().ToString());
    }
    ASSERT_OK(it->status());
    ExpectSame(expected, forward);
    ExpectSame(expected, backward);
  }

  Random random_;
  TestDir dir_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  Options options_;
  DBImpl::Hooks hooks_;
  std::unique_ptr<DBImpl> db_;
  State state_;
  std::vector<Held> held_;
};

TEST(ExpiryModelTest, EveryHistoryGivesWhatTheModelGives) {
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 10 : 60, 400, 20000))) {
    SCOPED_TRACE(Repeat(seed));
    World world(seed);
    for (uint64_t i = 0; i < 1500 && !testing::Test::HasFailure(); i++) {
      SCOPED_TRACE(testing::Message() << "step " << i);
      world.Step();
    }
    if (!testing::Test::HasFailure()) world.CheckAll();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
