#include "ycsbc/workload/measurements.h"

#include <algorithm>
#include <chrono>

#include "ycsbc/workload/settings.h"

namespace miodb::ycsb {

namespace {

constexpr uint64_t kNanosPerMilli = 1000000;

uint64_t EpochMillis() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace

const char* OpName(Op op) {
  switch (op) {
    case Op::kRead:
      return "READ";
    case Op::kUpdate:
      return "UPDATE";
    case Op::kInsert:
      return "INSERT";
    case Op::kScan:
      return "SCAN";
    case Op::kReadModifyWrite:
      return "READ-MODIFY-WRITE";
    case Op::kVerify:
      return "VERIFY";
    case Op::kCleanup:
      return "CLEANUP";
    case Op::kScanPerRecord:
      return "SCAN-LATENCY-PER-RECORD";
  }
  return "";
}

const char* ResultName(Result result) {
  switch (result) {
    case Result::kOk:
      return "OK";
    case Result::kNotFound:
      return "NOT_FOUND";
    case Result::kError:
      return "ERROR";
    case Result::kUnexpectedState:
      return "UNEXPECTED_STATE";
  }
  return "";
}

void Series::Merge(const Series& other) {
  latency.Merge(other.latency);
  squares += other.squares;
  if (millis.size() < other.millis.size()) millis.resize(other.millis.size());
  for (size_t i = 0; i < other.millis.size(); i++) millis[i] += other.millis[i];
  for (const auto& [slice, values] : other.slices) {
    slices[slice].count += values.count;
    slices[slice].nanos += values.nanos;
  }
  raw.insert(raw.end(), other.raw.begin(), other.raw.end());
}

Extras::Extras(const Settings& s)
    : millis(s.measurementtype == "histogram" || s.measurementtype == "hdrhistogram+histogram"),
      slices(s.measurementtype == "timeseries"),
      raw(s.measurementtype == "raw" || s.measurementtype == "hdrhistogram+raw"),
      millis_buckets(static_cast<size_t>(s.histogram_buckets) + 1),
      slice_nanos(static_cast<uint64_t>(s.timeseries_granularity) * kNanosPerMilli) {}

Series* Summary::Get(Op op, Result result, bool intended) {
  std::unique_ptr<Series>& series = series_[Index(op, result, intended)];
  if (series == nullptr) series = std::make_unique<Series>();
  return series.get();
}

void Summary::Merge(const Summary& other) {
  for (size_t i = 0; i < series_.size(); i++) {
    if (other.series_[i] == nullptr) continue;
    if (series_[i] == nullptr) series_[i] = std::make_unique<Series>();
    series_[i]->Merge(*other.series_[i]);
  }
}

uint64_t Summary::Count(Op op, Result result) const {
  for (const bool intended : {false, true}) {
    if (const Series* series = Find(op, result, intended)) return series->latency.count();
  }
  return 0;
}

void IntervalSummary::Merge(const IntervalSummary& other) {
  for (size_t i = 0; i < ops.size(); i++) {
    if (other.ops[i] == nullptr) continue;
    if (ops[i] == nullptr) ops[i] = std::make_unique<Pair>();
    ops[i]->ok.Merge(other.ops[i]->ok);
    ops[i]->failed.Merge(other.ops[i]->failed);
  }
}

Recorder::Recorder(const Settings& settings, bool with_intervals, uint64_t start_nanos)
    : measures_op_(settings.MeasuresOp()),
      measures_intended_(settings.MeasuresIntended()),
      with_intervals_(with_intervals),
      extras_(settings),
      start_nanos_(start_nanos) {}

void Recorder::AddExtras(Series* series, uint64_t nanos) {
  if (extras_.millis) {
    if (series->millis.empty()) series->millis.resize(extras_.millis_buckets);
    series->millis[std::min<uint64_t>(nanos / kNanosPerMilli, extras_.millis_buckets - 1)]++;
    const double micros = static_cast<double>(nanos) / 1e3;
    series->squares += micros * micros;
  }
  if (extras_.slices) {
    Series::Slice& slice = series->slices[(bench::Ticks::MonotonicNanos() - start_nanos_) / extras_.slice_nanos];
    slice.count++;
    slice.nanos += nanos;
  }
  if (extras_.raw) series->raw.push_back({EpochMillis(), nanos});
}

void Recorder::AddToInterval(Op op, Result result, uint64_t nanos) {
  const std::lock_guard<std::mutex> lock(interval_mutex_);
  std::unique_ptr<IntervalSummary::Pair>& pair = interval_.ops[static_cast<size_t>(op)];
  if (pair == nullptr) pair = std::make_unique<IntervalSummary::Pair>();
  (result == Result::kOk ? pair->ok : pair->failed).Record(nanos);
}

void Recorder::TakeInterval(IntervalSummary* total) {
  IntervalSummary taken;
  {
    const std::lock_guard<std::mutex> lock(interval_mutex_);
    std::swap(taken, interval_);
  }
  total->Merge(taken);
}

}  // namespace miodb::ycsb
