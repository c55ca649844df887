// Keys, targets and bounds of a family, to and from what the database has.

#include "src/db/read/family_iterator.h"

#include <memory>
#include <string>

#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

class FamilyIterator final : public Iterator {
 public:
  FamilyIterator(uint32_t family, const ReadOptions& options,
                 const std::function<Iterator*(const ReadOptions& bounded)>& make)
      : family_(family) {
    DCHECK(family != kDefaultFamily && family <= kMostFamilyId);
    const FamilyPrefix begin(family), end(family + 1);
    lower_ = begin.slice().ToString();
    if (options.iterate_lower_bound != nullptr) lower_ += options.iterate_lower_bound->ToString();
    upper_ = (options.iterate_upper_bound == nullptr ? end : begin).slice().ToString();
    if (options.iterate_upper_bound != nullptr) upper_ += options.iterate_upper_bound->ToString();
    lower_slice_ = lower_;
    upper_slice_ = upper_;
    ReadOptions bounded = options;
    bounded.iterate_lower_bound = &lower_slice_;
    bounded.iterate_upper_bound = &upper_slice_;
    in_database_.reset(make(bounded));
    DCHECK(in_database_ != nullptr);
  }

  bool Valid() const override { return failure_.ok() && in_database_->Valid(); }
  void SeekToFirst() override {
    failure_ = Status::OK();
    in_database_->SeekToFirst();
  }
  void SeekToLast() override {
    failure_ = Status::OK();
    in_database_->SeekToLast();
  }
  void Seek(const Slice& target) override {
    failure_ = NoThrow("iterator", [&] {
      const FamilyKey key(family_, target);
      in_database_->Seek(key.slice());
      return Status::OK();
    });
  }
  void Next() override {
    CHECK(Valid());
    in_database_->Next();
  }
  void Prev() override {
    CHECK(Valid());
    in_database_->Prev();
  }
  Slice key() const override {
    DCHECK_EQ(FamilyOf(in_database_->key()), family_);
    return KeyInFamily(in_database_->key());
  }
  Slice value() const override { return in_database_->value(); }
  Status status() const override { return failure_.ok() ? in_database_->status() : failure_; }
  Status Refresh() override { return in_database_->Refresh(); }

 private:
  const uint32_t family_;
  std::string lower_, upper_;
  Slice lower_slice_, upper_slice_;  // what the iterator below refers to
  std::unique_ptr<Iterator> in_database_;
  Status failure_;  // of a target that there was no memory for
};

}  // namespace

Iterator* NewFamilyIterator(uint32_t family, const ReadOptions& options,
                            const std::function<Iterator*(const ReadOptions& bounded)>& make) {
  return new FamilyIterator(family, options, make);
}

}  // namespace miodb
