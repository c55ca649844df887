// UpdateStream: batches from the frames of the log, in order of sequence (DB::GetUpdatesSince).
//
// Frames up to the last sequence that reads see are whole, and nobody changes them: they are read beside writers, who
// wait for none of it but a look at the list of chunks. The stream makes batches of some frames of one chunk at a time,
// kAheadBytes or a little more, and holds the chunk only while it does that. Between two calls it holds nothing of the
// pool: in a reader a held chunk would keep all space that comes free, for as long as the follower stands still.
//
// Threads: one at a time. Ownership: the database, which has the source of the log, outlives it.

#ifndef MIODB_SRC_DB_SPACE_UPDATE_STREAM_H_
#define MIODB_SRC_DB_SPACE_UPDATE_STREAM_H_

#include <deque>
#include <memory>

#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "src/db/context/db_context.h"
#include "src/db/space/log_source.h"
#include "src/log/frame_reader.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

class UpdateStream final : public UpdateIterator {
 public:
  // As DB::GetUpdatesSince.
  static Status Open(const DbContext& db, const LogSource* log, uint64_t sequence,
                     std::unique_ptr<UpdateIterator>* updates);

  bool Valid() const override { return valid_; }
  void Next() override;
  Status status() const override { return status_; }
  uint64_t sequence() const override { return current().first_sequence; }
  uint64_t last_sequence() const override { return current().last_sequence; }
  uint32_t dropped_family() const override { return current().dropped_family; }
  WriteBatch* batch() override {
    DCHECK(valid_);
    return &ahead_.front().updates;
  }

 private:
  struct Batch {
    uint64_t first_sequence = 0;
    uint64_t last_sequence = 0;
    uint32_t dropped_family = kDefaultFamily;
    WriteBatch updates;
  };

  UpdateStream(const DbContext& db, const LogSource* log, uint64_t sequence) : db_(db), log_(log), next_(sequence) {
    CHECK(log != nullptr && sequence > 0);
  }

  const Batch& current() const {
    DCHECK(valid_);
    return ahead_.front();
  }
  Status ReadAhead();
  Status ReadFrameWithNext(const LogPart& part, FrameView* frame);
  Status MakeBatch(const FrameView& frame, Batch* batch) const;

  const DbContext& db_;
  const LogSource* const log_;
  uint64_t next_;  // the first write behind all that was read

  uint64_t chunk_id_ = 0;  // the one that was read last, and where in it the next frame begins
  uint64_t position_ = 0;

  std::deque<Batch> ahead_;  // what was read and not passed yet; the first one is the current one
  bool valid_ = false;
  Status status_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_SPACE_UPDATE_STREAM_H_
