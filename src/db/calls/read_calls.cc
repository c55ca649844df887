// Reads, with a handle and without. Every call that can fail goes through WithMemory.

#include "src/db/calls/read_calls.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "src/db/calls/family_handles.h"
#include "src/db/context/db_context.h"
#include "src/util/check/check.h"

namespace miodb {

void ReadCalls::Serve(const ReadParts& parts) {
  CHECK(parts.context != nullptr && parts.sources != nullptr && parts.read != nullptr && parts.handles != nullptr);
  CHECK(parts_.context == nullptr);
  parts_ = parts;
}

// The object of a child is a copy of the parent's: its destructor would join threads that do not exist and unlock files
// that the parent holds.
void ReadCalls::operator delete(ReadCalls* db, std::destroying_delete_t) {
  DCHECK(db->parts_.context != nullptr);
  if (db->parts_.context->fork_guard.InChild()) return;
  db->~ReadCalls();
  ::operator delete(static_cast<void*>(db));
}

void* ReadCalls::operator new(size_t size) { return ::operator new(size); }

void ReadCalls::operator delete(void* space) { ::operator delete(space); }

Status ReadCalls::GetColumnFamily(const std::string& name, ColumnFamilyHandle** family) {
  DCHECK(family != nullptr);
  return parts_.context->WithMemory([&] { return parts_.handles->Find(name, family); });
}

Status ReadCalls::ListColumnFamilies(std::vector<std::string>* names) {
  DCHECK(names != nullptr);
  return parts_.context->WithMemory([&] { return parts_.handles->List(names); });
}

ColumnFamilyHandle* ReadCalls::DefaultColumnFamily() {
  DCHECK(parts_.handles != nullptr);  // Serve comes first
  return parts_.handles->default_family();
}

// ---- without a handle

// Only a reader has something to do before a read; other databases pay one comparison.
template <typename Value>
Status ReadCalls::GetOne(const ReadOptions& options, const Slice& key, Value* value) {
  if (parts_.sources->before_read != nullptr) [[unlikely]] {
    Status s = parts_.sources->BeforeRead();
    if (!s.ok()) return s;
  }
  if (parts_.context->families.Hides(key)) [[unlikely]]
    return Status::NotFound(Slice());
  return parts_.read->Get(options, key, value);
}

Status ReadCalls::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return GetOne(options, key, value);
}

Status ReadCalls::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return GetOne(options, key, value);
}

// An iterator has no other way to report an error than its own status, so lack of memory and a child of fork() give an
// iterator that is not valid and says why.
Iterator* ReadCalls::NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  Iterator* it = nullptr;
  const Status s = parts_.handles->InFamily(family, [&](uint32_t id) {
    it = parts_.read->MakeIterator(options, id);
    return Status::OK();
  });
  return s.ok() ? it : NewErrorIterator(s);
}

Iterator* ReadCalls::NewIterator(const ReadOptions& options) {
  return ReadCalls::NewIterator(options, DefaultColumnFamily());
}

// LevelDB's call cannot fail. A null snapshot means the newest state to a read, which is what a caller gets who could
// not be given one.
const Snapshot* ReadCalls::GetSnapshot() {
  if (parts_.context->fork_guard.InChild()) return nullptr;  // the reads for which it is wanted fail
  try {
    return parts_.sources->snapshots.Take(parts_.sources->last_sequence);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void ReadCalls::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr || parts_.context->fork_guard.InChild()) return;
  parts_.sources->snapshots.Release(static_cast<const SnapshotImpl*>(snapshot));
}

// acquire: whoever has the number finds the updates up to it in the memtables.
uint64_t ReadCalls::GetLatestSequenceNumber() const {
  parts_.sources->BeforeRead().IgnoreError();  // then it is that of the last look
  return parts_.sources->last_sequence.load(std::memory_order_acquire);
}

void ReadCalls::GetApproximateSizes(const Range* range, int n, uint64_t* sizes) {
  ReadCalls::GetApproximateSizes(DefaultColumnFamily(), range, n, sizes);
}

// ---- with a handle

template <typename Value>
Status ReadCalls::GetFrom(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, Value* value) {
  DCHECK(value != nullptr);
  return parts_.handles->WithKey(family, key,
                                 [&](const Slice& engine_key) { return parts_.read->Get(options, engine_key, value); });
}

Status ReadCalls::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value) {
  return GetFrom(options, family, key, value);
}

Status ReadCalls::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value) {
  return GetFrom(options, family, key, value);
}

Status ReadCalls::GetWithExpiry(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                                std::string* value, uint64_t* expiry_micros) {
  DCHECK(expiry_micros != nullptr);
  *expiry_micros = kNoExpiry;
  return parts_.handles->WithKey(family != nullptr ? family : DefaultColumnFamily(), key, [&](const Slice& engine_key) {
    return parts_.read->GetWithExpiry(options, engine_key, value, expiry_micros);
  });
}

// NotFound: the family does not see the key, whatever its records. The get that follows tells of any other error.
bool ReadCalls::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                            std::string* value, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  bool may = true;
  const Status s = parts_.handles->WithKey(family, key, [&](const Slice& engine_key) {
    may = parts_.read->KeyMayExist(options, engine_key, value, value_found);
    return Status::OK();
  });
  return s.ok() ? may : !s.IsNotFound();
}

// *engine_key refers to the caller's key or to one in *room, which is a deque, as that moves none when it grows.
Status ReadCalls::EngineKey(const ColumnFamilyHandle* family, const Slice& key, std::deque<FamilyKey>* room,
                            Slice* engine_key) const {
  DCHECK(room != nullptr && engine_key != nullptr);
  uint32_t id;
  const Status s = parts_.handles->IdOf(family, &id);
  if (!s.ok()) return s;
  if (id == kDefaultFamily && parts_.context->families.Hides(key)) return Status::NotFound(Slice());
  *engine_key = id == kDefaultFamily ? key : room->emplace_back(id, key).slice();
  return s;
}

namespace {

// Whether the default family does not see some of the keys.
bool AnyHidden(const FamilyGate& families, const std::vector<Slice>& keys) {
  return families.HasFamilies() &&
         std::any_of(keys.begin(), keys.end(), [&](const Slice& key) { return families.Hides(key); });
}

}  // namespace

// Keys that have a family and may be seen are looked for together, as of one moment; the other keys are answered here.
// Without handles the keys go on as they are, if the default family sees all of them.
template <typename Value>
std::vector<Status> ReadCalls::GetFromMany(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                           const std::vector<Slice>& keys, std::vector<Value>* values) {
  DCHECK(values != nullptr);
  std::vector<Status> statuses;
  Status s = parts_.context->WithMemory([&] {
    if (!families.empty() && families.size() != keys.size()) {
      return Status::InvalidArgument("MultiGet", "must have as many column families as keys");
    }
    const Status ready = parts_.sources->BeforeRead();
    if (ready.ok() && families.empty() && !AnyHidden(parts_.context->families, keys)) {
      statuses = parts_.read->MultiGet(options, keys, values);
      return ready;
    }
    statuses.resize(keys.size());
    values->clear();
    values->resize(keys.size());
    if (!ready.ok()) return ready;
    std::deque<FamilyKey> room;
    std::vector<Slice> looked_for;
    std::vector<size_t> places;  // of looked_for among all keys
    for (size_t i = 0; i < keys.size(); i++) {
      Slice engine_key;
      statuses[i] = EngineKey(families.empty() ? DefaultColumnFamily() : families[i], keys[i], &room, &engine_key);
      if (!statuses[i].ok()) continue;
      looked_for.push_back(engine_key);
      places.push_back(i);
    }
    std::vector<Value> found;
    std::vector<Status> answers = parts_.read->MultiGet(options, looked_for, &found);
    if (answers.size() < places.size()) return parts_.context->OutOfMemory();
    for (size_t i = 0; i < places.size(); i++) {
      if (answers[i].ok()) (*values)[places[i]] = std::move(found[i]);
      statuses[places[i]] = std::move(answers[i]);
    }
    return Status::OK();
  });
  if (s.ok()) return statuses;
  // Every key has a status, also where the call failed as a whole; without memory for them there are none.
  statuses.clear();
  NoThrow("MultiGet", [&] {
    statuses.assign(keys.size(), s);
    return s;
  }).IgnoreError();
  return statuses;
}

std::vector<Status> ReadCalls::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                        const std::vector<Slice>& keys, std::vector<std::string>* values) {
  return GetFromMany(options, families, keys, values);
}

std::vector<Status> ReadCalls::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                        const std::vector<Slice>& keys, std::vector<PinnableSlice>* values) {
  return GetFromMany(options, families, keys, values);
}

// A family has two properties of its own; every other one is the database's, by whichever handle it is asked for.
bool ReadCalls::GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) {
  DCHECK(value != nullptr);
  const bool keys = property == Slice("miodb.estimate-num-keys");
  const Status s = parts_.handles->InFamily(family, [&](uint32_t id) {
    if (id == kDefaultFamily || !(keys || property == Slice("miodb.approximate-bytes"))) {
      return GetProperty(property, value) ? Status::OK() : Status::NotFound(Slice());
    }
    *value = std::to_string(keys ? parts_.handles->EstimateKeys(id) : parts_.handles->ApproximateBytes(id));
    return Status::OK();
  });
  return s.ok();
}

// The sizes are zeros first, so that an error, which LevelDB's call has no way to tell, does not leave what the caller
// had in their place.
void ReadCalls::GetApproximateSizes(ColumnFamilyHandle* family, const Range* range, int n, uint64_t* sizes) {
  DCHECK(n == 0 || (range != nullptr && sizes != nullptr));
  std::fill(sizes, sizes + n, 0);
  const Status s = parts_.handles->InFamily(family, [&](uint32_t id) {
    parts_.handles->SumSizes(id, range, n, sizes);
    return Status::OK();
  });
  s.IgnoreError();
}

}  // namespace miodb
