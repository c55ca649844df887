#include <algorithm>
#include <new>

#include "miodb/write_batch.h"
#include "src/api/write_batch_internal.h"
#include "src/db/db_impl.h"
#include "src/db/settle_request.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/mutation.h"
#include "src/util/perf_clock.h"

// A write, step by step. The first of the waiting writers leads and does 2 to 8 for a group of them:
//
//   1 Join the queue (write_queue.h); with several writers and few CPUs, when it is its turn (write_turns.h). Limits of
//     sizes are checked before.
//   2 Make room: the current log chunk has space for the frame in all but one of thousands of cases. Else take the next
//     prepared chunk; when the memtable has its share of chunks, seal it and start a new one.
//   3 Number the updates.
//   3b With kLogFile: append them to the log file as one batch; if asked for sync, sync it (log/file_log.h). Here the
//     group is durable.
//   4 Write them as one frame into the chunk (log/frame_writer.h); the lines are on their way to the medium.
//   5 Insert them into the memtable. Readers do not see them yet: their sequences are not published.
//   6 Fence. Here the group is durable.
//   7 Publish the last sequence. Here the group is visible.
//   8 Hand the queue on and wake the group.
//
// In kPersistFile a fence is an msync, so step 6 happens only for a group that was asked for sync.
//
// What a crash leaves: before 6 nothing of the group or all of it, by the frame's checksum; after it all.

namespace miodb {

namespace {

// Records of one group; more wait for the next.
constexpr uint64_t kMaxGroupBytes = 1 << 20;

// A chunk made for a frame has room for so many like it, as far as chunks have it.
constexpr uint64_t kFramesOfAKind = 4;

// A throttled leader sleeps once it owes this much, so that sleeps are few and short.
constexpr uint64_t kThrottleStepNanos = 1000 * 1000;

// A leader sleeps no longer than this at once, and leaves the rest, up to a most, to those after it.
constexpr uint64_t kLongestThrottleNanos = 20 * 1000 * 1000;
constexpr uint64_t kMostThrottleDebtNanos = 1000 * 1000 * 1000;

// Waits from this on are noted in the info log.
constexpr uint64_t kLongStallMicros = 20 * 1000;

Status CheckSizes(const Slice& key, const Slice& value) {
  if (key.size() > kMaxKeySize) {
    return Status::InvalidArgument("key of " + std::to_string(key.size()) + " bytes",
                                   "the limit is " + std::to_string(kMaxKeySize));
  }
  if (value.size() > kMaxValueSize) {
    return Status::InvalidArgument("value of " + std::to_string(value.size()) + " bytes",
                                   "the limit is " + std::to_string(kMaxValueSize));
  }
  return Status::OK();
}

}  // namespace

Status DBImpl::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  return WithMemory([&] {
    if (tracer_.wants_calls()) [[unlikely]]
      tracer_.Put(key, value);
    return DoPut(options, key, value);
  });
}

Status DBImpl::Delete(const WriteOptions& options, const Slice& key) {
  return WithMemory([&] {
    if (tracer_.wants_calls()) [[unlikely]]
      tracer_.Delete(key);
    return DoDelete(options, key);
  });
}

Status DBImpl::Write(const WriteOptions& options, WriteBatch* updates) {
  return WithMemory([&] { return DoWrite(options, updates); });
}

Status DBImpl::DoPut(const WriteOptions& options, const Slice& key, const Slice& value) {
  Status s = CheckSizes(key, value);
  if (!s.ok()) return s;
  Writer writer;
  writer.type = kTypeValue;
  writer.key = key;
  writer.value = value;
  writer.count = 1;
  writer.body_bytes = RecordSize(key.size(), value.size());
  writer.user_bytes = key.size() + value.size();
  writer.sync = options.sync;
  return Submit(&writer);
}

Status DBImpl::DoDelete(const WriteOptions& options, const Slice& key) {
  Status s = CheckSizes(key, Slice());
  if (!s.ok()) return s;
  Writer writer;
  writer.type = kTypeDeletion;
  writer.key = key;
  writer.count = 1;
  writer.body_bytes = RecordSize(key.size(), 0);
  writer.user_bytes = key.size();
  writer.sync = options.sync;
  writer.deletes_only = true;
  return Submit(&writer);
}

Status DBImpl::DoWrite(const WriteOptions& options, WriteBatch* updates) {
  if (updates == nullptr) return Status::InvalidArgument("WriteBatch", "must not be null");
  Writer writer;
  writer.batch = WriteBatchInternal::Contents(updates);
  if (tracer_.wants_calls()) [[unlikely]]
    tracer_.Batch(writer.batch);
  writer.sync = options.sync;
  writer.deletes_only = true;
  BatchReader reader(writer.batch);
  uint8_t type;
  Slice key, value;
  while (reader.Next(&type, &key, &value)) {
    Status s = CheckSizes(key, value);
    if (!s.ok()) return s;
    writer.body_bytes += RecordSize(key.size(), value.size());
    writer.user_bytes += key.size() + value.size();
    writer.count++;
    if (type != kBatchDeletion) writer.deletes_only = false;
  }
  if (reader.corrupt()) return Status::Corruption("WriteBatch", "damaged contents");
  if (writer.body_bytes > kMaxFrameBody) {
    return Status::InvalidArgument("WriteBatch of " + std::to_string(writer.body_bytes) + " bytes",
                                   "the limit is " + std::to_string(kMaxFrameBody));
  }
  if (writer.count == 0) return Status::OK();
  return Submit(&writer);
}

Status DBImpl::Submit(Writer* writer) {
  PerfClock clock;
  if (takes_turns_) turns_.Take();
  const bool leads = queue_.Join(writer);
  if (takes_turns_ && writer->older != nullptr) turns_.Met();
  clock.Lap(&PerfContext::put_wait);
  const Status status = leads ? Lead(writer) : writer->status;
  clock.End(&PerfContext::put_total, &PerfContext::puts);
  return status;
}

Status DBImpl::Lead(Writer* writer) {
  Writer* const last = queue_.FormGroup(writer, std::min(kMaxGroupBytes, chunk_bytes_ / 2));
  const Status thrown = WithMemory([&] {
    WriteGroup(writer, last);
    return Status::OK();
  });
  if (!thrown.ok()) {
    // Numbers may have been given out that are not in the log: go no further.
    MutexLock lock(&mutex_);
    SetBackgroundError(thrown);
    for (Writer* w = writer;; w = w->newer) {
      w->status = background_error_;
      if (w == last) break;
    }
  }
  const Status status = writer->status;
  PerfClock clock;
  queue_.Leave(writer, last);
  clock.Lap(&PerfContext::put_leave);
  return status;
}

uint64_t DBImpl::AppendRecords(const Slice& batch, std::vector<LogRecord>* records) {
  BatchReader reader(batch);
  uint8_t type;
  LogRecord record{};
  uint64_t body_bytes = 0;
  while (reader.Next(&type, &record.key, &record.value)) {
    record.type = static_cast<ValueType>(type);
    body_bytes += record.size();
    records->push_back(record);
  }
  return body_bytes;
}

void DBImpl::CollectRecords(Writer* leader, Writer* last) {
  group_records_.clear();
  for (Writer* w = leader;; w = w->newer) {
    if (w->count > 0 && w->batch.empty()) {
      group_records_.push_back({w->type, w->key, w->value});
    } else if (w->count > 0) {
      AppendRecords(w->batch, &group_records_);
    }
    if (w == last) return;
  }
}

// Records the writes of a group in the order of the log.
void DBImpl::TraceGroup(Writer* leader, Writer* last) {
  for (Writer* w = leader;; w = w->newer) {
    if (w->count > 0 && !w->batch.empty()) {
      tracer_.Batch(w->batch);
    } else if (w->count > 0 && w->type == kTypeDeletion) {
      tracer_.Delete(w->key);
    } else if (w->count > 0) {
      tracer_.Put(w->key, w->value);
    }
    if (w == last) return;
  }
}

// Puts the records that are in the chunk now into the memtable.
void DBImpl::InsertGroup(uint64_t first_sequence) {
  uint64_t sequence = first_sequence;
  for (const LogRecord& record : group_records_) {
    writable_->Add(record.key, PackTag(sequence++, record.type), record.place, record.size());
  }
}

void DBImpl::WriteGroup(Writer* leader, Writer* last) {
  uint64_t body_bytes = 0, user_bytes = 0;
  bool sync = false, deletes_only = true, seal = false;
  for (Writer* w = leader;; w = w->newer) {
    body_bytes += w->body_bytes;
    user_bytes += w->user_bytes;
    sync = sync || w->sync;
    deletes_only = deletes_only && w->deletes_only;
    seal = seal || w->count == 0;
    if (w == last) break;
  }
  Status s;
  if (body_bytes > 0) {
    PerfClock clock;
    s = MakeRoom(FrameWriter::FrameSize(body_bytes), deletes_only);
    clock.Lap(&PerfContext::put_room);
    if (s.ok()) {
      CollectRecords(leader, last);
      const uint64_t first = allocated_sequence_ + 1;
      allocated_sequence_ += group_records_.size();
      if (file_log_to_write_ != nullptr) s = file_log_to_write_->Append(group_records_, first, sync);
      if (s.ok()) {
        frame_writer_->Write(chunk_, &group_records_, body_bytes, first);
        clock.Lap(&PerfContext::put_log);
        InsertGroup(first);
        clock.Lap(&PerfContext::put_memtable);
        Persist& persist = pool_->persist();
        if (MIODB_MUTATED(kVisibleBeforeDurable)) last_sequence_.store(allocated_sequence_);
        if (chunk_->in_pool() && (sync || !persist.fence_is_slow())) s = persist.Fence(Purpose::kLog);
        clock.Lap(&PerfContext::put_fence);
      }
      if (s.ok()) {
        if (tracer_.wants_order()) [[unlikely]]
          TraceGroup(leader, last);
        // release: pairs with the acquire loads of readers, who then find these records in the memtable.
        last_sequence_.store(allocated_sequence_, std::memory_order_release);
        statistics_.user_bytes.AddAlone(user_bytes);
      } else {
        MutexLock lock(&mutex_);
        SetBackgroundError(s);
      }
    }
  }
  if ((seal || FileLogTooLarge()) && s.ok()) {
    MutexLock lock(&mutex_);
    s = background_error_;
    // Nothing is won by sealing for the log's sake while an older memtable keeps an older file.
    if (s.ok() && !memtable_->empty() && (seal || immutables_.empty())) SealMemTable();
  }
  for (Writer* w = leader;; w = w->newer) {
    w->status = s;
    if (w == last) break;
  }
  Throttle(body_bytes);
}

Status DBImpl::MakeRoom(uint64_t frame_bytes, bool deletes_only) {
  // relaxed: a write that misses a failure by an instant is a write before it.
  if (chunk_ != nullptr && chunk_->room() >= frame_bytes && !failed_.load(std::memory_order_relaxed)) {
    return Status::OK();
  }
  MutexLock lock(&mutex_);
  const uint64_t start = NowMicros();
  Status s = MakeRoomLocked(frame_bytes, deletes_only);
  const uint64_t waited = NowMicros() - start;
  statistics_.stall_micros.Add(waited);
  if (waited >= kLongStallMicros) {
    Log("a writer waited %llu us for room: %zu sealed memtables, %llu bytes free, %llu reserved",
        static_cast<unsigned long long>(waited), immutables_.size(),
        static_cast<unsigned long long>(pool_->free_bytes()), static_cast<unsigned long long>(Reserve(Demand::kAny)));
  }
  return s;
}

Status DBImpl::MakeRoomLocked(uint64_t frame_bytes, bool deletes_only) {
  for (;;) {
    if (!background_error_.ok()) return background_error_;
    if (MemTableFull()) {
      if (immutables_.size() < static_cast<size_t>(options_.max_immutable_memtables)) {
        SealMemTable();
        continue;
      }
      if (scheduler_.flush_blocked() && !LookForWork()) {
        scheduler_.RetryFlush();  // for the next write
        return Status::NoSpace(pool_->path(), "the pool has no room to flush a memtable");
      }
      WaitForBackground(0);
      continue;
    }
    bool taken = false;
    Status s = TakeChunk(frame_bytes, deletes_only, &taken);
    if (taken || !s.ok()) return s;
  }
}

// Of the memtable's chunks, full or not.
uint64_t DBImpl::SegmentBytes() {
  uint64_t bytes = 0;
  for (const auto& chunk : memtable_->segment().chunks) bytes += chunk->capacity;
  return bytes;
}

// Whether the memtable has had its share of log or, with records that are small against their nodes, of DRAM.
bool DBImpl::MemTableFull() {
  if (memtable_->empty()) return false;
  const uint64_t limit = options_.write_buffer_size;
  return SegmentBytes() >= limit || memtable_->memory_bytes() >= std::max<uint64_t>(limit, 4 * blocks_->block_bytes());
}

// One attempt to get a chunk; after waiting for one returns without it.
Status DBImpl::TakeChunk(uint64_t frame_bytes, bool deletes_only, bool* taken) {
  std::unique_ptr<LogChunk> chunk;
  const auto spare = std::find_if(spare_chunks_.begin(), spare_chunks_.end(),
                                  [frame_bytes](const auto& c) { return c->capacity >= frame_bytes; });
  if (frame_bytes > chunk_bytes_ || (!spare_chunks_.empty() && spare == spare_chunks_.end())) {
    // A frame that no prepared chunk holds gets one of its own, with room for others of its kind if they are made for
    // a small database.
    scheduler_.LookForSpace();
    Status s;
    {
      const MutexUnlock unlock(&mutex_);
      s = NewChunk(std::max(frame_bytes, std::min(chunk_bytes_, kFramesOfAKind * frame_bytes)), frame_bytes,
                   Demand::kAny, &chunk);
    }
    if (s.IsNoSpace()) {
      scheduler_.FoundSpace(false);
    } else if (!s.ok()) {
      return s;
    }
  } else if (!spare_chunks_.empty()) {
    chunk = std::move(*spare);
    spare_chunks_.erase(spare);
    work_.SignalAll();
  }
  if (chunk != nullptr) {
    UseChunk(std::move(chunk));
    *taken = true;
    return Status::OK();
  }
  if (!scheduler_.FullAsItIs()) {
    // A chunk is on its way, or the attempt to get one is to be made again.
    if (!WaitForBackground(0)) scheduler_.LookForSpace();
    return Status::OK();
  }
  // What frees space may use the space that is kept for it.
  *taken = deletes_only && ChunkForDeletes(frame_bytes, Demand::kDeletes);
  if (*taken) return Status::OK();
  bool give_up = false;
  Status s = NoRoom(&give_up);
  if (!give_up) return s;
  if (frame_bytes > chunk_bytes_) scheduler_.FoundSpace(true);  // that this has no room says nothing of smaller writes
  // Under a snapshot deletes free nothing, and would use up what the merge after its release needs.
  *taken = deletes_only && snapshots_.empty() && ChunkForDeletes(frame_bytes, Demand::kDeletesAtLast);
  if (*taken) return Status::OK();
  work_.SignalAll();  // the next write finds space if readers have let some go
  return s;
}

bool DBImpl::ChunkForDeletes(uint64_t frame_bytes, Demand demand) {
  const uint64_t usual = demand == Demand::kDeletesAtLast ? kExtentUnit : chunk_bytes_;
  std::unique_ptr<LogChunk> chunk;
  Status s;
  {
    const MutexUnlock unlock(&mutex_);
    s = NewChunk(std::max(frame_bytes, usual), frame_bytes, demand, &chunk);
  }
  if (s.ok()) UseChunk(std::move(chunk));
  return s.ok();
}

// The pool is full: frees what can be freed, in the background; gives up when all of that was tried.
Status DBImpl::NoRoom(bool* give_up) {
  if (scheduler_.flushing() || scheduler_.running() > 0 || scheduler_.preparing() || filtering_ ||
      (!immutables_.empty() && !scheduler_.flush_blocked())) {
    WaitForBackground(0);
    return Status::OK();
  }
  if (LookForWork() && WaitForBackground(0)) return Status::OK();
  const uint64_t sequence = last_sequence_.load(std::memory_order_relaxed);  // relaxed: the leader's own
  if (reclaimed_at_.load(std::memory_order_relaxed) != sequence) {           // relaxed: a hint
    if (!memtable_->empty() && immutables_.empty()) {
      SealMemTable();  // what it hides becomes garbage that can be collected
      return Status::OK();
    }
    // As often as it wins something.
    uint64_t used_before;
    SettleRequest request(&scheduler_);
    do {
      used_before = pool_->used_bytes();
      scheduler_.Retry();
      work_.SignalAll();
      while (background_error_.ok() && scheduler_.full() && LookForWork()) {
        if (!WaitForBackground(0)) break;
      }
    } while (background_error_.ok() && scheduler_.full() && pool_->used_bytes() + chunk_bytes_ <= used_before);
    request.End();
    reclaimed_at_.store(sequence, std::memory_order_relaxed);  // relaxed: a hint
    scheduler_.FoundSpace(true);                               // look again
    work_.SignalAll();
    return background_error_;
  }
  *give_up = true;
  return Status::NoSpace(pool_->path(), pool_->DescribeFull());
}

void DBImpl::UseChunk(std::unique_ptr<LogChunk> chunk) {
  LogChunk* const used = chunk.get();
  KeepChunk(&memtable_->segment().chunks, &chunk);
  chunk_ = used;
  UpdateThrottle();
}

void DBImpl::SealMemTable() {
  CHECK(!memtable_->empty());  // its last sequence becomes the flushed one
  MemTableRef fresh =
      spare_memtable_ != nullptr ? std::move(spare_memtable_) : NewMemTable(BloomFilter::Pages::kAsUsed);
  spare_memtable_ = nullptr;
  immutables_.push_front(memtable_);
  memtable_ = std::move(fresh);
  writable_ = memtable_.get();
  chunk_ = nullptr;
  if (file_log_to_write_ != nullptr) file_log_to_write_->EndFile();
  PublishState();
  UpdateThrottle();
  work_.SignalAll();
}

void DBImpl::Throttle(uint64_t bytes) {
  const uint64_t nanos_per_kib = throttle_nanos_.load(std::memory_order_relaxed);  // relaxed: a hint
  if (nanos_per_kib == 0) return;
  throttle_debt_ += nanos_per_kib * bytes / 1024;
  if (throttle_debt_ < kThrottleStepNanos) return;
  const uint64_t start = NowNanos();
  const uint64_t pause = std::min(throttle_debt_, kLongestThrottleNanos);
  std::this_thread::sleep_for(std::chrono::nanoseconds(pause));
  throttle_debt_ = std::min(throttle_debt_ - pause, kMostThrottleDebtNanos);
  statistics_.throttle_micros.Add((NowNanos() - start) / 1000);
}

}  // namespace miodb
