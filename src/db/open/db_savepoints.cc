// The calls of the database object that have to do with states that are kept: savepoints, checkpoints, and the log.

#include "src/db/copy/backup.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "src/db/reader/view_db.h"
#include "src/db/space/update_stream.h"
#include "src/db/state/chunk_memtable.h"

namespace miodb {

Status DBImpl::CreateSavepoint(const Slice& name) {
  return context_->WithMemory([&] { return savepoints_->Create(name); });
}

Status DBImpl::DropSavepoint(const Slice& name) {
  return context_->WithMemory([&] { return savepoints_->Drop(name); });
}

Status DBImpl::ListSavepoints(std::vector<SavepointInfo>* savepoints) {
  return context_->WithMemory([&] { return savepoints_->List(savepoints); });
}

Status DBImpl::CreateCheckpoint(const std::string& directory) {
  CHECK(checkpoint_ != nullptr);
  return context_->WithMemory([&] { return checkpoint_->Create(directory); });
}

Status DBImpl::CreateBackup(const BackupOptions& options, const std::string& folder, BackupInfo* info) {
  return context_->WithMemory([&] { return Backup(*context_, savepoints_.get(), options).Create(folder, info); });
}

Status DBImpl::GetUpdatesSince(uint64_t sequence, std::unique_ptr<UpdateIterator>* updates) {
  return context_->WithMemory([&] { return UpdateStream::Open(*context_, kept_.get(), sequence, updates); });
}

Status DBImpl::FollowSource(const Slice& identity) {
  if (context_->fork_guard.InChild()) return context_->InChild();
  return context_->WithMemory([&] { return store_->Follow(identity, GetLatestSequenceNumber()); });
}

// The records that were in memtables become a memtable again, over the same chunks. The pool is shared before the
// savepoint is looked for. A thread that makes the first column family under another comparator then sees either this
// view or, if it looks earlier, the savepoint (Families::CheckFirst).
Status DBImpl::OpenSavepoint(const Slice& name, DB** view) {
  DCHECK(view != nullptr);
  *view = nullptr;
  return context_->WithMemory([&] {
    ViewState state;
    state.pool = context_->pool;
    SavepointRef savepoint;
    Status s = savepoints_->Find(name, &savepoint);
    if (!s.ok()) return s;
    CHECK(savepoint->version != nullptr);
    state.ssd = context_->ssd;
    state.version = savepoint->version;
    state.sequence = savepoint->entry.sequence;
    state.next_family = savepoint->next_family;
    state.families = savepoint->families;
    if (!savepoint->log.empty()) {
      state.memtables.push_back(tree_->NewMemTable(MemTable::Filter::kLater));
      s = TakeUpLog(context_->order, *context_->pool, *savepoint, state.memtables.back().get());
    }
    std::unique_ptr<ViewDb> opened;
    if (s.ok()) s = ViewDb::Make(context_->UserOptions(), context_->name, context_->hooks, std::move(state), &opened);
    if (s.ok()) *view = opened.release();
    return s;
  });
}

}  // namespace miodb
