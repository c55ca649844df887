#include "src/log/chunk_index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "src/format/record.h"
#include "src/log/record_order.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

struct ChunkFooter {
  uint64_t checksum;
  uint64_t first_sequence;
  uint64_t count;
  uint64_t frame_bytes;
};
static_assert(sizeof(ChunkFooter) == 32 && offsetof(ChunkFooter, first_sequence) == 8 &&
              offsetof(ChunkFooter, frame_bytes) == 24);

// Tells an index from frames, whose checksums are seeded with the same secret and id. The last byte is the version.
constexpr uint64_t kSeed = 0x6368756e6b697801u;

// Adds the places of the records of frames as they lie. False if that is not what an index may be of: a range that is
// deleted is not found by a key.
bool CollectPlaces(const char* base, uint64_t bytes, uint64_t first_sequence, std::vector<uint32_t>* places) {
  DCHECK(places->empty() && bytes <= kMaxOrderedBytes);
  const char* const end = base + bytes;
  uint64_t next = first_sequence;
  RecordView record;
  for (const char* p = base; p < end;) {
    uint32_t body_bytes;
    const char* body = end - p < 9 ? nullptr : GetVarint32Ptr(p + 8, end, &body_bytes);
    if (body == nullptr || static_cast<uint64_t>(end - body) < body_bytes || body_bytes == 0) return false;
    for (p = body + body_bytes; body < p; body += record.size()) {
      if (!ParseRecord(body, p, &record) || record.sequence() != next || !IsKnownType(record.type())) return false;
      places->push_back(static_cast<uint32_t>(body - base));
      next++;
    }
  }
  return next > first_sequence;
}

}  // namespace

uint64_t ChunkIndexChecksum(const ChunkIndex& index, uint64_t secret, uint64_t chunk_id) {
  DCHECK_GT(index.count, 0u);
  const uint64_t figures[] = {index.first_sequence, index.count, index.frame_bytes};
  const uint64_t seed = Mix64(secret ^ (MIODB_MUTATED(kChunkIndexIdUnseeded) ? 0 : chunk_id), kSeed);
  return Hash64(index.places, index.count * sizeof(uint32_t), Hash64(figures, sizeof(figures), seed));
}

uint64_t ChunkIndexBytes(uint64_t count) { return count * sizeof(uint32_t) + sizeof(ChunkFooter); }

// An eighth more than the average asks for, as records differ.
uint64_t ChunkIndexRoom(uint64_t chunk_bytes, uint64_t record_bytes) {
  DCHECK_GT(record_bytes, 0u);
  DCHECK_GT(chunk_bytes, 0u);
  const uint64_t count = chunk_bytes / (record_bytes + sizeof(uint32_t)) + 1;
  return std::min(chunk_bytes / 2, ChunkIndexBytes(count + count / 8 + 8));
}

// The whole index is one store, whose end is the end of the extent.
bool WriteChunkIndex(Persist* persist, const KeyOrder& order, uint64_t secret, const LogChunk& chunk) {
  CHECK(chunk.in_pool());
  const uint64_t used = chunk.used.load(std::memory_order_relaxed);  // relaxed: the chunk is complete
  const uint64_t size = chunk.extent->size();
  CHECK_LE(used, size);
  if (used == 0 || used > kMaxOrderedBytes || size - used < sizeof(ChunkFooter)) return false;
  std::vector<uint32_t> places;
  if (!CollectPlaces(chunk.base, used, chunk.first_sequence, &places) || ChunkIndexBytes(places.size()) > size - used)
    return false;
  SortByKey(order, chunk.base, chunk.base + used, &places);
  const ChunkIndex index = {places.data(), places.size(), chunk.first_sequence, used};
  const ChunkFooter footer = {ChunkIndexChecksum(index, secret, chunk.id), index.first_sequence, index.count, used};
  DCHECK_GT(chunk.first_sequence, 0u);
  const size_t place_bytes = places.size() * sizeof(uint32_t);
  std::vector<char> bytes(ChunkIndexBytes(places.size()));
  memcpy(bytes.data(), places.data(), place_bytes);
  memcpy(bytes.data() + place_bytes, &footer, sizeof(footer));
  persist->Copy(Purpose::kFlush, chunk.base + size - bytes.size(), bytes.data(), bytes.size());
  return true;
}

// The bytes are a medium's: everything is compared with the chunk's size before what it leads to is touched.
bool ReadChunkIndex(const LogChunkPlace& place, const char* base, uint64_t secret, ChunkIndex* index) {
  ChunkFooter footer;
  if (place.size < sizeof(footer)) return false;
  const uint64_t limit = place.size - sizeof(footer);
  memcpy(&footer, base + limit, sizeof(footer));
  const uint64_t count = footer.count;
  if (count == 0 || footer.frame_bytes > std::min(limit, kMaxOrderedBytes)) return false;
  if (count > (limit - footer.frame_bytes) / sizeof(uint32_t) || count > footer.frame_bytes) return false;
  if (footer.first_sequence == 0 || footer.first_sequence > kMostReadSequence - count) return false;
  if (place.sealed && footer.frame_bytes != place.sealed_size) return false;
  const char* const places = base + limit - count * sizeof(uint32_t);
  DCHECK_GE(places, base + footer.frame_bytes);
  *index = {reinterpret_cast<const uint32_t*>(places), count, footer.first_sequence, footer.frame_bytes};
  return ChunkIndexChecksum(*index, secret, place.id) == footer.checksum || MIODB_MUTATED(kChunkIndexUnchecked);
}

std::string ChunkIndexProblem(const KeyOrder& order, const char* base, const ChunkIndex& index) {
  DCHECK(index.places != nullptr);
  std::vector<uint32_t> places;
  if (!CollectPlaces(base, index.frame_bytes, index.first_sequence, &places) || places.size() != index.count) {
    return "its index of " + std::to_string(index.count) + " writes from " + std::to_string(index.first_sequence) +
           " on does not go with its frames";
  }
  SortByKey(order, base, base + index.frame_bytes, &places);
  const bool same = std::equal(places.begin(), places.end(), index.places);
  return same ? std::string() : "its index is not in the order of the keys";
}

}  // namespace miodb
