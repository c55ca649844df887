// src/log/chunk_index.h: what an index says lies in its chunk, and reads by one that checks and is wrong end in
// Corruption and not outside of the chunk.

#include "miodb/comparator.h"
#include "src/log/chunk_index.h"
#include "src/memtable/sorted_chunks.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

constexpr uint64_t kChunkId = 7;
constexpr uint64_t kSecret = 0;  // that of the corpus

struct Footer {
  uint64_t checksum;
  uint64_t first_sequence;
  uint64_t count;
  uint64_t frame_bytes;
};

// Makes the checksum right, if the places lie in the chunk.
void Seal(char* base, uint64_t size) {
  Footer footer;
  if (size < sizeof(footer)) return;
  const uint64_t limit = size - sizeof(footer);
  memcpy(&footer, base + limit, sizeof(footer));
  if (footer.count == 0 || footer.count > limit / sizeof(uint32_t)) return;
  const char* const places = base + limit - footer.count * sizeof(uint32_t);
  footer.checksum = ChunkIndexChecksum(
      {reinterpret_cast<const uint32_t*>(places), footer.count, footer.first_sequence, footer.frame_bytes}, kSecret,
      kChunkId);
  memcpy(base + limit, &footer, sizeof(footer));
}

void ReadBy(const ChunkIndex& index, const char* base) {
  const KeyOrder order(BytewiseComparator());
  const bool is_right = ChunkIndexProblem(order, base, index).empty();
  SortedChunks chunks(order);
  const SortedChunk::Bytes bytes{base, index.frame_bytes, index.first_sequence, index.last_sequence()};
  chunks.Add(std::make_unique<SortedChunk>(order, bytes, index.places, index.count));
  const auto it = chunks.NewIterator();
  uint64_t seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), seen++) {
    const RecordView& record = it->record();
    FUZZ_CHECK(record.begin >= base && record.value.data() + record.value.size() <= base + index.frame_bytes);
    bool found;
    RecordView same;
    const Status s = chunks.Get(LookupKey(order, record.key, record.sequence()), &found, &same);
    if (is_right) FUZZ_CHECK(s.ok() && found && same.begin == record.begin);
  }
  if (is_right) FUZZ_CHECK(it->status().ok() && seen == index.count);
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
  }
}

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const uint8_t flags = fuzz::TakeByte(&data, &size);
  size -= size % alignof(uint64_t);  // as extents are
  fuzz::ExactBuffer bytes(data, size);
  if ((flags & 1) != 0) Seal(bytes.data(), size);
  LogChunkPlace place;
  place.id = kChunkId;
  place.size = size;
  ChunkIndex index;
  if (!ReadChunkIndex(place, bytes.data(), kSecret, &index)) return 0;
  FUZZ_CHECK(index.count > 0 && index.first_sequence > 0 && index.last_sequence() <= kMaxSequence);
  const char* const places = reinterpret_cast<const char*>(index.places);
  FUZZ_CHECK(places >= bytes.data() + index.frame_bytes);
  FUZZ_CHECK(places + ChunkIndexBytes(index.count) == bytes.end());
  ReadBy(index, bytes.data());
  return 0;
}
