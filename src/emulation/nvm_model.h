// A model of memory that is slower than the one this machine has: waits for as long as it would have taken more.
//
// Reads wait for every 256-byte unit that is not in the modelled cache, less if it goes on with one of the thread's
// last few streams of units, and more if the device has a cache of its own that its page is not in. Writes fill a
// bucket that empties at the medium's bandwidth, by units touched, and wait when it is full; units that are read and
// not in the cache fill another one. Waiting is spinning, so a thread that waits for memory uses its CPU, as it would.
//
// Not modelled are banks, reordering, wear, the processor's own caches (the modelled cache has tags of its own), reads
// and writes in each other's way. Latency is charged to each thread alone; all threads of a region share its
// bandwidths. docs/nvm_model.md gives the sources of the figures.
//
// Threads: any number at once.

#ifndef MIODB_SRC_EMULATION_NVM_MODEL_H_
#define MIODB_SRC_EMULATION_NVM_MODEL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/status.h"
#include "miodb/trace.h"
#include "src/emulation/access_sink.h"
#include "src/emulation/spin_clock.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

struct NvmModelFigures {
  std::string name;
  double read_random_nanos = 0;       // more than here, of a unit in no order
  double read_sequential_nanos = 0;   // of the unit behind one that the thread read just before
  double read_bytes_per_second = 0;   // of all threads together, cached units aside; 0: no limit
  double write_bytes_per_second = 0;  // the same of writes
  double burst_bytes = 16 * 1024;     // what the medium's buffers take at once, and what may be read ahead of its rate
  double cache_bytes = 16 << 20;      // of units that are read for nothing
  double remote_factor = 1;           // multiplies latencies, misses of the device aside, and divides bandwidths
  double device_cache_bytes = 0;      // of a cache of pages in the device, in front of slower memory; 0: there is none
  double device_miss_nanos = 0;       // more for a unit whose page is not in it
  double fast_regions = 0;            // so many regions, from the first on, are memory as it is: they cost nothing

  // Parses "none", a preset's name, or a file of lines "name = value" with the names above. "none" and "" give *off.
  // Presets: "optane", "cxl", "cxl-switch", "cmm-h" or "cmm-h:BYTES" with so large a cache in the device, and "count"
  // or "count:BYTES", which waits for nothing: it counts what is read, beside a cache of so many bytes. InvalidArgument
  // names the file, the line and the reason.
  static Status Parse(const std::string& model, NvmModelFigures* figures, bool* off);

  // A line with all figures.
  std::string Describe() const;
};

// The last units of the streams that a thread reads, a leaf's and a record's for example. A thread has its own.
class NvmStreams {
 public:
  // Whether the unit goes on with one of the last kStreams streams, or is the last one of it again; otherwise it
  // begins a new stream in the place of the oldest. A device reads ahead in a similar way, for a few streams at once.
  bool Follows(uint64_t unit) {
    for (uint64_t& last : last_) {
      if (last + 1 != unit && last != unit) continue;
      last = unit;
      return true;
    }
    last_[next_++ % kStreams] = unit;
    return false;
  }

 private:
  static constexpr unsigned kStreams = 4;
  static_assert((kStreams & (kStreams - 1)) == 0);  // so that the count may begin at 0 again
  uint64_t last_[kStreams] = {};
  unsigned next_ = 0;
};

class NvmModel {
 public:
  explicit NvmModel(const NvmModelFigures& figures);
  NvmModel(const NvmModel&) = delete;
  NvmModel& operator=(const NvmModel&) = delete;

  const NvmModelFigures& figures() const { return figures_; }

  // Tells the regions of a pool apart: each has bandwidths of its own. By one thread at a time.
  void AddRegion(const char* begin, uint64_t size);

  // Tells the sink of every access, and changes the caches in the order in which it is told. Before the first access
  // and with one region at least; the sink outlives this.
  void TraceTo(AccessSink* sink) {
    CHECK(sink_ == nullptr && sink != nullptr);
    sink_ = sink;
  }

  // [p, p + size) is about to be read, or written and flushed.
  void Read(const void* p, size_t size);
  void Write(TraceAccess::Purpose purpose, const void* p, size_t size);

  // For the sink alone: a flush of what is in its place, and a fence, cost nothing more.
  void Flush(TraceAccess::Purpose purpose, const void* p, size_t size);
  void Fence(TraceAccess::Purpose purpose);

  // Units of a read that are not in the modelled cache, and those whose pages are not in the device's.
  struct ReadCost {
    uint64_t random = 0;
    uint64_t sequential = 0;
    uint64_t missed = 0;
  };

  // Count as Read and Write do, without waiting, the accesses that a trace has. streams: of the thread that read.
  ReadCost CountRead(const void* p, size_t size, NvmStreams* streams);
  void CountWrite(const void* p, size_t size);

  // Units that reads found in the modelled cache, and those that they did not.
  uint64_t cached_units() const { return cached_units_.load(std::memory_order_relaxed); }  // relaxed: a statistic
  uint64_t read_units() const { return random_units() + sequential_units(); }

  // Reads of units whose pages were not in the device's cache.
  uint64_t device_misses() const { return device_misses_.load(std::memory_order_relaxed); }  // relaxed: a statistic

  // The time that was waited, for tests and properties.
  uint64_t read_nanos() const {
    return static_cast<uint64_t>(static_cast<double>(random_units()) * random_nanos_ +
                                 static_cast<double>(sequential_units()) * sequential_nanos_ +
                                 static_cast<double>(device_misses()) * figures_.device_miss_nanos) +
           queue_nanos_.load(std::memory_order_relaxed);  // relaxed: a statistic
  }
  uint64_t write_nanos() const { return write_nanos_.load(std::memory_order_relaxed); }  // relaxed: a statistic

 private:
  static constexpr unsigned kUnitShift = 8;
  static constexpr unsigned kPageShift = 12;  // of the device's cache

  static constexpr int kMaxRegions = 16;

  struct Bucket {
    uintptr_t begin = 0;
    uint64_t size = 0;
    // When they are empty, on clock_.
    std::atomic<uint64_t> read_until{0};
    std::atomic<uint64_t> written_until{0};
  };

  // The content of a cache that has a single place for each block (direct-mapped).
  class Tags {
   public:
    explicit Tags(uint64_t places);

    // Whether the block is there; from now on it is.
    bool Touch(uint64_t block);

   private:
    struct Free {
      void operator()(std::atomic<uint16_t>* tags) const;
    };

    const uint64_t places_;
    const int shift_;                                            // places_ is 1 << shift_; -1: no power of two
    const std::unique_ptr<std::atomic<uint16_t>[], Free> tags_;  // of the blocks, by their place
  };

  uint64_t random_units() const { return random_units_.load(std::memory_order_relaxed); }  // relaxed: a statistic
  uint64_t sequential_units() const { return sequential_units_.load(std::memory_order_relaxed); }  // relaxed: the same
  int RegionOf(uintptr_t address) const;
  bool IsFast(const void* p) const {
    return figures_.fast_regions > 0 && RegionOf(reinterpret_cast<uintptr_t>(p)) < figures_.fast_regions;
  }
  ReadCost TracedRead(const void* p, size_t size);
  void Tell(TraceAccess::Kind kind, TraceAccess::Purpose purpose, const void* p, size_t size) REQUIRES(order_);
  uint16_t ThreadNumber() REQUIRES(order_);
  void Charge(int region, uint64_t ticks);
  uint64_t ChargeRead(uintptr_t address, uint64_t units, uint64_t now);

  const uint64_t id_;  // of all models of the process
  const NvmModelFigures figures_;
  const SpinClock& clock_;
  const double random_nanos_;
  const double sequential_nanos_;
  const double read_ticks_per_byte_;   // 0: no limit
  const double write_ticks_per_byte_;  // 0: no limit
  const uint64_t read_burst_ticks_;
  const uint64_t write_burst_ticks_;
  Tags units_;                         // in the modelled cache
  const std::unique_ptr<Tags> pages_;  // in the device's cache; null: it has none
  AccessSink* sink_ = nullptr;         // null: nobody is told
  Mutex order_;                        // held while the sink is told and the caches change
  uint64_t threads_ GUARDED_BY(order_) = 0;
  Bucket buckets_[kMaxRegions];
  std::atomic<int> regions_{0};
  std::atomic<uint64_t> cached_units_{0};
  std::atomic<uint64_t> random_units_{0};  // read and not in the cache
  std::atomic<uint64_t> sequential_units_{0};
  std::atomic<uint64_t> device_misses_{0};
  std::atomic<uint64_t> queue_nanos_{0};  // what reads waited for bandwidth, on top of their latency
  std::atomic<uint64_t> write_nanos_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_EMULATION_NVM_MODEL_H_
