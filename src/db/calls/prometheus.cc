#include "src/db/calls/prometheus.h"

#include <algorithm>
#include <cstdio>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// Upper bounds of the buckets, in seconds: 1, 2, 5 in each power of ten from 100 ns on.
constexpr double kBucketBounds[] = {1e-7, 2e-7, 5e-7, 1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3,
                                    2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1,  0.2,  0.5,  1.0,  2.0,  5.0,  10.0};

// A label's value: quotes, backslashes and newlines are escaped; the format is UTF-8, so other bytes are not let in.
std::string LabelValue(const std::string& text) {
  std::string value;
  for (const char c : text) {
    if (c == '\\' || c == '"') value.push_back('\\');
    if (c == '\n') {
      value += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) {
      value.push_back('?');
    } else {
      value.push_back(c);
    }
  }
  return value;
}

std::string Number(double value) {
  char text[40];
  [[maybe_unused]] const int length = snprintf(text, sizeof(text), "%.9g", value);
  DCHECK(length > 0 && static_cast<size_t>(length) < sizeof(text));
  return text;
}

class MetricsText {
 public:
  explicit MetricsText(const std::string& database) : labels_("database=\"" + LabelValue(database) + '"') {}

  void Head(const std::string& name, const char* type, const std::string& help) {
    DCHECK(!name.empty() && !help.empty());
    text_ += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }

  // more: further labels, or nothing.
  void Line(const std::string& name, const std::string& more, const std::string& value) {
    DCHECK(!name.empty() && !value.empty());
    text_ += name + "{" + labels_ + (more.empty() ? "" : "," + more) + "} " + value + "\n";
  }

  std::string Take() { return std::move(text_); }

 private:
  const std::string labels_;
  std::string text_;
};

// Names follow the rules of the format: they have no hyphens, and what only grows ends with "_total". A reader of the
// text takes each fall of a counter for a restart.
void WriteCounter(const CounterList::Entry& counter, MetricsText* writer) {
  DCHECK(!counter.name.empty());
  const bool is_gauge = counter.kind == CounterList::Kind::kNow;
  std::string name = "miodb_" + counter.name;
  std::replace(name.begin(), name.end(), '-', '_');
  if (!is_gauge) name += "_total";
  writer->Head(name, is_gauge ? "gauge" : "counter", "The property miodb." + counter.name + ".");
  writer->Line(name, "", std::to_string(counter.value));
}

void WriteLevels(const std::vector<LevelFigures>& levels, MetricsText* writer) {
  constexpr struct {
    const char* name;
    const char* type;
    const char* help;
    uint64_t LevelFigures::*figure;
  } kFigures[] = {
      {"miodb_level_tables", "gauge", "Tables or files of a level.", &LevelFigures::tables},
      {"miodb_level_bytes", "gauge", "Their payload bytes, or bytes of files.", &LevelFigures::bytes},
      {"miodb_level_bytes_read_total", "counter", "Bytes that merges into a level read.", &LevelFigures::bytes_read},
      {"miodb_level_bytes_written_total", "counter", "Bytes that they wrote.", &LevelFigures::bytes_written},
  };
  // The lines of a figure stand together behind its head, as the format asks for, so the levels are the inner loop.
  for (const auto& figure : kFigures) {
    writer->Head(figure.name, figure.type, figure.help);
    for (const LevelFigures& level : levels) {
      const std::string more =
          std::string("tier=\"") + (level.on_ssd ? "ssd" : "pool") + "\",level=\"" + std::to_string(level.level) + '"';
      writer->Line(figure.name, more, std::to_string(level.*figure.figure));
    }
  }
}

// The buckets are cumulative, as the format has them. The buckets come from a single summary, so no bucket has more
// than the last.
void WriteTimes(TimedOp op, const TimeSummary& times, MetricsText* writer) {
  DCHECK_EQ(times.buckets.size(), ThreadHistogram::kBuckets);
  const std::string name = std::string("miodb_") + TimedOpName(op) + "_seconds";
  writer->Head(name, "histogram", std::string("How long each ") + TimedOpName(op) + " took.");
  for (const double bound : kBucketBounds) {
    writer->Line(name + "_bucket", "le=\"" + Number(bound) + '"', std::to_string(times.CountUpTo(bound * 1e9)));
  }
  writer->Line(name + "_bucket", "le=\"+Inf\"", std::to_string(times.count));
  writer->Line(name + "_sum", "", Number(times.sum_nanos / 1e9));
  writer->Line(name + "_count", "", std::to_string(times.count));
}

}  // namespace

// A database that measures no times has no histograms here: empty ones would say that no call took place.
std::string PrometheusText(const std::string& database, const CounterList& counters,
                           const std::vector<LevelFigures>& levels, const OpTimes* times) {
  CHECK(!counters.entries().empty());
  MetricsText writer(database);
  for (const CounterList::Entry& counter : counters.entries()) WriteCounter(counter, &writer);
  WriteLevels(levels, &writer);
  for (size_t i = 0; times != nullptr && i < kTimedOps; i++) {
    WriteTimes(static_cast<TimedOp>(i), times->Sum(static_cast<TimedOp>(i)), &writer);
  }
  return writer.Take();
}

}  // namespace miodb
