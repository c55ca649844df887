// Reads frames back from a log chunk: recovery and the tools. secret: of the pool, which all checksums start with.

#ifndef MIODB_SRC_LOG_FRAME_READER_H_
#define MIODB_SRC_LOG_FRAME_READER_H_

#include <cstdint>
#include <vector>

#include "src/format/record.h"
#include "src/format/superblock.h"

namespace miodb {

// A frame that checked. The records of the frame lie in [body, end).
struct FrameView {
  const char* begin = nullptr;
  const char* body = nullptr;
  const char* end = nullptr;
  uint64_t first_sequence = 0;
  uint64_t count = 0;
  uint64_t ahead = 0;             // so many writes before it were perhaps not durable when it was stored (record.h)
  bool has_unknown_type = false;  // a record of it has a value type of a later version

  uint64_t last_sequence() const { return first_sequence + count - 1; }
  // Everything up to this write was durable before the frame was stored.
  uint64_t durable_before() const { return first_sequence > ahead ? first_sequence - 1 - ahead : 0; }
  uint64_t bytes() const { return static_cast<uint64_t>(end - begin); }
};

// Reads the frame at p in the chunk with this id, of which limit is the end. False if the bytes are not a whole,
// undamaged frame of that chunk with consecutive sequences.
bool ReadFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, FrameView* frame);

// Bounds what a search hashes in vain. A place is hashed only if what can be seen without hashing is as in a frame,
// which of random bytes next to none is. Values may be made to look like frames everywhere; so for each byte that is
// searched so many are hashed in vain, and what would cost more is passed over. The allowance is one for each class of
// sizes, so that large places never use up what small ones may take.
class HashAllowance {
 public:
  // Whether a place with a body of this size may be hashed, where so many bytes before it were searched.
  bool Grants(uint32_t body_size, uint64_t searched) const;

  // So many bytes of it were hashed in vain.
  void Waste(uint32_t body_size, uint64_t hashed) { wasted_[ClassOf(body_size)] += hashed; }

  // The bound of all that is wasted: a number for each byte that is searched, and some frames of the largest size.
  static constexpr uint64_t Most(uint64_t searched, uint64_t largest_frame) {
    return kSizeClasses * kMostWastedPerByte * searched + 2 * kMostWastedAtOnce * (largest_frame << kBitsPerClass);
  }

 private:
  static constexpr int kBitsPerClass = 4;
  static constexpr int kSizeClasses = 8;  // of bodies up to kMaxFrameBody
  static constexpr uint64_t kMostWastedPerByte = 4;
  static constexpr uint64_t kMostWastedAtOnce = 4;  // of the largest frames of a class
  static_assert(kMaxFrameBody < uint64_t{1} << kBitsPerClass * kSizeClasses);

  static int ClassOf(uint32_t body_size);

  uint64_t wasted_[kSizeClasses] = {};
};

// Looks in (p, limit) for another frame of this chunk whose first sequence is above after: the sign that what does not
// check at p was damaged, and not the end of what was written. Returns its place, or nullptr. The place behind the
// frame at p, as long as its size is whole, is looked at in any case, other places within a HashAllowance. hashed, if
// it is not null, gets the bytes that were hashed.
const char* FindLaterFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, uint64_t after,
                           uint64_t* hashed = nullptr);

// Looks for frames of any chunk in a pool of which nothing says what lies where. Every frame fits the id of some chunk,
// so what counts is that the id which a checksum says is small enough to be one.
//
// Bounded work: there is a HashAllowance for each kind of place, so that values never use up what true frames may take
// where these are expected.
//
// Threads: one.
class FrameSearch {
 public:
  FrameSearch(uint64_t secret, uint64_t max_chunk_id) : secret_(secret), max_chunk_id_(max_chunk_id) {}

  // Finds the first frame in [p, limit), of which the bytes before p were searched already or are not to be. False if
  // there is none. REQUIRES: addresses are multiples of kExtentUnit where offsets in the pool are.
  bool Next(const char* p, const char* limit, FrameView* frame, uint64_t* chunk_id);

  uint64_t hashed_bytes() const { return hashed_bytes_; }

  // Places that could have been frames and that were not hashed any more.
  uint64_t passed_over() const { return passed_over_; }

  // The bound of hashed_bytes(): a number for each byte that is searched, and some frames of the largest size.
  static constexpr uint64_t MostHashed(uint64_t searched_bytes, uint64_t largest_frame) {
    return searched_bytes + kPlaces * HashAllowance::Most(searched_bytes, largest_frame);
  }

 private:
  enum Place { kAnywhere, kUnit, kBehindFrame, kPlaces };  // a chunk may begin at a unit

  bool Read(const char* begin, const char* limit, FrameView* frame, uint64_t* chunk_id);
  void ExpectBehind(const char* damaged, const char* limit);

  const uint64_t secret_;
  const uint64_t max_chunk_id_;
  const char* last_end_ = nullptr;  // of the frame that was found last
  const char* expected_ = nullptr;  // where the frame behind a damaged one has to begin
  uint64_t searched_ = 0;           // bytes before the place that is looked at
  HashAllowance allowances_[kPlaces];
  uint64_t hashed_bytes_ = 0;
  uint64_t passed_over_ = 0;
  std::vector<uint64_t> hashes_;  // of the records of the place that is looked at
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_FRAME_READER_H_
