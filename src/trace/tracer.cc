#include "src/trace/tracer.h"

#include <utility>

#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// A recorded call, step by step: the caller sees by one relaxed load that a trace runs; under the mutex it is asked
// whether the call passes the filter, the sampling and the size limit (Takes); the recorder makes the record, gives it
// its time and writes it.
//
// Errors stay there: the first one ends the recording, and is what End returns. No call of the database fails or waits
// for a trace longer than for the mutex and one write into the writer's buffer.

namespace miodb {

namespace {

constexpr uint64_t kAllFilters =
    kTraceFilterGet | kTraceFilterWrite | kTraceFilterSeek | kTraceFilterSeekForPrev | kTraceFilterMultiGet;

// More than a payload has besides keys and bounds: bitmap, column family, lengths.
constexpr uint64_t kAroundKeys = 64;

// A key or a bound of an iterator of this family, in the form that the user knows. The end of the family's range, which
// stands for no bound, is none of the family's keys.
UserKey InFamily(uint32_t family, const Slice& key) {
  if (family == kDefaultFamily) return key;
  return {family, FamilyOf(key) == family ? KeyInFamily(key) : Slice()};
}

}  // namespace

// mode_ rises last, when the first record is written. Calls look at it without the lock and again under it; a call
// that began before is in the trace or not, as if it had been made before or after.
// Options are looked at before the mutex is taken, and before anything of a trace that runs is touched.
Status Tracer::Start(const TraceOptions& options, std::unique_ptr<TraceWriter> writer) {
  if (writer == nullptr) return Status::InvalidArgument("StartTrace", "the writer must not be null");
  if (options.sampling_frequency == 0) {
    return Status::InvalidArgument("TraceOptions::sampling_frequency", "0 is not 1 or more");
  }
  if ((options.filter & ~kAllFilters) != 0) {
    return Status::InvalidArgument("TraceOptions::filter", std::to_string(options.filter) + " has unknown bits");
  }
  const MutexLock lock(&mutex_);
  if (recorder_.runs()) return Status::InvalidArgument("StartTrace", "a trace is running already");
  DCHECK(mode_.load(std::memory_order_relaxed) == Mode::kOff);  // relaxed: changes under the mutex alone
  options_ = options;
  trace_++;  // so that scans of seeks of an earlier trace are known
  skipped_ = 0;
  Status s = recorder_.Begin(std::move(writer), options.own_records);
  if (!s.ok()) return s;
  // From here on calls are recorded: writes when they are made or, if so wished, by the leader in the order of the log.
  mode_.store(options.preserve_write_order ? Mode::kAsApplied : Mode::kAsCalled, std::memory_order_relaxed);
  return s;
}

// mode_ falls first, under the lock that every record is made under, so nothing comes behind the end record.
Status Tracer::End() {
  const MutexLock lock(&mutex_);
  if (!recorder_.runs()) return Status::InvalidArgument("EndTrace", "no trace is running");
  DCHECK(mode_.load(std::memory_order_relaxed) != Mode::kOff);  // relaxed: as in Start
  mode_.store(Mode::kOff, std::memory_order_relaxed);
  return recorder_.End();
}

// The filter comes before the sampling.
bool Tracer::Takes(TraceFilter type) {
  // Calls that the filter leaves out do not count for the sampling, and neither do calls that come when the file is
  // full.
  if (!recorder_.runs() || !recorder_.status().ok()) return false;
  if ((options_.filter & static_cast<uint64_t>(type)) != 0) return false;
  if (recorder_.bytes() > options_.max_trace_file_size) return false;
  CHECK_LT(skipped_, options_.sampling_frequency);
  if (++skipped_ < options_.sampling_frequency) return false;
  skipped_ = 0;
  return true;
}

// The time is taken under the mutex, so times ascend in the file.
template <typename Encode>
uint64_t Tracer::RecordCall(TraceFilter type, Encode encode) {
  const MutexLock lock(&mutex_);
  if (!Takes(type)) return 0;
  return recorder_.Record(encode);
}

// A single update is recorded as a batch, as the format has only batches.
void Tracer::Update(uint8_t type, const Slice& key, const Slice& value) {
  RecordCall(kTraceFilterWrite,
             [&](TraceEncoder encoder, uint64_t micros) { encoder.Update(micros, type, UserKeyOf(key), value); });
}

// With its header, whose sequence is whatever the program's batch had.
void Tracer::Batch(const Slice& batch) {
  RecordCall(kTraceFilterWrite, [&](TraceEncoder encoder, uint64_t micros) { encoder.Batch(micros, batch); });
}

// Without a trace there is nothing to fail: it has ended since its caller looked.
void Tracer::Fail(const Status& s) {
  CHECK(!s.ok());
  const MutexLock lock(&mutex_);
  if (recorder_.runs()) recorder_.Fail(s);
}

// Keys of reads have no limit of their own. A call that no record can hold would be missing without a word, so it ends
// the trace with an error.
bool Tracer::Fits(uint64_t payload_bytes) {
  if (payload_bytes <= kMaxTracePayload) return true;
  Fail(Status::InvalidArgument("trace", "the keys of a call do not fit into a record"));
  return false;
}

// The get is recorded before it looks for anything, so the record is there whether the key is or not.
void Tracer::Get(const Slice& key) {
  if (!Fits(key.size() + kAroundKeys)) return;
  RecordCall(kTraceFilterGet, [&](TraceEncoder encoder, uint64_t micros) { encoder.Get(micros, UserKeyOf(key)); });
}

void Tracer::MultiGet(const std::vector<Slice>& keys) {
  // RocksDB takes a record without a key for damage.
  if (keys.empty() || !Fits(TraceEncoder::MultiGetPayload(keys))) return;
  RecordCall(kTraceFilterMultiGet, [&](TraceEncoder encoder, uint64_t micros) {
    std::vector<UserKey> user_keys;
    for (const Slice& key : keys) user_keys.push_back(UserKeyOf(key));
    encoder.MultiGet(micros, user_keys);
  });
}

// The time of the record is the seek's name, by which a reader finds the scan that belongs to it; two seeks of one
// microsecond may share it, and are told apart by their keys.
Tracer::SeekId Tracer::Seek(TraceType type, uint32_t family, const Slice& key, const Slice* lower, const Slice* upper) {
  CHECK(type == kTraceSeek || type == kTraceSeekForPrev || type == kTraceSeekToFirst || type == kTraceSeekToLast);
  const uint64_t bounds = (lower != nullptr ? lower->size() : 0) + (upper != nullptr ? upper->size() : 0);
  if (!Fits(key.size() + bounds + kAroundKeys)) return {};
  const MutexLock lock(&mutex_);
  const bool is_own = type != kTraceSeek && type != kTraceSeekForPrev;
  if (is_own && !options_.own_records) return {};
  if (!Takes(type == kTraceSeekForPrev ? kTraceFilterSeekForPrev : kTraceFilterSeek)) return {};
  const UserKey user_key = InFamily(family, key);
  const Slice user_lower = lower == nullptr ? Slice() : InFamily(family, *lower).key;
  const Slice user_upper = upper == nullptr ? Slice() : InFamily(family, *upper).key;
  const uint64_t micros = recorder_.Record(
      [&](TraceEncoder encoder, uint64_t now) { encoder.Seek(now, type, user_key, &user_lower, &user_upper); });
  return micros == 0 || !options_.own_records ? SeekId{} : SeekId{trace_, micros};
}

// A scan is neither filtered nor sampled: it goes with its seek. A scan that belongs to an earlier trace is dropped, as
// its seek is not in this trace.
void Tracer::Scan(const SeekId& seek, uint32_t family, const Slice& key, uint64_t nexts, uint64_t prevs) {
  CHECK_GT(seek.trace, 0u);
  const MutexLock lock(&mutex_);
  CHECK_LE(seek.trace, trace_);  // no iterator knows of a trace to come
  if (!recorder_.runs() || seek.trace != trace_ || recorder_.bytes() > options_.max_trace_file_size) return;
  recorder_.Record([&](TraceEncoder encoder, uint64_t micros) {
    encoder.Scan(micros, seek.micros, InFamily(family, key), nexts, prevs);
  });
}

// The scan before ends where the iterator is sent elsewhere, and is recorded then: how far it went is not known
// earlier.
void SeekTrace::Begin(TraceType type, const Slice& key) {
  CHECK(tracer_ != nullptr);
  if (seek_.trace != 0) EndScan();
  nexts_ = prevs_ = 0;
  const Status s = NoThrow("trace", [&] {
    key_.assign(key.data(), key.size());
    return Status::OK();
  });
  if (!s.ok()) return tracer_->Fail(s);  // the seek goes on
  // A seek that the tracer leaves out, for its filter or sampling, has the number 0 and no scan.
  seek_ = tracer_->Seek(type, family_, key, lower_, upper_);
}

void SeekTrace::EndScan() {
  CHECK(tracer_ != nullptr && seek_.trace != 0);
  tracer_->Scan(seek_, family_, key_, nexts_, prevs_);
  seek_ = Tracer::SeekId();
}

}  // namespace miodb
