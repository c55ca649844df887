#include "benchmarks/db_bench/replay/replay_calls.h"

#include <algorithm>

namespace miodb::bench {

namespace {

// Iterators that wait for their scan record. An iterator that waits longer than this many others is destroyed where it
// stands.
constexpr size_t kMostOpen = 64;

// The names of families that a replay makes begin like this.
constexpr char kReplayed[] = "replayed-";

// Goes to the last key at or before the target.
void SeekForPrev(Iterator* iterator, const Slice& target) {
  iterator->Seek(target);
  if (!iterator->Valid()) {
    if (iterator->status().ok()) iterator->SeekToLast();
  } else if (iterator->key() != target) {
    iterator->Prev();
  }
}

}  // namespace

// Several workers may look for the same one; who comes too late to make it finds it. The default one is null, so that a
// store without families needs none.
Status ReplayCalls::FindFamily(uint32_t id, ColumnFamilyHandle** family) {
  *family = nullptr;
  if (id == 0) return Status::OK();
  ColumnFamilyHandle*& known = families_[id];
  const std::string name = kReplayed + std::to_string(id);
  std::vector<std::string> names;
  Status s = known == nullptr ? db_->ListColumnFamilies(&names) : Status::OK();
  for (const std::string& other : names) {
    ColumnFamilyHandle* handle = nullptr;
    const bool is_copy = other.rfind(kReplayed, 0) != 0;
    if (db_->GetColumnFamily(other, &handle).ok() && (is_copy ? handle->GetID() == id : other == name)) known = handle;
  }
  if (s.ok() && known == nullptr) s = db_->CreateColumnFamily(name, &known);
  if (!s.ok() && db_->GetColumnFamily(name, &known).ok()) s = Status::OK();
  *family = known;
  return s;
}

Status ReplayCalls::Make(const TraceRecord& record, bool keeps_iterators) {
  switch (record.type) {
    case kTraceWrite:
      return Write(record);
    case kTraceGet:
      return Get(record);
    case kTraceMultiGet:
      return MultiGet(record);
    case kTraceSeek:
    case kTraceSeekForPrev:
    case kTraceSeekToFirst:
    case kTraceSeekToLast:
      return Seek(record, keeps_iterators);
    case kTraceScan:
      return Scan(record);
    default:
      return Status::NotSupported("record of type " + std::to_string(record.type));
  }
}

Status ReplayCalls::Write(const TraceRecord& record) {
  batch_.Clear();
  TraceUpdates updates(record.batch);
  TraceUpdate update;
  while (updates.Next(&update)) {
    ColumnFamilyHandle* family = nullptr;
    Status s = FindFamily(update.column_family, &family);
    if (!s.ok()) return s;
    written_bytes_ += update.key.size() + update.value.size();
    switch (update.kind) {
      case TraceUpdate::kPut:
        batch_.Put(family, update.key, update.value);
        break;
      case TraceUpdate::kDelete:
        batch_.Delete(family, update.key);
        break;
      case TraceUpdate::kSingleDelete:
        batch_.SingleDelete(family, update.key);
        break;
      case TraceUpdate::kDeleteRange:
        batch_.DeleteRange(family, update.key, update.value);
        break;
      case TraceUpdate::kMerge:
        batch_.Merge(family, update.key, update.value);
        break;
    }
  }
  return db_->Write(WriteOptions(), &batch_);
}

Status ReplayCalls::Get(const TraceRecord& record) {
  ColumnFamilyHandle* family = nullptr;
  Status s = FindFamily(record.column_family, &family);
  if (s.ok() && family == nullptr) s = db_->Get(ReadOptions(), record.key, &value_);
  if (s.ok() && family != nullptr) s = db_->Get(ReadOptions(), family, record.key, &value_);
  return s.IsNotFound() ? Status::OK() : s;
}

Status ReplayCalls::MultiGet(const TraceRecord& record) {
  key_families_.clear();
  keys_.clear();
  bool plain = true;
  for (const TraceKey& key : record.keys) {
    ColumnFamilyHandle* family = nullptr;
    Status s = FindFamily(key.column_family, &family);
    if (!s.ok()) return s;
    plain &= family == nullptr;
    key_families_.push_back(family != nullptr ? family : db_->DefaultColumnFamily());
    keys_.push_back(key.key);
  }
  const std::vector<Status> statuses = plain ? db_->MultiGet(ReadOptions(), keys_, &values_)
                                             : db_->MultiGet(ReadOptions(), key_families_, keys_, &values_);
  for (const Status& s : statuses) {
    if (!s.ok() && !s.IsNotFound()) return s;
  }
  return statuses.size() == keys_.size() ? Status::OK() : Status::IOError("MultiGet", "out of memory");
}

Status ReplayCalls::Seek(const TraceRecord& record, bool keeps_iterators) {
  std::unique_ptr<Open> open(new Open);
  open->seek_micros = record.micros;
  open->key = record.key.ToString();
  open->lower = record.lower_bound.ToString();
  open->upper = record.upper_bound.ToString();
  open->lower_slice = open->lower;
  open->upper_slice = open->upper;
  ReadOptions options;
  if (!open->lower.empty()) options.iterate_lower_bound = &open->lower_slice;
  if (!open->upper.empty()) options.iterate_upper_bound = &open->upper_slice;
  ColumnFamilyHandle* family = nullptr;
  Status found = FindFamily(record.column_family, &family);
  if (!found.ok()) return found;
  open->iterator.reset(family == nullptr ? db_->NewIterator(options) : db_->NewIterator(options, family));
  Iterator* const iterator = open->iterator.get();
  switch (record.type) {
    case kTraceSeekForPrev:
      SeekForPrev(iterator, record.key);
      break;
    case kTraceSeekToFirst:
      iterator->SeekToFirst();
      break;
    case kTraceSeekToLast:
      iterator->SeekToLast();
      break;
    default:
      iterator->Seek(record.key);
      break;
  }
  const Status s = iterator->status();
  if (s.ok() && keeps_iterators) {
    if (open_.size() == kMostOpen) open_.pop_front();
    open_.push_back(std::move(open));
  }
  return s;
}

// Steps forward come first: the record does not say how they alternated.
Status ReplayCalls::Scan(const TraceRecord& record) {
  // Nearly always the newest.
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const std::unique_ptr<Open>& open) {
    return open->seek_micros == record.seek_micros && record.key == Slice(open->key);
  });
  if (found == open_.rend()) return Status::NotSupported("scan whose seek is not open");
  const std::unique_ptr<Open> open = std::move(*found);
  open_.erase(std::next(found).base());
  Iterator* const iterator = open->iterator.get();
  for (uint64_t i = 0; i < record.nexts && iterator->Valid(); i++, steps_++) iterator->Next();
  for (uint64_t i = 0; i < record.prevs && iterator->Valid(); i++, steps_++) iterator->Prev();
  return iterator->status();
}

}  // namespace miodb::bench
