// A job of the SSD tier as one merging iterator over its inputs and one writer of files. The iterators verify the bytes
// that they read. Here the order is verified, so that no damage of an input can make a file that is not sorted.

#include "compaction/merge/ssd_merge.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "compaction/filter/range_walk.h"
#include "compaction/filter/record_filter.h"
#include "compaction/merge/drop_account.h"
#include "compaction/merge/merge.h"
#include "src/format/expiry.h"
#include "src/iterator/merging_iterator.h"
#include "src/iterator/operands.h"
#include "src/ssd/sst_writer.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// A file is cut when it overlaps this many times the target size of the level below its own, so that its own compaction
// will not take long.
constexpr uint64_t kMostOverlap = 10;

// The index of a file can hold all of its keys, and is a block, whose limit is 4 GiB.
constexpr uint64_t kMostFileBytes = uint64_t{7} << 29;

// The files that a job writes, one after the other. A file that is finished belongs to the result, which the caller
// marks obsolete if the job fails; one that is not is removed here.
class Outputs {
 public:
  Outputs(const SsdMergeRequest& request, std::vector<SstRef>* files) : request_(request), files_(files) {
    CHECK(request.job->output_level >= 0 && request.file_bytes > 0);
    if (request.version->ranges != nullptr) ranges_applied_ = request.ranges_applied;
    const std::vector<FileList>& levels = request.version->ssd->levels;
    const size_t below = static_cast<size_t>(request.job->output_level) + 1;
    if (below < levels.size()) below_ = &levels[below];  // the last level has none
  }

  // The file is closed before it is noted for removal.
  ~Outputs() {
    if (meta_ == nullptr) return;
    file_.reset();  // a file that was not finished, or not even begun
    request_.store->Discard(meta_->number);
  }

  // record: the next in order; new_key: not of the same user key as the last one.
  Status Add(const RecordView& record, bool new_key) {
    CHECK(new_key || writer_ != nullptr);  // all versions of a key are in one file
    Status s;
    if (writer_ != nullptr && new_key && IsFull(record.key)) s = Finish();
    if (s.ok() && writer_ == nullptr) s = Start(record.key);
    if (!s.ok()) return s;
    key_.clear();
    AppendInternalKey(&key_, record.key, record.tag);
    writer_->Add(key_, record.value);
    // The key added last is the largest so far; versions of one key do not change it.
    if (new_key) meta_->largest.assign(record.key.data(), record.key.size());
    if (IsTombstone(record.type())) meta_->tombstones++;
    meta_->max_sequence = std::max(meta_->max_sequence, record.sequence());
    if (record.type() == kTypeExpiringValue) {
      meta_->expiring++;
      meta_->expiry.Add(ExpiryAt(ExpiryOf(record.value)));
    }
    return writer_->status();
  }

  // Synced before it is part of the result: the edit that names a file comes after all of its bytes.
  Status Finish() {
    if (writer_ == nullptr) return Status::OK();
    CHECK(file_ != nullptr && meta_ != nullptr);
    Status s = writer_->Finish();
    if (s.ok() && !MIODB_MUTATED(kSsdFileUnsynced)) s = file_->Sync();
    if (s.ok()) s = file_->Close();
    if (!s.ok()) return s;
    meta_->size = writer_->file_size();
    meta_->entries = writer_->entries();
    meta_->fingerprint = writer_->fingerprint();
    meta_->ranges_applied = ranges_applied_;
    CHECK(meta_->entries > 0 && meta_->tombstones <= meta_->entries);
    CHECK_GT(meta_->size, kFooterBytes);
    CHECK(request_.order.Compare(meta_->smallest, meta_->largest) <= 0);
    CHECK(files_->empty() || request_.order.Compare(files_->back()->meta().largest, meta_->smallest) < 0);
    CHECK(files_->empty() || files_->back()->meta().number < meta_->number);
    entries_ += meta_->entries;
    files_->push_back(std::make_shared<SstFile>(request_.store, meta_));
    meta_.reset();  // only now: what throws for lack of memory leaves the file to the destructor
    writer_.reset();
    file_.reset();
    // Readers find it open, and nothing is given up for a file that cannot be opened.
    SsdStore::Pin table;
    return request_.store->OpenTable(files_->back()->meta(), &table);
  }

  // As TableSink's.
  void LimitRangesApplied(uint64_t sequence) { ranges_applied_ = std::min(ranges_applied_, sequence); }

  uint64_t entries() const { return entries_; }  // in finished files

 private:
  // The number is this object's before the file is made, so that the destructor removes what there is of it.
  Status Start(const Slice& smallest) {
    CHECK(meta_ == nullptr && file_ == nullptr && writer_ == nullptr);
    auto meta = std::make_shared<SstMeta>();
    meta->number = request_.new_file_number();
    meta->smallest.assign(smallest.data(), smallest.size());
    meta_ = std::move(meta);
    Status s = request_.store->NewFile(meta_->number, &file_);
    if (!s.ok()) return s;
    writer_ = std::make_unique<SstWriter>(request_.store->format(), file_.get());
    overlap_bytes_ = 0;
    return s;
  }

  // Files below that the output has passed count as its overlap. They are gone through once for all outputs, since keys
  // ascend.
  bool IsFull(const Slice& key) {
    CHECK(writer_ != nullptr);
    if (writer_->size_estimate() >= std::min(request_.file_bytes, kMostFileBytes)) return true;
    if (below_ == nullptr) return false;
    for (; next_below_ < below_->size(); next_below_++) {
      const SstMeta& meta = (*below_)[next_below_]->meta();
      if (request_.order.Compare(key, meta.largest) <= 0) break;
      overlap_bytes_ += meta.size;
    }
    return overlap_bytes_ > kMostOverlap * request_.file_bytes;
  }

  const SsdMergeRequest& request_;
  std::vector<SstRef>* const files_;
  const FileList* below_ = nullptr;  // files of the level below the output level
  size_t next_below_ = 0;            // the first of them that is not behind
  uint64_t overlap_bytes_ = 0;       // of those passed since the file was begun
  std::shared_ptr<SstMeta> meta_;    // of the file that is being written; null: none
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<SstWriter> writer_;
  std::string key_;
  uint64_t entries_ = 0;
  uint64_t ranges_applied_ = 0;
};

class SsdMerge {
 public:
  // Sources are given newest first, as the merging iterator wants them: the pool's tables, the level above, the level
  // below.
  SsdMerge(const SsdMergeRequest& request, SsdMergeResult* result)
      : request_(request),
        result_(result),
        outputs_(request, &result->files),
        judge_(request.filter, request.versions_once),
        filter_(request.order, request.compaction_filter, request.filter_level, request.filter, request.now_micros),
        ranges_(request.version->ranges) {
    const SsdJob& job = *request.job;
    CHECK_NE(job.tables.empty(), job.upper.empty());
    std::vector<std::unique_ptr<InternalIterator>> sources;
    if (job.is_drain()) {
      run_.tables = job.tables;
      sources.push_back(NewRunIterator(&run_, request.order, Checksums::kVerify));
      result->bytes_read += run_.payload_bytes();
    }
    for (const auto& [files, level] : {std::pair(&job.upper, job.range.first_level), {&job.lower, job.output_level}}) {
      if (!files->empty()) sources.push_back(request.store->NewMergeIterator(files, level));
      result->bytes_read += TotalBytes(*files);
    }
    input_ = NewMergingIterator(request.order, std::move(sources));
  }

  // Errors of reading and of writing are told apart: inputs that are damaged stay so, a disk that is full may have room
  // later.
  Status Execute() {
    for (input_->SeekToFirst(); input_->Valid(); input_->Next()) {
      Status s = Take(input_->record());
      if (!s.ok()) return s;
      if (++result_->entries_read % kStopInterval == 0 &&
          request_.stop->load(std::memory_order_relaxed)) {  // relaxed: a wish, nothing is published with it
        return Status::IOError("SSD work given up", "the database is being closed");
      }
    }
    if (!input_->status().ok()) {
      result_->inputs_damaged = true;
      return input_->status();
    }
    // A key outside of the job's range may lie in another file of the level.
    if (any_ && request_.order.Compare(last_key_, request_.job->range.largest) > 0) return Outside(last_sequence_);
    Status s = any_ ? EndKey() : Status::OK();
    if (s.ok()) s = outputs_.Finish();
    CHECK_LE(result_->entries_dropped, result_->entries_read);
    CHECK(!s.ok() || outputs_.entries() == result_->entries_read - result_->entries_dropped);
    return s.ok() ? DropTables(request_.version->payload, request_.job->tables, &result_->dropped) : s;
  }

 private:
  // A record that waits for what comes behind it, with its bytes.
  struct Held {
    explicit Held(const RecordView& record) : tag(record.tag), value(record.value.ToString()) {}
    RecordView View(const Slice& key) const {
      RecordView view;
      view.tag = tag;
      view.key = key;
      view.value = value;
      return view;
    }

    uint64_t tag;
    std::string value;
  };

  // Decides about a record as merges do, with the sequences at hand. The key alone is asked whether a file below could
  // hold an older version.
  Status Take(const RecordView& record) {
    const int c = any_ ? request_.order.Compare(last_key_, record.key) : -1;
    const bool same_key = c == 0;
    const uint64_t sequence = record.sequence();
    const std::string& place = request_.store->path();
    if (c > 0 || (same_key && sequence > last_sequence_)) {
      return Damaged(Status::Corruption(place, "write " + std::to_string(sequence) + " is out of order"));
    }
    if (sequence == 0 || !IsKnownType(record.type())) {
      return Damaged(
          Status::Corruption(place, "a record of sequence " + std::to_string(sequence) + " is none of ours"));
    }
    if (!any_ && request_.order.Compare(record.key, request_.job->range.smallest) < 0) return Outside(sequence);
    // A copy of the key, since the record's bytes are there only until the input moves.
    if (!same_key) {
      Status s = any_ ? EndKey() : Status::OK();
      if (!s.ok()) return s;
      last_key_.assign(record.key.data(), record.key.size());
      key_written_ = false;
      judge_.NewKey();
    }
    const bool again = same_key && sequence == last_sequence_;
    last_sequence_ = sequence;
    any_ = true;
    if (IsGone(record)) {
      result_->entries_dropped++;
      result_->range_dropped++;
      return Status::OK();
    }
    if (again) return TakeAgain(record);
    const bool expired = HasExpired(record, request_.now_micros);
    const bool asks = expired || IsTombstone(record.type());
    const VersionJudge::Verdict verdict =
        judge_.Judge(record.type(), sequence, asks && AtBottom(),
                     expired ? VersionJudge::Life::kExpired : VersionJudge::Life::kGoesOn);
    if (kChecksContracts && judge_.violated()) return PutTwice(request_.store->path());
    return Keep(record, verdict);
  }

  // If the inputs are damaged, another try would read the same. A read that failed may succeed later.
  Status Damaged(Status s) {
    DCHECK(!s.ok());
    result_->inputs_damaged = s.IsCorruption();
    return s;
  }
  Status Outside(uint64_t sequence) {
    return Damaged(
        Status::Corruption(request_.store->path(),
                           "write " + std::to_string(sequence) + " lies outside of the keys that its file is to have"));
  }

  // Whether a deletion of a range hides the record from every read.
  bool IsGone(const RecordView& record) {
    const RangeFragment* const range = ranges_.Find(record.key);
    if (range == nullptr) return false;
    const uint64_t sequence = record.sequence();
    DCHECK_EQ(sequence, last_sequence_);
    const RangeVerdict verdict = JudgeRange(*range, *request_.filter, sequence, sequence, 0);
    if (verdict == RangeVerdict::kKept) outputs_.LimitRangesApplied(range->OldestAbove(sequence) - 1);
    return verdict == RangeVerdict::kGone;
  }

  // The same version from another input, as a volatile pool's log brings some back. A value in place of an operand is
  // what that was folded into, with all below.
  Status TakeAgain(const RecordView& record) {
    DCHECK(any_ && record.sequence() == last_sequence_);
    result_->entries_dropped++;
    const uint64_t operand = PackTag(record.sequence(), kTypeMerge);
    if (held_.empty() || held_.back().tag != operand || record.tag == operand) return Status::OK();
    held_.back() = Held(record);
    judge_.Replace(record.type());
    return EmitHeld();
  }

  Status Keep(const RecordView& record, VersionJudge::Verdict verdict) {
    using Verdict = VersionJudge::Verdict;
    DCHECK(record.sequence() == last_sequence_);
    if (verdict == Verdict::kDropBoth) {
      CHECK_EQ(held_.size(), 1u);
      held_.clear();
      result_->entries_dropped += 2;
      return Status::OK();
    }
    if (verdict == Verdict::kDrop) {
      result_->entries_dropped++;
      return Status::OK();
    }
    const bool operand = record.type() == kTypeMerge;
    const bool operands_wait = !held_.empty() && TagType(held_.back().tag) == kTypeMerge;
    Status s;
    if (operands_wait && (!judge_.apart() || MIODB_MUTATED(kFoldAcrossSnapshot))) {
      const bool is_base = record.type() != kTypeExpiringValue || HasExpired(record, request_.now_micros);
      if (!operand && is_base) return Fold(&record, Operands::Into::kValue);
      if (!operand) s = EndOperands(Operands::Into::kOperand);
    } else {
      s = operands_wait ? EndOperands(Operands::Into::kOperand) : EmitHeld();
    }
    if (!s.ok()) return s;
    if (!operand && verdict != Verdict::kHold) return Emit(record);
    held_.emplace_back(record);
    return s;
  }

  // Nothing below the output has the key.
  bool AtBottom() const {
    return !request_.version->ssd->OverlapsFrom(static_cast<size_t>(request_.job->output_level) + 1, last_key_,
                                                last_key_);
  }

  Status EndKey() {
    DCHECK(any_);
    if (held_.empty() || TagType(held_.back().tag) != kTypeMerge) return EmitHeld();
    return EndOperands(AtBottom() ? Operands::Into::kValue : Operands::Into::kOperand);
  }

  // As MergeOutput::EndOperands.
  Status EndOperands(Operands::Into into) {
    CHECK(!held_.empty());
    if (MIODB_MUTATED(kFoldWithoutBase)) return Fold(nullptr, Operands::Into::kValue);
    const bool folds = into == Operands::Into::kValue || request_.versions_once;
    if (request_.merge_operator != nullptr && folds) return Fold(nullptr, into);
    return EmitHeld();
  }

  // As MergeOutput::Fold.
  Status Fold(const RecordView* base, Operands::Into into) {
    CHECK(!held_.empty());
    const bool partially = into == Operands::Into::kOperand;
    CHECK(base == nullptr || !partially);
    Operands operands(request_.now_micros);
    for (const Held& held : held_) operands.AddOlder(held.View(last_key_));
    if (base != nullptr) operands.AddOlder(*base);
    std::string value;
    const MergeOperator* const merge_operator = request_.merge_operator;
    const bool folded = merge_operator != nullptr &&
                        (partially ? operands.FoldPartially(*merge_operator, last_key_, &value)
                                   : operands.Fold(merge_operator, last_key_, &value).ok()) &&
                        value.size() <= kMaxValueSize;
    if (folded) {
      result_->entries_dropped += held_.size() - (base != nullptr ? 0 : 1);
      RecordView made;
      made.tag = PackTag(TagSequence(held_.front().tag), partially ? kTypeMerge : kTypeValue);
      made.key = last_key_;
      made.value = value;
      held_.clear();
      return Emit(made);
    }
    Status s = EmitHeld();
    return s.ok() && base != nullptr ? Emit(*base) : s;
  }

  Status EmitHeld() {
    Status s;
    for (size_t i = 0; s.ok() && i < held_.size(); i++) s = Emit(held_[i].View(last_key_));
    held_.clear();
    return s;
  }

  Status Emit(const RecordView& record) {
    DCHECK(request_.order.Equal(record.key, last_key_));
    const bool bottom = request_.compaction_filter != nullptr && AtBottom();
    const RecordFilter::Action action = filter_.Ask(record, !key_written_, bottom);
    if (action == RecordFilter::Action::kDrop) {
      result_->entries_dropped++;
      return Status::OK();
    }
    const bool new_key = !key_written_;
    key_written_ = true;
    return outputs_.Add(action == RecordFilter::Action::kReplace ? filter_.replacement() : record, new_key);
  }

  const SsdMergeRequest& request_;
  SsdMergeResult* const result_;
  Outputs outputs_;
  Run run_;  // a drain's tables
  std::unique_ptr<InternalIterator> input_;
  VersionJudge judge_;
  RecordFilter filter_;
  RangeWalk ranges_;
  std::vector<Held> held_;  // a single deletion, or operands, newest first
  bool any_ = false;
  std::string last_key_;  // of the record taken last, kept or not
  uint64_t last_sequence_ = 0;
  bool key_written_ = false;  // a version of last_key_ is in the output
};

}  // namespace

Status RunSsdMerge(const SsdMergeRequest& request, SsdMergeResult* result) {
  CHECK(request.store != nullptr && request.job != nullptr && request.version->ssd != nullptr);
  CHECK(request.filter != nullptr && request.stop != nullptr);
  CHECK(result->files.empty());
  return SsdMerge(request, result).Execute();
}

}  // namespace miodb
