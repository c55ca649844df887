// From frames to batches.

#include "src/db/space/update_stream.h"

#include <string>
#include <utility>

#include "src/api/batch/write_batch_internal.h"
#include "src/format/record.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// How much is read at a time: so much DRAM, and so seldom a look at the list of chunks.
constexpr uint64_t kAheadBytes = 64 * 1024;

// The deletion of a dropped family's content, which no program has called for (Families::Drop).
bool IsErasure(const RecordView& record) {
  return record.type() == kTypeRangeDeletion && FamilyOf(record.key) != FamilyOf(record.value);
}

}  // namespace

UpdateIterator::~UpdateIterator() = default;

// The first batch is found here, so that a caller who comes too late is told at once. Numbers begin with 1: who asks
// for 0 wants all that there is.
Status UpdateStream::Open(const DbContext& db, const LogSource* log, uint64_t sequence,
                          std::unique_ptr<UpdateIterator>* updates) {
  DCHECK(updates != nullptr);
  updates->reset();
  if (db.options.log_mode != kLogPmem) {
    return Status::NotSupported("GetUpdatesSince", "the log is not in the pool: log_mode is not kLogPmem");
  }
  const uint64_t last = log->LastVisible();
  if (sequence > last + 1) {
    return Status::InvalidArgument("write " + std::to_string(sequence),
                                   "comes behind the next one; the last is " + std::to_string(last));
  }
  std::unique_ptr<UpdateStream> stream(new UpdateStream(db, log, std::max<uint64_t>(sequence, 1)));
  stream->Next();
  Status s = stream->status();
  if (s.ok()) *updates = std::move(stream);
  return s;
}

// What was read before an error is given first; then the same is tried once more.
void UpdateStream::Next() {
  if (valid_) ahead_.pop_front();
  if (ahead_.empty()) status_ = db_.WithMemory([this] { return ReadAhead(); });
  if (!ahead_.empty()) status_ = Status::OK();
  valid_ = !ahead_.empty();
}

// Writes that became visible after the part was found may be in another chunk, so for these it is looked for again. A
// batch counts as read when it is among those ahead.
Status UpdateStream::ReadAhead() {
  DCHECK(ahead_.empty());
  if (next_ > log_->LastVisible()) return Status::OK();
  LogPart part;
  Status s = log_->FindPart(next_, &part);
  if (!s.ok()) return s;
  DCHECK(part.first_sequence <= next_ && next_ <= part.last_sequence);
  if (part.id != chunk_id_) position_ = 0;
  chunk_id_ = part.id;
  uint64_t bytes = 0;
  while (next_ <= part.last_sequence && bytes < kAheadBytes) {
    FrameView frame;
    Batch batch;
    s = ReadFrameWithNext(part, &frame);
    if (s.ok()) s = MakeBatch(frame, &batch);
    if (!s.ok()) return s;
    ahead_.push_back(std::move(batch));
    next_ = frame.last_sequence() + 1;
    position_ += frame.bytes();
    bytes += frame.bytes();
  }
  return s;
}

// From the position on. The first one that is asked for may lie behind others.
Status UpdateStream::ReadFrameWithNext(const LogPart& part, FrameView* frame) {
  DCHECK_EQ(part.id, chunk_id_);
  const char* const base = part.extent->data();
  for (;; position_ += frame->bytes()) {
    DCHECK_LE(position_, part.bytes);
    if (!ReadFrame(base + position_, base + part.bytes, db_.pool->secret(), part.id, frame) ||
        frame->first_sequence > next_) {
      return Status::Corruption(db_.pool->path(), "log chunk " + std::to_string(part.id) + ": the frame of write " +
                                                      std::to_string(next_) + " is damaged");
    }
    if (frame->last_sequence() >= next_) return Status::OK();
  }
}

// A frame is what one call has written, or a group of calls: its records become the operations of one batch, with the
// keys that a program gave them. An update of a family has the family's id, by which a follower finds its own.
Status UpdateStream::MakeBatch(const FrameView& frame, Batch* batch) const {
  DCHECK(frame.count > 0 && frame.body < frame.end);
  batch->first_sequence = frame.first_sequence;  // also where a number inside of the batch was asked for
  batch->last_sequence = frame.last_sequence();
  if (frame.has_unknown_type) {
    return Status::NotSupported(db_.pool->path(), "the log has a record of a type that this version does not know");
  }
  const bool has_families = db_.families.HasFamilies();
  RecordView record;
  for (const char* p = frame.body; p < frame.end; p += record.size()) {
    CHECK(ParseRecord(p, frame.end, &record));
    if (has_families && IsErasure(record)) {
      DCHECK_EQ(frame.count, 1u);
      batch->dropped_family = FamilyOf(record.key);
      continue;
    }
    const bool of_family = has_families && FamilyOf(record.key) != kDefaultFamily;
    const uint8_t type = static_cast<uint8_t>(record.type() | (of_family ? kBatchFamily : 0));
    WriteBatchInternal::Add(&batch->updates, type, record.key, record.value);
  }
  DCHECK_LE(WriteBatchInternal::Count(&batch->updates), frame.count);
  return Status::OK();
}

}  // namespace miodb
