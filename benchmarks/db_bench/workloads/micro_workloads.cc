// Benchmarks of checksums and compressors, without a store. A compressor that this program was built without shows as
// a failure in the message.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "benchmarks/db_bench/workloads/workload.h"
#include "src/util/bytes/crc32c.h"

#ifdef MIODB_WITH_SNAPPY
#include <snappy.h>
#endif
#ifdef MIODB_WITH_ZSTD
#include <zstd.h>
#endif
// With this macro xxhash's functions are in the header.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace miodb::bench {

namespace {

constexpr int64_t kChecksumBytes = int64_t{500} << 20;
constexpr int64_t kCompressorBytes = int64_t{1} << 30;
constexpr int64_t kAcquireOps = 100000;
constexpr int kLoadsPerOp = 1000;  // The message of benchmarks.cc says so.
constexpr int64_t kSpinOps = 2000000;
constexpr uint64_t kSpinNanos = 1000;  // The message says so, too.

struct Codec {
  // The two functions return false on failure and when the library is not there.
  bool (*compress)(std::string_view input, int level, std::string* output);
  bool (*uncompress)(std::string_view input, size_t original_bytes, std::string* output);
};

#ifdef MIODB_WITH_SNAPPY
bool CompressWithSnappy(std::string_view input, int, std::string* output) {
  output->resize(snappy::MaxCompressedLength(input.size()));
  size_t bytes = 0;
  snappy::RawCompress(input.data(), input.size(), output->data(), &bytes);
  output->resize(bytes);
  return true;
}
bool UncompressWithSnappy(std::string_view input, size_t original_bytes, std::string* output) {
  output->resize(original_bytes);
  return snappy::RawUncompress(input.data(), input.size(), output->data());
}
#else
bool CompressWithSnappy(std::string_view, int, std::string*) { return false; }
bool UncompressWithSnappy(std::string_view, size_t, std::string*) { return false; }
#endif

#ifdef MIODB_WITH_ZSTD
bool CompressWithZstd(std::string_view input, int level, std::string* output) {
  output->resize(ZSTD_compressBound(input.size()));
  const size_t bytes = ZSTD_compress(output->data(), output->size(), input.data(), input.size(), level);
  if (ZSTD_isError(bytes)) return false;
  output->resize(bytes);
  return true;
}
bool UncompressWithZstd(std::string_view input, size_t original_bytes, std::string* output) {
  output->resize(original_bytes);
  return ZSTD_decompress(output->data(), output->size(), input.data(), input.size()) == original_bytes;
}
#else
bool CompressWithZstd(std::string_view, int, std::string*) { return false; }
bool UncompressWithZstd(std::string_view, size_t, std::string*) { return false; }
#endif

constexpr Codec kSnappy = {CompressWithSnappy, UncompressWithSnappy};
constexpr Codec kZstd = {CompressWithZstd, UncompressWithZstd};

int64_t Blocks(const ThreadState& thread, int64_t bytes) {
  return std::max<int64_t>(1, bytes / static_cast<int64_t>(thread.workload.block_size));
}

void Compress(ThreadState* thread, const Codec& codec) {
  OpLoop loop(&thread->stats, Blocks(*thread, kCompressorBytes), 0);
  std::string output;
  while (loop.More()) {
    const std::string_view input = thread->values.Next(thread->workload.block_size);
    if (!codec.compress(input, thread->workload.zstd_level, &output)) return;
    thread->stats.AddBytes(input.size());
    thread->stats.counts.compressed_bytes += static_cast<int64_t>(output.size());
    thread->stats.FinishedOp(OpType::kOther);
  }
}

void Uncompress(ThreadState* thread, const Codec& codec) {
  std::string packed;
  const std::string_view input = thread->values.Next(thread->workload.block_size);
  if (!codec.compress(input, thread->workload.zstd_level, &packed)) return;
  OpLoop loop(&thread->stats, Blocks(*thread, kCompressorBytes), 0);
  std::string output;
  while (loop.More()) {
    if (!codec.uncompress(packed, input.size(), &output)) return;
    thread->stats.AddBytes(input.size());
    thread->stats.counts.compressed_bytes += static_cast<int64_t>(packed.size());
    thread->stats.FinishedOp(OpType::kOther);
  }
}

// nullptr for compressors that are none of ours.
const Codec* CodecOf(const std::string& name) {
  if (name == "snappy") return &kSnappy;
  return name == "zstd" ? &kZstd : nullptr;
}

template <auto Hash>
void HashBlocks(ThreadState* thread) {
  const std::string_view block = thread->values.Next(thread->workload.block_size);
  OpLoop loop(&thread->stats, Blocks(*thread, kChecksumBytes), 0);
  while (loop.More()) {
    thread->consumed += Hash(block);
    thread->stats.AddBytes(block.size());
    thread->stats.FinishedOp(OpType::kOther);
  }
}

uint32_t CastagnoliCrc(std::string_view block) { return Crc32c(block.data(), block.size()); }
uint64_t XxHash(std::string_view block) { return XXH32(block.data(), block.size(), 0); }
uint64_t XxHash64(std::string_view block) { return XXH64(block.data(), block.size(), 0); }
uint64_t Xxh3(std::string_view block) { return XXH3_64bits(block.data(), block.size()); }

}  // namespace

void Crc32cBlocks(ThreadState* thread) { HashBlocks<CastagnoliCrc>(thread); }
void XxHashBlocks(ThreadState* thread) { HashBlocks<XxHash>(thread); }
void XxHash64Blocks(ThreadState* thread) { HashBlocks<XxHash64>(thread); }
void Xxh3Blocks(ThreadState* thread) { HashBlocks<Xxh3>(thread); }

// The cost of a load that later loads may not overtake.
void AcquireLoads(ThreadState* thread) {
  const int target = 1;
  const std::atomic<const int*> pointer{&target};
  OpLoop loop(&thread->stats, kAcquireOps, 0);
  while (loop.More()) {
    for (int i = 0; i < kLoadsPerOp; i++) {
      // Acquire: the cost of it is what is measured; nobody stores.
      thread->consumed += pointer.load(std::memory_order_acquire) != nullptr ? 1 : 0;
    }
    thread->stats.FinishedOp(OpType::kOther);
  }
}

// The effect of the machine on operations of a microsecond that need nothing but a CPU: no store has better
// percentiles.
void SpinMicros(ThreadState* thread) {
  OpLoop loop(&thread->stats, kSpinOps, 0);
  while (loop.More()) {
    const uint64_t start = Ticks::Now();
    while (Ticks::NanosBetween(start, Ticks::Now()) < kSpinNanos) {
    }
    thread->stats.FinishedOp(OpType::kOther);
  }
}

void Compress(ThreadState* thread) {
  if (const Codec* codec = CodecOf(thread->workload.compression)) Compress(thread, *codec);
}
void Uncompress(ThreadState* thread) {
  if (const Codec* codec = CodecOf(thread->workload.compression)) Uncompress(thread, *codec);
}

void SnappyCompress(ThreadState* thread) { Compress(thread, kSnappy); }
void SnappyUncompress(ThreadState* thread) { Uncompress(thread, kSnappy); }
void ZstdCompress(ThreadState* thread) { Compress(thread, kZstd); }
void ZstdUncompress(ThreadState* thread) { Uncompress(thread, kZstd); }

}  // namespace miodb::bench
