#include "ycsbc/run/report.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "benchmarks/common/figures/format.h"

namespace miodb::ycsb {

using bench::Format;

namespace {

std::string MicrosText(double nanos) { return Format("%.3f", nanos / 1e3); }

bool IsListed(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string listed; std::getline(words, listed, ',');) {
    if (listed == word) return true;
  }
  return false;
}

// Adds the figures of one series under the name of a metric.
class SeriesWriter {
 public:
  SeriesWriter(const Settings& settings, std::string metric, std::vector<Measurement>* out)
      : settings_(settings), metric_(std::move(metric)), out_(out) {}

  void Write(const Series& series) const {
    const auto& h = series.latency;
    const bool is_histogram = settings_.measurementtype == "histogram";
    Add("Operations", std::to_string(h.count()));
    Add("AverageLatency(us)", MicrosText(h.Average()));
    if (!series.millis.empty()) {
      const double mean = h.Average() / 1e3;
      Add("LatencyVariance(us)", Format("%.3f", series.squares / static_cast<double>(h.count()) - mean * mean));
    }
    Add("MinLatency(us)", MicrosText(static_cast<double>(h.min())));
    Add("MaxLatency(us)", MicrosText(static_cast<double>(h.max())));
    if (is_histogram) {
      WriteMillis(series);
    } else if (settings_.measurementtype != "basic" && settings_.measurementtype != "timeseries") {
      for (const double percent : settings_.percentiles) {
        Add(OrdinalText(percent) + "PercentileLatency(us)", MicrosText(h.Percentile(percent)));
      }
      if (!series.millis.empty() && settings_.histogram_verbose) WriteBuckets(series);
    }
    for (const auto& [slice, values] : series.slices) {
      const uint64_t millis = slice * static_cast<uint64_t>(settings_.timeseries_granularity);
      Add(std::to_string(millis), MicrosText(static_cast<double>(values.nanos) / static_cast<double>(values.count)));
    }
  }

  void Add(const std::string& name, const std::string& value) const { out_->push_back({metric_, name, value}); }

 private:
  // The classic histogram knows whole milliseconds only.
  void WriteMillis(const Series& series) const {
    const uint64_t count = series.latency.count();
    for (const int percent : {95, 99}) {
      uint64_t below = 0;
      size_t bucket = 0;
      for (; bucket < series.millis.size(); bucket++) {
        below += series.millis[bucket];
        if (below * 100 >= count * static_cast<uint64_t>(percent)) break;
      }
      Add(Format("%dthPercentileLatency(us)", percent), std::to_string(bucket * 1000));
    }
    if (settings_.histogram_verbose) WriteBuckets(series);
  }
  void WriteBuckets(const Series& series) const {
    const size_t last = series.millis.size() - 1;
    for (size_t i = 0; i < last; i++) Add(std::to_string(i), std::to_string(series.millis[i]));
    Add(">" + std::to_string(last), std::to_string(series.millis[last]));
  }

  const Settings& settings_;
  const std::string metric_;
  std::vector<Measurement>* const out_;
};

// All results of one operation: successes, then failures together or, where asked for, apart.
void MeasureOp(const Settings& settings, const Summary& summary, Op op, bool intended, std::vector<Measurement>* out) {
  const std::string name = std::string(intended ? "Intended-" : "") + OpName(op);
  uint64_t all = 0;
  for (int r = 0; r < kResults; r++) all += summary.Count(op, static_cast<Result>(r));
  if (all == 0) return;
  const SeriesWriter writer(settings, name, out);
  if (const Series* series = summary.Find(op, Result::kOk, intended)) writer.Write(*series);
  for (int r = 0; r < kResults; r++) {
    const uint64_t count = summary.Count(op, static_cast<Result>(r));
    if (count > 0) writer.Add(std::string("Return=") + ResultName(static_cast<Result>(r)), std::to_string(count));
  }
  Series failed;
  for (int r = 1; r < kResults; r++) {
    const Result result = static_cast<Result>(r);
    const Series* series = summary.Find(op, result, intended);
    if (series == nullptr) continue;
    if (settings.reportlatencyforeacherror || IsListed(settings.latencytrackederrors, ResultName(result))) {
      SeriesWriter(settings, name + "-" + ResultName(result), out).Write(*series);
    } else {
      failed.Merge(*series);
    }
  }
  if (failed.latency.count() > 0) SeriesWriter(settings, name + "-FAILED", out).Write(failed);
}

std::string QuotedText(const Measurement& m) { return m.is_text ? "\"" + m.value + "\"" : m.value; }

std::string JsonObject(const Measurement& m) {
  return "{\"metric\":\"" + m.metric + "\",\"measurement\":\"" + m.name + "\",\"value\":" + QuotedText(m) + "}";
}

std::string PersistModeLine(const PhaseResult& result) {
  return result.persist_mode.empty() ? "" : "persist mode: " + result.persist_mode + "\n";
}

// Operations of one kind that MioDB's driver counts: all but errors. Not found counts as done.
struct MioDbCount {
  uint64_t operations = 0;
  uint64_t nanos = 0;
};

MioDbCount CountFor(const Summary& summary, Op op) {
  MioDbCount count;
  for (const Result result : {Result::kOk, Result::kNotFound}) {
    const Series* series = summary.Find(op, result);
    if (series == nullptr) series = summary.Find(op, result, /*intended=*/true);
    if (series == nullptr) continue;
    count.operations += series->latency.count();
    count.nanos += series->latency.sum();
  }
  return count;
}

double Rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

}  // namespace

std::string OrdinalText(double percent) {
  if (percent != std::floor(percent)) return Format("%g", percent);
  const int number = static_cast<int>(percent);
  const bool is_teen = number % 100 >= 11 && number % 100 <= 13;
  const char* suffix = "th";
  if (!is_teen && number % 10 == 1) suffix = "st";
  if (!is_teen && number % 10 == 2) suffix = "nd";
  if (!is_teen && number % 10 == 3) suffix = "rd";
  return std::to_string(number) + suffix;
}

std::vector<Measurement> Measure(const Settings& settings, const PhaseResult& result) {
  std::vector<Measurement> out;
  out.push_back({"OVERALL", "RunTime(ms)", Format("%.0f", result.seconds * 1e3)});
  out.push_back(
      {"OVERALL", "Throughput(ops/sec)", Format("%.3f", Rate(static_cast<double>(result.operations), result.seconds))});
  if (!result.persist_mode.empty()) out.push_back({"OVERALL", "PersistMode", result.persist_mode, /*is_text=*/true});
  for (const auto& [name, count] : result.reads) out.push_back({"OVERALL", name, std::to_string(count)});
  if (settings.measurementtype == "raw" && settings.raw_no_summary) return out;
  for (int op = 0; op < kOps; op++) {
    for (const bool intended : {false, true}) {
      if (intended ? settings.MeasuresIntended() : settings.MeasuresOp()) {
        MeasureOp(settings, result.summary, static_cast<Op>(op), intended, &out);
      }
    }
  }
  return out;
}

std::string ExportText(const std::string& exporter, const std::vector<Measurement>& measurements) {
  std::string text;
  if (exporter == "csv") text = "metric,measurement,value\n";
  if (exporter == "jsonarray") text = "[";
  for (const Measurement& m : measurements) {
    if (exporter == "csv") {
      text += m.metric + "," + m.name + "," + QuotedText(m) + "\n";
    } else if (exporter == "json") {
      text += JsonObject(m) + "\n";
    } else if (exporter == "jsonarray") {
      text += (text.size() > 1 ? ",\n" : "") + JsonObject(m);
    } else {
      text += "[" + m.metric + "], " + m.name + ", " + m.value + "\n";
    }
  }
  return text + (exporter == "jsonarray" ? "]\n" : "");
}

std::string RawText(const PhaseResult& result) {
  std::string text = "operation, timestamp(ms), latency(us)\n";
  for (int op = 0; op < kOps; op++) {
    for (int r = 0; r < kResults; r++) {
      const Series* series = result.summary.Find(static_cast<Op>(op), static_cast<Result>(r));
      if (series == nullptr) continue;
      for (const Series::Sample& sample : series->raw) {
        text += Format("%s,%" PRIu64 ",", OpName(static_cast<Op>(op)), sample.end_millis) +
                MicrosText(static_cast<double>(sample.nanos)) + "\n";
      }
    }
  }
  return text;
}

std::string PercentileTable(const Series& series) {
  std::string text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n";
  const auto& h = series.latency;
  // Five points for each halving of the distance to 100 %.
  double percent = 0;
  for (int halving = 0; halving < 40 && percent < 100; halving++) {
    const double step = (100 - percent) / 10;
    for (int i = 0; i < 5; i++, percent += step) {
      const double rest = 1 - percent / 100;
      const double rank = std::ceil(static_cast<double>(h.count()) * percent / 100);
      text += Format("%12.3f %2.12f %10.0f %14.2f\n", h.Percentile(percent) / 1e3, percent / 100, rank, 1 / rest);
      if (rank >= static_cast<double>(h.count())) halving = 40;
    }
  }
  text += Format("%12.3f %2.12f %10" PRIu64 "\n", static_cast<double>(h.max()) / 1e3, 1.0, h.count());
  text += Format("#[Mean    = %12.3f]\n#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n", h.Average() / 1e3,
                 static_cast<double>(h.max()) / 1e3, h.count());
  return text;
}

std::string CppText(const PhaseResult& result) {
  const char* const phase = result.kind == PhaseKind::kLoad ? "Load" : "Run";
  return Format("%s runtime(sec): %.6g\n%s operations(ops): %" PRIu64 "\n%s throughput(ops/sec): %.6g\n", phase,
                result.seconds, phase, result.operations, phase,
                Rate(static_cast<double>(result.operations), result.seconds)) +
         PersistModeLine(result);
}

std::string MioDbHead(const Settings& settings, const Properties& properties) {
  std::string text = "---- dbname:" + settings.db + "  dbpath:" + settings.engine.db + " ----\n";
  for (const auto& [name, value] : properties.all()) text += name + ":" + value + "\n";
  return text + std::string(40, '-') + "\n";
}

std::string MioDbText(const PhaseResult& result) {
  const Summary& summary = result.summary;
  if (result.kind == PhaseKind::kLoad) {
    const MioDbCount inserts = CountFor(summary, Op::kInsert);
    return "********** load result **********\n" +
           Format("loading records:%" PRIu64 "  use time:%.3f s  IOPS:%.2f iops\n", inserts.operations, result.seconds,
                  Rate(static_cast<double>(inserts.operations), result.seconds)) +
           PersistModeLine(result) + std::string(33, '*') + "\n";
  }
  struct Line {
    const char* label;
    MioDbCount count;
  };
  const Line lines[] = {
      {"insert ops", CountFor(summary, Op::kInsert)},          {"read ops  ", CountFor(summary, Op::kRead)},
      {"update ops", CountFor(summary, Op::kUpdate)},          {"scan ops  ", CountFor(summary, Op::kScan)},
      {"rmw ops   ", CountFor(summary, Op::kReadModifyWrite)},
  };
  uint64_t total = 0;
  for (const Line& line : lines) total += line.count.operations;
  std::string text = "********** run result **********\n";
  text += Format("all opeartion records:%" PRIu64 "  use time:%.3f s  IOPS:%.2f iops\n\n", total, result.seconds,
                 Rate(static_cast<double>(total), result.seconds));
  for (const Line& line : lines) {
    if (line.count.operations == 0) continue;
    const double seconds = static_cast<double>(line.count.nanos) / 1e9;
    text += Format("%s:%7" PRIu64 "  use time:%7.3f s  IOPS:%7.2f iops\n", line.label, line.count.operations, seconds,
                   Rate(static_cast<double>(line.count.operations), seconds));
  }
  return text + PersistModeLine(result) + std::string(32, '*') + "\n";
}

std::string MioDbStatistics(const PhaseResult& result, const std::string& store_text) {
  const uint64_t not_found = result.summary.Count(Op::kRead, Result::kNotFound) +
                             result.summary.Count(Op::kReadModifyWrite, Result::kNotFound);
  return "-------------- db statistics --------------\n" + Format("read not found:%" PRIu64 "\n", not_found) +
         store_text + (store_text.empty() || store_text.back() == '\n' ? "" : "\n") + std::string(43, '-') + "\n";
}

}  // namespace miodb::ycsb
