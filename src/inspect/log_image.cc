#include "src/inspect/log_image.h"

namespace miodb {

namespace {

// A value type of a later version, or a frame that does not follow.
void CheckFrame(const PoolImage& image, const FrameView& frame, ChunkImage* chunk) {
  const std::string where = " frame at offset " + std::to_string(image.RefOf(frame.begin));
  RecordView record;
  for (const char* p = frame.body; p < frame.end; p += record.size()) {
    if (!ParseRecord(p, frame.end, &record)) return;  // ReadFrame did, so this does not happen
    if (record.type() <= kTypeValue) continue;
    chunk->problems.push_back({ChunkName(chunk->place) + "," + where, "unknown value type"});
    return;
  }
  if (!chunk->frames.empty() && frame.first_sequence != chunk->last_sequence() + 1) {
    chunk->problems.push_back({ChunkName(chunk->place) + "," + where,
                               "writes " + std::to_string(chunk->last_sequence() + 1) + " to " +
                                   std::to_string(frame.first_sequence - 1) + " are missing before it"});
  }
  chunk->frames.push_back(frame);
}

}  // namespace

ChunkImage ReadChunk(const PoolImage& image, const LogChunkPlace& place) {
  ChunkImage chunk;
  chunk.place = place;
  const char* const base = image.At(place.offset);
  const char* const end = base + (place.sealed ? place.sealed_size : place.size);
  FrameView frame;
  for (const char* p = base; p < end;) {
    if (ReadFrame(p, end, image.secret(), place.id, &frame)) {
      CheckFrame(image, frame, &chunk);
      chunk.frame_bytes += static_cast<uint64_t>(frame.end - frame.begin);
      p = frame.end;
      continue;
    }
    const char* const later = FindLaterFrame(p, end, image.secret(), place.id, chunk.last_sequence());
    if (later != nullptr || place.sealed) {
      const char* const damage_end = later != nullptr ? later : end;
      chunk.problems.push_back({ChunkName(place), "damaged from offset " + std::to_string(image.RefOf(p)) + " to " +
                                                      std::to_string(image.RefOf(damage_end))});
    }
    if (later == nullptr) break;
    p = later;
  }
  return chunk;
}

}  // namespace miodb
