// The steps of checkpoint.h.

#include "src/db/copy/checkpoint.h"

#include <unistd.h>

#include "src/db/copy/state_copy.h"
#include "src/db/copy/workshop.h"
#include "src/db/store/store_file.h"
#include "src/util/check/no_throw.h"
#include "src/util/clock/clock.h"
#include "src/util/files/copy_files.h"

namespace miodb {

namespace {

// A file under two names goes when both are gone, and nobody writes to a table file once it is whole.
Status LinkOrCopy(Env* env, const std::string& from, const std::string& to) {
  DCHECK(from != to);
  if (::link(from.c_str(), to.c_str()) == 0) return Status::OK();
  const Status s = CopyFile(env, from, to, [](const Slice&) { return Status::OK(); });
  return s.IsNotFound() ? Status::Corruption(from, "missing: the manifest names it") : s;
}

// The paths are those in the directory that the checkpoint is made in, of which STORE has what is below it.
Status WriteParts(const DbContext& db, const FrozenState& frozen, const std::string& folder) {
  Env* const env = WritingCopies(db.options.env);
  StoreDescriptor store;
  store.state = StoreState::kInUse;
  store.pool = NewUuid();
  store.origin = OriginOfCopy(MakeUuid(db.pool->uuid()), store.pool);
  DCHECK_EQ(frozen.log.size(), frozen.state.chunks.size());
  StatePool pool{frozen.state, PartsOf(frozen), db.pool->secret(), PoolCopy::FromPool(*db.pool)};
  Status s = WriteStatePool(std::move(pool), store.pool, db.options.file_access, PoolPath("", folder));
  if (s.ok() && db.ssd != nullptr) {
    store.ssd_path = SsdFolder(folder);
    s = WriteSsd(env, store.ssd_path, PoolIdOf(store.pool), frozen.state,
                 [&](uint64_t number, const std::string& to) { return LinkOrCopy(env, db.ssd->FileName(number), to); });
  }
  return s.ok() ? WriteStore(env, folder, store) : s;
}

}  // namespace

Status Checkpoint::Create(const std::string& directory) {
  if (directory.empty()) return Status::InvalidArgument("CreateCheckpoint", "the directory has no name");
  Status s = CheckCopyable(db_, "CreateCheckpoint");
  if (!s.ok()) return s;
  const uint64_t start = NowMicros();
  Workshop workshop(WritingCopies(db_.options.env), directory);
  s = workshop.Open();
  FrozenState frozen;
  if (s.ok()) s = savepoints_->Freeze(&frozen);
  if (!s.ok()) return s;
  const size_t tables = frozen.state.tables.size();
  s = NoThrow(directory, [&] { return WriteParts(db_, frozen, workshop.path()); });
  savepoints_->Thaw(&frozen);
  if (s.ok()) s = workshop.Publish();
  if (!s.ok()) return s;
  db_.Log("made checkpoint %s of %zu tables, %llu us", workshop.directory().c_str(), tables,
          static_cast<unsigned long long>(NowMicros() - start));
  return s;
}

}  // namespace miodb
