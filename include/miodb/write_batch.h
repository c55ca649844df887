// A sequence of updates that a database applies as one atomic step, in the order in which they were added.
//
//   miodb::WriteBatch batch;
//   batch.Delete("from");
//   batch.Put("to", value);
//   status = db->Write(options, &batch);   // both or neither
//
// An update hides earlier ones of the same key in the same batch. A batch is also the fast way to load data: one frame
// of the log and one fence serve all its updates.
//
// A program that was handed a batch reads its content like this:
//
//   struct Printer : miodb::WriteBatch::Handler {
//     void Put(const miodb::Slice& key, const miodb::Slice&) override { puts(("put " + key.ToString()).c_str()); }
//     void Delete(const miodb::Slice& key) override { puts(("delete " + key.ToString()).c_str()); }
//   } printer;
//   status = batch.Iterate(&printer);
//
// After a crash: if DB::Write has returned OK for a batch, all of its updates are there, as far as a single write would
// be kept (db.h). If DB::Write was running, a crash keeps the whole batch or nothing.
//
// Threads: any number of threads may call const methods at once; a thread that changes the batch must be alone with
// it. The same holds for the thread in DB::Write, which only reads it: so one batch may be written to two databases at
// once.
//
// Ownership: the batch copies keys and values when they are added. A batch can be copied, moved, and used again after
// Clear(). DB::Write keeps nothing of it.
//
// Units: sizes are bytes. The batch holds for each update 1 byte for its kind, the key, the value of a put or merge or
// the end of a range, and in front of each of these its length, which takes 1 byte below 128, 2 below 16384, and so on
// up to 5. A key of another column family than the default one takes 12 bytes more.
//
// Errors: adding never fails, except that without memory it throws std::bad_alloc, as a std::string does; the batch
// must then be cleared before it is used again. A batch, key or value that is too large (db.h gives the limits) is
// refused by DB::Write as a whole, with InvalidArgument.

#ifndef MIODB_INCLUDE_WRITE_BATCH_H_
#define MIODB_INCLUDE_WRITE_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "miodb/export.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

class ColumnFamilyHandle;

class MIODB_EXPORT WriteBatch {
 public:
  // Receives the updates of a batch, one call for each. The slices are valid only during the call: whoever needs them
  // longer copies them (Slice::ToString). An exception of a handler leaves Iterate. A handler must not change the batch
  // that it is called for.
  class MIODB_EXPORT Handler {
   public:
    virtual ~Handler();
    // The batch sets the value of this key; an empty value is a value.
    virtual void Put(const Slice& key, const Slice& value) = 0;
    // The batch removes this key, which may have been put by the same batch.
    virtual void Delete(const Slice& key) = 0;
    // The batch merges an operand into this key, or removes it by a single deletion. An error ends Iterate, which
    // returns it. The default is NotSupported, so that nobody who does not know them leaves them out by mistake. Not
    // LevelDB's.
    virtual Status Merge(const Slice& key, const Slice& operand);
    virtual Status SingleDelete(const Slice& key);
    // The batch removes all keys from begin up to end, which is not one of them. Otherwise as the two before.
    virtual Status DeleteRange(const Slice& begin, const Slice& end);
    // The same of another column family than the default one, by its id. The defaults are NotSupported, for the same
    // reason. Not LevelDB's.
    virtual Status PutCF(uint32_t family, const Slice& key, const Slice& value);
    virtual Status DeleteCF(uint32_t family, const Slice& key);
    virtual Status MergeCF(uint32_t family, const Slice& key, const Slice& operand);
    virtual Status SingleDeleteCF(uint32_t family, const Slice& key);
    virtual Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end);
  };

  // A batch without updates. Writing it changes nothing; with sync it makes the writes before it durable.
  WriteBatch();

  // A copy has its own bytes; both may be changed afterwards.
  WriteBatch(const WriteBatch&) = default;
  WriteBatch& operator=(const WriteBatch&) = default;

  // The updates go to this batch; the one that was moved from has none afterwards and may be filled again.
  WriteBatch(WriteBatch&& other) noexcept;
  WriteBatch& operator=(WriteBatch&& other) noexcept;

  ~WriteBatch();

  // Sets the value of key. Neither size is checked here, but when the batch is written.
  void Put(const Slice& key, const Slice& value);

  // Removes key if it is there when the batch is applied; a put of the same key earlier in this batch is undone by it.
  // A delete takes space in log and tables too, until a merge meets what it hides.
  void Delete(const Slice& key);

  // As DB::Merge and DB::SingleDelete (db.h), whose conditions hold. Not LevelDB's.
  void Merge(const Slice& key, const Slice& operand) { Merge(nullptr, key, operand); }
  void SingleDelete(const Slice& key) { SingleDelete(nullptr, key); }

  // Removes all keys k with begin <= k < end, also those that were put earlier in this batch (db.h). Not LevelDB's.
  void DeleteRange(const Slice& begin, const Slice& end) { DeleteRange(nullptr, begin, end); }

  // The same in this column family (column_family.h). The batch keeps the family's number and not the handle. Whether
  // the family is still there is asked when the batch is written: if one of them was dropped, nothing of it is. nullptr
  // and the default family's handle stand for the calls without one. A batch with families can be written to the
  // handles' database alone. Not LevelDB's.
  void Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value);
  void Delete(ColumnFamilyHandle* family, const Slice& key);
  void Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand);
  void SingleDelete(ColumnFamilyHandle* family, const Slice& key);
  void DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end);

  // Forgets all updates. Keeps the memory for the next ones, until the batch is destroyed.
  void Clear();

  // Bytes of the batch, by which a program may decide to write it and begin the next: keys, values and a few bytes for
  // each. 12 when there are no updates, which is the header. Takes no time.
  size_t ApproximateSize() const;

  // Adds all updates of source, in their order, after those already here; source stays as it is. A batch may be
  // appended to itself. Takes time for the bytes of source, not for its updates.
  void Append(const WriteBatch& source);

  // Calls the handler for every update, in their order, hidden ones too. Corruption if the batch is damaged, which no
  // batch is that was filled by the calls above; the handler has then seen the updates before the damage. Or what the
  // handler returned.
  Status Iterate(Handler* handler) const;

 private:
  friend class WriteBatchInternal;

  // Layout: src/api/batch/write_batch_internal.h.
  std::string rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_WRITE_BATCH_H_
