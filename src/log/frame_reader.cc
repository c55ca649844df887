#include "src/log/frame_reader.h"

#include "src/util/mutation.h"

namespace miodb {

bool ReadFrame(const char* p, const char* limit, uint64_t chunk_id, FrameView* frame) {
  if (limit - p < 9) return false;
  uint32_t body_size;
  const char* const body = GetVarint32Ptr(p + 8, limit, &body_size);
  if (body == nullptr || body_size == 0 || static_cast<uint64_t>(limit - body) < body_size) return false;
  const char* const end = body + body_size;
  uint64_t checksum = FrameSeed(chunk_id, body_size);
  uint64_t count = 0;
  RecordView record;
  for (const char* q = body; q != end; q += record.size()) {
    if (!ParseRecord(q, end, &record)) return false;
    if (count == 0) {
      frame->first_sequence = record.sequence();
    } else if (record.sequence() != frame->first_sequence + count) {
      return false;
    }
    const uint64_t hash = record.Hash();
    // The check itself is in no hash.
    if (DecodeFixed32(q) != static_cast<uint32_t>(hash) && !MIODB_MUTATED(kFrameRecordUnchecked)) return false;
    checksum = FrameFold(checksum, hash);
    count++;
  }
  if (checksum != DecodeFixed64(p) && !MIODB_MUTATED(kFrameUnchecked)) return false;
  frame->begin = p;
  frame->body = body;
  frame->end = end;
  frame->count = count;
  return true;
}

const char* FindLaterFrame(const char* p, const char* limit, uint64_t chunk_id, uint64_t after) {
  // Looks for the tag of a frame's first record, because few byte strings can be one: a known type, and a sequence not
  // far above after. 2^32 writes lie in no one chunk.
  constexpr uint64_t kWindow = uint64_t{1} << 32;
  constexpr ptrdiff_t kBeforeTag = 4 + 8;  // the record's check and the frame's checksum; the body size lies between
  constexpr ptrdiff_t kMaxSizeBytes = 5;
  FrameView frame;
  if (MIODB_MUTATED(kFrameLaterUnseen)) return nullptr;
  for (const char* tag = p + 1 + kBeforeTag + 1; limit - tag >= 8; tag++) {
    const uint64_t bits = DecodeFixed64(tag);
    if (TagSequence(bits) - after - 1 >= kWindow || TagType(bits) > kTypeValue) continue;
    for (ptrdiff_t size_bytes = 1; size_bytes <= kMaxSizeBytes; size_bytes++) {
      const char* const begin = tag - kBeforeTag - size_bytes;
      if (begin > p && ReadFrame(begin, limit, chunk_id, &frame)) return begin;
    }
  }
  return nullptr;
}

}  // namespace miodb
