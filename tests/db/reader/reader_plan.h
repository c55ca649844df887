// Batches of writes that every process can make by their numbers, and what a family holds after so many of them.

#ifndef MIODB_TESTS_DB_READER_READER_PLAN_H_
#define MIODB_TESTS_DB_READER_READER_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "miodb/write_batch.h"
#include "tests/common/random/random.h"

namespace miodb::test {

inline constexpr uint64_t kKeys = 200;
inline constexpr uint64_t kEra = 5000;  // batches: each era begins with nothing, so that a reader can begin with an era
inline constexpr char kCounter[] = "counter";

enum class Verb { kPut, kDelete, kMerge, kDeleteRange };

struct Op {
  bool in_family = false;
  Verb verb = Verb::kPut;
  std::string key;
  std::string value;  // or the end of the range
};

inline std::string KeyOf(uint64_t i) {
  std::string digits = std::to_string(i);
  return "k" + std::string(4 - digits.size(), '0') + digits;
}

inline Op RandomOp(Random* random, uint64_t number) {
  Op op;
  op.in_family = random->OneIn(3);
  const uint64_t key = random->Uniform(kKeys);
  op.key = KeyOf(key);
  switch (random->Uniform(12)) {
    case 0:
    case 1:
      op.verb = Verb::kDelete;
      break;
    case 2:
    case 3:
      op.verb = Verb::kMerge;
      op.value = std::to_string(number);
      break;
    case 4:
      op.verb = Verb::kDeleteRange;
      op.value = KeyOf(key + 1 + random->Uniform(5));
      break;
    default:
      op.value = std::to_string(number) + std::string(random->OneIn(60) ? 20000 : random->Uniform(500), 'v');
  }
  return op;
}

// The same for the same number, in every process.
inline std::vector<Op> OpsOf(uint64_t number) {
  Random random(number * 7919 + 17);
  std::vector<Op> ops;
  for (const bool in_family : {false, true}) {
    if (number % kEra == 0) ops.push_back({in_family, Verb::kDeleteRange, KeyOf(0), "l"});
    ops.push_back({in_family, Verb::kPut, kCounter, std::to_string(number)});
  }
  for (uint64_t more = random.Uniform(10); more > 0; more--) ops.push_back(RandomOp(&random, number));
  return ops;
}

inline void AddTo(const std::vector<Op>& ops, ColumnFamilyHandle* family, ColumnFamilyHandle* default_family,
                  WriteBatch* batch) {
  for (const Op& op : ops) {
    ColumnFamilyHandle* const at = op.in_family ? family : default_family;
    if (op.verb == Verb::kPut) batch->Put(at, op.key, op.value);
    if (op.verb == Verb::kDelete) batch->Delete(at, op.key);
    if (op.verb == Verb::kMerge) batch->Merge(at, op.key, op.value);
    if (op.verb == Verb::kDeleteRange) batch->DeleteRange(at, op.key, op.value);
  }
}

// The content of a family after so many batches.
class Content {
 public:
  explicit Content(bool is_family) : is_family_(is_family) {}

  // False: it is before what was asked for last.
  bool GoTo(uint64_t number) {
    if (number < number_) return false;
    if (number / kEra > number_ / kEra) {
      number_ = number / kEra * kEra - 1;
      pairs_.clear();
    }
    while (number_ < number) Apply(OpsOf(++number_));
    return true;
  }
  const std::map<std::string, std::string>& pairs() const { return pairs_; }

 private:
  void Apply(const std::vector<Op>& ops) {
    for (const Op& op : ops) {
      if (op.in_family != is_family_) continue;
      if (op.verb == Verb::kPut) pairs_[op.key] = op.value;
      if (op.verb == Verb::kDelete) pairs_.erase(op.key);
      if (op.verb == Verb::kDeleteRange) pairs_.erase(pairs_.lower_bound(op.key), pairs_.lower_bound(op.value));
      if (op.verb != Verb::kMerge) continue;
      const auto [at, fresh] = pairs_.emplace(op.key, op.value);
      if (!fresh) at->second += "," + op.value;
    }
  }

  const bool is_family_;
  uint64_t number_ = 0;
  std::map<std::string, std::string> pairs_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_DB_READER_READER_PLAN_H_
