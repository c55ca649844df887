#include "tests/db/background/manual_world.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "miodb/write_batch.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/status_asserts.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {

namespace {

KeyStyle StyleOf(uint64_t seed) {
  constexpr KeyStyle kStyles[] = {KeyStyle::kShort, KeyStyle::kLongShared, KeyStyle::kBinary, KeyStyle::kNumbers};
  return kStyles[seed % 4];
}

}  // namespace

Options ManualWorld::AnyOptions(uint64_t seed) {
  Random random(seed * 7919 + 1);
  Options options;
  options.create_if_missing = true;
  options.comparator = random.OneIn(4) ? ReverseComparator() : BytewiseComparator();
  options.write_buffer_size = 4096u << random.Uniform(4);
  options.log_chunk_size = random.OneIn(2) ? 4096 : 0;
  options.pool_growth = 4096u << random.Uniform(8);
  options.pool_size = random.OneIn(3) ? uint64_t{512 * 1024} << random.Uniform(3) : 0;
  options.persist_mode = random.OneIn(4) ? kPersistFile : kPersistAuto;
  options.max_immutable_memtables = static_cast<int>(1 + random.Uniform(4));
  options.num_levels = static_cast<int>(2 + random.Uniform(4));
  options.level_trigger = static_cast<int>(2 + random.Uniform(3));
  options.merge_policy = AnyMergePolicy(&random);
  options.partition_size = 4096u << random.Uniform(5);
  options.lazy_copy_limit = random.OneIn(3) ? 0 : 64u << random.Uniform(7);
  options.space_amplification_percent = static_cast<int>(105 + random.Uniform(100));
  options.filter_bits_per_key = random.OneIn(3) ? 0 : 10;
  options.paranoid_checks = random.OneIn(3);
  return options;
}

ManualWorld::ManualWorld(uint64_t seed, const Options& options, bool crashes)
    : random_(seed),
      options_(options),
      crash_(crashes),
      keys_(StyleOf(seed), 20 + random_.Uniform(300), seed),
      model_(options.comparator) {
  db_ = OpenAt(dir_ / "db", BackgroundMode::kBySteps);
}

ManualWorld::~ManualWorld() { ReleaseAll(); }

std::unique_ptr<DBImpl> ManualWorld::OpenAt(const std::string& path, BackgroundMode mode) {
  DBImpl::Hooks hooks;
  hooks.background = mode;
  std::unique_ptr<DBImpl> db;
  EXPECT_OK(DBImpl::Open(options_, path, hooks, &db));
  return db;
}

void ManualWorld::ReleaseAll() {
  for (const Held& held : held_) db_->ReleaseSnapshot(held.snapshot);
  held_.clear();
}

void ManualWorld::Reopen() {
  ReleaseAll();
  if (options_.log_mode == kLogOff) EXPECT_OK(db_->Flush());
  db_.reset();
  db_ = OpenAt(dir_ / "db", BackgroundMode::kBySteps);
}

void ManualWorld::Write() {
  WriteBatch batch;
  const uint64_t count = random_.OneIn(2) ? 1 : random_.Skewed(6);
  const size_t most = random_.OneIn(50) ? 30000 : 300;
  for (uint64_t i = 0; i < count; i++) {
    if (random_.OneIn(4)) {
      batch.Delete(keys_.Any(&random_));
    } else {
      batch.Put(keys_.Any(&random_), AnyValue(&random_, most));
    }
  }
  WriteOptions options;
  options.sync = random_.OneIn(3);
  const Status s = db_->Write(options, &batch);
  if (s.IsNoSpace()) {
    EXPECT_NE(0u, options_.pool_size);
    refused_++;
    return;
  }
  ASSERT_OK(s);
  model_.Apply(batch);
}

void ManualWorld::Read(const Snapshot* snapshot, const Model::State& state) {
  ReadOptions options;
  options.snapshot = snapshot;
  options.verify_checksums = random_.OneIn(2);
  if (random_.OneIn(4)) return ReadMany(options, state);
  const std::string key = keys_.Near(&random_);
  std::string value;
  const Status s = db_->Get(options, key, &value);
  CheckRead(state, key, s, value);
}

// Keys of one batch may be the same.
void ManualWorld::ReadMany(const ReadOptions& options, const Model::State& state) {
  std::vector<std::string> keys;
  for (uint64_t i = random_.Skewed(8); i > 0; i--) {
    keys.push_back(keys.empty() || !random_.OneIn(8) ? keys_.Near(&random_) : keys[random_.Uniform(keys.size())]);
  }
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<std::string> values(random_.Uniform(3), "what was there before");
  const std::vector<Status> statuses = db_->MultiGet(options, slices, &values);
  ASSERT_EQ(keys.size(), statuses.size());
  ASSERT_EQ(keys.size(), values.size());
  for (size_t i = 0; i < keys.size(); i++) CheckRead(state, keys[i], statuses[i], values[i]);
}

void ManualWorld::CheckRead(const Model::State& state, const std::string& key, const Status& s,
                            const std::string& value) const {
  const std::string* const expected = state.Find(key);
  if (expected == nullptr) {
    ASSERT_TRUE(s.IsNotFound()) << Printable(key) << ": " << s.ToString();
  } else {
    ASSERT_OK(s);
    ASSERT_TRUE(*expected == value) << Printable(key);
  }
}

void ManualWorld::Background() {
  constexpr DBImpl::Step kSteps[] = {DBImpl::Step::kPrepare, DBImpl::Step::kFlush, DBImpl::Step::kMerge};
  const DBImpl::Step step = kSteps[random_.Uniform(3)];
  for (uint64_t i = random_.Skewed(3); i > 0; i--) {
    if (!db_->RunStep(step)) break;
  }
}

void ManualWorld::Step() {
  const uint64_t dice = random_.Uniform(200);
  if (dice < 80) {
    Write();
  } else if (dice < 120) {
    Read(nullptr, model_.Snapshot());
    if (!held_.empty()) {
      const Held& held = held_[random_.Uniform(held_.size())];
      Read(held.snapshot, held.state);
    }
  } else if (dice < 180) {
    Background();
  } else if (dice < 185) {
    if (held_.size() < 4) held_.push_back({db_->GetSnapshot(), model_.Snapshot()});
  } else if (dice < 189) {
    if (held_.empty()) return;
    const size_t i = random_.Uniform(held_.size());
    db_->ReleaseSnapshot(held_[i].snapshot);
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(i));
  } else if (dice < 191) {
    const Status s = db_->Flush();
    EXPECT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
  } else if (dice < 192) {
    db_->CompactRange(nullptr, nullptr);
  } else if (dice < 193) {
    Reopen();
  } else if (dice < 195) {
    CheckAll();
  } else if (crash_) {
    CheckCrash();
  }
}

void ManualWorld::Scan(DB* db, const Snapshot* snapshot, const Model::State& state) {
  ReadOptions options;
  options.snapshot = snapshot;
  options.verify_checksums = random_.OneIn(2);
  const std::unique_ptr<Iterator> iterator(db->NewIterator(options));
  ModelCursor cursor(state, std::nullopt, std::nullopt);
  const bool forward = random_.OneIn(2);
  forward ? iterator->SeekToFirst() : iterator->SeekToLast();
  forward ? cursor.SeekToFirst() : cursor.SeekToLast();
  while (cursor.Valid() && iterator->Valid()) {
    ASSERT_EQ(Printable(cursor.key()), Printable(iterator->key()));
    ASSERT_TRUE(Slice(cursor.value()) == iterator->value()) << Printable(cursor.key());
    forward ? iterator->Next() : iterator->Prev();
    forward ? cursor.Next() : cursor.Prev();
  }
  ASSERT_OK(iterator->status());
  ASSERT_EQ(cursor.Valid(), iterator->Valid());
}

void ManualWorld::CheckAll() {
  Scan(db_.get(), nullptr, model_.Snapshot());
  for (const Held& held : held_) Scan(db_.get(), held.snapshot, held.state);
  for (uint64_t i = 0; i < 20 && !testing::Test::HasFatalFailure(); i++) Read(nullptr, model_.Snapshot());
}

void ManualWorld::CheckCrash() {
  crashes_++;
  const std::string path = dir_ / ("crash" + std::to_string(crashes_));
  std::filesystem::create_directory(path);
  CopyPoolFile(dir_ / "db/pool", path + "/pool");
  std::filesystem::copy_file(dir_ / "db/STORE", path + "/STORE");
  Model copy(options_.comparator);
  const Model::State now = model_.Snapshot();
  for (auto at = now.begin(); at != now.end(); ++at) copy.Put(at.key(), at.value());
  // Twice: recovering from a recovery is the same. The third time with threads, and life goes on.
  for (int opens = 0; opens < 3 && !testing::Test::HasFatalFailure(); opens++) {
    const std::unique_ptr<DBImpl> db = OpenAt(path, opens < 2 ? BackgroundMode::kBySteps : BackgroundMode::kThreads);
    if (db == nullptr) return;
    Scan(db.get(), nullptr, copy.Snapshot());
    if (testing::Test::HasFatalFailure()) return;
    if (opens == 0 && random_.OneIn(2)) {
      for (uint64_t i = random_.Uniform(5); i > 0; i--) db->RunStep(DBImpl::Step::kFlush);
      for (uint64_t i = random_.Uniform(5); i > 0; i--) db->RunStep(DBImpl::Step::kMerge);
    }
    if (opens == 0) continue;
    const std::string key = keys_.Any(&random_);
    const Status s = db->Put(WriteOptions(), key, "after the crash");
    EXPECT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
    if (s.ok()) copy.Put(key, "after the crash");
    if (opens == 2) {
      EXPECT_OK(db->WaitForIdle());
    }
    Scan(db.get(), nullptr, copy.Snapshot());
  }
  std::filesystem::remove_all(path);
}

}  // namespace miodb::test
