#include "tests/log/log_pool.h"

#include <cstring>

namespace miodb::test {

std::unique_ptr<LogChunk> NewPoolChunk(TestPool* pool, uint64_t id, uint64_t size) {
  auto chunk = std::make_unique<LogChunk>();
  chunk->id = id;
  chunk->extent = pool->Allocate(size);
  chunk->base = chunk->extent->data();
  chunk->capacity = chunk->extent->size();
  memset(chunk->base, 0xcc, chunk->capacity);
  return chunk;
}

std::unique_ptr<LogChunk> NewMemoryChunk(uint64_t size) {
  auto chunk = std::make_unique<LogChunk>();
  chunk->memory.reset(new char[size]);
  chunk->base = chunk->memory.get();
  chunk->capacity = size;
  return chunk;
}

uint64_t BodySize(const std::vector<Update>& updates) {
  uint64_t sum = 0;
  for (const Update& u : updates) sum += RecordSize(u.key.size(), u.value.size());
  return sum;
}

std::vector<const char*> WriteFrame(FrameWriter* writer, LogChunk* chunk, const std::vector<Update>& updates,
                                    uint64_t first_sequence) {
  std::vector<LogRecord> records;
  for (const Update& u : updates) records.push_back({u.type, u.key, u.value});
  writer->Write(chunk, &records, BodySize(updates), first_sequence);
  std::vector<const char*> places;
  for (const LogRecord& record : records) places.push_back(record.place);
  return places;
}

}  // namespace miodb::test
