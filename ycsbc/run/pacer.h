// When operations are due: one after the other at the rate that -target asks for, whatever the store does. A thread
// that falls behind does not drop operations; they begin late, and how late is part of their intended latency.
//
// Threads: RateSchedule is read-only; each thread owns its Pacer. Units: nanoseconds of the monotonic clock.

#ifndef MIODB_YCSBC_RUN_PACER_H_
#define MIODB_YCSBC_RUN_PACER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ycsbc/workload/workload.h"

namespace miodb::ycsb {

// Operations a second over all threads, in the course of a phase. 0: no limit.
class RateSchedule {
 public:
  explicit RateSchedule(double rate) : first_rate_(rate) {}

  // Adds the changes that a file lists: lines "seconds rate", seconds since the start, ascending. Returns what is
  // wrong, naming file and line, or nothing.
  std::string ReadFile(const std::string& path);

  double RateAt(uint64_t nanos) const;
  // When so many operations are due after this moment. REQUIRES: the rate at that moment is limited.
  double DueAfter(double nanos, double operations) const;
  bool is_unlimited() const { return first_rate_ <= 0 && changes_.empty(); }

 private:
  double first_rate_;
  std::vector<std::pair<uint64_t, double>> changes_;  // From so many nanoseconds on.
};

class Pacer {
 public:
  // "schedule" and "phase" outlive the pacer. The threads' operations are spread evenly over one another's gaps.
  Pacer(const RateSchedule& schedule, const Phase& phase, uint64_t threads, uint64_t index, uint64_t start_nanos);

  // Returns when the next operation is due, or the phase is stopped; and how many nanoseconds too late that is.
  uint64_t Await() { return schedule_.is_unlimited() ? 0 : AwaitDue(); }

 private:
  uint64_t AwaitDue();

  const RateSchedule& schedule_;
  const Phase& phase_;
  const double threads_;
  const uint64_t start_nanos_;
  double due_nanos_;  // Since the start.
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_RUN_PACER_H_
