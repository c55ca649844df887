#include "src/version/ssd_manifest.h"

#include <cstring>

#include "src/util/coding.h"
#include "src/util/crc32c.h"
#include "src/util/replace_file.h"

namespace miodb {

namespace {

constexpr char kMagic[] = "MIODBSSD";
constexpr size_t kMagicBytes = 8;
constexpr uint32_t kFormatVersion = 1;

constexpr size_t kCheckedFrom = kMagicBytes + 2 * sizeof(uint32_t);
constexpr size_t kHeaderBytes = kCheckedFrom + 2 * sizeof(uint64_t);

}  // namespace

std::string SsdManifest::Encode() const {
  std::string checked;
  PutFixed64(&checked, store_id);
  PutFixed64(&checked, log_reach);
  state.EncodeTo(&checked);
  std::string content(kMagic, kMagicBytes);
  PutFixed32(&content, kFormatVersion);
  PutFixed32(&content, MaskedCrc(Crc32c(checked.data(), checked.size())));
  return content + checked;
}

bool SsdManifest::DecodeFrom(const Slice& content) {
  if (content.size() < kHeaderBytes || memcmp(content.data(), kMagic, kMagicBytes) != 0) return false;
  const char* const p = content.data() + kMagicBytes;
  const char* const checked = content.data() + kCheckedFrom;
  const size_t checked_bytes = content.size() - kCheckedFrom;
  if (DecodeFixed32(p) != kFormatVersion || DecodeFixed32(p + 4) != MaskedCrc(Crc32c(checked, checked_bytes))) {
    return false;
  }
  store_id = DecodeFixed64(checked);
  log_reach = DecodeFixed64(checked + 8);
  return state.DecodeFrom(Slice(content.data() + kHeaderBytes, content.size() - kHeaderBytes)) &&
         state.tables.empty() && state.chunks.empty();
}

Status SsdManifest::Read(Env* env, const std::string& path, SsdManifest* manifest) {
  std::string content;
  Status s = ReadSmallFile(env, path, &content);
  if (s.ok() && !manifest->DecodeFrom(content)) {
    s = Status::Corruption(path, "is damaged: it says which files of the SSD tier count");
  }
  return s;
}

}  // namespace miodb
