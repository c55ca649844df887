// Picks the next work of the SSD tier: pure functions of a version and of the running jobs.
//
// A drain moves a partition of the repository, whole, into the first SSD level, merged with the files there that
// overlap. A compaction moves a file of one SSD level into the next, in the same way. If there are several candidates,
// the picker takes the candidate with the fewest bytes to rewrite for each byte moved. A rewrite frees one file of its
// tombstones where it is. A file of which everything has expired goes by itself.

#ifndef MIODB_COMPACTION_POLICY_SSD_PICKER_H_
#define MIODB_COMPACTION_POLICY_SSD_PICKER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/version/version.h"

namespace miodb {

// The range of a job: no other job may touch files of these levels in this range of keys.
struct SsdRange {
  int first_level;  // SSD levels first_level and first_level + 1; a drain's is -1
  std::string smallest;
  std::string largest;
};

enum class SsdJobKind : uint8_t {
  kMerge,  // into the output level
  kDrop,   // the file of upper has expired as a whole and hides nothing: it goes, unread
};

struct SsdJob {
  SsdJobKind kind = SsdJobKind::kMerge;
  int output_level = 0;          // an SSD level
  std::vector<TableRef> tables;  // a drain's: partitions in key order
  FileList upper;                // a compaction's: files of the level above, a rewrite's: of the same
  FileList lower;                // files of the output level
  SsdRange range;                // of all of these

  bool is_drain() const { return !tables.empty(); }

  // Whether the files of upper may go to the output level as they are.
  bool is_move() const {
    return tables.empty() && lower.empty() && upper.size() == 1 && output_level > range.first_level;
  }
};

// For the info log.
const char* SsdJobName(const SsdJob& job);

constexpr uint64_t kAnyNumber = UINT64_MAX;

// How a purge treats tombstones.
enum class PurgeWay : uint8_t {
  kPush,     // those that hide something go down, with their table or file, to the next level
  kRewrite,  // those that hide nothing are dropped, and their files stay on their level
};

// Tombstones of one level in a range of keys are to go down, or to be dropped if they hide nothing. Tables and files
// with a number that is not below the request's are left out, so the request comes to an end whatever is written
// meanwhile.
struct PurgeRequest {
  const Slice* begin = nullptr;  // null: from the first key
  const Slice* end = nullptr;    // null: to the last
  int level = -1;                // -1: the repository
  uint64_t before = kAnyNumber;  // tables and files with lower numbers
  uint64_t date_micros = 0;      // what had expired then is as tombstones
  PurgeWay way = PurgeWay::kPush;
};

// The partitions of the repository that are to be drained.
enum class Drains : uint8_t {
  kNone,
  kCheapest,  // the repository is to shrink
  kOldest,    // the log is to get shorter, whatever a drain costs
};

struct SsdPickerInput {
  VersionRef version;
  KeyOrder order{BytewiseComparator()};
  Drains drains = Drains::kNone;
  bool may_drain = false;              // no merge is at work on the whole repository
  std::vector<uint64_t> level_limits;  // bytes that an SSD level may have; the last level has no limit
  const std::vector<SsdRange>* running = nullptr;
  const PurgeRequest* purge = nullptr;              // null: nothing is to be purged
  uint64_t date_micros = 0;                         // what has expired by now; 0: nothing
  bool purge_first = false;                         // its turn has come, whatever else there is to do
  const std::set<uint64_t>* busy_tables = nullptr;  // null: none; of the repository, in jobs that take only some
};

// The sizes that SSD levels but the last may have, first level first. The pool's budget, the levels in use and all that
// is on SSD are in geometric progression, with the fewest levels of which none is more than "multiplier" times the one
// above.
std::vector<uint64_t> AutomaticLevelLimits(uint64_t pool_budget, uint64_t ssd_bytes, int levels, int multiplier);

std::optional<SsdJob> PickSsdJob(const SsdPickerInput& input);

// Checks a job that was picked: its range is free and holds all inputs, of neighbouring levels.
void CheckJob(const SsdPickerInput& input, const SsdJob& job);

// The part of it that only input.purge asks for.
std::optional<SsdJob> PickPurge(const SsdPickerInput& input);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_SSD_PICKER_H_
