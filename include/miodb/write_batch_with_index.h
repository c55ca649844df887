// A WriteBatch that can be read before it is written: by key, and by an iterator over a database as it will be with the
// batch. For programs that decide by what they are about to write, and what transactions are made of
// (optimistic_transaction.h).
//
//   miodb::WriteBatchWithIndex batch;
//   batch.Put("a", "1");
//   status = batch.GetFromBatchAndDB(db, miodb::ReadOptions(), "a", &value);               // "1"
//   miodb::Iterator* it = batch.NewIteratorWithBase(db->NewIterator(miodb::ReadOptions()));  // with "a", without what
//   ...                                                                                     // the batch deletes
//   delete it;
//   status = db->Write(miodb::WriteOptions(), batch.GetWriteBatch());
//
// An iterator shows each key of both once, in order, in both directions. Keys that are not in the batch come from the
// base, which is read no further than the walk goes:
//
//   base     a=1  b=2       d=4
//   batch         delete b      put c=3, merge 5 into d      with an operator that appends
//   shown    a=1       c=3  d=4,5
//
// A range that the batch deletes hides what the base has there, and what the batch had there before. An update that
// comes behind it counts:
//
//   base     a=1  b=2  c=3  d=4
//   batch         put b=5, delete [b, d), put c=6, merge 7 into d
//   shown    a=1       c=6  d=4,7
//
// Calls with a handle are of that column family (column_family.h), those without one, or with nullptr, of the default
// one. The batch keeps the number of the family and not the handle; whether it is still there is asked when the batch
// is written. A batch is for the database of its handles alone.
//
// Save points nest. A program that tries something and may have to take it back sets one before, and afterwards either
// rolls back to it or pops it:
//
//   batch.SetSavePoint();
//   status = TryToAdd(&batch) ? batch.PopSavePoint() : batch.RollbackToSavePoint();
//
// The names and answers are those of the class of the same name in RocksDB. Not LevelDB's.
//
// For each key the newest update in the batch counts. Merges are applied by the operator that the constructor was
// given, which has to be the database's, to the older updates of the key in the batch and, if these are merges alone,
// to what the database has.
//
// A read sees the database as it is at that moment, or at the snapshot of the ReadOptions; the batch comes on top of
// either, as if it were written now. So two reads of one key may differ if somebody writes it in between, unless the
// batch has a put or a removal of it.
//
// A walk costs what the base's costs, and where the batch has keys a search of its index for each; a change of
// direction costs a seek of the base. A range of the batch costs a walk one seek of the base, whatever the base has in
// it, and where the batch has ranges each step searches among them.
//
// A program that never reads its updates is better off with a WriteBatch, which has no index and takes less memory.
//
// Threads: any number of threads may call const methods at once; a thread that changes the batch, or moves an iterator
// over it, must be alone with it.
//
// Ownership: the batch copies keys and values. Comparator and operator stay the caller's and outlive it. The batch must
// outlive its iterators.
//
// After a crash: nothing of the batch, until DB::Write has it.
//
// Units: sizes are bytes. Beside what a WriteBatch holds, an update takes about 80 bytes, a range about 160 and its
// bounds, and a search among n of them log n comparisons of keys.
//
// Errors: updates never fail, except that without memory they throw std::bad_alloc; the batch must then be cleared
// before it is used again. Reads give a Status and throw nothing.

#ifndef MIODB_INCLUDE_WRITE_BATCH_WITH_INDEX_H_
#define MIODB_INCLUDE_WRITE_BATCH_WITH_INDEX_H_

#include <cstddef>
#include <memory>
#include <string>

#include "miodb/comparator.h"
#include "miodb/db.h"
#include "miodb/export.h"
#include "miodb/iterator.h"
#include "miodb/merge_operator.h"
#include "miodb/slice.h"
#include "miodb/status.h"
#include "miodb/write_batch.h"

namespace miodb {

// The kinds of updates.
enum class WriteType { kPut, kMerge, kDelete, kSingleDelete };

// An update of a batch. The slices refer to the batch, until it is changed. value: empty where there is none.
struct MIODB_EXPORT WriteEntry {
  WriteType type = WriteType::kPut;
  Slice key;
  Slice value;
};

// A cursor over the updates that a batch has of the single keys of one family: by key, those of one key in the order in
// which they were made. Deletions of ranges are not among them; WriteBatch::Iterate shows these in their place.
// For whoever wants to look at the updates, to count or to replay them:
//
//   std::unique_ptr<miodb::WBWIIterator> it(batch.NewIterator());
//   for (it->SeekToFirst(); it->Valid(); it->Next()) Use(it->Entry().type, it->Entry().key);
//
// It has no status: there is nothing that could fail.
class MIODB_EXPORT WBWIIterator {
 public:
  virtual ~WBWIIterator();

  // Whether it stands on an update. A change of the batch ends the position: seek again before anything else.
  virtual bool Valid() const = 0;

  // To the first update of the first key, and to the last one of the last key. Valid() afterwards unless there is none.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;

  // To the first update of the key, or of the next one that has any.
  virtual void Seek(const Slice& key) = 0;
  // To the last update of the key, or of the one before it that has any.
  virtual void SeekForPrev(const Slice& key) = 0;

  // REQUIRES, these three: Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual WriteEntry Entry() const = 0;
};

class MIODB_EXPORT WriteBatchWithIndex {
 public:
  // comparator: the database's. reserved_bytes: room in the batch to begin with. overwrite_key: the index forgets an
  // update when another one hides it, a put or a removal of its key or a deletion of a range that has it; so
  // NewIterator shows none that does not count. The batch has them all in either case. merge_operator: the database's;
  // nullptr: reads of keys that have merges in the batch are InvalidArgument.
  explicit WriteBatchWithIndex(const Comparator* comparator = BytewiseComparator(), size_t reserved_bytes = 0,
                               bool overwrite_key = false, const MergeOperator* merge_operator = nullptr);
  WriteBatchWithIndex(const WriteBatchWithIndex&) = delete;
  WriteBatchWithIndex& operator=(const WriteBatchWithIndex&) = delete;
  ~WriteBatchWithIndex();

  // ---- Updates, as those of WriteBatch. Sizes are looked at when the batch is written, which refuses what is too
  // large.

  // Sets the value of key, whatever it was in the batch or the database.
  void Put(const Slice& key, const Slice& value) { Put(nullptr, key, value); }

  // Merges operand into the value that key has by the batch so far, or by the database. An operator is needed to read
  // it here; to write it, the database needs one.
  void Merge(const Slice& key, const Slice& operand) { Merge(nullptr, key, operand); }

  // Removes key. Reads of the batch find it gone, without a look at the database.
  void Delete(const Slice& key) { Delete(nullptr, key); }

  // The same to reads of the batch; DB::SingleDelete says when it may be used. A put in the same batch counts as a put.
  void SingleDelete(const Slice& key) { SingleDelete(nullptr, key); }

  // Removes all keys from begin up to end, which is not one of them, as DB::DeleteRange does; what the batch is given
  // for such a key afterwards counts. Costs no search of the database. Nothing is removed if begin is end, or comes
  // after it, which DB::Write refuses.
  void DeleteRange(const Slice& begin, const Slice& end) { DeleteRange(nullptr, begin, end); }

  // The same of a column family.
  void Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value);
  void Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand);
  void Delete(ColumnFamilyHandle* family, const Slice& key);
  void SingleDelete(ColumnFamilyHandle* family, const Slice& key);
  void DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end);

  // Forgets updates and save points.
  void Clear();

  // ---- Save points, of which there may be any number

  // Remembers the batch as it is.
  void SetSavePoint();

  // Takes back all updates since the last save point, and forgets that. NotFound if there is none. Takes time for what
  // remains.
  Status RollbackToSavePoint();

  // Forgets the last save point and keeps the updates. NotFound if there is none.
  Status PopSavePoint();

  // ---- Reads

  // The value that the key has by the batch alone. NotFound: the batch removes it, or says nothing of it.
  // MergeInProgress: it only merges into what the database has. InvalidArgument and Corruption: as DB::Get of merges.
  // An error leaves *value as it was.
  Status GetFromBatch(const Slice& key, std::string* value) const { return GetFromBatch(nullptr, key, value); }
  Status GetFromBatch(ColumnFamilyHandle* family, const Slice& key, std::string* value) const;

  // The value that db->Get(options, key, value) would give if the batch had been written behind the state that the
  // options say. Errors are those of DB::Get and of GetFromBatch. Where the batch alone decides, the database is not
  // asked, nor whether it has the family.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, const Slice& key, std::string* value) const {
    return GetFromBatchAndDB(db, options, nullptr, key, value);
  }

  // The same of a column family, and *expiry_micros, if not null, as from DB::GetWithExpiry: UINT64_MAX also where the
  // batch alone decides.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                           std::string* value, uint64_t* expiry_micros = nullptr) const;

  // A cursor over the updates themselves, which the caller deletes before the batch. Never nullptr; throws
  // std::bad_alloc.
  WBWIIterator* NewIterator() const { return NewIterator(nullptr); }
  WBWIIterator* NewIterator(ColumnFamilyHandle* family) const;

  // An iterator over what base shows, as it is with the batch. Takes base, an iterator over the same family, which must
  // not be positioned by anybody else any more; the caller deletes what is returned, before the batch. options: those
  // that base was made with, for their bounds; nullptr: there are none. Refresh refreshes base.
  // Updates that the batch is given while the iterator lives are seen by its next move, and so is what is taken back;
  // key() and value() must not be looked at between the change and that move.
  Iterator* NewIteratorWithBase(Iterator* base, const ReadOptions* options = nullptr) const {
    return NewIteratorWithBase(nullptr, base, options);
  }
  Iterator* NewIteratorWithBase(ColumnFamilyHandle* family, Iterator* base, const ReadOptions* options = nullptr) const;

  // The batch, to be written or looked at, with all updates in their order, also those that the index has forgotten;
  // its owner stays this object, and it must be changed by its calls alone.
  WriteBatch* GetWriteBatch();

 private:
  struct Rep;
  const std::unique_ptr<Rep> rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_WRITE_BATCH_WITH_INDEX_H_
