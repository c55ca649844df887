// Statistics: counts of a database's work since it was opened, for its properties.
//
// Threads: any; different counts may be read at different moments.

#ifndef MIODB_SRC_DB_STATS_STATISTICS_H_
#define MIODB_SRC_DB_STATS_STATISTICS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/db/stats/op_times.h"
#include "src/nvm/persist/persist.h"
#include "src/util/check/check.h"

namespace miodb {

// A number that only grows. All orders are relaxed: a count says nothing of anything else.
class Counter {
 public:
  void Add(uint64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }

  // Cheaper. REQUIRES: nobody else adds at the same time.
  void AddAlone(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);  // relaxed: see above
  }

  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// With a line of its own.
struct alignas(64) LaneCounter : Counter {};

// The merges into one level.
struct LevelStatistics {
  Counter micros;
  Counter bytes_read;
  Counter bytes_written;

  void Note(uint64_t job_micros, uint64_t read, uint64_t written) {
    micros.Add(job_micros);
    bytes_read.Add(read);
    bytes_written.Add(written);
  }
};

// The reason why a leader waits before there is room for its group.
enum class StallReason : size_t {
  kFlush,    // as many memtables are sealed as may be
  kChunk,    // a chunk of the log that is being made
  kSpace,    // the pool is full: what runs, or can be begun, frees some
  kReaders,  // the pool is full, and readers of other processes hold what is free
  kCount
};
inline constexpr size_t kStallReasons = static_cast<size_t>(StallReason::kCount);
inline constexpr std::array<const char*, kStallReasons> kStallReasonNames = {"flush", "chunk", "space", "readers"};

// Written by the leader alone.
struct StallStatistics {
  Counter count;
  Counter micros;
  std::array<Counter, kStallReasons> by_reason;  // micros; their sum is that of all
};

// Counts of the effects of range deletions.
struct RangeStatistics {
  Counter dropped;  // entries that merges and SSD jobs dropped
  Counter reads;    // records that merges read to find out whether they could
  Counter tables;   // that went without being read because ranges hid all of them
};

// Tables that went as a whole, unread, because everything in them had expired.
struct ExpiredStatistics {
  Counter tables;
  Counter entries;  // of them
};

struct Statistics {
  Statistics(size_t pool_levels, size_t most_ssd_levels) : levels(pool_levels), ssd_levels(most_ssd_levels) {
    CHECK(pool_levels > 0 && most_ssd_levels > 0);
  }

  // Keys and values that were written.
  uint64_t UserBytes() const {
    uint64_t sum = user_bytes.value();
    for (const LaneCounter& lane : lane_user_bytes) sum += lane.value();
    return sum;
  }

  // By the leader of a write group alone; by the writer that has the lane alone.
  Counter user_bytes;
  std::array<LaneCounter, kLogLanes> lane_user_bytes;

  StallStatistics stalls;
  Counter throttle_micros;
  Counter flushes;
  Counter flush_micros;
  Counter merges;
  Counter merge_micros;
  Counter merge_record_bytes;  // of records that merges read
  RangeStatistics ranges;
  Counter quiet_merges;    // that nobody waited for, begun because no write had come for a while
  Counter quiet_given_up;  // of them, because a write came
  Counter quiet_bytes;     // that they wrote
  ExpiredStatistics expired;
  Counter drains;
  Counter drain_bytes;  // written by drains
  Counter ssd_compactions;
  Counter ssd_compaction_bytes;
  Counter ssd_read_bytes;  // by both
  Counter ssd_micros;
  Counter ring_reads;  // by MultiGet, with io_uring

  std::vector<LevelStatistics> levels;
  std::vector<LevelStatistics> ssd_levels;

  std::unique_ptr<OpTimes> times;  // null: not wanted
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATS_STATISTICS_H_
