// The state of the manifest, and the edits that change it.
//
// An edit is one step of the database's history: whatever it names exists durably before it is written, and takes
// effect as a whole. Encoded as a sequence of {u8 field, value}; docs/format.md lists the fields.

#ifndef MIODB_SRC_VERSION_EDIT_VERSION_EDIT_H_
#define MIODB_SRC_VERSION_EDIT_VERSION_EDIT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/range_deletion.h"
#include "src/format/record.h"
#include "src/log/log_chunk_place.h"
#include "src/nvm/pool/extent_list.h"
#include "src/ssd/sst_file.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"
#include "src/version/edit/kept_chunk.h"
#include "src/version/edit/payload_place.h"
#include "src/version/edit/savepoint_entry.h"

namespace miodb {

// The level number that stands for the repository in the manifest, whatever num_levels is.
inline constexpr uint32_t kRepositoryLevel = 255;

// Buffer levels are below this. The repository's tables are all of run 0.
inline constexpr uint32_t kMaxLevels = 16;

// Where a table belongs and where its index lies.
struct TablePlace {
  uint64_t number = 0;
  uint32_t level = 0;
  uint64_t run = 0;
  PmRef index_offset = 0;
  uint64_t index_size = 0;

  // Whether tables lie there: the repository is one run, number 0, and levels of the buffer have a bound in the format.
  bool IsProper() const { return level == kRepositoryLevel ? run == 0 : level < kMaxLevels && run > 0; }
};

// A table file of the SSD tier, and the SSD level it belongs to: 0 is the first below the repository.
struct SstPlace {
  uint32_t level = 0;
  std::shared_ptr<const SstMeta> meta;
};

// A column family: its name or, of one that was dropped and may still have content, none.
struct FamilyEntry {
  uint64_t id = 0;
  std::string name;

  bool dropped() const { return name.empty(); }
};

inline constexpr size_t kMostFamilyName = 1024;

// The name of the default family, which no manifest has.
inline constexpr char kDefaultFamilyName[] = "default";

inline uint64_t IdOf(const FamilyEntry& family) { return family.id; }

// A deletion of a range that may hide something in tables or files. The number is given out once, as the number of a
// table is.
struct RangePlace {
  uint64_t id = 0;
  RangeDeletion range;
};

inline uint64_t IdOf(const RangePlace& range) { return range.id; }
inline uint64_t IdOf(const TablePlace& table) { return table.number; }
inline uint64_t IdOf(const LogChunkPlace& chunk) { return chunk.id; }
inline uint64_t IdOf(const SstPlace& file) {
  DCHECK(file.meta != nullptr);
  return file.meta->number;
}

// SSD levels are below this.
inline constexpr uint32_t kMaxSsdLevels = 16;
static_assert(kMaxLevels <= kRepositoryLevel);  // the repository is no buffer level, however many there are

struct VersionEdit {
  bool has_comparator = false;
  std::string comparator;
  bool has_next_id = false;
  uint64_t next_id = 0;  // tables, runs, chunks, files, ranges and savepoints made later have at least this number
  bool has_flushed_sequence = false;
  uint64_t flushed_sequence = 0;  // writes up to this one are in tables; the log goes on from there
  std::vector<uint64_t> removed_tables;
  std::vector<TablePlace> tables;  // new, or moved to another level or run
  std::vector<uint64_t> removed_chunks;
  std::vector<LogChunkPlace> chunks;  // new, or sealed
  std::vector<uint64_t> removed_files;
  std::vector<SstPlace> files;  // new, or moved to another level
  uint64_t next_family = 0;     // families made later have at least this id; 0: as it was
  std::vector<uint64_t> removed_families;
  std::vector<FamilyEntry> families;  // new, or dropped
  std::vector<uint64_t> removed_ranges;
  std::vector<RangePlace> ranges;
  std::vector<uint64_t> removed_savepoints;
  std::vector<SavepointEntry> savepoints;
  std::vector<uint64_t> removed_kept;
  std::vector<KeptChunk> kept;
  std::vector<PayloadPlace> payload;  // new
  std::vector<PayloadDrop> dropped;   // of extents of the state before; those that nothing is left of go

  void SetPayload(const PayloadChange& change);

  void SetNextId(uint64_t id) {
    DCHECK_GT(id, 0u);
    has_next_id = true;
    next_id = id;
  }
  void SetFlushedSequence(uint64_t sequence) {
    DCHECK_LE(sequence, kMaxSequence);
    has_flushed_sequence = true;
    flushed_sequence = sequence;
  }

  void EncodeTo(std::string* dst) const;
  // False if the bytes are not an edit.
  bool DecodeFrom(Slice input);
  // The same of the state that STORE has (format/store_descriptor.h), which names no part of a pool.
  bool DecodeSsdState(const Slice& input) {
    return DecodeFrom(input) && tables.empty() && chunks.empty() && savepoints.empty() && kept.empty() &&
           payload.empty() && dropped.empty();
  }

 private:
  bool DecodeField(uint8_t field, Slice* input);
  void EncodeFamilies(std::string* dst) const;
  bool DecodeFamilies(uint8_t field, Slice* input);
  void EncodeSavepoints(std::string* dst) const;
  bool DecodeSavepoints(uint8_t field, Slice* input);
  void EncodeKept(std::string* dst) const;
  bool DecodeKept(uint8_t field, Slice* input);
  void EncodePayload(std::string* dst) const;
  bool DecodePayload(uint8_t field, Slice* input);
};

// Which family, or which savepoint, has a name. A name is of one alone, and is looked up instead of compared with all.
using PlaceNames = std::map<std::string, uint64_t>;

// The largest id that is believed of a manifest, and the largest that an edit may write. An open draws ids one by one
// above the largest id of the manifest, so kMostDrawnId is out of reach.
inline constexpr uint64_t kMostId = UINT64_MAX / 4;
inline constexpr uint64_t kMostDrawnId = UINT64_MAX / 2;
static_assert(kMostId < kMostDrawnId && kMostDrawnId < UINT64_MAX);

struct ManifestState {
  std::string comparator;
  uint64_t next_id = 1;
  uint64_t flushed_sequence = 0;
  std::map<uint64_t, TablePlace> tables;
  std::map<uint64_t, LogChunkPlace> chunks;
  std::map<uint64_t, SstPlace> files;
  uint64_t next_family = 1;
  std::map<uint64_t, FamilyEntry> families;  // those that may have content
  PlaceNames family_names;
  std::map<uint64_t, RangePlace> ranges;
  std::map<uint64_t, SavepointEntry> savepoints;
  PlaceNames savepoint_names;
  KeptChunks kept;
  PayloadPlaces payload;
  PayloadTotals payload_totals;
  std::vector<PayloadLeft> payload_left;  // only between Prepare and Commit, by offset

  // Whether there is or was a column family. If so, a key that begins like a family's key is one.
  bool has_families() const { return next_family > 1; }

  // Takes one step. Corruption, if the edit removes what is not there, or names a family as another one or under an id
  // that it cannot have: then nothing has changed.
  Status Apply(const VersionEdit& edit);

  // The two halves of it. Prepare may fail: *fresh gets the additions of the edit, and this state stays as it is. Then
  // Commit moves them in; it needs no memory, and its time grows with the edit alone.
  Status Prepare(const VersionEdit& edit, ManifestState* fresh) const;
  void Commit(const VersionEdit& edit, ManifestState* fresh) noexcept;

  // Tells the savepoints that the last edit named for the first time where its record lies. By who read or wrote it.
  void PlaceSavepoints(const AreaPlace& here) noexcept;

  // An edit that leads from nothing to what this state is after the next edit. REQUIRES: Prepare took it.
  VersionEdit Snapshot(const VersionEdit& next = VersionEdit()) const;
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_EDIT_VERSION_EDIT_H_
