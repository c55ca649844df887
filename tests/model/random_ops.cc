#include "tests/model/random_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "miodb/merge_operator.h"
#include "miodb/write_batch.h"
#include "tests/common/db_test_base.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {

namespace {

constexpr size_t kTraceLength = 24;
constexpr uint64_t kCompareEvery = 250;
constexpr size_t kMaxHeld = 4;  // of snapshots, iterators and pins each
constexpr uint64_t kManyKeys = 20000;
constexpr size_t kMaxOperand = 60;

KeyStyle StyleOf(uint64_t seed) {
  constexpr KeyStyle kStyles[] = {KeyStyle::kMixed,  KeyStyle::kShort, KeyStyle::kLongShared,
                                  KeyStyle::kBinary, KeyStyle::kMixed, KeyStyle::kNumbers};
  return kStyles[seed % 6];
}

uint64_t KeyCountOf(uint64_t seed) {
  constexpr uint64_t kCounts[] = {kManyKeys, 300, 40, 1500, 100};
  return kCounts[seed % 5];
}

std::optional<std::string> Maybe(bool wanted, std::string key) {
  return wanted ? std::optional<std::string>(std::move(key)) : std::nullopt;
}

// Where a walk stands: the database must stand on the same pair.
void ComparePair(const Iterator& it, const Model::State::Cursor& expected) {
  ASSERT_TRUE(it.Valid()) << "misses " << Printable(expected.key()) << "; " << it.status().ToString();
  ASSERT_TRUE(it.key() == Slice(expected.key()))
      << "stands on " << Printable(it.key()) << " instead of " << Printable(expected.key());
  ASSERT_TRUE(it.value() == Slice(expected.value())) << "wrong value of " << Printable(expected.key());
}

// A whole state in both directions; the database must yield the same pairs and nothing else.
void CompareWalks(Iterator* it, const Model::State& state) {
  it->SeekToFirst();
  auto cursor = state.begin();
  for (; cursor != state.end() && !testing::Test::HasFatalFailure(); ++cursor, it->Next()) ComparePair(*it, cursor);
  if (testing::Test::HasFatalFailure()) return;
  ASSERT_FALSE(it->Valid()) << "also yields " << Printable(it->key());
  ASSERT_OK(it->status());
  it->SeekToLast();
  while (cursor != state.begin() && !testing::Test::HasFatalFailure()) {
    ComparePair(*it, --cursor);
    it->Prev();
  }
  if (testing::Test::HasFatalFailure()) return;
  ASSERT_FALSE(it->Valid()) << "also yields " << Printable(it->key());
  ASSERT_OK(it->status());
}

}  // namespace

// An iterator that outlives the writes made after it.
struct RandomOps::HeldIterator {
  HeldIterator(Model::State state, std::optional<std::string> from, std::optional<std::string> to)
      : lower(std::move(from)), upper(std::move(to)), cursor(std::move(state), lower, upper) {
    if (lower) lower_slice = *lower;
    if (upper) upper_slice = *upper;
  }

  const std::optional<std::string> lower;
  const std::optional<std::string> upper;
  Slice lower_slice;
  Slice upper_slice;
  ModelCursor cursor;
  std::unique_ptr<Iterator> it;
};

RandomOps::RandomOps(uint64_t seed, std::string path, OptionChoice options)
    : RandomOps(seed, std::move(path), std::move(options), StyleOf(seed)) {}

RandomOps::RandomOps(uint64_t seed, std::string path, OptionChoice options, KeyStyle style)
    : seed_(seed),
      path_(std::move(path)),
      options_(std::move(options)),
      random_(seed),
      style_(style),
      keys_(style, KeyCountOf(seed), seed),
      model_(options_.front().comparator) {
  static const MergeOperator* const append = NewStringAppendOperator(",");
  for (Options& choice : options_) choice.merge_operator = append;
}

RandomOps::~RandomOps() { ReleaseAll(); }

void RandomOps::Run() {
  ASSERT_OK(OpenDb(options_.front(), path_, &db_));
  const uint64_t length = Length(seed_);
  for (step_ = 0; step_ < length && !testing::Test::HasFatalFailure(); step_++) {
    Step();
    if (step_ % kCompareEvery == kCompareEvery - 1) CompareAll(model_.Snapshot(), nullptr);
  }
  if (!testing::Test::HasFatalFailure()) Reopen();
  if (!testing::Test::HasFatalFailure()) CompareAll(model_.Snapshot(), nullptr);
  if (testing::Test::HasFatalFailure()) {
    ADD_FAILURE() << "seed " << seed_ << ", step " << step_ << "; the last operations were:\n" << History();
  }
}

void RandomOps::Trace(const std::string& what) {
  trace_.push_back(std::to_string(step_) + " " + what);
  if (trace_.size() > kTraceLength) trace_.pop_front();
}

std::string RandomOps::History() const {
  std::string text;
  for (const std::string& line : trace_) text += "  " + line + "\n";
  return text;
}

void RandomOps::ReleaseAll() {
  iterators_.clear();
  pins_.clear();
  for (const HeldSnapshot& snapshot : snapshots_) db_->ReleaseSnapshot(snapshot.handle);
  snapshots_.clear();
}

void RandomOps::Reopen() {
  const size_t choice = random_.Uniform(options_.size());
  Trace("reopen with options " + std::to_string(choice));
  ReleaseAll();
  ASSERT_OK(OpenDb(options_[choice], path_, &db_));
}

void RandomOps::Step() {
  const uint64_t dice = random_.Uniform(1000);
  if (dice < 560) {
    WriteStep(dice);
  } else if (dice < 980) {
    HoldStep(dice - 560);
  } else {
    BackgroundStep(dice - 980);
  }
}

// Keys that are equal have one length under any order of the tests.
bool RandomOps::IsSingle(const std::string& key) const { return (key.size() + seed_) % 4 == 1; }

// Puts a single key if it is not there, else deletes it: the contract of single deletions.
void RandomOps::WriteSingle(const std::string& key) {
  if (model_.Snapshot().Find(key) == nullptr && !random_.OneIn(20)) {
    const std::string value = AnyValue(&random_, MaxValue());
    Trace("put single " + Printable(key) + " of " + std::to_string(value.size()) + " bytes");
    ASSERT_OK(db_->Put(Writing(), key, value));
    model_.Put(key, value);
  } else {
    Trace("single delete " + Printable(key));
    ASSERT_OK(db_->SingleDelete(Writing(), key));
    model_.Delete(key);
  }
}

// Nearly all ranges have few keys, or soon nothing would be left.
std::pair<std::string, std::string> RandomOps::AnyRange() {
  std::pair<std::string, std::string> range(keys_.Near(&random_), keys_.Near(&random_));
  const Model::State state = model_.Snapshot();
  if (!random_.OneIn(40)) {
    auto cursor = state.LowerBound(range.first);
    for (uint64_t i = random_.Skewed(6); i > 0 && cursor != state.end(); i--) ++cursor;
    if (cursor != state.end()) range.second = cursor.key();
  }
  if (state.Before(range.second, range.first)) std::swap(range.first, range.second);
  return range;
}

void RandomOps::DeleteRange() {
  const auto [begin, end] = AnyRange();
  Trace("delete range from " + Printable(begin) + " to " + Printable(end));
  ASSERT_OK(db_->DeleteRange(Writing(), begin, end));
  model_.DeleteRange(begin, end);
}

void RandomOps::WriteStep(uint64_t dice) {
  if (dice >= 490) return WriteSome();
  if (dice >= 470) return DeleteRange();
  const std::string key = keys_.Any(&random_);
  if (IsSingle(key)) return WriteSingle(key);
  if (dice < 260) {
    const std::string value = AnyValue(&random_, MaxValue());
    Trace("put " + Printable(key) + " of " + std::to_string(value.size()) + " bytes");
    ASSERT_OK(db_->Put(Writing(), key, value));
    model_.Put(key, value);
  } else if (dice < 380) {
    const std::string operand = AnyValue(&random_, kMaxOperand);
    Trace("merge " + Printable(key) + " with " + std::to_string(operand.size()) + " bytes");
    ASSERT_OK(db_->Merge(Writing(), key, operand));
    model_.Merge(key, operand);
  } else {
    Trace("delete " + Printable(key));
    ASSERT_OK(db_->Delete(Writing(), key));
    model_.Delete(key);
  }
}

void RandomOps::WriteSome() {
  WriteBatch batch;
  // Many keys come in large batches, or most of them would never be there.
  const bool large = keys_.count() == kManyKeys && random_.OneIn(10);
  const uint64_t count = large ? 1000 + random_.Uniform(4000) : random_.Skewed(6);
  for (uint64_t i = 0; i < count; i++) {
    const std::string key = keys_.Any(&random_);
    if (IsSingle(key)) continue;
    if (random_.OneIn(4)) {
      batch.Delete(key);
    } else if (random_.OneIn(4)) {
      batch.Merge(key, AnyValue(&random_, kMaxOperand));
    } else {
      batch.Put(key, AnyValue(&random_, large ? 200 : MaxValue()));
    }
  }
  if (random_.OneIn(10)) {
    const auto [begin, end] = AnyRange();
    batch.DeleteRange(begin, end);
    if (!IsSingle(begin)) batch.Put(begin, AnyValue(&random_, MaxValue()));
  }
  Trace("batch of " + std::to_string(count));
  ASSERT_OK(db_->Write(Writing(), &batch));
  model_.Apply(batch);
}

// Reads, and whatever is held over later steps.
void RandomOps::HoldStep(uint64_t dice) {
  if (dice < 180) {
    CheckGet(dice < 120 ? keys_.Any(&random_) : keys_.Near(&random_));
  } else if (dice < 250) {
    StartIterator();
  } else if (dice < 370) {
    if (!iterators_.empty())
      MoveIterator(iterators_[random_.Uniform(iterators_.size())].get(), 1 + random_.Uniform(12));
  } else if (dice < 390) {
    if (snapshots_.size() < kMaxHeld) {
      Trace("take a snapshot");
      snapshots_.push_back({db_->GetSnapshot(), model_.Snapshot()});
    }
  } else if (dice < 400) {
    if (const HeldSnapshot* held = AnySnapshot()) CompareAll(held->state, held->handle);
  } else if (!snapshots_.empty()) {
    const size_t which = random_.Uniform(snapshots_.size());
    Trace("release snapshot " + std::to_string(which));
    db_->ReleaseSnapshot(snapshots_[which].handle);
    snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(which));
  }
}

void RandomOps::BackgroundStep(uint64_t dice) {
  if (dice < 6) {
    Trace("flush");
    ASSERT_OK(db_->Flush());
  } else if (dice < 11) {
    CompactSome();
  } else if (dice < 14) {
    Trace("wait for idle");
    ASSERT_OK(db_->WaitForIdle());
  } else if (dice < 16) {
    AskProperties();
  } else {
    Reopen();
  }
}

ReadOptions RandomOps::Reading(const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  options.verify_checksums = random_.OneIn(2);
  return options;
}

WriteOptions RandomOps::Writing() {
  WriteOptions options;
  options.sync = random_.OneIn(8);
  return options;
}

const RandomOps::HeldSnapshot* RandomOps::AnySnapshot() {
  if (snapshots_.empty()) return nullptr;
  return &snapshots_[random_.Uniform(snapshots_.size())];
}

void RandomOps::CheckGet(const std::string& key) {
  const HeldSnapshot* const held = random_.OneIn(4) ? AnySnapshot() : nullptr;
  Trace("get " + Printable(key) + (held == nullptr ? "" : " at a snapshot"));
  const std::string* const expected = (held == nullptr ? model_.Snapshot() : held->state).Find(key);
  const ReadOptions options = Reading(held == nullptr ? nullptr : held->handle);
  if (random_.OneIn(2)) {
    std::string value = "untouched";
    const Status s = db_->Get(options, key, &value);
    ASSERT_TRUE(expected == nullptr ? s.IsNotFound() : s.ok()) << s.ToString();
    ASSERT_TRUE(value == (expected == nullptr ? "untouched" : *expected)) << "wrong value " << Printable(value);
    return;
  }
  auto pin = std::make_unique<HeldPin>();
  const Status s = db_->Get(options, key, &pin->slice);
  ASSERT_TRUE(expected == nullptr ? s.IsNotFound() : s.ok()) << s.ToString();
  if (expected == nullptr) return;
  pin->expected = *expected;
  ASSERT_TRUE(pin->slice == Slice(*expected)) << "wrong value " << Printable(pin->slice);
  pins_.push_back(std::move(pin));
  if (pins_.size() <= kMaxHeld) return;
  const size_t which = random_.Uniform(pins_.size());
  ASSERT_TRUE(pins_[which]->slice == Slice(pins_[which]->expected)) << "a pinned value changed";
  pins_.erase(pins_.begin() + static_cast<ptrdiff_t>(which));
}

void RandomOps::StartIterator() {
  if (iterators_.size() == kMaxHeld) iterators_.erase(iterators_.begin());
  const HeldSnapshot* const snapshot = random_.OneIn(4) ? AnySnapshot() : nullptr;
  auto held = std::make_unique<HeldIterator>(snapshot == nullptr ? model_.Snapshot() : snapshot->state,
                                             Maybe(random_.OneIn(4), keys_.Near(&random_)),
                                             Maybe(random_.OneIn(4), keys_.Near(&random_)));
  ReadOptions options = Reading(snapshot == nullptr ? nullptr : snapshot->handle);
  if (held->lower) options.iterate_lower_bound = &held->lower_slice;
  if (held->upper) options.iterate_upper_bound = &held->upper_slice;
  Trace("iterator from " + (held->lower ? Printable(*held->lower) : "the start") + " to " +
        (held->upper ? Printable(*held->upper) : "the end"));
  held->it.reset(db_->NewIterator(options));
  ASSERT_FALSE(held->it->Valid()) << "an iterator is Valid before it was positioned";
  MoveIterator(held.get(), 1 + random_.Uniform(20));
  iterators_.push_back(std::move(held));
}

void RandomOps::MoveIterator(HeldIterator* held, uint64_t moves) {
  for (uint64_t i = 0; i < moves && !testing::Test::HasFatalFailure(); i++) {
    MoveOnce(held);
    ComparePosition(*held);
  }
}

void RandomOps::MoveOnce(HeldIterator* held) {
  const uint64_t dice = random_.Uniform(100);
  if (dice < 6) {
    Trace("iterator: to the first");
    held->it->SeekToFirst();
    held->cursor.SeekToFirst();
  } else if (dice < 12) {
    Trace("iterator: to the last");
    held->it->SeekToLast();
    held->cursor.SeekToLast();
  } else if (dice < 30 || !held->cursor.Valid()) {
    const std::string target = keys_.Near(&random_);
    Trace("iterator: seek " + Printable(target));
    held->it->Seek(target);
    held->cursor.Seek(target);
  } else if (dice < 68) {
    Trace("iterator: next");
    held->it->Next();
    held->cursor.Next();
  } else {
    Trace("iterator: previous");
    held->it->Prev();
    held->cursor.Prev();
  }
}

void RandomOps::ComparePosition(const HeldIterator& held) {
  ASSERT_OK(held.it->status());
  if (!held.cursor.Valid()) {
    ASSERT_FALSE(held.it->Valid()) << "should stand on nothing, stands on " << Printable(held.it->key());
    return;
  }
  ASSERT_TRUE(held.it->Valid()) << "should stand on " << Printable(held.cursor.key()) << ", stands on nothing";
  ASSERT_TRUE(held.it->key() == Slice(held.cursor.key()))
      << "should stand on " << Printable(held.cursor.key()) << ", stands on " << Printable(held.it->key());
  ASSERT_TRUE(held.it->value() == Slice(held.cursor.value())) << "wrong value of " << Printable(held.cursor.key());
}

void RandomOps::CompareAll(const Model::State& state, const Snapshot* snapshot) {
  Trace(std::string("compare everything") + (snapshot == nullptr ? "" : " at a snapshot"));
  const ReadOptions options = Reading(snapshot);
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  CompareWalks(it.get(), state);
  if (testing::Test::HasFatalFailure()) return;
  std::string value;
  for (uint64_t i = 0; i < keys_.count(); i++) {
    const std::string key = keys_.Key(i);
    const std::string* const expected = state.Find(key);
    const Status s = db_->Get(options, key, &value);
    ASSERT_TRUE(expected == nullptr ? s.IsNotFound() : s.ok()) << "get of " << Printable(key) << ": " << s.ToString();
    ASSERT_TRUE(expected == nullptr || value == *expected) << "wrong value of " << Printable(key);
  }
}

void RandomOps::CompactSome() {
  std::string bounds[2] = {keys_.Near(&random_), keys_.Near(&random_)};
  const Model::Less less{options_.front().comparator};
  if (less(bounds[1], bounds[0])) std::swap(bounds[0], bounds[1]);
  const Slice from = bounds[0];
  const Slice to = bounds[1];
  const bool has_from = random_.OneIn(2);
  const bool has_to = random_.OneIn(2);
  Trace("compact from " + (has_from ? Printable(from) : "the start") + " to " + (has_to ? Printable(to) : "the end"));
  db_->CompactRange(has_from ? &from : nullptr, has_to ? &to : nullptr);
}

void RandomOps::AskProperties() {
  Trace("properties");
  for (const char* name : {"leveldb.stats", "leveldb.sstables", "leveldb.approximate-memory-usage", "miodb.pool",
                           "miodb.counters", "leveldb.num-files-at-level0"}) {
    std::string text;
    ASSERT_TRUE(db_->GetProperty(name, &text)) << name;
  }
  std::string error;
  ASSERT_TRUE(db_->GetProperty("miodb.background-error", &error));
  ASSERT_EQ("OK", error);
  const std::string from = keys_.Any(&random_);
  const std::string to = keys_.Any(&random_);
  const Range range(from, to);
  uint64_t size;
  db_->GetApproximateSizes(&range, 1, &size);
}

}  // namespace miodb::test
