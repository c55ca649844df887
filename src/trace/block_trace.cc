#include "src/trace/block_trace.h"

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"
#include "src/util/clock/clock.h"

// The figures of a line, in RocksDB's order: time in microseconds, block, kind, bytes, id and name of the column
// family, level, file, caller, whether the block is not to be kept, get, key of the get, bytes of its record, whether
// the cache had the block, whether the block has the key, keys in the block, table id, sequence, bytes of the block's
// key in the cache, bytes of the get's key, offset in the file.
//
// A block of the SSD tier may have keys of several column families, so all are told as the default family. Figures of
// a get's key are 0, which RocksDB writes where it does not know them.

namespace miodb {

namespace {

constexpr uint64_t kBlockKeyBytes = 16;  // SstReader: two numbers
constexpr size_t kMostLineBytes = 256;   // the longest line has 21 figures of which ten are single digits

}  // namespace

Status BlockTrace::Start(const std::string& path, uint64_t every, std::unique_ptr<BlockTrace>* trace) {
  trace->reset();
  return NoThrow(path, [&] {
    std::unique_ptr<TraceWriter> writer;
    Status s = NewFileTraceWriter(path, &writer);
    if (s.ok()) *trace = std::make_unique<BlockTrace>(std::move(writer), every);
    return s;
  });
}

BlockTrace::BlockTrace(std::unique_ptr<TraceWriter> writer, uint64_t every)
    : every_(every), start_wall_micros_(WallMicros()), start_nanos_(NowNanos()), writer_(std::move(writer)) {
  CHECK_GT(every_, 0u);
  const MutexLock lock(&mutex_);
  CHECK(writer_ != nullptr);
}

// The number of a block is a hash of its place, by which a block is sampled with all its accesses, as RocksDB samples.
// The time is taken under the mutex, so times ascend.
void BlockTrace::OnAccess(const BlockAccess& access) {
  const uint64_t block = Mix64(access.file, access.offset);
  if (block % every_ != 0) return;
  const MutexLock lock(&mutex_);
  if (writer_ == nullptr || !status_.ok()) return;
  const uint64_t micros = start_wall_micros_ + (NowNanos() - start_nanos_) / 1000;
  char line[kMostLineBytes];
  const int length = std::snprintf(line, sizeof(line),
                                   "%" PRIu64 ",%" PRIu64 ",%u,%" PRIu64 ",0,default,%u,%" PRIu64
                                   ",%u,%u,0,0,0,%u,0,0,0,0,%" PRIu64 ",0,%" PRIu64 "\n",
                                   micros, block, static_cast<unsigned>(access.kind), access.bytes, access.level,
                                   access.file, static_cast<unsigned>(access.caller), access.is_unkept ? 1u : 0u,
                                   access.is_hit ? 1u : 0u, kBlockKeyBytes, access.offset);
  CHECK(length > 0 && static_cast<size_t>(length) < sizeof(line));
  TraceWriter* const writer = writer_.get();
  status_ = NoThrow("block cache trace", [&] { return writer->Write(Slice(line, static_cast<size_t>(length))); });
  if (status_.ok()) accesses_++;
}

// The writer is closed also if it has failed; its first error is the one that counts.
Status BlockTrace::End() {
  const MutexLock lock(&mutex_);
  if (writer_ == nullptr) return status_;
  TraceWriter* const writer = writer_.get();
  const Status closed = NoThrow("block cache trace", [writer] { return writer->Close(); });
  if (status_.ok()) status_ = closed;
  writer_.reset();
  return status_;
}

uint64_t BlockTrace::accesses() const {
  const MutexLock lock(&mutex_);
  return accesses_;
}

}  // namespace miodb
