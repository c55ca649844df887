// Runs a history on simulated memory, crashes it wherever it matters, and checks what every crash leaves.
//
//   1 The history runs on a medium. Before every fence takes effect, and whenever a write was acknowledged, it stops.
//     (What can be left between two fences can also be left just before the second; and what is promised only grows.)
//   2 Of the lines open then, images are chosen (choices.h); one more is what a killed process leaves.
//   3 Each image that was not seen before is opened by the engine's recovery and compared with the oracle: gets, scans
//     both ways, and the account of space.
//   4 That recovery is crashed in the same way, and the recovery after it once more.
//   5 Some images are then written to, flushed, merged, and opened again.
//
// Everything follows from history, configuration and settings. Threads: one.

#ifndef MIODB_TESTS_SIMULATION_EXPLORER_H_
#define MIODB_TESTS_SIMULATION_EXPLORER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "src/db/open/db_impl.h"
#include "tests/simulation/choices.h"
#include "tests/simulation/history.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/sim_env.h"
#include "tests/simulation/sim_medium.h"

namespace miodb::sim {

// A crash of the history, then one of its recovery, then one of that recovery's recovery.
inline constexpr int kMaxDepth = 3;

struct Settings {
  Mode mode = Mode::kAdr;
  ChoiceLimits limits[kMaxDepth];  // of a crash of the history, of its recovery, of the recovery after that
  uint64_t recover_one_in[kMaxDepth] = {0, 64, 64};  // crash the recovery of one image in so many; 0: of none
  uint64_t recover_killed_one_in = 1;                // the same for what a kill left uncertain
  uint64_t go_on_one_in = 8;                         // write to one image in so many
  uint64_t go_on_crashed_one_in = 64;                // and crash that in one case in so many
  bool check_pairs = true;
  bool check_flushes = true;  // that every store is flushed, also where no crash would show it
  SiteFault fault;
  std::string merge_policy;  // instead of the configuration's; empty: that
  uint64_t max_images = UINT64_MAX;
  const volatile bool* stop = nullptr;
};

// Counts of events, summed over all histories.
struct Totals {
  uint64_t histories = 0;
  uint64_t images = 0;     // opened and checked
  uint64_t beside = 0;     // writes of writers beside one another
  uint64_t repeated = 0;   // not opened: the same bytes with the same promises had been
  uint64_t killed = 0;     // of images: of a killed process
  uint64_t deep = 0;       // of images: of a crash in a recovery
  uint64_t went_on = 0;    // of images: written to and opened again
  uint64_t points = 0;     // crash points
  uint64_t exhausted = 0;  // of points: every choice of whole stores was tried
  uint64_t pairs = 0;      // ordered pairs of lines checked
  uint64_t refused = 0;    // writes, for lack of space
  // Counts of the histories' own work.
  uint64_t flushes = 0, merges = 0, lazy_copies = 0, evacuations = 0, splits = 0, rollovers = 0, growths = 0,
           regions = 0, families = 0, savepoints = 0, flush_shares = 0, merge_shares = 0;
};

class Explorer {
 public:
  explicit Explorer(const Settings& settings);
  ~Explorer();

  // Only crashes from operation first_explored on are looked at. False if something was wrong: see failure().
  bool Run(const Config& config, const History& history, size_t first_explored = 0);

  Mode mode() const { return settings_.mode; }
  const std::string& failure() const { return failure_; }
  const Totals& totals() const { return totals_; }

  // Whether there is nothing more to do: something was wrong, the images are used up, or it was told to stop.
  bool Done() const {
    return !failure_.empty() || totals_.images >= settings_.max_images ||
           (settings_.stop != nullptr && *settings_.stop);
  }

  void set_fault(SiteFault fault) {
    for (auto& medium : media_) medium->set_fault(fault);
  }

  // Forgets which images were seen.
  void Forget() { seen_.clear(); }

 private:
  struct Range {
    uint64_t low;   // the database is at least at this sequence
    uint64_t kill;  // the same for a killed process
    uint64_t high;  // and at most at this one
  };
  enum class Left { kByPowerFailure, kByKill };

  void Fail(const std::string& what);

  // The history itself.
  void Begin();
  bool OpenLive(bool exists);
  void Do(const Op& op);
  void AddRegion();
  void MakeOrDropFamily();
  void SyncAll();
  void MakeOrDropSavepoint(uint32_t number);
  void Write(const Op& op);
  void WriteBatchOf(const std::vector<Update>& updates, bool sync);
  void Reopen(char how);
  void LosePower();
  void CheckLive();
  void Step(DBImpl::Step step);
  bool log_off() const { return config_.options.log_mode == kLogOff; }
  Range LiveRange() const;

  // Crashes.
  void Crash(int depth, int site, SiteKind kind, const Oracle& oracle, const Range& range);
  void CrashByKill(int depth, const Oracle& oracle, const Range& range);
  void CheckImage(int depth, Left left, const Oracle& oracle, const Range& range);
  std::string GoOn(int depth, const Oracle& oracle, uint64_t p);
  std::string GoOnWriting(int depth, Oracle* oracle, uint64_t p, std::unique_ptr<DBImpl>* db);
  Status Open(int depth, std::unique_ptr<DBImpl>* db);
  bool FirstSight(uint64_t hash, const Range& range, int depth);
  std::string Describe(int depth, int site, SiteKind kind, const std::vector<Choice>& choices) const;

  Settings settings_;
  Totals totals_;
  std::string failure_;
  std::string place_;  // what is being done, for messages
  SimEnv env_;
  NullLogger logger_;
  Config config_;
  Options options_;
  std::unique_ptr<SimMedium> media_[kMaxDepth + 1];  // of the history, and of images by depth
  uint64_t random_state_[kMaxDepth + 1] = {};
  std::unique_ptr<DBImpl> db_;
  std::vector<std::unique_ptr<Oracle>> oracles_;  // one for each open of the history
  Oracle* oracle_ = nullptr;                      // the newest
  std::vector<const Snapshot*> snapshots_;
  bool exploring_ = false;
  uint64_t refused_before_ = 0;
  std::unordered_set<uint64_t> seen_;
};

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_EXPLORER_H_
