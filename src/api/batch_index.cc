#include "src/api/batch_index.h"

#include <algorithm>

#include "src/api/full_merge.h"
#include "src/api/write_batch_internal.h"
#include "src/util/check.h"
#include "src/util/coding.h"

namespace miodb {

namespace {

// Of the three kinds of updates that say what a key is, whatever it was.
bool HidesOlder(uint8_t type) { return type != kBatchMerge; }

}  // namespace

// Updates of one key stand in the order in which they were made: an operand is merged into the base before it, and
// never into one behind it.
bool BatchIndex::Less::operator()(const Entry& a, const Entry& b) const {
  const int c = index->order_.Compare(index->KeyOf(a), index->KeyOf(b));
  return c != 0 ? c < 0 : a.number < b.number;
}

// No update is equal to an edge, so a search by an edge always ends between the updates of two keys.
bool BatchIndex::Less::operator()(const Entry& a, const Edge& b) const {
  const int c = index->order_.Compare(index->KeyOf(a), b.key);
  return c != 0 ? c < 0 : b.side == Side::kBehind;
}

bool BatchIndex::Less::operator()(const Edge& a, const Entry& b) const {
  const int c = index->order_.Compare(a.key, index->KeyOf(b));
  return c != 0 ? c < 0 : a.side == Side::kBefore;
}

// The comparator has to be that of the database: by another one the batch would hold other keys to be equal than the
// database does.
BatchIndex::BatchIndex(const Comparator* comparator, size_t reserved_bytes, Keeps keeps,
                       const MergeOperator* merge_operator)
    : order_(comparator), keeps_(keeps), merge_operator_(merge_operator), entries_(Less{this}) {
  CHECK(comparator != nullptr);
  WriteBatchInternal::Reserve(&batch_, reserved_bytes);
}

// The slice is good until the next change of the batch, whose bytes may move when it grows.
Slice BatchIndex::KeyOf(const Entry& entry) const {
  DCHECK_LE(entry.key_begin + entry.key_size, WriteBatchInternal::Contents(&batch_).size());
  return Slice(WriteBatchInternal::Contents(&batch_).data() + entry.key_begin, entry.key_size);
}

Slice BatchIndex::ValueOf(const Entry& entry) const {
  DCHECK_LE(entry.value_begin + entry.value_size, WriteBatchInternal::Contents(&batch_).size());
  return Slice(WriteBatchInternal::Contents(&batch_).data() + entry.value_begin, entry.value_size);
}

// The places follow from the form of an update (write_batch_internal.h).
void BatchIndex::Add(uint8_t type, const Slice& key, const Slice& value) {
  Entry entry{};
  entry.type = type;
  entry.number = WriteBatchInternal::Count(&batch_);
  entry.key_size = key.size();
  entry.value_size = value.size();
  entry.key_begin = WriteBatchInternal::Contents(&batch_).size() + 1 + static_cast<size_t>(VarintLength(key.size()));
  WriteBatchInternal::Add(&batch_, type, key, value);
  entry.value_begin = WriteBatchInternal::Contents(&batch_).size() - entry.value_size;
  DCHECK(KeyOf(entry) == key && ValueOf(entry) == value);
  Index(entry);
}

// An operand hides nothing, since the older updates of its key are what it is merged into. An update that is hidden
// stays in the batch and is written with it: the index alone forgets it.
void BatchIndex::Index(const Entry& entry) {
  DCHECK_LT(entry.number, WriteBatchInternal::Count(&batch_));
  changes_++;
  if (keeps_ == Keeps::kWhatCounts && HidesOlder(entry.type)) {
    entries_.erase(From(KeyOf(entry), Side::kBefore), From(KeyOf(entry), Side::kBehind));
  }
  [[maybe_unused]] const bool added = entries_.insert(entry).second;
  DCHECK(added);
}

// The number of changes goes on, so that an iterator learns that the entry it stood on is gone.
void BatchIndex::Clear() {
  changes_++;
  entries_.clear();
  batch_.Clear();
  DCHECK_EQ(Now().count, 0u);
}

BatchIndex::Mark BatchIndex::Now() const {
  return {WriteBatchInternal::Contents(&batch_).size(), WriteBatchInternal::Count(&batch_)};
}

// Made anew, since what was taken back may have hidden entries that count again.
void BatchIndex::GoBack(const Mark& mark) {
  DCHECK_LE(mark.count, WriteBatchInternal::Count(&batch_));
  entries_.clear();
  changes_++;
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

// The walk goes back from the newest update of the key to the first that says what the key is, whatever it was before:
// an update that is older than this one cannot count.
BatchIndex::Answer BatchIndex::Ask(const Slice& key) const {
  Answer answer;
  for (auto it = From(key, Side::kBehind); it != entries_.begin();) {
    --it;
    if (!order_.Equal(KeyOf(*it), key)) break;
    if (it->type == kBatchMerge) {
      answer.kind = Answer::Kind::kMerged;
      answer.operands.push_back(ValueOf(*it));
      continue;
    }
    answer.kind = it->type == kBatchPut ? Answer::Kind::kPut : Answer::Kind::kRemoved;
    if (it->type == kBatchPut) answer.base = ValueOf(*it);
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
