// An error in the preparation of a micro-benchmark ends it.

#ifndef MIODB_BENCHMARKS_MICRO_CHECK_H_
#define MIODB_BENCHMARKS_MICRO_CHECK_H_

#include <cstdio>
#include <cstdlib>

#include "miodb/status.h"

namespace miodb::micro {

inline void Check(const Status& s) {
  if (s.ok()) return;
  fprintf(stderr, "micro_bench: %s\n", s.ToString().c_str());
  exit(1);
}

}  // namespace miodb::micro

#endif  // MIODB_BENCHMARKS_MICRO_CHECK_H_
