// A merge of runs, cluster by cluster. A cluster is merged by a heap of cursors over the indexes; records are touched
// only where heads and prefixes do not decide, where a snapshot needs sequences, and where the policy wants a copy.

#include "compaction/merge/merge.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <memory>

#include "compaction/filter/range_walk.h"
#include "compaction/filter/range_work.h"
#include "compaction/merge/clusters.h"
#include "compaction/merge/drop_account.h"
#include "compaction/merge/merge_output.h"
#include "compaction/merge/record_copier.h"
#include "compaction/merge/table_sink.h"
#include "compaction/merge/whole_tables.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

// Whether some table refers to marked extents. relaxed: policy only.
bool HasMarked(const std::vector<TablePiece>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const TablePiece& piece) { return piece.table->marked.load(std::memory_order_relaxed); });
}

// Marks that are set while a cluster is merged are left to the next merge. A rest stays where its table was, for which
// nobody has asked for copies.
bool MayCopy(const MergeRequest& request, const Cluster& cluster) {
  if (cluster.place == Cluster::Place::kRest) return false;
  if (!request.may_copy || request.settle_limit > 0) return request.may_copy;
  return std::any_of(cluster.inputs.begin(), cluster.inputs.end(), HasMarked);
}

Status OutOfOrder(const MergeRequest& request, uint64_t table) {
  return Status::Corruption(request.pool->path(), "table " + std::to_string(table) + " is out of order");
}

// Whether tables lie side by side. Their keys were read from the pool, so the answer may be no.
bool LieApart(const KeyOrder& order, const std::vector<TableRef>& tables) {
  return std::adjacent_find(tables.begin(), tables.end(), [&](const TableRef& a, const TableRef& b) {
           return order.Compare(a->largest(), b->smallest()) >= 0;
         }) == tables.end();
}

// Whether tables lie side by side in the range of their cluster.
bool LieInside(const KeyOrder& order, const Cluster& cluster, const std::vector<TableRef>& tables) {
  return tables.empty() ||
         (LieApart(order, tables) && order.Compare(cluster.smallest, tables.front()->smallest()) <= 0 &&
          order.Compare(tables.back()->largest(), cluster.largest) <= 0);
}

// The space that is taken for an output table before its entries are known.
enum class TableSpace : uint8_t { kAverage, kAllEntries };

// The merge of one cluster into tables that lie side by side in its range. If it is given up, or fails, what it took is
// free again with its objects, and the inputs are as they were.
class ClusterMerge {
 public:
  ClusterMerge(const MergeRequest& request, const Cluster& cluster, TableSpace space, DropAccount* account,
               RecordCopier* copier, MergeResult* result)
      : request_(request),
        cluster_(cluster),
        account_(account),
        result_(result),
        may_copy_(MayCopy(request, cluster)),
        judge_(request.filter, request.versions_once),
        ranges_(request.ranges) {
    TableSink::Options options{request.pool, request.order, request.purpose, request.filter_bits, request.place_level};
    options.payload_limit = request.payload_limit;
    options.min_sequence = kMaxSequence;
    options.max_sequence = 0;
    options.ranges_applied = request.ranges != nullptr ? request.ranges_applied : 0;
    options.new_table_number = request.new_table_number;
    // Copies no longer have to leave the space that indexes have taken.
    options.index_taken = [copier](int64_t bytes) { copier->CountIndex(bytes); };
    CHECK(!cluster.inputs.empty());
    const uint64_t payload_bytes = cluster.payload_bytes();
    for (const std::vector<TablePiece>& pieces : cluster.inputs) {
      for (const TablePiece& piece : pieces) {
        const PMTable* const table = piece.table.get();
        // The mark stays while the database has snapshots, the same ones or not.
        options.apart = options.apart || (table->has(kTableApart) && request.filter->has_snapshots());
        options.max_entries += piece.entries();
        options.min_sequence = std::min(options.min_sequence, table->min_sequence());
        options.max_sequence = std::max(options.max_sequence, table->max_sequence());
        // Where records are copied, each that stays in its place is looked at.
        options.logged = options.logged || (table->has(kTableLogged) && !may_copy_);
      }
      options.marked = options.marked || (!may_copy_ && HasMarked(pieces));
      cursors_.push_back(std::make_unique<IndexCursor>(pieces, &failed_));
    }
    // The bounds of sequences are those of all inputs. A table of the output may have narrower ones; nobody reads all
    // of its records to find out.
    entries_ = options.max_entries;
    CHECK(entries_ >= cluster.piece_count && options.min_sequence <= options.max_sequence);
    CHECK(!may_copy_ || request.copy_extents.bytes > 0);
    // With payload_limit a table is cut long before it has all entries, so space for all of them would be given back,
    // and nobody else could have it meanwhile.
    if (space == TableSpace::kAverage && request.payload_limit < payload_bytes) {
      // A quarter more than an average table of this payload has.
      options.entries_per_table = options.max_entries / (payload_bytes / request.payload_limit) / 4 * 5 + kNodeFanout;
    }
    sink_ = std::make_unique<TableSink>(std::move(options));
    output_ = std::make_unique<MergeOutput>(request, may_copy_, cluster.bottom, account, copier, sink_.get(), result);
  }

  bool overflowed() const { return sink_->overflowed(); }

  // The counts are compared in the end: every entry of the inputs was read once, and is in the output or dropped.
  Status Run() {
    const uint64_t read = result_->entries_read, dropped = result_->entries_dropped;
    BuildHeap();
    while (!heap_.empty() && !failed_) {
      IndexCursor* const cursor = cursors_[heap_.front()].get();
      Status s = Take(cursor);
      if (!s.ok()) return s;
      cursor->Next();
      SiftDown();
      if (++result_->entries_read % kStopInterval == 0 && request_.stop != nullptr && request_.stop()) {
        result_->given_up = true;
        return Status::IOError("merge given up", "told to stop");
      }
    }
    // Damage of any input ends the merge: without that input old versions, or deleted keys, would come back.
    for (const auto& cursor : cursors_) {
      if (!cursor->status().ok()) return cursor->status();
    }
    for (const auto& cursor : cursors_) result_->record_bytes_read += cursor->record_bytes_read();
    CHECK(!failed_);
    CHECK_EQ(result_->entries_read - read, entries_);
    std::vector<TableRef> tables;
    Status s = output_->NewKey();
    if (s.ok()) s = sink_->Finish(&tables);
    if (!s.ok()) return s;
    CHECK_EQ(EntriesOf(tables), entries_ - (result_->entries_dropped - dropped));
    if (!LieInside(request_.order, cluster_, tables)) return OutOfOrder(request_, tables.front()->number());
    if (cluster_.place == Cluster::Place::kOutput) {
      result_->added.insert(result_->added.end(), tables.begin(), tables.end());
    } else {
      for (TableRef& table : tables)
        result_->rests.push_back({std::move(table), cluster_.inputs[0][0].table->number()});
    }
    return s;
  }

 private:
  // The heap holds indexes of cursors; on top the smallest key, of equal keys the newest input (lowest index).
  bool Less(size_t a, size_t b) {
    DCHECK(a != b && a < cursors_.size() && b < cursors_.size());
    const int c = IndexCursor::CompareKeys(cursors_[a].get(), cursors_[b].get());
    return c != 0 ? c < 0 : a < b;
  }

  void BuildHeap() {
    CHECK(heap_.empty());
    for (size_t i = 0; i < cursors_.size(); i++) {
      if (cursors_[i]->Valid()) heap_.push_back(i);
    }
    for (size_t i = heap_.size() / 2; i-- > 0;) SiftDownFrom(i);
  }

  // After the cursor on top has moved, or has come to its end.
  void SiftDown() {
    CHECK(!heap_.empty());
    if (!cursors_[heap_.front()]->Valid()) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    SiftDownFrom(0);
  }

  void SiftDownFrom(size_t i) {
    DCHECK(heap_.empty() || i < heap_.size());
    for (;;) {
      size_t child = 2 * i + 1;
      if (child >= heap_.size()) return;
      if (child + 1 < heap_.size() && Less(heap_[child + 1], heap_[child])) child++;
      if (!Less(heap_[child], heap_[i])) return;
      std::swap(heap_[child], heap_[i]);
      i = child;
    }
  }

  // The sequence is in the record alone: a miss of the cache for each, which is why merges without snapshots never ask.
  Status SequenceOf(const PMTable& table, const IndexEntry& entry, uint64_t* sequence) {
    RecordView record;
    Status s = Read(table, entry, &record);
    *sequence = record.sequence();
    return s;
  }

  // When the entry expires, as closely as it is needed: where its table's bounds do not say whether it has, and only
  // there, the record is read.
  Status LookAtExpiry(const IndexCursor& cursor, ExpiryRange* expiry, uint64_t* sequence) {
    DCHECK(cursor.entry().word.type() == kTypeExpiringValue);
    *expiry = cursor.table().expiry();
    if (!expiry->any()) {
      return Status::Corruption(request_.pool->path(), "table " + std::to_string(cursor.table().number()) +
                                                           " has a value that expires, which its header does not say");
    }
    if (!expiry->MayHaveExpired(request_.now_micros) || expiry->HasExpired(request_.now_micros)) return Status::OK();
    RecordView record;
    Status s = Read(cursor.table(), cursor.entry(), &record);
    if (!s.ok()) return s;
    *expiry = ExpiryAt(ExpiryOf(record.value));
    *sequence = record.sequence();
    return s;
  }

  Status Read(const PMTable& table, const IndexEntry& entry, RecordView* record) {
    Status s = ReadRecordOf(table, entry, record);
    result_->record_bytes_read += s.ok() ? record->size() : 0;
    return s;
  }

  // Whether the cursor's entry has the key of the entry taken before it. Corruption if it comes before that one.
  Status SameKey(IndexCursor* cursor, bool* same) {
    *same = false;
    if (!any_) return Status::OK();
    DCHECK(last_table_ != nullptr);
    int c;
    if (!request_.order.bytewise() || !KnownOrder(last_, cursor->entry(), &c)) {
      RecordView a, b;
      Status s = Read(*last_table_, last_, &a);
      if (s.ok()) s = Read(cursor->table(), cursor->entry(), &b);
      if (!s.ok()) return s;
      c = request_.order.Compare(a.key, b.key);
    }
    *same = c == 0;
    return c <= 0 ? Status::OK() : OutOfOrder(request_, cursor->table().number());
  }

  // A dropped entry counts as the entry before, too, because it hides the next version of its key all the same.
  void Passed(const IndexCursor& cursor) {
    DCHECK(cursor.Valid());
    last_ = cursor.entry();
    last_table_ = &cursor.table();
    any_ = true;
  }

  // Whether a deletion of a range hides the entry from every read. Nearly always the bounds of its table's sequences
  // tell: a table that is newer than a deletion was made when that was known.
  Status IsGone(const IndexCursor& cursor, bool* gone) {
    const PMTable& table = cursor.table();
    const RangeFragment* range;
    Status s = ranges_.Find(table, cursor.entry(), &range, &result_->range_reads);
    if (!s.ok() || range == nullptr) return s;
    const VersionFilter& filter = *request_.filter;
    DCHECK(ranges_.any() && !*gone);
    RangeVerdict verdict =
        JudgeRange(*range, filter, table.min_sequence(), table.max_sequence(), table.ranges_applied());
    if (verdict == RangeVerdict::kUnknown) {
      uint64_t sequence;
      s = SequenceOf(table, cursor.entry(), &sequence);
      if (!s.ok()) return s;
      result_->range_reads++;
      verdict = JudgeRange(*range, filter, sequence, sequence, table.ranges_applied());
      if (verdict == RangeVerdict::kKept) sink_->LimitRangesApplied(range->OldestAbove(sequence) - 1);
    } else if (verdict == RangeVerdict::kKept) {
      sink_->LimitRangesApplied(range->OldestAbove(table.max_sequence()) - 1);
    }
    *gone = verdict == RangeVerdict::kGone;
    return s;
  }

  // Decides about the entry on top and hands it on. Sequences are in the records, so they are read only where a
  // snapshot makes them matter: without one the versions of a key are judged by their order and their kinds.
  Status Take(IndexCursor* cursor) {
    CHECK(cursor->Valid());
    bool same_key;
    Status s = SameKey(cursor, &same_key);
    if (s.ok() && !same_key) s = output_->NewKey();
    if (!s.ok()) return s;
    if (!same_key) judge_.NewKey();
    const IndexWord word = cursor->entry().word;
    bool gone = false;
    if (ranges_.any()) s = IsGone(*cursor, &gone);
    if (!s.ok()) return s;
    uint64_t newer = 0, sequence = 0;
    if (gone) {
      result_->entries_dropped++;
      result_->range_dropped++;
      Passed(*cursor);
      return account_->Drop(cursor->table(), word);
    }
    ExpiryRange expiry;
    if (word.type() == kTypeExpiringValue) s = LookAtExpiry(*cursor, &expiry, &sequence);
    if (!s.ok()) return s;
    const bool expired = expiry.HasExpired(request_.now_micros);
    if (request_.filter->has_snapshots() && (same_key || word.tombstone() || expired)) {
      if (sequence == 0) s = SequenceOf(cursor->table(), cursor->entry(), &sequence);
      if (s.ok() && judge_.WantsNewer()) s = SequenceOf(*judged_table_, judged_, &newer);
      if (!s.ok()) return s;
      if (newer > 0) judge_.NewerIs(newer);
    }
    if (!judge_.MayFollow(sequence)) return OutOfOrder(request_, cursor->table().number());
    const VersionJudge::Verdict verdict = judge_.Judge(
        word.type(), sequence, cluster_.bottom, expired ? VersionJudge::Life::kExpired : VersionJudge::Life::kGoesOn);
    Passed(*cursor);
    judged_table_ = last_table_;
    judged_ = last_;
    if (kChecksContracts && judge_.violated()) return PutTwice(request_.pool->path());
    return output_->Take({last_, last_table_, expiry}, verdict, judge_.apart());
  }

  const MergeRequest& request_;
  const Cluster& cluster_;
  DropAccount* const account_;
  MergeResult* const result_;
  const bool may_copy_;
  uint64_t entries_ = 0;  // of the inputs
  std::vector<std::unique_ptr<IndexCursor>> cursors_;
  bool failed_ = false;  // a cursor met damage: the heap's order means nothing any more
  std::vector<size_t> heap_;
  std::unique_ptr<TableSink> sink_;
  std::unique_ptr<MergeOutput> output_;
  VersionJudge judge_;
  RangeWalk ranges_;
  IndexEntry last_ = {};                   // the entry taken last, kept or not
  const PMTable* last_table_ = nullptr;    // whose entry it was
  const PMTable* judged_table_ = nullptr;  // the same of the entry judged last
  IndexEntry judged_ = {};
  bool any_ = false;
};

// The merge of the clusters of a share, by one thread.
class ShareMerge {
 public:
  ShareMerge(const MergeRequest& request, Share share, const PayloadExtents& payload,
             std::atomic<uint64_t>* index_taken)
      : request_(request), share_(std::move(share)), account_(payload), copier_(request, index_taken) {
    CHECK(!share_.empty());
  }

  Status Run() {
    const Status s = NoThrow("share of a merge", [this] {
      Status merged;
      for (size_t i = 0; merged.ok() && i < share_.size(); i++) merged = Merge(share_[i]);
      return merged;
    });
    if (!result_.given_up) error_ = s;
    return s;
  }

  // Why the share failed, if nobody told it to stop.
  const Status& error() const { return error_; }

  // Hands over what the share has made.
  void Finish(MergeResult* result, DropAccount* account) {
    const auto move = [](auto* from, auto* to) { std::move(from->begin(), from->end(), std::back_inserter(*to)); };
    move(&result_.added, &result->added);
    move(&result_.rests, &result->rests);
    std::vector<MadePayload> made = copier_.Take();
    move(&made, &result->payload.made);
    account->Absorb(&account_);
    Count(result);
  }

  // Adds what it counted, which is known of a share that failed too.
  void Count(MergeResult* result) const {
    result->entries_read += result_.entries_read;
    result->entries_dropped += result_.entries_dropped;
    result->range_dropped += result_.range_dropped;
    result->range_reads += result_.range_reads;
    result->record_bytes_read += result_.record_bytes_read;
    result->bytes_copied += copier_.bytes_copied();
    result->copies_refused = result->copies_refused || copier_.full();
    result->given_up = result->given_up || result_.given_up;
    result->shares.push_back(result_.entries_read);
  }

 private:
  // A cluster is tried twice: first with space for tables of average size, which is nearly always enough and leaves the
  // rest of the pool to others, then, if a key with many versions did not fit, with space for all entries.
  Status Merge(const Cluster& cluster) {
    Status s;
    for (const TableSpace space : {TableSpace::kAverage, TableSpace::kAllEntries}) {
      const uint64_t read = result_.entries_read, dropped = result_.entries_dropped;
      const uint64_t range_dropped = result_.range_dropped;
      ClusterMerge merge(request_, cluster, space, &account_, &copier_, &result_);
      s = merge.Run();
      if (s.ok() || !merge.overflowed()) break;
      copier_.Rollback();
      account_.Rollback();
      result_.entries_read = read;
      result_.entries_dropped = dropped;
      result_.range_dropped = range_dropped;
    }
    if (!s.ok()) return s;
    copier_.Commit();
    account_.Commit();
    return s;
  }

  const MergeRequest& request_;
  const Share share_;
  DropAccount account_;
  RecordCopier copier_;
  MergeResult result_;
  Status error_;
};

}  // namespace

// Clusters that move or go as a whole are the caller's; those to be merged are shared out.
Status MergeRuns(const MergeRequest& request, MergeResult* result) {
  CHECK(request.pool != nullptr && request.filter != nullptr && request.payload != nullptr);
  CHECK(!request.inputs.empty());
  CHECK_GT(request.payload_limit, 0u);
  CHECK(result->moved.empty() && result->removed.empty() && result->added.empty());
  CHECK(result->payload.empty());
  uint64_t entries = 0;
  for (const std::vector<TableRef>& tables : request.inputs) entries += EntriesOf(tables);
  const PayloadExtents extents(*request.payload, entries);
  DropAccount account(extents);
  std::vector<Cluster> clusters, merged;
  Status s = FindClusters(request, &clusters);
  if (!s.ok()) return s;
  size_t inputs = 0;  // tables with a part in the merge
  for (Cluster& cluster : clusters) {
    if (cluster.place == Cluster::Place::kOutput) inputs += cluster.piece_count;
    if (cluster.only_table() != nullptr && IsGone(request, **cluster.only_table())) {
      const TableRef& table = *cluster.only_table();
      s = account.DropAll(*table);
      if (!s.ok()) return s;
      account.Commit();
      result->removed.push_back(table);
      result->entries_dropped += table->entries();
      result->entries_read += table->entries();
    } else if (cluster.only_table() != nullptr && !NeedsRewrite(request, **cluster.only_table())) {
      result->moved.push_back(*cluster.only_table());
    } else {
      merged.push_back(std::move(cluster));
      Cluster& last = merged.back();
      last.bottom = last.place == Cluster::Place::kOutput && !HasOlder(request, last.smallest, last.largest);
    }
  }
  std::vector<TableRef> tables;  // of the merged ones
  for (const Cluster& cluster : merged) {
    if (cluster.place == Cluster::Place::kRest) continue;
    for (const std::vector<TablePiece>& pieces : cluster.inputs) {
      for (const TablePiece& piece : pieces) tables.push_back(piece.table);
    }
  }
  std::atomic<uint64_t> index_taken{0};
  std::deque<ShareMerge> shares;
  for (Share& share : ShareOut(request, std::move(merged))) {
    shares.emplace_back(request, std::move(share), extents, &index_taken);
  }
  s = request.sharing.Run(shares.size(), &request.pool->persist(), request.purpose,
                          [&](size_t i) { return shares[i].Run(); });
  if (!s.ok()) {
    for (const ShareMerge& share : shares) share.Count(result);
    const auto failed =
        std::find_if(shares.begin(), shares.end(), [](const auto& share) { return !share.error().ok(); });
    if (failed == shares.end()) return s;
    result->given_up = false;
    return failed->error();
  }
  for (ShareMerge& share : shares) share.Finish(result, &account);
  if (!LieApart(request.order, result->added)) return OutOfOrder(request, result->added.front()->number());
  std::move(tables.begin(), tables.end(), std::back_inserter(result->removed));
  result->payload.dropped = account.Take();
  CHECK(request.may_copy || (result->payload.made.empty() && result->bytes_copied == 0));
  CHECK(result->entries_dropped == 0 || !result->payload.dropped.empty() || MIODB_MUTATED(kDropUncounted));
  CHECK_EQ(result->moved.size() + result->removed.size(), inputs);
  CHECK_LE(result->entries_dropped, result->entries_read);
  return request.pool->persist().Fence(request.purpose);
}

}  // namespace miodb
