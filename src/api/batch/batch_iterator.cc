// The iterators of a batch with an index: one over its updates, and one over a base iterator with the batch on top.

#include "src/api/batch/batch_iterator.h"

#include <iterator>
#include <string>

#include "src/api/batch/write_batch_internal.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

using Side = BatchIndex::Side;

// Entries of the index are of single keys; deletions of ranges lie elsewhere, so no other type occurs.
WriteType TypeOf(uint8_t type) {
  switch (BaseBatchType(type)) {
    case kBatchPut:
      return WriteType::kPut;
    case kBatchMerge:
      return WriteType::kMerge;
    case kBatchSingleDeletion:
      return WriteType::kSingleDelete;
    default:
      DCHECK_EQ(BaseBatchType(type), kBatchDeletion);
      return WriteType::kDelete;
  }
}

class BatchEntries final : public WBWIIterator {
 public:
  BatchEntries(const BatchIndex* index, uint32_t family) : index_(index), family_(family), at_(index->entries().end()) {
    DCHECK_LE(family_, kMostFamilyId);
  }

  // A set that has changed may have lost the entry, so nothing is looked at there.
  bool Valid() const override { return changes_ == index_->changes() && at_ != index_->entries().end(); }

  void SeekToFirst() override { Stand(index_->FromFamily(family_, Side::kBefore)); }
  void SeekToLast() override { StandBefore(index_->FromFamily(family_, Side::kBehind)); }
  void Seek(const Slice& key) override { Stand(index_->From({family_, key}, Side::kBefore)); }
  void SeekForPrev(const Slice& key) override { StandBefore(index_->From({family_, key}, Side::kBehind)); }

  void Next() override {
    CHECK(Valid());
    Stand(std::next(at_));
  }
  void Prev() override {
    CHECK(Valid());
    StandBefore(at_);
  }

  WriteEntry Entry() const override {
    CHECK(Valid());
    return {TypeOf(at_->type), index_->KeyOf(*at_).key, index_->ValueOf(*at_)};
  }

 private:
  using Place = BatchIndex::Entries::const_iterator;

  // A seek looks its place up anew, so it makes an iterator good again after a change of the batch. Outside of the
  // family there is no entry, and the end stands for that: an iterator that has left it on either side is not valid,
  // and cannot step back into it.
  void Stand(Place place) {
    changes_ = index_->changes();
    at_ = index_->At(place, family_);
  }
  void StandBefore(Place place) {
    changes_ = index_->changes();
    at_ = index_->Before(place, family_);
  }

  const BatchIndex* const index_;
  const uint32_t family_;
  Place at_;
  uint64_t changes_ = 0;
};

// A walk over the keys that a batch has of a family, within bounds. Has its key as a copy, so that the batch may change
// under it.
class BatchKeys {
 public:
  BatchKeys(const BatchIndex* index, uint32_t family, const ReadOptions& bounds)
      : index_(index),
        family_(family),
        order_(index->order(family)),
        lower_(bounds.iterate_lower_bound),
        upper_(bounds.iterate_upper_bound) {
    DCHECK_LE(family_, kMostFamilyId);
  }

  bool Valid() const { return valid_; }
  const std::string& key() const {
    DCHECK(valid_);
    return key_;
  }

  // To the first key on that side of the target, or to the last one.
  void Forward(const Slice& target, Side side) {
    const bool below = lower_ != nullptr && order_.Compare(target, *lower_) < 0;
    below ? First() : Take(index_->From({family_, target}, side));
  }
  void Backward(const Slice& target, Side side) {
    const bool above = upper_ != nullptr && order_.Compare(target, *upper_) >= 0;
    above ? Last() : TakeBefore(index_->From({family_, target}, side));
  }
  void First() {
    Take(lower_ != nullptr ? index_->From({family_, *lower_}, Side::kBefore)
                           : index_->FromFamily(family_, Side::kBefore));
  }
  void Last() {
    TakeBefore(upper_ != nullptr ? index_->From({family_, *upper_}, Side::kBefore)
                                 : index_->FromFamily(family_, Side::kBehind));
  }

 private:
  using Place = BatchIndex::Entries::const_iterator;

  void TakeBefore(Place place) { Take(index_->Before(place, family_)); }

  // A key outside of the bounds ends the walk: no other key that follows in its direction lies inside.
  void Take(Place place) {
    valid_ = false;
    if (index_->At(place, family_) == index_->entries().end()) return;
    const Slice key = index_->KeyOf(*place).key;
    if (lower_ != nullptr && order_.Compare(key, *lower_) < 0) return;
    if (upper_ != nullptr && order_.Compare(key, *upper_) >= 0) return;
    key_.assign(key.data(), key.size());
    DCHECK(lower_ == nullptr || upper_ == nullptr || order_.Compare(*lower_, *upper_) < 0);
    valid_ = true;
  }

  const BatchIndex* const index_;
  const uint32_t family_;
  const KeyOrder& order_;
  const Slice* const lower_;
  const Slice* const upper_;
  bool valid_ = false;
  std::string key_;
};

// Going forward, base and batch stand on the current key or behind it, going backward on it or before. at_ says which
// of the two the pair is of; the other one has another key, or none. Base stands on no key that a range of the batch
// has: what it shows of these is older than the range.
class BatchOverBase final : public Iterator {
 public:
  BatchOverBase(const BatchIndex* index, uint32_t family, std::unique_ptr<Iterator> base, const ReadOptions& bounds)
      : index_(index),
        family_(family),
        order_(index->order(family)),
        base_(std::move(base)),
        keys_(index, family, bounds) {
    CHECK(base_ != nullptr);
  }

  bool Valid() const override { return at_ != At::kNowhere; }

  // Every move puts both the base iterator and the batch's walk in place, as a later step goes on from both.
  void SeekToFirst() override {
    Move([this] {
      base_->SeekToFirst();
      keys_.First();
      Find(Direction::kForward);
    });
  }
  void SeekToLast() override {
    Move([this] {
      base_->SeekToLast();
      keys_.Last();
      Find(Direction::kBackward);
    });
  }
  void Seek(const Slice& target) override {
    Move([&] {
      base_->Seek(target);
      keys_.Forward(target, Side::kBefore);
      Find(Direction::kForward);
    });
  }
  void Next() override {
    CHECK(Valid());
    Move([this] { Step(Direction::kForward); });
  }
  void Prev() override {
    CHECK(Valid());
    Move([this] { Step(Direction::kBackward); });
  }

  // The batch's key is a copy and is good while the batch changes; that of the base iterator is good until this one
  // moves.
  Slice key() const override {
    CHECK(Valid());
    return at_ == At::kBase ? base_->key() : Slice(keys_.key());
  }
  Slice value() const override {
    CHECK(Valid());
    return at_ == At::kBase ? base_->value() : value_;
  }
  // A failure to merge, or lack of memory, comes before the status of the base iterator: it is why the last move showed
  // no pair.
  Status status() const override { return failure_.ok() ? base_->status() : failure_; }

  // The iterator stands nowhere after a refresh, and a seek brings it back: the pair that it showed may be there no
  // longer.
  Status Refresh() override {
    const Status s = base_->Refresh();
    if (!s.ok()) return s;
    at_ = At::kNowhere;
    failure_ = Status::OK();
    return s;
  }

 private:
  enum class Direction : uint8_t { kForward, kBackward };
  enum class At : uint8_t { kNowhere, kBase, kBatch, kBoth };

  // Nothing is thrown across the API. After a move that stopped half-way nobody knows where base stands.
  template <typename Call>
  void Move(Call call) {
    const Status s = NoThrow("iterator", [&] {
      call();
      return Status::OK();
    });
    if (!s.ok()) Fail(s);
  }

  void Fail(const Status& s) {
    at_ = At::kNowhere;
    failure_ = s;
  }

  // From the current pair. Updates that the batch was given since the last move are looked for behind the current key.
  // If the batch has undone ranges since, so are keys that the base passed over.
  void Step(Direction direction) {
    DCHECK(Valid());
    if (direction != direction_ || ranges_undone_ != index_->ranges_undone()) {
      Turn(direction);
    } else {
      // The batch's walk leaves the current key if it stands on it. If it stands on another one, an update since the
      // last move may lie in between, and the walk would miss it.
      if (at_ != At::kBase || changes_ != index_->changes()) MoveKeys(direction, key().ToString());
      if (at_ != At::kBatch) MoveBase(direction);
    }
    Find(direction);
  }

  void MoveBase(Direction direction) {
    DCHECK(base_->Valid() && direction == direction_);
    if (direction == Direction::kForward) {
      base_->Next();
    } else {
      base_->Prev();
    }
  }

  void MoveKeys(Direction direction, const std::string& from) {
    if (direction == Direction::kForward) {
      keys_.Forward(from, Side::kBehind);
    } else {
      keys_.Backward(from, Side::kBefore);
    }
  }

  // Puts both behind the current key, or before it.
  void Turn(Direction direction) {
    DCHECK(Valid());
    const std::string from = key().ToString();
    MoveKeys(direction, from);
    if (direction == Direction::kBackward) return PutBaseBefore(from);
    base_->Seek(from);
    if (base_->Valid() && order_.Equal(base_->key(), from)) base_->Next();
  }

  // To the last key of base before this one. Where a seek finds nothing, all of base lies before it.
  void PutBaseBefore(const Slice& key) {
    base_->Seek(key);
    if (base_->Valid()) {
      base_->Prev();
    } else if (base_->status().ok()) {
      base_->SeekToLast();
    }
  }

  // Takes base out of what the batch deletes: by one seek for each stretch of keys, whatever base has in it. The call
  // comes before each comparison, and not only after moves of base, since a range may come while base stands inside of
  // it.
  void LeaveRanges(Direction direction) {
    const BatchRanges* const ranges = index_->RangesOf(family_);
    if (ranges == nullptr) return;
    BatchRanges::Stretch deleted;
    while (base_->Valid() && ranges->FindStretch(base_->key(), &deleted)) {
      direction == Direction::kForward ? base_->Seek(deleted.end) : PutBaseBefore(deleted.begin);
    }
  }

  // The source whose key comes first in this direction.
  At Nearer(Direction direction) const {
    if (!base_->status().ok()) return At::kNowhere;  // what it does not show, the batch may not be shown without
    if (!base_->Valid()) return keys_.Valid() ? At::kBatch : At::kNowhere;
    if (!keys_.Valid()) return At::kBase;
    const int c = order_.Compare(base_->key(), keys_.key());
    if (c == 0) return At::kBoth;
    return (c < 0) == (direction == Direction::kForward) ? At::kBase : At::kBatch;
  }

  // From where both stand to the first key that has a value.
  void Find(Direction direction) {
    direction_ = direction;
    changes_ = index_->changes();
    ranges_undone_ = index_->ranges_undone();
    failure_ = Status::OK();
    // A key that the batch has removed is passed over together with the pair of the base iterator that has the same
    // key.
    for (;;) {
      LeaveRanges(direction);
      at_ = Nearer(direction);
      if (at_ == At::kNowhere || at_ == At::kBase) return;
      const BatchIndex::Answer answer = index_->Ask({family_, keys_.key()});
      if (!answer.gone()) return Show(answer);
      if (at_ == At::kBoth) MoveBase(direction);
      MoveKeys(direction, std::string(keys_.key()));
    }
  }

  // The value of the batch's key.
  void Show(const BatchIndex::Answer& answer) {
    DCHECK(keys_.Valid() && !answer.gone());
    DCHECK(at_ == At::kBatch || at_ == At::kBoth);
    Slice before;
    if (at_ == At::kBoth) before = base_->value();
    const Status s = index_->Value(keys_.key(), answer, at_ == At::kBoth ? &before : nullptr, &value_space_, &value_);
    if (!s.ok()) Fail(s);
  }

  const BatchIndex* const index_;
  const uint32_t family_;
  const KeyOrder& order_;
  const std::unique_ptr<Iterator> base_;
  BatchKeys keys_;
  At at_ = At::kNowhere;
  Direction direction_ = Direction::kForward;
  uint64_t changes_ = 0;  // of the batch at the last move, as the next
  uint64_t ranges_undone_ = 0;
  Slice value_;  // of the batch's key
  std::string value_space_;
  Status failure_;
};

}  // namespace

// The index, and the slices that the bounds point to, have to outlive the iterator; the base iterator is its own.
Iterator* NewBatchOverBase(const BatchIndex* index, uint32_t family, std::unique_ptr<Iterator> base,
                           const ReadOptions& bounds) {
  return new BatchOverBase(index, family, std::move(base), bounds);
}

WBWIIterator* NewBatchEntries(const BatchIndex* index, uint32_t family) { return new BatchEntries(index, family); }

}  // namespace miodb
