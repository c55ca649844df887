// UpdateStream: batches from the frames of the log, in order of sequence (DB::GetUpdatesSince).
//
// Frames up to the last sequence that reads see are whole, and nobody changes them: they are read beside writers, who
// wait for none of it but the database's mutex, which is held for a look at the list of chunks. The stream holds the
// chunk that it reads and none behind it, so that a slow one does not fill the pool.
//
// Threads: one at a time. Ownership: the database outlives it.

#ifndef MIODB_SRC_DB_UPDATE_STREAM_H_
#define MIODB_SRC_DB_UPDATE_STREAM_H_

#include <memory>

#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "src/db/kept_log.h"
#include "src/log/frame_reader.h"
#include "src/util/check.h"

namespace miodb {

class UpdateStream final : public UpdateIterator {
 public:
  // As DB::GetUpdatesSince.
  static Status Open(const DbContext& db, Control* control, const Tree* tree, const KeptLog* log, uint64_t sequence,
                     std::unique_ptr<UpdateIterator>* updates);

  bool Valid() const override { return valid_; }
  void Next() override;
  Status status() const override { return status_; }
  uint64_t sequence() const override;
  uint64_t last_sequence() const override;
  WriteBatch* batch() override;

 private:
  UpdateStream(const DbContext& db, Control* control, const Tree* tree, const KeptLog* log, uint64_t sequence)
      : db_(db), control_(control), tree_(tree), log_(log), next_(sequence) {
    CHECK(control != nullptr && tree != nullptr);
    CHECK(log != nullptr && sequence > 0);
  }

  Status Read();
  Status FindPart();
  Status MakeBatch(const FrameView& frame);

  const DbContext& db_;
  Control* const control_;
  const Tree* const tree_;
  const KeptLog* const log_;
  uint64_t next_;  // the write that is wanted next

  LogPart part_;                    // where it is looked for; without an extent at the beginning
  const char* position_ = nullptr;  // in it, of the frame behind the last that was read

  bool valid_ = false;
  Status status_;
  uint64_t first_sequence_ = 0;  // of the batch
  WriteBatch batch_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_UPDATE_STREAM_H_
