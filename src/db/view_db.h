// ViewDb: a database that stays as it was at one moment, and can only be read. It has no threads, no log and no
// directory; a small memtable that stays empty is all that it makes.
//
// Threads: any. Ownership: a view keeps what its state names. A pool, an SSD tier's store and memtables that are a live
// database's need what is that database's alone, so the view is closed before that one is.
// What a crash leaves: nothing here outlives the process.

#ifndef MIODB_SRC_DB_VIEW_DB_H_
#define MIODB_SRC_DB_VIEW_DB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/db/db_hooks.h"
#include "src/db/read_calls.h"
#include "src/db/read_state.h"
#include "src/version/version_edit.h"

namespace miodb {

class Pool;
class SsdStore;

// What a view shows.
struct ViewState {
  std::shared_ptr<Pool> pool;
  std::shared_ptr<SsdStore> ssd;  // null: no SSD tier
  VersionRef version;
  std::vector<MemTableRef> memtables;        // newest first; sealed, nobody writes to them
  uint64_t sequence = 0;                     // reads see nothing newer, and the version has nothing newer
  uint64_t next_family = 1;                  // as ManifestState
  std::map<uint64_t, FamilyEntry> families;  // the same
};

class ViewDb final : public ReadCalls {
 public:
  using DB::CompactRange;
  using DB::DeleteRange;
  using ReadCalls::GetProperty;

  // options: as the user gave them. name: of the database, for messages.
  static Status Make(const Options& options, const std::string& name, const DbHooks& hooks, ViewState state,
                     std::unique_ptr<ViewDb>* view);
  ~ViewDb() override;

  // Of a view there is one property, "miodb.estimate-num-keys", and of a family the two that it has in every database.
  bool GetProperty(const Slice& property, std::string* value) override;

  // There is nothing that waits to be done.
  void CompactRange(const Slice*, const Slice*) override {}
  void CompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) override {}
  Status Flush() override { return Status::OK(); }
  Status WaitForIdle() override { return Status::OK(); }

  // Nobody can write to it. A deletion of a range without a handle comes as a batch.
  Status Write(const WriteOptions&, WriteBatch*) override { return Refusal(); }
  Status WriteIfUnchanged(const WriteOptions&, WriteBatch*, const std::vector<KeyAsOf>&) override { return Refusal(); }
  Status Put(const WriteOptions&, const Slice&, const Slice&) override { return Refusal(); }
  Status Put(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) override { return Refusal(); }
  Status Delete(const WriteOptions&, const Slice&) override { return Refusal(); }
  Status Delete(const WriteOptions&, ColumnFamilyHandle*, const Slice&) override { return Refusal(); }
  Status Merge(const WriteOptions&, const Slice&, const Slice&) override { return Refusal(); }
  Status Merge(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) override { return Refusal(); }
  Status SingleDelete(const WriteOptions&, const Slice&) override { return Refusal(); }
  Status SingleDelete(const WriteOptions&, ColumnFamilyHandle*, const Slice&) override { return Refusal(); }
  Status DeleteRange(const WriteOptions&, const Slice&, const Slice&) override { return Refusal(); }
  Status DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) override {
    return Refusal();
  }
  Status CreateColumnFamily(const std::string& name, ColumnFamilyHandle** family) override;
  Status DropColumnFamily(ColumnFamilyHandle*) override { return Refusal(); }
  Status StartTrace(const TraceOptions&, std::unique_ptr<TraceWriter>) override { return Refusal(); }
  Status EndTrace() override { return Refusal(); }
  Status AddRegion(const NvmRegion&) override { return Refusal(); }

 private:
  ViewDb(const Options& options, const std::string& name, const DbHooks& hooks, ViewState state);

  Status Refusal() const;

  const std::unique_ptr<DbContext> context_;
  const std::unique_ptr<ReadSources> sources_;
  const std::unique_ptr<ReadPath> read_;
  std::unique_ptr<FamilyHandles> handles_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_VIEW_DB_H_
