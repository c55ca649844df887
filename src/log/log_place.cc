#include "src/log/log_place.h"

#include <cinttypes>
#include <cstdio>
#include <random>

#include "src/util/replace_file.h"

namespace miodb {

namespace {

constexpr size_t kFirstLine = 19;

}  // namespace

uint64_t LogPlace::NewId() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

Status LogPlace::Read(Env* env, const std::string& path, LogPlace* place) {
  std::string text;
  if (!env->FileExists(path)) return Status::NotFound(path, "no such file");
  Status s = ReadFileToString(env, path, &text);
  if (!s.ok()) return s;
  int in_use = 0;
  if (text.size() < kFirstLine || text[kFirstLine - 1] != '\n' ||
      sscanf(text.c_str(), "%16" SCNx64 " %1d", &place->log_id, &in_use) != 2) {
    return Status::Corruption(path, "does not say where the log is");
  }
  place->in_use = in_use != 0;
  place->wal_dir = text.substr(kFirstLine);
  return s;
}

Status LogPlace::Write(Env* env, const std::string& path) const {
  char line[kFirstLine + 1];
  snprintf(line, sizeof(line), "%016" PRIx64 " %d\n", log_id, in_use ? 1 : 0);
  return ReplaceFile(env, path, line + wal_dir);
}

}  // namespace miodb
