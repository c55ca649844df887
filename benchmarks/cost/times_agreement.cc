// Whether Options::statistics tells the truth: each put, get and positioning of an iterator is also measured by the
// caller, with the monotonic clock, and the percentiles of "miodb.times" are compared with those of the caller's own
// times.
//
//   times_agreement DIRECTORY [CALLS [VALUE_BYTES]]    makes a database there, calls each so often (300000) with
//                                                      values of so many bytes (1000), removes it
//
// What the caller measures is longer by one reading of its clock, which is measured as well and taken off. Exit status:
// 0 all medians and 99th percentiles differ by at most kMostPercent, 1 one does not, 2 wrong usage. Since both see the
// same calls, whatever else the machine does is in both.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cost/cost.h"
#include "miodb/db.h"
#include "miodb/iterator.h"
#include "miodb/options.h"

using miodb::cost::Check;
using miodb::cost::Clock;
using miodb::cost::Key;
using miodb::cost::Since;

namespace {

constexpr double kMostPercent = 3;

double Percentile(const std::vector<double>& sorted, double percent) {
  return sorted[static_cast<size_t>(percent / 100 * static_cast<double>(sorted.size() - 1))];
}

// The times of so many calls in microseconds, sorted.
std::vector<double> Measure(uint64_t calls, const std::function<void(uint64_t)>& prepare,
                            const std::function<void()>& call) {
  std::vector<double> micros(calls);
  for (uint64_t i = 0; i < calls; i++) {
    prepare(i);
    const Clock::time_point start = Clock::now();
    call();
    micros[i] = Since<std::micro>(start);
  }
  std::sort(micros.begin(), micros.end());
  return micros;
}

// The figure behind " NAME " in the line of "miodb.times" that begins with "OP:".
double Told(miodb::DB* db, const std::string& op, const char* name) {
  std::string text;
  if (!db->GetProperty("miodb.times", &text)) return 0;
  const size_t line = text.find(op + ": ");
  const size_t figure = line == std::string::npos ? line : text.find(std::string(" ") + name + " ", line);
  return figure == std::string::npos ? 0 : std::strtod(text.c_str() + figure + 2 + std::string(name).size(), nullptr);
}

// Prints both and returns whether they agree.
bool Compare(miodb::DB* db, const char* op, const std::vector<double>& measured, double own) {
  bool agree = true;
  for (const auto& [name, percent] : {std::pair("p50", 50.0), std::pair("p99", 99.0)}) {
    const double outside = Percentile(measured, percent) - own, told = Told(db, op, name);
    const double difference = (told / outside - 1) * 100;
    std::printf("%-4s %s: told %8.3f us, outside %8.3f us, %+.1f %%\n", op, name, told, outside, difference);
    agree = agree && std::abs(difference) <= kMostPercent;
  }
  return agree;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: times_agreement DIRECTORY [CALLS [VALUE_BYTES]]\n");
    return 2;
  }
  const uint64_t calls = argc > 2 ? std::max<uint64_t>(1000, std::strtoull(argv[2], nullptr, 10)) : 300000;
  const uint64_t value_bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000;
  miodb::Options options;
  options.create_if_missing = options.error_if_exists = options.statistics = true;
  miodb::DB* opened;
  Check(miodb::DB::Open(options, argv[1], &opened));
  std::unique_ptr<miodb::DB> db(opened);

  const double own = Percentile(Measure(
                                    calls, [](uint64_t) {}, [] {}),
                                50);
  std::printf("%llu calls of each, values of %llu bytes; the outer clock's own time is %.3f us\n",
              static_cast<unsigned long long>(calls), static_cast<unsigned long long>(value_bytes), own);
  const std::string value(value_bytes, 'v');
  std::string key, found;
  const auto prepare = [&](uint64_t i) { key = Key(i); };
  const auto in_other_order = [&](uint64_t i) { key = Key(i * 7919 % calls); };
  const miodb::WriteOptions writing;
  const miodb::ReadOptions reading;
  const std::vector<double> puts = Measure(calls, prepare, [&] { Check(db->Put(writing, key, value)); });
  const std::vector<double> gets = Measure(calls, in_other_order, [&] { Check(db->Get(reading, key, &found)); });
  std::unique_ptr<miodb::Iterator> it(db->NewIterator(reading));
  const std::vector<double> scans = Measure(calls, in_other_order, [&] { it->Seek(key); });
  Check(it->status());

  bool agree = Compare(db.get(), "put", puts, own);
  agree = Compare(db.get(), "get", gets, own) && agree;
  agree = Compare(db.get(), "scan", scans, own) && agree;
  it.reset();
  db.reset();
  Check(miodb::DestroyDB(argv[1], options));
  return agree ? 0 : 1;
}
