// A write group becomes one frame. Small records are put together in DRAM and stored in one piece, for which the medium
// gets whole lines; large values go straight from the caller's memory, so that they are copied once.

#include "src/log/frame_writer.h"

#include <cstring>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// The staging area is emptied into the pool when it holds this much, so that no batch makes it large.
#ifdef MIODB_SIMULATOR
constexpr size_t kStagingBytes = 256;
#else
constexpr size_t kStagingBytes = 256 * 1024;
#endif

// The staging area grows to the longest key; above this size its memory is given back.
constexpr size_t kKeptStagingBytes = 8 * kStagingBytes;

// Values from this size on go to the pool straight from the caller's memory.
#ifdef MIODB_SIMULATOR
constexpr size_t kUnstagedValueBytes = 128;
#else
constexpr size_t kUnstagedValueBytes = 16 * 1024;
#endif

}  // namespace

// The staging area grows to twice what is needed, and what is staged moves with it.
char* FrameWriter::Reserve(size_t n) {
  if (staged_ + n > staging_.size()) staging_.resize(2 * (staged_ + n));
  return staging_.data() + staged_;
}

// A frame in one piece carries its checksum with it. A frame in several pieces has its checksum stored last, because it
// is known last. Until then its 8 bytes are those of the staging area, and a crash leaves a frame that does not check.
// The order on the medium is nobody's: all of it is unfenced, and the checksum covers every byte.
//
// used moves at the end, by the same thread that fences: readers of records get their places from the memtable.
void FrameWriter::Write(LogChunk* chunk, std::vector<LogRecord>* records, uint64_t body_size, uint64_t first_sequence) {
  DCHECK(!records->empty());
  DCHECK(first_sequence > 0 && body_size <= kMaxFrameBody);
  DCHECK_GE(chunk->room(), FrameSize(body_size));
  if (!chunk->in_pool()) {
    WriteToMemory(chunk, records, first_sequence);
    return;
  }
  const uint64_t used = chunk->used.load(std::memory_order_relaxed);  // relaxed: this thread's own
  char* const frame = chunk->base + used;
  char* copied_to = frame;  // everything of the frame before this has been copied
  // The first 8 bytes of the staging area are left for the checksum, which is known when all records are.
  staged_ = 0;
  char* p = Reserve(kMaxFrameHeader);
  staged_ = static_cast<size_t>(EncodeVarint32(p + 8, static_cast<uint32_t>(body_size)) - p);

  uint64_t checksum = FrameSeed(secret_, chunk->id, body_size);
  uint64_t sequence = first_sequence;
  bool in_pieces = false;
  for (LogRecord& record : *records) {
    record.place = copied_to + staged_;  // where it will lie, before it is there
    const bool staged_value = record.value.size() < kUnstagedValueBytes;
    p = Reserve(kMaxRecordHeader + record.key.size() + (staged_value ? record.value.size() : 0));
    uint64_t hash;
    char* end = EncodeRecordHead(p, PackTag(sequence++, record.type), record.key, record.value, secret_, &hash);
    checksum = FrameFold(checksum, hash);
    if (staged_value) {
      memcpy(end, record.value.data(), record.value.size());
      staged_ += static_cast<size_t>(end - p) + record.value.size();
    } else {
      staged_ += static_cast<size_t>(end - p);
    }
    if (staged_value && staged_ < kStagingBytes) continue;
    persist_->Copy(Purpose::kLog, copied_to, staging_.data(), staged_);
    copied_to += staged_;
    staged_ = 0;
    in_pieces = true;
    if (staged_value) continue;
    persist_->Copy(Purpose::kLog, copied_to, record.value.data(), record.value.size());
    copied_to += record.value.size();
  }
  DCHECK_EQ(static_cast<uint64_t>(copied_to + staged_ - frame), FrameSize(body_size));
  if (!in_pieces) EncodeFixed64(staging_.data(), checksum);
  persist_->Copy(Purpose::kLog, copied_to, staging_.data(), staged_);
  if (in_pieces) {
    char encoded[8];
    EncodeFixed64(encoded, checksum);
    persist_->Copy(Purpose::kLog, frame, encoded, sizeof(encoded));
  }
  if (staging_.size() > kKeptStagingBytes) std::vector<char>().swap(staging_);
  chunk->used.store(used + FrameSize(body_size), std::memory_order_relaxed);  // relaxed: for estimates
}

void FrameWriter::WriteBeside(size_t lane, const LogChunk& chunk, uint64_t offset, LogRecord* record, uint64_t sequence,
                              uint64_t ahead) const {
  const uint64_t body_size = record->size();
  DCHECK(chunk.in_pool() && sequence > ahead);
  DCHECK(body_size <= kMostBodyBeside && offset + FrameSize(body_size) <= chunk.capacity);
  char staged[kMaxFrameHeader + kMostBodyBeside];
  char* const frame = chunk.base + offset;
  char* p = EncodeVarint32(staged + 8, static_cast<uint32_t>(body_size));
  record->place = frame + (p - staged);
  uint64_t hash;
  p = EncodeRecordHead(p, PackTag(sequence, record->type), record->key, record->value, secret_, &hash);
  memcpy(p, record->value.data(), record->value.size());
  p += record->value.size();
  DCHECK_EQ(static_cast<uint64_t>(p - staged), FrameSize(body_size));
  EncodeFixed64(staged, FrameAhead(FrameFold(FrameSeed(secret_, chunk.id, body_size), hash), ahead));
  persist_->CopyBeside(lane, frame, staged, static_cast<size_t>(p - staged));
}

// With the log off nobody reads frames back, so there is no header, and a chunk is filled with records alone.
void FrameWriter::WriteToMemory(LogChunk* chunk, std::vector<LogRecord>* records, uint64_t first_sequence) {
  char* p = chunk->base + chunk->used;
  uint64_t sequence = first_sequence;
  for (LogRecord& record : *records) {
    uint64_t hash;
    record.place = p;
    p = EncodeRecordHead(p, PackTag(sequence++, record.type), record.key, record.value, secret_, &hash);
    memcpy(p, record.value.data(), record.value.size());
    p += record.value.size();
  }
  DCHECK_LE(p, chunk->base + chunk->capacity);
  chunk->used.store(static_cast<uint64_t>(p - chunk->base), std::memory_order_relaxed);  // relaxed: for estimates
}

}  // namespace miodb
