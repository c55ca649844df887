// UpdateStream: batches from the frames of the log, in order of sequence (DB::GetUpdatesSince).
//
// Frames up to the last sequence that reads see are whole, and nobody changes them: they are read beside writers, who
// wait for none of it but a look at the list of chunks. The stream holds the chunk that it reads and none behind it, so
// that a slow one does not fill the pool; and none at its end, where it may wait for long.
//
// Threads: one at a time. Ownership: the database, which has the source of the log, outlives it.

#ifndef MIODB_SRC_DB_UPDATE_STREAM_H_
#define MIODB_SRC_DB_UPDATE_STREAM_H_

#include <memory>

#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "src/db/db_context.h"
#include "src/db/log_source.h"
#include "src/log/frame_reader.h"
#include "src/util/check.h"
#include "src/util/family_key.h"

namespace miodb {

class UpdateStream final : public UpdateIterator {
 public:
  // As DB::GetUpdatesSince.
  static Status Open(const DbContext& db, const LogSource* log, uint64_t sequence,
                     std::unique_ptr<UpdateIterator>* updates);

  bool Valid() const override { return valid_; }
  void Next() override;
  Status status() const override { return status_; }
  uint64_t sequence() const override;
  uint64_t last_sequence() const override;
  uint32_t dropped_family() const override;
  WriteBatch* batch() override;

 private:
  UpdateStream(const DbContext& db, const LogSource* log, uint64_t sequence) : db_(db), log_(log), next_(sequence) {
    CHECK(log != nullptr && sequence > 0);
  }

  Status Read();
  Status FindPart();
  Status MakeBatch(const FrameView& frame);

  const DbContext& db_;
  const LogSource* const log_;
  uint64_t next_;  // the write that is wanted next

  LogPart part_;           // where it is looked for; without an extent at the beginning and at the end
  uint64_t position_ = 0;  // in it, of the frame behind the last that was read

  bool valid_ = false;
  Status status_;
  uint64_t first_sequence_ = 0;  // of the batch
  uint32_t dropped_family_ = kDefaultFamily;
  WriteBatch batch_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_UPDATE_STREAM_H_
