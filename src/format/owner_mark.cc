// The mark that a log folder or an SSD directory bears: whose it is.

#include "src/format/owner_mark.h"

#include "src/format/sealed.h"
#include "src/format/superblock.h"

namespace miodb {

namespace {

constexpr Seal kOwnerSeal = {"MIOOWNER", kOwnerFormatVersion};
constexpr size_t kContentBytes = 4 * sizeof(uint64_t);

}  // namespace

// A mark has one size, and the kind is in it: the mark of a log's folder that was copied over that of an SSD tier is
// not believed.
std::string OwnerMark::Encode() const {
  std::string content;
  PutFixed64(&content, static_cast<uint64_t>(kind));
  PutFixed64(&content, id);
  PutFixed64(&content, pool);
  PutFixed64(&content, epoch);
  CHECK_EQ(content.size(), kContentBytes);
  return Sealed(kOwnerSeal, content);
}

// Size, checksum, version and kind have to be right at once; anything else is "says nothing", which callers treat as
// nobody's folder and never as their own.
bool OwnerMark::DecodeFrom(const Slice& bytes, OwnerKind wanted) {
  Slice content;
  if (!Unseal(kOwnerSeal, bytes, &content) || content.size() != kContentBytes ||
      DecodeFixed64(content.data()) != static_cast<uint64_t>(wanted)) {
    return false;
  }
  kind = wanted;
  id = DecodeFixed64(content.data() + 8);
  pool = DecodeFixed64(content.data() + 16);
  epoch = DecodeFixed64(content.data() + 24);
  return epoch <= kMostEpoch;
}

}  // namespace miodb
