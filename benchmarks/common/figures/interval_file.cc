#include "benchmarks/common/figures/interval_file.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace miodb::bench {

std::string StartIntervalFile(const std::string& option, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return "cannot write " + option + " " + path + ": " + std::strerror(errno);
  std::fputs("phase,seconds,ops_per_sec,operation,count,avg_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us\n", file);
  std::fclose(file);
  return "";
}

std::string IntervalRow(const std::string& phase, double seconds, double ops_per_second, const std::string& operation,
                        const FineLatencyHistogram& h) {
  char text[200];
  std::snprintf(text, sizeof(text), ",%.3f,%.1f,", seconds, ops_per_second);
  std::string row = phase + text + operation;
  std::snprintf(text, sizeof(text), ",%" PRIu64 ",%.3f", h.count(), h.Average() / 1e3);
  row += text;
  for (const double percent : {50.0, 90.0, 99.0, 99.9, 99.99}) {
    std::snprintf(text, sizeof(text), ",%.3f", h.Percentile(percent) / 1e3);
    row += text;
  }
  std::snprintf(text, sizeof(text), ",%.3f\n", static_cast<double>(h.max()) / 1e3);
  return row + text;
}

}  // namespace miodb::bench
