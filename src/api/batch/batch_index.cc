#include "src/api/batch/batch_index.h"

#include <algorithm>
#include <iterator>

#include "src/api/batch/write_batch_internal.h"
#include "src/api/types/full_merge.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Puts, deletions and single deletions hide older updates of the key; operands do not.
bool HidesOlder(uint8_t type) { return BaseBatchType(type) != kBatchMerge; }

}  // namespace

// Updates of one key stand in the order in which they were made: an operand is merged into the base before it, and
// never into one behind it.
bool BatchIndex::Less::operator()(const Entry& a, const Entry& b) const {
  const UserKey key = index->KeyOf(b);
  const int c = Compare(a, Edge{key.family, &key.key, Side::kBefore});
  return c != 0 ? c < 0 : a.number < b.number;
}

// Where the entry's key lies, 0: at the edge's.
int BatchIndex::Less::Compare(const Entry& a, const Edge& b) const {
  const UserKey key = index->KeyOf(a);
  if (key.family != b.family) return key.family < b.family ? -1 : 1;
  return b.key != nullptr ? index->order(key.family).Compare(key.key, *b.key) : 0;
}

// No update is equal to an edge, so a search by an edge always ends between the updates of two keys.
bool BatchIndex::Less::operator()(const Entry& a, const Edge& b) const {
  const int c = Compare(a, b);
  return c != 0 ? c < 0 : b.side == Side::kBehind;
}

bool BatchIndex::Less::operator()(const Edge& a, const Entry& b) const {
  const int c = Compare(b, a);
  return c != 0 ? c > 0 : a.side == Side::kBefore;
}

// The comparator has to be that of the database: by another one the batch would hold other keys to be equal than the
// database does.
BatchIndex::BatchIndex(const Comparator* comparator, size_t reserved_bytes, Keeps keeps,
                       const MergeOperator* merge_operator)
    : order_(comparator),
      bytewise_(BytewiseComparator()),
      keeps_(keeps),
      merge_operator_(merge_operator),
      entries_(Less{this}) {
  CHECK(comparator != nullptr);
  WriteBatchInternal::Reserve(&batch_, reserved_bytes);
}

// The slice is good until the next change of the batch, whose bytes may move when it grows. Only the type tells whether
// there is a prefix: a key of the default family may begin like one.
UserKey BatchIndex::KeyOf(const Entry& entry) const {
  DCHECK_LE(entry.key_begin + entry.key_size, WriteBatchInternal::Contents(&batch_).size());
  const Slice key(WriteBatchInternal::Contents(&batch_).data() + entry.key_begin, entry.key_size);
  return (entry.type & kBatchFamily) == 0 ? UserKey(key) : SplitFamilyKey(key);
}

// The value of a range is its end, which has the prefix too.
Slice BatchIndex::ValueOf(const Entry& entry) const {
  DCHECK_LE(entry.value_begin + entry.value_size, WriteBatchInternal::Contents(&batch_).size());
  return Slice(WriteBatchInternal::Contents(&batch_).data() + entry.value_begin, entry.value_size);
}

// The places follow from the form of an update (write_batch_internal.h).
void BatchIndex::Add(uint8_t type, const UserKey& key, const Slice& value) {
  const size_t prefix = key.family == kDefaultFamily ? 0 : kFamilyPrefixBytes;
  Entry entry{};
  entry.type = key.family == kDefaultFamily ? type : type | kBatchFamily;
  entry.number = WriteBatchInternal::Count(&batch_);
  entry.key_size = prefix + key.key.size();
  entry.value_size = value.size() + (type == kBatchRangeDeletion ? prefix : 0);
  entry.key_begin =
      WriteBatchInternal::Contents(&batch_).size() + 1 + static_cast<size_t>(VarintLength(entry.key_size));
  WriteBatchInternal::AddToFamily(&batch_, key.family, type, key.key, value);
  entry.value_begin = WriteBatchInternal::Contents(&batch_).size() - entry.value_size;
  DCHECK(KeyOf(entry).family == key.family && KeyOf(entry).key == key.key);
  DCHECK_EQ(ValueOf(entry).size(), entry.value_size);
  Index(entry);
}

// A range that has no keys hides nothing; one whose end comes first DB::Write will refuse. An index of what counts
// forgets all that the range hides. Updates that come later into the range count again, as their numbers are not below
// the range's.
void BatchIndex::IndexRange(const Entry& entry) {
  const UserKey begin = KeyOf(entry);
  const Slice last = ValueOf(entry);
  const UserKey end(begin.family, begin.family == kDefaultFamily ? last : KeyInFamily(last));
  if (order(begin.family).Compare(begin.key, end.key) >= 0) return;
  BatchRanges& ranges = ranges_.try_emplace(begin.family, order(begin.family)).first->second;
  ranges.Add(begin.key, end.key, entry.number + 1);
  if (keeps_ == Keeps::kWhatCounts) entries_.erase(From(begin, Side::kBefore), From(end, Side::kBefore));
}

// An operand hides nothing, since the older updates of its key are what it is merged into. An update that is hidden
// stays in the batch and is written with it: the index alone forgets it.
void BatchIndex::Index(const Entry& entry) {
  DCHECK_LT(entry.number, WriteBatchInternal::Count(&batch_));
  changes_++;
  if (BaseBatchType(entry.type) == kBatchRangeDeletion) return IndexRange(entry);
  if (keeps_ == Keeps::kWhatCounts && HidesOlder(entry.type)) {
    entries_.erase(From(KeyOf(entry), Side::kBefore), From(KeyOf(entry), Side::kBehind));
  }
  [[maybe_unused]] const bool added = entries_.insert(entry).second;
  DCHECK(added);
}

// The numbers of changes go on, so that an iterator learns that what it stood on is gone, and what it passed over is
// not.
void BatchIndex::Forget() {
  changes_++;
  if (!ranges_.empty()) ranges_undone_++;
  entries_.clear();
  ranges_.clear();
  DCHECK(entries_.empty());
}

void BatchIndex::Clear() {
  Forget();
  batch_.Clear();
  DCHECK_EQ(Now().count, 0u);
}

BatchIndex::Mark BatchIndex::Now() const {
  return {WriteBatchInternal::Contents(&batch_).size(), WriteBatchInternal::Count(&batch_)};
}

// Made anew, since what was taken back may have hidden entries that count again.
void BatchIndex::GoBack(const Mark& mark) {
  DCHECK_LE(mark.count, WriteBatchInternal::Count(&batch_));
  Forget();
  WriteBatchInternal::Truncate(&batch_, mark.bytes, mark.count);
  const Slice contents = WriteBatchInternal::Contents(&batch_);
  BatchReader reader(contents);
  Entry entry{};
  Slice key, value;
  for (; reader.Next(&entry.type, &key, &value); entry.number++) {
    entry.key_begin = static_cast<size_t>(key.data() - contents.data());
    entry.key_size = key.size();
    entry.value_size = value.size();
    // An empty value need not lie in the batch, so its entry takes the place of the key, which does.
    entry.value_begin = entry.value_size > 0 ? static_cast<size_t>(value.data() - contents.data()) : entry.key_begin;
    Index(entry);
  }
  DCHECK(!reader.corrupt());
  DCHECK_EQ(entry.number, mark.count);
}

// Families follow one another, so a walk that leaves one comes to the next, where it has to end.
BatchIndex::Entries::const_iterator BatchIndex::At(Entries::const_iterator at, uint32_t family) const {
  return at != entries_.end() && KeyOf(*at).family == family ? at : entries_.end();
}

BatchIndex::Entries::const_iterator BatchIndex::Before(Entries::const_iterator at, uint32_t family) const {
  return at == entries_.begin() ? entries_.end() : At(std::prev(at), family);
}

// Nothing is made for a family without ranges: this is a const call, of which threads may make several at once.
const BatchRanges* BatchIndex::RangesOf(uint32_t family) const {
  const auto found = ranges_.find(family);
  return found != ranges_.end() ? &found->second : nullptr;
}

// The walk goes back from the newest update of the key to the first that says what the key is, whatever it was before,
// or to the newest range that has the key: what is older than this cannot count.
BatchIndex::Answer BatchIndex::Ask(const UserKey& key) const {
  Answer answer;
  const BatchRanges* const ranges = RangesOf(key.family);
  const uint32_t hidden = ranges != nullptr ? ranges->NewestOver(key.key) : 0;
  if (hidden > 0) answer.kind = Answer::Kind::kRemoved;
  for (auto it = Before(From(key, Side::kBehind), key.family); it != entries_.end(); it = Before(it, key.family)) {
    if (it->number < hidden || !order(key.family).Equal(KeyOf(*it).key, key.key)) break;
    const uint8_t type = BaseBatchType(it->type);
    if (type == kBatchMerge) {
      if (hidden == 0) answer.kind = Answer::Kind::kMerged;
      answer.operands.push_back(ValueOf(*it));
      continue;
    }
    answer.kind = type == kBatchPut ? Answer::Kind::kPut : Answer::Kind::kRemoved;
    if (type == kBatchPut) answer.base = ValueOf(*it);
    break;
  }
  DCHECK(answer.operands.empty() || answer.kind != Answer::Kind::kNothing);
  std::reverse(answer.operands.begin(), answer.operands.end());
  return answer;
}

// Without operands the value is the batch's own bytes. Operands behind a deletion of the batch are merged into nothing,
// whatever the database has of the key.
Status BatchIndex::Value(const Slice& key, const Answer& answer, const Slice* before, std::string* space,
                         Slice* value) const {
  DCHECK(answer.kind != Answer::Kind::kNothing && !answer.gone());
  DCHECK(space != nullptr && value != nullptr);
  *value = answer.base;
  if (answer.operands.empty()) return Status::OK();
  const Slice* base = nullptr;
  if (answer.kind == Answer::Kind::kPut) base = &answer.base;
  if (answer.kind == Answer::Kind::kMerged) base = before;
  const Status s = FullMerge(merge_operator_, key, base, answer.operands, space);
  if (s.ok()) *value = *space;
  return s;
}

}  // namespace miodb
