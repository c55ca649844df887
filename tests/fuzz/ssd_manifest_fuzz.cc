// src/version/ssd_manifest.h: content that decodes encodes to the same state, and its edit can be applied or is
// refused.

#include "src/util/coding.h"
#include "src/util/crc32c.h"
#include "src/version/ssd_manifest.h"
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
  SsdManifest manifest;
  if (!manifest.DecodeFrom(bytes.slice())) return 0;
  const std::string encoded = manifest.Encode();
  SsdManifest again;
  FUZZ_CHECK(again.DecodeFrom(encoded));
  FUZZ_CHECK(again.store_id == manifest.store_id && again.log_reach == manifest.log_reach);
  FUZZ_CHECK(again.Encode() == encoded);
  ManifestState state;
  state.Apply(manifest.state).IgnoreError();
  return 0;
}
