// The database object: each call of the API, as far as it is more than a call of the part that does it.

#include "src/db/open/db_impl.h"

#include <algorithm>

#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/open/db_parts.h"
#include "src/util/check/no_throw.h"

// The calls of the API. Each is told where its part stands: write_path.cc, read_path.cc, multi_get.cc, requests.cc,
// properties.cc; the open and the close in db_open.cc, regions in db_regions.cc.

namespace miodb {

Snapshot::~Snapshot() = default;
DB::~DB() = default;

namespace {

// A write as a batch of one, which a class that has its own Write knows or refuses.
template <typename Fill>
Status WriteOne(DB* db, const WriteOptions& options, Fill fill) {
  WriteBatch batch;
  const Status s = NoThrow("WriteBatch", [&] {
    fill(&batch);
    return Status::OK();
  });
  return s.ok() ? db->Write(options, &batch) : s;
}

}  // namespace

// For classes that implement DB by Write alone. Without a handle a batch takes the update as one of the default family.
Status DB::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  return DB::Put(options, nullptr, key, value);
}
Status DB::Delete(const WriteOptions& options, const Slice& key) { return DB::Delete(options, nullptr, key); }
Status DB::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
  return WriteOne(this, options, [&](WriteBatch* batch) { batch->Put(family, key, value); });
}
Status DB::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  return WriteOne(this, options, [&](WriteBatch* batch) { batch->Delete(family, key); });
}
Status DB::Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& operand) {
  return WriteOne(this, options, [&](WriteBatch* batch) { batch->Merge(family, key, operand); });
}
Status DB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  return WriteOne(this, options, [&](WriteBatch* batch) { batch->SingleDelete(family, key); });
}
Status DB::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin, const Slice& end) {
  return WriteOne(this, options, [&](WriteBatch* batch) { batch->DeleteRange(family, begin, end); });
}

Status DB::WriteIfUnchanged(const WriteOptions&, WriteBatch*, const std::vector<KeyAsOf>&) {
  return Status::NotSupported("this DB has no WriteIfUnchanged");
}

// Numbers that no class has to have.
uint64_t DB::GetLatestSequenceNumber() const { return 0; }
uint64_t Snapshot::GetSequenceNumber() const { return 0; }

Status DB::Get(const ReadOptions&, const Slice&, PinnableSlice*) {
  return Status::NotSupported("this DB has no pinned reads");
}

Status DB::GetWithExpiry(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                         uint64_t* expiry_micros) {
  DCHECK(expiry_micros != nullptr);
  *expiry_micros = UINT64_MAX;
  return family == nullptr ? Get(options, key, value) : Get(options, family, key, value);
}

// Calls that LevelDB does not have, for classes that were written for LevelDB's interface.
Status DB::Flush() { return Status::NotSupported("this DB has no Flush"); }
void DB::StopWaiting() {}
Status DB::WaitForIdle() { return Status::NotSupported("this DB has no WaitForIdle"); }
Status DB::StartTrace(const TraceOptions&, std::unique_ptr<TraceWriter>) {
  return Status::NotSupported("this DB has no StartTrace");
}

Status DB::AddRegion(const NvmRegion&) { return Status::NotSupported("this DB has no AddRegion"); }
Status DB::EndTrace() { return Status::NotSupported("this DB has no EndTrace"); }

namespace {

Status DbWithoutFamilies() { return Status::NotSupported("this DB has no column families"); }
Status NoSavepoints() { return Status::NotSupported("this DB has no savepoints"); }

// Many gets by one call for each, all as of one moment.
template <typename Value>
std::vector<Status> GetEach(DB* db, const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                            const std::vector<Slice>& keys, std::vector<Value>* values) {
  if (!families.empty()) return std::vector<Status>(keys.size(), DbWithoutFamilies());
  ReadOptions at_once = options;
  if (options.snapshot == nullptr) at_once.snapshot = db->GetSnapshot();
  std::vector<Status> statuses;
  Status s = NoThrow("MultiGet", [&] {
    statuses.resize(keys.size());
    values->resize(keys.size());
    for (size_t i = 0; i < keys.size(); i++) statuses[i] = db->Get(at_once, keys[i], &(*values)[i]);
    return Status::OK();
  });
  if (!s.ok()) std::fill(statuses.begin(), statuses.end(), s);
  if (options.snapshot == nullptr) db->ReleaseSnapshot(at_once.snapshot);
  return statuses;
}

}  // namespace

Status DB::CreateSavepoint(const Slice&) { return NoSavepoints(); }
Status DB::DropSavepoint(const Slice&) { return NoSavepoints(); }
Status DB::ListSavepoints(std::vector<SavepointInfo>*) { return NoSavepoints(); }
Status DB::OpenSavepoint(const Slice&, DB**) { return NoSavepoints(); }
Status DB::CreateCheckpoint(const std::string&) { return Status::NotSupported("this DB has no checkpoints"); }
Status DB::CreateBackup(const BackupOptions&, const std::string&, BackupInfo*) {
  return Status::NotSupported("this DB has no backups");
}
Status DB::GetUpdatesSince(uint64_t, std::unique_ptr<UpdateIterator>* updates) {
  updates->reset();
  return Status::NotSupported("this DB has no update stream");
}
Status DB::FollowSource(const Slice&) { return Status::NotSupported("this DB follows no source"); }

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  return GetEach(this, options, families, keys, values);
}

// Pins that the slices hold are released first, also for keys that are not found.
std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                 const std::vector<Slice>& keys, std::vector<PinnableSlice>* values) {
  values->clear();
  return GetEach(this, options, families, keys, values);
}

// A class that knows no better says that any key may be there, which is never wrong.
bool DB::KeyMayExist(const ReadOptions&, ColumnFamilyHandle*, const Slice&, std::string*, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  return true;
}

// For classes that have no families.
Status DB::CreateColumnFamily(const std::string&, ColumnFamilyHandle**) { return DbWithoutFamilies(); }
Status DB::GetColumnFamily(const std::string&, ColumnFamilyHandle**) { return DbWithoutFamilies(); }
Status DB::DropColumnFamily(ColumnFamilyHandle*) { return DbWithoutFamilies(); }
Status DB::ListColumnFamilies(std::vector<std::string>*) { return DbWithoutFamilies(); }
ColumnFamilyHandle* DB::DefaultColumnFamily() { return nullptr; }
Status DB::Get(const ReadOptions&, ColumnFamilyHandle*, const Slice&, std::string*) { return DbWithoutFamilies(); }
Status DB::Get(const ReadOptions&, ColumnFamilyHandle*, const Slice&, PinnableSlice*) { return DbWithoutFamilies(); }
Iterator* DB::NewIterator(const ReadOptions&, ColumnFamilyHandle*) { return NewErrorIterator(DbWithoutFamilies()); }
bool DB::GetProperty(ColumnFamilyHandle*, const Slice&, std::string*) { return false; }
void DB::GetApproximateSizes(ColumnFamilyHandle*, const Range*, int n, uint64_t* sizes) {
  std::fill(sizes, sizes + n, 0);
}
void DB::CompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) {}

// ---- writes

Status DBImpl::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  return write_->Update(options, kBatchPut, key, value);
}

Status DBImpl::Delete(const WriteOptions& options, const Slice& key) {
  return write_->Update(options, kBatchDeletion, key, Slice());
}

Status DBImpl::Write(const WriteOptions& options, WriteBatch* updates) { return write_->Write(options, updates); }

// ---- reads, as far as they are this database's own (the rest: read_calls.cc)

// A snapshot may have kept what a full pool could have freed: the next write that finds no room has to try once more.
void DBImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  FamilyCalls::ReleaseSnapshot(snapshot);
  if (snapshot != nullptr && !context_->fork_guard.InChild()) space_->ForgetReclaimed();
}

// Without memory the call returns false, because LevelDB's call cannot report another reason.
bool DBImpl::GetProperty(const Slice& property, std::string* value) {
  if (context_->fork_guard.InChild()) return false;
  try {
    if (property == Slice("miodb.column-families")) {
      *value = families()->Describe();
      return true;
    }
    if (property == Slice("miodb.next-family-id")) {
      *value = std::to_string(families()->NextId());
      return true;
    }
    if (property == Slice("miodb.identity")) {
      *value = UuidText(context_->pool->uuid());
      return true;
    }
    if (property == Slice("miodb.origin")) {
      *value = store_->OriginText();
      return true;
    }
    return properties_->Get(property, value);
  } catch (const std::exception&) {
    return false;
  }
}

// ---- background work

Status DBImpl::Flush() {
  return context_->WithMemory([this] { return requests_->Flush(); });
}

// LevelDB's call returns nothing, so what went wrong is in the info log and in a property.
void DBImpl::CompactRange(const Slice* begin, const Slice* end) {
  if (begin != nullptr && end != nullptr && context_->order.Compare(*begin, *end) > 0) return;
  const Status s = context_->WithMemory([&] {
    const Status compacted = requests_->CompactRange(begin, end);
    if (!compacted.ok()) context_->LogStatus("CompactRange", compacted);
    DbLock lock(control_.get());
    control_->NoteCompaction(compacted);
    return compacted;
  });
  s.IgnoreError();
}

Status DBImpl::WaitForIdle() {
  return context_->WithMemory([this] { return requests_->WaitForIdle(); });
}

// In a child nobody waits, and the mutex may be held by a thread that the child does not have.
void DBImpl::StopWaiting() {
  if (context_->fork_guard.InChild()) return;
  DbLock lock(control_.get());
  control_->StopWaiting();
}

bool DBImpl::RunStep(Step step) { return workers_->Run(step); }

// ---- traces

Status DBImpl::StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter> writer) {
  return context_->WithMemory([&] { return context_->tracer.Start(options, std::move(writer)); });
}

// An InvalidArgument says that no trace was running, which is no news of the database's.
Status DBImpl::EndTrace() {
  return context_->WithMemory([this] {
    Status s = context_->tracer.End();
    if (!s.ok() && !s.IsInvalidArgument()) context_->LogStatus("trace", s);
    return s;
  });
}

}  // namespace miodb
