#include "benchmarks/replay_calls.h"

#include <algorithm>

namespace miodb::bench {

namespace {

// Iterators that wait for their scan record. One that waits longer than this many others is destroyed where it stands.
constexpr size_t kMostOpen = 64;

Status ForeignColumnFamily(uint32_t id) {
  return Status::NotSupported("column family " + std::to_string(id), "there is only 0");
}

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

Status ReplayCalls::Make(const TraceRecord& record, bool keeps_iterators) {
  if (record.column_family != 0) return ForeignColumnFamily(record.column_family);
  switch (record.type) {
    case kTraceWrite:
      return Write(record);
    case kTraceGet:
      return Get(record.key);
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
    if (update.column_family != 0) return ForeignColumnFamily(update.column_family);
    switch (update.kind) {
      case TraceUpdate::kPut:
        batch_.Put(update.key, update.value);
        break;
      case TraceUpdate::kDelete:
        batch_.Delete(update.key);
        break;
      case TraceUpdate::kSingleDelete:
        batch_.SingleDelete(update.key);
        break;
      case TraceUpdate::kDeleteRange:
        batch_.DeleteRange(update.key, update.value);
        break;
      case TraceUpdate::kMerge:
        batch_.Merge(update.key, update.value);
        break;
    }
  }
  return db_->Write(WriteOptions(), &batch_);
}

Status ReplayCalls::Get(const Slice& key) {
  Status s = db_->Get(ReadOptions(), key, &value_);
  return s.IsNotFound() ? Status::OK() : s;
}

Status ReplayCalls::MultiGet(const TraceRecord& record) {
  for (const TraceKey& key : record.keys) {
    if (key.column_family != 0) return ForeignColumnFamily(key.column_family);
  }
  keys_.clear();
  for (const TraceKey& key : record.keys) keys_.push_back(key.key);
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys_, &values_);
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
  open->iterator.reset(db_->NewIterator(options));
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
