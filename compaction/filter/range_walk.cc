#include "compaction/filter/range_walk.h"

#include "pmtable/index_cursor.h"

// A merge asks for every entry, so an answer must cost no record. The bounds of the present fragment are kept in the
// form in which an index knows keys, a few bytes and whether these are all. An entry whose known bytes differ from the
// bounds' is judged by them alone; a record is read only of an entry that lies so close to a bound that they are equal.

namespace miodb {

// Where heads mean nothing, no bound is kept in their form, and Known answers nothing.
void RangeWalk::GoTo(size_t place) {
  const std::vector<RangeFragment>& fragments = set_->fragments();
  DCHECK_LE(place, fragments.size());
  place_ = place;
  if (place == fragments.size() || !set_->order().bytewise()) return;
  begin_.SetKey(fragments[place].begin);
  end_.SetKey(fragments[place].end);
}

// The walk goes forward alone: a key that comes before the one asked for last would get the fragment of that one, or
// none.
const RangeFragment* RangeWalk::Find(const Slice& key) {
  if (set_ == nullptr) return nullptr;
  const std::vector<RangeFragment>& fragments = set_->fragments();
  const KeyOrder& order = set_->order();
  DCHECK(place_ == kNone || place_ <= fragments.size());
  if (place_ == kNone || (place_ < fragments.size() && order.Compare(key, fragments[place_].end) >= 0)) {
    GoTo(set_->FindEnd(key));
  }
  DCHECK(place_ == 0 || order.Compare(fragments[place_ - 1].end, key) <= 0);  // keys ascend
  const bool inside = place_ < fragments.size() && order.Compare(fragments[place_].begin, key) <= 0;
  return inside ? &fragments[place_] : nullptr;
}

// Whether the entry's known bytes decide.
bool RangeWalk::Known(const IndexEntry& entry, const RangeFragment** fragment) {
  const std::vector<RangeFragment>& fragments = set_->fragments();
  *fragment = nullptr;
  if (place_ == kNone || !set_->order().bytewise()) return false;
  if (place_ == fragments.size()) return true;
  DCHECK(entry.Sound());
  int c;
  if (!KnownOrder(entry, end_, &c) || c >= 0) return false;
  if (!KnownOrder(entry, begin_, &c)) return false;
  if (c >= 0) *fragment = &fragments[place_];
  return true;
}

// Behind the end of a fragment the next one is looked for by the whole key, if there are more bytes of it than the
// index knows: once for each fragment that keys are met behind.
Status RangeWalk::Find(const PMTable& table, const IndexEntry& entry, const RangeFragment** fragment, uint64_t* reads) {
  *fragment = nullptr;
  if (set_ == nullptr || Known(entry, fragment)) return Status::OK();
  if (set_->order().bytewise() && entry.complete) {
    *fragment = Find(Slice(entry.known, entry.known_size));
    return Status::OK();
  }
  DCHECK(reads != nullptr);
  RecordView record;
  Status s = ReadRecordOf(table, entry, &record);
  if (s.ok()) *fragment = Find(record.key);
  ++*reads;
  return s;
}

}  // namespace miodb
