// The operators of the library, and what operators of others need not write themselves.

#include "miodb/merge_operator.h"

#include <utility>

#include "src/api/types/full_merge.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/escape.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

constexpr size_t kNumberBytes = 8;

// A size that no number has fails, where others would begin at zero again: what was counted so far would be lost
// unseen.
class UInt64Add final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "miodb.UInt64Add"; }
  bool Merge(const Slice&, const Slice* existing_value, const Slice& value, std::string* new_value) const override {
    if (value.size() != kNumberBytes) return false;
    if (existing_value != nullptr && existing_value->size() != kNumberBytes) return false;
    new_value->clear();
    PutFixed64(new_value,
               DecodeFixed64(value.data()) + (existing_value != nullptr ? DecodeFixed64(existing_value->data()) : 0));
    return true;
  }
};

// Equal values have the same bytes, so either of the two may be kept.
class Max final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "miodb.Max"; }
  bool Merge(const Slice&, const Slice* existing_value, const Slice& value, std::string* new_value) const override {
    const Slice& greatest = existing_value != nullptr && existing_value->compare(value) > 0 ? *existing_value : value;
    new_value->assign(greatest.data(), greatest.size());
    return true;
  }
};

// All but the newest operand are passed over at once.
class Newest final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "miodb.Put"; }
  bool FullMerge(const Slice&, const Slice*, const std::vector<Slice>& operands,
                 std::string* new_value) const override {
    DCHECK(!operands.empty());
    new_value->assign(operands.back().data(), operands.back().size());
    return true;
  }
  bool PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands,
                         std::string* new_operand) const override {
    return FullMerge(key, nullptr, operands, new_operand);
  }
  bool Merge(const Slice&, const Slice*, const Slice& value, std::string* new_value) const override {
    new_value->assign(value.data(), value.size());
    return true;
  }
};

// Takes all operands at once, since two after two would copy a long list as often as it has parts.
class StringAppend final : public AssociativeMergeOperator {
 public:
  explicit StringAppend(std::string delimiter) : delimiter_(std::move(delimiter)) {}

  const char* Name() const override { return "miodb.StringAppend"; }
  bool FullMerge(const Slice&, const Slice* existing_value, const std::vector<Slice>& operands,
                 std::string* new_value) const override {
    DCHECK(!operands.empty());
    size_t bytes = existing_value != nullptr ? existing_value->size() : 0;
    for (const Slice& operand : operands) bytes += delimiter_.size() + operand.size();
    new_value->clear();
    new_value->reserve(bytes);
    bool first = existing_value == nullptr;
    if (!first) new_value->assign(existing_value->data(), existing_value->size());
    for (const Slice& operand : operands) {
      if (!first) *new_value += delimiter_;
      new_value->append(operand.data(), operand.size());
      first = false;
    }
    return true;
  }
  bool PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands,
                         std::string* new_operand) const override {
    return FullMerge(key, nullptr, operands, new_operand);
  }
  bool Merge(const Slice& key, const Slice* existing_value, const Slice& value, std::string* new_value) const override {
    return FullMerge(key, existing_value, {value}, new_value);
  }

 private:
  const std::string delimiter_;
};

}  // namespace

MergeOperator::~MergeOperator() = default;
AssociativeMergeOperator::~AssociativeMergeOperator() = default;

// An operator that has FullMerge alone is right, and its operands are folded with their base only.
bool MergeOperator::PartialMerge(const Slice&, const Slice&, const Slice&, std::string*) const { return false; }
bool MergeOperator::AllowSingleOperand() const { return false; }

// The first pair that cannot be merged ends it: operands that were merged so far would have to be told apart from the
// rest.
bool MergeOperator::PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands,
                                      std::string* new_operand) const {
  DCHECK(!operands.empty());
  std::string made(operands.front().data(), operands.front().size());
  for (size_t i = 1; i < operands.size(); i++) {
    std::string next;
    if (!PartialMerge(key, made, operands[i], &next)) return false;
    made.swap(next);
  }
  new_operand->swap(made);
  return true;
}

// Each result is the existing value of the next step, and is kept until that has been made.
bool AssociativeMergeOperator::FullMerge(const Slice& key, const Slice* existing_value,
                                         const std::vector<Slice>& operands, std::string* new_value) const {
  DCHECK(!operands.empty());
  std::string made;
  Slice view;
  for (const Slice& operand : operands) {
    std::string next;
    if (!Merge(key, existing_value, operand, &next)) return false;
    made.swap(next);
    view = made;
    existing_value = &view;
  }
  new_value->swap(made);
  return true;
}

// Operands are values, so merging two of them is the same step.
bool AssociativeMergeOperator::PartialMerge(const Slice& key, const Slice& left, const Slice& right,
                                            std::string* new_operand) const {
  return Merge(key, &left, right, new_operand);
}

// The three operators are never destroyed: a database that is a static variable may be closed after them.
const MergeOperator* UInt64AddOperator() {
  static const UInt64Add* const merge_operator = new UInt64Add;
  return merge_operator;
}

const MergeOperator* MaxOperator() {
  static const Max* const merge_operator = new Max;
  return merge_operator;
}

const MergeOperator* PutOperator() {
  static const Newest* const merge_operator = new Newest;
  return merge_operator;
}

const MergeOperator* NewStringAppendOperator(const std::string& delimiter) { return new StringAppend(delimiter); }

// The operator gets all operands at once, so that one which builds a list need not copy it for each of them.
Status FullMerge(const MergeOperator* merge_operator, const Slice& key, const Slice* base,
                 const std::vector<Slice>& operands, std::string* value) {
  DCHECK(!operands.empty() && value != nullptr);
  if (merge_operator == nullptr) {
    return Status::InvalidArgument("key '" + Escaped(key, '\'', kMostKeyShown) + "' has operands of merges",
                                   "the database was opened without a merge_operator");
  }
  value->clear();
  if (merge_operator->FullMerge(key, base, operands, value)) return Status::OK();
  return Status::Corruption("merge operator " + std::string(merge_operator->Name()) + " failed",
                            "key '" + Escaped(key, '\'', kMostKeyShown) + "'");
}

}  // namespace miodb
