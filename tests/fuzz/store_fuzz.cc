// src/format/store_descriptor.h and owner_mark.h: what says which parts a database has, of any bytes, is read as it was
// written or refused; so is the state of an SSD tier in it, whose edit can be applied or is refused.

#include "src/format/owner_mark.h"
#include "src/format/store_descriptor.h"
#include "src/version/edit/version_edit.h"
#include "tests/fuzz/sealed_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const fuzz::SealedInput bytes(data, size);
  StoreDescriptor store, again;
  if (store.DecodeFrom(bytes.slice())) FUZZ_CHECK(again.DecodeFrom(store.Encode()) && again == store);
  VersionEdit edit, same;
  if (edit.DecodeSsdState(store.ssd_state)) {
    std::string encoded, twice;
    edit.EncodeTo(&encoded);
    FUZZ_CHECK(same.DecodeSsdState(encoded));
    same.EncodeTo(&twice);
    FUZZ_CHECK(twice == encoded);
    ManifestState state;
    state.Apply(edit).IgnoreError();
  }
  for (const OwnerKind kind : {OwnerKind::kLog, OwnerKind::kSsd}) {
    OwnerMark mark;
    if (mark.DecodeFrom(bytes.slice(), kind)) FUZZ_CHECK(Slice(mark.Encode()) == bytes.slice());
  }
  return 0;
}
