// The recording side of a trace, one in every database.
//
// Threads: any. While no trace runs, a look at the mode costs one load of an atomic and one branch that is not taken. A
// get looks once, a write more than once, and an iterator counts its moves besides; docs/tracing.md has the
// instructions of each call. While a trace runs, records are made and written under one mutex, which is held with no
// other and under which none is taken; so times never go back within a trace.
//
// Errors: the first failure of the writer, or lack of memory, ends the recording and is what End returns. The calls
// that are traced never fail because of it.

#ifndef MIODB_SRC_TRACE_TRACER_H_
#define MIODB_SRC_TRACE_TRACER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "miodb/trace.h"
#include "src/trace/trace_recorder.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class Tracer {
 public:
  // has_families: as KeyOrder. Keys that are traced have the prefix of their family.
  explicit Tracer(const std::atomic<bool>* has_families = &kNoFamilies) : has_families_(has_families) {
    DCHECK(has_families != nullptr);
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Fails with InvalidArgument if a trace runs already or an option is out of range.
  Status Start(const TraceOptions& options, std::unique_ptr<TraceWriter> writer);

  // Writes the end record and closes the writer. InvalidArgument if no trace runs.
  Status End();

  // A call that is to be traced could not be: the trace that runs, if one does, ends with this error, unless it has one
  // already. REQUIRES: s is an error.
  void Fail(const Status& s) EXCLUDES(mutex_);

  // Relaxed, all three: the calls below look again under the mutex; who misses a start or an end by an instant was
  // before it or after it.
  bool active() const { return mode_.load(std::memory_order_relaxed) != Mode::kOff; }
  bool wants_calls() const { return mode_.load(std::memory_order_relaxed) == Mode::kAsCalled; }
  bool wants_order() const { return mode_.load(std::memory_order_relaxed) == Mode::kAsApplied; }

  // To be called when wants_calls() at the call, or when wants_order() in the order of the log.
  // type: of a batch's updates (write_batch_internal.h). value: empty where the type has none.
  void Update(uint8_t type, const Slice& key, const Slice& value);
  void Batch(const Slice& batch);

  void Get(const Slice& key);
  void MultiGet(const std::vector<Slice>& keys);

  // A seek that was recorded, by which its scan is recorded later.
  struct SeekId {
    uint64_t trace = 0;  // 0: not recorded
    uint64_t micros = 0;
  };

  // family: whose iterator it is. The prefix of the family, and bounds that are merely the ends of its range, are not
  // recorded.
  SeekId Seek(TraceType type, uint32_t family, const Slice& key, const Slice* lower, const Slice* upper);

  // The iterator that made a recorded seek was moved this far and is now moved elsewhere or destroyed.
  void Scan(const SeekId& seek, uint32_t family, const Slice& key, uint64_t nexts, uint64_t prevs);

 private:
  // relaxed: as KeyOrder::OfFamily.
  UserKey UserKeyOf(const Slice& key) const {
    return has_families_->load(std::memory_order_relaxed) ? SplitFamilyKey(key) : key;
  }

  enum class Mode : int { kOff, kAsCalled, kAsApplied };

  bool Fits(uint64_t payload_bytes) EXCLUDES(mutex_);
  bool Takes(TraceFilter type) REQUIRES(mutex_);
  template <typename Encode>
  uint64_t RecordCall(TraceFilter type, Encode encode);

  const std::atomic<bool>* const has_families_;
  std::atomic<Mode> mode_{Mode::kOff};

  Mutex mutex_;
  TraceRecorder recorder_ GUARDED_BY(mutex_);
  TraceOptions options_ GUARDED_BY(mutex_);
  uint64_t trace_ GUARDED_BY(mutex_) = 0;    // counts the traces
  uint64_t skipped_ GUARDED_BY(mutex_) = 0;  // calls since the last one that was recorded
};

// Counts of an iterator for the tracer.
class SeekTrace {
 public:
  // Without a tracer nothing is traced. The tracer and the bounds outlive this. family: whose iterator it is.
  SeekTrace(Tracer* tracer, uint32_t family, const Slice* lower, const Slice* upper)
      : tracer_(tracer), family_(family), lower_(lower), upper_(upper) {}
  SeekTrace(const SeekTrace&) = delete;
  SeekTrace& operator=(const SeekTrace&) = delete;
  ~SeekTrace() {
    DCHECK(tracer_ != nullptr || seek_.trace == 0);
    if (seek_.trace != 0) [[unlikely]]
      EndScan();
  }

  void OnSeek(TraceType type, const Slice& key) {
    if (tracer_ != nullptr && (tracer_->active() || seek_.trace != 0)) [[unlikely]]
      Begin(type, key);
  }
  void OnNext() { nexts_++; }
  void OnPrev() { prevs_++; }

 private:
  void Begin(TraceType type, const Slice& key);
  void EndScan();

  Tracer* const tracer_;
  const uint32_t family_;
  const Slice* const lower_;
  const Slice* const upper_;
  uint64_t nexts_ = 0;
  uint64_t prevs_ = 0;
  Tracer::SeekId seek_;
  std::string key_;  // of the seek
};

}  // namespace miodb

#endif  // MIODB_SRC_TRACE_TRACER_H_
