// The iterators of a batch with an index: one over its updates, and one over a base iterator with the batch on top.

#include "src/api/batch_iterator.h"

#include <iterator>
#include <string>

#include "src/api/write_batch_internal.h"
#include "src/util/check.h"
#include "src/util/no_throw.h"

namespace miodb {

namespace {

using Side = BatchIndex::Side;

// The calls that fill an index make updates of single keys alone, and none of families, so there are no other types.
WriteType TypeOf(uint8_t type) {
  switch (type) {
    case kBatchPut:
      return WriteType::kPut;
    case kBatchMerge:
      return WriteType::kMerge;
    case kBatchSingleDeletion:
      return WriteType::kSingleDelete;
    default:
      DCHECK_EQ(type, kBatchDeletion);
      return WriteType::kDelete;
  }
}

class BatchEntries final : public WBWIIterator {
 public:
  explicit BatchEntries(const BatchIndex* index) : index_(index), at_(index->entries().end()) {
    DCHECK(index_ != nullptr);
  }

  // A set that has changed may have lost the entry, so nothing is looked at there.
  bool Valid() const override { return changes_ == index_->changes() && at_ != index_->entries().end(); }

  void SeekToFirst() override { Stand(index_->entries().begin()); }
  void SeekToLast() override { StandBefore(index_->entries().end()); }
  void Seek(const Slice& key) override { Stand(index_->From(key, Side::kBefore)); }
  void SeekForPrev(const Slice& key) override { StandBefore(index_->From(key, Side::kBehind)); }

  void Next() override {
    CHECK(Valid());
    ++at_;
  }
  void Prev() override {
    CHECK(Valid());
    StandBefore(at_);
  }

  WriteEntry Entry() const override {
    CHECK(Valid());
    return {TypeOf(at_->type), index_->KeyOf(*at_), index_->ValueOf(*at_)};
  }

 private:
  using Place = BatchIndex::Entries::const_iterator;

  // A seek looks its place up anew, so it makes an iterator good again after a change of the batch.
  void Stand(Place place) {
    changes_ = index_->changes();
    at_ = place;
  }
  // Before the first entry there is none, and the end stands for that too: an iterator that has left the batch on
  // either side is not valid, and cannot step back into it.
  void StandBefore(Place place) {
    Stand(place == index_->entries().begin() ? index_->entries().end() : std::prev(place));
  }

  const BatchIndex* const index_;
  Place at_;
  uint64_t changes_ = 0;
};

// A walk over the keys of a batch within bounds. Has its key as a copy, so that the batch may change under it.
class BatchKeys {
 public:
  BatchKeys(const BatchIndex* index, const ReadOptions& bounds)
      : index_(index), lower_(bounds.iterate_lower_bound), upper_(bounds.iterate_upper_bound) {
    DCHECK(index_ != nullptr);
  }

  bool Valid() const { return valid_; }
  const std::string& key() const {
    DCHECK(valid_);
    return key_;
  }

  // To the first key on that side of the target, or to the last one.
  void Forward(const Slice& target, Side side) {
    const bool below = lower_ != nullptr && index_->order().Compare(target, *lower_) < 0;
    Take(below ? index_->From(*lower_, Side::kBefore) : index_->From(target, side));
  }
  void Backward(const Slice& target, Side side) {
    const bool above = upper_ != nullptr && index_->order().Compare(target, *upper_) >= 0;
    TakeBefore(above ? index_->From(*upper_, Side::kBefore) : index_->From(target, side));
  }
  void First() { Take(lower_ != nullptr ? index_->From(*lower_, Side::kBefore) : index_->entries().begin()); }
  void Last() { TakeBefore(upper_ != nullptr ? index_->From(*upper_, Side::kBefore) : index_->entries().end()); }

 private:
  using Place = BatchIndex::Entries::const_iterator;

  void TakeBefore(Place place) {
    Take(place == index_->entries().begin() ? index_->entries().end() : std::prev(place));
  }

  // A key outside of the bounds ends the walk: no other key that follows in its direction lies inside.
  void Take(Place place) {
    valid_ = false;
    if (place == index_->entries().end()) return;
    const Slice key = index_->KeyOf(*place);
    if (lower_ != nullptr && index_->order().Compare(key, *lower_) < 0) return;
    if (upper_ != nullptr && index_->order().Compare(key, *upper_) >= 0) return;
    key_.assign(key.data(), key.size());
    DCHECK(lower_ == nullptr || upper_ == nullptr || index_->order().Compare(*lower_, *upper_) < 0);
    valid_ = true;
  }

  const BatchIndex* const index_;
  const Slice* const lower_;
  const Slice* const upper_;
  bool valid_ = false;
  std::string key_;
};

// Going forward, base and batch stand on the current key or behind it, going backward on it or before. at_ says which
// of the two the pair is of; the other one has another key, or none.
class BatchOverBase final : public Iterator {
 public:
  BatchOverBase(const BatchIndex* index, std::unique_ptr<Iterator> base, const ReadOptions& bounds)
      : index_(index), base_(std::move(base)), keys_(index, bounds) {
    CHECK(index_ != nullptr && base_ != nullptr);
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

  // From the current pair. What the batch was given since the last move is looked for behind its key.
  void Step(Direction direction) {
    DCHECK(Valid());
    if (direction != direction_) {
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
    DCHECK(Valid() && direction != direction_);
    const std::string from = key().ToString();
    MoveKeys(direction, from);
    base_->Seek(from);
    if (direction == Direction::kForward) {
      if (base_->Valid() && index_->order().Equal(base_->key(), from)) base_->Next();
    } else if (base_->Valid()) {
      base_->Prev();
    } else if (base_->status().ok()) {
      base_->SeekToLast();
    }
  }

  // Which of the two comes first in this direction.
  At Nearer(Direction direction) const {
    if (!base_->status().ok()) return At::kNowhere;  // what it does not show, the batch may not be shown without
    if (!base_->Valid()) return keys_.Valid() ? At::kBatch : At::kNowhere;
    if (!keys_.Valid()) return At::kBase;
    const int c = index_->order().Compare(base_->key(), keys_.key());
    if (c == 0) return At::kBoth;
    return (c < 0) == (direction == Direction::kForward) ? At::kBase : At::kBatch;
  }

  // From where both stand to the first key that has a value.
  void Find(Direction direction) {
    direction_ = direction;
    changes_ = index_->changes();
    failure_ = Status::OK();
    // A key that the batch has removed is passed over together with the pair of the base iterator that has the same
    // key.
    for (;;) {
      at_ = Nearer(direction);
      if (at_ == At::kNowhere || at_ == At::kBase) return;
      const BatchIndex::Answer answer = index_->Ask(keys_.key());
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
  const std::unique_ptr<Iterator> base_;
  BatchKeys keys_;
  At at_ = At::kNowhere;
  Direction direction_ = Direction::kForward;
  uint64_t changes_ = 0;  // of the batch at the last move
  Slice value_;           // of the batch's key
  std::string value_space_;
  Status failure_;
};

}  // namespace

// The index, and the slices that the bounds point to, have to outlive the iterator; the base iterator is its own.
Iterator* NewBatchOverBase(const BatchIndex* index, std::unique_ptr<Iterator> base, const ReadOptions& bounds) {
  return new BatchOverBase(index, std::move(base), bounds);
}

WBWIIterator* NewBatchEntries(const BatchIndex* index) { return new BatchEntries(index); }

}  // namespace miodb
