#include "src/ssd/block.h"

#include <algorithm>

#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

// Keys shorten to what differs from the one before, but for one in restart_interval_, from which a search can begin.
// last_key_ is put together from the same two parts that are stored, so what a reader rebuilds is what was compared
// here.
void BlockBuilder::Add(const Slice& key, const Slice& value) {
  CHECK_LE(since_restart_, restart_interval_);
  size_t shared = 0;
  if (since_restart_ < restart_interval_) {
    const size_t most = std::min(last_key_.size(), key.size());
    while (shared < most && last_key_[shared] == key[shared]) shared++;
  } else {
    restarts_.push_back(static_cast<uint32_t>(buffer_.size()));
    since_restart_ = 0;
  }
  PutVarint32(&buffer_, static_cast<uint32_t>(shared));
  PutVarint32(&buffer_, static_cast<uint32_t>(key.size() - shared));
  PutVarint32(&buffer_, static_cast<uint32_t>(value.size()));
  buffer_.append(key.data() + shared, key.size() - shared);
  buffer_.append(value.data(), value.size());
  last_key_.resize(shared);
  last_key_.append(key.data() + shared, key.size() - shared);
  DCHECK(key == Slice(last_key_));
  since_restart_++;
}

// The restarts come last, so that the builder needs no second pass and a reader finds them from the end.
Slice BlockBuilder::Finish() {
  CHECK(restarts_.front() == 0 && restarts_.back() <= buffer_.size());
  DCHECK(std::is_sorted(restarts_.begin(), restarts_.end()));
  for (uint32_t restart : restarts_) PutFixed32(&buffer_, restart);
  PutFixed32(&buffer_, static_cast<uint32_t>(restarts_.size()));
  return buffer_;
}

// The memory is kept for the next block.
void BlockBuilder::Reset() {
  buffer_.clear();
  restarts_.assign(1, 0);
  since_restart_ = 0;
  last_key_.clear();
}

// Finds the list of restarts from the end and believes it only if it fits and begins with 0. Nothing more is checked
// here: each entry is looked at when a walk comes to it, so opening a block costs nothing for entries that nobody
// reads.
Block::Block(std::string contents) : contents_(std::move(contents)) {
  if (contents_.size() < sizeof(uint32_t) || contents_.size() > UINT32_MAX) return;
  restart_count_ = DecodeFixed32(contents_.data() + contents_.size() - sizeof(uint32_t));
  const size_t most = contents_.size() / sizeof(uint32_t) - 1;
  if (restart_count_ > most) return;
  restarts_offset_ = static_cast<uint32_t>(contents_.size() - (1 + size_t{restart_count_}) * sizeof(uint32_t));
  // A block without entries may or may not have a restart.
  valid_ = restart_count_ > 0 ? DecodeFixed32(contents_.data() + restarts_offset_) == 0 : restarts_offset_ == 0;
  CHECK_LE(restarts_offset_ + (1 + size_t{restart_count_}) * sizeof(uint32_t), contents_.size());
}

// A block that is none gets the status here, so every positioning on it ends at once and says why.
void BlockIterator::Enter(const Block* block, const SstSource* source, uint64_t offset) {
  DCHECK(block != nullptr && source != nullptr);
  block_ = block;
  source_ = source;
  offset_ = offset;
  status_ = Status::OK();
  current_ = next_ = block->restarts_offset_;
  if (!block->valid_) Fail("no list of restarts");
}

// Damage leaves the walk without a position, as its end does, and with a status. The status is forgotten with the
// block: the next block may be whole.
void BlockIterator::Fail(const char* what) {
  CHECK(status_.ok());  // a walk ends at the first damage
  status_ = source_->Corrupt(offset_, std::string("damaged block: ") + what);
  current_ = next_ = block_->restarts_offset_;
  key_.clear();
  value_ = Slice();
}

// Where the restart's entry begins, by what the block says: it may be any number, which ParseNext finds out.
uint32_t BlockIterator::RestartPoint(uint32_t index) const {
  DCHECK_LT(index, block_->restart_count_);
  return DecodeFixed32(block_->contents_.data() + block_->restarts_offset_ + index * sizeof(uint32_t));
}

// Stands before the first entry of a restart; ParseNext goes on it.
void BlockIterator::GoToRestart(uint32_t index) {
  key_.clear();
  restart_index_ = index;
  next_ = RestartPoint(index);
}

// Every length is checked against the bytes that there are before it is used, in 64 bits, so that no sum of two wraps.
// The key is kept in a string of the iterator's own, since it is put together from two places; the value is a view of
// the block.
bool BlockIterator::ParseNext() {
  const uint32_t end = block_->restarts_offset_;
  current_ = next_;
  if (current_ >= end) {
    current_ = next_ = end;
    return false;
  }
  const char* p = block_->contents_.data() + current_;
  const char* const limit = block_->contents_.data() + end;
  uint32_t shared = 0, unshared = 0, value_size = 0;
  p = GetVarint32Ptr(p, limit, &shared);
  if (p != nullptr) p = GetVarint32Ptr(p, limit, &unshared);
  if (p != nullptr) p = GetVarint32Ptr(p, limit, &value_size);
  if (p == nullptr || static_cast<uint64_t>(limit - p) < uint64_t{unshared} + value_size || shared > key_.size()) {
    Fail("an entry that does not fit");
    return false;
  }
  key_.resize(shared);
  key_.append(p, unshared);
  value_ = Slice(p + unshared, value_size);
  next_ = static_cast<uint32_t>(p + unshared + value_size - block_->contents_.data());
  DCHECK(next_ > current_ && next_ <= end);
  while (restart_index_ + 1 < block_->restart_count_ && RestartPoint(restart_index_ + 1) <= current_) restart_index_++;
  return true;
}

// A block without restarts has no entries. A damaged block has its status since Enter.
void BlockIterator::SeekToFirst() {
  DCHECK(block_ != nullptr);
  if (!status_.ok() || block_->restart_count_ == 0) return;
  GoToRestart(0);
  ParseNext();
}

// The walk begins at the last restart and goes on entry by entry: entries have no way back, since each is stored by
// what differs from the one before.
void BlockIterator::SeekToLast() {
  DCHECK(block_ != nullptr);
  if (!status_.ok() || block_->restart_count_ == 0) return;
  GoToRestart(block_->restart_count_ - 1);
  while (ParseNext() && next_ < block_->restarts_offset_) continue;
}

// Binary over restarts, whose keys are whole, then entry by entry. Damage in between ends the search at once: a wrong
// turn would lead to an entry that is not the first at or behind the target.
void BlockIterator::Seek(const Slice& target) {
  DCHECK(block_ != nullptr);
  if (!status_.ok() || block_->restart_count_ == 0) return;
  // The last restart with a key before the target.
  uint32_t low = 0, high = block_->restart_count_ - 1;
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    GoToRestart(middle);
    if (!ParseNext()) {
      if (status_.ok()) Fail("a restart behind the entries");
      return;
    }
    if (comparator_->Compare(key_, target) < 0) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  GoToRestart(low);
  while (ParseNext() && comparator_->Compare(key_, target) < 0) continue;
}

void BlockIterator::Next() {
  DCHECK(Valid());
  DCHECK_GT(next_, current_);
  ParseNext();
}

// Goes back to the restart before the entry and walks forward up to it, for the same reason. So a walk backward reads
// each stretch between two restarts as often as it has entries.
void BlockIterator::Prev() {
  DCHECK(Valid());
  const uint32_t original = current_;
  while (RestartPoint(restart_index_) >= original) {
    if (restart_index_ == 0) {
      current_ = next_ = block_->restarts_offset_;  // before the first
      return;
    }
    restart_index_--;
  }
  DCHECK_LT(RestartPoint(restart_index_), original);
  GoToRestart(restart_index_);
  while (ParseNext() && next_ < original) continue;
}

}  // namespace miodb
