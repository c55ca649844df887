// Transactions over DB::WriteIfUnchanged: what a transaction keeps, and from when on it knows each key.
//
// Invariants:
//   1 Every tracked key has the sequence from which on its changes count, and oldest_ is a snapshot at or before all of
//     them: so no merge drops a deletion that is a change (db.h).
//   2 What GetForUpdate returns is what the key had at the sequence from which it is tracked, or the key is marked as
//     changed. The snapshot that was read at is held until that is known.
//   3 A value that was read has the moment at which it expires beside it, and Commit fails from then on.
//   4 So what Commit finds unchanged is what was read.

#include "miodb/optimistic_transaction.h"

#include <algorithm>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "miodb/write_batch_with_index.h"
#include "src/api/batch/handle_id.h"
#include "src/util/bytes/make_room.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

constexpr char kPlace[] = "transaction";

// A snapshot that is released with its last holder.
using Held = std::shared_ptr<const Snapshot>;

}  // namespace

struct OptimisticTransaction::Rep {
  // A key of a family; of the default one without a handle, however it was called.
  using Key = std::pair<ColumnFamilyHandle*, std::string>;
  struct Tracked {
    uint64_t since;                       // changes behind it count
    bool changed = false;                 // one was seen
    uint64_t expiry_micros = UINT64_MAX;  // the first moment at which something that was read of it expires
  };
  using TrackedKeys = std::map<Key, Tracked>;

  // A key has a single entry, or else a second name of the default family would have the key count from a later moment.
  static Key KeyOf(ColumnFamilyHandle* family, const Slice& key) {
    return {IdOf(family) == kDefaultFamily ? nullptr : family, key.ToString()};
  }

  // The batch has save points of its own. The save points here hold what a rollback takes back besides: the keys that
  // were tracked since, and the snapshot that was set.
  struct SavePoint {
    size_t tracked;
    Held snapshot;
  };

  Rep(DB* base, const WriteOptions& options, const Comparator* comparator, const MergeOperator* merge_operator)
      : db(base), write_options(options), batch(comparator, 0, true, merge_operator) {
    CHECK(db != nullptr);
  }

  // The state of now. A database that gives none says why to a call that changes nothing; else it lacked memory.
  Status Hold(Held* held) const {
    const Snapshot* const taken = db->GetSnapshot();
    if (taken == nullptr) {
      WriteBatch nothing;
      const Status s = db->WriteIfUnchanged(WriteOptions(), &nothing, {});
      if (s.ok()) throw std::bad_alloc();
      return s;
    }
    DB* const base = db;
    *held = Held(taken, [base](const Snapshot* given) { base->ReleaseSnapshot(given); });
    return Status::OK();
  }

  // now: a snapshot to begin with, of a key that is not tracked yet and where none was set; null: the moment of the
  // call. The snapshot is taken before the sequence is read, so the snapshot is not newer than the sequence. Without
  // memory the key is not tracked.
  Status Track(const Key& key, const Held& now, Tracked** key_tracked) {
    DCHECK_EQ(tracked.size(), in_order.size());
    const auto found = tracked.find(key);
    if (found != tracked.end()) {
      *key_tracked = &found->second;
      return Status::OK();
    }
    const Held moment = snapshot != nullptr ? snapshot : now;
    const Status s = oldest == nullptr && moment == nullptr ? Hold(&oldest) : Status::OK();
    if (!s.ok()) return s;
    const uint64_t since = moment != nullptr ? moment->GetSequenceNumber() : db->GetLatestSequenceNumber();
    if (oldest == nullptr || oldest->GetSequenceNumber() > since) oldest = moment;
    DCHECK_LE(oldest->GetSequenceNumber(), since);
    MakeRoom(&in_order);  // the key is in both lists or in neither
    in_order.push_back(tracked.emplace(key, Tracked{since}).first);
    *key_tracked = &in_order.back()->second;
    return s;
  }

  // Finds out whether a key changed behind a sequence. The options are not the transaction's, because the call writes
  // nothing that would have to be synced. REQUIRES: a snapshot at or before the sequence is held.
  Status Look(const Key& key, uint64_t since, Tracked* key_tracked) const {
    DCHECK(key_tracked != nullptr && oldest != nullptr);
    WriteBatch nothing;
    const Status s = db->WriteIfUnchanged(WriteOptions(), &nothing, {KeyAsOf(key.first, key.second, since)});
    if (!s.IsBusy()) return s;
    key_tracked->changed = true;
    return Status::OK();
  }

  // A read as of another sequence than that from which the key is tracked is checked at once: Commit would not notice a
  // change that lies between the two.
  Status GetForUpdate(const ReadOptions& options, const Key& key, std::string* value) {
    Held now;
    Status s = Hold(&now);
    Tracked* key_tracked = nullptr;
    if (s.ok()) s = Track(key, now, &key_tracked);
    if (!s.ok() || value == nullptr) return s;
    ReadOptions at = options;
    if (at.snapshot == nullptr) at.snapshot = now.get();
    uint64_t expiry_micros;
    s = batch.GetFromBatchAndDB(db, at, key.first, key.second, value, &expiry_micros);
    key_tracked->expiry_micros = std::min(key_tracked->expiry_micros, expiry_micros);
    if (!s.ok() && !s.IsNotFound()) return s;
    const uint64_t read_at = at.snapshot->GetSequenceNumber();
    if (read_at == key_tracked->since) return s;
    const Status looked = Look(key, std::min(read_at, key_tracked->since), key_tracked);
    return looked.ok() ? s : looked;
  }

  // Tracks the key, then has the batch take the update.
  template <typename Update>
  Status Write(ColumnFamilyHandle* family, const Slice& key, Update update) {
    return NoThrow(kPlace, [&] {
      Tracked* key_tracked = nullptr;
      const Status s = Track(KeyOf(family, key), nullptr, &key_tracked);
      if (s.ok()) update();
      return s;
    });
  }

  // The batch goes back first, since it alone can fail: after it nothing needs memory, so that both go back or neither.
  Status GoBack() {
    if (save_points.empty()) return Status::NotFound("there is no save point");
    const Status s = batch.RollbackToSavePoint();
    DCHECK(!s.IsNotFound());
    if (!s.ok()) return s;
    const SavePoint& to = save_points.back();
    DCHECK_LE(to.tracked, in_order.size());
    for (; in_order.size() > to.tracked; in_order.pop_back()) tracked.erase(in_order.back());
    DCHECK_EQ(tracked.size(), in_order.size());
    // The oldest snapshot stays as it is: one that is older than the tracked keys need is safe, and only has merges
    // keep more.
    snapshot = to.snapshot;
    save_points.pop_back();
    return Status::OK();
  }

  // The oldest snapshot is released as well, or merges would go on keeping all versions that it sees.
  void Clear() {
    batch.Clear();
    tracked.clear();
    in_order.clear();
    save_points.clear();
    snapshot = nullptr;
    oldest = nullptr;
  }

  DB* const db;
  const WriteOptions write_options;
  WriteBatchWithIndex batch;
  TrackedKeys tracked;
  std::vector<TrackedKeys::iterator> in_order;  // as they were tracked first
  std::vector<SavePoint> save_points;
  Held snapshot;  // null: none is set
  Held oldest;    // null: nothing was tracked yet
};

// A snapshot that the options ask for is taken here, so changes count from the beginning of the transaction, and not
// from the first use of each key. A constructor has no status, so lack of memory stands for each reason.
OptimisticTransaction::OptimisticTransaction(DB* db, const WriteOptions& write_options,
                                             const OptimisticTransactionOptions& options, const Comparator* comparator,
                                             const MergeOperator* merge_operator)
    : rep_(new Rep(db, write_options, comparator, merge_operator)) {
  if (options.set_snapshot && !rep_->Hold(&rep_->snapshot).ok()) throw std::bad_alloc();
}

OptimisticTransaction::~OptimisticTransaction() = default;

Status OptimisticTransaction::Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
  return rep_->Write(family, key, [&] { rep_->batch.Put(family, key, value); });
}

Status OptimisticTransaction::Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand) {
  return rep_->Write(family, key, [&] { rep_->batch.Merge(family, key, operand); });
}

Status OptimisticTransaction::Delete(ColumnFamilyHandle* family, const Slice& key) {
  return rep_->Write(family, key, [&] { rep_->batch.Delete(family, key); });
}

Status OptimisticTransaction::SingleDelete(ColumnFamilyHandle* family, const Slice& key) {
  return rep_->Write(family, key, [&] { rep_->batch.SingleDelete(family, key); });
}

// Tracks nothing: what the range has is known at the commit alone, and goes whatever it is.
Status OptimisticTransaction::DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end) {
  return NoThrow(kPlace, [&] {
    rep_->batch.DeleteRange(family, begin, end);
    return Status::OK();
  });
}

// A get tracks nothing: Commit does not fail because a key that it returned has changed since.
Status OptimisticTransaction::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                                  std::string* value) {
  return rep_->batch.GetFromBatchAndDB(rep_->db, options, family, key, value);
}

Status OptimisticTransaction::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                                           std::string* value) {
  return NoThrow(kPlace, [&] { return rep_->GetForUpdate(options, Rep::KeyOf(family, key), value); });
}

// Keys that the iterator shows are not tracked, so a program that depends on one of them has to read it by
// GetForUpdate.
Iterator* OptimisticTransaction::GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  DB* const db = rep_->db;
  Iterator* const base = family == nullptr ? db->NewIterator(options) : db->NewIterator(options, family);
  return rep_->batch.NewIteratorWithBase(family, base, &options);
}

// The snapshot is for keys that are tracked from now on; a key that is tracked already keeps the sequence that it has.
Status OptimisticTransaction::SetSnapshot() {
  return NoThrow(kPlace, [this] { return rep_->Hold(&rep_->snapshot); });
}

// The snapshot is the transaction's own, which releases it: a caller that did so too would release it twice.
const Snapshot* OptimisticTransaction::GetSnapshot() const { return rep_->snapshot.get(); }
void OptimisticTransaction::ClearSnapshot() { rep_->snapshot = nullptr; }

// The second of the two lists takes its place first, so that they agree if there is no memory.
Status OptimisticTransaction::SetSavePoint() {
  return NoThrow(kPlace, [this] {
    MakeRoom(&rep_->save_points);
    rep_->batch.SetSavePoint();
    rep_->save_points.push_back({rep_->in_order.size(), rep_->snapshot});
    return Status::OK();
  });
}

Status OptimisticTransaction::RollbackToSavePoint() { return rep_->GoBack(); }

// The batch and the transaction have equally many save points at any time, so the batch's answer is that of both.
Status OptimisticTransaction::PopSavePoint() {
  const Status s = rep_->batch.PopSavePoint();
  DCHECK_EQ(s.ok(), !rep_->save_points.empty());
  if (s.ok()) rep_->save_points.pop_back();
  return s;
}

Status OptimisticTransaction::Commit() {
  return NoThrow(kPlace, [this] {
    DCHECK(rep_->tracked.empty() || rep_->oldest != nullptr);  // or a merge could have dropped a deletion
    std::vector<KeyAsOf> keys;
    keys.reserve(rep_->tracked.size());
    for (const auto& [key, known] : rep_->tracked) {
      if (known.changed) return Status::Busy("transaction", "a key that it read had changed already");
      keys.emplace_back(key.first, key.second, known.since);
      keys.back().expiry_micros = known.expiry_micros;
    }
    // The database asks for the keys and writes the batch as one step, so no other write comes in between. If it fails,
    // the transaction is as before, and the caller may roll it back.
    const Status s = rep_->db->WriteIfUnchanged(rep_->write_options, rep_->batch.GetWriteBatch(), keys);
    if (s.ok()) rep_->Clear();
    return s;
  });
}

Status OptimisticTransaction::Rollback() {
  rep_->Clear();
  return Status::OK();
}

size_t OptimisticTransaction::GetNumKeys() const { return rep_->tracked.size(); }
WriteBatchWithIndex* OptimisticTransaction::GetWriteBatch() { return &rep_->batch; }

OptimisticTransactionDB::OptimisticTransactionDB(std::unique_ptr<DB> db, const Options& options)
    : db_(std::move(db)), comparator_(options.comparator), merge_operator_(options.merge_operator) {
  CHECK(db_ != nullptr);
}

OptimisticTransactionDB::~OptimisticTransactionDB() = default;

Status OptimisticTransactionDB::Open(const Options& options, const std::string& name, OptimisticTransactionDB** db) {
  DCHECK(db != nullptr);
  *db = nullptr;
  return NoThrow(kPlace, [&] {
    DB* opened = nullptr;
    Status s = DB::Open(options, name, &opened);
    // The database has an owner from here on, or it would stay open if there were no memory for the object around it.
    std::unique_ptr<DB> base(opened);
    if (s.ok()) *db = new OptimisticTransactionDB(std::move(base), options);
    return s;
  });
}

DB* OptimisticTransactionDB::GetBaseDB() const { return db_.get(); }

// Null tells a caller that there was no memory for the transaction, or no snapshot for it to begin with.
OptimisticTransaction* OptimisticTransactionDB::BeginTransaction(const WriteOptions& write_options,
                                                                 const OptimisticTransactionOptions& options) {
  OptimisticTransaction* made = nullptr;
  const Status s = NoThrow(kPlace, [&] {
    made = new OptimisticTransaction(db_.get(), write_options, options, comparator_, merge_operator_);
    return Status::OK();
  });
  return s.ok() ? made : nullptr;
}

}  // namespace miodb
