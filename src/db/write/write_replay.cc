// An open with a volatile pool writes once more the batches that only the log has: each batch of the log files goes
// into a memtable as it did when it was written, and from there to tables and to the SSD tier. Writers come after this,
// so the open is alone in the write path.

#include "src/db/background/ssd_tier.h"
#include "src/db/context/workers.h"
#include "src/db/write/batch_records.h"
#include "src/db/write/write_path.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

namespace {

// An open that finds no room because the SSD tier fails tries again after this, for so long.
constexpr uint64_t kSsdRetryMicros = 100 * 1000;
constexpr uint64_t kSsdPatienceMicros = 30 * 1000 * 1000;

}  // namespace

// As MakeRoom, but an SSD tier that fails for a while may delay it: it is tried again in the background.
Status WritePath::MakeRoomForReplay(uint64_t frame_bytes) {
  const uint64_t start = NowMicros();
  for (;;) {
    Status s = MakeRoom(frame_bytes, Space::Demand::kAny);
    if (!s.IsNoSpace()) return s;
    DbLock lock(control_);
    if (tier_->error().ok()) return s;
    if (NowMicros() - start > kSsdPatienceMicros || !workers_->Wait(kSsdRetryMicros)) return tier_->error();
  }
}

// The log has the batch already, so it is neither logged nor fenced, and its numbers are those that it had. An open
// that is cut off replays it again.
Status WritePath::Replay(const Slice& batch) {
  CHECK(writable_ != nullptr && db_.LogsUntilSsd());
  group_records_.clear();
  const uint64_t body_bytes = AppendRecords(batch, &group_records_);
  const uint64_t first = DecodeFixed64(batch.data());
  CHECK_EQ(first, allocated_sequence_ + 1);
  Status s = MakeRoomForReplay(FrameWriter::FrameSize(body_bytes));
  if (!s.ok()) return s;
  allocated_sequence_ += group_records_.size();
  frame_writer_->Write(chunk_, &group_records_, body_bytes, first);
  InsertGroup(first);
  tree_->last_sequence.store(allocated_sequence_, std::memory_order_release);  // release: as by a leader
  return s;
}

}  // namespace miodb
