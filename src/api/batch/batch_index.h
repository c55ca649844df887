// BatchIndex: the updates of a WriteBatch by column families and in the order of their keys, those of one key as they
// were made; and what they make of a key, taken together. Deletions of ranges are held by their bounds
// (batch_ranges.h).
//
// In the batch a key of a family has the family's prefix; all calls here have keys as their users know them.
//
// Threads: as WriteBatch. Ownership: owns the batch. Entries refer to its bytes by their place, since the bytes move
// when the batch grows.
// Errors: updates throw bad_alloc; the batch must then be cleared.

#ifndef MIODB_SRC_API_BATCH_BATCH_INDEX_H_
#define MIODB_SRC_API_BATCH_BATCH_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/write_batch.h"
#include "src/api/batch/batch_ranges.h"
#include "src/util/bytes/family_key.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

class BatchIndex {
 public:
  // The updates that the index has: all, or only updates that no later update hides.
  enum class Keeps : uint8_t { kAll, kWhatCounts };

  BatchIndex(const Comparator* comparator, size_t reserved_bytes, Keeps keeps, const MergeOperator* merge_operator);
  BatchIndex(const BatchIndex&) = delete;
  BatchIndex& operator=(const BatchIndex&) = delete;

  // type: of write_batch_internal.h, without kBatchFamily. value: empty for types that have none; of a range its end.
  void Add(uint8_t type, const UserKey& key, const Slice& value);
  void Clear();

  // A moment to which the batch can be taken back.
  struct Mark {
    size_t bytes;
    uint32_t count;
  };
  Mark Now() const;
  void GoBack(const Mark& mark);  // REQUIRES: nothing before the mark was taken back since

  WriteBatch* batch() { return &batch_; }
  // The order of a family's keys: by their bytes, but in the default family that of the database.
  const KeyOrder& order(uint32_t family) const { return family == kDefaultFamily ? order_ : bytewise_; }
  const MergeOperator* merge_operator() const { return merge_operator_; }

  // Grows with each change.
  uint64_t changes() const { return changes_; }
  // Grows when deletions of ranges are taken back, so that what they hid may be there again.
  uint64_t ranges_undone() const { return ranges_undone_; }

  // ---- Entries in order

  // Where an update of a single key lies in the batch.
  struct Entry {
    size_t key_begin;  // with the prefix
    size_t key_size;
    size_t value_begin;
    size_t value_size;
    uint32_t number;  // of the update in the batch, from 0
    uint8_t type;
  };
  // A place between the updates of a key and those of the key before, or of the next one; without a key the same of all
  // keys of a family.
  enum class Side : uint8_t { kBefore, kBehind };
  struct Edge {
    uint32_t family;
    const Slice* key;
    Side side;
  };
  struct Less {
    using is_transparent = void;
    const BatchIndex* index;
    bool operator()(const Entry& a, const Entry& b) const;
    bool operator()(const Entry& a, const Edge& b) const;
    bool operator()(const Edge& a, const Entry& b) const;

   private:
    int Compare(const Entry& a, const Edge& b) const;
  };
  using Entries = std::set<Entry, Less>;

  const Entries& entries() const { return entries_; }
  // The first entry on that side of the key: of the key itself, or of a later one, maybe of a later family.
  Entries::const_iterator From(const UserKey& key, Side side) const {
    return entries_.lower_bound(Edge{key.family, &key.key, side});
  }
  // The same of all keys of the family.
  Entries::const_iterator FromFamily(uint32_t family, Side side) const {
    return entries_.lower_bound(Edge{family, nullptr, side});
  }
  // The entry before one, and the entry itself, if it is one of the family; else the end.
  Entries::const_iterator Before(Entries::const_iterator at, uint32_t family) const;
  Entries::const_iterator At(Entries::const_iterator at, uint32_t family) const;
  UserKey KeyOf(const Entry& entry) const;
  Slice ValueOf(const Entry& entry) const;

  // The ranges of a family; nullptr: there are none.
  const BatchRanges* RangesOf(uint32_t family) const;

  // ---- Keys

  // The batch's answer for a key.
  struct Answer {
    enum class Kind : uint8_t {
      kNothing,
      kPut,      // it is base, merged with the operands
      kRemoved,  // it is gone, alone or with a range, and the operands are merged into nothing
      kMerged,   // the operands are merged into what it was before the batch
    };
    Kind kind = Kind::kNothing;
    Slice base;
    std::vector<Slice> operands;  // oldest first

    // Whether the key has no value, whatever it was before.
    bool gone() const { return kind == Kind::kRemoved && operands.empty(); }
  };
  Answer Ask(const UserKey& key) const;

  // The value by an answer, in *space or in the batch's bytes. before: of kMerged, what the key was before the batch;
  // nullptr: nothing. REQUIRES: the answer is not kNothing, and not gone.
  Status Value(const Slice& key, const Answer& answer, const Slice* before, std::string* space, Slice* value) const;

 private:
  void Index(const Entry& entry);
  void IndexRange(const Entry& entry);
  void Forget();

  const KeyOrder order_;  // of the default family
  const KeyOrder bytewise_;
  const Keeps keeps_;
  const MergeOperator* const merge_operator_;
  WriteBatch batch_;
  Entries entries_;
  std::map<uint32_t, BatchRanges> ranges_;  // by families
  uint64_t changes_ = 0;
  uint64_t ranges_undone_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_API_BATCH_BATCH_INDEX_H_
