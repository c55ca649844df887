// The current version and the way to the next.
//
// An edit, step by step:
//
//   1 Make what it adds, and the version after it, which shares all that stays with the current one.
//   2 Make the edit durable in the manifest.
//   3 Move in what was made: the accounts, then the version. The step needs no memory, so every durable edit becomes
//     current.
//
// An edit that fails before step 3 leaves everything as it was. The time of each step is that of what the edit changes,
// however many tables there are; but see Manifest::Append.
//
// Threads: all calls with the database mutex held. Apply may let go of it in step 2 (WorkBy): then readers see the
// version before, and calls of Apply are kept apart by their callers.

#ifndef MIODB_SRC_VERSION_VERSION_SET_H_
#define MIODB_SRC_VERSION_VERSION_SET_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/version/manifest/manifest.h"
#include "src/version/payload_recount.h"
#include "src/version/savepoint.h"
#include "src/version/state_opener.h"
#include "src/version/version.h"
#include "src/version/version_shape.h"

namespace miodb {

using ChunkExtents = std::map<uint64_t, ExtentRef>;  // by the chunks' ids

// The objects of what an edit places or names for the first time.
struct Additions {
  std::vector<TableRef> tables;
  PayloadChange payload;
  std::vector<SstRef> files;
  ChunkExtents saved;  // log chunks that the edit keeps or that its savepoints name
};

class VersionBuilder;

class VersionSet {
 public:
  VersionSet(Pool* pool, KeyOrder order, int num_levels)
      : pool_(pool), order_(order), num_levels_(num_levels), manifest_(pool) {
    CHECK_GE(num_levels, 2);
    CHECK_LE(num_levels, static_cast<int>(kMaxLevels) + 1);
  }
  VersionSet(const VersionSet&) = delete;
  VersionSet& operator=(const VersionSet&) = delete;

  // Has the manifest name files of this store, in at least so many levels. Before Create or Recover.
  void UseSsd(SsdStore* store, int levels) {
    CHECK(current_ == nullptr && store != nullptr);
    CHECK_GT(levels, 0);
    CHECK_LE(levels, static_cast<int>(kMaxSsdLevels));
    ssd_ = store;
    ssd_level_count_ = static_cast<size_t>(levels);
  }

  // Has the flag set when the manifest is found to have column families, before a key of a table is compared.
  void TellOfFamilies(std::atomic<bool>* has_families) { has_families_ = has_families; }

  // See Manifest::WorkBy.
  void WorkBy(Manifest::Outside outside) { manifest_.WorkBy(std::move(outside)); }

  Status Create();

  // For a new pool in front of files that are there: the state of the SSD tier, which has no tables and log chunks.
  Status CreateFor(const VersionEdit& state);

  // Reads the manifest, claims all space that it names and opens the tables, those of savepoints too. *chunks: the
  // extents of the log chunks, in the order of manifest().chunks.
  Status Recover(Checksums checksums, std::vector<ExtentRef>* chunks);

  const VersionRef& current() const { return current_; }
  const ManifestState& manifest() const { return manifest_.state(); }
  const SavepointMap& savepoints() const { return savepoints_; }

  // Extents of the chunks that manifest().kept names.
  const ChunkExtents& kept() const { return kept_; }

  // Space of the pool that a savepoint keeps and the current version and the log do not need.
  uint64_t HeldBytes(const Savepoint& savepoint) const;

  uint64_t manifest_bytes() const { return manifest_.space_bytes(); }

  // A number for a new table, run or log chunk, not used before. Durable with the next edit.
  uint64_t NewId() {
    DCHECK_LT(next_id_, UINT64_MAX);
    return next_id_++;
  }

  // Makes the edit durable, with the change of the payload, then current. On failure the current version stays; see
  // Manifest::Append. Corruption: the change drops more of an extent than the version has.
  Status Apply(VersionEdit edit, const Additions& added);

  // Whether an edit failed in such a way that it may be durable all the same.
  bool in_doubt() const { return !failure_.ok(); }

  // The place that the manifest gives a table of the current version.
  const TablePlace& PlaceOf(uint64_t number) const;

  // Payload extents of the current version: the bytes written for records, and how many of those are live.
  uint64_t payload_bytes() const { return manifest_.state().payload_totals.bytes; }
  uint64_t payload_live_bytes() const { return manifest_.state().payload_totals.live_bytes; }

  // Tables of the current version that were marked, and those made since that say so of themselves (PMTable::marked).
  const MarkedTables& marked() const { return marked_; }

  // Marks the table, unless it has gone meanwhile.
  void Mark(const TableRef& table);

  // Takes all marks away. The result keeps what went meanwhile, so that the caller lets go of it when he likes.
  MarkedTables TakeMarks() { return std::exchange(marked_, MarkedTables()); }

  // Index entries of all tables of the current version.
  uint64_t entries() const { return entries_; }
  uint64_t tables() const { return tables_.size(); }

  // Checks that the current version is in order and equals the manifest's state, and that a recount gives the accounts.
  // Takes as long as there are tables.
  void Check() const;

 private:
  // The result of an edit, ready to be moved in.
  struct Next {
    VersionRef version;
    TableMap tables;                                  // added
    MarkedTables marked;                              // of them
    std::vector<std::pair<uint64_t, uint64_t>> left;  // places in MarkedTables, of tables that go or move
    FileMap files;                                    // added
    SavepointMap savepoints;                          // added
    ChunkExtents kept;                                // added
  };

  void FindFamilies();
  Status OpenSavepoints(StateOpener* opener);
  Status OpenSavedState(const SavepointEntry& entry, const ManifestState& state, StateOpener* opener,
                        std::shared_ptr<Savepoint>* savepoint);
  Status OpenSavedLog(StateOpener* opener, Savepoint* savepoint) const;
  Status OpenKept(StateOpener* opener);
  void TakeUp(const StateOpener& opener);
  VersionEdit FitLevels(const ManifestState& state);
  Status Build(const ManifestState& state, const StateOpener& opener, VersionRef* version);
  Status BuildCurrent(const StateOpener& opener);
  bool PayloadIsAsCounted() const;
  VersionShape Shape() const { return {order_, num_levels_, ssd_, ssd_level_count_}; }
  void SkipId(uint64_t id);
  Status Prepare(const VersionEdit& edit, const Additions& added, Next* next) const;
  void PreparePayload(const VersionEdit& edit, const PayloadChange& change, VersionBuilder* builder) const;
  void PrepareSavepoints(const VersionEdit& edit, const ChunkExtents& saved, Next* next) const;
  void Install(const VersionEdit& edit, const PayloadChange& change, Next* next) noexcept;
  template <typename Item>
  bool IsSaved(const Item& item) const;
  void ForgetSavepoint(uint64_t id) noexcept;

  Pool* const pool_;
  const KeyOrder order_;
  const int num_levels_;
  Manifest manifest_;
  uint64_t next_id_ = 1;
  Status failure_;  // of an edit that may or may not be on the medium: no other may follow
  VersionRef current_;
  TableMap tables_;  // of the current version
  MarkedTables marked_;
  SavepointMap savepoints_;
  ChunkExtents kept_;

  SsdStore* ssd_ = nullptr;
  size_t ssd_level_count_ = 0;
  FileMap files_;  // of the current version

  std::atomic<bool>* has_families_ = nullptr;  // null: nobody asks

  uint64_t entries_ = 0;

  // With kChecksWhole, what each table was found to refer to; null if the opened manifest was wrong about it.
  mutable std::unique_ptr<PayloadRecount> recount_ = std::make_unique<PayloadRecount>();
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_VERSION_SET_H_
