#include "tests/pmtable/table_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "pmtable/table_search.h"
#include "src/util/bytes/hash.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"

namespace miodb::test {

SortedVersions::SortedVersions(const KeyOrder& order, std::vector<TestVersion> versions)
    : order_(order), versions_(std::move(versions)) {
  std::sort(versions_.begin(), versions_.end(), [&](const TestVersion& a, const TestVersion& b) {
    const int c = order_.Compare(a.key, b.key);
    return c != 0 ? c < 0 : a.sequence > b.sequence;
  });
}

size_t SortedVersions::LowerBound(const std::string& key, uint64_t sequence) const {
  return static_cast<size_t>(std::partition_point(versions_.begin(), versions_.end(),
                                                  [&](const TestVersion& v) {
                                                    const int c = order_.Compare(v.key, key);
                                                    return c != 0 ? c < 0 : v.sequence > sequence;
                                                  }) -
                             versions_.begin());
}

const TestVersion* SortedVersions::Find(const std::string& key, uint64_t sequence) const {
  const size_t i = LowerBound(key, sequence);
  return i < size() && order_.Equal(versions_[i].key, key) ? &versions_[i] : nullptr;
}

const std::vector<KeyShape>& KeyShapes() {
  static const std::vector<KeyShape> shapes = {
      {"Digits8", 0, KeyShape::kDigits8},      {"Digits20", 0, KeyShape::kDigits20},
      {"Bytes", 0, KeyShape::kBytes},          {"AnyLength", 0, KeyShape::kAnyLength},
      {"Prefix47", 47, KeyShape::kDigits8},    {"Prefix48", 48, KeyShape::kDigits8},
      {"Prefix49", 49, KeyShape::kDigits8},    {"Prefix55", 55, KeyShape::kBytes},
      {"Prefix56", 56, KeyShape::kBytes},      {"Prefix57", 57, KeyShape::kBytes},
      {"Prefix100", 100, KeyShape::kDigits20}, {"Prefix40", 40, KeyShape::kAnyLength},
  };
  return shapes;
}

namespace {

std::string Tail(KeyShape::Tail tail, Random* random) {
  static const std::string bytes("\0\0\0\1a\xff", 6);
  std::string result;
  switch (tail) {
    case KeyShape::kDigits8:
    case KeyShape::kDigits20:
      for (int i = tail == KeyShape::kDigits8 ? 8 : 20; i > 0; i--) {
        result.push_back(static_cast<char>('0' + random->Uniform(10)));
      }
      return result;
    case KeyShape::kBytes:
      for (uint64_t i = random->Uniform(13); i > 0; i--) result.push_back(bytes[random->Uniform(bytes.size())]);
      return result;
    case KeyShape::kAnyLength:
      for (uint64_t i = random->Uniform(81); i > 0; i--) result.push_back(static_cast<char>('a' + random->Uniform(26)));
      return result;
  }
  return result;
}

}  // namespace

std::vector<std::string> MakeKeys(const KeyShape& shape, size_t count, const KeyOrder& order, Random* random) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < 2 * count + 10; i++) {
    std::string prefix(shape.prefix, 'p');
    // A few prefixes that differ in their last byte, so that a node may hold keys of two.
    if (shape.prefix > 0) prefix.back() = static_cast<char>('a' + random->Skewed(3));
    keys.push_back(prefix + Tail(shape.tail, random));
  }
  if (shape.prefix == 0 && shape.tail >= KeyShape::kBytes) keys.emplace_back();
  std::sort(keys.begin(), keys.end(),
            [&](const std::string& a, const std::string& b) { return order.Compare(a, b) < 0; });
  keys.erase(std::unique(keys.begin(), keys.end(),
                         [&](const std::string& a, const std::string& b) { return order.Equal(a, b); }),
             keys.end());
  // Leave out so many at random; the first one, perhaps the empty key, stays.
  size_t too_many = keys.size() > count ? keys.size() - count : 0;
  std::vector<std::string> kept;
  for (size_t i = 0; i < keys.size(); i++) {
    const bool leave_out = i > 0 && random->Uniform(keys.size() - i) < too_many;
    too_many -= leave_out;
    if (!leave_out) kept.push_back(std::move(keys[i]));
  }
  return kept;
}

std::string NearKey(const std::vector<std::string>& keys, Random* random) {
  std::string key = keys[random->Uniform(keys.size())];
  switch (random->Uniform(9)) {
    case 0:
      key.push_back('\0');
      break;
    case 1:
      key.push_back('\xff');
      break;
    case 2:
      if (!key.empty()) key.pop_back();
      break;
    case 3:
      if (!key.empty()) key.back() = static_cast<char>(key.back() + 1);
      break;
    case 4:
      if (!key.empty()) key[random->Uniform(key.size())] = static_cast<char>(random->Next64());
      break;
    case 5:
      key.resize(random->Uniform(key.size() + 1));
      break;
    case 6:
      key.append(random->Uniform(10), '\0');
      break;
    default:
      break;
  }
  return random->OneIn(100) ? random->Bytes(random->Uniform(70)) : key;
}

std::vector<TestVersion> MakeVersions(const std::vector<std::string>& keys, size_t spanning, uint64_t first,
                                      Random* random) {
  std::vector<TestVersion> versions;
  for (size_t i = 0; i < keys.size(); i++) {
    uint64_t count = random->OneIn(4) ? 1 + random->Uniform(5) : 1;
    if (i == spanning) count = 150;
    for (; count > 0; count--) {
      const bool tombstone = random->OneIn(8);
      versions.push_back(
          {keys[i], 0, tombstone ? kTypeDeletion : kTypeValue, tombstone ? "" : random->Bytes(random->Uniform(30))});
    }
  }
  std::vector<uint64_t> sequences(versions.size());
  std::iota(sequences.begin(), sequences.end(), first);
  for (size_t i = sequences.size(); i > 1; i--) std::swap(sequences[i - 1], sequences[random->Uniform(i)]);
  for (size_t i = 0; i < versions.size(); i++) versions[i].sequence = sequences[i];
  return versions;
}

std::vector<IndexWord> TableMaker::Store(const SortedVersions& versions, const Options& options,
                                         std::vector<MadePayload>* payload) {
  std::vector<size_t> by_place(versions.size());
  std::iota(by_place.begin(), by_place.end(), size_t{0});
  if (!options.ordered) {
    std::sort(by_place.begin(), by_place.end(),
              [&](size_t a, size_t b) { return versions[a].sequence < versions[b].sequence; });
  }
  std::vector<IndexWord> words(versions.size());
  uint64_t used = 0;
  for (size_t i : by_place) {
    const TestVersion& v = versions[i];
    const uint64_t size = RecordSize(v.key.size(), v.value.size());
    if (payload->empty() || payload->back().extent->size() - used < size) {
      EXPECT_OK(pool_->Allocate(std::max(size, options.extent_bytes), options.kind, &payload->emplace_back().extent));
      used = 0;
    }
    Extent* const extent = payload->back().extent.get();
    char* const place = extent->data() + used;
    uint64_t hash;
    char* const end = EncodeRecordHead(place, PackTag(v.sequence, v.type), v.key, v.value, kTestSecret, &hash);
    memcpy(end, v.value.data(), v.value.size());
    words[i] = IndexWord(extent->offset() + used, v.type, size);
    payload->back().live_bytes += words[i].size();
    used += size;
    extent->SetPayloadBytes(used);
  }
  return words;
}

TableRef TableMaker::Make(const SortedVersions& versions, const Options& options) {
  PMTableBuilder::Summary summary;
  std::vector<MadePayload> payload;
  const std::vector<IndexWord> words = Store(versions, options, &payload);
  made_.insert(made_.end(), payload.begin(), payload.end());
  summary.logged = options.kind == ExtentKind::kLog;
  summary.min_sequence = kMaxSequence;
  PMTableBuilder builder(pool(), order_, Purpose::kFlush, NewNumber(), options.filter_bits);
  EXPECT_OK(builder.Start(versions.size(), versions.size()));
  for (size_t i = 0; i < versions.size(); i++) {
    const TestVersion& v = versions[i];
    IndexEntry entry;
    entry.SetKey(v.key);
    entry.same_key_as_last = i > 0 && order_.Equal(versions[i - 1].key, v.key);
    entry.hash = LookupKey(order_, v.key, 0).hash;
    entry.word = words[i];
    EXPECT_TRUE(builder.HasRoom());
    builder.Add(entry);
    summary.min_sequence = std::min(summary.min_sequence, v.sequence);
    summary.max_sequence = std::max(summary.max_sequence, v.sequence);
  }
  TableRef table;
  EXPECT_OK(builder.Finish(summary, &table));
  return table;
}

std::vector<TableRef> TableMaker::MakeRun(const SortedVersions& versions, size_t versions_per_table,
                                          const Options& options) {
  std::vector<TableRef> tables;
  std::vector<TestVersion> part;
  for (size_t i = 0; i < versions.size(); i++) {
    const bool new_key = i == 0 || !order_.Equal(versions[i - 1].key, versions[i].key);
    if (new_key && part.size() >= versions_per_table) {
      tables.push_back(Make(SortedVersions(order_, std::move(part)), options));
      part.clear();
    }
    part.push_back(versions[i]);
  }
  if (!part.empty()) tables.push_back(Make(SortedVersions(order_, std::move(part)), options));
  return tables;
}

Status TableMaker::Reopen(const TableRef& table, Checksums checksums, TableRef* reopened) {
  return PMTable::Open(pool(), order_, table->index(), table->number(), checksums, reopened);
}

ExtentList TableMaker::payload() const {
  ExtentList list;
  for (const MadePayload& made : made_) list.Insert(ExtentsBefore(list, made.extent->offset()), made.extent);
  return list;
}

std::map<Extent*, uint64_t> UsesOf(const PMTable& table, const ExtentList& payload) {
  std::map<Extent*, uint64_t> uses;
  for (uint64_t i = 0; i < table.entries(); i++) {
    Extent* const extent = FindExtent(payload, table.WordAt(i).ref());
    EXPECT_NE(nullptr, extent) << "entry " << i;
    uses[extent] += table.WordAt(i).size();
  }
  return uses;
}

TestVersion VersionOf(const RecordView& record) {
  return {record.key.ToString(), record.sequence(), record.type(), record.value.ToString()};
}

void ExpectVersion(const TestVersion& expected, const RecordView& record) {
  ASSERT_EQ(expected.sequence, record.sequence());
  ASSERT_EQ(expected.key, record.key.ToString());
  ASSERT_EQ(expected.type, record.type());
  ASSERT_EQ(expected.value, record.value.ToString());
  ASSERT_TRUE(record.Verify(kTestSecret));
}

namespace {

Status GetInSteps(const PMTable& table, const LookupKey& key, bool* found, RecordView* record) {
  Status s;
  PrefetchList wanted;
  PMTable::Search search;
  search.Start(table);
  while (!search.Step(key, &wanted, &s, found, record)) wanted.Issue();
  return s;
}

void CheckProbe(const PMTable& table, const SortedVersions& versions, const std::string& key, uint64_t sequence) {
  const TestVersion* const expected = versions.Find(key, sequence);
  for (const Checksums checksums : {Checksums::kTrust, Checksums::kVerify}) {
    uint64_t position;
    ASSERT_OK(table.Seek(key, sequence, checksums, &position));
    ASSERT_EQ(versions.LowerBound(key, sequence), position);
    bool found;
    RecordView record;
    const LookupKey lookup(table.order(), key, sequence, checksums);
    ASSERT_OK(table.Get(lookup, &found, &record));
    ASSERT_EQ(expected != nullptr, found);
    if (found) ExpectVersion(*expected, record);
    ASSERT_OK(GetInSteps(table, lookup, &found, &record));
    ASSERT_EQ(expected != nullptr, found);
    if (found) ExpectVersion(*expected, record);
  }
}

}  // namespace

void CheckTable(const PMTable& table, const SortedVersions& versions, int probes, Random* random) {
  ASSERT_EQ(versions.size(), table.entries());
  EXPECT_EQ(versions[0].key, table.smallest().ToString());
  EXPECT_EQ(versions[versions.size() - 1].key, table.largest().ToString());
  std::vector<std::string> keys;
  uint64_t tombstones = 0, live = 0;
  for (size_t i = 0; i < versions.size(); i++) {
    const TestVersion& v = versions[i];
    RecordView record;
    ASSERT_OK(table.RecordAt(i, Checksums::kVerify, &record));
    ExpectVersion(v, record);
    ASSERT_EQ(v.type == kTypeDeletion, table.WordAt(i).tombstone());
    tombstones += v.type == kTypeDeletion;
    live += table.WordAt(i).size();
    if (keys.empty() || keys.back() != v.key) keys.push_back(v.key);
    if (!random->OneIn(1 + versions.size() / 400)) continue;
    for (uint64_t sequence : {v.sequence, v.sequence - 1, v.sequence + 1, kMaxSequence}) {
      CheckProbe(table, versions, v.key, sequence);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(tombstones, table.tombstones());
  EXPECT_EQ(live, table.payload_bytes());
  for (int i = 0; i < probes && !testing::Test::HasFatalFailure(); i++) {
    CheckProbe(table, versions, NearKey(keys, random),
               random->OneIn(2) ? kMaxSequence : versions[random->Uniform(versions.size())].sequence);
  }
}

void CheckIterator(InternalIterator* iterator, const SortedVersions& versions, int moves, Random* random) {
  iterator->SeekToFirst();
  for (const TestVersion& v : versions.all()) {
    ASSERT_TRUE(iterator->Valid());
    ExpectVersion(v, iterator->record());
    iterator->Next();
  }
  ASSERT_FALSE(iterator->Valid());
  iterator->SeekToLast();
  for (size_t i = versions.size(); i-- > 0;) {
    ASSERT_TRUE(iterator->Valid());
    ExpectVersion(versions[i], iterator->record());
    iterator->Prev();
  }
  ASSERT_FALSE(iterator->Valid());
  std::vector<std::string> keys{""};
  for (const TestVersion& v : versions.all()) keys.push_back(v.key);
  size_t at = versions.size();  // this: not valid
  for (int i = 0; i < moves; i++) {
    if (at == versions.size() || random->OneIn(10)) {
      const std::string key = NearKey(keys, random);
      const uint64_t sequence = random->OneIn(2) ? kMaxSequence : random->Uniform(versions.size() * 2);
      iterator->Seek(key, sequence);
      at = versions.LowerBound(key, sequence);
    } else if (random->OneIn(2)) {
      iterator->Next();
      at++;
    } else {
      iterator->Prev();
      at = at == 0 ? versions.size() : at - 1;
    }
    ASSERT_EQ(at < versions.size(), iterator->Valid());
    if (iterator->Valid()) ExpectVersion(versions[at], iterator->record());
    if (testing::Test::HasFatalFailure()) return;
  }
  ASSERT_OK(iterator->status());
}

}  // namespace miodb::test
