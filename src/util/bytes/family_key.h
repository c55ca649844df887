// How the keys of column families lie among those of the default one: behind a mark of 8 bytes and the family's id.
//
//   key of the default family   the user's bytes
//   key of another one          kFamilyMark, id as 4 bytes, highest first, the user's bytes
//
// So all families are in one log, one memtable and one set of tables, and a family is a range of keys there. Once a
// database has had a family, no key of the default one begins with the mark (db/context/family_gate.h); before, any key
// may.
//
// Threads: values and pure functions.

#ifndef MIODB_SRC_UTIL_BYTES_FAMILY_KEY_H_
#define MIODB_SRC_UTIL_BYTES_FAMILY_KEY_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "miodb/slice.h"
#include "src/util/check/check.h"

namespace miodb {

// Bytes that nobody's keys begin with by accident. The last one can be counted up, so that keys behind all families
// have a place. Part of the format: never changed.
inline constexpr char kFamilyMark[] = "\xffMioFam\xf5";
inline constexpr size_t kFamilyMarkBytes = sizeof(kFamilyMark) - 1;
static_assert(kFamilyMarkBytes == sizeof(uint64_t));

inline constexpr size_t kFamilyPrefixBytes = kFamilyMarkBytes + sizeof(uint32_t);

// Ids begin at 1, which leaves 0 for the default family. The last number is nobody's: it is the end of all families.
inline constexpr uint32_t kDefaultFamily = 0;
inline constexpr uint32_t kMostFamilyId = UINT32_MAX - 1;

// Stands for a database without column families, where what begins with the mark is a key like any other.
inline constinit const std::atomic<bool> kNoFamilies{false};

// Whether the bytes begin with the mark. An id need not follow.
inline bool HasFamilyMark(const Slice& key) {
  if (key.size() < kFamilyMarkBytes) return false;
  uint64_t begin, mark;  // as integers: two loads, which each write and each get pays for
  memcpy(&begin, key.data(), sizeof(begin));
  memcpy(&mark, kFamilyMark, sizeof(mark));
  return begin == mark;
}

// The id of the family that has the key; kDefaultFamily if it is no family's.
inline uint32_t FamilyOf(const Slice& key) {
  if (!HasFamilyMark(key) || key.size() < kFamilyPrefixBytes) return kDefaultFamily;
  uint32_t id;
  memcpy(&id, key.data() + kFamilyMarkBytes, sizeof(id));
  id = __builtin_bswap32(id);
  return id <= kMostFamilyId ? id : kDefaultFamily;
}

// The user's bytes of a key of which FamilyOf is a family. Bytes that are too short for a prefix, which only damage
// brings, have none.
inline Slice KeyInFamily(const Slice& key) {
  const size_t front = std::min(kFamilyPrefixBytes, key.size());
  return Slice(key.data() + front, key.size() - front);
}

// A key as its user knows it.
struct UserKey {
  UserKey(const Slice& default_key) : key(default_key) {}        // NOLINT: a key without more is the default family's
  UserKey(const char* default_key) : key(default_key) {}         // NOLINT
  UserKey(const std::string& default_key) : key(default_key) {}  // NOLINT
  UserKey(uint32_t family_id, const Slice& user_key) : family(family_id), key(user_key) {}

  uint32_t family = kDefaultFamily;
  Slice key;
};

// REQUIRES: there are column families, or the key is no default one that begins with the mark.
inline UserKey SplitFamilyKey(const Slice& key) {
  const uint32_t family = FamilyOf(key);
  return {family, family == kDefaultFamily ? key : KeyInFamily(key)};
}

// The prefix of a family's keys, which is also the beginning of the family in the order. The prefix of the next number
// is the end of the family.
class FamilyPrefix {
 public:
  explicit FamilyPrefix(uint32_t id) {
    const uint32_t ordered = __builtin_bswap32(id);
    memcpy(bytes_, kFamilyMark, kFamilyMarkBytes);
    memcpy(bytes_ + kFamilyMarkBytes, &ordered, sizeof(ordered));
  }

  // Lives as long as this.
  Slice slice() const { return Slice(bytes_, sizeof(bytes_)); }

 private:
  char bytes_[kFamilyPrefixBytes];
};

// Bounds of all families together, whatever follows the mark. Keys of the default family lie before and behind.
inline Slice FamiliesBegin() { return Slice(kFamilyMark, kFamilyMarkBytes); }
inline FamilyPrefix FamiliesEnd() { return FamilyPrefix(kMostFamilyId + 1); }

// A key with its family's prefix. Short ones, nearly all, need no memory.
class FamilyKey {
 public:
  FamilyKey(uint32_t id, const Slice& key) : size_(kFamilyPrefixBytes + key.size()) {
    DCHECK(id != kDefaultFamily && id <= kMostFamilyId);
    char* const to = size_ <= sizeof(space_) ? space_ : (large_.resize(size_), &large_[0]);
    memcpy(to, FamilyPrefix(id).slice().data(), kFamilyPrefixBytes);
    if (!key.empty()) memcpy(to + kFamilyPrefixBytes, key.data(), key.size());
    data_ = to;
  }
  FamilyKey(const FamilyKey&) = delete;
  FamilyKey& operator=(const FamilyKey&) = delete;

  // Lives as long as this.
  Slice slice() const { return Slice(data_, size_); }

 private:
  const size_t size_;
  const char* data_;
  char space_[128];
  std::string large_;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_FAMILY_KEY_H_
