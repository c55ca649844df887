// All other families are one range of keys, and a walk of the default one's goes around it.

#include "src/iterator/default_family_iterator.h"

#include <string>
#include <utility>

#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

class DefaultFamilyIterator final : public InternalIterator {
 public:
  DefaultFamilyIterator(std::unique_ptr<InternalIterator> all, const std::string& place)
      : all_(std::move(all)), place_(place) {
    DCHECK(all_ != nullptr);
  }

  bool Valid() const override { return disorder_.ok() && all_->Valid(); }
  void SeekToFirst() override {
    Jump();
    all_->SeekToFirst();
    PassForward();
  }
  void SeekToLast() override {
    Jump();
    all_->SeekToLast();
    PassBackward();
  }
  void Seek(const Slice& key, uint64_t sequence) override {
    Jump();
    all_->Seek(key, sequence);
    PassForward();
  }
  void Next() override {
    DCHECK(Valid());
    all_->Next();
    PassForward();
  }
  void Prev() override {
    DCHECK(Valid());
    all_->Prev();
    PassBackward();
  }
  void NextFrom(const Slice& end, uint64_t sequence) override {
    DCHECK(Valid());
    all_->NextFrom(end, sequence);
    PassForward();
  }
  void PrevBefore(const Slice& begin, uint64_t sequence) override {
    DCHECK(Valid());
    all_->PrevBefore(begin, sequence);
    PassBackward();
  }
  const RecordView& record() const override {
    DCHECK(Valid());
    return all_->record();
  }
  Status status() const override { return disorder_.ok() ? all_->status() : disorder_; }

 private:
  enum class Passed : uint8_t { kNothing, kForward, kBackward };

  bool OnFamily() const { return all_->Valid() && HasFamilyMark(all_->record().key); }

  void Jump() {
    passed_ = Passed::kNothing;
    disorder_ = Status::OK();
  }

  // A walk in one direction passes the families once. Where it meets one behind them, the keys of a source are out of
  // order, and another search could lead to the same place for ever.
  bool PassOnce(Passed direction) {
    if (passed_ == direction) {
      disorder_ = Status::Corruption(place_, "a key of a column family is out of order");
      return false;
    }
    DCHECK(disorder_.ok());
    passed_ = direction;
    return true;
  }

  void PassForward() {
    if (!OnFamily() || !PassOnce(Passed::kForward)) return;
    all_->Seek(FamiliesEnd().slice(), kMaxSequence);
    if (OnFamily()) PassOnce(Passed::kForward);
  }

  // The search finds what the walk stood on, or something before it. A memtable may have grown since, by keys of a
  // family between the two.
  void PassBackward() {
    if (!OnFamily() || !PassOnce(Passed::kBackward)) return;
    all_->Seek(FamiliesBegin(), kMaxSequence);
    if (!all_->Valid() && all_->status().ok()) {
      PassOnce(Passed::kBackward);  // nothing is there now, where there was a key
      return;
    }
    if (all_->Valid()) all_->Prev();
    while (OnFamily()) all_->Prev();
  }

  const std::unique_ptr<InternalIterator> all_;
  const std::string place_;
  Passed passed_ = Passed::kNothing;  // since the last jump, or since the walk turned
  Status disorder_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewDefaultFamilyIterator(std::unique_ptr<InternalIterator> all,
                                                           const std::string& place) {
  return std::make_unique<DefaultFamilyIterator>(std::move(all), place);
}

}  // namespace miodb
