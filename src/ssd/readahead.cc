#include "src/ssd/readahead.h"

#include <algorithm>

namespace miodb {

ReadaheadFile::ReadaheadFile(const RandomAccessFile* file, uint64_t file_size, size_t start_bytes, size_t most_bytes)
    : file_(file), file_size_(file_size), start_bytes_(start_bytes), most_bytes_(most_bytes), ahead_(start_bytes) {}

Status ReadaheadFile::Read(uint64_t offset, size_t n, Slice* result, char* scratch) const {
  const bool goes_on = offset == expected_;
  expected_ = offset + n;
  if (Has(offset, n)) {
    *result = Slice(buffer_.get() + (offset - begin_), n);
    return Status::OK();
  }
  if (!goes_on && start_bytes_ == 0) ahead_ = 0;
  if (goes_on) ahead_ = std::min(most_bytes_, ahead_ == 0 ? kFirstBytes : 2 * ahead_);
  if (ahead_ <= n || !Fill(offset, n).ok() || !Has(offset, n)) return file_->Read(offset, n, result, scratch);
  *result = Slice(buffer_.get() + (offset - begin_), n);
  return Status::OK();
}

// Aligned at both ends, so that direct reads need no copy.
Status ReadaheadFile::Fill(uint64_t offset, size_t n) const {
  const uint64_t from = AlignDown(offset);
  const uint64_t end = std::min(AlignUp(offset + std::max(n, ahead_)), AlignUp(file_size_));
  const size_t wanted = static_cast<size_t>(end - from);
  filled_ = 0;
  if (wanted > capacity_) {
    capacity_ = 0;
    buffer_ = NewAlignedBytes(wanted);
    capacity_ = wanted;
  }
  Slice read;
  Status s = file_->Read(from, wanted, &read, buffer_.get());
  if (!s.ok()) return s;
  if (read.data() != buffer_.get()) std::copy_n(read.data(), read.size(), buffer_.get());
  begin_ = from;
  filled_ = read.size();
  return s;
}

}  // namespace miodb
