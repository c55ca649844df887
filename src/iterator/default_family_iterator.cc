// All other families are one range of keys, and a walk of the default one's goes around it.

#include "src/iterator/default_family_iterator.h"

#include <utility>

#include "src/util/check.h"
#include "src/util/family_key.h"

namespace miodb {

namespace {

class DefaultFamilyIterator final : public InternalIterator {
 public:
  explicit DefaultFamilyIterator(std::unique_ptr<InternalIterator> all) : all_(std::move(all)) {
    DCHECK(all_ != nullptr);
  }

  bool Valid() const override { return all_->Valid(); }
  void SeekToFirst() override {
    all_->SeekToFirst();
    PassForward();
  }
  void SeekToLast() override {
    all_->SeekToLast();
    PassBackward();
  }
  void Seek(const Slice& key, uint64_t sequence) override {
    all_->Seek(key, sequence);
    PassForward();
  }
  void Next() override {
    DCHECK(all_->Valid());
    all_->Next();
    PassForward();
  }
  void Prev() override {
    DCHECK(all_->Valid());
    all_->Prev();
    PassBackward();
  }
  void NextFrom(const Slice& end, uint64_t sequence) override {
    DCHECK(all_->Valid());
    all_->NextFrom(end, sequence);
    PassForward();
  }
  void PrevBefore(const Slice& begin, uint64_t sequence) override {
    DCHECK(all_->Valid());
    all_->PrevBefore(begin, sequence);
    PassBackward();
  }
  const RecordView& record() const override { return all_->record(); }
  Status status() const override { return all_->status(); }

 private:
  bool OnFamily() const { return all_->Valid() && HasFamilyMark(all_->record().key); }

  void PassForward() {
    if (OnFamily()) all_->Seek(FamiliesEnd().slice(), kMaxSequence);
    DCHECK(!OnFamily());
  }

  // The search finds what the walk stood on, or something before it, unless the sources have failed.
  void PassBackward() {
    if (!OnFamily()) return;
    all_->Seek(FamiliesBegin(), kMaxSequence);
    if (all_->Valid()) all_->Prev();
    DCHECK(!OnFamily());
  }

  const std::unique_ptr<InternalIterator> all_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewDefaultFamilyIterator(std::unique_ptr<InternalIterator> all) {
  return std::make_unique<DefaultFamilyIterator>(std::move(all));
}

}  // namespace miodb
