// Making, locking and reading a folder of backups, and removing what nobody needs in it.

#include "src/db/copy/backup_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "src/db/copy/workshop.h"
#include "src/util/files/copy_files.h"
#include "src/util/files/replace_file.h"

namespace miodb {

namespace {

// Every record is shorter: a pool of a terabyte has a record of some tens of megabytes.
constexpr uint64_t kMostRecordBytes = uint64_t{1} << 30;

// The bytes of the lock file that are locked: by whoever changes the folder, and by whoever reads what may be deleted.
constexpr int kChanging = 0;
constexpr int kReading = 1;

std::string MarkPath(const std::string& folder) { return folder + "/BACKUP"; }
std::string BackupLockPath(const std::string& folder) { return folder + "/BACKUP.lock"; }

Status MakeFolder(Env* env, const std::string& path) {
  DCHECK(env != nullptr);
  return env->FileExists(path) && !IsLink(path) ? Status::OK() : env->CreateDir(path);
}

// Parts of files, by their beginnings.
using Ranges = std::map<uint64_t, uint64_t>;

// Gives back what lies between the ranges. Where the file system cannot do that, the space stays taken.
void PunchBetween(const std::string& path, const Ranges& used) {
  const Descriptor file(OpenFile(path, O_RDWR | O_NOFOLLOW | kDontWait));
  struct stat info;
  if (!file.valid() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  uint64_t end = 0;
  const auto punch = [&](uint64_t begin) {
    if (begin <= end) return;
    const off_t from = static_cast<off_t>(end), size = static_cast<off_t>(begin - end);
    if (Retry([&] { return ::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, size); }) != 0) {
      errno = 0;
    }
  };
  for (const auto& [begin, range_end] : used) {
    punch(begin);
    end = std::max(end, range_end);
  }
  punch(static_cast<uint64_t>(info.st_size));
}

}  // namespace

BackupFolder::BackupFolder(const std::string& path, FileAccess access)
    : path_(WithoutSlashes(path)), access_(access), env_(WritingCopies(Env::WithAccess(access))) {}

// Explicitly, because a process that was forked meanwhile has the descriptor, too.
BackupFolder::~BackupFolder() {
  struct flock range = {};
  range.l_type = F_UNLCK;
  range.l_whence = SEEK_SET;
  if (lock_.valid()) Retry([&] { return ::fcntl(lock_.get(), F_OFD_SETLK, &range); });
}

std::string BackupFolder::TableName(const BackupTable& table) {
  char name[64];
  std::snprintf(name, sizeof(name), "%06llu-%016llx.sst", static_cast<unsigned long long>(table.number),
                static_cast<unsigned long long>(table.fingerprint));
  return name;
}

// Names of generations and data files have six digits, or more where the number has: so they sort as the numbers do for
// whoever looks at the folder.
std::string BackupFolder::NumberName(uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "%06llu", static_cast<unsigned long long>(number));
  return name;
}

// Other files there, for example unfinished records, have names that are no numbers.
bool BackupFolder::ParseNumberName(const std::string& name, uint64_t* number) {
  DCHECK(number != nullptr);
  *number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9' || *number > kMostId / 10) return false;
    *number = *number * 10 + static_cast<uint64_t>(c - '0');
  }
  return *number > 0 && name == NumberName(*number);
}

// pool: null, if it may be anybody's.
Status BackupFolder::CheckMark(const Uuid* pool) const {
  std::string bytes;
  Status s = ReadSmallFile(env_, MarkPath(path_), &bytes);
  if (s.IsNotFound()) return Status::InvalidArgument(path_, "is no folder of backups: the file BACKUP is not in it");
  if (!s.ok()) return s;
  Uuid owner;
  if (!DecodeBackupMark(bytes, &owner)) {
    return Status::Corruption(MarkPath(path_), "is damaged, or another version's: copy it from where it is whole");
  }
  return pool == nullptr || *pool == owner ? s : OfAnotherDatabase();
}

Status BackupFolder::OfAnotherDatabase() const {
  return Status::InvalidArgument(path_,
                                 "has backups of another database. One that was restored or repaired, or whose pool is "
                                 "anonymous, is another one: give this one a folder of its own");
}

// A folder that has lost its mark belongs to the database that the newest readable record names.
Status BackupFolder::MakeMark(const Uuid& pool) const {
  DCHECK(lock_.valid() && !Exists(MarkPath(path_)));
  std::vector<uint64_t> generations;
  Status s = List(&generations);
  BackupRecord record;
  bool known = generations.empty();
  for (auto at = generations.rbegin(); !known && at != generations.rend(); ++at) known = Decode(*at, &record).ok();
  if (s.ok() && !known) {
    s = Status::Corruption(MarkPath(path_),
                           "is missing, and no record says whose it was: copy it from where it is whole");
  }
  if (s.ok() && !generations.empty() && record.pool != pool) s = OfAnotherDatabase();
  return s.ok() ? ReplaceFile(env_, MarkPath(path_), EncodeBackupMark(pool)) : s;
}

// A single process has a part of the lock file, or several processes have it for reading. The lock goes with the
// descriptor.
Status BackupFolder::Lock(int flags, const std::vector<int>& parts, short type) {
  CHECK(!lock_.valid());
  const std::string path = BackupLockPath(path_);
  const bool reads = (flags & O_ACCMODE) == O_RDONLY;
  int fd = reads ? OpenFile(path, flags | kDontWait) : -1;
  // A folder that was copied may have come without the file.
  if (fd < 0 && (!reads || errno == ENOENT)) fd = OpenOrCreateFile(path, O_RDWR, access_, Links::kRefused);
  Descriptor file(fd);
  // On a medium that nobody can write to, a reader needs no lock.
  if (!file.valid()) return reads && (errno == EROFS || errno == EACCES) ? Status::OK() : PosixError(path, errno);
  CHECK(type == F_RDLCK || (flags & O_ACCMODE) == O_RDWR);  // what the system asks for
  for (const int part : parts) {
    struct flock range = {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = part;
    range.l_len = 1;
    if (Retry([&] { return ::fcntl(file.get(), F_OFD_SETLK, &range); }) == 0) continue;
    if (errno != EAGAIN && errno != EACCES) return PosixError(path, errno);
    return Status::IOError(path_, "is in use by another call: try again when that has ended");
  }
  lock_.Swap(&file);
  return Status::OK();
}

// A folder without a mark may have what a call leaves that was cut off while it was making it, and nothing else.
Status BackupFolder::Make(const Uuid& pool) {
  DCHECK(!path_.empty());
  if (!Exists(path_)) {
    const std::string parent = DirectoryOf(path_);
    if (!env_->FileExists(parent)) return Status::InvalidArgument(parent, "does not exist: the backup would be in it");
  }
  Status s = env_->FileExists(path_) ? Status::OK() : env_->CreateDir(path_);
  std::vector<std::string> names;
  if (s.ok()) s = env_->GetChildren(path_, &names);
  if (!s.ok()) return Status::IOError(path_, "cannot have backups: " + s.ToString());
  static const std::set<std::string> own = {".",           "..",          "BACKUP", "BACKUP.tmp",
                                            "BACKUP.lock", "generations", "data",   "tables"};
  if (Exists(StorePath(path_))) return Status::InvalidArgument(path_, "is a database, and no folder of backups");
  for (const std::string& name : names) {
    if (own.count(name) == 0 && !Exists(MarkPath(path_)))
      return Status::InvalidArgument(
          path_, "is no folder of backups and has other things in it: name an empty one or a new one");
  }
  s = Lock(O_RDWR, {kChanging}, F_WRLCK);
  for (const std::string& folder : {RecordsPath(), DataPath(), TablesPath()}) {
    if (s.ok()) s = MakeFolder(env_, folder);
  }
  if (s.ok() && !Exists(MarkPath(path_))) s = MakeMark(pool);
  // A call that was cut off may have come no further than the names.
  if (s.ok()) s = SyncDirectory(path_);
  return s.ok() ? SyncDirectoryOf(path_) : s;
}

// The mark comes after the lock: two that make the folder at the same time do it one after the other.
Status BackupFolder::OpenToAdd(const Uuid& pool) {
  const Status s = Make(pool);
  return s.ok() ? CheckMark(&pool) : s;
}

// Without a lock: a record is there as a whole or not at all.
Status BackupFolder::OpenToList() {
  DCHECK(!lock_.valid());
  return env_->FileExists(path_) ? CheckMark(nullptr) : Status::NotFound(path_, "does not exist");
}

// Deletions wait their turn while generations are read, and additions do not.
Status BackupFolder::OpenToRead() {
  const Status s = OpenToList();
  return s.ok() ? Lock(O_RDONLY, {kReading}, F_RDLCK) : s;
}

// Nobody reads and nobody adds while something goes.
Status BackupFolder::OpenToDelete() {
  const Status s = OpenToList();
  return s.ok() ? Lock(O_RDWR, {kChanging, kReading}, F_WRLCK) : s;
}

Status BackupFolder::Numbers(const std::string& folder, std::vector<uint64_t>* numbers) const {
  DCHECK(numbers->empty());
  std::vector<std::string> names;
  const Status s = env_->GetChildren(folder, &names);
  uint64_t number;
  for (const std::string& name : names) {
    if (s.ok() && ParseNumberName(name, &number)) numbers->push_back(number);
  }
  std::sort(numbers->begin(), numbers->end());
  return s;
}

Status BackupFolder::List(std::vector<uint64_t>* generations) const {
  DCHECK(generations != nullptr);
  generations->clear();
  return Numbers(RecordsPath(), generations);
}

Status BackupFolder::Damaged(uint64_t generation) const {
  DCHECK_GT(generation, 0u);
  return Status::Corruption(RecordPath(generation), "the record of generation " + std::to_string(generation) +
                                                        " is damaged, or another version's: delete the generation");
}

// The number is in the record as well: a file that was renamed is none. The record may be of any pool.
Status BackupFolder::Decode(uint64_t generation, BackupRecord* record) const {
  CHECK_GT(generation, 0u);
  const std::string path = RecordPath(generation);
  if (!env_->FileExists(path)) return Status::NotFound(path_, "has no generation " + std::to_string(generation));
  std::string bytes;
  uint64_t size = 0;
  Status s = env_->GetFileSize(path, &size);
  if (s.ok() && size <= kMostRecordBytes) s = ReadFileToString(env_, path, &bytes);
  if (!s.ok() || (record->DecodeFrom(bytes) && record->generation == generation)) return s;
  *record = BackupRecord();
  return Damaged(generation);
}

// So is the owner: a record that was copied from another folder is none.
Status BackupFolder::Read(uint64_t generation, BackupRecord* record) const {
  Status s = Decode(generation, record);
  std::string mark;
  if (s.ok()) s = ReadSmallFile(env_, MarkPath(path_), &mark);
  Uuid pool;
  if (s.ok() && (!DecodeBackupMark(mark, &pool) || pool != record->pool)) s = Damaged(generation);
  if (!s.ok()) *record = BackupRecord();
  return s;
}

Status BackupFolder::HeldTables(uint64_t secret, TableHashes* held) const {
  DCHECK(held->empty());
  std::vector<uint64_t> generations;
  Status s = List(&generations);
  for (const uint64_t generation : generations) {
    BackupRecord record;
    if (s.ok()) s = Read(generation, &record);
    if (record.secret != secret) continue;
    for (const BackupTable& table : record.tables) held->emplace(TablePath(table), table.hash);
  }
  return s;
}

// Numbers rise, so the last one is the newest.
Status BackupFolder::ReadNewest(BackupRecord* record) const {
  DCHECK(record != nullptr);
  std::vector<uint64_t> generations;
  Status s = List(&generations);
  if (!s.ok()) return s;
  if (generations.empty()) return Status::NotFound(path_, "has no generation");
  s = Read(generations.back(), record);
  // A record that is listed and cannot be seen does not count as absent, or else the data of its generation would be
  // written over.
  return s.IsNotFound() ? Status::IOError(RecordPath(generations.back()), "is listed, and cannot be seen") : s;
}

// The record is the last to become durable, and the first to go: so all that a record names is there.
Status BackupFolder::Publish(const BackupRecord& record) const {
  CHECK(lock_.valid() && record.generation > 0);
  const std::string path = RecordPath(record.generation), bytes = record.Encode();
  if (bytes.size() > kMostRecordBytes) {
    return Status::NotSupported(path, "the record would have " + std::to_string(bytes.size()) +
                                          " bytes, and none of more than " + std::to_string(kMostRecordBytes) +
                                          " is read: the pool has too many blocks");
  }
  Status s = ReplaceFile(env_, path, bytes);
  if (s.ok()) s = SyncDirectory(RecordsPath());
  if (!s.ok() && env_->FileExists(path)) env_->RemoveFile(path).IgnoreError();  // a generation that may not last
  return s;
}

// From here on nobody finds it; the space of what it had comes free by Sweep.
Status BackupFolder::Remove(uint64_t generation) const {
  CHECK(lock_.valid());
  const Status s = env_->RemoveFile(RecordPath(generation));
  if (s.IsNotFound()) return Status::NotFound(path_, "has no generation " + std::to_string(generation));
  return s.ok() ? SyncDirectory(RecordsPath()) : s;
}

// Nothing is removed as long as a record cannot be read: what it names is not known.
Status BackupFolder::Sweep() const {
  CHECK(lock_.valid());
  std::vector<uint64_t> generations, files;
  Status s = List(&generations);
  std::map<uint64_t, Ranges> used;
  std::set<std::string> tables = {".", ".."};
  for (const uint64_t generation : generations) {
    BackupRecord record;
    if (s.ok()) s = Read(generation, &record);
    for (const BackupExtent& extent : record.extents) {
      for (const BackupBlock& block : extent.blocks) {
        used[block.file][block.position] = block.position + kBlockHeaderBytes + block.bytes;
      }
    }
    for (const BackupTable& table : record.tables) tables.insert(TableName(table));
  }
  if (s.ok()) s = Numbers(DataPath(), &files);
  std::vector<std::string> names;
  if (s.ok()) s = env_->GetChildren(TablesPath(), &names);
  if (!s.ok()) return s;
  for (const uint64_t file : files) {
    const auto found = used.find(file);
    if (found == used.end()) {
      s = env_->RemoveFile(DataPath(file));
    } else {
      PunchBetween(DataPath(file), found->second);
    }
    if (!s.ok()) return s;
  }
  for (const std::string& name : names) {
    if (s.ok() && tables.count(name) == 0) s = env_->RemoveFile(TablesPath() + "/" + name);
  }
  return s;
}

}  // namespace miodb
