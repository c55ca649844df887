// pmtable/ and src/inspect/: an index extent of any bytes opens or is refused; if it opens, every read ends with a
// record or Corruption. What the verifier calls undamaged reads without an error.

#include "miodb/comparator.h"
#include "pmtable/run.h"
#include "src/inspect/verify/verify_table.h"
#include "tests/common/test_secret.h"
#include "tests/fuzz/fuzz.h"
#include "tests/nvm/pool_files.h"

namespace miodb {
namespace {

constexpr uint64_t kNumber = 1;
constexpr uint64_t kIndexBytes = 3 * kExtentUnit;

// One pool for all executions: an extent of records and one for the index.
struct World {
  World() {
    payload = pool.Allocate(kExtentUnit);
    index = pool.Allocate(kIndexBytes, ExtentKind::kIndex);
    char* p = payload->data();
    for (int i = 0; i < 80; i++) {
      uint64_t hash;
      const std::string key = "key" + std::to_string(100 + i), value = "v" + std::to_string(i);
      p = EncodeRecordHead(p, PackTag(static_cast<uint64_t>(i) + 1, kTypeValue), key, value, test::kTestSecret, &hash);
      memcpy(p, value.data(), value.size());
      p += value.size();
    }
    payload->SetPayloadBytes(static_cast<uint64_t>(p - payload->data()));
  }

  test::TestPool pool;
  ExtentRef payload;
  ExtentRef index;
};

template <typename Node>
void SealNode(char* at, uint64_t seed) {
  Node node;
  memcpy(&node, at, sizeof(node));
  node.header.checksum = Hash64(reinterpret_cast<const char*>(&node) + 8, sizeof(node) - 8, seed);
  memcpy(at, &node, sizeof(node));
}

// Makes the header right as far as the number of entries goes, and then all checksums.
void Seal(char* base, uint8_t how) {
  TableHeader h;
  memcpy(&h, base, sizeof(h));
  h.magic = kTableMagic;
  if ((how & 1) != 0) {
    h.version = kTableFormatVersion;
    h.number = kNumber;
    h.flags |= kTableBytewise;
  }
  if ((how & 2) != 0) {
    h.entries = 1 + h.entries % 256;
    h.leaf_count = (h.entries + kNodeFanout - 1) / kNodeFanout;
    h.inner_offset = sizeof(TableHeader) + h.leaf_count * sizeof(LeafNode);
    h.inner_count = h.leaf_count > 1 ? 1 : 0;
  }
  if ((how & 4) != 0 && h.leaf_count <= 4 && h.inner_count <= 1 && h.inner_offset <= kIndexBytes / 2) {
    for (uint64_t i = 0; i < h.leaf_count; i++) {
      const uint64_t offset = sizeof(TableHeader) + i * sizeof(LeafNode);
      SealNode<LeafNode>(base + offset, NodeSeed(test::kTestSecret, offset));
    }
    if (h.inner_count == 1) {
      SealNode<InnerNode>(base + h.inner_offset, NodeSeed(test::kTestSecret, h.inner_offset));
    }
    const uint64_t seed = TableSeed(test::kTestSecret, h.number);
    h.inner_checksum = Hash64(base + h.inner_offset, h.inner_count * sizeof(InnerNode), seed);
  }
  h.secret = test::kTestSecret;
  h.checksum = TableHeaderChecksum(h);
  memcpy(base, &h, sizeof(h));
}

void CheckRead(const Status& s) { FUZZ_CHECK(s.ok() || s.IsCorruption()); }

// True if no read failed.
bool ReadAll(const KeyOrder& order, TableRef table, Checksums checksums) {
  bool good = true;
  const auto check = [&](const Status& s) {
    CheckRead(s);
    good = good && s.ok();
  };
  bool found;
  RecordView record;
  for (const char* key : {"", "key100", "key140", "key179", "key17", "zzz"}) {
    check(table->Get(LookupKey(order, key, kMaxSequence, checksums), &found, &record));
    if (found) FUZZ_CHECK(record.key == Slice(key));
    uint64_t position;
    const Status s = table->Seek(key, 50, checksums, &position);
    check(s);
    if (s.ok()) FUZZ_CHECK(position <= table->entries());
  }
  if (!table->has_filter()) table->BuildFilter(10);
  check(table->Get(LookupKey(order, "key120", kMaxSequence, checksums), &found, &record));
  Run run;
  run.tables.push_back(table);
  const auto it = NewRunIterator(&run, order, checksums);
  uint64_t entries = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) entries++;
  check(it->status());
  FUZZ_CHECK(entries == table->entries() || !it->status().ok());
  const auto back = NewRunIterator(&run, order, checksums);
  for (back->SeekToLast(); back->Valid(); back->Prev()) entries--;
  check(back->status());
  return good;
}

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  static World world;
  const uint8_t how = fuzz::TakeByte(&data, &size);
  char* const base = world.index->data();
  memset(base, 0, kIndexBytes);
  memcpy(base, data, std::min<size_t>(size, kIndexBytes));
  if ((how & 8) == 0) Seal(base, how);
  const KeyOrder order(BytewiseComparator());
  bool good = false;
  TableRef table;
  for (const Checksums checksums : {Checksums::kTrust, Checksums::kVerify}) {
    const Status s = PMTable::Open(world.pool.get(), order, world.index, kNumber, checksums, &table);
    FUZZ_CHECK(s.ok() || s.IsCorruption() || s.IsNotSupportedError());
    if (s.ok()) good = ReadAll(order, table, checksums);
    if (!s.ok()) good = false;
  }
  const auto image = PoolImage::Wrap("pool", world.pool->At(0), world.pool->file_bytes());
  const TableImage dead(image.get(), order, world.index->offset(), kIndexBytes, kNumber);
  if (!dead.header_problem().empty()) {
    FUZZ_CHECK(!good);
    return 0;
  }
  uint64_t problems = 0;
  const Extent& payload = *world.payload;
  const std::map<PmRef, PayloadPlace> places = {
      {payload.offset(), {payload.offset(), payload.size(), payload.kind(), payload.payload_bytes(), 1}}};
  LiveCount count(places);
  const TableCheck check = VerifyTable(
      *image, dead, order, true, [&](const Problem&) { problems++; }, &count);
  if (problems == 0) FUZZ_CHECK(check.complete && good && count.complete());
  return 0;
}
