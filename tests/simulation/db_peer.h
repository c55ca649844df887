// The crash explorer's access to the inside of a database.

#ifndef MIODB_TESTS_SIMULATION_DB_PEER_H_
#define MIODB_TESTS_SIMULATION_DB_PEER_H_

#include <cstdint>
#include <string>

#include "src/db/open/db_impl.h"
#include "src/db/write/write_lanes.h"

namespace miodb {

class DBPeer {
 public:
  static uint64_t LastSequence(DB* db);

  // Whether pool space is what the manifest names, once each, and nothing else. Empty, or what is wrong. No iterator
  // and no other pin may exist.
  static std::string CheckSpace(DB* db);

  // Has the payload extent that is emptiest marked for evacuation. False if none has garbage.
  static bool MarkOneExtent(DB* db);

  // Makes the log chunk that recovery read last the one that is written to. For a mutation.
  static void AppendToRecoveredLog(DB* db);

  // Opens the lanes for writers beside one another, if they are not open. nullptr: this is no moment for them.
  static WriteLanes* OpenLanes(DB* db);

  // Options::keep_log_bytes.
  static uint64_t KeepsLog(DB* db);

  // Regions of the pool.
  static int Regions(DB* db);

  // Tables at a level, counted from the repository if below 0.
  static size_t TablesAt(DB* db, int level);
};

}  // namespace miodb

#endif  // MIODB_TESTS_SIMULATION_DB_PEER_H_
