// StateOpener: opens what states of one manifest name, the current one first and then those of savepoints. An object
// that several states name is opened once.
//
// A claim says that an extent lies in the pool and is nobody else's, before a byte of it is read.
//
// Threads: one, at an open.

#ifndef MIODB_SRC_VERSION_STATE_OPENER_H_
#define MIODB_SRC_VERSION_STATE_OPENER_H_

#include <cstdint>
#include <map>
#include <unordered_map>

#include "src/version/edit/version_edit.h"
#include "src/version/savepoint.h"

namespace miodb {

using TableMap = std::unordered_map<uint64_t, TableRef>;  // by number
using FileMap = std::map<uint64_t, SstRef>;               // by number
using ExtentMap = std::unordered_map<PmRef, ExtentRef>;   // by offset

// The keeper of payload extents as long as a state names them: the versions that are opened, by claims; or the process
// that has the database, for a reader's pin.
enum class PayloadKeeper { kClaims, kPin };

class StateOpener {
 public:
  // ssd: null without an SSD tier. checksums: as PMTable::Open's.
  StateOpener(Pool* pool, const KeyOrder& order, SsdStore* ssd, Checksums checksums, PayloadKeeper keeper)
      : pool_(pool), order_(order), ssd_(ssd), checksums_(checksums), keeper_(keeper) {
    CHECK(pool != nullptr);
  }
  StateOpener(const StateOpener&) = delete;
  StateOpener& operator=(const StateOpener&) = delete;

  // The extent of the first so many bytes of a log chunk, or a longer one if somebody else names more of it.
  Status OpenChunk(const LogChunkPlace& chunk, uint64_t bytes, ExtentRef* extent);

  // Payload, tables and files of a state, as far as they are not open yet.
  Status Open(const ManifestState& state);

  // Closes what the state does not name. Extents that somebody else still has stay known.
  void KeepOnly(const ManifestState& state);

  const TableMap& tables() const { return tables_; }
  const FileMap& files() const { return files_; }

  // Extents with records: the payload, but for PayloadKeeper::kPin, and log chunks.
  const ExtentMap& records() const { return records_; }

  // No id of all that was opened is larger.
  uint64_t last_id() const { return last_id_; }

 private:
  Status OpenTable(const TablePlace& place);
  Status OpenFile(const SstPlace& place);
  Status OpenPayload(const PayloadPlace& place);

  Pool* const pool_;
  const KeyOrder order_;
  SsdStore* const ssd_;
  const Checksums checksums_;
  const PayloadKeeper keeper_;
  ExtentMap records_;
  TableMap tables_;
  FileMap files_;
  uint64_t last_id_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_STATE_OPENER_H_
