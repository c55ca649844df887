#include "src/log/frame_reader.h"

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
    checksum = FrameFold(checksum, record.Hash());
    count++;
  }
  if (checksum != DecodeFixed64(p)) return false;
  frame->begin = p;
  frame->body = body;
  frame->end = end;
  frame->count = count;
  return true;
}

const char* FindLaterFrame(const char* p, const char* limit, uint64_t chunk_id, uint64_t after) {
  FrameView frame;
  for (const char* q = p + 1; limit - q > static_cast<ptrdiff_t>(kRecordFixedSize) + 9; q++) {
    uint32_t body_size;
    const char* const body = GetVarint32Ptr(q + 8, limit, &body_size);
    // Cheap test first: the sequence that the first record would have. 2^32 writes lie in no one chunk.
    if (body == nullptr || limit - body < 12) continue;
    const uint64_t sequence = TagSequence(DecodeFixed64(body + 4));
    if (sequence <= after || sequence > after + (uint64_t{1} << 32)) continue;
    if (ReadFrame(q, limit, chunk_id, &frame)) return q;
  }
  return nullptr;
}

}  // namespace miodb
