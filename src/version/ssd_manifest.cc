// The file is written by one call that replaces it (util/replace_file.h), and sealed: a torn or foreign one is refused.

#include "src/version/ssd_manifest.h"

#include "src/format/sealed.h"
#include "src/util/check.h"
#include "src/util/replace_file.h"

namespace miodb {

namespace {

constexpr Seal kSeal = {"MIODBSSD", 1};
constexpr size_t kHeadBytes = 2 * sizeof(uint64_t);

}  // namespace

std::string SsdManifest::Encode() const {
  std::string content;
  PutFixed64(&content, store_id);
  PutFixed64(&content, log_reach);
  CHECK_EQ(content.size(), kHeadBytes);
  state.EncodeTo(&content);
  return Sealed(kSeal, content);
}

// A state with tables or chunks is none of this file: they went with the pool.
bool SsdManifest::DecodeFrom(const Slice& bytes) {
  Slice content;
  if (!Unseal(kSeal, bytes, &content) || content.size() < kHeadBytes) return false;
  store_id = DecodeFixed64(content.data());
  log_reach = DecodeFixed64(content.data() + 8);
  content.remove_prefix(kHeadBytes);
  return state.DecodeFrom(content) && state.tables.empty() && state.chunks.empty();
}

// A file that is missing is the caller's to judge: a database may have no SSD tier yet.
Status SsdManifest::Read(Env* env, const std::string& path, SsdManifest* manifest) {
  std::string content;
  Status s = ReadSmallFile(env, path, &content);
  if (s.ok() && !manifest->DecodeFrom(content)) {
    s = Status::Corruption(path, "is damaged: it says which files of the SSD tier count");
  }
  return s;
}

}  // namespace miodb
