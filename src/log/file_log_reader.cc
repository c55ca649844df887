// Fragments and records of log files by their bytes. A reader stops at the first that does not check; whether that is
// the end or damage is another question, which a search behind it answers (HasLaterBatch).

#include "src/log/file_log_reader.h"

#include <algorithm>
#include <cstring>

#include "src/api/batch/write_batch_internal.h"
#include "src/log/file_log_format.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/crc32c.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// A batch begins with its sequence.
constexpr size_t kSequenceBytes = sizeof(uint64_t);

// Places that are tried in one piece, and the most that is looked at from the last of them: a fragment that has not all
// of a sequence, and the longest one behind it.
constexpr size_t kSearchBytes = 1024 * 1024;
constexpr size_t kMostLookBytes = kFragmentHeaderBytes + kSequenceBytes + kFragmentHeaderBytes + 0xffff;

// Sequences this far apart are not in neighbouring files.
constexpr uint64_t kSequenceWindow = uint64_t{1} << 32;

size_t PayloadSize(const char* header) {
  return static_cast<uint8_t>(header[4]) | static_cast<size_t>(static_cast<uint8_t>(header[5])) << 8;
}

// The payload of a fragment of which limit bytes are there, if its checksum is right. The size is checked first, since
// the checksum is computed over so many bytes.
bool CheckFragment(const char* header, uint64_t limit, Slice* payload) {
  if (limit < kFragmentHeaderBytes) return false;
  const size_t size = PayloadSize(header);
  if (size > limit - kFragmentHeaderBytes) return false;
  *payload = Slice(header + kFragmentHeaderBytes, size);
  return DecodeFixed32(header) == MaskedCrc(Crc32c(header + 6, size + 1)) || MIODB_MUTATED(kLogFileUnchecked);
}

}  // namespace

// Reads the fragment at *offset, or in the next block where this one has no room for a header, and moves *offset behind
// it.
bool FileLogReader::ReadFragment(uint64_t* offset, uint8_t* type, Slice* payload) const {
  uint64_t block_left = block_size_ - *offset % block_size_;
  if (block_left < kFragmentHeaderBytes) {
    *offset += block_left;
    block_left = block_size_;
  }
  const Slice rest = bytes_->At(*offset, block_left);  // of the block
  if (rest.size() < kFragmentHeaderBytes) return false;
  const char* const header = rest.data();
  *type = static_cast<uint8_t>(header[6]);
  if (*type == kPaddingFragment && header[4] == 0 && header[5] == 0) {
    *offset += block_left;
    *payload = Slice();
    // Padding goes up to the end of a block and no further, so what follows a hole was not written behind this.
    return bytes_->SkipHole(*offset) < *offset + block_size_;
  }
  if (*type > kLastFragment || !CheckFragment(header, rest.size(), payload)) return false;
  *offset += kFragmentHeaderBytes + payload->size();
  DCHECK_LE(*offset, bytes_->size());
  return true;
}

// Reads the fragment that begins a record, behind any padding.
bool FileLogReader::ReadFirstFragment(uint64_t* offset, uint8_t* type, Slice* payload) const {
  DCHECK_GE(*offset, valid_bytes_);
  do {
    if (!ReadFragment(offset, type, payload)) return false;
  } while (*type == kPaddingFragment);
  return true;
}

// valid_bytes_ moves over a record as a whole: one of which the last fragment is missing was never there. No padding
// lies inside of a record, so zeros there are pages that were lost, and what follows them may be of another record.
bool FileLogReader::Next(Slice* record, std::string* scratch) {
  uint64_t offset = valid_bytes_;
  uint8_t type;
  Slice payload;
  if (!ReadFirstFragment(&offset, &type, &payload)) return false;
  if (type == kFullFragment) {
    *record = payload;
    valid_bytes_ = offset;
    return true;
  }
  if (type != kFirstFragment) return false;
  scratch->assign(payload.data(), payload.size());
  do {
    if (!ReadFragment(&offset, &type, &payload)) return false;
    if (type != kMiddleFragment && type != kLastFragment) return false;
    scratch->append(payload.data(), payload.size());
  } while (type != kLastFragment);
  *record = *scratch;
  DCHECK_GT(offset, valid_bytes_);
  valid_bytes_ = offset;
  return true;
}

// The first fragment behind valid_bytes_ may be that of the next record, whose rest a killed process has not written:
// it is no sign of a later one, and neither are the bytes in it. In front of it is padding, or zeros that lie over
// records.
bool FileLogReader::HasLaterBatch(uint64_t last, uint64_t flushed) const {
  const uint64_t after = std::max(last, flushed);
  uint64_t end = valid_bytes_;
  uint8_t type;
  Slice first;
  const bool begins = ReadFirstFragment(&end, &type, &first);
  if (!begins && last == after && NextBlockBegins(last + 1)) return true;
  if (!begins || type != kFirstFragment) return HasLaterBatchIn(valid_bytes_, bytes_->size(), after);
  const uint64_t begin = end - kFragmentHeaderBytes - first.size();
  return HasLaterBatchIn(valid_bytes_, begin, after) || HasLaterBatchIn(end, bytes_->size(), after);
}

// Where no fragment is read, and the next record begins the next block all the same, the bytes in between were written
// as padding. No crash leaves other bytes than zeros there, whatever pages it takes, and zeros would have been skipped.
bool FileLogReader::NextBlockBegins(uint64_t sequence) const {
  uint64_t offset = (valid_bytes_ + block_size_ - 1) / block_size_ * block_size_;
  uint8_t type;
  Slice payload;
  return ReadFragment(&offset, &type, &payload) && (type == kFullFragment || type == kFirstFragment) &&
         payload.size() >= kSequenceBytes && DecodeFixed64(payload.data()) == sequence;
}

// A first fragment takes what is left of its block, which may be fewer bytes than a sequence: the others then lie
// behind the header of the next block, and the fragment there has to check as well.
bool FileLogReader::BeginsLaterBatch(uint64_t offset, const Slice& rest, uint64_t after) const {
  DCHECK_GE(rest.size(), kFragmentHeaderBytes + kBatchHeaderBytes);
  const char* const header = rest.data();
  if (header[6] != kFullFragment && header[6] != kFirstFragment) return false;
  const auto is_later = [&](const char* p) { return DecodeFixed64(p) - after - 2 < kSequenceWindow; };
  const char* const begin = header + kFragmentHeaderBytes;
  const size_t size = PayloadSize(header);
  Slice payload;
  if (size >= kSequenceBytes) return is_later(begin) && CheckFragment(header, rest.size(), &payload);
  const size_t missing = kSequenceBytes - size;
  const size_t here = kFragmentHeaderBytes + size;
  if (header[6] != kFirstFragment || (offset + here) % block_size_ != 0) return false;
  if (rest.size() < here + kFragmentHeaderBytes + missing) return false;
  const char* const next = header + here;
  char sequence[kSequenceBytes];
  memcpy(sequence, begin, size);
  memcpy(sequence + size, next + kFragmentHeaderBytes, missing);
  return is_later(sequence) && CheckFragment(header, here, &payload) &&
         (next[6] == kMiddleFragment || next[6] == kLastFragment) && PayloadSize(next) >= missing &&
         CheckFragment(next, rest.size() - here, &payload);
}

// Any place is tried, because after damage nobody knows where a fragment begins. Few places pass the look at the
// sequence, so few checksums are computed.
bool FileLogReader::HasLaterBatchIn(uint64_t from, uint64_t until, uint64_t after) const {
  while (from < until) {
    // A header may begin in a hole, but its last byte, the type, is not zero.
    const uint64_t data = bytes_->SkipHole(from);
    if (data > from + kFragmentHeaderBytes - 1) from = data - (kFragmentHeaderBytes - 1);
    if (from >= until) return false;
    const Slice piece = bytes_->At(from, std::min<uint64_t>(kSearchBytes + kMostLookBytes, until - from));
    if (piece.size() < kFragmentHeaderBytes + kBatchHeaderBytes) return false;
    const size_t places = std::min(kSearchBytes, piece.size() - kFragmentHeaderBytes - kBatchHeaderBytes + 1);
    for (size_t i = 0; i < places; i++) {
      const Slice rest(piece.data() + i, piece.size() - i);
      if (BeginsLaterBatch(from + i, rest, after)) return true;
    }
    from += places;
  }
  return false;
}

}  // namespace miodb
