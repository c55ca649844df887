// version/edit/version_edit.h: an edit that decodes encodes to one that decodes to the same, and can be applied or is
// refused.

#include "src/version/edit/version_edit.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  fuzz::ExactBuffer bytes(data, size);
  VersionEdit edit;
  if (!edit.DecodeFrom(bytes.slice())) return 0;
  std::string encoded;
  edit.EncodeTo(&encoded);
  VersionEdit again;
  FUZZ_CHECK(again.DecodeFrom(encoded));
  std::string encoded_again;
  again.EncodeTo(&encoded_again);
  FUZZ_CHECK(encoded == encoded_again);
  // Twice: the second time it moves what it added, and may remove it.
  ManifestState state;
  if (!state.Apply(edit).ok()) return 0;
  state.Apply(edit).IgnoreError();
  std::string snapshot;
  state.Snapshot().EncodeTo(&snapshot);
  VersionEdit from_nothing;
  FUZZ_CHECK(from_nothing.DecodeFrom(snapshot));
  ManifestState copy;
  FUZZ_CHECK(copy.Apply(from_nothing).ok());
  FUZZ_CHECK(copy.tables.size() == state.tables.size() && copy.chunks.size() == state.chunks.size());
  FUZZ_CHECK(copy.families.size() == state.families.size() && copy.next_family == state.next_family);
  FUZZ_CHECK(copy.files.size() == state.files.size() && copy.ranges.size() == state.ranges.size());
  FUZZ_CHECK(copy.family_names == state.family_names && copy.savepoint_names == state.savepoint_names);
  FUZZ_CHECK(copy.savepoints.size() == state.savepoints.size() && copy.kept.by_id.size() == state.kept.by_id.size());
  return 0;
}
