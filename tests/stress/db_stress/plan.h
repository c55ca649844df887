// The plan of db_stress, as functions of the seed: keys, values, options, operations. Nothing here keeps state, so the
// supervisor, the worker that it kills, the verifier after it and a repeated run all know the same.
//
// Data is written in units: one key, or eight keys that are only ever written together in one batch. Each write of a
// unit gives it its next version, a number that is never used twice, and a version says whether it is a deletion and
// which value every key of the unit has. So whatever a read returns tells which write it comes from. A version may also
// be merged (operands.h); some units of one key are only ever put after a single deletion, in one batch with it.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_PLAN_H_
#define MIODB_TESTS_STRESS_DB_STRESS_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/options.h"
#include "miodb/slice.h"

namespace miodb::test {

constexpr int kMaxStressWriters = 4;
constexpr uint32_t kMaxStressUnits = 4096;
constexpr uint32_t kMembersOfGroup = 8;
constexpr uint64_t kMaxStressOperations = uint64_t{1} << 18;  // of one writer in one round

// How large values are.
enum class ValueProfile { kFast, kSmall, kMixed, kLarge };

struct StressKey {
  std::string text;
  uint32_t unit;
  uint32_t member;
};

// The data of a database that stays the same over its rounds.
class StressData {
 public:
  StressData(uint64_t seed, uint64_t generation, bool fast);

  uint64_t pool_size() const { return pool_size_; }  // 0: no limit
  bool ssd() const { return ssd_; }                  // with an SSD tier
  bool two_regions() const { return two_regions_; }  // a small file, and one without a limit
  bool is_volatile() const { return is_volatile_; }  // the pool is, if there is an SSD tier
  uint32_t units() const { return units_; }
  ValueProfile profile() const { return profile_; }

  static uint32_t Members(uint32_t unit) { return unit % 4 == 0 ? kMembersOfGroup : 1; }

  // All keys in their order.
  const std::vector<StressKey>& keys() const { return keys_; }
  // Position in keys().
  uint32_t Rank(uint32_t unit, uint32_t member) const { return ranks_[unit * kMembersOfGroup + member]; }

  // Version 0, before the first write, counts as a deletion.
  bool IsDeletion(uint32_t unit, uint32_t version) const;
  // Whether the unit's deletions are single deletions, and each put comes behind one; a unit of this kind has one key.
  static bool IsSingle(uint32_t unit) { return unit % 8 == 5; }
  // Whether the version is merged into the one before. REQUIRES: it is no deletion, and the unit not single.
  bool IsMerged(uint32_t unit, uint32_t version) const;
  std::string Value(uint32_t unit, uint32_t member, uint32_t version) const;
  // Whether value is the one of this version, without making it.
  bool IsValue(uint32_t unit, uint32_t member, uint32_t version, const Slice& value) const;
  // The version that a value of 4 bytes or more claims to be of; shorter ones do not say.
  static bool ClaimedVersion(const Slice& value, uint32_t* version);

 private:
  size_t ValueSize(uint64_t hash) const;
  uint64_t Hash(uint32_t unit, uint32_t member, uint32_t version) const;

  const uint64_t salt_;
  uint64_t pool_size_ = 0;
  bool ssd_ = false;
  bool is_volatile_ = false;
  bool two_regions_ = false;
  uint32_t units_ = 0;
  ValueProfile profile_ = ValueProfile::kMixed;
  std::vector<StressKey> keys_;
  std::vector<uint32_t> ranks_;
};

enum class KillTarget { kOpening, kWriting, kFlushing, kCompacting, kClosing, kNever };

// A run of a worker on a database.
struct StressRound {
  uint64_t number = 0;
  Options options;
  int writers = 1;
  KillTarget target = KillTarget::kWriting;
  uint64_t run_micros = 0;          // before the kill, or before the worker is asked to close
  uint64_t late_micros = 0;         // from reaching the phase to the kill
  bool verifier_is_killed = false;  // once, before it may finish
  uint64_t verifier_micros = 0;
  uint64_t file_faults = 0;  // one of so many writes of the worker to files of the SSD tier fails; 0: none
  bool settles = false;      // the verifier also waits for idle and looks at the space

  // A line for people.
  std::string Describe() const;
};

struct StressFlags {
  uint64_t seed = 1;
  int threads = 0;     // writers; 0: by the seed
  bool reads = false;  // no kills, small values, readers at full speed
  bool ssd = false;    // an SSD tier for every database, not only for those that the seed says
};

constexpr uint64_t kRoundsOfGeneration = 12;

inline uint64_t GenerationOf(uint64_t round) { return round / kRoundsOfGeneration; }

StressRound PlanRound(const StressFlags& flags, const StressData& data, uint64_t round);

// The units that operation n of a writer writes, all of them its own; a single key goes in without a batch.
std::vector<uint32_t> PlanOperation(uint64_t seed, const StressData& data, const StressRound& round, int writer,
                                    uint64_t n);

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_PLAN_H_
