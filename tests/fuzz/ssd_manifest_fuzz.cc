// src/version/ssd_manifest.h: content that decodes encodes to the same state, and its edit can be applied or is
// refused.

#include "src/version/ssd_manifest.h"
#include "tests/fuzz/sealed_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const fuzz::SealedInput bytes(data, size);
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
