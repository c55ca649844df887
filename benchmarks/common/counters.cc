#include "benchmarks/common/counters.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <utility>

namespace miodb::bench {

namespace {

uint64_t Get(const Engine::Counters& counters, const char* name) {
  const auto it = counters.find(name);
  return it == counters.end() ? 0 : it->second;
}

std::string Line(const std::string& label, uint64_t value) { return label + std::to_string(value) + "\n"; }

std::string AmplificationLine(uint64_t user_bytes, uint64_t written_bytes) {
  char line[60];
  std::snprintf(line, sizeof(line), "write amplification: %.3f\n",
                user_bytes > 0 ? static_cast<double>(written_bytes) / static_cast<double>(user_bytes) : 0.0);
  return line;
}

}  // namespace

std::string CountersText(const Engine::Counters& counters, const std::string& persist_mode) {
  if (counters.empty()) return "";
  // No label may contain "stall", "dump" or "wa": published scripts take the last line that holds one of these.
  constexpr std::pair<const char*, const char*> kLines[] = {
      {"user bytes", "user-bytes-written"},
      {"NVM bytes log", "nvm-bytes-log"},
      {"NVM bytes flush", "nvm-bytes-flush"},
      {"NVM bytes merge", "nvm-bytes-merge"},
      {"NVM bytes lazy copy", "nvm-bytes-lazy-copy"},
      {"NVM bytes evacuation", "nvm-bytes-evacuation"},
      {"NVM bytes manifest", "nvm-bytes-manifest"},
      {"NVM bytes total", "nvm-bytes-total"},
      {"NVM lines flushed", "nvm-lines-flushed"},
      {"NVM fences", "nvm-fences"},
      {"pool bytes used", "pool-bytes-used"},
      {"pool bytes file", "pool-bytes-file"},
      {"live bytes", "live-bytes"},
  };
  std::string text;
  for (const auto& [label, name] : kLines) text += Line(std::string(label) + ": ", Get(counters, name));
  // Only of those databases that have such files.
  constexpr std::pair<const char*, const char*> kFileLines[] = {
      {"log file bytes", "log-file-bytes"},
      {"log file bytes padding", "log-file-bytes-padding"},
      {"log file syncs", "log-file-syncs"},
      {"SSD bytes", "ssd-bytes-written"},
  };
  for (const auto& [label, name] : kFileLines) {
    if (Get(counters, name) > 0) text += Line(std::string(label) + ": ", Get(counters, name));
  }
  const uint64_t written =
      Get(counters, "nvm-bytes-total") + Get(counters, "log-file-bytes") + Get(counters, "ssd-bytes-written");
  text += AmplificationLine(Get(counters, "user-bytes-written"), written);
  return text + "persist mode: " + persist_mode + "\n";
}

std::string FileBytesText(uint64_t user_bytes, uint64_t file_bytes) {
  if (user_bytes == 0) return "";
  return Line("user bytes: ", user_bytes) + Line("file bytes: ", file_bytes) +
         AmplificationLine(user_bytes, file_bytes);
}

uint64_t ProcessBytesWritten() {
  std::ifstream file("/proc/self/io");
  std::string name;
  for (uint64_t value = 0; file >> name >> value;) {
    if (name == "wchar:") return value;
  }
  return 0;
}

std::string ClosingLines(const Engine::Counters& counters) {
  if (counters.empty()) return "";
  uint64_t compaction_bytes = 0;
  for (const char* name :
       {"nvm-bytes-flush", "nvm-bytes-merge", "nvm-bytes-lazy-copy", "nvm-bytes-evacuation", "nvm-bytes-manifest"}) {
    compaction_bytes += Get(counters, name);
  }
  const uint64_t waited_micros = Get(counters, "stall-micros") + Get(counters, "throttle-micros");
  return Line("stall time: ", waited_micros) + Line("dump time:  ", Get(counters, "flush-micros")) +
         Line("wa: ", compaction_bytes);
}

}  // namespace miodb::bench
