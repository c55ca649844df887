// The batch that can be read: what its calls make of the index (batch_index.h) and of a database.

#include "miodb/write_batch_with_index.h"

#include <utility>
#include <vector>

#include "src/api/batch/batch_index.h"
#include "src/api/batch/batch_iterator.h"
#include "src/api/batch/handle_id.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

WBWIIterator::~WBWIIterator() = default;

// No save point lies behind the one that was set after it, so a rollback to the last one leaves all others good.
struct WriteBatchWithIndex::Rep {
  Rep(const Comparator* comparator, size_t reserved_bytes, BatchIndex::Keeps keeps, const MergeOperator* merge_operator)
      : index(comparator, reserved_bytes, keeps, merge_operator) {}

  BatchIndex index;
  std::vector<BatchIndex::Mark> save_points;
};

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator* comparator, size_t reserved_bytes, bool overwrite_key,
                                         const MergeOperator* merge_operator)
    : rep_(new Rep(comparator, reserved_bytes, overwrite_key ? BatchIndex::Keeps::kWhatCounts : BatchIndex::Keeps::kAll,
                   merge_operator)) {}

WriteBatchWithIndex::~WriteBatchWithIndex() = default;

// Only the id of a family is kept: what the handle stands for by the time of the write is the database's to say.
void WriteBatchWithIndex::Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
  rep_->index.Add(kBatchPut, {IdOf(family), key}, value);
}
void WriteBatchWithIndex::Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand) {
  rep_->index.Add(kBatchMerge, {IdOf(family), key}, operand);
}
void WriteBatchWithIndex::Delete(ColumnFamilyHandle* family, const Slice& key) {
  rep_->index.Add(kBatchDeletion, {IdOf(family), key}, Slice());
}
void WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* family, const Slice& key) {
  rep_->index.Add(kBatchSingleDeletion, {IdOf(family), key}, Slice());
}
void WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end) {
  rep_->index.Add(kBatchRangeDeletion, {IdOf(family), begin}, end);
}

// Save points go with the updates: each is a place in a batch that is no longer there.
void WriteBatchWithIndex::Clear() {
  rep_->index.Clear();
  rep_->save_points.clear();
  DCHECK_EQ(rep_->index.Now().count, 0u);
}

void WriteBatchWithIndex::SetSavePoint() { rep_->save_points.push_back(rep_->index.Now()); }

// The save point is given up last, so a rollback that finds no memory for the index can be called once more.
Status WriteBatchWithIndex::RollbackToSavePoint() {
  if (rep_->save_points.empty()) return Status::NotFound("there is no save point");
  return NoThrow("WriteBatchWithIndex", [this] {
    rep_->index.GoBack(rep_->save_points.back());
    DCHECK_EQ(rep_->index.Now().bytes, rep_->save_points.back().bytes);
    rep_->save_points.pop_back();
    return Status::OK();
  });
}

// The updates since the save point stay, and a later rollback takes them back with those of the save point before it.
Status WriteBatchWithIndex::PopSavePoint() {
  if (rep_->save_points.empty()) return Status::NotFound("there is no save point");
  rep_->save_points.pop_back();
  DCHECK(rep_->save_points.empty() || rep_->save_points.back().count <= rep_->index.Now().count);
  return Status::OK();
}

// Without a database nobody knows what a key was before the batch, so operands have a value here only if the batch has
// what they are merged into.
Status WriteBatchWithIndex::GetFromBatch(ColumnFamilyHandle* family, const Slice& key, std::string* value) const {
  DCHECK(value != nullptr);
  return NoThrow("WriteBatchWithIndex", [&] {
    const BatchIndex::Answer answer = rep_->index.Ask({IdOf(family), key});
    if (answer.kind == BatchIndex::Answer::Kind::kNothing || answer.gone()) return Status::NotFound(Slice());
    if (answer.kind == BatchIndex::Answer::Kind::kMerged) {
      return Status::MergeInProgress("the batch only merges into the key", "the database has what it was before");
    }
    std::string space;
    Slice found;
    const Status s = rep_->index.Value(key, answer, nullptr, &space, &found);
    if (s.ok()) value->assign(found.data(), found.size());
    return s;
  });
}

// The database is asked only where its answer counts; by the call without a handle if there is none, which classes have
// that know no families.
Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
                                              const Slice& key, std::string* value, uint64_t* expiry_micros) const {
  DCHECK(db != nullptr && value != nullptr);
  if (expiry_micros != nullptr) *expiry_micros = UINT64_MAX;
  return NoThrow("WriteBatchWithIndex", [&] {
    const auto get = [&](std::string* has) {
      if (expiry_micros != nullptr) return db->GetWithExpiry(options, family, key, has, expiry_micros);
      return family == nullptr ? db->Get(options, key, has) : db->Get(options, family, key, has);
    };
    const BatchIndex::Answer answer = rep_->index.Ask({IdOf(family), key});
    if (answer.kind == BatchIndex::Answer::Kind::kNothing) return get(value);
    if (answer.gone()) return Status::NotFound(Slice());
    std::string stored;
    Slice before;
    bool has_before = false;
    if (answer.kind == BatchIndex::Answer::Kind::kMerged) {
      const Status s = get(&stored);
      // A key that the database does not have is no error: its operands are merged into nothing.
      if (!s.ok() && !s.IsNotFound()) return s;
      has_before = s.ok();
      before = stored;
    }
    std::string space;
    Slice found;
    const Status s = rep_->index.Value(key, answer, has_before ? &before : nullptr, &space, &found);
    if (s.ok()) value->assign(found.data(), found.size());
    return s;
  });
}

// The iterator refers to the index, so it must not outlive the batch; after a change of the batch it is not valid until
// it is moved to a place anew.
WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle* family) const {
  return NewBatchEntries(&rep_->index, IdOf(family));
}

// As DB::NewIterator: an error is an iterator that has it.
Iterator* WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle* family, Iterator* base,
                                                   const ReadOptions* options) const {
  DCHECK(base != nullptr);
  Iterator* made = nullptr;
  const Status s = NoThrow("WriteBatchWithIndex", [&] {
    // The base iterator belongs to the new one from here on, and is deleted also if there is no memory for that.
    made = NewBatchOverBase(&rep_->index, IdOf(family), std::unique_ptr<Iterator>(base),
                            options != nullptr ? *options : ReadOptions());
    return Status::OK();
  });
  return s.ok() ? made : NewErrorIterator(s);
}

// The batch is the index's own: an update that a caller adds to it directly is written, but the index does not learn of
// it.
WriteBatch* WriteBatchWithIndex::GetWriteBatch() { return rep_->index.batch(); }

}  // namespace miodb
