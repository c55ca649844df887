#include "src/log/log_place.h"

#include <cinttypes>
#include <cstdio>
#include <random>

#include "src/util/replace_file.h"

namespace miodb {

namespace {

constexpr size_t kFirstLine = 36;

}  // namespace

uint64_t LogPlace::NewId() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

std::string LogPlace::Encode() const {
  char line[kFirstLine + 1];
  snprintf(line, sizeof(line), "%016" PRIx64 " %016" PRIx64 " %d\n", log_id, pool_id, in_use ? 1 : 0);
  return line + wal_dir;
}

bool LogPlace::DecodeFrom(const std::string& text) {
  int state = 0;
  if (text.size() < kFirstLine ||
      sscanf(text.c_str(), "%16" SCNx64 " %16" SCNx64 " %1d", &log_id, &pool_id, &state) != 3) {
    return false;
  }
  in_use = state == 1;
  wal_dir = text.substr(kFirstLine);
  return Encode() == text;
}

Status LogPlace::Read(Env* env, const std::string& path, LogPlace* place) {
  std::string text;
  if (!env->FileExists(path)) return Status::NotFound(path, "no such file");
  Status s = ReadSmallFile(env, path, &text);
  if (s.ok() && !place->DecodeFrom(text)) s = Status::Corruption(path, "does not say where the log is");
  return s;
}

Status LogPlace::Write(Env* env, const std::string& path) const { return ReplaceFile(env, path, Encode()); }

}  // namespace miodb
