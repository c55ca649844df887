// Records that a merge does not leave where they are, into extents of their own in key order. A copier that finds no
// more space stops copying for good (full_), and the merge goes on without: the records stay where they were.

#include "compaction/merge/record_copier.h"

#include <algorithm>
#include <string>

namespace miodb {

// Records of marked extents, so that the extents come free; and small records of the log, which are read in key order
// from then on.
bool RecordCopier::Wanted(const Extent& extent, const IndexWord& word) const {
  DCHECK(extent.Contains(word.ref()));
  if (full_) return false;
  // relaxed: policy only; an entry that misses the mark is caught by the next merge.
  if (extent.evacuate.load(std::memory_order_relaxed)) return true;
  return extent.kind() == ExtentKind::kLog && word.size() <= request_.settle_limit;
}

// Takes the next extent, with room for a record of this size at least. Space that the merge still needs for its indexes
// is left free: a merge that copied until nothing was left could not finish its table, and all copies were in vain.
bool RecordCopier::TakeExtent(uint64_t size) {
  CHECK(extent_ == nullptr && request_.copy_extents.bytes > 0);
  CHECK_LE(request_.copy_extents.least, request_.copy_extents.bytes);
  CHECK_GT(size, 0u);
  const uint64_t wanted = std::max(size, request_.copy_extents.bytes);
  const uint64_t least = std::max(size, request_.copy_extents.least);
  const uint64_t index_taken = index_taken_->load(std::memory_order_relaxed);  // relaxed: a figure, as below
  const uint64_t index_left = request_.index_reserve - std::min(request_.index_reserve, index_taken);
  const uint64_t leave = request_.leave_free + index_left;
  Pool* const pool = request_.pool;
  const Status s = pool->AllocateAtMost(wanted, least, leave, ExtentKind::kSettled, &extent_, request_.place_level);
  if (!s.ok()) return false;
  CHECK(extent_->size() >= size && extent_->kind() == ExtentKind::kSettled);
  TellTaken(static_cast<int64_t>(extent_->size()));
  used_ = live_ = evacuated_ = 0;
  return true;
}

// Where the next record of this size goes; nullptr: there is no space for it.
char* RecordCopier::TakeSpace(uint64_t size) {
  CHECK_GT(size, 0u);
  CHECK(extent_ == nullptr || used_ <= extent_->size());
  if (extent_ == nullptr || extent_->size() - used_ < size) {
    Finish();
    full_ = !TakeExtent(size);
    if (full_) return nullptr;
  }
  char* const to = extent_->data() + used_;
  used_ += size;
  CHECK_LE(used_, extent_->size());
  bytes_copied_ += size;
  return to;
}

// The store is not fenced: the merge fences once, when its tables are written too. Bytes of marked records are counted
// apart, because only they were foreseen when the marks were made.
void RecordCopier::Copy(const RecordView& record, bool evacuated, IndexWord* word) {
  const size_t size = record.size();
  DCHECK(word != nullptr);
  char* const to = TakeSpace(size);
  if (to == nullptr) return;
  request_.pool->persist().Copy(evacuated ? Purpose::kEvacuation : Purpose::kLazyCopy, to, record.begin, size);
  if (evacuated) evacuated_ += size;
  // The size is the record's: that of a damaged word may be larger than the extent.
  *word = IndexWord(extent_->offset() + static_cast<PmRef>(to - extent_->data()), word->type(), size);
  live_ += word->size();
  CHECK(extent_->Contains(word->ref()));
}

// Not fenced either. The record is put together in DRAM and then stored in one piece.
bool RecordCopier::Write(uint64_t tag, const Slice& key, const Slice& value, IndexWord* word) {
  if (full_) return false;
  DCHECK(IsKnownType(TagType(tag)));
  const size_t size = RecordSize(key.size(), value.size());
  char* const to = TakeSpace(size);
  if (to == nullptr) return false;
  std::string record(kMaxRecordHeader + key.size() + value.size(), '\0');
  uint64_t hash;
  char* const end = EncodeRecordHead(record.data(), tag, key, value, request_.pool->secret(), &hash);
  std::copy_n(value.data(), value.size(), end);
  DCHECK_EQ(size, static_cast<size_t>(end - record.data()) + value.size());
  request_.pool->persist().Copy(Purpose::kLazyCopy, to, record.data(), size);
  *word = IndexWord(extent_->offset() + static_cast<PmRef>(to - extent_->data()), TagType(tag), size);
  live_ += word->size();
  CHECK(extent_->Contains(word->ref()));
  return true;
}

// Bytes of a tail that is given back are negative.
void RecordCopier::CountIndex(int64_t bytes) {
  const uint64_t before = index_taken_->fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed);
  CHECK(bytes >= 0 || before >= static_cast<uint64_t>(-bytes));
}

// An extent that was taken has at least the record that it was taken for.
void RecordCopier::Finish() {
  if (extent_ == nullptr) return;
  CHECK(used_ <= extent_->size() && evacuated_ <= used_);
  TellTaken(static_cast<int64_t>(evacuated_) - static_cast<int64_t>(extent_->size()));
  extent_->Shrink(used_);
  CHECK(used_ <= extent_->size() && live_ <= 2 * extent_->size());
  extent_->SetPayloadBytes(used_);
  made_.push_back({std::move(extent_), live_});
  extent_ = nullptr;
}

void RecordCopier::Commit() {
  CHECK_GE(made_.size(), kept_made_);
  CHECK(extent_ == nullptr || used_ <= extent_->size());
  kept_made_ = made_.size();
  kept_used_ = extent_ != nullptr ? used_ : 0;
  kept_live_ = extent_ != nullptr ? live_ : 0;
}

// The extent that was being filled at the last Commit is the first of those that became full since, or is still being
// filled. Then its room is used again.
void RecordCopier::Rollback() {
  CHECK_LE(kept_made_, made_.size());
  if (made_.size() == kept_made_ && extent_ != nullptr) {
    CHECK(kept_used_ <= used_ && kept_live_ <= live_);
    used_ = kept_used_;
    live_ = kept_live_;
    evacuated_ = std::min(evacuated_, used_);
    return;
  }
  for (size_t i = kept_made_; i < made_.size(); i++) {
    CHECK(i != kept_made_ || kept_live_ <= made_[i].live_bytes);
    made_[i].live_bytes = i == kept_made_ ? kept_live_ : 0;
  }
  used_ = live_ = evacuated_ = 0;
  Commit();
}

// Extents that nothing refers to are left out: their space is free again.
std::vector<MadePayload> RecordCopier::Take() {
  Finish();
  CHECK(extent_ == nullptr);
  std::erase_if(made_, [](const MadePayload& made) { return made.live_bytes == 0; });
  return std::move(made_);
}

}  // namespace miodb
