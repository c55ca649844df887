#include "ycsbc/run/pacer.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "benchmarks/common/clock/sleep.h"
#include "benchmarks/common/clock/ticks.h"

namespace miodb::ycsb {

using bench::Ticks;

std::string RateSchedule::ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return "cannot read limit.file " + path;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    number++;
    std::istringstream words(line);
    double seconds = 0;
    double rate = 0;
    std::string rest;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == '#') continue;
    const std::string place = path + ":" + std::to_string(number) + ": ";
    if (!(words >> seconds >> rate) || words >> rest || !(seconds >= 0) || !(seconds < 1e9) || !(rate > 0)) {
      return place + "not seconds and a rate above 0";
    }
    const uint64_t from = static_cast<uint64_t>(seconds * Ticks::kNanosPerSecond);
    if (!changes_.empty() && from <= changes_.back().first) return place + "not later than the line before";
    changes_.emplace_back(from, rate);
  }
  return changes_.empty() ? path + ": no line with seconds and a rate" : "";
}

double RateSchedule::RateAt(uint64_t nanos) const {
  double rate = first_rate_;
  for (const auto& [from, changed] : changes_) {
    if (from > nanos) break;
    rate = changed;
  }
  return rate;
}

double RateSchedule::DueAfter(double nanos, double operations) const {
  double rate = RateAt(static_cast<uint64_t>(nanos));
  for (const auto& [from, changed] : changes_) {
    const double change = static_cast<double>(from);
    if (change <= nanos) continue;
    const double here = (change - nanos) * rate / Ticks::kNanosPerSecond;
    if (here >= operations) break;
    operations -= here;
    nanos = change;
    rate = changed;
  }
  return nanos + operations * Ticks::kNanosPerSecond / rate;
}

Pacer::Pacer(const RateSchedule& schedule, const Phase& phase, uint64_t threads, uint64_t index, uint64_t start_nanos)
    : schedule_(schedule),
      phase_(phase),
      threads_(static_cast<double>(threads)),
      start_nanos_(start_nanos),
      due_nanos_(0) {
  const double rate = schedule.RateAt(0);
  if (rate > 0) due_nanos_ = schedule.DueAfter(0, static_cast<double>(index));
}

uint64_t Pacer::AwaitDue() {
  const double rate = schedule_.RateAt(static_cast<uint64_t>(due_nanos_));
  if (rate <= 0) {
    due_nanos_ = static_cast<double>(Ticks::MonotonicNanos() - start_nanos_);
    return 0;
  }
  const uint64_t due = static_cast<uint64_t>(due_nanos_);
  due_nanos_ = schedule_.DueAfter(due_nanos_, threads_);
  const uint64_t now = bench::SleepUntil(start_nanos_ + due, [this] { return phase_.IsStopped(); }) - start_nanos_;
  return now > due ? now - due : 0;
}

}  // namespace miodb::ycsb
