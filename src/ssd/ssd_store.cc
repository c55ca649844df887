#include "src/ssd/ssd_store.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "src/api/types/table_bloom.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"
#include "src/util/files/held_lock.h"

namespace miodb {

namespace {

// LevelDB's cache has this size, too, where the user gives none.
constexpr size_t kOwnCacheBytes = 8 << 20;

// A table cache has at least this many places, one for each of its parts.
constexpr int kLeastOpenFiles = 16;

std::string PoolIdPath(const std::string& path) { return path + "/POOL"; }
std::string SsdLockPath(const std::string& path) { return path + "/LOCK"; }

void DeleteRecord(const Slice&, void* value) { delete static_cast<std::string*>(value); }
void DeleteReader(const Slice&, void* value) { delete static_cast<SstReader*>(value); }

// Counts what is written and keeps it down to the rate.
class MeteredFile final : public WritableFile {
 public:
  MeteredFile(WritableFile* target, RateLimiter* limiter, std::atomic<uint64_t>* bytes)
      : target_(target), limiter_(limiter), bytes_(bytes) {}

  Status Append(const Slice& data) override {
    limiter_->Request(data.size());
    bytes_->fetch_add(data.size(), std::memory_order_relaxed);  // relaxed: a statistic
    return target_->Append(data);
  }
  Status Close() override { return target_->Close(); }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }

 private:
  const std::unique_ptr<WritableFile> target_;
  RateLimiter* const limiter_;
  std::atomic<uint64_t>* const bytes_;
};

bool ParseTableName(const std::string& name, uint64_t* number) {
  size_t digits = 0;
  while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') digits++;
  const std::string suffix = name.substr(digits);
  if (digits == 0 || digits > 19 || (suffix != ".sst" && suffix != ".ldb")) return false;
  *number = strtoull(name.c_str(), nullptr, 10);
  return true;
}

// A reader has no lock, so a repair may have put another directory under the name. The files of that directory are no
// sign of damage in the directory that was opened.
Status UnlessReplaced(const Status& s, Env* env, const std::string& path, uint64_t pool_id) {
  DCHECK(env != nullptr && !path.empty());
  OwnerMark mark;
  if (!s.IsCorruption() || (SsdStore::ReadMark(env, path, &mark).ok() && mark.id == pool_id)) return s;
  return Status::IOError(path, "was removed or replaced since the reader was opened: open a new one");
}

}  // namespace

SstFile::~SstFile() {
  if (obsolete_.load(std::memory_order_relaxed)) store_->Discard(meta_->number);  // relaxed: see MarkObsolete
}

SsdStore::SsdStore(const Options& options, const std::atomic<bool>* has_families)
    : options_(options),
      comparator_(KeyOrder(options.comparator, has_families)),
      own_cache_(options.block_cache == nullptr ? NewLRUCache(kOwnCacheBytes) : nullptr),
      block_cache_(options.block_cache == nullptr ? own_cache_.get() : options.block_cache),
      tables_(NewLRUCache(static_cast<size_t>(std::max(options.max_open_files, kLeastOpenFiles)))),
      limiter_(options.ssd_rate_limit),
      records_id_(block_cache_->NewId()) {
  const FilterPolicy* policy = options.filter_policy;
  if (policy == nullptr && options.filter_bits_per_key > 0 && order().bytewise()) {
    own_policy_ = NewTableBloomPolicy(options.filter_bits_per_key);
    policy = own_policy_.get();
  }
  format_ = SstFormatOf(options);
  format_.comparator = &comparator_;
  format_.filter_policy = nullptr;
  if (policy != nullptr) {
    policy_ = std::make_unique<InternalFilterPolicy>(policy);
    format_.filter_policy = policy_.get();
  }
}

// A file that is not removed for want of memory is an orphan, until the next open.
SsdStore::~SsdStore() {
  NoThrow(options_.ssd_path, [this] { return RemoveDiscarded(), Status::OK(); }).IgnoreError();
  if (lock_ != nullptr) options_.env->UnlockFile(lock_).IgnoreError();
}

std::string SsdStore::TableName(uint64_t number) {
  char name[32];
  snprintf(name, sizeof(name), "%06" PRIu64 ".sst", number);
  return name;
}

// The lock comes first, so that two databases with one directory cannot both find it free.
Status SsdStore::Open(const Options& options, uint64_t pool_id, std::unique_ptr<SsdStore>* store,
                      const std::atomic<bool>* has_families) {
  std::unique_ptr<SsdStore> fresh(new SsdStore(options, has_families));
  if (!options.env->FileExists(options.ssd_path)) {
    Status s = options.env->CreateDir(options.ssd_path);
    if (!s.ok()) return Status::IOError(options.ssd_path, "cannot create the directory: " + s.ToString());
  }
  Status s = options.env->LockFile(SsdLockPath(options.ssd_path), &fresh->lock_);
  if (s.ok()) s = fresh->Claim(pool_id);
  if (s.ok()) s = fresh->CheckDirectAccess();
  if (s.ok()) *store = std::move(fresh);
  return s;
}

// The reader neither locks nor marks the folder: the owner does both. The manifest that the reader follows says which
// files count.
Status SsdStore::OpenForReader(const Options& options, uint64_t pool_id, std::unique_ptr<SsdStore>* store,
                               const std::atomic<bool>* has_families) {
  DCHECK(*store == nullptr);
  std::unique_ptr<SsdStore> fresh(new SsdStore(options, has_families));
  OwnerMark mark;
  Status s = ReadMark(options.env, options.ssd_path, &mark);
  if (s.ok() && mark.id != pool_id) s = Status::InvalidArgument(options.ssd_path, "is the SSD tier of another pool");
  fresh->pool_id_ = pool_id;
  if (s.ok()) *store = std::move(fresh);
  return s;
}

// Makes sure that the directory is this pool's, and marks a new one as such.
Status SsdStore::Claim(uint64_t pool_id) {
  Env* const env = options_.env;
  const std::string path = PoolIdPath(options_.ssd_path);
  OwnerMark mark;
  Status s = ReadMark(env, options_.ssd_path, &mark);
  const bool owned = !s.IsNotFound();
  pool_id_ = pool_id;
  if (owned && !s.ok()) return s;
  if (owned && mark.id == pool_id) {
    marked_epoch_.store(mark.epoch, std::memory_order_relaxed);  // relaxed: as in marked_epoch
    // Synced again, because the process that wrote it may have come no further.
    return MIODB_MUTATED(kSsdOwnerUnsynced) ? s : SyncExistingFile(env, path);
  }
  TableFiles files;
  s = FindTables(env, options_.ssd_path, &files);
  if (!s.ok()) return s;
  if (!files.empty() || env->FileExists(options_.ssd_path + "/CURRENT")) {
    const char* const what =
        owned ? "is the SSD tier of another pool (its file POOL says whose): name the database's own. "
                "If a repair was cut off, RepairDB finishes it"
              : "holds table files, but no file POOL that says whose: put it back, or name another";
    return Status::InvalidArgument(options_.ssd_path, what);
  }
  // A directory without table files is nobody's, or that of a database whose making a crash cut off before its pool
  // had a name. The mark is synced with its name before there is any table file, whose name could be durable first.
  return WriteMark(env, options_.ssd_path, pool_id, 0);
}

// Synced twice, as a file and by its name: else the next open could refuse the table files as nobody's.
Status SsdStore::WriteMark(Env* env, const std::string& path, uint64_t pool_id, uint64_t epoch) {
  const OwnerMark mark = {OwnerKind::kSsd, pool_id, pool_id, epoch};
  const bool is_synced = !MIODB_MUTATED(kSsdOwnerUnsynced);
  Status s = ReplaceFile(env, PoolIdPath(path), mark.Encode(), is_synced ? Synced::kYes : Synced::kNo);
  return s.ok() && is_synced ? SyncExistingFile(env, PoolIdPath(path)) : s;
}

// The lock is held over the replacement, because two SSD threads may come by at once.
Status SsdStore::MarkEpoch(uint64_t epoch) {
  MutexLock lock(&mark_mutex_);
  CHECK(lock_ != nullptr);  // the directory is this store's
  if (epoch <= marked_epoch()) return Status::OK();
  Status s = WriteMark(options_.env, path(), pool_id_, epoch);
  if (s.ok()) marked_epoch_.store(epoch, std::memory_order_relaxed);  // relaxed: as in marked_epoch
  return s;
}

Status SsdStore::CheckDirectAccess() const {
  const std::string path = PoolIdPath(options_.ssd_path);
  if (options_.use_direct_reads) {
    RandomAccessFile* opened = nullptr;
    Status s = options_.env->NewDirectRandomAccessFile(path, &opened);
    delete opened;
    if (!s.ok()) return s;
  }
  if (options_.use_direct_io_for_flush_and_compaction) {
    const std::string probe = path + ".tmp";
    WritableFile* opened = nullptr;
    Status s = options_.env->NewDirectWritableFile(probe, &opened);
    delete opened;
    options_.env->RemoveFile(probe).IgnoreError();
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status SsdStore::OpenForReading(const std::string& name, RandomAccessFile** file) const {
  return options_.use_direct_reads ? options_.env->NewDirectRandomAccessFile(name, file)
                                   : options_.env->NewRandomAccessFile(name, file);
}

Status SsdStore::FindTables(Env* env, const std::string& path, TableFiles* files) {
  std::vector<std::string> names;
  Status s = env->GetChildren(path, &names);
  if (!s.ok()) return s;
  for (const std::string& name : names) {
    uint64_t number;
    if (ParseTableName(name, &number)) files->emplace_back(number, path + "/" + name);
  }
  return s;
}

Status SsdStore::Destroy(Env* env, const std::string& path) {
  if (!env->FileExists(path)) return Status::OK();
  HeldLock lock(env);
  Status s = lock.Lock(SsdLockPath(path));
  if (!s.ok()) return s;
  TableFiles files;
  // Without the mark a crash came before there was a table file, or behind the removal of the last one.
  const bool is_marked = env->FileExists(PoolIdPath(path));
  if (is_marked) s = FindTables(env, path, &files);
  for (const auto& [number, name] : files) {
    if (s.ok()) s = env->RemoveFile(name);
  }
  // Last what says whose the files are, so that a removal that was cut off can be repeated.
  for (const std::string& name : {PoolIdPath(path) + ".tmp", SsdLockPath(path), PoolIdPath(path)}) {
    if (s.ok() && env->FileExists(name)) s = env->RemoveFile(name);
  }
  lock.Unlock();
  if (s.ok()) env->RemoveDir(path).IgnoreError();  // foreign files stay, and the directory with them
  return s;
}

Status SsdStore::ReadMark(Env* env, const std::string& path, OwnerMark* mark) {
  std::string content;
  Status s = ReadSmallFile(env, PoolIdPath(path), &content);
  if (!s.ok() || mark->DecodeFrom(content, OwnerKind::kSsd)) return s;
  return Status::Corruption(PoolIdPath(path), "does not say whose SSD tier this is");
}

Status SsdStore::FindOwner(Env* env, const std::string& path, std::optional<uint64_t>* pool_id) {
  uint64_t id = 0;
  pool_id->reset();
  const Status s = ReadOwner(env, path, &id);
  if (s.IsNotFound() || s.IsCorruption()) return Status::OK();
  if (s.ok()) *pool_id = id;
  return s;
}

Status SsdStore::ReadOwner(Env* env, const std::string& path, uint64_t* pool_id) {
  OwnerMark mark;
  Status s = ReadMark(env, path, &mark);
  if (s.ok()) *pool_id = mark.id;
  return s;
}

Status SsdStore::ListFiles(std::vector<uint64_t>* numbers) const {
  TableFiles files;
  Status s = FindTables(options_.env, path(), &files);
  for (const auto& [number, name] : files) {
    if (name == FileName(number)) numbers->push_back(number);
  }
  std::sort(numbers->begin(), numbers->end());
  return s;
}

Status SsdStore::ReadMeta(uint64_t number, SstMeta* meta) const {
  const std::string name = FileName(number);
  meta->number = number;
  RandomAccessFile* opened = nullptr;
  Status s = options_.env->GetFileSize(name, &meta->size);
  if (s.ok()) s = OpenForReading(name, &opened);
  if (!s.ok()) return s;
  std::unique_ptr<SstReader> reader;
  s = SstReader::Open(format_, std::shared_ptr<const RandomAccessFile>(opened), name, meta->size, Checksums::kVerify,
                      nullptr, &reader);
  if (s.ok()) meta->fingerprint = reader->fingerprint();
  return s;
}

Status SsdStore::CheckFile(const SstMeta& meta) const {
  const std::string name = FileName(meta.number);
  uint64_t size;
  Status s = options_.env->GetFileSize(name, &size);
  if (s.IsNotFound()) s = Status::Corruption(name, "missing: the manifest names it");
  if (s.ok() && size != meta.size && !MIODB_MUTATED(kSsdSizeUnchecked)) {
    s = Status::Corruption(name,
                           "has " + std::to_string(size) + " bytes, the manifest says " + std::to_string(meta.size));
  }
  return lock_ == nullptr ? UnlessReplaced(s, options_.env, path(), pool_id_) : s;
}

Status SsdStore::ReadRange(SstMeta* meta) const {
  Pin table;
  Status s = OpenTable(*meta, &table);
  if (!s.ok()) return s;
  const std::unique_ptr<Iterator> it(table->NewIterator({Checksums::kVerify, false}));
  const auto read = [&](std::string* key) {
    if (it->Valid() && it->key().size() >= kInternalTagBytes) {
      *key = UserKeyOf(it->key()).ToString();
      return Status::OK();
    }
    return it->status().ok() ? Status::Corruption(FileName(meta->number), "has no first or last key") : it->status();
  };
  it->SeekToFirst();
  s = read(&meta->smallest);
  if (!s.ok()) return s;
  it->SeekToLast();
  s = read(&meta->largest);
  meta->has_range = s.ok();
  return s;
}

// An orphan that waits to be removed may have the number, if no edit told of ids that were given: no reader knows it.
Status SsdStore::NewFile(uint64_t number, std::unique_ptr<WritableFile>* file) {
  WritableFile* opened = nullptr;
  const std::string name = FileName(number);
  {
    MutexLock lock(&mutex_);
    if (discarded_.erase(number) > 0) options_.env->RemoveFile(name).IgnoreError();
  }
  Status s = options_.use_direct_io_for_flush_and_compaction ? options_.env->NewDirectWritableFile(name, &opened)
                                                             : options_.env->NewWritableFile(name, &opened);
  if (!s.ok()) return s;
  std::unique_ptr<WritableFile> target(opened);
  *file = std::make_unique<MeteredFile>(target.get(), &limiter_, &bytes_written_);
  target.release();  // the metered file's
  return s;
}

// Two threads may open one file at once; the later table replaces the earlier in the cache, and both are good. A file
// of the right name and size may still be another one's, put back from somewhere: the fingerprint tells.
Status SsdStore::OpenTable(const SstMeta& meta, Pin* pin) const {
  pin->Reset();
  char key[8];
  EncodeFixed64(key, meta.number);
  Cache::Handle* handle = tables_->Lookup(Slice(key, sizeof(key)));
  if (handle == nullptr) {
    const std::string name = FileName(meta.number);
    RandomAccessFile* opened = nullptr;
    Status s = OpenForReading(name, &opened);
    if (s.IsNotFound()) s = Status::Corruption(name, "missing: the manifest names it");
    const std::shared_ptr<const RandomAccessFile> file(opened);
    std::unique_ptr<SstReader> reader;
    if (s.ok())
      s = SstReader::Open(format_, file, name, meta.size, ChecksumsIf(options_.paranoid_checks), block_cache_, &reader);
    if (s.ok() && reader->fingerprint() != meta.fingerprint && !MIODB_MUTATED(kSsdFileUnidentified)) {
      s = Status::Corruption(name, "is not the file that the manifest means");
    }
    if (!s.ok()) return lock_ == nullptr ? UnlessReplaced(s, options_.env, path(), pool_id_) : s;
    if (trace_ != nullptr) reader->TraceTo(trace_, meta.number);
    handle = tables_->Insert(Slice(key, sizeof(key)), reader.get(), 1, &DeleteReader);
    reader.release();  // the cache's
  }
  pin->cache_ = tables_.get();
  pin->handle_ = handle;
  pin->reader_ = static_cast<const SstReader*>(tables_->Value(handle));
  return Status::OK();
}

// The key of a record in the block cache.
std::string SsdStore::RecordKey(const SstFile& file, const LookupKey& key) const {
  std::string result;
  result.reserve(2 * sizeof(uint64_t) + key.key.size());
  PutFixed64(&result, records_id_);
  PutFixed64(&result, file.meta().number);
  result.append(key.key.data(), key.key.size());
  return result;
}

// A record in the cache is the newest of its file: right for every read that may see it.
bool SsdStore::GetCached(const Slice& cache_key, const LookupKey& key, BlockPin* pin, RecordView* record) const {
  Cache::Handle* const handle = block_cache_->Lookup(cache_key);
  if (handle == nullptr) return false;
  pin->Hold(block_cache_, handle);
  const std::string& bytes = *static_cast<const std::string*>(block_cache_->Value(handle));
  DCHECK_GE(bytes.size(), kInternalTagBytes);
  record->begin = nullptr;
  record->tag = DecodeFixed64(bytes.data());
  record->key = key.key;
  record->value = Slice(bytes.data() + kInternalTagBytes, bytes.size() - kInternalTagBytes);
  if (record->sequence() <= key.sequence) return true;
  pin->Reset();
  return false;
}

void SsdStore::KeepRecord(const Slice& cache_key, const RecordView& record) const {
  auto bytes = std::make_unique<std::string>();
  bytes->reserve(kInternalTagBytes + record.value.size());
  PutFixed64(bytes.get(), record.tag);
  bytes->append(record.value.data(), record.value.size());
  const size_t charge = sizeof(*bytes) + bytes->capacity() + cache_key.size();
  block_cache_->Release(block_cache_->Insert(cache_key, bytes.get(), charge, &DeleteRecord));
  bytes.release();  // the cache's
}

// The get goes from cheap to dear: the filter in memory, the record in the cache, the block in the cache, the disk. A
// record is kept only if the read saw the newest version of the file (newest): one that an older snapshot found may be
// hidden by others. A file is immutable, so a record that is kept stays right as long as the file has its number.
Status SsdStore::Get(const SstFile& file, const LookupKey& key, const SstReader::ReadMode& read_mode, bool newest,
                     BlockPin* pin, bool* found, RecordView* record) const {
  Pin table;
  Status s = OpenTable(file.meta(), &table);
  if (!s.ok()) return s;
  const std::string seek_key = SeekKey(key.key, key.sequence);
  *found = false;
  if (!table->MayHave(seek_key)) return s;  // before the cache, whose misses cost more
  const std::string cache_key = RecordKey(file, key);
  *found = GetCached(cache_key, key, pin, record);
  if (*found) return Status::OK();
  SstReader::ReadMode mode = read_mode;
  mode.recent = &recent_;
  std::string found_key;
  bool any;
  s = table->Find(mode, seek_key, pin, &any, &found_key, &record->value);
  if (!s.ok() || !any || !order().Equal(UserKeyOf(found_key), key.key)) return s;
  record->begin = nullptr;
  record->tag = TagOf(found_key);
  record->key = key.key;
  if (!IsKnownType(record->type())) return Status::Corruption(FileName(file.meta().number), "unknown value type");
  *found = true;
  if (mode.fill_cache && newest && !pin->cached()) KeepRecord(cache_key, *record);
  return s;
}

bool SsdStore::PlanGet(const SstFile& file, const LookupKey& key, BlockReads* reads) const {
  Pin table;
  if (!OpenTable(file.meta(), &table).ok()) return true;
  const std::string seek_key = SeekKey(key.key, key.sequence);
  if (!table->MayHave(seek_key)) return false;
  BlockPin pin;
  RecordView record;
  return GetCached(RecordKey(file, key), key, &pin, &record) || table->PlanFind(seek_key, reads);
}

}  // namespace miodb
