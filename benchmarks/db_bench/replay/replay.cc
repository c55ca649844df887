#include "benchmarks/db_bench/replay/replay.h"

#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "benchmarks/common/figures/progress.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/measure/latency_report.h"
#include "benchmarks/db_bench/replay/replayer.h"
#include "benchmarks/db_bench/replay/session_db.h"

namespace miodb::bench {

namespace {

OpType OpTypeOf(TraceType type) {
  switch (type) {
    case kTraceWrite:
      return OpType::kWrite;
    case kTraceGet:
    case kTraceMultiGet:
      return OpType::kRead;
    case kTraceSeek:
    case kTraceSeekForPrev:
    case kTraceSeekToFirst:
    case kTraceSeekToLast:
    case kTraceScan:
      return OpType::kSeek;
    default:
      return OpType::kOther;
  }
}

std::string TypeName(TraceType type) {
  switch (type) {
    case kTraceWrite:
      return "write";
    case kTraceGet:
      return "get";
    case kTraceSeek:
      return "seek";
    case kTraceSeekForPrev:
      return "seek for prev";
    case kTraceMultiGet:
      return "multi-get";
    case kTraceScan:
      return "scan steps";
    case kTraceSeekToFirst:
      return "seek to first";
    case kTraceSeekToLast:
      return "seek to last";
    default:
      return "type " + std::to_string(type);
  }
}

// The measurements of a thread.
struct Lane {
  explicit Lane(const Config& config) : stats(config, 0, false) {}

  Stats stats;
  std::map<TraceType, LatencyHistogram> latencies;
};

std::string Summary(const ReplayReport& report, const std::vector<std::unique_ptr<Lane>>& lanes) {
  std::map<TraceType, LatencyHistogram> latencies;
  for (const auto& lane : lanes) {
    for (const auto& [type, histogram] : lane->latencies) latencies[type].Merge(histogram);
  }
  char line[200];
  std::string text;
  for (const auto& [type, counts] : report.counts) {
    std::snprintf(line, sizeof(line),
                  "%-13s: issued %" PRIu64 ", succeeded %" PRIu64 ", failed %" PRIu64 ", unsupported %" PRIu64 "; ",
                  TypeName(type).c_str(), counts.issued, counts.succeeded, counts.failed, counts.unsupported);
    text += line + latencies[type].PercentileLine() + "\n";
  }
  const double issued = static_cast<double>(std::max<uint64_t>(report.total.issued, 1));
  std::snprintf(line, sizeof(line), "replay lag   : average %.1f us, max %" PRIu64 " us; iterator steps %" PRIu64 "\n",
                static_cast<double>(report.lag_micros_total) / issued, report.lag_micros_max, report.steps);
  text += line;
  if (report.total.unsupported > 0) {
    text += "WARNING: " + std::to_string(report.total.unsupported) +
            " calls were left out: merges that the engine has not, deletions of ranges, column families\n";
  }
  return text;
}

}  // namespace

ReplayResult RunReplay(const Config& config, Engine* engine, LatencyReport* latencies) {
  ReplayResult result{{}, false, Stats(config, 0, false), ""};
  const TraceConfig& trace = config.trace;
  std::unique_ptr<TraceReader> reader;
  Status s = TraceReader::Open(trace.trace_file, &reader);
  if (!s.ok()) {
    result.outcome = Outcome::Error(s.ToString());
    return result;
  }
  result.began = true;
  std::vector<std::unique_ptr<SessionDb>> sessions;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<DB*> views;
  for (int64_t i = 0; i < trace.replay_threads; i++) {
    sessions.push_back(std::make_unique<SessionDb>(engine->NewSession(SessionOptions{config.sync})));
    views.push_back(sessions.back().get());
    lanes.push_back(std::make_unique<Lane>(config));
    if (latencies != nullptr) lanes.back()->stats.RecordInto(latencies->NewRecorder());
  }
  ReplayOptions options;
  options.fast_forward = trace.replay_fast_forward;
  options.as_fast_as_possible = trace.replay_as_fast_as_possible;
  ProgressLine progress(config.progress_reports);
  const double trace_bytes = static_cast<double>(reader->file_bytes());
  options.on_call = [&lanes, &progress, trace_bytes](const ReplayedCall& call) {
    if (call.worker == 0) progress.Show("replayed", static_cast<double>(call.offset) / trace_bytes);
    Lane* const lane = lanes[static_cast<size_t>(call.worker)].get();
    lane->latencies[call.type].Record(call.nanos);
    // The steps of a scan belong to the seek, which was an operation.
    if (call.type != kTraceScan) lane->stats.RecordOp(OpTypeOf(call.type), call.nanos);
    lane->stats.counts.written_bytes += static_cast<int64_t>(call.written_bytes);
    return !Interrupt::StopRequested();
  };
  for (const auto& lane : lanes) lane->stats.Start();
  ReplayReport report;
  s = ReplayTrace(views, reader.get(), options, &report);
  for (const auto& lane : lanes) {
    lane->stats.Stop();
    result.stats.Merge(lane->stats);
  }
  result.summary = Summary(report, lanes);
  if (!s.ok()) {
    result.outcome = Outcome::Error(s.ToString());
  } else if (!report.first_failure.ok()) {
    result.outcome = Outcome::Error(std::to_string(report.total.failed) + " calls failed; the first, at offset " +
                                    std::to_string(report.first_failure_offset) + " of " + trace.trace_file + ": " +
                                    report.first_failure.ToString());
  }
  return result;
}

}  // namespace miodb::bench
