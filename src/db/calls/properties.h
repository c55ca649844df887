// Properties: figures and texts about a database (DB::GetProperty).
//
// Threads: any thread makes any call; different figures may be read at different moments.

#ifndef MIODB_SRC_DB_CALLS_PROPERTIES_H_
#define MIODB_SRC_DB_CALLS_PROPERTIES_H_

#include <cstdint>
#include <string>

#include "src/db/background/ssd_tier.h"
#include "src/db/calls/counter_list.h"
#include "src/db/read/read_path.h"
#include "src/db/space/log_files.h"
#include "src/db/space/space.h"
#include "src/db/state/tree.h"
#include "src/util/check/check.h"

namespace miodb {

class Properties {
 public:
  Properties(const DbContext& db, Control* control, Tree* tree, const Space* space, const LogFiles* logs,
             const SsdTier* tier, const ReadPath* read)
      : db_(db), control_(control), tree_(tree), space_(space), logs_(logs), tier_(tier), read_(read) {
    CHECK(control != nullptr && tree != nullptr && space != nullptr);
    CHECK(logs != nullptr && tier != nullptr && read != nullptr);
  }
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;

  // False if there is no such property.
  bool Get(const Slice& property, std::string* value) EXCLUDES(db_mutex);

 private:
  VersionRef Current() EXCLUDES(db_mutex);
  CounterList Counters() EXCLUDES(db_mutex);
  bool CountTables(uint64_t level, size_t* count);
  std::string StatsText() EXCLUDES(db_mutex);
  std::string Prometheus() EXCLUDES(db_mutex);
  std::string TablesText() EXCLUDES(db_mutex);
  std::string PoolText();
  std::string PlacementText();

  const DbContext& db_;
  Control* const control_;
  Tree* const tree_;
  const Space* const space_;
  const LogFiles* const logs_;
  const SsdTier* const tier_;
  const ReadPath* const read_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_PROPERTIES_H_
