#include "tests/common/db_test_base.h"

#include <charconv>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "src/util/bytes/hash.h"
#include "tests/common/random/random.h"

namespace miodb::test {

namespace {

std::string PairText(const Iterator& it) { return "(" + it.key().ToString() + "->" + it.value().ToString() + ")"; }

std::string StatusText(const Iterator& it) { return it.status().ok() ? "" : "[" + it.status().ToString() + "]"; }

}  // namespace

Status OpenDb(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  db->reset();
  DB* opened = nullptr;
  Status s = DB::Open(AtPath(options, path), path, &opened);
  db->reset(opened);
  return s;
}

uint64_t NumberProperty(DB* db, const std::string& property) {
  std::string text;
  if (!db->GetProperty(property, &text)) {
    ADD_FAILURE() << "no property " << property;
    return 0;
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    ADD_FAILURE() << property << " is \"" << text << "\", not a decimal number";
  }
  return number;
}

std::string Forward(DB* db, const ReadOptions& options) {
  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  std::string result;
  for (it->SeekToFirst(); it->Valid(); it->Next()) result += PairText(*it);
  return result + StatusText(*it);
}

std::string Backward(DB* db, const ReadOptions& options) {
  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  std::vector<std::string> pairs;
  for (it->SeekToLast(); it->Valid(); it->Prev()) pairs.push_back(PairText(*it));
  return std::accumulate(pairs.rbegin(), pairs.rend(), std::string()) + StatusText(*it);
}

Status DbTestBase::TryOpen() {
  db_.reset();
  return OpenDb(options_, path_, &db_);
}

void DbTestBase::Open() {
  ASSERT_OK(TryOpen());
  ASSERT_NE(db_, nullptr);
}

std::string DbTestBase::Get(const std::string& key, const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  const Status s = db_->Get(options, key, &value);
  PinnableSlice pinned;
  const Status t = db_->Get(options, key, &pinned);
  EXPECT_EQ(s.ToString(), t.ToString());
  if (s.IsNotFound()) return kNotFound;
  if (!s.ok()) return s.ToString();
  EXPECT_TRUE(Slice(value) == pinned) << "Get of " << key << " gives two values";
  return value;
}

void DbTestBase::Settle() {
  db_->CompactRange(nullptr, nullptr);
  EXPECT_OK(db_->WaitForIdle());
}

std::string DbTestBase::Property(const std::string& name) {
  std::string value;
  EXPECT_TRUE(db_->GetProperty(name, &value)) << name;
  return value;
}

std::string FilledKey(uint64_t i) {
  char text[32];
  std::snprintf(text, sizeof(text), "key%08llu", static_cast<unsigned long long>(i));
  return text;
}

std::string FilledValue(uint64_t i, size_t value_bytes, uint64_t round) {
  return Random(Mix64(i, round)).Bytes(value_bytes);
}

void DbTestBase::Fill(uint64_t count, size_t value_bytes, uint64_t round) {
  std::vector<uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  Random random(round);
  for (uint64_t i = count; i > 1; i--) std::swap(order[i - 1], order[random.Uniform(i)]);
  for (const uint64_t i : order) {
    ASSERT_OK(db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, value_bytes, round)));
  }
}

void DbTestBase::CheckFilled(uint64_t count, size_t value_bytes, uint64_t round) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  for (uint64_t i = 0; i < count; i++) {
    const std::string value = FilledValue(i, value_bytes, round);
    ASSERT_TRUE(Get(FilledKey(i)) == value) << "Get of " << FilledKey(i);
    ASSERT_TRUE(it->Valid()) << "the scan misses " << FilledKey(i) << ": " << it->status().ToString();
    ASSERT_EQ(FilledKey(i), it->key().ToString());
    ASSERT_TRUE(it->value() == Slice(value)) << "the scan at " << FilledKey(i);
    it->Next();
  }
  EXPECT_FALSE(it->Valid()) << "the scan has another key " << it->key().ToString();
  EXPECT_OK(it->status());
}

}  // namespace miodb::test
