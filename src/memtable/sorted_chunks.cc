#include "src/memtable/sorted_chunks.h"

#include <string>
#include <utility>

#include "src/iterator/merging_iterator.h"
#include "src/util/check/check.h"

// A chunk is searched as it lies on the medium: a place leads to a record, and the record is parsed anew each time it
// is met. Nothing of it was verified by the open, so each look checks that the place lies inside of the frames, that
// the record ends there, and that its sequence is one of this chunk: then a damaged place or record ends in Corruption,
// and never in bytes of another chunk. The record's checksum is compared by the flush.

namespace miodb {

namespace {

// Stops at damage, and stays stopped: a record that cannot be read may be the one that hides the next.
class SortedChunkIterator final : public RecordIterator {
 public:
  explicit SortedChunkIterator(const SortedChunk* chunk) : chunk_(chunk) { CHECK(chunk_ != nullptr); }

  bool Valid() const override { return valid_; }
  void SeekToFirst() override { Go(0); }
  void SeekToLast() override { Go(chunk_->count() - 1); }
  void Seek(const Slice& key, uint64_t sequence) override {
    valid_ = false;
    if (!status_.ok()) return;
    status_ = chunk_->Seek(key, sequence, &index_, &record_);
    valid_ = status_.ok() && index_ < chunk_->count();
  }
  void Next() override {
    DCHECK(Valid());
    Go(index_ + 1);
  }
  void Prev() override {
    DCHECK(Valid());
    Go(index_ - 1);
  }

 private:
  // Before the first index comes the largest one there is, which is none either.
  void Go(size_t index) {
    valid_ = false;
    index_ = index;
    if (index_ >= chunk_->count() || !status_.ok()) return;
    status_ = chunk_->At(index_, &record_);
    valid_ = status_.ok();
  }

  const SortedChunk* const chunk_;
  size_t index_ = 0;
  bool valid_ = false;
};

}  // namespace

// Records that an earlier use of the memory left behind have other sequences.
Status SortedChunk::At(size_t index, RecordView* record) const {
  CHECK_LT(index, count_);
  const uint32_t place = places_[index];
  const char* const limit = bytes_.base + bytes_.size;
  if (place < bytes_.size && ParseRecord(bytes_.base + place, limit, record) && IsKnownType(record->type()) &&
      record->sequence() >= bytes_.first_sequence && record->sequence() <= bytes_.last_sequence) {
    return Status::OK();
  }
  return Status::Corruption(
      "log chunk of writes " + std::to_string(bytes_.first_sequence) + " to " + std::to_string(bytes_.last_sequence),
      "record at offset " + std::to_string(place) + " is damaged");
}

// A record that is damaged ends the search: the search cannot tell on which side of it the key would be.
Status SortedChunk::Seek(const Slice& key, uint64_t sequence, size_t* index, RecordView* record) const {
  size_t begin = 0, end = count_;
  size_t found = end;  // where *record is of
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    RecordView at;
    Status s = At(middle, &at);
    if (!s.ok()) return s;
    const int c = order_.Compare(at.key, key);
    if (c < 0 || (c == 0 && at.sequence() > sequence)) {
      begin = middle + 1;
    } else {
      *record = at;
      found = end = middle;
    }
  }
  *index = begin;
  DCHECK_EQ(found, begin);
  DCHECK_LE(begin, count_);
  return Status::OK();
}

// Versions count one by one: an estimate of keys is made of it, and the capacity of the tree to come.
uint64_t SortedChunks::count() const {
  uint64_t sum = 0;
  for (const auto& chunk : chunks_) sum += chunk->count();
  return sum;
}

// Places that lie in the chunks themselves take no memory.
size_t SortedChunks::memory_bytes() const {
  size_t sum = 0;
  for (const auto& chunk : chunks_) sum += chunk->memory_bytes();
  return sum;
}

// The newest chunk that has a version at or below the sequence has the newest one.
Status SortedChunks::Get(const LookupKey& key, bool* found, RecordView* record) const {
  DCHECK(!chunks_.empty());
  *found = false;
  for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend() && !*found; ++chunk) {
    size_t index;
    Status s = (*chunk)->Seek(key.key, key.sequence, &index, record);
    if (!s.ok()) return s;
    *found = index < (*chunk)->count() && order_.Equal(record->key, key.key);
  }
  return Status::OK();
}

// Each chunk is a source of its own, since only within a chunk are the records in key order.
std::unique_ptr<InternalIterator> SortedChunks::NewIterator() const {
  std::vector<std::unique_ptr<InternalIterator>> sources;
  for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk) {
    sources.push_back(std::make_unique<SortedChunkIterator>(chunk->get()));
  }
  return NewMergingIterator(order_, std::move(sources));
}

}  // namespace miodb
