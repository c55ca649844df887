// Runs one phase, a load or a run, on its threads.

#ifndef MIODB_YCSBC_RUN_CLIENT_H_
#define MIODB_YCSBC_RUN_CLIENT_H_

#include <cstdint>
#include <string>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/figures/hdr_log.h"
#include "ycsbc/run/pacer.h"
#include "ycsbc/workload/measurements.h"
#include "ycsbc/workload/settings.h"
#include "ycsbc/workload/workload.h"

namespace miodb::ycsb {

struct PhaseResult {
  PhaseKind kind = PhaseKind::kLoad;
  Summary summary;
  uint64_t operations = 0;   // Done, with whatever result.
  double seconds = 0;        // From the common start to the end of the last thread.
  std::string error;         // The message of the first failure; the phase may have gone on.
  std::string persist_mode;  // Of the medium, and whether its speed is modelled: Engine::PersistMode, by the driver.
  bench::Engine::ReadCounts reads;  // Of the medium in this phase, if they are counted: by the driver.
};

// Does the phase's operations with Settings::threadcount threads that start together; the threads share the total, and
// the first ones take what is left over. Ends early on Ctrl-C, at maxexecutiontime, and on a failed insert of a load.
// "stream" sets the random numbers of this phase apart from those of others with the same seed.
// "hdr_logs" gets the latencies of each interval; nullptr: none are kept.
// REQUIRES: the engine is open; Settings::CheckLoad or CheckRun found nothing wrong.
PhaseResult RunPhase(const Settings& settings, const RateSchedule& schedule, PhaseKind kind, uint64_t stream,
                     bench::Engine* engine, bench::HdrLogs* hdr_logs);

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_RUN_CLIENT_H_
