#include "pmtable/table_builder.h"

#include <algorithm>
#include <cstring>

#include "pmtable/index_cursor.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

// A table is built from entries in key order, step by step:
//
//   1 Start takes an extent that is large enough for everything that may come, or as much as there is in one piece.
//   2 Add gathers 64 entries; EmitLeaf writes them as a leaf at its final place, and keeps the leaf's first key.
//   3 Finish writes the last leaf, the inner levels, the meta block and the header, and gives the rest of the extent
//     back.
//   4 The caller fences, and then names the table in an edit.
//
// After a crash: up to the edit an extent that nobody names, which is free space. No reader ever sees a table
// that is being built, so the order of the stores does not matter and one fence does for all of them.
//
// DRAM: the entries of one leaf, the first key of each leaf that was written, and the filter.

namespace miodb {

namespace {

static_assert(sizeof(TableHeader) % 64 == 0 && sizeof(LeafNode) % 64 == 0 && sizeof(InnerNode) % 64 == 0);

// The bytes that an index of so many entries takes at most, whatever the keys are: nodes have a fixed size, so nothing
// depends on keys but the heads inside. Start sizes the extent by it, and the reserve of the pool is an estimate of
// the same.
uint64_t IndexBytes(uint64_t entries) {
  CHECK_GT(entries, 0u);
  const uint64_t leaves = (entries + kNodeFanout - 1) / kNodeFanout;
  uint64_t bytes = sizeof(TableHeader) + leaves * sizeof(LeafNode);
  for (uint64_t nodes : InnerLevelSizes(leaves)) bytes += nodes * sizeof(InnerNode);
  return bytes;
}

// The longest prefix that a node over these keys can store: common to the first and the last, and such that the 8
// bytes after it are known for every key. Entry is IndexEntry or FirstKey.
template <typename Entry>
size_t CommonPrefix(const Entry* entries, size_t count) {
  CHECK_GT(count, 0u);
  size_t limit = kMaxNodePrefix;
  for (size_t i = 0; i < count; i++) {
    const size_t known = entries[i].known_size;
    limit = std::min(limit, entries[i].complete ? known : known - kHeadSize);
  }
  size_t n = 0;
  while (n < limit && entries[0].known[n] == entries[count - 1].known[n]) n++;
  return n;
}

// The bytes of every key behind the prefix, if that is one number and no more than a head: then the heads have the
// whole keys, equal heads are equal keys, and a search of the node needs no record.
template <typename Entry>
uint8_t SuffixSize(const Entry* entries, size_t count, size_t prefix) {
  const size_t size = entries[0].known_size;
  CHECK_LE(prefix, size);
  if (size - prefix > kHeadSize) return kSuffixUnknown;
  for (size_t i = 0; i < count; i++) {
    if (!entries[i].complete || entries[i].known_size != size) return kSuffixUnknown;
  }
  return static_cast<uint8_t>(size - prefix);
}

// Fills in header and heads of a node; everything else of it is there, unused parts zero.
template <typename Entry, typename Node>
void FillNode(const KeyOrder& order, const Entry* entries, size_t count, int level, Node* node) {
  CHECK_LE(count, size_t{kNodeFanout});
  CHECK(level >= 0 && level <= UINT8_MAX);
  NodeHeader& header = node->header;
  header.count = static_cast<uint8_t>(count);
  header.level = static_cast<uint8_t>(level);
  header.suffix_size = kSuffixUnknown;
  if (!order.bytewise()) return;
  const size_t prefix = CommonPrefix(entries, count);
  header.prefix_size = static_cast<uint8_t>(prefix);
  header.suffix_size = SuffixSize(entries, count, prefix);
  memcpy(header.prefix, entries[0].known, prefix);
  for (size_t i = 0; i < count; i++) {
    node->head[i] = KeyHead(Slice(entries[i].known, kMaxKnownBytes), prefix);
    CHECK(i == 0 || node->head[i - 1] <= node->head[i]);
  }
}

void NoteExpiry(uint64_t expiring, const ExpiryRange& expiry, TableHeader* header) {
  CHECK_EQ(expiring > 0, expiry.any());
  if (expiring == 0) return;
  CHECK_GT(expiry.first, 0u);
  header->flags |= kTableExpiring;
  header->expiring = expiring;
  header->first_expiry = expiry.first;
  header->last_expiry = expiry.last;
}

}  // namespace

// Takes no space yet: Start does, once the caller knows how much.
PMTableBuilder::PMTableBuilder(Pool* pool, KeyOrder order, Purpose purpose, uint64_t number, int filter_bits)
    : pool_(pool), order_(order), purpose_(purpose), number_(number), filter_bits_(filter_bits) {
  CHECK(pool_ != nullptr && filter_bits_ >= 0);
  pending_.reserve(kNodeFanout);
}

// Without Finish the extent goes back to the pool with the last reference to it: nobody has named it.
PMTableBuilder::~PMTableBuilder() = default;

// Takes as much as there is in one piece, down to the room for one entry: where free space is scattered, the caller
// makes several tables. The table takes no more space than this, so a build never fails in its middle for want of
// space; Finish gives back the part that is not needed. Leave() is empty, because the index is what the reserve is kept
// for.
Status PMTableBuilder::Start(uint64_t max_entries, uint64_t may_come, int level) {
  CHECK(index_ == nullptr && entries_ == 0);
  CHECK(max_entries > 0 && max_entries <= may_come);
  const uint64_t want = IndexBytes(max_entries);
  const uint64_t least = IndexBytes(1);
  Status s = pool_->AllocateAtMost(want, least, 0, ExtentKind::kIndex, &index_, level);
  if (!s.ok()) return s;
  capacity_ = max_entries;
  while (capacity_ > 1 && IndexBytes(capacity_) > index_->size()) {
    capacity_ -= std::max<uint64_t>(1, capacity_ / 64);
  }
  CHECK(capacity_ > 0 && IndexBytes(capacity_) <= index_->size());
  shortened_ = capacity_ < may_come;
  if (filter_bits_ > 0 && order_.bytewise()) filter_ = std::make_unique<BloomFilter>(capacity_, filter_bits_);
  return s;
}

// Whether the entry may follow the one added last, as far as their known bytes say.
bool PMTableBuilder::ComesNext(const IndexEntry& entry) const {
  int c;
  if (entries_ == 0 || !order_.bytewise() || !KnownOrder(last_, entry, &c)) return true;
  return entry.same_key_as_last ? c == 0 : c < 0;
}

// Notes on the way what readers want to know of the table: whether a key has several versions, whether these lie in
// two leaves (then a get by fingerprint would miss some), and how many records lie behind the record before them,
// which says whether a lazy copy has something to put in order.
void PMTableBuilder::Add(const IndexEntry& entry) {
  CHECK(HasRoom());
  CHECK(entry.Sound());
  CHECK(ComesNext(entry));
  if (entry.word.ref() > last_.word.ref()) ascending_++;
  if (entry.same_key_as_last && entries_ > 0) {
    flags_ |= kTableDuplicates;
    if (pending_.empty()) flags_ |= kTableSpanning;
    if (last_.word.type() != kTypeMerge && entry.word.type() != kTypeSingleDeletion) chains_only_ = false;
  }
  if (entry.word.has_kind()) flags_ |= kTableKinds;
  last_ = entry;
  live_bytes_ += entry.word.size();
  if (entry.word.tombstone()) tombstones_++;
  if (entry.word.type() == kTypeExpiringValue) expiring_++;
  if (filter_ != nullptr) filter_->Add(entry.hash);
  entries_++;
  pending_.push_back(entry);
  if (pending_.size() == kNodeFanout) EmitLeaf();
}

// Writes a leaf at its final place: leaves stream out while the merge goes on, and only the first key of each stays in
// DRAM for the levels above. Each node has a checksum of its own, so that a reader can verify the one leaf that it is
// in and a repair can keep the leaves that are whole. The store is not fenced here: nothing refers to the leaf before
// the edit, and the caller fences once for the whole table.
void PMTableBuilder::EmitLeaf() {
  CHECK(!pending_.empty() && pending_.size() <= kNodeFanout);
  LeafNode node = {};
  FillNode(order_, pending_.data(), pending_.size(), 0, &node);
  for (size_t i = 0; i < pending_.size(); i++) {
    node.word[i] = pending_[i].word.bits();
    node.SetHash(static_cast<int>(i), pending_[i].hash);
  }
  const uint64_t offset = sizeof(TableHeader) + leaf_count_ * sizeof(LeafNode);
  CHECK_LE(offset + sizeof(node), index_->size());
  node.header.checksum = NodeChecksum(node, NodeSeed(pool_->secret(), offset));
  pool_->persist().Copy(purpose_, index_->data() + offset, &node, sizeof(node));
  const IndexEntry& first = pending_.front();
  FirstKey& key = first_keys_.emplace_back();
  memcpy(key.known, first.known, sizeof(key.known));
  key.known_size = first.known_size;
  key.complete = first.complete;
  key.ref = first.word.ref();
  leaf_count_++;
  pending_.clear();
}

// Builds the levels bottom-up from the first keys, so every node but the last of a level is full and children need no
// pointers. The nodes lie behind the leaves in this order, and their seeds are their places there.
void PMTableBuilder::BuildInner(std::vector<InnerNode>* inner) {
  const uint64_t inner_offset = sizeof(TableHeader) + leaf_count_ * sizeof(LeafNode);
  CHECK_EQ(first_keys_.size(), leaf_count_);
  std::vector<FirstKey> below = std::move(first_keys_);
  for (int level = 1; below.size() > 1; level++) {
    std::vector<FirstKey> here;
    for (size_t i = 0; i < below.size(); i += kNodeFanout) {
      const size_t count = std::min<size_t>(kNodeFanout, below.size() - i);
      InnerNode node = {};
      FillNode(order_, &below[i], count, level, &node);
      for (size_t j = 0; j < count; j++) node.ref[j] = below[i + j].ref;
      const uint64_t offset = inner_offset + inner->size() * sizeof(InnerNode);
      node.header.checksum = NodeChecksum(node, NodeSeed(pool_->secret(), offset));
      inner->push_back(node);
      here.push_back(below[i]);
    }
    CHECK_LT(here.size(), below.size());
    below = std::move(here);
  }
  CHECK_EQ(below.size(), 1u);
  CHECK_LE(inner_offset + inner->size() * sizeof(InnerNode), index_->size());
}

namespace {

void SetSequences(const PMTableBuilder::Summary& summary, TableHeader* header) {
  CHECK(summary.min_sequence <= summary.max_sequence && summary.max_sequence <= kMaxSequence);
  CHECK_LE(summary.ranges_applied, kMaxSequence);
  header->min_sequence = summary.min_sequence;
  header->max_sequence = summary.max_sequence;
  header->ranges_applied = summary.ranges_applied;
}

}  // namespace

// The header is stored last, but that is no publication: up to the caller's fence any part of the table may be
// missing, and the manifest names it only afterwards. The PMTable that comes back is opened from what is in DRAM,
// without a look at the medium but for the first and the last key.
Status PMTableBuilder::Finish(const Summary& summary, std::shared_ptr<const PMTable>* table) {
  CHECK(entries_ > 0 && expiring_ + tombstones_ <= entries_ && ascending_ <= entries_);
  CHECK((flags_ & kTableSpanning) == 0 || (flags_ & kTableDuplicates) != 0);
  if (!pending_.empty()) EmitLeaf();
  CHECK_EQ(leaf_count_, (entries_ + kNodeFanout - 1) / kNodeFanout);
  std::shared_ptr<PMTable> t(new PMTable(pool_, order_, index_));
  t->header_.number = number_;  // for messages
  BuildInner(&t->inner_);
  uint64_t start = 0;
  for (uint64_t nodes : InnerLevelSizes(leaf_count_)) {
    t->level_start_.push_back(start);
    start += nodes;
  }
  CHECK_EQ(start, t->inner_.size());
  TableHeader& h = t->header_;
  h.magic = kTableMagic;
  h.flags = flags_ | (summary.apart ? kTableApart : 0u) | (summary.logged ? kTableLogged : 0u);
  if (order_.bytewise()) h.flags |= kTableBytewise;
  // A sixteenth out of order is borne: scans read ahead, and copying everything to mend it would cost more.
  if (ascending_ >= entries_ - entries_ / 16) h.flags |= kTableOrdered;
  if ((flags_ & kTableDuplicates) != 0 && chains_only_) h.flags |= kTableChains;
  NoteExpiry(expiring_, summary.expiry, &h);
  h.version = kTableFormatVersion;
  h.entries = entries_;
  h.tombstones = tombstones_;
  h.leaf_count = leaf_count_;
  h.inner_offset = sizeof(TableHeader) + leaf_count_ * sizeof(LeafNode);
  h.inner_count = t->inner_.size();
  h.payload_bytes = live_bytes_;
  const uint64_t seed = TableSeed(pool_->secret(), number_);
  h.inner_checksum = Hash64(t->inner_.data(), h.inner_count * sizeof(InnerNode), seed);
  SetSequences(summary, &h);
  t->oldest_sequence_ = std::max(summary.oldest_sequence, summary.min_sequence);
  h.secret = pool_->secret();
  h.checksum = TableHeaderChecksum(h);
  CHECK_GT(live_bytes_, 0u);
  const uint64_t size = h.inner_offset + h.inner_count * sizeof(InnerNode);
  CHECK_LE(size, index_->size());

  Persist& persist = pool_->persist();
  char* const base = index_->data();
  persist.Copy(purpose_, base + h.inner_offset, t->inner_.data(), h.inner_count * sizeof(InnerNode));
  persist.Copy(purpose_, base, &h, sizeof(h));
  index_->Shrink(size);
  CHECK_GE(index_->size(), size);
  t->leaves_ = reinterpret_cast<const LeafNode*>(base + sizeof(TableHeader));
  t->marked.store(summary.marked, std::memory_order_relaxed);  // relaxed: policy only
  Status s = t->LoadKeyRange(Checksums::kTrust);
  if (!s.ok()) return s;
  if (filter_ != nullptr && entries_ >= capacity_ - capacity_ / 4) {
    t->SetFilter(std::move(filter_));
  } else if (filter_ != nullptr) {
    t->BuildFilter(filter_bits_);  // sized for many entries more than came
  }
  *table = std::move(t);
  return s;
}

}  // namespace miodb
