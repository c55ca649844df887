// How a call of an engine ended.

#ifndef MIODB_BENCHMARKS_COMMON_OUTCOME_H_
#define MIODB_BENCHMARKS_COMMON_OUTCOME_H_

#include <string>
#include <utility>

namespace miodb::bench {

enum class Code { kOk, kNotFound, kError };

struct Outcome {
  Code code = Code::kOk;
  std::string message;

  bool ok() const { return code == Code::kOk; }
  static Outcome Error(std::string message) { return Outcome{Code::kError, std::move(message)}; }
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_OUTCOME_H_
