// Verifies a closed database. docs/tools.md.

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/common/figures/progress.h"
#include "miodb/comparator.h"
#include "miodb/env.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/inspect/verify/verify.h"
#include "tools/inspect/arguments.h"

namespace miodb {
namespace {

using Figures = std::vector<std::pair<const char*, uint64_t>>;

Figures FiguresOf(const VerifyResult& r) {
  return {{"file_bytes", r.file_bytes},
          {"used_bytes", r.used_bytes},
          {"free_bytes", r.free_bytes},
          {"extents", r.extents},
          {"manifest_records", r.manifest_records},
          {"runs", r.runs},
          {"tables", r.tables},
          {"entries", r.entries},
          {"tombstones", r.tombstones},
          {"payload_bytes", r.payload_bytes},
          {"live_bytes", r.live_bytes},
          {"ssd_files", r.ssd_files},
          {"ssd_entries", r.ssd_entries},
          {"ssd_bytes", r.ssd_bytes},
          {"savepoints", r.savepoints.count},
          {"saved_bytes", r.savepoints.bytes},
          {"saved_ssd_bytes", r.savepoints.ssd_bytes},
          {"kept_chunks", r.kept_log.chunks},
          {"kept_bytes", r.kept_log.bytes},
          {"log_chunks", r.chunks},
          {"log_frames", r.frames},
          {"log_files", r.log_files},
          {"log_writes", r.log_writes},
          {"last_sequence", r.last_sequence}};
}

std::string JsonString(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f) {
      json.push_back(c);
    } else {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned char>(c));
      json += escaped;
    }
  }
  return json + "\"";
}

std::string JsonList(const std::vector<Problem>& problems) {
  std::string json = "[";
  for (const Problem& p : problems) {
    json += json.size() > 1 ? "," : "";
    json += "\n    {\"place\": " + JsonString(p.place) + ", \"reason\": " + JsonString(p.reason) + "}";
  }
  return json + (problems.empty() ? "]" : "\n  ]");
}

void PrintJson(const std::string& path, const VerifyResult& r) {
  std::string json = "{\n  \"path\": " + JsonString(path) + ",\n  \"ok\": " + (r.problems.empty() ? "true" : "false") +
                     ",\n  \"comparator\": " + JsonString(r.comparator) +
                     ",\n  \"order_checked\": " + (r.order_checked ? "true" : "false");
  for (const auto& [name, value] : FiguresOf(r)) {
    json += ",\n  \"" + std::string(name) + "\": " + std::to_string(value);
  }
  json += ",\n  \"problems\": " + JsonList(r.problems) + ",\n  \"notes\": " + JsonList(r.notes) + "\n}\n";
  fputs(json.c_str(), stdout);
}

void PrintText(const std::string& path, const VerifyResult& r) {
  for (const Problem& p : r.problems) printf("DAMAGE %s\n", p.ToString().c_str());
  for (const Problem& p : r.notes) printf("note   %s\n", p.ToString().c_str());
  if (!r.order_checked) printf("note   key order not checked: comparator %s\n", r.comparator.c_str());
  for (const auto& [name, value] : FiguresOf(r)) printf("%-17s %" PRIu64 "\n", name, value);
  if (r.problems.empty()) {
    printf("%s: OK\n", path.c_str());
  } else {
    printf("%s: %zu problems\n", path.c_str(), r.problems.size());
  }
}

// A database whose pool is volatile memory: 0 and 1 as for others, or why it cannot be checked.
ExitCode CheckVolatile(const char* program, const std::string& path, const VerifyOptions& options,
                       VerifyResult* result) {
  Env* const env = Env::Default();
  FileLock* lock;
  StoreDescriptor store;
  Status s = env->LockFile(LockPath(path), &lock);
  if (!s.ok()) {
    fprintf(stderr, "%s: %s\n", program, s.ToString().c_str());
    return kExitCannotRun;
  }
  s = ReadStore(env, path, &store);
  if (s.ok()) {
    *result = VerifyVolatile(store, BytewiseComparator(), options);
  } else if (s.IsCorruption()) {
    result->problems.push_back({StorePath(path), s.ToString()});
  }
  env->UnlockFile(lock).IgnoreError();
  if (s.ok() || s.IsCorruption()) return result->problems.empty() ? kExitOk : kExitDamage;
  fprintf(stderr, "%s: %s\n", program, s.ToString().c_str());
  return kExitCannotRun;
}

// Checks what lies at *path, which becomes the pool's file if that is it. Without a result the reason has been said.
// Progress goes to stderr, if people read that.
std::optional<VerifyResult> Check(const char* program, const std::vector<std::string>& regions, VerifyOptions verify,
                                  std::string* path, ExitCode* code) {
  bench::ProgressLine progress(isatty(STDERR_FILENO) != 0);
  verify.on_progress = [&progress](double share) { progress.Show("checked", share); };
  VerifyResult result;
  if (IsVolatile(*path)) {
    *code = CheckVolatile(program, *path, verify, &result);
    if (*code == kExitCannotRun) return std::nullopt;
    return result;
  }
  std::unique_ptr<PoolImage> image;
  if (!OpenImage(program, *path, regions, &image, code)) return std::nullopt;
  *path = image->path();
  result = VerifyPool(*image, BytewiseComparator(), verify);
  *code = result.problems.empty() ? kExitOk : kExitDamage;
  return result;
}

}  // namespace

ExitCode CheckDatabase(const char* program, const CheckRequest& request) {
  VerifyOptions verify;
  if (request.lost_power) verify.log_holes = LogHoles::kEndTheLog;
  verify.ssd_path = request.ssd;
  std::string path = request.path;
  ExitCode code = kExitCannotRun;
  if (!FindLogFolder(program, path, request.wal, &verify.wal_folder, &verify.log_id, &code)) return code;
  const std::optional<VerifyResult> result = Check(program, request.regions, verify, &path, &code);
  if (result.has_value()) (request.json ? PrintJson : PrintText)(path, *result);
  return code;
}

}  // namespace miodb
