#include "src/log/frame_reader.h"

#include <algorithm>
#include <vector>

#include "src/util/mutation.h"

namespace miodb {

namespace {

constexpr ptrdiff_t kBeforeTag = 4 + 8;  // the record's check and the frame's checksum; the body size lies between
constexpr ptrdiff_t kMaxSizeBytes = 5;

// Reads what can be read without knowing the chunk: all but the frame's checksum is verified. visit(hash) is called for
// every record.
template <typename Visit>
bool ParseFrame(const char* p, const char* limit, uint64_t secret, FrameView* frame, uint32_t* body_size, Visit visit) {
  if (limit - p < 9) return false;
  const char* const body = GetVarint32Ptr(p + 8, limit, body_size);
  if (body == nullptr || *body_size == 0 || static_cast<uint64_t>(limit - body) < *body_size) return false;
  const char* const end = body + *body_size;
  uint64_t count = 0;
  RecordView record;
  for (const char* q = body; q != end; q += record.size()) {
    if (!ParseRecord(q, end, &record)) return false;
    if (count == 0) {
      frame->first_sequence = record.sequence();
    } else if (record.sequence() != frame->first_sequence + count) {
      return false;
    }
    const uint64_t hash = record.Hash(secret);
    // The check itself is in no hash.
    if (DecodeFixed32(q) != static_cast<uint32_t>(hash) && !MIODB_MUTATED(kFrameRecordUnchecked)) return false;
    visit(hash);
    count++;
  }
  frame->begin = p;
  frame->body = body;
  frame->end = end;
  frame->count = count;
  return true;
}

// Looks in [p, limit) for the tag of a frame's first record, because few byte strings can be one: a known type, and a
// sequence in (after, after + window]. Calls read(begin) for each place where the frame could then begin.
template <typename Read>
const char* FindFrame(const char* p, const char* limit, uint64_t after, uint64_t window, Read read) {
  for (const char* tag = p + kBeforeTag + 1; limit - tag >= 8; tag++) {
    const uint64_t bits = DecodeFixed64(tag);
    if (TagSequence(bits) - after - 1 >= window || TagType(bits) > kTypeValue) continue;
    for (ptrdiff_t size_bytes = 1; size_bytes <= kMaxSizeBytes; size_bytes++) {
      const char* const begin = tag - kBeforeTag - size_bytes;
      if (begin >= p && read(begin)) return begin;
    }
  }
  return nullptr;
}

}  // namespace

bool ReadFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, FrameView* frame) {
  // The fold starts with the body size, which ParseFrame reads first.
  uint64_t checksum = 0;
  uint32_t body_size = 0;
  bool started = false;
  const bool parsed = ParseFrame(p, limit, secret, frame, &body_size, [&](uint64_t hash) {
    if (!started) checksum = FrameSeed(secret, chunk_id, body_size);
    started = true;
    checksum = FrameFold(checksum, hash);
  });
  return parsed && (checksum == DecodeFixed64(p) || MIODB_MUTATED(kFrameUnchecked));
}

bool ReadFrameOfAnyChunk(const char* p, const char* limit, uint64_t secret, uint64_t max_chunk_id, FrameView* frame,
                         uint64_t* chunk_id) {
  std::vector<uint64_t> hashes;
  uint32_t body_size;
  if (!ParseFrame(p, limit, secret, frame, &body_size, [&](uint64_t hash) { hashes.push_back(hash); })) return false;
  // Undo the fold, and then the seed.
  uint64_t sum = DecodeFixed64(p);
  for (auto hash = hashes.rbegin(); hash != hashes.rend(); ++hash) sum = Unmix64(sum, *hash);
  *chunk_id = secret ^ Unmix64(sum, body_size);
  return *chunk_id <= max_chunk_id;
}

const char* FindLaterFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, uint64_t after) {
  constexpr uint64_t kWindow = uint64_t{1} << 32;  // so many writes lie in no one chunk
  FrameView frame;
  if (p >= limit || MIODB_MUTATED(kFrameLaterUnseen)) return nullptr;
  return FindFrame(p + 1, limit, after, kWindow,
                   [&](const char* begin) { return ReadFrame(begin, limit, secret, chunk_id, &frame); });
}

const char* FindFrameOfAnyChunk(const char* p, const char* limit, uint64_t secret, uint64_t max_chunk_id,
                                uint64_t after, FrameView* frame, uint64_t* chunk_id) {
  return FindFrame(p, limit, after, kMaxSequence - after, [&](const char* begin) {
    return ReadFrameOfAnyChunk(begin, limit, secret, max_chunk_id, frame, chunk_id);
  });
}

}  // namespace miodb
