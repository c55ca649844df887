// Tables are cut where a partition is full or the index extent is, and never between two versions of a key.

#include "compaction/merge/table_sink.h"

#include <algorithm>

#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

// Nothing is taken until the first entry comes: a merge that drops all of them leaves no table.
TableSink::TableSink(Options options) : options_(std::move(options)), ranges_applied_(options_.ranges_applied) {
  CHECK(options_.pool != nullptr);
  CHECK(options_.new_table_number != nullptr);
  CHECK(options_.min_sequence <= options_.max_sequence && options_.max_sequence <= kMaxSequence);
  CHECK_GT(options_.entries_per_table, 0u);
}

// The number is drawn before space is taken: a number that is not used costs nothing, and numbers of the tables of a
// sink ascend.
Status TableSink::StartTable() {
  CHECK(builder_ == nullptr);
  CHECK_LT(taken_, options_.max_entries);
  builder_ = std::make_unique<PMTableBuilder>(options_.pool, options_.order, options_.purpose,
                                              options_.new_table_number(), options_.filter_bits);
  payload_bytes_ = 0;
  oldest_ = kMaxSequence;
  expiry_ = ExpiryRange();
  // Room for what is left, or what is guessed; and it is told how many may come, so that it knows whether it was cut
  // short.
  const uint64_t left = options_.max_entries - taken_;
  Status s = builder_->Start(std::min(left, options_.entries_per_table), left, options_.level);
  if (s.ok() && options_.index_taken != nullptr) options_.index_taken(static_cast<int64_t>(builder_->index_bytes()));
  return s;
}

// NearlyFull leaves room for some versions more, so that a cut can wait for the next key. A key with more versions than
// that overflows, and the caller starts over with larger tables.
Status TableSink::MakeRoom(bool same_key) {
  if (builder_ != nullptr && !same_key && (payload_bytes_ >= options_.payload_limit || builder_->NearlyFull())) {
    Status s = FinishTable();
    if (!s.ok()) return s;
  }
  if (builder_ == nullptr) {
    CHECK(!same_key);  // all versions of a key are in one table
    Status s = StartTable();
    if (!s.ok()) return s;
  }
  if (!builder_->HasRoom()) {
    overflowed_ = true;
    return Status::NoSpace(options_.pool->path(), "no room for all versions of a key in one table");
  }
  return Status::OK();
}

void TableSink::Add(const IndexEntry& entry, uint64_t oldest, const ExpiryRange& expiry) {
  CHECK(builder_ != nullptr && builder_->HasRoom());
  CHECK_LT(taken_ + builder_->entries(), options_.max_entries);
  payload_bytes_ += entry.word.size();
  oldest_ = std::min(oldest_, oldest);
  DCHECK_EQ(expiry.any(), entry.word.type() == kTypeExpiringValue);
  if (!MIODB_MUTATED(kExpiryOfFirst) || !expiry_.any()) expiry_.Add(expiry);
  builder_->Add(entry);
}

// relaxed: policy only.
void TableSink::NotePlace(const Extent& extent) {
  CHECK(builder_ != nullptr && builder_->entries() > 0);
  DCHECK(extent.kind() == ExtentKind::kLog || extent.kind() == ExtentKind::kSettled);
  logged_ = logged_ || extent.kind() == ExtentKind::kLog;
  marked_ = marked_ || extent.evacuate.load(std::memory_order_relaxed);
}

Status TableSink::FinishTable() {
  CHECK_GT(builder_->entries(), 0u);
  taken_ += builder_->entries();
  PMTableBuilder::Summary summary;
  summary.min_sequence = options_.min_sequence;
  summary.max_sequence = options_.max_sequence;
  summary.oldest_sequence = oldest_;
  summary.expiry = expiry_;
  summary.ranges_applied = ranges_applied_;
  summary.apart = options_.apart || apart_;
  summary.logged = options_.logged || logged_;
  summary.marked = options_.marked || marked_;
  TableRef table;
  const int64_t taken = static_cast<int64_t>(builder_->index_bytes());
  Status s = builder_->Finish(summary, &table);
  CHECK(!s.ok() || table->payload_bytes() == payload_bytes_);
  CHECK(!s.ok() || tables_.empty() || table->number() > tables_.back()->number());
  if (s.ok() && options_.index_taken != nullptr) {
    options_.index_taken(static_cast<int64_t>(table->index()->size()) - taken);
  }
  builder_.reset();
  apart_ = logged_ = marked_ = false;
  if (!s.ok()) return s;
  table->index()->MarkUnnamed();  // until an edit names it, which a job that is given up never makes
  tables_.push_back(std::move(table));
  return s;
}

// The tables come out together: until then the caller has nothing that it could name.
Status TableSink::Finish(std::vector<TableRef>* tables) {
  Status s;
  if (builder_ != nullptr) s = FinishTable();
  if (!s.ok()) return s;
  CHECK_EQ(EntriesOf(tables_), taken_);
  CHECK_LE(taken_, options_.max_entries);
  *tables = std::move(tables_);
  return s;
}

}  // namespace miodb
