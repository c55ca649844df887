#include "benchmarks/common/figures/interval_file.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace miodb::bench {

namespace {

constexpr char kIntervalHeader[] =
    "phase,seconds,ops_per_sec,operation,count,avg_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us\n";

// Opens the file, which makes it if it is not there, adds the text and closes it.
bool WriteIntervalText(const std::string& path, const char* mode, const char* text) {
  std::FILE* const file = std::fopen(path.c_str(), mode);
  const bool is_written = file != nullptr && std::fputs(text, file) >= 0;
  return file != nullptr && std::fclose(file) == 0 && is_written;
}

}  // namespace

// Every file is opened before the first one is cut to nothing.
std::string StartIntervalFiles(const std::string& option, const std::set<std::string>& paths) {
  std::error_code ignored;
  std::vector<std::string> made;
  for (const auto& [mode, text] : {std::pair<const char*, const char*>{"ae", ""}, {"we", kIntervalHeader}}) {
    for (const std::string& path : paths) {
      if (!std::filesystem::exists(path, ignored)) made.push_back(path);
      if (WriteIntervalText(path, mode, text)) continue;
      const std::string problem = "cannot write " + option + " " + path + ": " + std::strerror(errno);
      for (const std::string& file : made) std::filesystem::remove(file, ignored);
      return problem;
    }
  }
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
