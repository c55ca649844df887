// From handles to keys. Every call that can fail goes through WithMemory, as those without a handle do.

#include "src/db/family_calls.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "miodb/write_batch.h"
#include "src/api/write_batch_internal.h"
#include "src/db/db_context.h"
#include "src/db/families.h"
#include "src/util/check.h"

namespace miodb {

// For classes that have no families.
namespace {

Status NoFamilies() { return Status::NotSupported("this DB has no column families"); }

}  // namespace

Status DB::CreateColumnFamily(const std::string&, ColumnFamilyHandle**) { return NoFamilies(); }
Status DB::GetColumnFamily(const std::string&, ColumnFamilyHandle**) { return NoFamilies(); }
Status DB::DropColumnFamily(ColumnFamilyHandle*) { return NoFamilies(); }
Status DB::ListColumnFamilies(std::vector<std::string>*) { return NoFamilies(); }
ColumnFamilyHandle* DB::DefaultColumnFamily() { return nullptr; }
Status DB::Put(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) { return NoFamilies(); }
Status DB::Delete(const WriteOptions&, ColumnFamilyHandle*, const Slice&) { return NoFamilies(); }
Status DB::Merge(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) { return NoFamilies(); }
Status DB::SingleDelete(const WriteOptions&, ColumnFamilyHandle*, const Slice&) { return NoFamilies(); }
Status DB::DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) { return NoFamilies(); }
Status DB::Get(const ReadOptions&, ColumnFamilyHandle*, const Slice&, std::string*) { return NoFamilies(); }
Status DB::Get(const ReadOptions&, ColumnFamilyHandle*, const Slice&, PinnableSlice*) { return NoFamilies(); }
// A class without families cannot rule a key out, so its answer is that the key may exist.
bool DB::KeyMayExist(const ReadOptions&, ColumnFamilyHandle*, const Slice&, std::string*, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  return true;
}
std::vector<Status> DB::MultiGet(const ReadOptions&, const std::vector<ColumnFamilyHandle*>&,
                                 const std::vector<Slice>& keys, std::vector<std::string>*) {
  return std::vector<Status>(keys.size(), NoFamilies());
}
std::vector<Status> DB::MultiGet(const ReadOptions&, const std::vector<ColumnFamilyHandle*>&,
                                 const std::vector<Slice>& keys, std::vector<PinnableSlice>*) {
  return std::vector<Status>(keys.size(), NoFamilies());
}
Iterator* DB::NewIterator(const ReadOptions&, ColumnFamilyHandle*) { return NewErrorIterator(NoFamilies()); }
bool DB::GetProperty(ColumnFamilyHandle*, const Slice&, std::string*) { return false; }
void DB::GetApproximateSizes(ColumnFamilyHandle*, const Range*, int n, uint64_t* sizes) {
  std::fill(sizes, sizes + n, 0);
}
void DB::CompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) {}

FamilyCalls::FamilyCalls() = default;
FamilyCalls::~FamilyCalls() = default;

void FamilyCalls::Serve(const DbContext* context, std::unique_ptr<Families> families, WritePath* write,
                        ReadPath* read) {
  CHECK(context != nullptr && families != nullptr && write != nullptr && read != nullptr);
  CHECK(families_ == nullptr);
  context_of_calls_ = context;
  families_ = std::move(families);
  write_of_calls_ = write;
  read_of_calls_ = read;
}

Status FamilyCalls::CreateColumnFamily(const std::string& name, ColumnFamilyHandle** family) {
  DCHECK(family != nullptr);
  return context_of_calls_->WithMemory([&] { return families_->Create(name, family); });
}

Status FamilyCalls::GetColumnFamily(const std::string& name, ColumnFamilyHandle** family) {
  DCHECK(family != nullptr);
  return context_of_calls_->WithMemory([&] { return families_->Find(name, family); });
}

Status FamilyCalls::DropColumnFamily(ColumnFamilyHandle* family) {
  return context_of_calls_->WithMemory([&] { return families_->Drop(family); });
}

Status FamilyCalls::ListColumnFamilies(std::vector<std::string>* names) {
  return context_of_calls_->WithMemory([&] { return families_->List(names); });
}

Status FamilyCalls::AdoptFamilies(uint64_t next_family, const std::vector<FamilyEntry>& families) {
  return context_of_calls_->WithMemory([&] { return families_->Adopt(next_family, families); });
}

ColumnFamilyHandle* FamilyCalls::DefaultColumnFamily() {
  DCHECK(families_ != nullptr);  // Serve comes first
  return families_->default_family();
}

// The limit of a key is that of the key with its prefix, which the write path knows.
Status FamilyCalls::Update(const WriteOptions& options, uint8_t type, ColumnFamilyHandle* family, const Slice& key,
                           const Slice& value) {
  DCHECK((type & kBatchFamily) == 0);
  return context_of_calls_->WithMemory([&] {
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
  return context_of_calls_->WithMemory([&] {
    uint32_t id;
    Status s = families_->IdOf(family, &id);
    if (!s.ok()) return s;
    WriteBatch batch;
    batch.DeleteRange(family, begin, end);
    return write_of_calls_->Write(options, &batch);
  });
}

// *engine_key refers to the caller's key or to one in *room, which is a deque, as that moves none when it grows.
Status FamilyCalls::EngineKey(const ColumnFamilyHandle* family, const Slice& key, std::deque<FamilyKey>* room,
                              Slice* engine_key) const {
  uint32_t id;
  const Status s = families_->IdOf(family, &id);
  if (!s.ok()) return s;
  if (id == kDefaultFamily && context_of_calls_->families.Hides(key)) return Status::NotFound(Slice());
  *engine_key = id == kDefaultFamily ? key : room->emplace_back(id, key).slice();
  return s;
}

// The keys are looked up beside other writers first, so that in the queue there is only what came since. A key that the
// default family does not see is one that nobody can change.
Status FamilyCalls::WriteIfUnchanged(const WriteOptions& options, WriteBatch* updates,
                                     const std::vector<KeyAsOf>& keys) {
  return context_of_calls_->WithMemory([&] {
    std::deque<FamilyKey> room;
    std::vector<KeyAsOf> known;
    known.reserve(keys.size());
    for (const KeyAsOf& key : keys) {
      Slice engine_key;
      const Status s =
          EngineKey(key.family != nullptr ? key.family : DefaultColumnFamily(), key.key, &room, &engine_key);
      if (s.ok()) known.emplace_back(engine_key, key.sequence);
      if (!s.ok() && !s.IsNotFound()) return s;
    }
    uint64_t as_of = 0;
    const Status s = read_of_calls_->CheckUnchanged(known, &as_of);
    if (!s.ok()) return s;
    return write_of_calls_->WriteIf(options, updates,
                                    [&] { return read_of_calls_->CheckUnchangedSince(known, as_of); });
  });
}

template <typename Value>
Status FamilyCalls::GetFrom(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, Value* value) {
  DCHECK(value != nullptr);
  return context_of_calls_->WithMemory([&] {
    uint32_t id;
    Status s = families_->IdOf(family, &id);
    if (!s.ok()) return s;
    if (id == kDefaultFamily) return WithoutHandle()->Get(options, key, value);
    const FamilyKey family_key(id, key);
    return read_of_calls_->Get(options, family_key.slice(), value);
  });
}

Status FamilyCalls::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value) {
  return GetFrom(options, family, key, value);
}

Status FamilyCalls::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                        PinnableSlice* value) {
  return GetFrom(options, family, key, value);
}

// What goes wrong is told by the get that follows.
bool FamilyCalls::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                              std::string* value, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  bool may = true;
  const Status s = context_of_calls_->WithMemory([&] {
    uint32_t id;
    Status known = families_->IdOf(family, &id);
    if (!known.ok()) return known;
    if (id == kDefaultFamily) {
      may = WithoutHandle()->KeyMayExist(options, key, value, value_found);
      return Status::OK();
    }
    const FamilyKey family_key(id, key);
    may = read_of_calls_->KeyMayExist(options, family_key.slice(), value, value_found);
    return Status::OK();
  });
  return may || !s.ok();
}

// Those keys are looked for together that have a family and may be seen, as of one moment; the others are answered
// here.
template <typename Value>
std::vector<Status> FamilyCalls::GetFromMany(const ReadOptions& options,
                                             const std::vector<ColumnFamilyHandle*>& families,
                                             const std::vector<Slice>& keys, std::vector<Value>* values) {
  DCHECK(values != nullptr);
  std::vector<Status> statuses;
  Status s = context_of_calls_->WithMemory([&] {
    if (families.size() != keys.size()) {
      return Status::InvalidArgument("MultiGet", "must have as many column families as keys");
    }
    statuses.resize(keys.size());
    values->clear();
    values->resize(keys.size());
    std::deque<FamilyKey> room;
    std::vector<Slice> looked_for;
    std::vector<size_t> places;  // of looked_for among all keys
    for (size_t i = 0; i < keys.size(); i++) {
      Slice engine_key;
      statuses[i] = EngineKey(families[i], keys[i], &room, &engine_key);
      if (!statuses[i].ok()) continue;
      looked_for.push_back(engine_key);
      places.push_back(i);
    }
    std::vector<Value> found;
    std::vector<Status> answers = read_of_calls_->MultiGet(options, looked_for, &found);
    DCHECK_EQ(answers.size(), places.size());
    for (size_t i = 0; i < places.size(); i++) {
      statuses[places[i]] = std::move(answers[i]);
      (*values)[places[i]] = std::move(found[i]);
    }
    return Status::OK();
  });
  // Every key has a status, also where the call failed as a whole.
  if (!s.ok()) statuses.assign(keys.size(), s);
  return statuses;
}

std::vector<Status> FamilyCalls::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                          const std::vector<Slice>& keys, std::vector<std::string>* values) {
  return GetFromMany(options, families, keys, values);
}

std::vector<Status> FamilyCalls::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                          const std::vector<Slice>& keys, std::vector<PinnableSlice>* values) {
  return GetFromMany(options, families, keys, values);
}

// As without a handle, an iterator has no other way to report an error than its own status.
Iterator* FamilyCalls::NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  Iterator* it = nullptr;
  const Status s = context_of_calls_->WithMemory([&] {
    uint32_t id;
    Status known = families_->IdOf(family, &id);
    if (known.ok()) it = read_of_calls_->MakeIterator(options, id);
    return known;
  });
  return s.ok() ? it : NewErrorIterator(s);
}

// A family has two properties of its own; every other one is the database's, by whichever handle it is asked for.
bool FamilyCalls::GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) {
  DCHECK(value != nullptr);
  uint32_t id;
  if (context_of_calls_->fork_guard.InChild() || !families_->IdOf(family, &id).ok()) return false;
  const bool keys = property == Slice("miodb.estimate-num-keys");
  if (id == kDefaultFamily || !(keys || property == Slice("miodb.approximate-bytes"))) {
    return WithoutHandle()->GetProperty(property, value);
  }
  const Status s = context_of_calls_->WithMemory([&] {
    *value = std::to_string(keys ? families_->EstimateKeys(id) : families_->ApproximateBytes(id));
    return Status::OK();
  });
  return s.ok();
}

// The sizes are zeros first, so that a handle that is refused does not leave what the caller had in their place.
void FamilyCalls::GetApproximateSizes(ColumnFamilyHandle* family, const Range* range, int n, uint64_t* sizes) {
  DCHECK(n == 0 || (range != nullptr && sizes != nullptr));
  std::fill(sizes, sizes + n, 0);
  const Status s = context_of_calls_->WithMemory([&] {
    uint32_t id;
    Status known = families_->IdOf(family, &id);
    if (known.ok()) families_->SumSizes(id, range, n, sizes);
    return known;
  });
  s.IgnoreError();
}

// An end that is not given is that of the family.
void FamilyCalls::CompactRange(ColumnFamilyHandle* family, const Slice* begin, const Slice* end) {
  const Status s = context_of_calls_->WithMemory([&] {
    uint32_t id;
    Status known = families_->IdOf(family, &id);
    if (!known.ok()) return known;
    if (id == kDefaultFamily) {
      WithoutHandle()->CompactRange(begin, end);
      return known;
    }
    const FamilyPrefix first(id), behind(id + 1);
    const FamilyKey begin_key(id, begin != nullptr ? *begin : Slice()), end_key(id, end != nullptr ? *end : Slice());
    const Slice from = begin != nullptr ? begin_key.slice() : first.slice();
    const Slice to = end != nullptr ? end_key.slice() : behind.slice();
    WithoutHandle()->CompactRange(&from, &to);
    return known;
  });
  s.IgnoreError();
}

}  // namespace miodb
