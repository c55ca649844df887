// From handles to keys. Every call that can fail goes through WithMemory, as those without a handle do.

#include "src/db/calls/family_calls.h"

#include <deque>
#include <utility>

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/calls/families.h"
#include "src/db/context/db_context.h"
#include "src/util/check/check.h"

namespace miodb {

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
  return families_->InFamily(family, [&](uint32_t id) {
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

// As a batch of one.
Status FamilyCalls::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                                const Slice& end) {
  return families_->InFamily(family, [&](uint32_t) {
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
  const Status s = families_->InFamily(family, [&](uint32_t id) {
    if (id == kDefaultFamily) {
      CompactRange(begin, end);
      return Status::OK();
    }
    const FamilyPrefix first(id), behind(id + 1);
    const FamilyKey begin_key(id, begin != nullptr ? *begin : Slice()), end_key(id, end != nullptr ? *end : Slice());
    const Slice from = begin != nullptr ? begin_key.slice() : first.slice();
    const Slice to = end != nullptr ? end_key.slice() : behind.slice();
    CompactRange(&from, &to);
    return Status::OK();
  });
  s.IgnoreError();
}

}  // namespace miodb
