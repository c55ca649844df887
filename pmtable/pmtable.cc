#include "pmtable/pmtable.h"

#include <cstring>

#include "pmtable/table_header.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

// Verification: the header and the inner levels have checksums that an open compares; a leaf and a record have theirs
// compared only in reads that verify, and in merges. Everything that becomes a size, a count or a reference is checked
// in any case (IsSaneNode, RegionSet::EndOf, ParseRecord). So damage may give a wrong answer to a read that did not ask
// for verification, and never leads outside of the pool.

namespace miodb {

namespace {

// Damage names the table and its place.
Status Corrupt(const PMTable& table, const std::string& what) {
  return Status::Corruption(table.pool()->path(), "table " + std::to_string(table.number()) + " at offset " +
                                                      std::to_string(table.index()->offset()) + ": " + what);
}

}  // namespace

PMTable::PMTable(Pool* pool, KeyOrder order, ExtentRef index) : pool_(pool), order_(order), index_(std::move(index)) {
  CHECK(index_ != nullptr);
  CHECK_EQ(index_->kind(), ExtentKind::kIndex);
  CHECK_EQ(index_->offset() % alignof(LeafNode), 0u);
}

std::vector<uint64_t> InnerLevelSizes(uint64_t leaf_count) {
  static_assert(kNodeFanout > 1);  // so that each level is smaller than the one below
  std::vector<uint64_t> sizes;
  for (uint64_t n = leaf_count; n > 1;) {
    n = (n + kNodeFanout - 1) / kNodeFanout;
    sizes.push_back(n);
  }
  return sizes;
}

// The index extent goes with its last reference.
PMTable::~PMTable() { delete filter_.load(std::memory_order_acquire); }  // acquire: pairs with SetFilter

// For recovery and after an open only: a table that was just built is made by PMTableBuilder::Finish from what is in
// DRAM.
Status PMTable::Open(Pool* pool, KeyOrder order, ExtentRef index, uint64_t number, Checksums checksums,
                     std::shared_ptr<const PMTable>* table) {
  std::shared_ptr<PMTable> t(new PMTable(pool, order, std::move(index)));
  Status s = t->Load(number, checksums);
  if (s.ok()) *table = std::move(t);
  return s;
}

// Each number of the header is checked against the others and the extent before it is used, in an order in which no
// sum or product can overflow: leaf_count is compared with the extent's size before anything is read by it. A table
// with good checksums and impossible numbers is damage too, or somebody's work.
Status PMTable::Load(uint64_t number, Checksums checksums) {
  const char* const base = index_->data();
  const uint64_t size = index_->size();
  CHECK(leaves_ == nullptr);
  header_.number = number;  // for messages
  TableHeader header;
  static_assert(kExtentUnit >= sizeof(header));  // so every extent has one
  if (!ReadTableHeader(base, pool_->secret(), &header)) return Corrupt(*this, "header checksum mismatch");
  if (header.version != kTableFormatVersion) {
    return Status::NotSupported(pool_->path(), "table format version " + std::to_string(header.version));
  }
  const std::string problem = TableHeaderProblem(header, size, number, order_.bytewise());
  if (!problem.empty()) return Corrupt(*this, problem);
  header_ = header;
  oldest_sequence_ = header.min_sequence;
  leaves_ = reinterpret_cast<const LeafNode*>(base + sizeof(TableHeader));

  Status s = LoadInner(checksums);
  if (s.ok()) s = LoadKeyRange(checksums);
  return s;
}

// The two keys bound the table in runs and clusters. They come from records, since the index may know only their
// beginnings; so an open reads two records of each table, and no other payload.
Status PMTable::LoadKeyRange(Checksums checksums) {
  CHECK_GT(header_.entries, 0u);
  RecordView record;
  Status s = RecordAt(0, checksums, &record);
  if (!s.ok()) return s;
  smallest_ = record.key.ToString();
  s = RecordAt(header_.entries - 1, checksums, &record);
  if (!s.ok()) return s;
  largest_ = record.key.ToString();
  return order_.Compare(smallest_, largest_) <= 0 ? s : Corrupt(*this, "first key after last key");
}

// Copies the levels above 0 into DRAM, where the search of a get stays until it reaches one leaf. The inner levels
// share a checksum, as all are read here; each leaf has a checksum of its own. Every node is checked for what a search
// needs, so FindLeaf checks nothing.
Status PMTable::LoadInner(Checksums checksums) {
  CHECK(inner_.empty() && level_start_.empty());
  const char* const inner = index_->data() + header_.inner_offset;
  const uint64_t inner_bytes = header_.inner_count * sizeof(InnerNode);
  const uint64_t seed = TableSeed(pool_->secret(), header_.number);
  if (Hash64(inner, inner_bytes, seed) != header_.inner_checksum && !MIODB_MUTATED(kTableInnerUnchecked))
    return Corrupt(*this, "inner levels damaged");
  inner_.resize(header_.inner_count);
  if (inner_bytes > 0) memcpy(inner_.data(), inner, inner_bytes);
  uint64_t start = 0;
  uint64_t below = header_.leaf_count;
  int level = 1;
  for (uint64_t nodes : InnerLevelSizes(header_.leaf_count)) {
    level_start_.push_back(start);
    for (uint64_t i = 0; i < nodes; i++) {
      const uint64_t children = std::min<uint64_t>(kNodeFanout, below - i * kNodeFanout);
      if (!IsSaneNode(inner_[start + i].header, children, level)) return Corrupt(*this, "inner node damaged");
    }
    start += nodes;
    below = nodes;
    level++;
  }
  CHECK_EQ(start, inner_.size());
  if (checksums == Checksums::kTrust) return Status::OK();
  for (uint64_t i = 0; i < header_.leaf_count; i++) {
    Status s = CheckLeaf(i, Checksums::kVerify);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// A leaf has as many entries as its place says, so a count that the node says and the header does not is damage.
// Reads that do not verify ask no more of a leaf than IsSaneNode, so such reads may be wrong after damage, but touch
// nothing outside of the pool. ChargeRead lets the model of slower memory take its time for the bytes that are about to
// be read.
Status PMTable::CheckLeaf(uint64_t leaf, Checksums checksums) const {
  const LeafNode& node = Leaf(leaf);
  pool_->ChargeRead(&node, sizeof(node));
  if (!IsSaneNode(node.header, static_cast<uint64_t>(LeafEntries(leaf)), 0) ||
      (checksums == Checksums::kVerify && !MIODB_MUTATED(kTableLeafUnchecked) &&
       node.header.checksum !=
           NodeChecksum(node, NodeSeed(pool_->secret(), sizeof(TableHeader) + leaf * sizeof(LeafNode))))) {
    return Corrupt(*this, "leaf " + std::to_string(leaf) + " damaged");
  }
  return Status::OK();
}

// The record has to lie within the pool and the size that the index knows: end bounds the parse, so a damaged length
// leads nowhere.
Status PMTable::ReadRecord(PmRef ref, uint64_t most_bytes, Checksums checksums, RecordView* record) const {
  PmRef end = pool_->regions().EndOf(ref);
  DCHECK(end == 0 || ref < end);
  if (end != 0 && end - ref > most_bytes) end = ref + most_bytes;
  const uint64_t header = std::min<uint64_t>(kMaxRecordHeader, end - ref);  // or less: a record may be shorter
  if (end == 0 || !ParseRecord(pool_->At(ref), StoredEnd(pool_->At(ref), header, pool_->At(end)), record) ||
      StoredEnd(record->begin, record->size(), nullptr) != nullptr) {
    return Corrupt(*this, "bad record at offset " + std::to_string(ref));
  }
  pool_->ChargeRead(record->begin, record->size());
  if (checksums == Checksums::kVerify && !record->Verify(pool_->secret()))
    return Corrupt(*this, "record checksum mismatch at offset " + std::to_string(ref));
  return Status::OK();
}

// Reads hashes from the leaves and no key. Every leaf is verified; if one is damaged there is no filter at all, and
// gets do without. Called by flush and merge threads after an open, which take each table from a list once, or by
// Finish for a table that was not yet published: of one table never by two at once.
void PMTable::BuildFilter(int bits_per_key) const {
  if (bits_per_key <= 0 || !order_.bytewise() || has_filter()) return;
  CHECK_GT(header_.entries, 0u);
  auto filter = std::make_unique<BloomFilter>(header_.entries, bits_per_key);
  for (uint64_t leaf = 0; leaf < header_.leaf_count; leaf++) {
    if (!CheckLeaf(leaf, Checksums::kVerify).ok()) return;  // a wrong hash would hide a key; reads will find the damage
    const LeafNode& node = Leaf(leaf);
    for (int i = 0, n = LeafEntries(leaf); i < n; i++) filter->Add(node.Hash(i));
  }
  SetFilter(std::move(filter));
}

void PMTable::SetFilter(std::unique_ptr<BloomFilter> filter) const {
  CHECK(!has_filter());
  CHECK(filter != nullptr && order_.bytewise());
  filter_.store(filter.release(), std::memory_order_release);  // release: see filter_
}

// An estimate for the properties: without the two keys.
uint64_t PMTable::memory_bytes() const {
  const BloomFilter* const filter = filter_.load(std::memory_order_acquire);  // acquire: see filter_
  return inner_.size() * sizeof(InnerNode) + (filter != nullptr ? filter->memory_bytes() : 0);
}

}  // namespace miodb
