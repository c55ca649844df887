// The flush: a walk over the memtable in key order, by a thread for each share. The flush stores an index; records are
// read for their keys and, with the log on, never copied.

#include "compaction/merge/flush.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "compaction/filter/range_walk.h"
#include "compaction/merge/table_sink.h"
#include "src/format/expiry.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// Where the payload of a memtable's chunks lies in the pool.
class PayloadMap {
 public:
  struct Piece {
    const char* begin;
    const char* end;
    ExtentRef extent;
  };

  // Copies what is in DRAM into the pool. Records in the pool that writes without sync left may not be durable; the
  // fence at the end of the flush covers them. Chunks are cut to what is used, and the tails stay taken: until the edit
  // of this flush is durable, the manifest names the chunks at their full size.
  void Build(Pool* pool, const Segment& segment) {
    for (const auto& chunk : segment.chunks) {
      if (chunk->used == 0) continue;
      CHECK_LE(chunk->used, chunk->capacity);
      ExtentRef extent = chunk->extent;
      if (extent == nullptr) {
        extent = chunk->reserved;
        CHECK(extent != nullptr && chunk->used <= extent->size());
        pool->persist().Copy(Purpose::kFlush, extent->data(), chunk->base, chunk->used);
      } else if (!MIODB_MUTATED(kFlushedLogUnsynced)) {
        pool->persist().Cover(Purpose::kFlush, chunk->base, chunk->used);
      }
      extent->Trim(chunk->used);
      if (MIODB_MUTATED(kFlushFreesEarly)) extent->ReleaseTrimmed();
      extent->SetPayloadBytes(chunk->used);
      pieces_.push_back({chunk->base, chunk->base + chunk->used, std::move(extent)});
    }
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < pieces_.size(); i++) CHECK(pieces_[i - 1].end <= pieces_[i].begin);
  }

  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
};

// How much of that the entries of a share refer to. Memtables have few chunks, so the one that was found last is looked
// at first.
class PayloadUse {
 public:
  explicit PayloadUse(const PayloadMap& map) : pieces_(map.pieces()), live_bytes_(pieces_.size(), 0) {}

  // The word of an entry with this record.
  IndexWord WordOf(const char* p, ValueType type, uint64_t size) {
    CHECK_LT(last_, pieces_.size());
    if (p < pieces_[last_].begin || p >= pieces_[last_].end) {
      auto after = std::upper_bound(pieces_.begin(), pieces_.end(), p,
                                    [](const char* q, const PayloadMap::Piece& piece) { return q < piece.begin; });
      CHECK(after != pieces_.begin());
      last_ = static_cast<size_t>(after - pieces_.begin()) - 1;
      CHECK(p < pieces_[last_].end);
    }
    const PayloadMap::Piece& piece = pieces_[last_];
    CHECK_LE(size, static_cast<uint64_t>(piece.end - p));
    const IndexWord word(piece.extent->offset() + static_cast<PmRef>(p - piece.begin), type, size);
    DCHECK(piece.extent->Contains(word.ref()));
    live_bytes_[last_] += word.size();
    return word;
  }

  void Absorb(const PayloadUse& other) {
    CHECK_EQ(live_bytes_.size(), other.live_bytes_.size());
    for (size_t i = 0; i < live_bytes_.size(); i++) live_bytes_[i] += other.live_bytes_[i];
  }

  // The extents to which words refer.
  std::vector<MadePayload> Made() const {
    std::vector<MadePayload> made;
    for (size_t i = 0; i < pieces_.size(); i++) {
      CHECK(pieces_[i].extent != nullptr && live_bytes_[i] <= 2 * pieces_[i].extent->size());
      if (live_bytes_[i] > 0) made.push_back({pieces_[i].extent, live_bytes_[i]});
    }
    if (MIODB_MUTATED(kPayloadUnnamed)) made.pop_back();
    return made;
  }

 private:
  const std::vector<PayloadMap::Piece>& pieces_;
  std::vector<uint64_t> live_bytes_;  // of each
  size_t last_ = 0;
};

// When the entry expires.
ExpiryRange ExpiryOfEntry(const BLinkTree::Entry& from) {
  DCHECK(from.record != nullptr);
  if (TagType(from.tag) != kTypeExpiringValue) return ExpiryRange();
  RecordView record;
  const bool whole = ParseRecord(from.record, from.record + from.record_size, &record);
  return ExpiryAt(ExpiryOf(whole ? record.value : Slice()));
}

// Turns the entries of a memtable that are kept into entries of tables. A single deletion waits for the verdict on what
// comes behind it.
class EntryWriter {
 public:
  EntryWriter(const FlushRequest& request, PayloadUse* payload, TableSink* sink)
      : order_(request.order), payload_(payload), sink_(sink) {
    CHECK(payload_ != nullptr && sink_ != nullptr);
  }

  // The entry that waits is of the key before.
  void NewKey() { new_key_ = true; }

  Status Take(const BLinkTree::Entry& entry, VersionJudge::Verdict verdict) {
    using Verdict = VersionJudge::Verdict;
    DCHECK(verdict != Verdict::kHold || TagType(entry.tag) == kTypeSingleDeletion);
    if (verdict == Verdict::kDropBoth) {
      CHECK(held_ != nullptr);
      held_ = nullptr;
    }
    Status s = Finish();
    if (new_key_) key_written_ = new_key_ = false;
    if (s.ok() && verdict == Verdict::kKeep) s = Write(entry);
    if (verdict == Verdict::kHold) held_ = &entry;
    return s;
  }

  Status Finish() {
    if (held_ == nullptr) return Status::OK();
    const BLinkTree::Entry& held = *held_;
    held_ = nullptr;
    return Write(held);
  }

  uint64_t kept() const { return kept_; }

 private:
  Status Write(const BLinkTree::Entry& from) {
    DCHECK(held_ == nullptr);
    const Slice key = BLinkTree::KeyOf(&from);
    IndexEntry entry;
    entry.SetKey(key);
    entry.same_key_as_last = key_written_;
    entry.hash = order_.bytewise() ? KeyHash(key) : 0;
    Status s = sink_->MakeRoom(entry.same_key_as_last);
    if (!s.ok()) return s;
    entry.word = payload_->WordOf(from.record, TagType(from.tag), from.record_size);
    sink_->Add(entry, TagSequence(from.tag), ExpiryOfEntry(from));
    key_written_ = true;
    kept_++;
    return s;
  }

  const KeyOrder order_;
  PayloadUse* const payload_;
  TableSink* const sink_;
  const BLinkTree::Entry* held_ = nullptr;  // a single deletion
  bool new_key_ = false;                    // what is taken next begins a key
  bool key_written_ = false;                // a version of the present key is in the output
  uint64_t kept_ = 0;
};

// Whether the entry comes behind the one before it. The key of an entry lies in the log, in bytes of a medium. Versions
// of the same key come newest first.
bool InOrder(const KeyOrder& order, const BLinkTree::Entry& before, const BLinkTree::Entry& entry) {
  const int c = order.Compare(BLinkTree::KeyOf(&before), BLinkTree::KeyOf(&entry));
  return c < 0 || (c == 0 && TagSequence(before.tag) > TagSequence(entry.tag));
}

TableSink::Options SinkOptions(const FlushRequest& request, uint64_t most_entries) {
  TableSink::Options options{request.pool, request.order, Purpose::kFlush, request.filter_bits};
  options.max_entries = most_entries;
  options.min_sequence = request.memtable->min_sequence();
  options.max_sequence = request.memtable->max_sequence();
  options.ranges_applied = request.ranges != nullptr ? options.max_sequence : 0;
  options.logged = true;
  options.new_table_number = request.new_table_number;
  return options;
}

// The flush of the entries of a share, by one thread.
class ShareFlush {
 public:
  ShareFlush(const FlushRequest& request, const PayloadMap& payload, const BLinkTree::Share& share)
      : request_(request),
        share_(share),
        use_(payload),
        sink_(SinkOptions(request, share.most)),
        writer_(request, &use_, &sink_),
        judge_(request.filter, request.versions_once),
        ranges_(request.ranges) {
    CHECK_GT(share.most, 0u);
  }

  // Order is checked by the keys in the records, which are bytes of a medium in the pool: a record that was damaged
  // after it was written must not lead to a table that is not sorted. The next record is asked for ahead, because the
  // walk goes through them in key order and they lie in the order of writing.
  Status Run() {
    const BLinkTree::Entry* before = share_.before;
    const BLinkTree::Entry* from = before != nullptr ? before->Next() : request_.memtable->tree().First();
    for (;; before = from, from = from->Next()) {
      CHECK(from != nullptr);
      if (const BLinkTree::Entry* const next = from->Next(); next != nullptr) __builtin_prefetch(next->record);
      Status s = Take(before, *from);
      if (!s.ok()) return s;
      if (from == share_.last) break;
    }
    Status s = writer_.Finish();
    if (s.ok()) s = sink_.Finish(&tables_);
    CHECK(!s.ok() || EntriesOf(tables_) == writer_.kept());
    return s;
  }

  const std::vector<TableRef>& tables() const { return tables_; }
  const PayloadUse& use() const { return use_; }

 private:
  // An expired record is kept as it is, because a record that it hides may lie deeper.
  Status Take(const BLinkTree::Entry* before, const BLinkTree::Entry& entry) {
    const KeyOrder& order = request_.order;
    const uint64_t sequence = TagSequence(entry.tag);
    DCHECK(sequence >= request_.memtable->min_sequence() && sequence <= request_.memtable->max_sequence());
    if (before != nullptr && !InOrder(order, *before, entry)) {
      return Status::Corruption(request_.pool->path(),
                                "log record of write " + std::to_string(sequence) + " is out of order");
    }
    if (before == nullptr || !order.Equal(BLinkTree::KeyOf(&entry), BLinkTree::KeyOf(before))) {
      judge_.NewKey();
      writer_.NewKey();
    }
    if (const RangeFragment* const range = ranges_.Find(BLinkTree::KeyOf(&entry)); range != nullptr) [[unlikely]] {
      const RangeVerdict verdict = JudgeRange(*range, *request_.filter, sequence, sequence, 0);
      if (verdict == RangeVerdict::kGone) return Status::OK();
      if (verdict == RangeVerdict::kKept) sink_.LimitRangesApplied(range->OldestAbove(sequence) - 1);
    }
    Status s = writer_.Take(entry, judge_.Judge(TagType(entry.tag), sequence, false));
    return s.ok() && kChecksContracts && judge_.violated() ? PutTwice(request_.pool->path()) : s;
  }

  const FlushRequest& request_;
  const BLinkTree::Share share_;
  PayloadUse use_;
  TableSink sink_;
  EntryWriter writer_;
  VersionJudge judge_;
  RangeWalk ranges_;
  std::vector<TableRef> tables_;
};

}  // namespace

// The fence at the end covers the payload, and the tables of an only share, before the caller's edit names them.
Status FlushMemTable(const FlushRequest& request, std::vector<TableRef>* tables, std::vector<MadePayload>* payload) {
  CHECK(request.pool != nullptr && request.filter != nullptr);
  CHECK(payload != nullptr);
  tables->clear();
  payload->clear();
  const BLinkTree& tree = request.memtable->tree();
  PayloadMap places;
  places.Build(request.pool, request.memtable->segment());
  // The log of deletions of ranges alone may be kept by the edit.
  if (tree.count() == 0) return request.pool->persist().Fence(Purpose::kFlush);
  if (kChecksWhole) tree.Check();
  std::deque<ShareFlush> shares;
  for (const BLinkTree::Share& share :
       tree.ShareOut(request.sharing.CountFor(request.memtable->segment().used_bytes()))) {
    shares.emplace_back(request, places, share);
  }
  Status s = request.sharing.Run(shares.size(), &request.pool->persist(), Purpose::kFlush,
                                 [&](size_t i) { return shares[i].Run(); });
  if (!s.ok()) return s;
  PayloadUse use(places);
  for (const ShareFlush& share : shares) {
    tables->insert(tables->end(), share.tables().begin(), share.tables().end());
    use.Absorb(share.use());
  }
  CHECK_LE(EntriesOf(*tables), tree.count());
  *payload = use.Made();
  CHECK_EQ(payload->empty(), tables->empty());
  return request.pool->persist().Fence(Purpose::kFlush);
}

}  // namespace miodb
