#include "benchmarks/db_bench/measure/latency_report.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/figures/interval_file.h"
#include "benchmarks/db_bench/config/config.h"

namespace miodb::bench {

void LatencyRecorder::Record(OpType type, uint64_t nanos) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<FineLatencyHistogram>& latencies = latencies_[static_cast<size_t>(type)];
  if (latencies == nullptr) latencies = std::make_unique<FineLatencyHistogram>();
  latencies->Record(nanos);
}

void LatencyRecorder::Take(LatenciesByType* total) {
  LatenciesByType taken;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::swap(taken, latencies_);
  }
  for (size_t i = 0; i < taken.size(); i++) {
    if (taken[i] == nullptr) continue;
    if ((*total)[i] == nullptr) {
      (*total)[i] = std::move(taken[i]);
    } else {
      (*total)[i]->Merge(*taken[i]);
    }
  }
}

std::unique_ptr<LatencyReport> LatencyReport::Start(const Config& config, std::string* error) {
  if (config.intervalfile.empty() && !config.hdrhistogram_fileoutput) return nullptr;
  if (!config.intervalfile.empty()) *error = StartIntervalFiles("--intervalfile", {config.intervalfile});
  if (!error->empty()) return nullptr;
  return std::unique_ptr<LatencyReport>(new LatencyReport(config));
}

LatencyReport::LatencyReport(const Config& config) : config_(config) {
  if (config.hdrhistogram_fileoutput) hdr_logs_ = std::make_unique<HdrLogs>(config.hdrhistogram_output_path);
}

LatencyReport::~LatencyReport() {
  if (writer_.joinable()) End();
}

void LatencyReport::Begin(const std::string& benchmark) {
  const int run = ++runs_[benchmark];
  phase_ = benchmark + (run == 1 ? "" : "#" + std::to_string(run));
  begin_nanos_ = taken_nanos_ = Ticks::MonotonicNanos();
  seen_ = {};
  is_stopped_ = false;
  writer_ = std::thread(&LatencyReport::Run, this);
}

LatencyRecorder* LatencyReport::NewRecorder() {
  const std::lock_guard<std::mutex> lock(mutex_);
  recorders_.push_back(std::make_unique<LatencyRecorder>());
  return recorders_.back().get();
}

std::string LatencyReport::End() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
  }
  stop_signal_.notify_one();
  writer_.join();
  WriteInterval(Interval::kLast);
  recorders_.clear();
  return error_;
}

void LatencyReport::Run() {
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::seconds interval(config_.report_interval_seconds);
  std::unique_lock<std::mutex> lock(mutex_);
  if (interval.count() == 0) return;
  for (auto next = start + interval; !stop_signal_.wait_until(lock, next, [this] { return is_stopped_; });
       next += interval) {
    WriteInterval(Interval::kWhole);
  }
}

// Writes the figures since the last call. An interval in which nothing ended has its row, or a store that stands would
// look like one that is not asked.
void LatencyReport::WriteInterval(Interval interval) {
  LatenciesByType latencies;
  for (const auto& recorder : recorders_) recorder->Take(&latencies);
  const uint64_t now = Ticks::MonotonicNanos();
  uint64_t operations = 0;
  for (const auto& of_type : latencies) operations += of_type == nullptr ? 0 : of_type->count();
  const double span = static_cast<double>(now - taken_nanos_) / 1e9;
  const double rate = span > 0 ? static_cast<double>(operations) / span : 0;
  const double seconds = static_cast<double>(now - begin_nanos_) / 1e9;
  for (size_t i = 0; i < latencies.size(); i++) {
    if (latencies[i] == nullptr && seen_[i] && interval == Interval::kWhole) {
      latencies[i] = std::make_unique<FineLatencyHistogram>();
    }
    if (latencies[i] == nullptr) continue;
    seen_[i] = true;
    const std::string problem = WriteRow(static_cast<OpType>(i), seconds, rate, now, *latencies[i]);
    if (error_.empty()) error_ = problem;
  }
  taken_nanos_ = now;
}

// Returns what is wrong, or nothing.
std::string LatencyReport::WriteRow(OpType type, double seconds, double rate, uint64_t now,
                                    const FineLatencyHistogram& latencies) {
  const std::string operation = OpTypeName(type);
  if (!config_.intervalfile.empty()) {
    std::FILE* const file = std::fopen(config_.intervalfile.c_str(), "ae");
    const bool is_written =
        file != nullptr && std::fputs(IntervalRow(phase_, seconds, rate, operation, latencies).c_str(), file) >= 0;
    const bool is_closed = file != nullptr && std::fclose(file) == 0;
    if (!is_written || !is_closed) return "cannot write " + config_.intervalfile + ": " + std::strerror(errno);
  }
  return hdr_logs_ == nullptr ? "" : hdr_logs_->Append(operation, phase_, taken_nanos_, now, latencies);
}

}  // namespace miodb::bench
