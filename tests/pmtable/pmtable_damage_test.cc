// Index extents with damaged bytes: every flipped bit is found or does no harm, and nothing that the bytes say makes a
// reader leave the pool.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "pmtable/index_cursor.h"
#include "pmtable/pmtable.h"
#include "src/util/bytes/hash.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

using OrderFunction = const Comparator* (*)();

class PMTableDamage : public testing::TestWithParam<std::tuple<OrderFunction, bool>> {
 protected:
  // Records of 64 bytes one behind the other, so that a flipped bit of a reference may hit another record.
  void SetUp() override {
    const bool spanning = std::get<1>(GetParam());
    std::vector<TestVersion> versions;
    for (uint64_t i = 0; i < 150; i++) {
      const std::string key = "key" + std::to_string(1000000000000 + (spanning && i > 40 && i < 140 ? 7 : i) * 10);
      versions.push_back({key, i + 1, i % 10 == 9 ? kTypeDeletion : kTypeValue, std::string(34, static_cast<char>(i))});
      EXPECT_EQ(64u, RecordSize(key.size(), 34));
    }
    versions_ = std::make_unique<SortedVersions>(maker_.order(), versions);
    table_ = maker_.Make(*versions_);
    EXPECT_EQ(spanning, table_->has(kTableSpanning));
    TableHeader header;
    memcpy(&header, index(), sizeof(header));
    used_ = header.inner_offset + header.inner_count * sizeof(InnerNode);
    for (const TestVersion& v : versions_->all()) keys_.push_back(v.key);
  }

  char* index() const { return table_->index()->data(); }
  void Flip(uint64_t bit) const { index()[bit / 8] = static_cast<char>(index()[bit / 8] ^ (1 << bit % 8)); }

  // Gets and seeks at random. Gets that verify are right or report damage.
  void ProbeGets(const PMTable& table, int probes, Random* random) const {
    for (int i = 0; i < probes; i++) {
      const std::string key = NearKey(keys_, random);
      const uint64_t sequence = random->OneIn(2) ? kMaxSequence : random->Uniform(160);
      uint64_t position;
      bool found;
      RecordView record;
      table.Seek(key, sequence, Checksums::kTrust, &position).IgnoreError();
      table.Get(LookupKey(maker_.order(), key, sequence), &found, &record).IgnoreError();
      Status s = table.Seek(key, sequence, Checksums::kVerify, &position);
      // A caller that goes on to the entry there verifies its leaf, too.
      if (s.ok() && position < table.entries()) s = table.CheckLeaf(position / kNodeFanout, Checksums::kVerify);
      EXPECT_TRUE(!s.ok() || position == versions_->LowerBound(key, sequence)) << "a verified seek missed damage";
      s = table.Get(LookupKey(maker_.order(), key, sequence, Checksums::kVerify), &found, &record);
      if (!s.ok()) {
        EXPECT_STATUS(Corruption, s);
        continue;
      }
      const TestVersion* const expected = versions_->Find(key, sequence);
      ASSERT_EQ(expected != nullptr, found) << "a verified get missed damage";
      if (found) ExpectVersion(*expected, record);
    }
  }

  // Walks both ways. A verifying walk yields the true versions up to the damage.
  void ProbeWalks(const TableRef& table) const {
    const miodb::Run run{1, std::vector<TableRef>{table}};
    for (const Checksums checksums : {Checksums::kVerify, Checksums::kTrust}) {
      const auto it = NewRunIterator(&run, maker_.order(), checksums);
      size_t i = 0;
      for (it->SeekToFirst(); it->Valid(); it->Next(), i++) {
        if (checksums == Checksums::kVerify) ExpectVersion((*versions_)[i], it->record());
      }
      EXPECT_TRUE(i == versions_->size() || !it->status().ok());
      i = versions_->size();
      for (it->SeekToLast(); it->Valid(); it->Prev(), i--) {
        if (checksums == Checksums::kVerify) ExpectVersion((*versions_)[i - 1], it->record());
      }
    }
    bool failed = false;
    for (IndexCursor cursor({table}, &failed); cursor.Valid(); cursor.Next()) {
      RecordView record;
      cursor.ReadRecord(&record);
    }
  }

  TestPool pool_{uint64_t{1} << 20};
  TableMaker maker_{&pool_, std::get<0>(GetParam())()};
  std::unique_ptr<SortedVersions> versions_;
  std::vector<std::string> keys_;
  TableRef table_;
  uint64_t used_ = 0;
};

TEST_P(PMTableDamage, AVerifyingOpenFindsEveryFlippedBit) {
  TableRef opened;
  ASSERT_OK(maker_.Reopen(table_, Checksums::kVerify, &opened));
  for (uint64_t bit = 0; bit < used_ * 8; bit++) {
    opened.reset();
    Flip(bit);
    const Status s = maker_.Reopen(table_, Checksums::kVerify, &opened);
    Flip(bit);
    ASSERT_TRUE(s.IsCorruption() || s.IsNotSupportedError()) << "byte " << bit / 8 << " bit " << bit % 8;
    ASSERT_EQ(nullptr, opened);
  }
  for (uint64_t byte = used_; byte < table_->index()->size(); byte++) index()[byte] = 'x';
  EXPECT_OK(maker_.Reopen(table_, Checksums::kVerify, &opened));
}

TEST_P(PMTableDamage, AFlippedBitIsFoundByThePlainOpenOrByVerifyingReads) {
  Random random(1);
  uint64_t step = ByScale(RunsUnderSanitizer() ? 23 : 5, 3, 1);
  int opens = 0;
  for (uint64_t bit = 0; bit < used_ * 8; bit += 1 + random.Uniform(step)) {
    SCOPED_TRACE(testing::Message() << "byte " << bit / 8 << " bit " << bit % 8);
    Flip(bit);
    TableRef opened;
    const Status s = maker_.Reopen(table_, Checksums::kTrust, &opened);
    const bool in_leaf = bit / 8 >= sizeof(TableHeader) && bit / 8 < sizeof(TableHeader) + 3 * sizeof(LeafNode);
    EXPECT_TRUE(in_leaf || !s.ok()) << "header, inner nodes and meta are verified by every open";
    if (s.ok()) {
      opens++;
      if (random.OneIn(2)) opened->BuildFilter(10);
      ProbeGets(*opened, 20, &random);
      if (random.OneIn(10)) ProbeWalks(opened);
    }
    Flip(bit);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(opens, 0);
}

// A search through the versions of a key goes from leaf to leaf: the references at their ends decide where it stops.
TEST_P(PMTableDamage, AFlippedReferenceAtTheEndOfALeafIsFoundByEveryVerifyingGet) {
  for (uint64_t leaf = 0; leaf < 3; leaf++) {
    const uint64_t last = std::min<uint64_t>(versions_->size(), (leaf + 1) * kNodeFanout) - 1;
    const uint64_t word =
        sizeof(TableHeader) + leaf * sizeof(LeafNode) + offsetof(LeafNode, word) + last % kNodeFanout * 8;
    const std::string& key = (*versions_)[last].key;
    for (uint64_t bit = 6; bit < 20; bit++) {
      Flip(word * 8 + bit);
      for (uint64_t sequence = 1; sequence <= 151; sequence++) {
        bool found;
        RecordView record;
        const Status s = table_->Get(LookupKey(maker_.order(), key, sequence, Checksums::kVerify), &found, &record);
        const TestVersion* const expected = versions_->Find(key, sequence);
        if (!s.ok()) continue;
        ASSERT_EQ(expected != nullptr, found) << "leaf " << leaf << " bit " << bit << " sequence " << sequence;
        ASSERT_TRUE(!found || expected->sequence == record.sequence()) << "leaf " << leaf << " bit " << bit;
      }
      Flip(word * 8 + bit);
    }
  }
}

// The bytes behind may be another record's, and be written at the same time.
TEST_P(PMTableDamage, ARecordThatIsLongerThanItsWordSaysIsDamage) {
  const Extent& extent = *maker_.made()[0].extent;
  constexpr uint64_t kFromEnd = 64;
  char* const place = extent.data() + extent.size() - kFromEnd;
  const IndexWord word(extent.end() - kFromEnd, kTypeValue, kFromEnd);
  const Slice key("key");
  for (const bool beyond : {false, true}) {
    // A value whose bytes are already there, so that the checksum is right.
    const size_t head = RecordSize(key.size(), 0);
    const Slice value(place + head, beyond ? kFromEnd : kFromEnd - head);
    uint64_t hash;
    ASSERT_EQ(value.data(), EncodeRecordHead(place, 1, key, value, kTestSecret, &hash));
    for (const Checksums checksums : {Checksums::kTrust, Checksums::kVerify}) {
      RecordView record;
      const Status s = table_->ReadRecord(word, checksums, &record);
      EXPECT_EQ(beyond, s.IsCorruption()) << s.ToString();
    }
  }
  RecordView record;
  for (const PmRef ref : {pool_->file_bytes(), PmRef{0}, IndexWord::kMaxRef}) {
    EXPECT_STATUS(Corruption, table_->ReadRecord(word.WithRef(ref), Checksums::kTrust, &record));
  }
}

// Bytes that somebody made up, with all checksums right.
TEST_P(PMTableDamage, HostileBytesWithGoodChecksumsStayInsideOfThePool) {
  const std::string good(index(), used_);
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 300 : 2000, 10000, 1000000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    memcpy(index(), good.data(), good.size());
    TableHeader header;
    memcpy(&header, good.data(), sizeof(header));
    // Some bytes anywhere but in the header; or fields of the header.
    const bool in_header = random.OneIn(3);
    for (uint64_t n = 1 + random.Uniform(5); n > 0; n--) {
      if (in_header) {
        uint64_t value = random.OneIn(2) ? random.Skewed(63) : random.Next64();
        memcpy(reinterpret_cast<char*>(&header) + 12 + random.Uniform(96), &value, 1 + random.Uniform(8));
      } else {
        index()[sizeof(header) + random.Uniform(used_ - sizeof(header))] =
            static_cast<char>(random.OneIn(2) ? random.Uniform(65) : random.Next64());
      }
    }
    for (uint64_t leaf = 0; leaf < 3; leaf++) {
      const uint64_t offset = sizeof(header) + leaf * sizeof(LeafNode);
      const uint64_t checksum = Hash64(index() + offset + 8, sizeof(LeafNode) - 8, NodeSeed(kTestSecret, offset));
      memcpy(index() + offset, &checksum, 8);
    }
    header.number = table_->number();
    const uint64_t inner_offset = sizeof(header) + 3 * sizeof(LeafNode);
    header.inner_checksum = Hash64(index() + inner_offset, sizeof(InnerNode), TableSeed(kTestSecret, header.number));
    header.secret = kTestSecret;
    header.checksum = TableHeaderChecksum(header);
    memcpy(index(), &header, sizeof(header));
    TableRef opened;
    if (!PMTable::Open(pool_.get(), maker_.order(), table_->index(), table_->number(), ChecksumsIf(random.OneIn(2)),
                       &opened)
             .ok()) {
      continue;
    }
    opened->BuildFilter(10);
    for (int i = 0; i < 20; i++) {
      uint64_t position;
      bool found;
      RecordView record;
      const std::string key = NearKey(keys_, &random);
      opened->Seek(key, random.Uniform(200), ChecksumsIf(random.OneIn(2)), &position).IgnoreError();
      const LookupKey lookup(maker_.order(), key, random.Uniform(200), ChecksumsIf(random.OneIn(2)));
      opened->Get(lookup, &found, &record).IgnoreError();
    }
    const miodb::Run run{1, std::vector<TableRef>{opened}};
    const auto it = NewRunIterator(&run, maker_.order(), ChecksumsIf(random.OneIn(2)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) continue;
    bool failed = false;
    for (IndexCursor cursor({opened}, &failed); cursor.Valid(); cursor.Next()) continue;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PMTableDamage,
                         testing::Combine(testing::Values(OrderFunction(&BytewiseComparator),
                                                          OrderFunction(&ReverseComparator)),
                                          testing::Bool()),
                         [](const auto& name) {
                           return std::string(std::get<0>(name.param) == &ReverseComparator ? "Reverse" : "Bytewise") +
                                  (std::get<1>(name.param) ? "Spanning" : "");
                         });

}  // namespace
}  // namespace miodb::test
