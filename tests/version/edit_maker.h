// Histories of version edits, and their meaning kept in the simplest way.

#ifndef MIODB_TESTS_VERSION_EDIT_MAKER_H_
#define MIODB_TESTS_VERSION_EDIT_MAKER_H_

#include <cstdint>
#include <iterator>
#include <string>

#include "src/version/edit/version_edit.h"
#include "tests/common/random/random.h"

namespace miodb::test {

// All that a state or a place in it says, for comparing.
std::string TextOf(const TablePlace& place);
std::string TextOf(const LogChunkPlace& place);
std::string TextOf(const SstPlace& place);
std::string TextOf(const RangePlace& place);
std::string TextOf(const SavepointEntry& savepoint);
std::string TextOf(const KeptChunk& chunk);
std::string TextOf(const ManifestState& state);

class EditMaker {
 public:
  explicit EditMaker(uint64_t seed) : random_(seed) {}

  // Any edit, which need not fit to a state. small: numbers of one or two bytes.
  VersionEdit AnyEdit(bool small);

  // An edit that can follow those before it. least_tables: tables to leave in place.
  VersionEdit NextEdit(size_t most_tables = 20);

  // The state after all NextEdits.
  const ManifestState& state() const { return state_; }

  // Takes over a state that was made in another way.
  void Reset(const ManifestState& state) {
    state_ = state;
    if (!state.payload.empty()) payload_extents_ = std::prev(state.payload.end())->first / kExtentUnit;
  }

 private:
  TablePlace AnyTable(bool small);
  LogChunkPlace AnyChunk(bool small);
  SstPlace AnyFile(bool small);
  RangePlace AnyRange(bool small);
  SavepointEntry AnySavepoint(bool small);
  KeptChunk AnyKept(bool small);
  PayloadPlace AnyPayload(bool small);
  void NextPayload(VersionEdit* edit);
  uint64_t Number(bool small) { return small ? random_.Uniform(300) : random_.Skewed(62); }

  Random random_;
  ManifestState state_;
  uint64_t payload_extents_ = 0;  // that were made
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_VERSION_EDIT_MAKER_H_
