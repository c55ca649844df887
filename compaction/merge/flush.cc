// The flush: one walk over the memtable in key order. The flush stores an index; records are read for their keys and,
// with the log on, never copied.

#include "compaction/merge/flush.h"

#include <algorithm>
#include <vector>

#include "compaction/filter/range_walk.h"
#include "compaction/merge/table_sink.h"
#include "src/format/expiry.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// Where the payload of a memtable's chunks lies in the pool. Memtables have few chunks, so the one that was found last
// is looked at first.
class PayloadMap {
 public:
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
      pieces_.push_back({chunk->base, chunk->base + chunk->used, std::move(extent), 0});
    }
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < pieces_.size(); i++) CHECK(pieces_[i - 1].end <= pieces_[i].begin);
  }

  // The word of an entry with this record.
  IndexWord WordOf(const char* p, ValueType type, uint64_t size) {
    CHECK_LT(last_, pieces_.size());
    if (p < pieces_[last_].begin || p >= pieces_[last_].end) {
      auto after = std::upper_bound(pieces_.begin(), pieces_.end(), p,
                                    [](const char* q, const Piece& piece) { return q < piece.begin; });
      CHECK(after != pieces_.begin());
      last_ = static_cast<size_t>(after - pieces_.begin()) - 1;
      CHECK(p < pieces_[last_].end);
    }
    CHECK_LE(size, static_cast<uint64_t>(pieces_[last_].end - p));
    Piece& piece = pieces_[last_];
    const IndexWord word(piece.extent->offset() + static_cast<PmRef>(p - piece.begin), type, size);
    DCHECK(piece.extent->Contains(word.ref()));
    piece.live_bytes += word.size();
    return word;
  }

  // The extents to which words refer.
  std::vector<MadePayload> Made() const {
    std::vector<MadePayload> made;
    for (const Piece& piece : pieces_) {
      CHECK(piece.extent != nullptr && piece.live_bytes <= 2 * piece.extent->size());
      if (piece.live_bytes > 0) made.push_back({piece.extent, piece.live_bytes});
    }
    if (MIODB_MUTATED(kPayloadUnnamed)) made.pop_back();
    return made;
  }

 private:
  struct Piece {
    const char* begin;
    const char* end;
    ExtentRef extent;
    uint64_t live_bytes;
  };
  std::vector<Piece> pieces_;
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
  EntryWriter(const FlushRequest& request, PayloadMap* payload, TableSink* sink)
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
  PayloadMap* const payload_;
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

}  // namespace

// Order is checked by the keys in the records, which are bytes of a medium in the pool: a record that was damaged after
// it was written must not lead to a table that is not sorted. The table's number of entries is compared with what was
// kept, and one fence at the end covers payload and index, before the caller's edit names them.
Status FlushMemTable(const FlushRequest& request, std::vector<TableRef>* tables, std::vector<MadePayload>* payload) {
  CHECK(request.pool != nullptr && request.filter != nullptr);
  CHECK(payload != nullptr);
  tables->clear();
  payload->clear();
  const BLinkTree& tree = request.memtable->tree();
  Pool* const pool = request.pool;
  const KeyOrder& order = request.order;
  PayloadMap places;
  places.Build(pool, request.memtable->segment());
  // The log of deletions of ranges alone may be kept by the edit.
  if (tree.count() == 0) return pool->persist().Fence(Purpose::kFlush);
  if (kChecksWhole) tree.Check();
  TableSink::Options options{pool, order, Purpose::kFlush, request.filter_bits};
  options.max_entries = tree.count();
  options.min_sequence = request.memtable->min_sequence();
  options.max_sequence = request.memtable->max_sequence();
  options.ranges_applied = request.ranges != nullptr ? options.max_sequence : 0;
  options.logged = true;
  options.new_table_number = request.new_table_number;
  TableSink sink(std::move(options));

  // The next record is asked for ahead, because the walk goes through them in key order and they lie in the order of
  // writing.
  EntryWriter writer(request, &places, &sink);
  VersionJudge judge(request.filter, request.versions_once);
  RangeWalk ranges(request.ranges);
  const BLinkTree::Entry* last = nullptr;
  for (const BLinkTree::Entry* from = tree.First(); from != nullptr; last = from, from = from->Next()) {
    if (const BLinkTree::Entry* const next = from->Next(); next != nullptr) __builtin_prefetch(next->record);
    DCHECK(TagSequence(from->tag) >= request.memtable->min_sequence());
    DCHECK(TagSequence(from->tag) <= request.memtable->max_sequence());
    if (last != nullptr && !InOrder(order, *last, *from)) {
      return Status::Corruption(pool->path(),
                                "log record of write " + std::to_string(TagSequence(from->tag)) + " is out of order");
    }
    if (last == nullptr || !order.Equal(BLinkTree::KeyOf(from), BLinkTree::KeyOf(last))) {
      judge.NewKey();
      writer.NewKey();
    }
    const uint64_t sequence = TagSequence(from->tag);
    if (const RangeFragment* const range = ranges.Find(BLinkTree::KeyOf(from)); range != nullptr) [[unlikely]] {
      const RangeVerdict verdict = JudgeRange(*range, *request.filter, sequence, sequence, 0);
      if (verdict == RangeVerdict::kGone) continue;
      if (verdict == RangeVerdict::kKept) sink.LimitRangesApplied(range->OldestAbove(sequence) - 1);
    }
    // An expired record is kept as it is, because a record that it hides may lie deeper.
    Status s = writer.Take(*from, judge.Judge(TagType(from->tag), sequence, false));
    if (s.ok() && kChecksContracts && judge.violated()) s = PutTwice(pool->path());
    if (!s.ok()) return s;
  }
  Status s = writer.Finish();
  if (!s.ok()) return s;
  const uint64_t kept = writer.kept();
  s = sink.Finish(tables);
  CHECK(!s.ok() || EntriesOf(*tables) == kept);
  CHECK_LE(kept, tree.count());
  if (!s.ok()) return s;
  *payload = places.Made();
  CHECK_EQ(payload->empty(), tables->empty());
  return pool->persist().Fence(Purpose::kFlush);
}

}  // namespace miodb
