#include "tests/stress/db_stress/operands.h"

#include <vector>

#include "src/util/bytes/coding.h"
#include "tests/stress/db_stress/plan.h"

namespace miodb::test {

namespace {

constexpr uint32_t kThere = uint32_t{1} << 31;
constexpr size_t kBeforeBytes = 4;

Slice ValueOf(const Slice& operand) { return Slice(operand.data() + kBeforeBytes, operand.size() - kBeforeBytes); }

// Whether this is what the operand was written over. Values that are too short to say may be.
bool Follows(const Slice& operand, const Slice* existing) {
  if (operand.size() < kBeforeBytes) return false;
  const uint32_t before = DecodeFixed32(operand.data());
  if (((before & kThere) != 0) != (existing != nullptr)) return false;
  uint32_t version;
  return existing == nullptr || !StressData::ClaimedVersion(*existing, &version) || version == (before & ~kThere);
}

class Checking final : public MergeOperator {
 public:
  const char* Name() const override { return "miodb.test.StressOperator"; }

  bool FullMerge(const Slice&, const Slice* existing, const std::vector<Slice>& operands,
                 std::string* new_value) const override {
    Slice value;
    for (const Slice& operand : operands) {
      if (!Follows(operand, existing)) return false;
      value = ValueOf(operand);
      existing = &value;
    }
    new_value->assign(value.data(), value.size());
    return true;
  }

  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* new_operand) const override {
    if (left.size() < kBeforeBytes) return false;
    const Slice before = ValueOf(left);
    if (!Follows(right, &before)) return false;
    const Slice value = ValueOf(right);
    new_operand->assign(left.data(), kBeforeBytes);
    new_operand->append(value.data(), value.size());
    return true;
  }
};

}  // namespace

std::string MakeOperand(uint32_t before, bool there, const std::string& value) {
  std::string operand;
  PutFixed32(&operand, there ? before | kThere : before);
  return operand + value;
}

const MergeOperator* StressOperator() {
  static const Checking* const checking = new Checking;
  return checking;
}

}  // namespace miodb::test
