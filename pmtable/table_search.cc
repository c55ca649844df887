#include "pmtable/table_search.h"

#include <algorithm>
#include <cstddef>

#include "pmtable/node_search.h"
#include "src/util/bytes/prefetch.h"
#include "src/util/check/check.h"
#include "src/util/clock/perf_clock.h"

// A get in a table, step by step:
//
//   1 The filter, in DRAM: "no" ends the get.
//   2 The inner levels, in DRAM: one node of each, down to the one leaf that can have the key. Where heads do not
//     decide, records are read.
//   3 The line of fingerprints of that leaf.
//   4 For each fingerprint that is the key's: the entry's word, then the record, whose key decides.
//
// Each step may miss the caches, and needs what the one before has found. PMTable::Get takes them at once. A
// PMTable::Search takes one at a time and asks for the memory of the next before it returns, so that whoever turns to
// another search meanwhile waits for many misses together. (AMAC: Kocberber, Falsafi, Grot, "Asynchronous Memory
// Access Chaining", VLDB 2015.) The steps are the same functions, so the two cannot disagree.
//
// A seek takes 1 not at all and 3 by heads instead of fingerprints, because it looks for a place and not for a key.

namespace miodb {
namespace {

// The entries of the leaf that have the key's fingerprint, as bits: entry 0 is the lowest. A single cache line has all
// of them. In about every fourth leaf a foreign fingerprint is the same by chance, and then a record is read for
// nothing.
inline uint64_t Matches(const PMTable& table, const LookupKey& key, uint64_t leaf) {
  const LeafNode& node = table.Leaf(leaf);
  const int count = table.LeafEntries(leaf);
  DCHECK(count > 0 && count <= kNodeFanout);
  table.pool()->ChargeRead(&node.fingerprint, sizeof(node.fingerprint));
  const uint64_t matches = EqualBytes(node.fingerprint, static_cast<uint8_t>(key.hash >> 24));
  return count < kNodeFanout ? matches & ((uint64_t{1} << count) - 1) : matches;
}

// The word of the first of the matches.
inline IndexWord FirstMatch(const PMTable& table, uint64_t leaf, uint64_t matches) {
  DCHECK(matches != 0 && __builtin_ctzll(matches) < table.LeafEntries(leaf));
  const uint64_t& bits = table.Leaf(leaf).word[__builtin_ctzll(matches)];
  table.pool()->ChargeRead(&bits, sizeof(bits));
  return IndexWord(bits);
}

// Bytes of the word's record to prefetch; the word has the record's length.
inline size_t PrefetchedBytes(IndexWord word) { return std::min<uint64_t>(word.size(), kMostPrefetchedBytes); }

// Finds, of the entries from *position on, the first that is no version of the key above the sequence. Versions that
// are too new come first and are mostly few, so the steps begin small, grow with what was passed, and are halved in the
// end. kVerify: check leaves, but for the one that is named as checked.
Status PassNewer(const PMTable& table, const Slice& key, uint64_t sequence, Checksums checksums, uint64_t checked,
                 uint64_t* position) {
  const uint64_t first = *position;
  DCHECK(first <= table.entries() && sequence < table.max_sequence());
  uint64_t low = first, high = table.entries();  // those before low are too new; the one at high is not
  for (bool grows = true; low < high;) {
    const uint64_t probe = low + (grows ? std::min((low - first) / 2, high - low - 1) : (high - low) / 2);
    RecordView record;
    Status s;
    if (checksums == Checksums::kVerify && probe / kNodeFanout != checked)
      s = table.CheckLeaf(checked = probe / kNodeFanout, checksums);
    if (s.ok()) s = table.RecordAt(probe, checksums, &record);
    if (!s.ok()) return s;
    if (record.sequence() > sequence && table.order().Equal(record.key, key)) {
      low = probe + 1;
    } else {
      high = probe;
      grows = false;
    }
  }
  *position = low;
  return Status::OK();
}

}  // namespace

// A binary search that reads a record at each step. The search is needed where heads are equal and keys go on behind
// them, or where heads mean nothing; node search has narrowed [low, high) to such entries before.
template <typename RefOf>
Status PMTable::SearchRecords(const Slice& target, Bound bound, Checksums checksums, int low, int high, RefOf ref_of,
                              int* result) const {
  DCHECK(low >= 0 && low <= high && high <= kNodeFanout);
  while (low < high) {
    const int middle = low + (high - low) / 2;
    RecordView record;
    Status s = ReadRecord(ref_of(middle), UINT64_MAX, checksums, &record);
    if (!s.ok()) return s;
    const int c = order_.Compare(record.key, target);
    if (c < 0 || (bound == Bound::kUpper && c == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *result = low;
  return Status::OK();
}

// Goes from a node of the level to the one below that has the last first key before the target (kUpper: not after
// it), or to the first one below. Level 0 here is the lowest of the inner levels, so a node below it is a leaf.
// Inlined in any case: a get and a seek would pay for two calls.
[[gnu::always_inline]] inline Status PMTable::Descend(const Slice& key, Bound bound, Checksums checksums, size_t level,
                                                      uint64_t* node) const {
  DCHECK_LT(level_start_[level] + *node, inner_.size());
  const InnerNode& inner = inner_[level_start_[level] + *node];
  HeadRange range{0, inner.header.count};
  if (order_.bytewise()) {
    range = FindHeads(inner.header, inner.head, key);
    if (bound == Bound::kUpper && range.low == range.high) {
      // FindHeads stops before an equal whole key; look whether there is one.
      const int i = range.low;
      if (i < inner.header.count && inner.header.suffix_size != kSuffixUnknown &&
          key.size() == size_t{inner.header.prefix_size} + inner.header.suffix_size &&
          inner.head[i] == KeyHead(key, inner.header.prefix_size) && ComparePrefix(key, inner.header) == 0) {
        range.low = range.high = i + 1;
      }
    }
  }
  int position = range.low;
  if (range.low < range.high) {
    Status s = SearchRecords(
        key, bound, checksums, range.low, range.high, [&](int i) { return inner.ref[i]; }, &position);
    if (!s.ok()) return s;
  }
  DCHECK(position >= 0 && position <= inner.header.count);
  *node = *node * kNodeFanout + static_cast<uint64_t>(position > 0 ? position - 1 : 0);
  return Status::OK();
}

// The last leaf whose first key is before the target (kUpper: not after it), or the first leaf. Entries before the
// target can then only be in that leaf or earlier ones.
Status PMTable::FindLeaf(const Slice& key, Bound bound, Checksums checksums, uint64_t* leaf) const {
  uint64_t node = 0;
  for (size_t level = level_start_.size(); level-- > 0;) {
    Status s = Descend(key, bound, checksums, level, &node);
    if (!s.ok()) return s;
  }
  DCHECK_LT(node, header_.leaf_count);
  *leaf = node;
  return Status::OK();
}

// The first entry of the leaf whose key is not before the target, or the number of its entries.
Status PMTable::LeafLowerBound(uint64_t leaf, const Slice& key, Checksums checksums, int* position) const {
  Status s = CheckLeaf(leaf, checksums);
  if (!s.ok()) return s;
  const LeafNode& node = Leaf(leaf);
  HeadRange range{0, node.header.count};
  if (order_.bytewise()) range = FindHeads(node.header, node.head, key);
  DCHECK(range.low >= 0 && range.high <= kNodeFanout);
  *position = range.low;
  if (range.low == range.high) return s;
  return SearchRecords(
      key, Bound::kLower, checksums, range.low, range.high, [&](int i) { return IndexWord(node.word[i]).ref(); },
      position);
}

// FindLeaf looks for the last leaf that begins before the key, not at it: versions of the key may begin in the leaf
// before the one whose first key it is. Where the whole table is older than the sequence, no version is too new.
Status PMTable::Seek(const Slice& key, uint64_t sequence, Checksums checksums, uint64_t* position) const {
  uint64_t leaf;
  int in_leaf;
  Status s = FindLeaf(key, Bound::kLower, checksums, &leaf);
  if (!s.ok()) return s;
  // The search reads about half of the lines of heads, each where the last one led it; asked for all at once, they come
  // together.
  PrefetchLines(Leaf(leaf).head, sizeof(Leaf(leaf).head));
  s = LeafLowerBound(leaf, key, checksums, &in_leaf);
  if (!s.ok()) return s;
  DCHECK(in_leaf >= 0 && in_leaf <= LeafEntries(leaf));
  *position = leaf * kNodeFanout + static_cast<uint64_t>(in_leaf);
  DCHECK_LE(*position, header_.entries);
  return sequence < header_.max_sequence ? PassNewer(*this, key, sequence, checksums, leaf, position) : s;
}

// Whether the record of the word is what is looked for. Entries of one key lie newest first, so the first that matches
// and is not too new is the answer.
inline Status PMTable::ReadMatch(const LookupKey& key, IndexWord word, bool* found, RecordView* record) const {
  DCHECK(by_fingerprint());
  Status s = ReadRecord(word, key.checksums, record);
  *found = s.ok() && record->key == key.key && record->sequence() <= key.sequence;
  return s;
}

// Two ways out touch no persistent memory: the whole table is newer than the sequence, or the filter says no. Inlined
// in any case: a get would pay for the call.
[[gnu::always_inline]] inline bool MayHaveKey(const PMTable& table, const BloomFilter* filter, const LookupKey& key,
                                              PerfClock* clock) {
  DCHECK_LE(key.sequence, kMaxSequence);
  DCHECK_EQ(key.hash, table.order().bytewise() ? KeyHash(key.key) : 0);
  if (key.sequence < table.min_sequence()) return false;
  if (table.order().bytewise()) {
    const bool may_contain = filter == nullptr || filter->MayContain(key.hash);
    clock->Lap(&PerfContext::get_filter);
    clock->Count(&PerfContext::filters_asked);
    if (!may_contain) return false;
  }
  clock->Count(&PerfContext::tables_searched);
  return true;
}

bool PMTable::MayHave(const LookupKey& key, PerfClock* clock) const {
  return MayHaveKey(*this, filter_.load(std::memory_order_acquire), key, clock);  // acquire: see filter_
}

// For tables in which fingerprints do not lead to the key.
Status PMTable::GetBySeek(const LookupKey& key, bool* found, RecordView* record) const {
  DCHECK(!by_fingerprint());
  uint64_t position;
  Status s = Seek(key.key, key.sequence, key.checksums, &position);
  if (!s.ok() || position == header_.entries) return s;
  if (key.checksums == Checksums::kVerify) s = CheckLeaf(position / kNodeFanout, key.checksums);
  if (s.ok()) s = RecordAt(position, key.checksums, record);
  *found = s.ok() && order_.Equal(record->key, key.key);
  return s;
}

// The get behind the filter. Inlined in any case: a get would pay for the call.
[[gnu::always_inline]] inline Status PMTable::Find(const LookupKey& key, PerfClock* clock, bool* found,
                                                   RecordView* record) const {
  DCHECK(!*found);
  Status s;
  if (by_fingerprint()) {
    uint64_t leaf = 0;
    s = FindLeaf(key.key, Bound::kUpper, key.checksums, &leaf);
    if (s.ok() && key.checksums == Checksums::kVerify) s = CheckLeaf(leaf, key.checksums);
    clock->Lap(&PerfContext::get_index);
    if (!s.ok()) return s;
    // The get will read a line of these words, but the fingerprints tell too late which line. So all of them are
    // prefetched together with the fingerprints.
    PrefetchLines(Leaf(leaf).word, sizeof(Leaf(leaf).word));
    for (uint64_t matches = Matches(*this, key, leaf); s.ok() && !*found && matches != 0; matches &= matches - 1) {
      const IndexWord word = FirstMatch(*this, leaf, matches);
      PrefetchLines(pool_->At(word.ref()), PrefetchedBytes(word));
      s = ReadMatch(key, word, found, record);
    }
  } else {
    s = GetBySeek(key, found, record);
  }
  clock->Lap(&PerfContext::get_record);
  return s;
}

Status PMTable::Get(const LookupKey& key, bool* found, RecordView* record) const {
  *found = false;
  PerfClock clock;
  if (!MayHaveKey(*this, filter_.load(std::memory_order_acquire), key, &clock))
    return Status();  // acquire: see filter_
  return Find(key, &clock, found, record);
}

Status PMTable::GetPastFilter(const LookupKey& key, PerfClock* clock, bool* found, RecordView* record) const {
  *found = false;
  return Find(key, clock, found, record);
}

void PMTable::Search::Start(const PMTable& table) {
  DCHECK_GT(table.entries(), 0u);
  table_ = &table;
  stage_ = Stage::kFilter;
}

// Asks for the lowest inner node on the way, or for the leaf if there is no such node.
void PMTable::Search::AskForNode(PrefetchList* wanted) {
  if (table_->level_start_.empty()) return AskForLeaf(wanted);
  DCHECK_LT(table_->level_start_[0] + node_, table_->inner_.size());
  stage_ = Stage::kInner;
  wanted->Add(&table_->inner_[table_->level_start_[0] + node_], offsetof(InnerNode, ref));
}

void PMTable::Search::AskForLeaf(PrefetchList* wanted) {
  DCHECK_LT(node_, table_->header_.leaf_count);
  stage_ = Stage::kLeaf;
  wanted->Add(&table_->Leaf(node_).fingerprint, 1);
}

bool PMTable::Search::AskForWord(PrefetchList* wanted) {
  DCHECK(stage_ == Stage::kLeaf || stage_ == Stage::kRecord);
  if (matches_ == 0) return true;
  wanted->Add(&table_->Leaf(node_).word[__builtin_ctzll(matches_)], 1);
  stage_ = Stage::kWord;
  return false;
}

bool PMTable::Search::Step(const LookupKey& key, PrefetchList* wanted, Status* s, bool* found, RecordView* record) {
  DCHECK(table_ != nullptr && s->ok());
  PerfClock clock;
  switch (stage_) {
    case Stage::kFilter:
      *found = false;
      // acquire: see filter_
      if (!MayHaveKey(*table_, table_->filter_.load(std::memory_order_acquire), key, &clock)) return true;
      if (!table_->by_fingerprint()) {
        *s = table_->GetBySeek(key, found, record);
        clock.Lap(&PerfContext::get_record);
        return true;
      }
      node_ = 0;
      // The levels above the lowest have so few nodes that caches keep them.
      for (size_t level = table_->level_start_.size(); level > 1 && s->ok(); level--) {
        *s = table_->Descend(key.key, Bound::kUpper, key.checksums, level - 1, &node_);
      }
      clock.Lap(&PerfContext::get_index);
      if (s->ok()) AskForNode(wanted);
      return !s->ok();
    case Stage::kInner:
      *s = table_->Descend(key.key, Bound::kUpper, key.checksums, 0, &node_);
      if (s->ok()) AskForLeaf(wanted);
      clock.Lap(&PerfContext::get_index);
      return !s->ok();
    case Stage::kLeaf:
      if (key.checksums == Checksums::kVerify) *s = table_->CheckLeaf(node_, key.checksums);
      clock.Lap(&PerfContext::get_index);
      if (!s->ok()) return true;
      matches_ = Matches(*table_, key, node_);
      clock.Lap(&PerfContext::get_record);
      return AskForWord(wanted);
    case Stage::kWord:
      word_ = FirstMatch(*table_, node_, matches_);
      wanted->Add(table_->pool_->At(word_.ref()), PrefetchedBytes(word_));
      clock.Lap(&PerfContext::get_record);
      stage_ = Stage::kRecord;
      return false;
    case Stage::kRecord:
      *s = table_->ReadMatch(key, word_, found, record);
      clock.Lap(&PerfContext::get_record);
      matches_ &= matches_ - 1;
      return !s->ok() || *found || AskForWord(wanted);
  }
  return true;
}

}  // namespace miodb
