// Functions that the programs of this folder share: the end after a failed call, keys, and times.

#ifndef MIODB_BENCHMARKS_COST_COST_H_
#define MIODB_BENCHMARKS_COST_COST_H_

#include <cerrno>  // program_invocation_short_name
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "miodb/status.h"

namespace miodb::cost {

using Clock = std::chrono::steady_clock;

// A call where it stands, so that a counted function has the same instructions whatever else its program checks.
[[gnu::noinline]] inline void Check(const Status& s) {
  if (s.ok()) return;
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, s.ToString().c_str());
  std::exit(1);
}

// 16 digits in an order that looks random.
inline std::string Key(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "%016llu", static_cast<unsigned long long>(number * 2654435761 % 4294967296));
  return text;
}

// The time since start: Since<std::milli> in milliseconds, Since<std::micro> in microseconds.
template <typename Unit>
double Since(Clock::time_point start) {
  return std::chrono::duration<double, Unit>(Clock::now() - start).count();
}

}  // namespace miodb::cost

#endif  // MIODB_BENCHMARKS_COST_COST_H_
