// The one door to persistent memory.
//
// Every store that must survive goes through Copy here and becomes durable at the next Fence by the same
// thread; no other file of the tree includes libpmem. So this is where costs are counted, and where a simulator can
// stand between the engine and the memory.
//
// If the power fails right after a call, it leaves:
//   Copy    any subset of the 8-byte words written, until the same thread's Fence returned OK
//   Fence   everything this thread stored before it; in file mode what was stored for purposes of the same stream, by
//           any thread
// Nothing above 8 bytes is atomic, so publishing is one checksummed record, after a Fence.
//
// Threads: any number at once, on disjoint bytes. Counters of Purpose::kLog are kept by one thread at a time (the
// leader of a write group), those of a lane by the writer that has it, all others by any.

#ifndef MIODB_SRC_NVM_PERSIST_PERSIST_H_
#define MIODB_SRC_NVM_PERSIST_PERSIST_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/emulation/nvm_model.h"
#include "src/nvm/persist/persist_hook.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

// Why bytes are written. The order is that of the names in persist.cc.
enum class Purpose : int { kLog, kFlush, kMerge, kLazyCopy, kEvacuation, kManifest, kCount };

const char* PurposeName(Purpose purpose);

// The ranges that a fence of file mode syncs together. With a stream for each, a write does not wait for tables or
// edits, and an edit does not wait for the log.
enum class SyncStream : int { kLog, kTables, kManifest, kCount };

SyncStream StreamOf(Purpose purpose);

// "pmem", "emulated" or "file".
const char* PersistModeName(PersistMode mode);

// Writers that store into the log beside one another have a lane each, which is theirs alone meanwhile.
inline constexpr size_t kLogLanes = 64;

// Stores of a purpose since the pool was opened.
struct alignas(64) PersistCounters {
  std::atomic<uint64_t> bytes{0};   // as asked for
  std::atomic<uint64_t> lines{0};   // 64-byte lines touched
  std::atomic<uint64_t> units{0};   // 256-byte units touched: what the medium inside Optane writes
  std::atomic<uint64_t> fences{0};  // in file mode: msync rounds
};
static_assert(sizeof(PersistCounters) == 64);  // writers of one purpose disturb no others

class Persist {
 public:
  // mode is what the medium gives, never kPersistAuto; path is what errors name. hook: see persist_hook.h; ignored but
  // in the simulator build.
  explicit Persist(PersistMode mode, std::string path = "pool", PersistHook* hook = nullptr)
      : mode_(mode), path_(std::move(path)), hook_(hook) {
    CHECK_NE(mode_, kPersistAuto);
    if (mode_ == kPersistFile) ReserveRanges();
  }
  Persist(const Persist&) = delete;
  Persist& operator=(const Persist&) = delete;

  PersistMode mode() const { return mode_; }

  // Charges every store to a model of other memory, and tells it of flushes and fences. The model outlives this. Before
  // the first store.
  void SetModel(NvmModel* model) {
    CHECK_EQ(TotalBytes(), 0u);
    CHECK(model_ == nullptr);
    model_ = model;
  }

  // Whether a fence costs a system call, so that an unsynced write should go without.
  bool fence_is_slow() const { return mode_ == kPersistFile; }

  // Stores n bytes at dst and starts their way to the medium.
  void Copy(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_PARAMETER);

  // Copy and Fence for Purpose::kLog, by the writer that has this lane. REQUIRES: a fence is not slow.
  void CopyBeside(size_t lane, char* dst, const void* src, size_t n MIODB_SITE_PARAMETER);
  void FenceBeside(size_t lane MIODB_SITE_PARAMETER);

  // Copy of what is only a hint after a crash: in file mode no fence waits for it, and the kernel writes it when it
  // likes.
  void CopyHint(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_PARAMETER);

  // Starts the way to the medium of n bytes that are already at addr: stores of a process that died before its fence.
  void Flush(Purpose purpose, char* addr, size_t n MIODB_SITE_PARAMETER);

  // Has the next fence of this purpose cover n bytes at addr that other threads copied for the log without a fence.
  // Does nothing outside of file mode.
  void Cover(Purpose purpose, const char* addr, size_t n);

  // Returns when everything this thread copied before for purposes of this one's stream is durable; outside of file
  // mode for all purposes. Fails only in file mode, with the error of msync; what was copied since the last good fence
  // is then in doubt. The kernel drops pages that it could not write and tells nobody twice, so a second msync would
  // succeed for what is lost: after a failure every later fence fails as well.
  Status Fence(Purpose purpose MIODB_SITE_PARAMETER);

  const PersistCounters& counters(Purpose purpose) const {
    DCHECK_LT(purpose, Purpose::kCount);
    return counters_[static_cast<int>(purpose)];
  }

  // Counters of a lane, on top of those of Purpose::kLog.
  const PersistCounters& lane_counters(size_t lane) const {
    DCHECK_LT(lane, kLogLanes);
    return lanes_[lane];
  }

  // Bytes stored for all purposes.
  uint64_t TotalBytes() const;

 private:
  friend class InShare;

  struct DirtyRange {
    uintptr_t begin;
    uintptr_t end;
    uint64_t marked;  // marks_ when a store was last added
  };

  // A round of msync takes all ranges of a stream that are dirty when it begins. Rounds end in the order in which they
  // began, so whatever was marked before a fence is durable when the round of that fence ends, also what others took.
  struct Stream {
    std::vector<DirtyRange> dirty;  // kMaxDirtyRanges at most, for which there is room from the beginning
    uint64_t rounds_begun = 0;
    uint64_t rounds_ended = 0;
  };

  bool Store(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT);
  bool StoreBytes(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT);
  Status FenceApart(Purpose purpose);
  void MarkDirty(SyncStream stream, const char* addr, size_t n);
  Status SyncDirty(SyncStream stream);
  int SyncRange(const DirtyRange& range) const;
  static void JoinRanges(std::vector<DirtyRange>* ranges);
  void ReserveRanges() NO_THREAD_SAFETY_ANALYSIS;
  bool RoundRuns() const REQUIRES(dirty_mutex_);
  Stream& StreamAt(SyncStream stream) REQUIRES(dirty_mutex_) { return streams_[static_cast<int>(stream)]; }

  const PersistMode mode_;
  const std::string path_;
  NvmModel* model_ = nullptr;
  PersistHook* const hook_;
  PersistCounters counters_[static_cast<int>(Purpose::kCount)];
  PersistCounters lanes_[kLogLanes];

  // File mode only. A store waits for this mutex and never for an msync.
  Mutex dirty_mutex_;
  Stream streams_[static_cast<int>(SyncStream::kCount)] GUARDED_BY(dirty_mutex_);
  uint64_t marks_ GUARDED_BY(dirty_mutex_) = 0;
  CondVar round_ended_{&dirty_mutex_};
  int failure_ GUARDED_BY(dirty_mutex_) = 0;  // errno of the first round that failed; 0: none did
};

// While this lives, the calling thread does a share of a job: for the hook of the simulator build, a thread of its own.
class InShare {
 public:
  InShare(const Persist* persist, Purpose purpose, size_t share) : hook_(persist->hook_) {
    if (hook_ != nullptr) hook_->OnShareBegin(purpose, share);
  }
  ~InShare() {
    if (hook_ != nullptr) hook_->OnShareEnd();
  }
  InShare(const InShare&) = delete;
  InShare& operator=(const InShare&) = delete;

 private:
  PersistHook* const hook_;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_PERSIST_PERSIST_H_
