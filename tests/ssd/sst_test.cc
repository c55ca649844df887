// src/ssd/sst_writer.h and sst_reader.h: what is written is read, whatever the format's settings.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/ssd/internal_key.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/ssd/sst_maker.h"

namespace miodb {
namespace {

using test::Entries;
using test::MakeSst;
using test::OpenSst;

// Entries with keys that share prefixes and values of all sizes, some of which compress.
Entries RandomEntries(Random* random, size_t count) {
  Entries entries;
  while (entries.size() < count) {
    std::string key = "key" + std::to_string(random->Uniform(count * 3));
    if (random->Uniform(10) == 0) key += std::string(random->Uniform(300), 'k');
    std::string value(random->Uniform(random->Uniform(20) == 0 ? 20000 : 100), 'v');
    if (random->Uniform(2) == 0) {
      for (char& c : value) c = static_cast<char>(random->Uniform(256));
    }
    entries[key] = value;
  }
  return entries;
}

std::string Pair(const Iterator& it) {
  return it.Valid() ? it.key().ToString() + "=" + it.value().ToString() : std::string("(end)");
}
std::string Pair(const Entries& entries, Entries::const_iterator it) {
  return it == entries.end() ? "(end)" : it->first + "=" + it->second;
}

struct Setting {
  const char* name;
  size_t block_size;
  int restart_interval;
  CompressionType compression;
  bool filter;
};

class SstTest : public testing::TestWithParam<Setting> {
 protected:
  SstTest() : policy_(NewBloomFilterPolicy(10)) {
    format_.comparator = BytewiseComparator();
    format_.block_size = GetParam().block_size;
    format_.restart_interval = GetParam().restart_interval;
    format_.compression = GetParam().compression;
    if (GetParam().filter) format_.filter_policy = policy_.get();
  }

  const std::unique_ptr<const FilterPolicy> policy_;
  SstFormat format_;
};

TEST_P(SstTest, WalksAndSeeksAreThoseOfAMap) {
  for (uint64_t seed : test::Seeds(test::ByScale(2, 10, 100))) {
    SCOPED_TRACE(test::Repeat(seed));
    Random random(seed);
    const Entries entries = RandomEntries(&random, 1 + random.Uniform(800));
    std::unique_ptr<SstReader> reader;
    std::unique_ptr<Cache> cache(random.Uniform(2) == 0 ? NewLRUCache(64 << 10) : nullptr);
    ASSERT_OK(OpenSst(format_, MakeSst(format_, entries), &reader, Checksums::kVerify, cache.get()));
    const std::unique_ptr<Iterator> it(reader->NewIterator({Checksums::kVerify, random.Uniform(2) == 0}));
    EXPECT_FALSE(it->Valid());
    it->SeekToFirst();
    for (const auto& [key, value] : entries) {
      ASSERT_EQ(Pair(*it), key + "=" + value);
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto expected = entries.rbegin(); expected != entries.rend(); ++expected) {
      ASSERT_EQ(Pair(*it), expected->first + "=" + expected->second);
      it->Prev();
    }
    ASSERT_FALSE(it->Valid());
    for (int i = 0; i < 300; i++) {
      const std::string target = "key" + std::to_string(random.Uniform(entries.size() * 3));
      it->Seek(target);
      auto expected = entries.lower_bound(target);
      ASSERT_EQ(Pair(*it), Pair(entries, expected));
      for (int step = 0; step < 4 && it->Valid(); step++) {
        if (random.Uniform(2) == 0) {
          it->Next();
          ++expected;
        } else {
          it->Prev();
          expected = expected == entries.begin() ? entries.end() : std::prev(expected);
        }
        ASSERT_EQ(Pair(*it), Pair(entries, expected));
      }
    }
    ASSERT_OK(it->status());
  }
}

TEST_P(SstTest, FindsEveryKeyAndNoOther) {
  Random random(7);
  const Entries entries = RandomEntries(&random, 500);
  std::unique_ptr<SstReader> reader;
  ASSERT_OK(OpenSst(format_, MakeSst(format_, entries), &reader));
  BlockPin pin;
  bool found;
  std::string key;
  Slice value;
  for (const auto& [wanted, expected] : entries) {
    ASSERT_OK(reader->Find({Checksums::kVerify, true}, wanted, &pin, &found, &key, &value));
    ASSERT_TRUE(found);
    ASSERT_EQ(key, wanted);
    ASSERT_EQ(value.ToString(), expected);
    ASSERT_OK(reader->Find({Checksums::kVerify, true}, wanted + "!", &pin, &found, &key, &value));
    ASSERT_TRUE(!found || key > wanted + "!");
  }
}

TEST_P(SstTest, OffsetsGrowWithTheKeysUpToTheEndOfTheData) {
  Random random(8);
  const Entries entries = RandomEntries(&random, 500);
  const std::string file = MakeSst(format_, entries);
  std::unique_ptr<SstReader> reader;
  ASSERT_OK(OpenSst(format_, file, &reader));
  uint64_t last = 0;
  for (const auto& [key, value] : entries) {
    const uint64_t offset = reader->ApproximateOffsetOf(key);
    ASSERT_GE(offset, last);
    last = offset;
  }
  EXPECT_EQ(reader->ApproximateOffsetOf(""), 0u);
  EXPECT_GT(reader->ApproximateOffsetOf("z"), last);
  EXPECT_LT(reader->ApproximateOffsetOf("z"), file.size());
}

TEST_P(SstTest, AnEmptyTableIsATable) {
  std::unique_ptr<SstReader> reader;
  ASSERT_OK(OpenSst(format_, MakeSst(format_, {}), &reader));
  const std::unique_ptr<Iterator> it(reader->NewIterator({}));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_FALSE(it->Valid());
  it->Seek("a");
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
}

TEST_P(SstTest, TheFingerprintTellsFilesApart) {
  uint64_t a = 0, b = 0;
  const std::string file = MakeSst(format_, {{"a", "1"}, {"b", "2"}}, &a);
  MakeSst(format_, {{"a", "1"}, {"c", "2"}}, &b);
  std::unique_ptr<SstReader> reader;
  ASSERT_OK(OpenSst(format_, file, &reader));
  EXPECT_EQ(reader->fingerprint(), a);
  EXPECT_NE(a, b);
}

INSTANTIATE_TEST_SUITE_P(Formats, SstTest,
                         testing::Values(Setting{"plain", 4096, 16, kNoCompression, false},
                                         Setting{"tiny_blocks", 1, 1, kNoCompression, true},
                                         Setting{"snappy", 1024, 16, kSnappyCompression, true},
                                         Setting{"zstd", 16384, 3, kZstdCompression, true},
                                         Setting{"one_block", 64 << 20, 16, kNoCompression, true}),
                         [](const testing::TestParamInfo<Setting>& setting) { return setting.param.name; });

TEST(SstCacheTest, ABlockIsReadOnceAndWhenAskedToNotKept) {
  SstFormat format;
  format.comparator = BytewiseComparator();
  format.block_size = 1 << 20;  // one block
  const std::string contents = MakeSst(format, {{"a", "1"}, {"b", "2"}});
  const std::unique_ptr<Cache> cache(NewLRUCache(1 << 20));
  const auto file = std::make_shared<test::StringSource>(contents);
  std::unique_ptr<SstReader> reader;
  ASSERT_OK(SstReader::Open(format, file, "some.sst", contents.size(), Checksums::kVerify, cache.get(), &reader));
  const uint64_t opened = file->reads;
  BlockPin pin;
  bool found;
  std::string key;
  Slice value;
  ASSERT_OK(reader->Find({Checksums::kVerify, false}, "a", &pin, &found, &key, &value));
  EXPECT_EQ(file->reads, opened + 1);
  ASSERT_OK(reader->Find({Checksums::kVerify, true}, "a", &pin, &found, &key, &value));
  EXPECT_EQ(file->reads, opened + 2);  // the first one was not kept
  ASSERT_OK(reader->Find({Checksums::kVerify, true}, "b", &pin, &found, &key, &value));
  EXPECT_EQ(file->reads, opened + 2);
  // The pin keeps the bytes when the cache lets go of them.
  cache->Prune();
  EXPECT_EQ(value.ToString(), "2");
  pin.Reset();
  cache->Prune();
  EXPECT_EQ(cache->TotalCharge(), 0u);
}

TEST(InternalKeyTest, NewerVersionsComeFirstAndSeparatorsSeparate) {
  const InternalKeyComparator comparator{KeyOrder(BytewiseComparator())};
  const auto key = [](const std::string& user_key, uint64_t sequence) {
    std::string k;
    AppendInternalKey(&k, user_key, PackTag(sequence, kTypeValue));
    return k;
  };
  EXPECT_LT(comparator.Compare(key("a", 1), key("b", 9)), 0);
  EXPECT_LT(comparator.Compare(key("a", 9), key("a", 1)), 0);
  EXPECT_EQ(comparator.Compare(key("a", 9), key("a", 9)), 0);
  EXPECT_LE(comparator.Compare(SeekKey("a", 9), key("a", 9)), 0);
  EXPECT_LT(comparator.Compare(SeekKey("a", 8), key("a", 7)), 0);
  EXPECT_GT(comparator.Compare(SeekKey("a", 8), key("a", 9)), 0);
  const std::vector<std::string> users = {"a", "abcdefgh", "abcdxyz", "b", "bbbbbb", "c", "\xff\xff"};
  for (const std::string& low : users) {
    for (const std::string& high : users) {
      if (low >= high) continue;
      std::string separator = key(low, 5);
      comparator.FindShortestSeparator(&separator, key(high, 7));
      EXPECT_GE(comparator.Compare(separator, key(low, 5)), 0);
      EXPECT_LT(comparator.Compare(separator, key(high, 7)), 0);
    }
    std::string successor = key(low, 5);
    comparator.FindShortSuccessor(&successor);
    EXPECT_GE(comparator.Compare(successor, key(low, 5)), 0);
  }
  // Versions of one key that lie in two blocks.
  std::string same = key("a", 9);
  comparator.FindShortestSeparator(&same, key("a", 3));
  EXPECT_EQ(same, key("a", 9));
}

// A comparator whose separator of two keys is the second one.
class LimitComparator final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  const char* Name() const override { return "test.LimitComparator"; }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override { *start = limit.ToString(); }
  void FindShortSuccessor(std::string*) const override {}
};

// A get of the newest version would seek just that, and look at the block before.
TEST(InternalKeyTest, ASeparatorIsNeverWhatAGetSeeks) {
  const LimitComparator limits;
  const InternalKeyComparator comparator{KeyOrder(&limits)};
  std::string separator;
  AppendInternalKey(&separator, "abc", PackTag(5, kTypeValue));
  std::string limit;
  AppendInternalKey(&limit, "b", PackTag(7, kTypeValue));
  comparator.FindShortestSeparator(&separator, limit);
  EXPECT_LT(comparator.Compare(separator, SeekKey("b", kMaxSequence)), 0);
}

}  // namespace
}  // namespace miodb
