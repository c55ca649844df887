// A savepoint of an open database: what the manifest says of it (savepoint_entry.h), and what it keeps.
//
// Threads: immutable.
// Ownership: versions and extents keep their space taken. The manifest names it as long as it names the savepoint.

#ifndef MIODB_SRC_VERSION_SAVEPOINT_H_
#define MIODB_SRC_VERSION_SAVEPOINT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "src/nvm/pool/extent.h"
#include "src/version/edit/version_edit.h"
#include "src/version/version.h"

namespace miodb {

// A log chunk of a savepoint, sealed at the bytes that belong to it.
struct SavedChunk {
  LogChunkPlace place;
  ExtentRef extent;
};

struct Savepoint {
  SavepointEntry entry;
  VersionRef version;
  std::vector<SavedChunk> log;  // what memtables had
  uint64_t flushed_sequence = 0;
  uint64_t next_family = 1;
  std::map<uint64_t, FamilyEntry> families;
};

using SavepointRef = std::shared_ptr<const Savepoint>;

// By id, and so by age.
using SavepointMap = std::map<uint64_t, SavepointRef>;

// All of it but the version and the extents, from the state that it is of.
std::shared_ptr<Savepoint> MakeSavepoint(const SavepointEntry& entry, const ManifestState& state);

// Whether a version has this table, or this file.
bool Has(const KeyOrder& order, const Version& version, const TableRef& table);
bool Has(const KeyOrder& order, const Version& version, const SstRef& file);

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_SAVEPOINT_H_
