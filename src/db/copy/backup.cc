// Decides what a generation shares, and copies the rest.

#include "src/db/copy/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "src/db/copy/state_copy.h"
#include "src/db/copy/workshop.h"
#include "src/util/check/no_throw.h"
#include "src/util/clock/clock.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

// Returns 0 if there is no regular file at the path.
uint64_t SizeOfFile(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
}

// Whether both are the same file, or a copy with the time of its original (KeepTime).
bool IsOneWriting(const std::string& a, const std::string& b) {
  struct stat of_a, of_b;
  if (::stat(a.c_str(), &of_a) != 0 || ::stat(b.c_str(), &of_b) != 0 || of_a.st_size != of_b.st_size) return false;
  return IsOneFile(of_a, of_b) ||
         (of_a.st_mtim.tv_sec == of_b.st_mtim.tv_sec && of_a.st_mtim.tv_nsec == of_b.st_mtim.tv_nsec);
}

// Without the time a later generation reads the file once more.
void KeepTime(const std::string& original, const std::string& copy) {
  struct stat info;
  if (::stat(original.c_str(), &info) != 0) return;
  const struct timespec times[2] = {{0, UTIME_OMIT}, info.st_mtim};
  if (::utimensat(AT_FDCWD, copy.c_str(), times, 0) != 0) errno = 0;
}

}  // namespace

// Finds the blocks and table files of the newest generation that still have their sizes. A generation inherits other
// damage, until a verification tells of it. A pool with another secret has other hashes, and shares nothing.
Status Backup::FindShared(const BackupFolder& folder, uint64_t* newest, Shared* shared) const {
  DCHECK(newest != nullptr && shared != nullptr && shared->blocks.empty());
  BackupRecord record;
  const Status s = folder.ReadNewest(&record);
  *newest = record.generation;
  if (!s.ok() || record.secret != db_.pool->secret()) return s.IsNotFound() ? Status::OK() : s;
  std::map<uint64_t, uint64_t> sizes;
  for (const BackupExtent& extent : record.extents) {
    PmRef offset = extent.part.offset;
    for (const BackupBlock& block : extent.blocks) {
      const auto [size, fresh] = sizes.try_emplace(block.file, 0);
      if (fresh) size->second = SizeOfFile(folder.DataPath(block.file));
      if (block.position + kBlockHeaderBytes + block.bytes <= size->second) shared->blocks[offset] = block;
      offset += block.bytes;
    }
  }
  for (const BackupTable& table : record.tables) {
    if (SizeOfFile(folder.TablePath(table)) == table.size) shared->tables.emplace(table.number, table);
  }
  return s;
}

// Whether there is a block for what comes at this offset, of which the extent has so many bytes.
bool Backup::Fits(const std::map<PmRef, BackupBlock>& blocks, PmRef offset, uint64_t rest, BackupBlock* block) const {
  const auto found = blocks.find(offset);
  if (found == blocks.end()) return false;
  *block = found->second;
  DCHECK_GT(block->bytes, 0u);
  return (block->bytes == rest || (block->bytes < rest && block->bytes >= kLeastInnerBlockBytes)) &&
         HashOfBlock(db_.pool->At(offset), block->bytes, db_.pool->secret()) == block->hash;
}

// The blocks follow one another along those that the newest generation has, and begin anew where none fits. Bytes are
// hashed where they lie: the state is held, so nothing changes them before they are written.
Status Backup::CopyExtent(Run* run, const PoolCopy::Part& part) const {
  CHECK(db_.pool->Readable(part.offset, part.bytes));
  BackupExtent* const extent = &run->record.extents.emplace_back();
  extent->part = part;
  Status s;
  const PmRef end = part.offset + part.bytes;
  for (PmRef offset = part.offset; s.ok() && offset < end; offset += extent->blocks.back().bytes) {
    BackupBlock block;
    const char* const bytes = db_.pool->At(offset);
    const uint64_t rest = end - offset;
    if (!Fits(run->shared.blocks, offset, rest, &block) && !Fits(run->data.left(), offset, rest, &block)) {
      block.bytes = std::min(rest, kMostBlockBytes);
      block.hash = HashOfBlock(bytes, block.bytes, db_.pool->secret());
      s = run->pace.Wait(block.bytes);
      if (s.ok()) s = run->data.Append(offset, bytes, &block);
    }
    db_.pool->ChargeRead(bytes, block.bytes);
    extent->blocks.push_back(block);
    if (s.ok()) s = run->pace.Did(block.bytes);
  }
  return s;
}

Status Backup::HashTable(Run* run, const std::string& path, BackupTable* table) const {
  DCHECK(table->hash == BlockHash{});
  TableHash hash(db_.pool->secret());
  const uint64_t size = table->size;
  Status s = ReadPieces(run->folder.env(), path, [&](const Slice& piece) {
    hash.Add(piece);
    return run->pace.Did(std::min<uint64_t>(piece.size(), size - std::min(size, hash.size() - piece.size())));
  });
  if (s.ok() && hash.size() != size) s = Status::Corruption(path, "has another size than the manifest says");
  table->hash = hash.Result();
  return s;
}

// Whether no generation has another content under the name of a table file that is there already.
Status Backup::MayBecome(Run* run, const BackupTable& table) const {
  DCHECK(table.number > 0 && table.hash != BlockHash{});
  const std::string path = run->folder.TablePath(table);
  Status s;
  if (!run->held.has_value()) s = run->folder.HeldTables(db_.pool->secret(), &run->held.emplace());
  if (!s.ok()) return s;
  const auto held = run->held->find(path);
  if (held == run->held->end() || held->second == table.hash) return s;
  return Status::InvalidArgument(path,
                                 "has another content than the database's file of that name: miodb check tells whether "
                                 "that is damaged; a database that was put back to an earlier state needs a folder of "
                                 "backups of its own");
}

// The name of a table file is not all that there is to know of its content: a database that was put back to an earlier
// state draws numbers again. So the newest generation's file is shared if it was written when the database's was, or
// has its hash. A copy that an earlier run has left, or that only older generations have, may have been damaged since:
// it is made anew, over the old one, which no generation has with another hash.
Status Backup::CopyTable(Run* run, const SstMeta& meta) const {
  CHECK(db_.ssd != nullptr);
  BackupTable table(meta);
  Env* const env = run->folder.env();
  const std::string from = db_.ssd->FileName(meta.number), to = run->folder.TablePath(table);
  const auto shared = run->shared.tables.find(meta.number);
  const bool is_shared = shared != run->shared.tables.end() && run->folder.TablePath(shared->second) == to &&
                         shared->second.size == table.size;
  if (is_shared && IsOneWriting(from, to)) {
    run->record.tables.push_back(shared->second);
    return run->pace.Did(meta.size);
  }
  Status s;
  std::string made = to;
  if (is_shared) {
    made = from;
  } else if (!IsOneFile(from, to) && ::link(from.c_str(), to.c_str()) != 0) {
    made = to + ".tmp";
    env->RemoveFile(made).IgnoreError();
    s = CopyFile(env, from, made, [&](const Slice& piece) {
      const Status waited = run->pace.Wait(piece.size());
      run->copied += piece.size();
      return waited;
    });
    if (s.ok()) KeepTime(from, made);
  }
  if (s.ok()) s = HashTable(run, made, &table);
  if (s.ok() && made != to && run->folder.env()->FileExists(to)) s = MayBecome(run, table);
  if (s.ok() && is_shared) KeepTime(from, to);
  if (s.ok() && made != to && !is_shared) s = env->RenameFile(made, to);
  if (s.ok()) run->record.tables.push_back(table);
  return s.IsNotFound() ? Status::Corruption(from, "missing: the manifest names it") : s;
}

// Everything that the record names is durable when it is written: data and tables, with their names.
Status Backup::CopyState(Run* run, const FrozenState& frozen) const {
  CHECK(frozen.version != nullptr);
  Status s = run->data.Open();
  for (const PoolCopy::Part& part : PartsOf(frozen)) {
    if (s.ok()) s = CopyExtent(run, part);
  }
  if (s.ok()) s = run->data.Finish();
  for (const SstPlace& file : frozen.state.files) {
    if (s.ok()) s = CopyTable(run, *file.meta);
  }
  if (s.ok()) s = SyncDirectory(run->folder.TablesPath());
  if (!s.ok()) return s;
  run->record.state = frozen.state;
  run->record.new_bytes = run->data.size() + run->copied;
  run->record.new_bytes += run->record.Encode().size();
  return run->folder.Publish(run->record);
}

// If a run is cancelled, the next run takes up the bytes that were written. If a run fails, the bytes are removed: the
// file system may be full.
Status Backup::CreateIn(const BackupFolder& folder, BackupInfo* info) {
  const uint64_t start = NowMicros();
  uint64_t newest = 0;
  Shared shared;  // read before the state is held, which takes space from writers
  FrozenState frozen;
  Status s = FindShared(folder, &newest, &shared);
  if (s.ok()) s = savepoints_->Freeze(&frozen);
  if (!s.ok()) return s;
  const uint64_t generation = newest + 1;
  const bool left = Exists(folder.DataPath(generation));
  uint64_t all = 0;
  for (const PoolCopy::Part& part : PartsOf(frozen)) all += part.bytes;
  for (const SstPlace& file : frozen.state.files) all += file.meta->size;
  Run run{folder, shared, {folder, generation, db_.pool->secret()}, {options_, all}, {}};
  run.record.generation = generation;
  run.record.micros = db_.WallMicros();
  run.record.pool = MakeUuid(db_.pool->uuid());
  run.record.secret = db_.pool->secret();
  s = NoThrow(folder.path(), [&] { return CopyState(&run, frozen); });
  savepoints_->Thaw(&frozen);
  if (!run.pace.cancelled() && (left || !s.ok())) folder.Sweep().IgnoreError();  // what stays is removed another time
  if (!s.ok()) return s;
  DCHECK_EQ(run.record.Bytes(), all);
  if (info != nullptr) *info = run.record.Info();
  db_.Log("made generation %llu of %s: %llu bytes, %llu of them new, %llu us",
          static_cast<unsigned long long>(generation), folder.path().c_str(),
          static_cast<unsigned long long>(run.record.Bytes()), static_cast<unsigned long long>(run.record.new_bytes),
          static_cast<unsigned long long>(NowMicros() - start));
  return s;
}

// The folder is locked for as long as it is added to; the database is asked first, since it may refuse.
Status Backup::Create(const std::string& path, BackupInfo* info) {
  if (path.empty()) return Status::InvalidArgument("CreateBackup", "the folder has no name");
  Status s = CheckCopyable(db_, "CreateBackup");
  BackupFolder folder(path, db_.options.file_access);
  if (s.ok()) s = folder.OpenToAdd(MakeUuid(db_.pool->uuid()));
  return s.ok() ? CreateIn(folder, info) : s;
}

}  // namespace miodb
