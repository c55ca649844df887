// ViewDb: a database that stays as it was at one moment, and can only be read. A view has no threads, no log and no
// directory; it makes nothing but a small memtable that stays empty.
//
// Threads: any. Ownership: a view keeps what its state names. A pool, an SSD tier's store and memtables that are a live
// database's need what is that database's alone, so the view is closed before that one is.
// After a crash: nothing here outlives the process.

#ifndef MIODB_SRC_DB_READER_VIEW_DB_H_
#define MIODB_SRC_DB_READER_VIEW_DB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/db/calls/read_only_db.h"
#include "src/db/context/db_hooks.h"
#include "src/db/state/read_state.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// The state that a view shows.
struct ViewState {
  std::shared_ptr<Pool> pool;
  std::shared_ptr<SsdStore> ssd;  // null: no SSD tier
  VersionRef version;
  std::vector<MemTableRef> memtables;        // newest first; sealed, nobody writes to them
  uint64_t sequence = 0;                     // reads see nothing newer, and the version has nothing newer
  uint64_t next_family = 1;                  // as ManifestState
  std::map<uint64_t, FamilyEntry> families;  // the same
};

class ViewDb final : public ReadOnlyDb {
 public:
  // options: as the user gave them. name: of the database, for messages.
  static Status Make(const Options& options, const std::string& name, const DbHooks& hooks, ViewState state,
                     std::unique_ptr<ViewDb>* view);
  ~ViewDb() override;

 private:
  ViewDb(const Options& options, const std::string& name, const DbHooks& hooks, ViewState state);

  Status Refusal() const override;

  const std::unique_ptr<DbContext> context_;
  const std::unique_ptr<ReadSources> sources_;
  const std::unique_ptr<ReadPath> read_;
  std::unique_ptr<FamilyHandles> handles_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READER_VIEW_DB_H_
