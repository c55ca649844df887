// From handles to keys. Every call that can fail goes through WithMemory, as those without a handle do.

#include "src/db/calls/family_calls.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/calls/families.h"
#include "src/db/context/db_context.h"
#include "src/util/check/check.h"

namespace miodb {

// For classes that have no families.
namespace {

Status DbWithoutFamilies() { return Status::NotSupported("this DB has no column families"); }

}  // namespace

Status DB::CreateColumnFamily(const std::string&, ColumnFamilyHandle**) { return DbWithoutFamilies(); }
Status DB::GetColumnFamily(const std::string&, ColumnFamilyHandle**) { return DbWithoutFamilies(); }
Status DB::DropColumnFamily(ColumnFamilyHandle*) { return DbWithoutFamilies(); }
Status DB::ListColumnFamilies(std::vector<std::string>*) { return DbWithoutFamilies(); }
ColumnFamilyHandle* DB::DefaultColumnFamily() { return nullptr; }
Status DB::Put(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) { return DbWithoutFamilies(); }
Status DB::Delete(const WriteOptions&, ColumnFamilyHandle*, const Slice&) { return DbWithoutFamilies(); }
Status DB::Merge(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) { return DbWithoutFamilies(); }
Status DB::SingleDelete(const WriteOptions&, ColumnFamilyHandle*, const Slice&) { return DbWithoutFamilies(); }
Status DB::DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) {
  return DbWithoutFamilies();
}
Status DB::Get(const ReadOptions&, ColumnFamilyHandle*, const Slice&, std::string*) { return DbWithoutFamilies(); }
Status DB::Get(const ReadOptions&, ColumnFamilyHandle*, const Slice&, PinnableSlice*) { return DbWithoutFamilies(); }
// A class without families cannot rule a key out, so its answer is that the key may exist.
bool DB::KeyMayExist(const ReadOptions&, ColumnFamilyHandle*, const Slice&, std::string*, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  return true;
}
std::vector<Status> DB::MultiGet(const ReadOptions&, const std::vector<ColumnFamilyHandle*>&,
                                 const std::vector<Slice>& keys, std::vector<std::string>*) {
  return std::vector<Status>(keys.size(), DbWithoutFamilies());
}
std::vector<Status> DB::MultiGet(const ReadOptions&, const std::vector<ColumnFamilyHandle*>&,
                                 const std::vector<Slice>& keys, std::vector<PinnableSlice>*) {
  return std::vector<Status>(keys.size(), DbWithoutFamilies());
}
Iterator* DB::NewIterator(const ReadOptions&, ColumnFamilyHandle*) { return NewErrorIterator(DbWithoutFamilies()); }
bool DB::GetProperty(ColumnFamilyHandle*, const Slice&, std::string*) { return false; }
void DB::GetApproximateSizes(ColumnFamilyHandle*, const Range*, int n, uint64_t* sizes) {
  std::fill(sizes, sizes + n, 0);
}
void DB::CompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) {}

FamilyCalls::FamilyCalls() = default;
FamilyCalls::~FamilyCalls() = default;

void FamilyCalls::Serve(const ReadParts& reads, std::unique_ptr<Families> families, WritePath* write) {
  CHECK(families != nullptr && reads.handles == families.get() && write != nullptr);
  CHECK(families_ == nullptr);
  ReadCalls::Serve(reads);
  families_ = std::move(families);
  write_of_calls_ = write;
}

Status FamilyCalls::CreateColumnFamily(const std::string& name, ColumnFamilyHandle** family) {
  DCHECK(family != nullptr);
  return reads().context->WithMemory([&] { return families_->Create(name, family); });
}

Status FamilyCalls::DropColumnFamily(ColumnFamilyHandle* family) {
  return reads().context->WithMemory([&] { return families_->Drop(family); });
}

Status FamilyCalls::AdoptFamilies(uint64_t next_family, const std::vector<FamilyEntry>& families) {
  return reads().context->WithMemory([&] { return families_->Adopt(next_family, families); });
}

// The limit of a key is that of the key with its prefix, which the write path knows.
Status FamilyCalls::Update(const WriteOptions& options, uint8_t type, ColumnFamilyHandle* family, const Slice& key,
                           const Slice& value) {
  DCHECK((type & kBatchFamily) == 0);
  return reads().context->WithMemory([&] {
    uint32_t id;
    Status s = families_->IdOf(family, &id);
    if (!s.ok()) return s;
    if (id == kDefaultFamily) return write_of_calls_->Update(options, type, key, value);
    const FamilyKey family_key(id, key);
    return write_of_calls_->Update(options, type | kBatchFamily, family_key.slice(), value);
  });
}

Status FamilyCalls::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
  return Update(options, kBatchPut, family, key, value);
}

Status FamilyCalls::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  return Update(options, kBatchDeletion, family, key, Slice());
}

Status FamilyCalls::Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                          const Slice& operand) {
  return Update(options, kBatchMerge, family, key, operand);
}

Status FamilyCalls::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  return Update(options, kBatchSingleDeletion, family, key, Slice());
}

// As a batch of one, which is what the call without a handle makes.
Status FamilyCalls::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                                const Slice& end) {
  return reads().context->WithMemory([&] {
    uint32_t id;
    Status s = families_->IdOf(family, &id);
    if (!s.ok()) return s;
    WriteBatch batch;
    batch.DeleteRange(family, begin, end);
    return write_of_calls_->Write(options, &batch);
  });
}

// The keys are looked up beside other writers first, so that in the queue there is only what came since. A key that the
// default family does not see is one that nobody can change.
Status FamilyCalls::WriteIfUnchanged(const WriteOptions& options, WriteBatch* updates,
                                     const std::vector<KeyAsOf>& keys) {
  return reads().context->WithMemory([&] {
    std::deque<FamilyKey> room;
    std::vector<KeyAsOf> known;
    known.reserve(keys.size());
    for (const KeyAsOf& key : keys) {
      Slice engine_key;
      const Status s =
          EngineKey(key.family != nullptr ? key.family : DefaultColumnFamily(), key.key, &room, &engine_key);
      if (s.ok()) known.emplace_back(engine_key, key.sequence);
      if (s.ok()) known.back().expiry_micros = key.expiry_micros;
      if (!s.ok() && !s.IsNotFound()) return s;
    }
    uint64_t as_of = 0;
    const Status s = reads().read->CheckUnchanged(known, &as_of);
    if (!s.ok()) return s;
    const WriteCondition unchanged = [&] { return reads().read->CheckUnchangedSince(known, as_of); };
    return write_of_calls_->Write(options, updates, &unchanged);
  });
}

// A missing end of the range is the end of the family.
void FamilyCalls::CompactRange(ColumnFamilyHandle* family, const Slice* begin, const Slice* end) {
  const Status s = reads().context->WithMemory([&] {
    uint32_t id;
    Status known = families_->IdOf(family, &id);
    if (!known.ok()) return known;
    if (id == kDefaultFamily) {
      CompactRange(begin, end);
      return known;
    }
    const FamilyPrefix first(id), behind(id + 1);
    const FamilyKey begin_key(id, begin != nullptr ? *begin : Slice()), end_key(id, end != nullptr ? *end : Slice());
    const Slice from = begin != nullptr ? begin_key.slice() : first.slice();
    const Slice to = end != nullptr ? end_key.slice() : behind.slice();
    CompactRange(&from, &to);
    return known;
  });
  s.IgnoreError();
}

}  // namespace miodb
