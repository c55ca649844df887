// The manifest: the durable log of version edits in the pool, and the only owner of its space.
//
// An area is one extent: a snapshot of the state as record 0, then one record per edit.
//
//   u32 payload size | u32 zero | u64 edit number | u64 checksum | payload, padded with zeros to 8 bytes
//
// The checksum is seeded with the area's generation and the edit number, so a record of another area or place never
// checks. A record counts once its checksum is right. At the area's end stands a footer (format/manifest_area.h), with
// a count that tells a damaged last record from a torn one.
//
// Append (one edit):     1 copy the record behind the last   2 fence   3 confirm it in the footer
// Roll over (area full, and before the first edit after an open):
//   1 take the spare extent, or a larger one if the state has outgrown it   2 copy footer and snapshot there, fence
//   3 switch the root   4 confirm the snapshot   5 keep the old area as the next spare
// The spare is named nowhere, so after a crash it is free; a database that is open always holds it, so that a full pool
// can still be opened and its manifest still rolled over.
//
// After a crash: before the fence of an append, the state without the edit (its record does not check, or it
// does and the edit took effect: nobody was told yet). Before step 3 of a roll-over the old area, afterwards the new
// area, which says the same, and has the edit that was to be appended. Nothing is ever appended after a torn record,
// because an opened area is left first.
//
// An area that a savepoint names (savepoint_entry.h) is kept until no savepoint names it: it does not become the spare
// when it is left. So before the current area gets such a name, a second spare is taken for it.
//
// The state of a volatile pool is in DRAM alone: nobody could read an area.
//
// Threads: one at a time (the database mutex), which Append may let go of: see WorkBy.

#ifndef MIODB_SRC_VERSION_MANIFEST_MANIFEST_H_
#define MIODB_SRC_VERSION_MANIFEST_MANIFEST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/nvm/pool/pool.h"
#include "src/util/check/check.h"
#include "src/version/edit/version_edit.h"
#include "src/version/manifest/area_replay.h"

namespace miodb {

class Manifest {
 public:
  explicit Manifest(Pool* pool) : pool_(pool) { CHECK(pool_ != nullptr); }

  // outside: does the work that it is given, and lets go of the database mutex meanwhile: a slow fence, and a snapshot
  // of the state. The state stays as it was until the work is done, and until then nobody may call Append.
  using Outside = std::function<void(const std::function<void()>& work)>;
  void WorkBy(Outside outside) { outside_ = std::move(outside); }

  const ManifestState& state() const { return state_; }

  // Space that a new manifest takes in a pool for a state of so many bytes.
  static uint64_t MostBytes(uint64_t state_bytes);

  // Pool space of the current area, of the spare one, and of those that savepoints keep.
  uint64_t space_bytes() const;

  // A new database: writes the first area and root.
  Status Create(const std::string& comparator);

  // Reads the state of an existing one.
  Status Recover();

  // Shows the state of each savepoint that the current state names, valid for the call: in one pass over each area that
  // savepoints name, in it by age. The first error ends it.
  using OnSavedState = std::function<Status(const SavepointEntry& savepoint, const ManifestState& state)>;
  Status ReadSavedStates(const OnSavedState& on_state) const;

  // Makes the edit durable and part of the state, in a time that depends on the edit alone but for roll-overs. Unless
  // it succeeds the state stays as it was. If it fails with NoSpace nothing happened; after any other failure, and if
  // it throws, the state on the medium is in doubt and nothing more may be appended.
  Status Append(const VersionEdit& edit);

 private:
  Status CheckEnd() const;
  Status ClaimKept();
  bool Keeps(const Extent& area) const;
  void KeepNamed() noexcept;
  Status MakeReadyToKeep(uint64_t edit_bytes);
  bool MustLeave(uint64_t edit_bytes) const { return recovered_ || edit_bytes > RecordsEnd() - position_; }
  Status RollOver(const VersionEdit& next);
  void WriteFooter();
  Status WriteRecord(const std::string& payload);
  void Confirm();
  uint64_t RecordsEnd() const { return AreaRecordsEnd(area_->size()); }
  uint64_t Seed() const;  // of its records
  Status Corrupt(uint64_t offset, const std::string& what) const;

  Pool* const pool_;
  Outside outside_;  // empty: nobody holds a mutex
  ManifestState state_;
  ExtentRef area_;
  ExtentRef spare_;
  ExtentRef second_spare_;       // while a savepoint names the current area
  std::vector<ExtentRef> kept_;  // areas that savepoints name, which the current one may be
  uint64_t generation_ = 0;
  uint64_t position_ = 0;     // end of the last record
  uint64_t edit_number_ = 0;  // of the next record
  bool recovered_ = false;    // nothing was appended to this area since it was read
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_MANIFEST_MANIFEST_H_
