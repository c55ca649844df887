// Benchmarks of checksums and compressors, without a store. A compressor that this program was built without shows as
// a failure in the message.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "benchmarks/crc32c.h"
#include "benchmarks/workload.h"

#ifdef MIODB_WITH_SNAPPY
#include <snappy.h>
#endif
#ifdef MIODB_WITH_ZSTD
#include <zstd.h>
#endif

namespace miodb::bench {

namespace {

constexpr int64_t kChecksumBytes = int64_t{500} << 20;
constexpr int64_t kCompressorBytes = int64_t{1} << 30;

struct Codec {
  // Both return false on failure and when the library is not there.
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
  OpLoop loop(Blocks(*thread, kCompressorBytes), 0);
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
  OpLoop loop(Blocks(*thread, kCompressorBytes), 0);
  std::string output;
  while (loop.More()) {
    if (!codec.uncompress(packed, input.size(), &output)) return;
    thread->stats.AddBytes(input.size());
    thread->stats.counts.compressed_bytes += static_cast<int64_t>(packed.size());
    thread->stats.FinishedOp(OpType::kOther);
  }
}

}  // namespace

void Crc32cBlocks(ThreadState* thread) {
  const std::string_view block = thread->values.Next(thread->workload.block_size);
  OpLoop loop(Blocks(*thread, kChecksumBytes), 0);
  while (loop.More()) {
    thread->consumed += Crc32c(block);
    thread->stats.AddBytes(block.size());
    thread->stats.FinishedOp(OpType::kOther);
  }
}

void SnappyCompress(ThreadState* thread) { Compress(thread, kSnappy); }
void SnappyUncompress(ThreadState* thread) { Uncompress(thread, kSnappy); }
void ZstdCompress(ThreadState* thread) { Compress(thread, kZstd); }
void ZstdUncompress(ThreadState* thread) { Uncompress(thread, kZstd); }

}  // namespace miodb::bench
