// ManifestReader: the manifest of a pool that another process may be writing to.
//
// Threads: one. After a crash of the owner the reader reads the manifest as an open would read it.

#ifndef MIODB_SRC_VERSION_MANIFEST_MANIFEST_READER_H_
#define MIODB_SRC_VERSION_MANIFEST_MANIFEST_READER_H_

#include <cstdint>

#include "src/nvm/pool/pool.h"
#include "src/version/manifest/area_replay.h"

namespace miodb {

class ManifestReader {
 public:
  // The pool is one that is read (PoolOptions::use), and outlives this.
  explicit ManifestReader(const Pool* pool) : pool_(pool) { CHECK(pool != nullptr); }
  ManifestReader(const ManifestReader&) = delete;
  ManifestReader& operator=(const ManifestReader&) = delete;

  // Brings the state up to the last edit that is there. Errors: what it read is damaged; IOError if the owner was
  // faster each time.
  Status Follow();

  // How many records were read in all: another state has another number.
  uint64_t edits() const { return edits_; }
  const ManifestState& state() const { return state_; }

 private:
  Status ReadArea(const RootSlot& root);

  const Pool* const pool_;
  RootSlot root_ = {};
  AreaPosition at_;
  ManifestState state_;
  uint64_t edits_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_MANIFEST_MANIFEST_READER_H_
