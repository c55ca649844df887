// src/format/store_descriptor.h and owner_mark.h: what says which parts a database has, of any bytes, is read as it was
// written or refused.

#include "src/format/owner_mark.h"
#include "src/format/store_descriptor.h"
#include "src/util/coding.h"
#include "src/util/crc32c.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  constexpr size_t kChecksumAt = 12;
  constexpr size_t kCheckedFrom = 16;
  const bool seal = (fuzz::TakeByte(&data, &size) & 1) != 0;
  fuzz::ExactBuffer bytes(data, size);
  if (seal && size >= kCheckedFrom) {
    EncodeFixed32(bytes.data() + kChecksumAt, MaskedCrc(Crc32c(bytes.data() + kCheckedFrom, size - kCheckedFrom)));
  }
  StoreDescriptor store, again;
  if (store.DecodeFrom(bytes.slice())) FUZZ_CHECK(again.DecodeFrom(store.Encode()) && again == store);
  for (const OwnerKind kind : {OwnerKind::kLog, OwnerKind::kSsd}) {
    OwnerMark mark;
    if (mark.DecodeFrom(bytes.slice(), kind)) FUZZ_CHECK(Slice(mark.Encode()) == bytes.slice());
  }
  return 0;
}
