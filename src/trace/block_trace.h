// The trace of blocks of table files on SSD (Options::block_cache_trace_file): which block was asked for, by whom, and
// whether the block cache had it. The file is the text that RocksDB's block_cache_trace_analyzer writes as its "human
// readable" trace, a line of 21 figures for each access, so its cache simulators and tools/block_trace read it.
//
// Threads: any. Lines are made and written one after the other under a mutex, under which none is taken.
//
// After a crash: a file whose end is missing, and whose last line may be cut.
//
// Errors: the first failure to write, or lack of memory, ends the trace and is what End returns; no read fails because
// of it.

#ifndef MIODB_SRC_TRACE_BLOCK_TRACE_H_
#define MIODB_SRC_TRACE_BLOCK_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "miodb/status.h"
#include "miodb/trace.h"
#include "src/util/threads/mutex.h"

namespace miodb {

// The numbers are RocksDB's (trace types).
enum class BlockKind : uint8_t { kIndex = 7, kFilter = 8, kData = 9 };

// Who asks for a block. The numbers are RocksDB's (TableReaderCaller).
enum class BlockCaller : uint8_t {
  kGet = 1,
  kMultiGet = 2,
  kIterator = 3,
  kOpen = 9,  // RocksDB's prefetch: index and filter of a table that is opened
  kCompaction = 10,
  kOther = 14,
};

struct BlockAccess {
  uint64_t file = 0;    // its number
  uint64_t offset = 0;  // of the block in the file
  uint64_t bytes = 0;   // of the block, uncompressed
  uint32_t level = 0;   // of the SSD tier
  BlockKind kind = BlockKind::kData;
  BlockCaller caller = BlockCaller::kOther;
  bool is_hit = false;     // the block cache had it
  bool is_unkept = false;  // the reader wants no block kept that was read for it
};

class BlockTrace {
 public:
  // Makes the file. every: of so many blocks one is traced, with all its accesses. IOError if the file cannot be made.
  static Status Start(const std::string& path, uint64_t every, std::unique_ptr<BlockTrace>* trace);

  // REQUIRES: every > 0.
  BlockTrace(std::unique_ptr<TraceWriter> writer, uint64_t every);
  BlockTrace(const BlockTrace&) = delete;
  BlockTrace& operator=(const BlockTrace&) = delete;

  void OnAccess(const BlockAccess& access) EXCLUDES(mutex_);

  // Writes what is in the file's buffer and closes the file. Later accesses are not traced; later calls give the same
  // status.
  Status End() EXCLUDES(mutex_);

  // Accesses in the trace.
  uint64_t accesses() const EXCLUDES(mutex_);

 private:
  const uint64_t every_;
  const uint64_t start_wall_micros_;
  const uint64_t start_nanos_;

  mutable Mutex mutex_;
  std::unique_ptr<TraceWriter> writer_ GUARDED_BY(mutex_);  // null: the trace has ended
  Status status_ GUARDED_BY(mutex_);                        // the first failure
  uint64_t accesses_ GUARDED_BY(mutex_) = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_TRACE_BLOCK_TRACE_H_
