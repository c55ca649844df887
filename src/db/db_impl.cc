#include "src/db/db_impl.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>

#include "miodb/write_batch.h"
#include "src/db/db_iter.h"
#include "src/db/settle_request.h"
#include "src/util/check.h"
#include "src/util/perf_clock.h"

// A get, step by step:
//
//   1 Pin the current state: memtables and version (read_state.h). No lock.
//   2 Read the sequence to read at: the snapshot's, or the newest published one. After the pin: the other way round a
//     merge in between could drop a version that this sequence needs.
//   3 Look into the memtable, the sealed memtables newest first, then the version's runs in order of age. The first hit
//     at or below the sequence is the newest visible version (version.h says why).
//     On SSD it goes on with the levels there, in the one file of each that can have the key.
//   4 Copy the value, or keep the state pinned and hand out the bytes in the pool, or the block in memory.

namespace miodb {

Snapshot::~Snapshot() = default;
DB::~DB() = default;

// For classes that implement DB by Write alone.
Status DB::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  WriteBatch batch;
  batch.Put(key, value);
  return Write(options, &batch);
}

Status DB::Delete(const WriteOptions& options, const Slice& key) {
  WriteBatch batch;
  batch.Delete(key);
  return Write(options, &batch);
}

Status DB::Get(const ReadOptions&, const Slice&, PinnableSlice*) {
  return Status::NotSupported("this DB has no pinned reads");
}
Status DB::Flush() { return Status::NotSupported("this DB has no Flush"); }
void DB::StopWaiting() {}
Status DB::WaitForIdle() { return Status::NotSupported("this DB has no WaitForIdle"); }
Status DB::StartTrace(const TraceOptions&, std::unique_ptr<TraceWriter>) {
  return Status::NotSupported("this DB has no StartTrace");
}
Status DB::AddRegion(const NvmRegion&) { return Status::NotSupported("this DB has no AddRegion"); }
Status DB::EndTrace() { return Status::NotSupported("this DB has no EndTrace"); }

void DBImpl::Log(const char* format, ...) {
  if (info_log_ == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  try {
    info_log_->Logv(format, arguments);
  } catch (const std::exception&) {
    // A message less.
  }
  va_end(arguments);
}

void DBImpl::LogStatus(const char* what, const Status& s) {
  try {
    Log("%s: %s", what, s.ToString().c_str());
  } catch (const std::exception&) {
    // A message less.
  }
}

uint64_t DBImpl::ReadSequence(const ReadOptions& options) const {
  // acquire: pairs with the leader's release; the records up to this sequence are in the memtables.
  return options.snapshot != nullptr ? static_cast<const SnapshotImpl*>(options.snapshot)->sequence
                                     : last_sequence_.load(std::memory_order_acquire);
}

// All filters at once, not one miss after the other.
void DBImpl::PrefetchFilters(const LookupKey& lookup, const ReadState& state) {
  state.memtable->Prefetch(lookup);
  for (const MemTableRef& memtable : state.immutables) memtable->Prefetch(lookup);
  state.version->Prefetch(lookup);
}

Status DBImpl::FindInPool(const ReadOptions& options, const LookupKey& lookup, const ReadState& state, bool* found,
                          RecordView* record) {
  const bool verify = options.verify_checksums || options_.paranoid_checks;
  PerfClock clock;
  Status s = state.memtable->Get(lookup, verify, found, record);
  for (size_t i = 0; s.ok() && !*found && i < state.immutables.size(); i++) {
    s = state.immutables[i]->Get(lookup, verify, found, record);
  }
  clock.Lap(&PerfContext::get_memtable);
  if (!s.ok() || *found) return s;
  s = state.version->Get(order_, lookup, verify, found, record);
  if (*found && read_samples_ != nullptr) read_samples_->Note(lookup.key);
  return s;
}

Status DBImpl::Find(const ReadOptions& options, const Slice& key, ReadState* state, BlockPin* block, bool* found,
                    RecordView* record) {
  const LookupKey lookup(order_, key, ReadSequence(options));
  PrefetchFilters(lookup, *state);
  Status s = FindInPool(options, lookup, *state, found, record);
  if (!s.ok() || *found || state->version->ssd == nullptr) return s;
  PerfClock ssd_clock;
  s = state->version->ssd->Get(lookup, SsdReadMode(options), options.snapshot == nullptr, block, found, record);
  ssd_clock.Lap(&PerfContext::get_ssd);
  return s;
}

// Finds a value and hands it over while its state is pinned.
template <typename Use>
Status DBImpl::GetPinned(const ReadOptions& options, const Slice& key, Use use) {
  PerfClock clock;
  Status result = WithMemory([&] {
    if (tracer_.active()) [[unlikely]]
      tracer_.Get(key);
    ReadStates::Pin pin(&states_);
    bool found;
    RecordView record;
    BlockPin block;
    Status s = Find(options, key, pin.get(), &block, &found, &record);
    if (!s.ok()) return s;
    if (!found || record.type() == kTypeDeletion) return Status::NotFound(Slice());
    use(record.value, pin.get(), &block);
    return s;
  });
  clock.End(&PerfContext::get_total, &PerfContext::gets);
  return result;
}

Status DBImpl::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return GetPinned(options, key,
                   [value](const Slice& bytes, ReadState*, BlockPin*) { value->assign(bytes.data(), bytes.size()); });
}

Status DBImpl::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return GetPinned(options, key, [value](const Slice& bytes, ReadState* state, BlockPin* block) {
    if (block->holds_any()) {
      value->Pin(
          bytes, [](void* pinned) { delete static_cast<BlockPin*>(pinned); }, new BlockPin(std::move(*block)));
      return;
    }
    ReadStates::Ref(state);
    value->Pin(
        bytes, [](void* pinned) { UnpinState(pinned, nullptr); }, state);
  });
}

void DBImpl::UnpinState(void* state, void*) {
  ReadState* const s = static_cast<ReadState*>(state);
  s->owner->Unref(s);
}

Iterator* DBImpl::NewIterator(const ReadOptions& options) {
  try {
    if (fork_guard_.InChild()) return NewErrorIterator(InChild());
    return MakeIterator(options);
  } catch (const std::exception&) {
    return NewErrorIterator(OutOfMemory());
  }
}

Iterator* DBImpl::MakeIterator(const ReadOptions& options) {
  ReadState* state;
  uint64_t sequence;
  {
    ReadStates::Pin pin(&states_);
    state = pin.get();
    ReadStates::Ref(state);
    sequence = ReadSequence(options);  // after the pin, as in a get
  }
  const bool verify = options.verify_checksums || options_.paranoid_checks;
  Iterator* iterator;
  try {
    iterator = NewDBIterator(order_, *state, sequence, verify, options, &tracer_);
  } catch (const std::exception&) {
    UnpinState(state, nullptr);
    throw;
  }
  iterator->RegisterCleanup(&UnpinState, state, nullptr);
  return iterator;
}

const Snapshot* DBImpl::GetSnapshot() {
  if (fork_guard_.InChild()) return nullptr;  // the reads for which it is wanted fail
  try {
    return snapshots_.Take(last_sequence_);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void DBImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr || fork_guard_.InChild()) return;
  snapshots_.Release(static_cast<const SnapshotImpl*>(snapshot));
  reclaimed_at_.store(UINT64_MAX, std::memory_order_relaxed);  // relaxed: a hint
}

Status DBImpl::RequestFlush() {
  if (memtable_->empty()) return background_error_;
  // The leader of a group owns the memtable, so the flush is asked for from inside of the queue.
  const MutexUnlock unlock(&mutex_);
  Writer writer;
  return Submit(&writer);  // an empty write that is asked to seal
}

Status DBImpl::Flush() {
  return WithMemory([this] {
    Status s = DoFlush();
    return s.ok() && LogsUntilSsd() ? file_log_->SyncEnded() : s;  // the pool makes nothing durable
  });
}

Status DBImpl::DoFlush() {
  MutexLock lock(&mutex_);
  Status s = RequestFlush();
  const MemTableRef newest = immutables_.empty() ? nullptr : immutables_.front();
  if (newest == nullptr) return s.ok() ? background_error_ : s;
  while (s.ok() && background_error_.ok() &&
         std::find(immutables_.begin(), immutables_.end(), newest) != immutables_.end()) {
    if (scheduler_.flush_blocked() && !LookForWork()) {
      return Status::NoSpace(pool_->path(), "the pool has no room for the flush");
    }
    if (!WaitForBackground(0)) break;
  }
  return s.ok() ? background_error_ : s;
}

Status DBImpl::Settle() {
  Status s = Flush();
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  SettleRequest request(&scheduler_);
  scheduler_.RetryFlush();
  scheduler_.Retry();
  const uint64_t started = scheduler_.settles_started();
  work_.SignalAll();
  const uint64_t sequence = last_sequence_.load(std::memory_order_relaxed);  // relaxed: policy only
  const auto wanting = [&]() REQUIRES(mutex_) {
    const bool settled = scheduler_.settles_finished() > started;
    const bool merged = settled || (scheduler_.running() == 0 && versions_->BufferEmpty());
    if (!(merged || scheduler_.merges_blocked()) || (scheduler_.anything_blocked() && HasDrainWork())) return true;
    // Where others write all the time there is always something to merge: then all that was there at the call is
    // enough.
    if (settled && last_sequence_.load(std::memory_order_relaxed) != sequence) return false;  // relaxed: as above
    return scheduler_.running() > 0 || HasMergeWork();
  };
  MarkGarbage();
  while (background_error_.ok() && !MustNotWait() && wanting()) {
    if (!WaitForBackground(0)) break;
    MarkGarbage();
  }
  request.End();
  if (waiting_stopped_) return ToldToStop();
  if (background_error_.ok() && scheduler_.anything_blocked()) {
    return Status::NoSpace(pool_->path(), "the pool has no room for a merge");
  }
  return background_error_;
}

void DBImpl::CompactRange(const Slice* begin, const Slice* end) {
  if (begin != nullptr && end != nullptr && order_.Compare(*begin, *end) > 0) return;
  WithMemory([&] {
    Status s = Settle();
    if (s.ok()) s = PurgeSsd(begin, end);
    if (!s.ok()) Log("CompactRange: %s", s.ToString().c_str());
    return s;
  }).IgnoreError();
}

Status DBImpl::WaitForIdle() {
  return WithMemory([this] { return DoWaitForIdle(); });
}

void DBImpl::StopWaiting() {
  if (fork_guard_.InChild()) return;
  MutexLock lock(&mutex_);
  waiting_stopped_ = true;
  done_.SignalAll();
}

Status DBImpl::DoWaitForIdle() {
  for (;;) {
    Status s = Settle();
    if (!s.ok()) return s;
    MutexLock lock(&mutex_);
    s = WaitForSsd();
    if (s.ok() && waiting_stopped_) return ToldToStop();
    if (!s.ok()) return s;
    MarkGarbage();
    if (!scheduler_.anything_blocked() && !(memtable_->empty() && IsIdle())) continue;
    // Tables that wait for their filter are held until then, also when no version has them any more.
    while (background_error_.ok() && !MustNotWait() && (!unfiltered_.empty() || filtering_)) WaitForBackground(0);
    if (waiting_stopped_) return ToldToStop();
    break;
  }
  // Versions that were pinned a moment ago by reads that are over by now.
  for (int i = 0; i < 100 && states_.Reclaim(); i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Status::OK();
}

Status DBImpl::StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter> writer) {
  return WithMemory([&] { return tracer_.Start(options, std::move(writer)); });
}

Status DBImpl::EndTrace() {
  return WithMemory([this] {
    Status s = tracer_.End();
    if (!s.ok() && !s.IsInvalidArgument()) LogStatus("trace", s);
    return s;
  });
}

void DBImpl::GetApproximateSizes(const Range* range, int n, uint64_t* sizes) {
  std::fill(sizes, sizes + n, 0);
  WithMemory([&] {
    SumSizes(range, n, sizes);
    return Status::OK();
  }).IgnoreError();
}

namespace {

// Bytes of the records of a sorted source in the range.
uint64_t BytesIn(const KeyOrder& order, const Range& range, InternalIterator* records) {
  uint64_t bytes = 0;
  for (records->Seek(range.start, kMaxSequence); records->Valid(); records->Next()) {
    if (order.Compare(records->record().key, range.limit) >= 0) break;
    bytes += records->record().size();
  }
  return bytes;
}

// So many records of a table are looked at, at regular distances if there are more in the range.
constexpr uint64_t kMostSampledRecords = 4096;

// The same of a table. What cannot be read counts as nothing.
uint64_t BytesIn(const Range& range, const PMTable& table) {
  uint64_t from, to;
  if (!table.Seek(range.start, kMaxSequence, false, &from).ok() ||
      !table.Seek(range.limit, kMaxSequence, false, &to).ok() || to <= from) {
    return 0;
  }
  const uint64_t records = to - from;
  if (records == table.entries() && records > kMostSampledRecords) return table.payload_bytes();
  const uint64_t samples = std::min(records, kMostSampledRecords);
  uint64_t sampled = 0;
  for (uint64_t i = 0; i < samples; i++) {
    // The middle of the i-th of as many equal parts, without an overflow.
    const uint64_t place = records / samples * i + records % samples * i / samples + records / samples / 2;
    RecordView record;
    if (table.RecordAt(from + place, false, &record).ok()) sampled += record.size();
  }
  // Mean times number, without an overflow: first the whole bytes of the mean, then what is left.
  return std::min(sampled / samples * records + sampled % samples * records / samples, table.payload_bytes());
}

}  // namespace

void DBImpl::SumSizes(const Range* range, int n, uint64_t* sizes) {
  ReadStates::Pin pin(&states_);
  for (int i = 0; i < n; i++) {
    if (order_.Compare(range[i].start, range[i].limit) >= 0) continue;
    sizes[i] += BytesIn(order_, range[i], pin->memtable->NewIterator().get());
    for (const MemTableRef& memtable : pin->immutables) {
      sizes[i] += BytesIn(order_, range[i], memtable->NewIterator().get());
    }
    for (const auto& level : pin->version->levels) {
      for (const RunRef& run : level) {
        for (const TableRef& table : run->tables) sizes[i] += BytesIn(range[i], *table);
      }
    }
    if (pin->version->ssd != nullptr) sizes[i] += pin->version->ssd->BytesIn(range[i].start, range[i].limit);
  }
}

}  // namespace miodb
