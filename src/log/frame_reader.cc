// Frames by their bytes. A whole log chunk is read frame by frame, and where something does not check a search looks
// for what follows; the search of a damaged pool looks everywhere, within an allowance.

#include "src/log/frame_reader.h"

#include <bit>
#include <cstring>

#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

constexpr ptrdiff_t kBeforeTag = 4 + 8;  // the record's check and the frame's checksum; the body size lies between
constexpr ptrdiff_t kMaxSizeBytes = 5;

// Reads what can be read without knowing the chunk. take(record) is called for every record and says whether it checks;
// not before the tag behind it is the next one, or the frame ends there: few byte strings come that far, so little is
// hashed of those that are no frame.
template <typename Take>
bool ParseFrame(const char* p, const char* limit, FrameView* frame, uint32_t* body_size, Take take) {
  if (limit - p < 9) return false;
  const char* const body = GetVarint32Ptr(p + 8, limit, body_size);
  if (body == nullptr || *body_size == 0 || static_cast<uint64_t>(limit - body) < *body_size) return false;
  const char* const end = body + *body_size;
  RecordView record, next;
  if (!ParseRecord(body, end, &record) || record.sequence() > kMostReadSequence) return false;
  // Every record but the first has to follow the one before it in sequence.
  frame->first_sequence = record.sequence();
  frame->has_unknown_type = false;
  for (frame->count = 1;; frame->count++) {
    const char* const q = record.begin + record.size();
    if (q != end && (!ParseRecord(q, end, &next) || next.sequence() != frame->first_sequence + frame->count)) {
      return false;
    }
    if (!take(record)) return false;
    frame->has_unknown_type = frame->has_unknown_type || !IsKnownLogType(record.type());
    if (q == end) break;
    record = next;
  }
  frame->begin = p;
  frame->body = body;
  frame->end = end;
  return true;
}

// The check itself is in no hash, so it can be compared with one.
bool RecordChecks(const RecordView& record, uint64_t hash) {
  return DecodeFixed32(record.begin) == static_cast<uint32_t>(hash) || MIODB_MUTATED(kFrameRecordUnchecked);
}

// Whether a frame of so many records can be so far ahead: one that is written beside others has one record.
bool IsAhead(uint64_t ahead, uint64_t count) { return ahead == 0 || (ahead < kLogWindow && count == 1); }

// Tells of many places at once that no tag with a sequence in (after, after + kWindow] lies there: by the two highest
// bytes, which such sequences have in common, and by zeros. Chunks that were made ready and never used are searched
// from end to end, so that is most of what a search does.
class TagSieve {
 public:
  static constexpr uint64_t kWindow = uint64_t{1} << 32;  // so many writes lie in no one chunk
  static constexpr ptrdiff_t kPlaces = 16;
  static constexpr ptrdiff_t kBytes = kPlaces + 8;  // that are looked at

  explicit TagSieve(uint64_t after) : least_(after + 1), most_(after + kWindow) {}

  // Whether a tag may begin at one of kPlaces places. REQUIRES: kBytes can be read.
  bool MayBegin(const char* place) const {
    const Bytes any = (Load(place) | Load(place + 8)) != 0;
    const Bytes first = Load(place + 7), second = Load(place + 6);
    const Bytes both = ((first == Byte(least_, 48)) | (first == Byte(most_, 48))) &
                       ((second == Byte(least_, 40)) | (second == Byte(most_, 40)));
    return IsAny(any) && IsAny(both);
  }

 private:
  using Bytes = uint8_t __attribute__((vector_size(kPlaces)));

  static Bytes Load(const char* p) {
    Bytes bytes;
    memcpy(&bytes, p, sizeof(bytes));
    return bytes;
  }
  static uint8_t Byte(uint64_t sequence, int shift) { return static_cast<uint8_t>(sequence >> shift); }
  static bool IsAny(const Bytes& bytes) {
    uint64_t words[2];
    static_assert(sizeof(words) == sizeof(bytes));
    memcpy(words, &bytes, sizeof(words));
    return (words[0] | words[1]) != 0;
  }

  const uint64_t least_, most_;
};

// Looks in [p, limit) for the tag of a frame's first record, because few byte strings can be one: a known type, and a
// sequence in (after, after + window]. sieve: of that; null: there is none. Calls read(begin) for each place where the
// frame could then begin.
template <typename Read>
const char* FindFrame(const char* p, const char* limit, uint64_t after, uint64_t window, const TagSieve* sieve,
                      Read read) {
  const char* sieved = p;  // places before it were looked at
  for (const char* tag = p + kBeforeTag + 1; limit - tag >= 8; tag++) {
    if (sieve != nullptr && tag >= sieved) {
      while (limit - tag >= TagSieve::kBytes && !sieve->MayBegin(tag)) tag += TagSieve::kPlaces;
      sieved = tag + TagSieve::kPlaces;
      if (limit - tag < 8) break;
    }
    if (!IsKnownLogType(static_cast<uint8_t>(*tag)) || TagSequence(DecodeFixed64(tag)) - after - 1 >= window) continue;
    // The body size ends before the record's check: its last byte has the high bit clear, those before have it set.
    const char* const size_end = tag - 4;
    if ((size_end[-1] & 0x80) != 0) continue;
    for (ptrdiff_t size_bytes = 1; size_bytes <= kMaxSizeBytes; size_bytes++) {
      const char* const begin = tag - kBeforeTag - size_bytes;
      if (begin < p || (size_bytes > 1 && (size_end[-size_bytes] & 0x80) == 0)) break;
      if (read(begin)) return begin;
    }
  }
  return nullptr;
}

}  // namespace

int HashAllowance::ClassOf(uint32_t body_size) {
  DCHECK_GT(body_size, 0u);
  return (std::bit_width(body_size) - 1) / kBitsPerClass;
}

bool HashAllowance::Grants(uint32_t body_size, uint64_t searched) const {
  const int size_class = ClassOf(body_size);
  const uint64_t largest = uint64_t{1} << (size_class + 1) * kBitsPerClass;
  return wasted_[size_class] + body_size <= kMostWastedPerByte * searched + kMostWastedAtOnce * largest;
}

namespace {

// Each record is checked by itself as well: the frame's checksum is a fold of hashes of which the records store 32
// bits, so a damaged record is found before the rest of a large frame is hashed. Asks grants(body_size) before anything
// is hashed, and calls hashed(body_size, bytes) behind each record.
template <typename Grants, typename Hashed>
bool ReadFrameIf(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, const Grants& grants,
                 const Hashed& hashed, FrameView* frame) {
  DCHECK(p <= limit);
  // The fold starts with the body size, which ParseFrame reads first.
  uint64_t checksum = 0;
  uint32_t body_size = 0;
  bool started = false;
  const bool parsed = ParseFrame(p, limit, frame, &body_size, [&](const RecordView& record) {
    if (!started && !grants(body_size)) return false;
    const uint64_t hash = record.Hash(secret);
    hashed(body_size, record.size());
    if (!started) checksum = FrameSeed(secret, chunk_id, body_size);
    started = true;
    checksum = FrameFold(checksum, hash);
    return RecordChecks(record, hash);
  });
  if (!parsed) return false;
  const uint64_t stored = DecodeFixed64(p);
  for (frame->ahead = 0; IsAhead(frame->ahead, frame->count); frame->ahead++) {
    if (FrameAhead(checksum, frame->ahead) == stored) return true;
  }
  frame->ahead = 0;
  return MIODB_MUTATED(kFrameUnchecked);
}

// Where the frame behind this one has to begin, going by its size; nullptr if that is not in front of limit.
const char* EndOfFrame(const char* p, const char* limit) {
  uint32_t body_size = 0;
  if (limit - p < kBeforeTag) return nullptr;
  const char* const body = GetVarint32Ptr(p + 8, limit, &body_size);
  return body != nullptr && static_cast<uint64_t>(limit - body) >= body_size ? body + body_size : nullptr;
}

}  // namespace

bool ReadFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, FrameView* frame) {
  return ReadFrameIf(
      p, limit, secret, chunk_id, [](uint32_t) { return true; }, [](uint32_t, size_t) {}, frame);
}

// The frame at p is left out, for it was read and does not check. Sequences rise along a chunk, so a frame whose first
// sequence is not above those before is none of this chunk's writing.
const char* FindLaterFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, uint64_t after,
                           uint64_t* hashed) {
  FrameView frame;
  if (p >= limit || MIODB_MUTATED(kFrameLaterUnseen)) return nullptr;
  const TagSieve sieve(after);
  const char* const expected = EndOfFrame(p, limit);
  HashAllowance allowance;
  uint64_t sum = 0;
  const auto read = [&](const char* begin) {
    const auto grants = [&](uint32_t body_size) {
      return begin == expected || allowance.Grants(body_size, static_cast<uint64_t>(begin - p));
    };
    const auto count = [&](uint32_t body_size, size_t bytes) {
      allowance.Waste(body_size, bytes);
      sum += bytes;
    };
    return ReadFrameIf(begin, limit, secret, chunk_id, grants, count, &frame);
  };
  const char* const found = FindFrame(p + 1, limit, after, TagSieve::kWindow, &sieve, read);
  if (hashed != nullptr) *hashed = sum;
  return found;
}

// Right behind a frame another one is likely, so that place is looked at first, whatever its first bytes look like.
bool FrameSearch::Next(const char* p, const char* limit, FrameView* frame, uint64_t* chunk_id) {
  DCHECK(p <= limit);
  const uint64_t searched_before = searched_;
  const auto read = [&](const char* begin) {
    searched_ = searched_before + static_cast<uint64_t>(begin - p);
    return Read(begin, limit, frame, chunk_id);
  };
  const bool found = (p == last_end_ && read(p)) || FindFrame(p, limit, 0, kMaxSequence, nullptr, read) != nullptr;
  DCHECK(!found || (frame->begin >= p && frame->end <= limit));
  if (found) last_end_ = frame->end;
  searched_ = searched_before + static_cast<uint64_t>((found ? frame->end : limit) - p);
  return found;
}

// The chunk's id is what the checksum says it is: folding and seeding can be undone, step by step, once the records are
// hashed. For bytes that are no frame the result is any number of 64 bits, which hardly ever is as small as an id.
bool FrameSearch::Read(const char* begin, const char* limit, FrameView* frame, uint64_t* chunk_id) {
  const bool at_unit = reinterpret_cast<uintptr_t>(begin) % kExtentUnit == 0;
  const Place place = begin == last_end_ || begin == expected_ ? kBehindFrame : at_unit ? kUnit : kAnywhere;
  uint32_t body_size = 0;
  HashAllowance* const allowance = &allowances_[place];
  hashes_.clear();
  uint64_t hashed = 0;
  bool good = ParseFrame(begin, limit, frame, &body_size, [&](const RecordView& record) {
    if (hashes_.empty() && !allowance->Grants(body_size, searched_)) {
      passed_over_++;
      return false;
    }
    hashes_.push_back(record.Hash(secret_));
    hashed += record.size();
    return RecordChecks(record, hashes_.back());
  });
  hashed_bytes_ += hashed;
  DCHECK(!good || hashes_.size() == frame->count);
  if (good) {
    // Undo the fold, and then the seed, for each that the frame may be ahead.
    good = false;
    for (frame->ahead = 0; IsAhead(frame->ahead, frame->count); frame->ahead++) {
      uint64_t sum = DecodeFixed64(begin);
      if (frame->ahead > 0) sum = Unmix64(sum, frame->ahead);
      for (auto hash = hashes_.rbegin(); hash != hashes_.rend(); ++hash) sum = Unmix64(sum, *hash);
      *chunk_id = secret_ ^ Unmix64(sum, body_size);
      good = *chunk_id <= max_chunk_id_;
      if (good) break;
    }
  }
  if (!good && hashed > 0) allowance->Waste(body_size, hashed);
  // Frames of one record are what values can imitate best, so at a unit one record that checks is not enough.
  const bool is_true = place == kBehindFrame || (place == kUnit && begin > expected_ && hashes_.size() > 1);
  if (!good && is_true) ExpectBehind(begin, limit);
  return good;
}

// A true frame that is damaged: it follows one that is not, or begins with a record that checks. Records in it look
// like frames, also where they are true, and use up the bytes that places anywhere may take; the frame behind it does
// not depend on that.
void FrameSearch::ExpectBehind(const char* damaged, const char* limit) {
  const char* const end = EndOfFrame(damaged, limit);
  if (end != nullptr) expected_ = end;
}

}  // namespace miodb
