#include "src/ssd/table_format.h"

#include <snappy.h>
#include <zstd.h>

#include "src/util/bytes/coding.h"
#include "src/util/bytes/crc32c.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// The most that a byte of compressed data can stand for, roughly: what claims more is damaged, and not worth trying to
// get the memory for.
constexpr uint64_t kMostBlockBytes = UINT32_MAX;  // no block is read that is larger
constexpr uint64_t kMostSnappyGain = 64;
constexpr uint64_t kMostZstdGain = 64 * 1024;

// The claimed size is compared with what the stored bytes could ever give before memory is taken for it: without
// verification the bytes are not known to be whole.
bool Uncompress(uint8_t type, const Slice& stored, std::string* contents) {
  if (type == kSnappyCompression) {
    size_t size;
    if (!snappy::GetUncompressedLength(stored.data(), stored.size(), &size)) return false;
    if (size > kMostBlockBytes || size / kMostSnappyGain > stored.size()) return false;
    contents->resize(size);
    return snappy::RawUncompress(stored.data(), stored.size(), contents->data());
  }
  if (type == kZstdCompression) {
    const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return false;
    if (size > kMostBlockBytes || size / kMostZstdGain > stored.size()) return false;
    contents->resize(size);
    return ZSTD_decompress(contents->data(), size, stored.data(), stored.size()) == size;
  }
  return false;
}

}  // namespace

// A handle is a varint pair, because most files need far fewer bytes for a place than 16.
void BlockHandle::EncodeTo(std::string* dst) const {
  PutVarint64(dst, offset);
  PutVarint64(dst, size);
}

// Any two numbers: whether they are a place in the file is CheckPlace's to say.
bool BlockHandle::DecodeFrom(Slice* input) { return GetVarint64(input, &offset) && GetVarint64(input, &size); }

// The handles vary in length and the footer does not: zeros fill it up to the magic number, so a reader finds it at a
// fixed distance from the end of the file.
void Footer::EncodeTo(std::string* dst) const {
  const size_t start = dst->size();
  meta_index.EncodeTo(dst);
  index.EncodeTo(dst);
  CHECK_LE(dst->size() - start, kFooterBytes - 8);
  dst->resize(start + kFooterBytes - 8);
  PutFixed64(dst, kSstMagic);
}

// The magic number first: a file that is cut, or no table at all, is told from a damaged one by it.
bool Footer::DecodeFrom(const Slice& bytes) {
  CHECK_GE(bytes.size(), kFooterBytes);
  if (DecodeFixed64(bytes.data() + kFooterBytes - 8) != kSstMagic) return false;
  Slice handles(bytes.data(), kFooterBytes - 8);
  return meta_index.DecodeFrom(&handles) && index.DecodeFrom(&handles);
}

// The name of the file and the place in it, so that somebody can look at the bytes.
Status SstSource::Corrupt(uint64_t offset, const std::string& what) const {
  return Status::Corruption(name, "offset " + std::to_string(offset) + ": " + what);
}

// Less than an eighth saved is not worth the time of every read. An error of zstd means "not smaller".
bool CompressBlock(CompressionType type, int zstd_level, const Slice& block, std::string* dst) {
  const size_t start = dst->size();
  size_t size = 0;
  if (type == kSnappyCompression) {
    dst->resize(start + snappy::MaxCompressedLength(block.size()));
    snappy::RawCompress(block.data(), block.size(), dst->data() + start, &size);
  } else if (type == kZstdCompression) {
    dst->resize(start + ZSTD_compressBound(block.size()));
    size = ZSTD_compress(dst->data() + start, dst->size() - start, block.data(), block.size(), zstd_level);
    if (ZSTD_isError(size) != 0) size = block.size();
  } else {
    return false;
  }
  const bool worth_it = size < block.size() - block.size() / 8;
  DCHECK(!worth_it || start + size <= dst->size());
  dst->resize(worth_it ? start + size : start);
  return worth_it;
}

// The checksum covers the compression byte as well, or a flipped bit there would have the block read wrongly.
std::string BlockTrailer(CompressionType type, const Slice& stored) {
  std::string trailer(1, static_cast<char>(type));
  const uint32_t crc = Crc32c(trailer.data(), 1, Crc32c(stored.data(), stored.size()));
  PutFixed32(&trailer, MaskedCrc(crc));
  CHECK_EQ(trailer.size(), kBlockTrailerBytes);
  return trailer;
}

// Subtractions only, so that no sum of damaged numbers wraps.
Status CheckPlace(const SstSource& source, const BlockHandle& handle) {
  if (handle.offset <= source.size && handle.size <= source.size &&
      source.size - handle.offset >= handle.size + kBlockTrailerBytes) {
    return Status::OK();
  }
  return source.Corrupt(
      handle.offset, "block of " + std::to_string(handle.size) + " bytes in a file of " + std::to_string(source.size));
}

// A block that is stored uncompressed becomes the content without another copy where it was read into this buffer.
// Compression and its size are believed only as far as Uncompress can check them; with kVerify the bytes are known to
// be those that were written.
Status ReadBlock(const SstSource& source, const BlockHandle& handle, Checksums checksums, std::string* contents,
                 std::string* stored_copy, const char* bytes) {
  Status s = CheckPlace(source, handle);
  if (!s.ok()) return s;
  const size_t size = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  std::string buffer;
  Slice read(bytes, size);
  if (bytes == nullptr) {
    buffer.resize(size);
    s = source.file->Read(handle.offset, size, &read, buffer.data());
    if (!s.ok()) return s;
    if (read.size() != size) return source.Corrupt(handle.offset, "the file ends inside of a block");
  }
  if (stored_copy != nullptr) stored_copy->assign(read.data(), read.size());
  CHECK_EQ(read.size(), handle.size + kBlockTrailerBytes);
  const Slice stored(read.data(), static_cast<size_t>(handle.size));
  const uint8_t type = static_cast<uint8_t>(read[stored.size()]);
  if (checksums == Checksums::kVerify) {
    const uint32_t crc = Crc32c(read.data(), stored.size() + 1);
    if (MaskedCrc(crc) != DecodeFixed32(read.data() + stored.size() + 1) && !MIODB_MUTATED(kSsdBlockUnchecked)) {
      return source.Corrupt(handle.offset, "block checksum mismatch");
    }
  }
  // A file may hand out bytes of its own instead of filling the buffer.
  if (type == kNoCompression) {
    if (read.data() == buffer.data()) {
      buffer.resize(stored.size());
      *contents = std::move(buffer);
    } else {
      contents->assign(stored.data(), stored.size());
    }
    return s;
  }
  if (type != kSnappyCompression && type != kZstdCompression) {
    return source.Corrupt(handle.offset, "unknown compression " + std::to_string(type));
  }
  if (!Uncompress(type, stored, contents)) return source.Corrupt(handle.offset, "damaged compressed block");
  return s;
}

}  // namespace miodb
