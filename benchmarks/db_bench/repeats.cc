#include "benchmarks/db_bench/repeats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "benchmarks/common/figures/format.h"

namespace miodb::bench {

namespace {

constexpr double kMegabyte = 1048576.0;
// A normal variable lies within so many standard deviations with 95 %.
constexpr double kDeviations95 = 1.959964;
constexpr int64_t kMaxRepeats = 1000000;

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double HalfInterval(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  const double count = static_cast<double>(values.size());
  return kDeviations95 * std::sqrt(squares / (count - 1) / count);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool ParseCount(std::string_view digits, int64_t least, int64_t* count) {
  if (digits.empty() || digits.size() > 7) return false;
  *count = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return false;
    *count = *count * 10 + (c - '0');
  }
  return *count >= least && *count <= kMaxRepeats;
}

}  // namespace

std::string ParseTask(std::string_view text, Task* task) {
  const size_t bracket = text.find('[');
  const std::string name(text.substr(0, bracket));
  task->benchmark = FindBenchmark(name);
  if (task->benchmark == nullptr) return "unknown benchmark '" + name + "'";
  if (bracket == std::string_view::npos) return "";
  const std::string problem =
      "'" + std::string(text) + "': behind the name comes [X<runs>], [W<warm-ups>] or [X<runs>-W<warm-ups>]";
  if (text.back() != ']') return problem;
  std::string_view rest = text.substr(bracket + 1, text.size() - bracket - 2);
  bool has_runs = false;
  bool has_warmups = false;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('-'));
    bool* const seen = part[0] == 'X' ? &has_runs : &has_warmups;
    if (part.empty() || (part[0] != 'X' && part[0] != 'W') || *seen) return problem;
    int64_t* const count = part[0] == 'X' ? &task->runs : &task->warmups;
    if (!ParseCount(part.substr(1), part[0] == 'X' ? 1 : 0, count)) return problem;
    *seen = true;
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  return has_runs || has_warmups ? "" : problem;
}

void RepeatedTotals::Add(const Totals& totals) {
  const double seconds = totals.wall_seconds > 0 ? totals.wall_seconds : 1e-9;
  ops_per_second_.push_back(static_cast<double>(totals.done) / seconds);
  if (totals.bytes > 0) megabytes_per_second_.push_back(static_cast<double>(totals.bytes) / kMegabyte / seconds);
}

std::string RepeatedTotals::Average(std::string_view title) const {
  std::string line = std::string(title) +
                     Format(" : %.0f (\u00b1 %.0f) ops/sec", Mean(ops_per_second_), HalfInterval(ops_per_second_));
  if (megabytes_per_second_.size() == ops_per_second_.size()) {
    line += Format("; %.1f (\u00b1 %.1f) MB/sec", Mean(megabytes_per_second_), HalfInterval(megabytes_per_second_));
  }
  return line + "\n";
}

std::string RepeatedTotals::Interval(std::string_view title) const {
  const double ops = Mean(ops_per_second_);
  const double ops_half = HalfInterval(ops_per_second_);
  std::string line = std::string(title) + Format(" : (%.0f, %.0f) ops/sec", ops - ops_half, ops + ops_half);
  if (megabytes_per_second_.size() == ops_per_second_.size()) {
    const double bytes = Mean(megabytes_per_second_);
    const double bytes_half = HalfInterval(megabytes_per_second_);
    line += Format("; (%.1f, %.1f) MB/sec", bytes - bytes_half, bytes + bytes_half);
  }
  return line + "\n";
}

std::string RepeatedTotals::Line(std::string_view name, bool interval_only) const {
  const std::string runs = std::to_string(ops_per_second_.size()) + " runs]";
  if (interval_only) return Interval(std::string(name) + " [CI95 " + runs);
  return Average(std::string(name) + " [AVG " + runs);
}

std::string RepeatedTotals::FinalLines(std::string_view name, bool interval_only) const {
  const std::string runs = std::to_string(ops_per_second_.size()) + " runs]";
  if (interval_only) return Interval(std::string(name) + " [CI95 " + runs);
  std::string text = Average(std::string(name) + " [AVG    " + runs) + std::string(name) + " [MEDIAN " + runs +
                     Format(" : %.0f ops/sec", Median(ops_per_second_));
  if (megabytes_per_second_.size() == ops_per_second_.size()) {
    text += Format("; %.1f MB/sec", Median(megabytes_per_second_));
  }
  return text + "\n";
}

}  // namespace miodb::bench
