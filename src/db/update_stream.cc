// From frames to batches.

#include "src/db/update_stream.h"

#include <string>
#include <utility>

#include "src/api/write_batch_internal.h"
#include "src/format/record.h"
#include "src/util/check.h"
#include "src/util/family_key.h"

namespace miodb {

namespace {

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

// A batch is put in place only when it was read whole, so that after an error the same batch is tried once more.
void UpdateStream::Next() {
  valid_ = false;
  status_ = db_.WithMemory([this] { return Read(); });
  DCHECK(status_.ok() || !valid_);
}

// The batch begins here, also where a number inside of it was asked for.
uint64_t UpdateStream::sequence() const {
  DCHECK(valid_);
  return first_sequence_;
}

uint64_t UpdateStream::last_sequence() const {
  DCHECK(valid_);
  return next_ - 1;
}

uint32_t UpdateStream::dropped_family() const {
  DCHECK(valid_);
  return dropped_family_;
}

WriteBatch* UpdateStream::batch() {
  DCHECK(valid_);
  return &batch_;
}

// The chunk may be the one of before, with more in it.
Status UpdateStream::FindPart() {
  LogPart part;
  Status s = log_->FindPart(next_, &part);
  if (!s.ok()) return s;
  DCHECK(part.first_sequence <= next_ && next_ <= part.last_sequence);
  if (part.id != part_.id) position_ = 0;
  part_ = std::move(part);
  return s;
}

// Writes that became visible after the part was found may be in another chunk, so for these it is looked for again.
Status UpdateStream::Read() {
  if (next_ > log_->LastVisible()) {
    part_.extent.reset();
    return Status::OK();
  }
  if (part_.extent == nullptr || next_ > part_.last_sequence) {
    Status s = FindPart();
    if (!s.ok()) return s;
  }
  DCHECK_LE(position_, part_.bytes);
  const char* const base = part_.extent->data();
  FrameView frame;
  do {
    if (!ReadFrame(base + position_, base + part_.bytes, db_.pool->secret(), part_.id, &frame) ||
        frame.first_sequence > next_) {
      return Status::Corruption(db_.pool->path(), "log chunk " + std::to_string(part_.id) + ": the frame of write " +
                                                      std::to_string(next_) + " is damaged");
    }
    if (frame.last_sequence() < next_) position_ += frame.bytes();
  } while (frame.last_sequence() < next_);
  Status s = MakeBatch(frame);
  if (!s.ok()) return s;
  position_ += frame.bytes();
  first_sequence_ = frame.first_sequence;
  next_ = frame.last_sequence() + 1;
  valid_ = true;
  return s;
}

// A frame is what one call has written, or a group of calls: its records become the operations of one batch, with the
// keys that a program gave them. An update of a family has the family's id, by which a follower finds its own.
Status UpdateStream::MakeBatch(const FrameView& frame) {
  DCHECK(frame.count > 0 && frame.body < frame.end);
  batch_.Clear();
  dropped_family_ = kDefaultFamily;
  if (frame.has_unknown_type) {
    return Status::NotSupported(db_.pool->path(), "the log has a record of a type that this version does not know");
  }
  const bool has_families = db_.families.HasFamilies();
  RecordView record;
  for (const char* p = frame.body; p < frame.end; p += record.size()) {
    CHECK(ParseRecord(p, frame.end, &record));
    if (has_families && IsErasure(record)) {
      DCHECK_EQ(frame.count, 1u);
      dropped_family_ = FamilyOf(record.key);
      continue;
    }
    const bool of_family = has_families && FamilyOf(record.key) != kDefaultFamily;
    const uint8_t type = static_cast<uint8_t>(record.type() | (of_family ? kBatchFamily : 0));
    WriteBatchInternal::Add(&batch_, type, record.key, record.value);
  }
  DCHECK_LE(WriteBatchInternal::Count(&batch_), frame.count);
  return Status::OK();
}

}  // namespace miodb
