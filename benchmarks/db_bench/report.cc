#include "benchmarks/db_bench/report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "benchmarks/common/figures/format.h"
#include "benchmarks/common/library_build.h"
#include "benchmarks/common/questions.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/config/generator.h"
#include "benchmarks/db_bench/measure/stats.h"

namespace miodb::bench {

namespace {

constexpr double kMegabyte = 1048576.0;

// The text behind the colon of the first line of /proc/cpuinfo that starts with this name, and the number of such
// lines.
std::string CpuInfo(const std::string& name, int* lines) {
  std::ifstream file("/proc/cpuinfo");
  std::string found;
  *lines = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.rfind(name, 0) != 0) continue;
    if (line.find_first_not_of(" \t", name.size()) != colon) continue;
    found = line.substr(std::min(colon + 2, line.size()));
    ++*lines;
  }
  return found;
}

// MioDB compresses table files alone: in its pool values lie as they are.
bool StoresAsPut(const Config& config) { return config.Compression() == "none" || config.engine == "miodb"; }

std::string Warnings(const Config& config) {
  std::string text;
#if !defined(__OPTIMIZE__)
  text += "WARNING: built without optimisation, timings mean little\n";
#endif
#if !defined(NDEBUG)
  text += "WARNING: assertions are on, timings mean little\n";
#endif
  if (StoresAsPut(config)) text += "WARNING: values are stored uncompressed\n";
  return text;
}

}  // namespace

std::string EnvironmentHeader(const Engine& engine) {
  const time_t now = time(nullptr);
  char date[40];
  tm local;
  std::strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", localtime_r(&now, &local));
  int cpus = 0;
  int ignored = 0;
  const std::string model = CpuInfo("model name", &cpus);
  const std::string cache = CpuInfo("cache size", &ignored);
  return Format("%-11s version %s\n", (engine.Name() + ":").c_str(), engine.Version().c_str()) +
         Format("Date:       %s\n", date) + Format("CPU:        %d * %s\n", cpus, model.c_str()) +
         Format("CPUCache:   %s\n", cache.c_str());
}

std::string WorkloadHeader(const Config& config, const Engine& engine) {
  const double key_bytes = config.MeanKeyBytes();
  const ValueSizes value_sizes(config);
  const double value_bytes = value_sizes.mean();
  const double entries = static_cast<double>(config.num);
  const bool compresses = !StoresAsPut(config);
  std::string text = Format("Keys:       %" PRId64 " bytes", config.key_prefix + config.key_size);
  if (config.second_key_size == 0) {
    text += " each\n";
  } else {
    text += Format(", of %.4g %% of them %" PRId64 "\n", 100 * config.second_key_share,
                   config.key_prefix + config.second_key_size);
  }
  text += "Values:     " + value_sizes.ToString();
  if (compresses) text += Format(" (%.0f bytes after compression)", value_bytes * config.compression_ratio);
  text += "\n";
  text += Format("Entries:    %" PRId64 "\n", config.num);
  if (!config.LeveldbStyle()) {
    const bool prefixed = config.keys_per_prefix > 0;
    text += Format("Prefix:    %" PRId64 " bytes\n", prefixed ? config.prefix_size : 0);
    text += Format("Keys per prefix:    %" PRId64 "\n", config.keys_per_prefix);
  }
  text += Format("RawSize:    %.1f MB (estimated)\n", (key_bytes + value_bytes) * entries / kMegabyte);
  if (compresses) {
    text += Format("FileSize:   %.1f MB (estimated)\n",
                   (key_bytes + value_bytes * config.compression_ratio) * entries / kMegabyte);
  }
  if (!config.LeveldbStyle()) {
    const int64_t write_rate = config.mixgraph.sine_write_rate ? static_cast<int64_t>(config.mixgraph.SineRate(0))
                                                               : config.benchmark_write_rate_limit;
    text += Format("Write rate: %" PRId64 " bytes/second%s\n", write_rate,
                   config.mixgraph.sine_write_rate ? " at the start" : "");
    text += Format("Read rate: %" PRId64 " ops/second\n", config.benchmark_read_rate_limit);
    text += Format("Compression: %s\n", config.Compression().c_str());
    text += Format("Engine:     %s %s\n", engine.Name().c_str(), engine.Version().c_str());
    text += Format("Seed:       %" PRId64 "\n", config.seed);
  }
  return text + Warnings(config) + std::string(48, '-') + "\n";
}

std::string PeerHeader(const Config& config, const Engine& engine) {
  if (engine.LibraryPath().empty()) return "";
  std::string text = BuildText(engine.LibraryPath(), engine.HasChecksums());
  if (config.questions) text += AnswersText(engine.Name(), AskEngine(config, engine));
  return text;
}

std::string ResultLine(const Config& config, std::string_view name, const Totals& totals, const std::string& message) {
  // A benchmark without countable work, such as an empty scan, is one operation.
  const int64_t done = std::max<int64_t>(1, totals.done);
  std::string extra;
  if (totals.bytes > 0 && totals.wall_seconds > 0) {
    extra = Format(" %6.1f MB/s", static_cast<double>(totals.bytes) / kMegabyte / totals.wall_seconds);
  }
  if (!message.empty()) extra += " " + message;

  const double micros = totals.thread_seconds * 1e6 / static_cast<double>(done);
  std::string line = Format("%-12s : %11.3f micros/op", std::string(name).c_str(), micros);
  if (!config.LeveldbStyle()) {
    const double rate = totals.wall_seconds > 0 ? static_cast<double>(done) / totals.wall_seconds : 0;
    line += Format(" %.0f ops/sec %.3f seconds %" PRId64 " operations", rate, totals.wall_seconds, done);
  }
  return line + ";" + extra + "\n";
}

std::string LatencyText(const Config& config, const Stats& stats) {
  std::string text;
  if (config.latency && stats.latency().count() > 0) text = stats.latency().PercentileLine() + "\n";
  for (const auto& [type, histogram] : stats.histograms()) {
    text += Format("Microseconds per %s:\n", OpTypeName(type)) + histogram.ToString();
    if (!config.LeveldbStyle()) text += "\n";
  }
  return text;
}

std::string NotAvailableLine(std::string_view name) {
  return Format("%-12s : not available\n", std::string(name).c_str());
}

std::string SkippedLine(std::string_view name, std::string_view reason) {
  return Format("%-12s : skipped (%s)\n", std::string(name).c_str(), std::string(reason).c_str());
}

}  // namespace miodb::bench
