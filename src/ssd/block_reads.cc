#include "src/ssd/block_reads.h"

#include <algorithm>
#include <utility>

#include "src/util/check/check.h"

namespace miodb {

// Two keys in one block note it once. If a single file cannot be read past its object, the whole call comes through
// Read: half of the reads side by side would leave the other half to be waited for anyway.
void BlockReads::Add(std::shared_ptr<const RandomAccessFile> file, uint64_t offset, size_t size) {
  CHECK_GT(size, 0u);
  const RawFile raw = file->Raw();
  if (raw.descriptor < 0) possible_ = false;
  const auto is_it = [&](const Read& read) { return read.file == file && read.offset == offset && read.size == size; };
  if (std::any_of(reads_.begin(), reads_.end(), is_it)) return;
  reads_.push_back({std::move(file), raw, offset, size, nullptr});
}

// Rounds each read to the unit of its file and puts them all into one piece of memory, each at a multiple of the
// alignment that direct reads want. The files are kept by reads_ until this object goes, so their descriptors stay
// open while the kernel reads. A block that was not read whole counts as not read: the reader then reads it and meets
// the error or the end of the file.
bool BlockReads::Run(ReadRings* rings) {
  if (!possible_ || reads_.empty()) return possible_;
  std::vector<ReadRings::Read> pieces;
  size_t total = 0;
  for (const Read& read : reads_) {
    const uint64_t unit = read.raw.alignment;
    const uint64_t from = read.offset / unit * unit;
    const uint64_t end = (read.offset + read.size + unit - 1) / unit * unit;
    pieces.push_back({read.raw.descriptor, from, nullptr, static_cast<size_t>(end - from)});
    total += static_cast<size_t>(AlignUp(end - from));
  }
  space_ = NewAlignedBytes(total);
  char* bytes = space_.get();
  for (ReadRings::Read& piece : pieces) {
    piece.bytes = bytes;
    bytes += AlignUp(piece.size);
  }
  CHECK(bytes == space_.get() + total);
  if (!rings->Run(pieces.data(), pieces.size())) return false;
  for (size_t i = 0; i < reads_.size(); i++) {
    CHECK_GE(reads_[i].offset, pieces[i].offset);
    const auto lead = static_cast<size_t>(reads_[i].offset - pieces[i].offset);
    const bool has_all = pieces[i].got >= static_cast<int64_t>(lead + reads_[i].size);
    reads_[i].bytes = has_all ? pieces[i].bytes + lead : nullptr;
  }
  return true;
}

// A linear search: there are a few dozen at most, those of one group of a MultiGet.
const char* BlockReads::Find(const RandomAccessFile* file, uint64_t offset, size_t size) const {
  DCHECK_GT(size, 0u);
  for (const Read& read : reads_) {
    if (read.file.get() == file && read.offset == offset && read.size == size) return read.bytes;
  }
  return nullptr;
}

}  // namespace miodb
