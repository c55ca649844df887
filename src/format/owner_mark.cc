#include "src/format/owner_mark.h"

#include <cstring>

#include "src/util/coding.h"
#include "src/util/crc32c.h"

namespace miodb {

namespace {

constexpr char kMagic[] = "MIOOWNER";
constexpr size_t kMagicBytes = 8;
constexpr size_t kCheckedFrom = kMagicBytes + 2 * sizeof(uint32_t);
constexpr size_t kMarkBytes = kCheckedFrom + 3 * sizeof(uint64_t);

}  // namespace

std::string OwnerMark::Encode() const {
  std::string checked;
  PutFixed64(&checked, static_cast<uint64_t>(kind));
  PutFixed64(&checked, id);
  PutFixed64(&checked, detail);
  std::string content(kMagic, kMagicBytes);
  PutFixed32(&content, kOwnerFormatVersion);
  PutFixed32(&content, MaskedCrc(Crc32c(checked.data(), checked.size())));
  return content + checked;
}

bool OwnerMark::DecodeFrom(const Slice& content, OwnerKind wanted) {
  if (content.size() != kMarkBytes || memcmp(content.data(), kMagic, kMagicBytes) != 0) return false;
  const char* const checked = content.data() + kCheckedFrom;
  if (DecodeFixed32(content.data() + kMagicBytes) != kOwnerFormatVersion ||
      DecodeFixed32(content.data() + kMagicBytes + 4) != MaskedCrc(Crc32c(checked, kMarkBytes - kCheckedFrom)) ||
      DecodeFixed64(checked) != static_cast<uint64_t>(wanted)) {
    return false;
  }
  kind = wanted;
  id = DecodeFixed64(checked + 8);
  detail = DecodeFixed64(checked + 16);
  return true;
}

}  // namespace miodb
