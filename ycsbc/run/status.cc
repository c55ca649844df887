#include "ycsbc/run/status.h"

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/figures/format.h"
#include "benchmarks/common/figures/interval_file.h"

namespace miodb::ycsb {

namespace {

using bench::FineLatencyHistogram;
using bench::Format;

constexpr double kPercentiles[] = {50, 90, 99, 99.9, 99.99};

std::string LocalTime(bool with_millis) {
  const auto now = std::chrono::system_clock::now();
  const time_t seconds = std::chrono::system_clock::to_time_t(now);
  tm local;
  char text[40];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &local));
  if (!with_millis) return text;
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return Format("%s:%03d", text, static_cast<int>(millis));
}

double Micros(double nanos) { return nanos / 1e3; }

std::string OpText(const char* name, const char* suffix, const FineLatencyHistogram& h, const char* separator,
                   double least_percentile) {
  if (h.count() == 0) return "";
  std::string text = Format("[%s%s: Count=%" PRIu64 "%sMax=%.2f%sMin=%.2f%sAvg=%.2f", name, suffix, h.count(),
                            separator, Micros(static_cast<double>(h.max())), separator,
                            Micros(static_cast<double>(h.min())), separator, Micros(h.Average()));
  for (const double percent : kPercentiles) {
    if (percent >= least_percentile) text += Format("%s%g=%.2f", separator, percent, Micros(h.Percentile(percent)));
  }
  return text + "] ";
}

std::string AllOps(const IntervalSummary& summary, const char* separator, double least_percentile) {
  std::string text;
  for (int op = 0; op < kOps; op++) {
    const auto& pair = summary.ops[static_cast<size_t>(op)];
    if (pair == nullptr) continue;
    const char* name = OpName(static_cast<Op>(op));
    text += OpText(name, "", pair->ok, separator, least_percentile);
    text += OpText(name, "-FAILED", pair->failed, separator, least_percentile);
  }
  return text;
}

}  // namespace

std::string RemainingText(double seconds) {
  const uint64_t minutes = static_cast<uint64_t>(seconds / 60);
  const auto count = [](uint64_t n, const char* unit) { return std::to_string(n) + " " + unit + (n == 1 ? "" : "s"); };
  if (minutes >= 24 * 60) return count(minutes / (24 * 60), "day") + " " + count(minutes / 60 % 24, "hour");
  if (minutes >= 60) return count(minutes / 60, "hour") + " " + count(minutes % 60, "minute");
  if (minutes >= 1) return count(minutes, "minute");
  return count(static_cast<uint64_t>(std::ceil(seconds)), "second");
}

StatusReporter::StatusReporter(const Settings& settings, PhaseKind kind, bench::HdrLogs* hdr_logs)
    : settings_(settings), kind_(kind), hdr_logs_(hdr_logs), start_nanos_(bench::Ticks::MonotonicNanos()) {}

void StatusReporter::Report(uint64_t nanos, uint64_t done, uint64_t total, const IntervalSummary& interval,
                            bool is_last) {
  const double seconds = static_cast<double>(nanos) / 1e9;
  const double span = static_cast<double>(nanos - last_nanos_) / 1e9;
  const double rate = span > 0 ? static_cast<double>(done - last_done_) / span : 0;
  WriteRows(nanos, rate, interval, is_last);
  last_nanos_ = nanos;
  last_done_ = done;
  if (!settings_.status) return;
  if (settings_.OutputStyle() == Style::kCpp) {
    cumulative_.Merge(interval);
    std::printf("%s\n", CppLine(seconds, done).c_str());
    std::fflush(stdout);
  } else {
    std::fprintf(stderr, "%s\n", JavaLine(seconds, done, total, rate, interval, is_last).c_str());
  }
}

std::string StatusReporter::JavaLine(double seconds, uint64_t done, uint64_t total, double rate,
                                     const IntervalSummary& interval, bool is_last) const {
  std::string line =
      settings_.label + LocalTime(/*with_millis=*/true) + Format(" %.0f sec: %" PRIu64 " operations; ", seconds, done);
  if (seconds > 0) line += Format("%.1f current ops/sec; ", rate);
  const bool is_bounded = total < std::numeric_limits<uint64_t>::max();
  if (!is_last && is_bounded && done > 0 && seconds > 0) {
    const double mean_rate = static_cast<double>(done) / seconds;
    line += "est completion in " + RemainingText(static_cast<double>(total - done) / mean_rate) + " ";
  }
  return line + AllOps(interval, ", ", 50);
}

std::string StatusReporter::CppLine(double seconds, uint64_t done) const {
  const double least = settings_.measurementtype == "basic" ? 101 : 90;
  return LocalTime(/*with_millis=*/false) + Format(" %.0f sec: %" PRIu64 " operations; ", seconds, done) +
         AllOps(cumulative_, " ", least);
}

// An interval in which nothing ended has its row, or a store that stands would look like one that is not asked.
void StatusReporter::WriteRows(uint64_t nanos, double rate, const IntervalSummary& interval, bool is_last) {
  const IntervalSummary::Pair nothing;
  for (int op = 0; op < kOps; op++) {
    const auto& measured = interval.ops[static_cast<size_t>(op)];
    const IntervalSummary::Pair& pair = measured == nullptr ? nothing : *measured;
    for (const bool is_ok : {true, false}) {
      const FineLatencyHistogram& latencies = is_ok ? pair.ok : pair.failed;
      bool* const seen = &seen_[static_cast<size_t>(op)][is_ok ? 1 : 0];
      if (latencies.count() == 0 && (!*seen || is_last)) continue;
      *seen = true;
      const std::string problem =
          WriteRow(std::string(OpName(static_cast<Op>(op))) + (is_ok ? "" : "-FAILED"), nanos, rate, latencies);
      if (error_.empty()) error_ = problem;
    }
  }
}

// Returns what is wrong, or nothing.
std::string StatusReporter::WriteRow(const std::string& operation, uint64_t nanos, double rate,
                                     const FineLatencyHistogram& latencies) {
  const char* const phase = kind_ == PhaseKind::kLoad ? "load" : "run";
  if (!settings_.intervalfile.empty()) {
    std::FILE* const file = std::fopen(settings_.intervalfile.c_str(), "ae");
    const std::string row = bench::IntervalRow(phase, static_cast<double>(nanos) / 1e9, rate, operation, latencies);
    const bool is_written = file != nullptr && std::fputs(row.c_str(), file) >= 0;
    const bool is_closed = file != nullptr && std::fclose(file) == 0;
    if (!is_written || !is_closed) return "cannot write " + settings_.intervalfile + ": " + std::strerror(errno);
  }
  if (hdr_logs_ == nullptr) return "";
  return hdr_logs_->Append(operation, phase, start_nanos_ + last_nanos_, start_nanos_ + nanos, latencies);
}

}  // namespace miodb::ycsb
