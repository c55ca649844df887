// A store that is none: every call returns at once and finds an empty record. The time of a run with this engine is the
// driver's time.

#ifndef MIODB_YCSBC_WORKLOAD_BASIC_ENGINE_H_
#define MIODB_YCSBC_WORKLOAD_BASIC_ENGINE_H_

#include <memory>

#include "benchmarks/common/engine.h"

namespace miodb::ycsb {

std::unique_ptr<bench::Engine> NewBasicEngine();

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_BASIC_ENGINE_H_
