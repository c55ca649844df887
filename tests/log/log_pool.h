// Frames in log chunks for tests: writes groups of updates and keeps what was written.

#ifndef MIODB_TESTS_LOG_LOG_POOL_H_
#define MIODB_TESTS_LOG_LOG_POOL_H_

#include <memory>
#include <string>
#include <vector>

#include "src/log/frame_writer.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {

struct Update {
  ValueType type;
  std::string key;
  std::string value;
};

// A chunk of this id in the pool, filled with 0xcc so that what nobody wrote shows.
std::unique_ptr<LogChunk> NewPoolChunk(TestPool* pool, uint64_t id, uint64_t size);

// A chunk in DRAM, as with the log off.
std::unique_ptr<LogChunk> NewMemoryChunk(uint64_t size);

// The sum of the records' sizes.
uint64_t BodySize(const std::vector<Update>& updates);

// Writes the updates as one frame and returns the places of their records.
std::vector<const char*> WriteFrame(FrameWriter* writer, LogChunk* chunk, const std::vector<Update>& updates,
                                    uint64_t first_sequence);

}  // namespace miodb::test

#endif  // MIODB_TESTS_LOG_LOG_POOL_H_
