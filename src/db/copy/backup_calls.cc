// The calls of backups that need no database: listing, verifying, deleting, restoring.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "miodb/backup.h"
#include "src/db/copy/backup_data.h"
#include "src/db/copy/backup_folder.h"
#include "src/db/copy/backup_pace.h"
#include "src/db/copy/state_copy.h"
#include "src/db/copy/workshop.h"
#include "src/db/store/store_file.h"
#include "src/nvm/pool/pool_image.h"
#include "src/nvm/region/region_file.h"
#include "src/util/check/no_throw.h"
#include "src/util/files/copy_files.h"

namespace miodb {

namespace {

// Compares a generation's table file with the figures in the record.
Status CheckTable(const BackupFolder& folder, const BackupTable& table, const TableHash& hash) {
  if (hash.size() == table.size && hash.Result() == table.hash) return Status::OK();
  return Status::Corruption(folder.TablePath(table), "is damaged: delete the generations that have it");
}

// A record is written when its table files have their names, so nothing but a loss explains it.
Status Missing(const BackupFolder& folder, const BackupTable& table) {
  return Status::Corruption(folder.TablePath(table), "missing: a generation has it");
}

// Pieces beyond the size that the record has are not read: a file may have been made to say that it is very long.
Status ReadTable(const BackupFolder& folder, const BackupRecord& record, const BackupTable& table, BackupPace* pace) {
  TableHash hash(record.secret);
  uint64_t rest = table.size;
  Status s = ReadPieces(folder.env(), folder.TablePath(table), [&](const Slice& piece) {
    hash.Add(piece);
    if (piece.size() > rest) return CheckTable(folder, table, hash);
    rest -= piece.size();
    return pace->Did(piece.size());
  });
  if (s.ok()) s = CheckTable(folder, table, hash);
  return s.IsNotFound() ? Missing(folder, table) : s;
}

// Blocks and table files that were read already, with the figures of the record for which they were read. Another
// record may have other figures for the same place.
struct Verified {
  std::map<std::pair<uint64_t, uint64_t>, BackupBlock> blocks;  // by data file and position
  std::map<std::string, BackupTable> tables;                    // by path

  // Whether it is new, or something else was read there.
  template <typename Key, typename Item>
  static bool Note(std::map<Key, Item>* read, const Key& key, const Item& item) {
    const auto [found, fresh] = read->emplace(key, item);
    return fresh || !(found->second == item);
  }
};

// A block or table file that generations share is read with the first of them, and counts as done for the others.
Status VerifyRecord(const BackupFolder& folder, const BackupRecord& record, BackupPace* pace, Verified* verified) {
  DCHECK(pace != nullptr && verified != nullptr);
  DataReader data(folder, record.secret);
  Status s;
  for (const BackupExtent& extent : record.extents) {
    PmRef offset = extent.part.offset;
    for (const BackupBlock& block : extent.blocks) {
      const char* bytes = nullptr;
      if (s.ok() && Verified::Note(&verified->blocks, {block.file, block.position}, block)) {
        s = data.Read(offset, block, &bytes);
      }
      if (s.ok()) s = pace->Did(block.bytes);
      if (!s.ok()) return s;
      offset += block.bytes;
    }
  }
  for (const BackupTable& table : record.tables) {
    if (!s.ok()) return s;
    const bool unread = Verified::Note(&verified->tables, folder.TablePath(table), table);
    s = unread ? ReadTable(folder, record, table, pace) : pace->Did(table.size);
  }
  return s;
}

// Reads all records first, to know the number of bytes.
Status Verify(const BackupOptions& options, const BackupFolder& folder, uint64_t generation) {
  std::vector<uint64_t> generations = {generation};
  Status s = generation == 0 ? folder.List(&generations) : Status::OK();
  uint64_t all = 0;
  for (const uint64_t number : generations) {
    BackupRecord record;
    if (s.ok()) s = folder.Read(number, &record);
    all += record.Bytes();
  }
  BackupPace pace(options, all);
  Verified verified;
  for (const uint64_t number : generations) {
    BackupRecord record;
    if (s.ok()) s = folder.Read(number, &record);
    if (s.ok()) s = VerifyRecord(folder, record, &pace, &verified);
  }
  return s;
}

// ---- restoring

// A database that is made of a generation.
class Restore {
 public:
  Restore(const Options& options, const BackupOptions& backup, const BackupFolder& folder, const BackupRecord& record,
          const std::string& directory)
      : options_(options),
        folder_(folder),
        record_(record),
        env_(WritingCopies(Env::WithAccess(options.file_access))),
        data_(folder, record.secret),
        pace_(backup, record.Bytes()),
        workshop_(env_, directory) {}
  ~Restore() {
    if (!made_pool_.empty()) RegionFile::Remove(made_pool_).IgnoreError();
    if (!made_ssd_.empty()) RemoveSsd(made_ssd_, uuid_);
  }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

  Status Run();

 private:
  Status CheckPaths() const;
  void RemoveLeft() const;
  void RemoveSsd(const std::string& path, const Uuid& pool) const;
  std::string InWorkshop(const std::string& path) const;
  Status MakePool(const Uuid& uuid);
  Status MakeSsd(const std::string& path, uint64_t pool_id);
  Status CopyPart(const PoolCopy::Part& part, const PoolCopy::Sink& sink);
  Status CopyTable(const BackupTable& table, const std::string& to);

  const Options& options_;
  const BackupFolder& folder_;
  const BackupRecord& record_;
  Env* const env_;
  DataReader data_;
  BackupPace pace_;
  Workshop workshop_;
  std::string made_pool_;  // outside of the workshop; they go with this, unless the database is published
  std::string made_ssd_;
  Uuid uuid_ = {};  // of the new pool
};

// Paths in the directory lie in the workshop until the workshop gets the name of the directory.
std::string Restore::InWorkshop(const std::string& path) const {
  const std::optional<std::string> below = PathBelow(workshop_.directory(), path);
  return below.has_value() ? workshop_.path() + "/" + *below : path;
}

// Nothing that exists is written over, nor taken for a part that is left of an earlier call: that was removed before.
Status Restore::CheckPaths() const {
  if (!IsSystemEnv(options_.env)) return Status::NotSupported("RestoreBackup", "Options::env is not the system's");
  if (!options_.pool_path.empty()) {
    if (KindOfPath(options_.pool_path) != PathKind::kFile) {
      return Status::NotSupported(options_.pool_path, "a backup is restored to a file: name one, or none");
    }
    if (Exists(options_.pool_path)) {
      return Status::InvalidArgument(options_.pool_path,
                                     "exists: restoring makes the pool. Move it away, or remove it");
    }
  }
  if (InWorkshop(options_.pool_path) == SsdFolder(workshop_.path())) {
    return Status::InvalidArgument(options_.pool_path, "is the name of the SSD tier in the directory that is made");
  }
  if (!options_.ssd_path.empty() && PathBelow(workshop_.directory(), options_.ssd_path).has_value() &&
      options_.ssd_path != SsdFolder(workshop_.directory())) {
    return Status::InvalidArgument(options_.ssd_path,
                                   "is in the directory that is made: name \"ssd\" there, or a place outside");
  }
  if (!options_.ssd_path.empty() && Exists(options_.ssd_path)) {
    return Status::InvalidArgument(options_.ssd_path,
                                   "exists: restoring makes the directory. Move it away, or remove it");
  }
  return Status::OK();
}

// A call that was cut off has left STORE in the workshop, which says whose a pool and an SSD tier elsewhere are.
void Restore::RemoveLeft() const {
  CHECK(made_pool_.empty() && made_ssd_.empty());
  StoreDescriptor left;
  if (!ReadStore(env_, workshop_.path(), &left).ok()) return;
  std::unique_ptr<PoolImage> image;
  if (!left.pool_path.empty() && left.pool_path == options_.pool_path && PoolImage::Open(left.pool_path, &image).ok()) {
    const PoolHeader header = image->Header();
    image.reset();  // lets go of its lock
    if (header.has_superblock && MakeUuid(header.uuid) == left.pool) RegionFile::Remove(left.pool_path).IgnoreError();
  }
  if (!left.ssd_path.empty() && left.ssd_path == options_.ssd_path) RemoveSsd(left.ssd_path, left.pool);
}

// Somebody else may have made a directory of that name meanwhile. A call that was cut off before the directory had its
// mark has left nothing in it but a mark that was not finished.
void Restore::RemoveSsd(const std::string& path, const Uuid& pool) const {
  uint64_t owner = 0;
  const Status s = SsdStore::ReadOwner(env_, path, &owner);
  if (s.IsNotFound() || (s.ok() && owner == PoolIdOf(pool))) SsdStore::Destroy(env_, path).IgnoreError();
}

// The blocks of an extent lie in data files one behind the other, or in those of older generations. Each is hashed
// before the pool gets it.
Status Restore::CopyPart(const PoolCopy::Part& part, const PoolCopy::Sink& sink) {
  DCHECK(sink != nullptr);
  const auto extent = std::lower_bound(record_.extents.begin(), record_.extents.end(), part.offset,
                                       [](const BackupExtent& a, PmRef offset) { return a.part.offset < offset; });
  CHECK(extent != record_.extents.end() && extent->part.offset == part.offset);
  PmRef offset = part.offset;
  Status s;
  for (const BackupBlock& block : extent->blocks) {
    const char* bytes = nullptr;
    s = data_.Read(offset, block, &bytes);
    if (s.ok()) s = pace_.Wait(block.bytes);
    if (s.ok()) s = sink(offset, bytes, block.bytes);
    if (s.ok()) s = pace_.Did(block.bytes);
    if (!s.ok()) return s;
    offset += block.bytes;
  }
  return s;
}

// Outside of the workshop it has another name until it is whole; one of that name is left of a call that was cut off.
Status Restore::MakePool(const Uuid& uuid) {
  std::string path = InWorkshop(PoolPath(options_.pool_path, workshop_.path()));
  Status s;
  if (path == options_.pool_path) {
    path += ".restoring";
    s = RegionFile::Remove(path);
    if (s.ok()) made_pool_ = path;
  }
  StatePool pool{record_.state, {}, record_.secret, [this](const PoolCopy::Part& part, const PoolCopy::Sink& sink) {
                   return CopyPart(part, sink);
                 }};
  for (const BackupExtent& extent : record_.extents) pool.parts.push_back(extent.part);
  return s.ok() ? WriteStatePool(std::move(pool), uuid, options_.file_access, path) : s;
}

// The copy is the database's own, though the folder may be on the same file system: it is to outlive damage to either.
Status Restore::CopyTable(const BackupTable& table, const std::string& to) {
  TableHash hash(record_.secret);
  uint64_t rest = table.size;
  Status s = CopyFile(env_, folder_.TablePath(table), to, [&](const Slice& piece) {
    hash.Add(piece);
    if (piece.size() > rest) return CheckTable(folder_, table, hash);
    rest -= piece.size();
    const Status waited = pace_.Wait(piece.size());
    return waited.ok() ? pace_.Did(piece.size()) : waited;
  });
  if (s.ok()) s = CheckTable(folder_, table, hash);
  return s.IsNotFound() ? Missing(folder_, table) : s;
}

// The table files of the state are asked for in its order, which is that of the record.
Status Restore::MakeSsd(const std::string& path, uint64_t pool_id) {
  CHECK(!path.empty());
  if (path == options_.ssd_path) made_ssd_ = path;
  auto table = record_.tables.begin();
  return WriteSsd(env_, path, pool_id, record_.state, [&](uint64_t number, const std::string& to) {
    CHECK(table != record_.tables.end() && table->number == number);
    return CopyTable(*table++, to);
  });
}

// STORE comes first, so that it is known whose the parts outside of the workshop are. The pool gets its name when all
// is durable, and the directory right behind it.
Status Restore::Run() {
  Status s = workshop_.Open([this] { RemoveLeft(); });
  if (s.ok()) s = CheckPaths();
  if (!s.ok()) return s;
  StoreDescriptor store;
  store.state = StoreState::kInUse;
  store.pool = uuid_ = NewUuid();
  store.origin = OriginOfCopy(record_.pool, store.pool);
  store.pool_path = options_.pool_path.empty() ? "" : InWorkshop(options_.pool_path);
  if (!options_.ssd_path.empty() || !record_.tables.empty()) {
    store.ssd_path = options_.ssd_path.empty() ? SsdFolder(workshop_.path()) : InWorkshop(options_.ssd_path);
  }
  // STORE names the directory, so that a DestroyDB before the first open removes what is outside.
  const std::string ending = workshop_.path().substr(workshop_.directory().size());
  store.directory = RealPath(workshop_.path());
  CHECK(store.directory.ends_with(ending));
  store.directory.resize(store.directory.size() - ending.size());
  s = WriteStore(env_, workshop_.path(), store);
  if (s.ok()) s = MakePool(store.pool);
  if (s.ok() && !store.ssd_path.empty()) s = MakeSsd(store.ssd_path, PoolIdOf(store.pool));
  if (s.ok() && !made_pool_.empty()) {
    RegionFile pool(made_pool_);
    uint64_t size;
    s = pool.Open(&size);
    if (s.ok()) s = pool.Rename(options_.pool_path);
    if (s.ok()) made_pool_ = options_.pool_path;
  }
  if (s.ok()) s = workshop_.Publish();
  if (!s.ok()) return s;
  made_pool_.clear();
  made_ssd_.clear();
  return s;
}

}  // namespace

// Generations that others add or delete meanwhile may be among those that are listed or not.
Status ListBackups(const std::string& path, std::vector<BackupInfo>* generations) {
  return NoThrow(path, [&] {
    CHECK(generations != nullptr);
    generations->clear();
    BackupFolder folder(path);
    std::vector<uint64_t> numbers;
    Status s = folder.OpenToList();
    if (s.ok()) s = folder.List(&numbers);
    if (!s.ok()) return s;
    for (const uint64_t number : numbers) {
      BackupRecord record;
      const Status read = folder.Read(number, &record);
      if (read.ok()) generations->push_back(record.Info());
      if (s.ok() && !read.IsNotFound()) s = read;  // it may have been deleted just now
    }
    return s;
  });
}

// Nothing is deleted meanwhile, so what is missing is damage.
Status VerifyBackup(const BackupOptions& backup, const std::string& path, uint64_t generation) {
  return NoThrow(path, [&] {
    BackupFolder folder(path);
    const Status s = folder.OpenToRead();
    return s.ok() ? Verify(backup, folder, generation) : s;
  });
}

// The record is read once; the lock keeps what it names until the database is whole.
Status RestoreBackup(const Options& options, const BackupOptions& backup, const std::string& path, uint64_t generation,
                     const std::string& directory) {
  return NoThrow(path, [&] {
    if (directory.empty()) return Status::InvalidArgument("RestoreBackup", "the directory has no name");
    BackupFolder folder(path);
    BackupRecord record;
    Status s = folder.OpenToRead();
    if (s.ok()) s = generation == 0 ? folder.ReadNewest(&record) : folder.Read(generation, &record);
    return s.ok() ? Restore(options, backup, folder, record, directory).Run() : s;
  });
}

// A generation that others share blocks with goes all the same: they have them by data file and position.
Status DeleteBackup(const std::string& path, uint64_t generation) {
  return NoThrow(path, [&] {
    if (generation == 0) return Status::InvalidArgument("DeleteBackup", "generations begin with 1");
    BackupFolder folder(path);
    Status s = folder.OpenToDelete();
    if (s.ok()) s = folder.Remove(generation);
    return s.ok() ? folder.Sweep() : s;
  });
}

}  // namespace miodb
