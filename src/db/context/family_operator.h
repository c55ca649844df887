// The user's merge operator for the keys of column families: it gets the keys that its user knows.
//
// Threads: any. Ownership: the user's operator outlives this.

#ifndef MIODB_SRC_DB_CONTEXT_FAMILY_OPERATOR_H_
#define MIODB_SRC_DB_CONTEXT_FAMILY_OPERATOR_H_

#include <atomic>
#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

class FamilyOperator final : public MergeOperator {
 public:
  // user: null if there is none; then this is not to be called.
  FamilyOperator(const MergeOperator* user, const std::atomic<bool>* has_families)
      : user_(user), has_families_(has_families) {
    DCHECK(has_families != nullptr);
  }

  const MergeOperator* user() const { return user_; }

  const char* Name() const override { return user_->Name(); }
  bool FullMerge(const Slice& key, const Slice* existing_value, const std::vector<Slice>& operands,
                 std::string* new_value) const override {
    return user_->FullMerge(KeyOf(key), existing_value, operands, new_value);
  }
  bool PartialMerge(const Slice& key, const Slice& left, const Slice& right, std::string* new_operand) const override {
    return user_->PartialMerge(KeyOf(key), left, right, new_operand);
  }
  bool PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands,
                         std::string* new_operand) const override {
    return user_->PartialMergeMulti(KeyOf(key), operands, new_operand);
  }
  bool AllowSingleOperand() const override { return user_->AllowSingleOperand(); }

 private:
  // relaxed: as KeyOrder::OfFamily.
  Slice KeyOf(const Slice& key) const {
    return has_families_->load(std::memory_order_relaxed) ? SplitFamilyKey(key).key : key;
  }

  const MergeOperator* const user_;
  const std::atomic<bool>* const has_families_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_FAMILY_OPERATOR_H_
