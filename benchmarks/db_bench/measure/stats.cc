#include "benchmarks/db_bench/measure/stats.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <limits>

#include "benchmarks/common/figures/progress.h"
#include "benchmarks/common/output.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/measure/latency_report.h"

namespace miodb::bench {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t FirstReport(const Config& config, bool reports_progress) {
  if (!reports_progress) return kNever;
  if (config.stats_interval > 0) return config.stats_interval;
  return config.progress_reports ? NextProgress(0) : kNever;
}

}  // namespace

const char* OpTypeName(OpType type) {
  switch (type) {
    case OpType::kRead:
      return "read";
    case OpType::kWrite:
      return "write";
    case OpType::kDelete:
      return "delete";
    case OpType::kSeek:
      return "seek";
    case OpType::kUpdate:
      return "update";
    case OpType::kOther:
      break;
  }
  return "op";
}

int64_t NextProgress(int64_t done) {
  for (int64_t limit : {1000, 5000, 10000, 50000, 100000, 500000}) {
    if (done < limit) return done + limit / 10;
  }
  return done + 100000;
}

void Counts::Add(const Counts& other) {
  reads += other.reads;
  found += other.found;
  writes += other.writes;
  deletes += other.deletes;
  merges += other.merges;
  written_bytes += other.written_bytes;
  background_writes += other.background_writes;
  background_scanned += other.background_scanned;
  compressed_bytes += other.compressed_bytes;
  seeks += other.seeks;
  scan_steps += other.scan_steps;
  value_bytes += other.value_bytes;
  key_accesses.resize(std::max(key_accesses.size(), other.key_accesses.size()));
  for (size_t i = 0; i < other.key_accesses.size(); i++) key_accesses[i] += other.key_accesses[i];
}

Stats::Stats(const Config& config, int thread, bool reports_progress)
    : config_(&config),
      thread_(thread),
      timed_(config.latency || config.histogram),
      detailed_(config.histogram),
      next_report_(FirstReport(config, reports_progress)) {}

void Stats::RecordInto(LatencyRecorder* recorder) {
  recorder_ = recorder;
  if (recorder != nullptr) timed_ = detailed_ = true;
}

void Stats::Start() {
  start_nanos_ = Ticks::MonotonicNanos();
  interval_start_nanos_ = start_nanos_;
  last_ticks_ = Ticks::Now();
}

void Stats::Stop() {
  stop_nanos_ = Ticks::MonotonicNanos();
  thread_nanos_ = stop_nanos_ - start_nanos_;
}

Totals Stats::totals() const {
  return Totals{done_, bytes_, static_cast<double>(thread_nanos_) / 1e9,
                static_cast<double>(stop_nanos_ - start_nanos_) / 1e9};
}

void Stats::RecordDetail(OpType type, uint64_t nanos) {
  if (recorder_ != nullptr) recorder_->Record(type, nanos);
  if (!config_->histogram) return;
  const auto style = config_->LeveldbStyle() ? BucketHistogram::Style::kLevelDb : BucketHistogram::Style::kRocksDb;
  // LevelDB's report has one histogram for everything.
  const OpType key = config_->LeveldbStyle() ? OpType::kOther : type;
  histograms_.try_emplace(key, style).first->second.RecordNanos(nanos);
  const double micros = static_cast<double>(nanos) / 1e3;
  if (micros >= config_->SlowMicros() && config_->stats_interval == 0) {
    std::fprintf(Messages(), "long op: %.1f micros%30s\r", micros, "");
    std::fflush(Messages());
  }
}

void Stats::ReportProgress() {
  if (config_->stats_interval > 0) {
    ReportInterval();
  } else {
    next_report_ = NextProgress(done_);
    std::fprintf(Messages(), "... finished %" PRId64 " ops%s%30s\r", done_, ExpectedText().c_str(), "");
    std::fflush(Messages());
  }
  SkipTime();  // The report is not part of the next operation.
}

// " of 1000000, 42 %, 12 s left"; with a duration only what of that is over.
std::string Stats::ExpectedText() const {
  const double seconds = static_cast<double>(Ticks::MonotonicNanos() - start_nanos_) / 1e9;
  if (expected_seconds_ > 0) return ", " + ProgressText(seconds / static_cast<double>(expected_seconds_), seconds);
  if (expected_ops_ <= 0) return "";
  const double share = static_cast<double>(done_) / static_cast<double>(expected_ops_);
  return " of " + std::to_string(expected_ops_) + ", " + ProgressText(share, seconds);
}

void Stats::ReportInterval() {
  next_report_ = done_ + config_->stats_interval;
  const uint64_t now = Ticks::MonotonicNanos();
  const double interval_seconds = static_cast<double>(now - interval_start_nanos_) / 1e9;
  if (interval_seconds < static_cast<double>(config_->stats_interval_seconds)) return;
  const double total_seconds = static_cast<double>(now - start_nanos_) / 1e9;
  const int64_t interval_done = done_ - interval_start_done_;
  const time_t wall = time(nullptr);
  tm local;
  char when[40];
  std::strftime(when, sizeof(when), "%Y/%m/%d-%H:%M:%S", localtime_r(&wall, &local));
  std::fprintf(Messages(),
               "%s ... thread %d: (%" PRId64 ",%" PRId64 ") ops and (%.1f,%.1f) ops/second in (%.6f,%.6f) seconds\n",
               when, thread_, interval_done, done_, static_cast<double>(interval_done) / interval_seconds,
               static_cast<double>(done_) / total_seconds, interval_seconds, total_seconds);
  std::fflush(Messages());
  interval_start_nanos_ = now;
  interval_start_done_ = done_;
}

void Stats::Merge(const Stats& other) {
  start_nanos_ = start_nanos_ == 0 ? other.start_nanos_ : std::min(start_nanos_, other.start_nanos_);
  stop_nanos_ = std::max(stop_nanos_, other.stop_nanos_);
  thread_nanos_ += other.thread_nanos_;
  done_ += other.done_;
  bytes_ += other.bytes_;
  latency_.Merge(other.latency_);
  for (const auto& [type, histogram] : other.histograms_) {
    const auto [it, is_new] = histograms_.try_emplace(type, histogram);
    if (!is_new) it->second.Merge(histogram);
  }
  counts.Add(other.counts);
}

}  // namespace miodb::bench
