// A sequence of updates that a database applies as one atomic step, in the order in which they were added.
//
//   miodb::WriteBatch batch;
//   batch.Delete("from");
//   batch.Put("to", value);
//   status = db->Write(options, &batch);   // both or neither
//
// An update hides earlier ones of the same key in the same batch.
//
// Threads: any number of threads may call const methods at once; a thread that changes the batch must be alone with
// it.
//
// Ownership: the batch copies keys and values when they are added. It can be copied, moved, and used again after
// Clear().
//
// Errors: adding never fails. A batch, key or value that is too large (db.h gives the limits) is refused by
// DB::Write.

#ifndef MIODB_INCLUDE_WRITE_BATCH_H_
#define MIODB_INCLUDE_WRITE_BATCH_H_

#include <cstddef>
#include <string>

#include "miodb/export.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

class MIODB_EXPORT WriteBatch {
 public:
  // Receives the updates of a batch, one call for each. The slices are valid only during the call.
  class MIODB_EXPORT Handler {
   public:
    virtual ~Handler();
    virtual void Put(const Slice& key, const Slice& value) = 0;
    virtual void Delete(const Slice& key) = 0;
  };

  // No updates.
  WriteBatch();

  WriteBatch(const WriteBatch&) = default;
  WriteBatch& operator=(const WriteBatch&) = default;

  // What is moved from has no updates afterwards.
  WriteBatch(WriteBatch&& other) noexcept;
  WriteBatch& operator=(WriteBatch&& other) noexcept;

  ~WriteBatch();

  // Sets the value of key.
  void Put(const Slice& key, const Slice& value);

  // Removes key if it is there.
  void Delete(const Slice& key);

  // Forgets all updates. Keeps the memory for the next ones.
  void Clear();

  // Bytes that the updates take in the batch: keys, values and a few bytes for each. 12 when there are none.
  size_t ApproximateSize() const;

  // Adds all updates of source, in their order, after those already here. A batch may be appended to itself.
  void Append(const WriteBatch& source);

  // Calls the handler for every update, in their order. Corruption if the batch is damaged; the handler has then
  // seen the updates before the damage.
  Status Iterate(Handler* handler) const;

 private:
  friend class WriteBatchInternal;

  // Layout: src/api/write_batch_internal.h.
  std::string rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_WRITE_BATCH_H_
