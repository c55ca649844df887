// Verifies a pool that nobody has open: every checksum, the order and number of entries, live bytes, and the account of
// its space. The verb check of miodb prints the result.
//
//   header    both superblocks, all copies of the roots
//   manifest  the records of the current area, its footer, its confirmed count; that tables and chunks have a place
//   log       frames of every chunk; with the folder of log files, that it is this pool's, and every batch; that the
//             sequences of all follow one another
//   tables    header and every node; every entry against its record; key order, versions newest first; counts,
//             flags and bounds of sequences; live bytes of every payload extent; that tables of one run do not overlap
//   files     with the directory of the SSD tier: what verify_ssd.h says
//   saved     the areas and the log of savepoints (verify_savepoints.h), and all of their tables and files
//   space     every extent inside of the file, none overlapping another; payload extents shared by tables that agree
//
// Nothing can leak: what the manifest does not name is free. Free bytes in the report are those that the engine has
// after an open; garbage is space that collection can win back.
//
// Threads: one.

#ifndef MIODB_SRC_INSPECT_VERIFY_VERIFY_H_
#define MIODB_SRC_INSPECT_VERIFY_VERIFY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/format/problem.h"
#include "src/format/store_descriptor.h"
#include "src/inspect/image/manifest_image.h"
#include "src/inspect/image/table_image.h"
#include "src/log/log_history.h"
#include "src/nvm/pool/pool.h"

namespace miodb {

struct VerifyOptions {
  // kEndTheLog: stores without a sync reached the medium in any order (persist mode file, log files).
  LogHoles log_holes = LogHoles::kAreDamage;

  // The folder of log files. Empty: the database has none.
  std::string wal_folder;
  uint64_t log_id = 0;  // that WAL_OWNER there has to say; a volatile pool's database has its own

  // The directory of the SSD tier. Empty: files that the manifest names are not looked at, which a note says.
  std::string ssd_path;

  // Told often how much is done, as a share from 0 to 1 that never falls. Empty: nobody is.
  std::function<void(double share)> on_progress;
};

struct SavepointFigures {
  uint64_t count = 0;
  uint64_t bytes = 0;      // of extents that savepoints alone need
  uint64_t ssd_bytes = 0;  // of table files
};

// Figures of the log that is kept for the update stream.
struct KeptLogFigures {
  uint64_t chunks = 0;
  uint64_t bytes = 0;  // of their extents, as far as no table has them
};

struct VerifyResult {
  std::vector<Problem> problems;
  std::vector<Problem> notes;  // what a crash may have left as well, and costs nothing
  std::string comparator;
  bool order_checked = true;  // false under a comparator that is not known
  uint64_t file_bytes = 0;
  uint64_t manifest_records = 0;
  uint64_t tables = 0;
  uint64_t runs = 0;
  uint64_t entries = 0;
  uint64_t tombstones = 0;
  uint64_t ssd_files = 0;
  uint64_t ssd_entries = 0;
  uint64_t ssd_bytes = 0;
  uint64_t chunks = 0;
  uint64_t frames = 0;
  uint64_t log_files = 0;
  uint64_t log_writes = 0;
  uint64_t last_sequence = 0;
  SavepointFigures savepoints;
  KeptLogFigures kept_log;
  uint64_t extents = 0;
  uint64_t used_bytes = 0;  // header page and extents
  uint64_t free_bytes = 0;  // of the file
  uint64_t payload_bytes = 0;
  uint64_t live_bytes = 0;
};

// Looks at the whole pool. comparator: what orders keys; if the pool was made with another one, order is not checked
// and nothing that depends on it.
VerifyResult VerifyPool(const PoolImage& image, const Comparator* comparator, const VerifyOptions& options);

// The same of a database whose pool is volatile memory, as its STORE says: its log files, and the table files of its
// SSD tier. REQUIRES: options.wal_folder is set.
VerifyResult VerifyVolatile(const StoreDescriptor& store, const Comparator* comparator, const VerifyOptions& options);

// Why a pool cannot be looked at by this version at all, or OK: a file too short for a header, or of another version.
Status CheckReadable(const PoolImage& image);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_VERIFY_H_
