// The keys of the SSD tier's tables: LevelDB's internal keys, which its readers and RocksDB's expect.
//
//   user key | u64 sequence << 8 | value type
//
// Order: user key ascending, then sequence descending.
//
// Threads: immutable.

#ifndef MIODB_SRC_SSD_INTERNAL_KEY_H_
#define MIODB_SRC_SSD_INTERNAL_KEY_H_

#include <cstdint>
#include <string>

#include "miodb/comparator.h"
#include "miodb/filter_policy.h"
#include "src/format/record.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

inline constexpr size_t kInternalTagBytes = 8;
static_assert(kInternalTagBytes == sizeof(RecordView::tag) && kMaxSequence == UINT64_MAX >> 8);

inline void AppendInternalKey(std::string* dst, const Slice& user_key, uint64_t tag) {
  dst->append(user_key.data(), user_key.size());
  PutFixed64(dst, tag);
}

// The user key in an internal key; all of it if there is no tag, which only a damaged file has.
inline Slice UserKeyOf(const Slice& key) {
  return key.size() < kInternalTagBytes ? key : Slice(key.data(), key.size() - kInternalTagBytes);
}
inline uint64_t TagOf(const Slice& key) {
  return key.size() < kInternalTagBytes ? 0 : DecodeFixed64(key.data() + key.size() - kInternalTagBytes);
}

// The type whose tag comes first in the order of internal keys.
inline constexpr ValueType kTypeForSeek = static_cast<ValueType>(UINT8_MAX);

// The key at which a search for a user key at a sequence begins: sequences at or below it come after.
inline std::string SeekKey(const Slice& user_key, uint64_t sequence) {
  DCHECK_LE(sequence, kMaxSequence);
  std::string key;
  key.reserve(user_key.size() + kInternalTagBytes);
  AppendInternalKey(&key, user_key, PackTag(sequence, kTypeForSeek));
  return key;
}

class InternalKeyComparator final : public Comparator {
 public:
  explicit InternalKeyComparator(const KeyOrder& order) : order_(order) {}

  int Compare(const Slice& a, const Slice& b) const override;
  const char* Name() const override { return "leveldb.InternalKeyComparator"; }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override;
  void FindShortSuccessor(std::string* key) const override;

  const KeyOrder& order() const { return order_; }

 private:
  // Whether the user's comparator may see the key.
  bool MayShorten(const Slice& user_key) const { return order_.bytewise() || !order_.OfFamily(user_key); }

  const KeyOrder order_;
};

// Filters of the user keys in internal keys, in the user policy's format and under its name.
class InternalFilterPolicy final : public FilterPolicy {
 public:
  // The policy outlives this.
  explicit InternalFilterPolicy(const FilterPolicy* policy) : policy_(policy) { CHECK(policy_ != nullptr); }

  const char* Name() const override { return policy_->Name(); }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override;
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override;

 private:
  const FilterPolicy* const policy_;
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_INTERNAL_KEY_H_
