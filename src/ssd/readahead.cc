#include "src/ssd/readahead.h"

#include <algorithm>
#include <cstring>
#include <new>

// A walk begins with reads as it asks for them. When a read begins where the last one ended, the walk is seen to go
// on: the next read brings more than was asked for, first a little, then twice as much each time, up to the most.
// There a helper reads the next piece while the walk works on this one. A read anywhere else begins all of that anew,
// unless a start size was asked for.
//
// Two buffers are enough: now_, which the walk reads from, and next_, which the helper fills. Bytes across the border
// of the two are put in front of next_, where there is room for them (kRoom).

namespace miodb {

// expected_ is where the first read of a walk counts as going on: at the beginning of the file if the walk came from
// another file and was reading ahead there, otherwise nowhere.
ReadaheadFile::ReadaheadFile(const RandomAccessFile* file, uint64_t file_size, const Options& options)
    : file_(file),
      file_size_(file_size),
      options_(options),
      own_ahead_(options.start_bytes),
      ahead_(options.ahead != nullptr ? options.ahead : &own_ahead_),
      expected_(*ahead_ > options.start_bytes ? 0 : UINT64_MAX) {
  CHECK(file_ != nullptr);
  static_assert(kRoom % kDirectAlignment == 0);
}

ReadaheadFile::~ReadaheadFile() { EndNext(); }

// First what is there, then what a helper has read meanwhile, then a read of its own: of the bytes that were asked
// for, or, once the walk is seen to go on, of more. If reading ahead is not possible, exactly the requested bytes are
// read, so an error beyond the walk's end is never met.
Status ReadaheadFile::Read(uint64_t offset, size_t n, Slice* result, char* scratch) const {
  const bool goes_on = offset == expected_;
  expected_ = offset + n;
  if (!Has(offset, n) && !TakeNext(offset, n)) {
    if (!goes_on && options_.start_bytes == 0) *ahead_ = 0;
    const size_t most = options_.most_bytes;
    if (goes_on) *ahead_ = *ahead_ == 0 ? std::min(most, kFirstBytes) : *ahead_ <= most / 2 ? 2 * *ahead_ : most;
    const uint64_t end = offset + std::min<uint64_t>(std::max(n, *ahead_), file_size_ - std::min(offset, file_size_));
    if (*ahead_ <= n || !Fill(&now_, AlignDown(offset), AlignUp(end)).ok() || !Has(offset, n)) {
      return file_->Read(offset, n, result, scratch);
    }
    BeginNext();
  }
  *result = Slice(now_.at(offset), n);
  return Status::OK();
}

// Aligned at both ends, so that direct reads need no copy.
Status ReadaheadFile::Fill(Buffer* buffer, uint64_t from, uint64_t end) const {
  CHECK(from < end && from == AlignDown(from));
  const size_t wanted = static_cast<size_t>(end - from);
  buffer->begin = buffer->end = 0;
  if (wanted > buffer->capacity) {
    buffer->capacity = 0;
    buffer->space = NewAlignedBytes(kRoom + wanted);
    buffer->capacity = wanted;
  }
  char* const to = buffer->space.get() + kRoom;
  Slice read;
  Status s = file_->Read(from, wanted, &read, to);
  if (!s.ok()) return s;
  if (read.data() != to) std::copy_n(read.data(), read.size(), to);
  buffer->begin = buffer->read_from = from;
  buffer->end = from + read.size();
  return s;
}

// Helpers read ahead only at the full size, because before that nobody knows whether the walk goes on. The task has
// next_ to itself until EndNext, which waits for it; and the helper's error is dropped, because the same bytes are
// read again if the walk really gets there.
void ReadaheadFile::BeginNext() const {
  EndNext();
  CHECK(task_ == nullptr);  // it would write where this one does
  next_.begin = next_.end = 0;
  const uint64_t from = now_.end;
  if (options_.helpers == nullptr || *ahead_ < options_.most_bytes || from >= file_size_ || from != AlignDown(from)) {
    return;
  }
  const uint64_t end = AlignUp(from + std::min<uint64_t>(*ahead_, file_size_ - from));
  task_ = std::make_unique<HelperThreads::Task>(
      [this, from, end](size_t) {
        try {
          Fill(&next_, from, end).IgnoreError();  // a failure is met again where the bytes are needed
        } catch (const std::exception&) {
          // This failure, too, is met again where the bytes are needed.
        }
      },
      1);
  options_.helpers->Begin(task_.get(), 1);
}

// The destructor comes here first, too: no helper may write to a buffer that is gone.
void ReadaheadFile::EndNext() const {
  if (task_ == nullptr) return;
  options_.helpers->Finish(task_.get());
  task_.reset();
}

// Goes on with what was read behind now_, if that has the rest of these bytes. Bytes of the request that now_ has go in
// front.
bool ReadaheadFile::TakeNext(uint64_t offset, size_t n) const {
  if (task_ == nullptr || offset < now_.begin || offset > now_.end) return false;
  EndNext();
  const size_t kept = static_cast<size_t>(now_.end - offset);
  if (next_.begin != now_.end || next_.end < offset + n || kept > kRoom) return false;
  CHECK_EQ(next_.read_from, now_.end);
  memcpy(next_.space.get() + kRoom - kept, now_.at(offset), kept);
  next_.begin = offset;
  std::swap(now_, next_);
  BeginNext();
  return true;
}

}  // namespace miodb
