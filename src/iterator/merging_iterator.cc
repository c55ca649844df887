// The merge of memtables, runs and SSD levels into one order, forward and backward.

#include "src/iterator/merging_iterator.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// A heap of sources, the one to be visited next on top. All sources stand on the same side of the current version:
// behind it or on it while the walk goes forward, before it or on it while it goes backward. A change of direction
// therefore moves every source but the current one (Turn), and a walk in one direction moves one source a step.
//
// Sources need not hold still: memtables grow while they are walked. Versions that come in between have sequences above
// those that the reader may see, so the walk is right as long as it never goes past a version that was there when it
// began.
class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(const KeyOrder& order, std::vector<std::unique_ptr<InternalIterator>> sources)
      : order_(order), sources_(std::move(sources)) {
    heap_.reserve(sources_.size());
  }

  bool Valid() const override { return current_ != nullptr; }

  // Positions every source and makes the heap anew, whichever direction the last walk had.
  void SeekToFirst() override {
    for (auto& source : sources_) source->SeekToFirst();
    Arrange(Direction::kForward);
  }

  void SeekToLast() override {
    for (auto& source : sources_) source->SeekToLast();
    Arrange(Direction::kBackward);
  }

  void Seek(const Slice& key, uint64_t sequence) override {
    for (auto& source : sources_) source->Seek(key, sequence);
    Arrange(Direction::kForward);
  }

  // REQUIRES: Valid(), as for all steps.
  void Next() override {
    Step(Direction::kForward, [this] { current_->Next(); });
  }
  void Prev() override {
    Step(Direction::kBackward, [this] { current_->Prev(); });
  }

  // Each source passes what it has of a stretch when its turn comes.
  void NextFrom(const Slice& end, uint64_t sequence) override {
    Step(Direction::kForward, [&] { current_->NextFrom(end, sequence); });
  }
  void PrevBefore(const Slice& begin, uint64_t sequence) override {
    Step(Direction::kBackward, [&] { current_->PrevBefore(begin, sequence); });
  }

  const RecordView& record() const override {
    DCHECK(Valid());
    return current_->record();
  }

  // The first error of a source, in the order from new to old. The error stays as long as that source keeps it.
  Status status() const override {
    for (const auto& source : sources_) {
      Status s = source->status();
      if (!s.ok()) return s;
    }
    return Status::OK();
  }

 private:
  // The order in which the walk visits versions.
  enum class Direction : uint8_t {
    kForward,   // in key order, of a key the newest first
    kBackward,  // the other way round
  };

  // Whether a comes before b in key order, of one key the newer version first. Tags order versions as sequences do,
  // and decide between a value and a tombstone of one sequence, which repair and replay may bring together.
  [[gnu::always_inline]] bool Before(const InternalIterator* a, const InternalIterator* b) const {
    const int c = order_.Compare(a->record().key, b->record().key);
    return c != 0 ? c < 0 : a->record().tag > b->record().tag;
  }

  // Whether a record comes before, or after, the version (key, sequence) in that order.
  bool IsBefore(const RecordView& record, const Slice& key, uint64_t sequence) const {
    const int c = order_.Compare(record.key, key);
    return c != 0 ? c < 0 : record.sequence() > sequence;
  }

  bool IsAfter(const RecordView& record, const Slice& key, uint64_t sequence) const {
    const int c = order_.Compare(record.key, key);
    return c != 0 ? c > 0 : record.sequence() < sequence;
  }

  // The heap's order: what is to be visited last is "least". Inlined in any case: a step would pay for a call for each
  // source that it looks at.
  [[gnu::always_inline]] bool HeapLess(const InternalIterator* a, const InternalIterator* b) const {
    if (direction_ == Direction::kBackward) std::swap(a, b);
    return Before(b, a);
  }

  // A source is damaged. Going on with the others would show records that this source hides: an old value, or a key
  // that was deleted. So the whole walk ends, and status() says where.
  void Fail() {
    heap_.clear();
    current_ = nullptr;
  }

  // Makes a heap of the sources that are valid, all positioned for this direction, which the walk has from now on.
  void Arrange(Direction direction) {
    direction_ = direction;
    heap_.clear();
    for (auto& source : sources_) {
      if (!source->status().ok()) return Fail();
      if (source->Valid()) heap_.push_back(source.get());
    }
    DCHECK_LE(heap_.size(), sources_.size());
    std::make_heap(heap_.begin(), heap_.end(), [this](auto* a, auto* b) { return HeapLess(a, b); });
    current_ = heap_.empty() ? nullptr : heap_.front();
    DCHECK(current_ == nullptr || current_->Valid());
  }

  // After the source on top has moved: finds its new place.
  // Sifts down by hand: std::pop_heap and push_heap would sift twice, while most steps leave the source on top,
  // because runs of keys come from one source.
  void Restore() {
    DCHECK(!heap_.empty() && heap_.front() == current_);
    if (!current_->Valid()) {
      if (!current_->status().ok()) return Fail();
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    for (size_t i = 0;;) {
      size_t child = 2 * i + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && HeapLess(heap_[child], heap_[child + 1])) child++;
      if (!HeapLess(heap_[i], heap_[child])) break;
      std::swap(heap_[i], heap_[child]);
      i = child;
    }
    DCHECK(heap_.empty() || heap_.front()->Valid());
    current_ = heap_.empty() ? nullptr : heap_.front();
  }

  // A turn may meet damage, and then there is no current source any more.
  template <typename Move>
  [[gnu::always_inline]] void Step(Direction direction, Move move) {
    DCHECK(Valid());
    if (direction_ != direction) Turn(direction);
    if (current_ == nullptr) return;
    move();
    Restore();
  }

  // Changes direction: puts every other source on the other side of the current version.
  void Turn(Direction direction) {
    DCHECK(current_ != nullptr && direction != direction_);
    InternalIterator* const pivot = current_;
    const std::string key = pivot->record().key.ToString();
    const uint64_t sequence = pivot->record().sequence();
    for (auto& source : sources_) {
      if (source.get() == pivot) continue;
      source->Seek(key, sequence);  // the first version that is not before the pivot; maybe the same once more
      if (!source->status().ok()) continue;
      if (direction == Direction::kForward) {
        while (source->Valid() && !IsAfter(source->record(), key, sequence)) source->Next();
        continue;
      }
      if (source->Valid()) {
        source->Prev();
      } else {
        source->SeekToLast();
      }
      // A memtable may have grown since the Seek, by versions between the pivot and where it stood. Here and above, a
      // table that damage has put out of order may stand anywhere.
      while (source->Valid() && !IsBefore(source->record(), key, sequence)) source->Prev();
    }
    Arrange(direction);
    DCHECK(current_ == pivot || current_ == nullptr);  // all others are beyond it in this direction
  }

  const KeyOrder order_;
  const std::vector<std::unique_ptr<InternalIterator>> sources_;
  std::vector<InternalIterator*> heap_;
  InternalIterator* current_ = nullptr;
  Direction direction_ = Direction::kForward;  // set by Arrange alone
};

}  // namespace

std::unique_ptr<InternalIterator> NewMergingIterator(const KeyOrder& order,
                                                     std::vector<std::unique_ptr<InternalIterator>> sources) {
  CHECK(std::none_of(sources.begin(), sources.end(), [](const auto& source) { return source == nullptr; }));
  if (sources.size() == 1) return std::move(sources.front());
  return std::make_unique<MergingIterator>(order, std::move(sources));
}

}  // namespace miodb
