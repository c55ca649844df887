// Whether the counters of stalls add up: values are overwritten in a pool that is nearly full, each put is timed by the
// caller, and the time of those that the store made wait is compared with what the counters say of them.
//
//   stalls_agreement DIRECTORY [PERCENT [SECONDS [VALUE_BYTES]]]
//
// makes a database there whose pool has so many percent of its data (200, more than 100), overwrites for so long (10)
// with values of so many bytes (1000), and removes it.
//
// A put is slow from kSlowMicros on. If the counters tell less than half of a slow put, somebody else kept it waiting:
// the kernel, which had no CPU for it, knows of those puts. Exit status: 0 the counters tell the time of all slow puts,
// but for what the kernel tells of the latter, within kMostPercent; 1 they do not, 2 wrong usage.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <ratio>
#include <string>

#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Clock;
using miodb::cost::Key;
using miodb::cost::Since;

namespace {

constexpr double kSlowMicros = 100;
constexpr double kMostPercent = 5;
constexpr uint64_t kKeys = 200000;
// They share no time.
constexpr std::array kCounters = {"stall-micros-flush", "stall-micros-chunk", "stall-micros-space",
                                  "stall-micros-readers", "throttle-micros"};
using Counters = std::array<uint64_t, kCounters.size()>;

uint64_t Counter(miodb::DB* db, const std::string& name) {
  std::string text;
  if (!db->GetProperty("miodb." + name, &text)) {
    std::fprintf(stderr, "no counter %s\n", name.c_str());
    std::exit(1);
  }
  return std::strtoull(text.c_str(), nullptr, 10);
}

Counters Read(miodb::DB* db) {
  Counters counters;
  std::transform(kCounters.begin(), kCounters.end(), counters.begin(), [db](auto name) { return Counter(db, name); });
  return counters;
}

double Total(const Counters& counters) {
  return static_cast<double>(std::accumulate(counters.begin(), counters.end(), uint64_t{0}));
}

// The time for which this thread was ready to run without a CPU, as the kernel tells it; 0 if it does not.
double MicrosWithoutCpu() {
  double running = 0, ready = 0;
  std::ifstream("/proc/thread-self/schedstat") >> running >> ready;
  return ready / 1000;
}

struct Sum {
  uint64_t puts = 0;
  double micros = 0;
  double longest = 0;
  double counted = 0;
  double without_cpu = 0;

  void Add(double took, double told, double ready) {
    puts++;
    micros += took;
    longest = std::max(longest, took);
    counted += told;
    without_cpu += std::min(ready, took - std::min(told, took));
  }
  void Print(const char* what) const {
    std::printf("%-33s %7llu puts, %9.0f us, %7.0f us the longest; counted %9.0f us, besides without a CPU %7.0f us\n",
                what, static_cast<unsigned long long>(puts), micros, longest, counted, without_cpu);
  }
};

// Overwrites until the time is over; returns the percent by which the counters differ from the clock.
double Overwrite(miodb::DB* db, double seconds, const std::string& value) {
  Sum stalled, others;
  const Counters before = Read(db);
  double counted = Total(before), ready = MicrosWithoutCpu();
  uint64_t puts = 0;
  for (const Clock::time_point begin = Clock::now(); Since<std::ratio<1>>(begin) < seconds; puts++) {
    const std::string key = Key(puts * 7919 % kKeys);
    const Clock::time_point start = Clock::now();
    Check(db->Put(miodb::WriteOptions(), key, value));
    const double took = Since<std::micro>(start);
    if (took < kSlowMicros) continue;
    const double counted_now = Total(Read(db)), told = counted_now - counted;
    (told * 2 >= took ? stalled : others).Add(took, told, MicrosWithoutCpu() - ready);
    counted = counted_now;
    ready = MicrosWithoutCpu();
  }
  std::printf("%llu puts in %.0f seconds\n", static_cast<unsigned long long>(puts), seconds);
  stalled.Print("slow puts that the store stalled:");
  others.Print("other slow puts:");
  const Counters after = Read(db);
  std::printf("counted:");
  for (size_t i = 0; i < kCounters.size(); i++) {
    std::printf(" %s %llu us,", kCounters[i], static_cast<unsigned long long>(after[i] - before[i]));
  }
  std::printf(" all %.0f us\n", Total(after) - Total(before));
  const double outside = stalled.micros + others.micros - others.without_cpu;
  return ((stalled.counted + others.counted) / std::max(outside, 1.0) - 1) * 100;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 5 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: stalls_agreement DIRECTORY [PERCENT [SECONDS [VALUE_BYTES]]]\n");
    return 2;
  }
  const uint64_t percent = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
  const double seconds = argc > 3 ? std::strtod(argv[3], nullptr) : 10;
  const uint64_t value_bytes = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1000;
  if (percent <= 100 || !(seconds > 0) || value_bytes == 0) {
    std::fprintf(stderr, "stalls_agreement: PERCENT has to be above 100, SECONDS and VALUE_BYTES above 0\n");
    return 2;
  }
  constexpr uint64_t kPage = 4096;
  miodb::Options options;
  options.create_if_missing = options.error_if_exists = true;
  options.pool_size = kKeys * (16 + value_bytes) * percent / 100 / kPage * kPage;
  miodb::DB* opened;
  Check(miodb::DB::Open(options, argv[1], &opened));
  std::unique_ptr<miodb::DB> db(opened);
  const std::string value(value_bytes, 'v');
  for (uint64_t i = 0; i < kKeys; i++) Check(db->Put(miodb::WriteOptions(), Key(i), value));
  Check(db->WaitForIdle());
  const double differs = Overwrite(db.get(), seconds, value);
  std::printf("what is counted differs from the clock outside by %+.1f %%\n", differs);
  db.reset();
  Check(miodb::DestroyDB(argv[1], options));
  return std::abs(differs) <= kMostPercent ? 0 : 1;
}
