// The text of "miodb.prometheus": counters, gauges and histograms in the format that Prometheus scrapes (its text
// format 0.0.4), each with a line that says what it is and one that says of which type.
//
// Threads: any.

#ifndef MIODB_SRC_DB_CALLS_PROMETHEUS_H_
#define MIODB_SRC_DB_CALLS_PROMETHEUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/db/calls/counter_list.h"
#include "src/db/stats/op_times.h"

namespace miodb {

// A level's tables or files, and what was merged into it.
struct LevelFigures {
  bool on_ssd;
  size_t level;
  uint64_t tables;
  uint64_t bytes;
  uint64_t bytes_read;
  uint64_t bytes_written;
};

// database: its directory, the label of every line; counters: as in "miodb.counters"; times: null if there are none.
std::string PrometheusText(const std::string& database, const CounterList& counters,
                           const std::vector<LevelFigures>& levels, const OpTimes* times);

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_PROMETHEUS_H_
