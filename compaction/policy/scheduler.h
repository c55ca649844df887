// Scheduler: which background work runs, what is blocked and why, who waits for it. The pickers (picker.h,
// ssd_picker.h) say which job is best; the scheduler says which may run beside the others, and what the end of each
// allows.
//
// No pool, no lock and no clock are inside: space and time are arguments. A query is const and changes nothing; what
// changes the scheduler says what has happened.
//
// Threads: the scheduler has no thread and no lock; calls are made under a lock of the owner.
//
// Work that waits for space is tried again when space may have come: after every installed job (blocked collections:
// after every job that is no collection), after a flush, with another region, or because somebody asks (Retry). Each
// blocked state has these ways out, and no other.

#ifndef MIODB_COMPACTION_POLICY_SCHEDULER_H_
#define MIODB_COMPACTION_POLICY_SCHEDULER_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compaction/policy/machine.h"
#include "compaction/policy/picker.h"
#include "compaction/policy/quiet.h"
#include "compaction/policy/ssd_picker.h"

namespace miodb {

// How a job ended. A job that failed with another error than NoSpace is kFailed; the owner decides about that.
// kGivenUp: it was stopped, by a write that it had to give way to or by the close.
enum class Outcome { kInstalled, kNoSpace, kFailed, kGivenUp };
inline Outcome OutcomeOf(const Status& s) {
  return s.ok() ? Outcome::kInstalled : s.IsNoSpace() ? Outcome::kNoSpace : Outcome::kFailed;
}

// ---- the machines

// Merges that found no space copy nothing the next time, and make few tables of the repository; those that found none
// even so wait. So does everything if a removal of what has expired found none, which needs some for its edit alone.
enum class MergeState { kReady, kWithoutCopies, kBlocked, kAllBlocked };
enum class MergeEvent { kRetry, kNoSpace, kNoSpaceWithoutCopies, kNoSpaceForEdit };

inline constexpr std::array<Move<MergeState, MergeEvent>, 16> kMergeMoves = {{
    {MergeState::kReady, MergeEvent::kRetry, MergeState::kReady},
    {MergeState::kReady, MergeEvent::kNoSpace, MergeState::kWithoutCopies},
    {MergeState::kReady, MergeEvent::kNoSpaceWithoutCopies, MergeState::kBlocked},
    {MergeState::kReady, MergeEvent::kNoSpaceForEdit, MergeState::kAllBlocked},
    {MergeState::kWithoutCopies, MergeEvent::kRetry, MergeState::kReady},
    {MergeState::kWithoutCopies, MergeEvent::kNoSpace, MergeState::kWithoutCopies},
    {MergeState::kWithoutCopies, MergeEvent::kNoSpaceWithoutCopies, MergeState::kBlocked},
    {MergeState::kWithoutCopies, MergeEvent::kNoSpaceForEdit, MergeState::kAllBlocked},
    {MergeState::kBlocked, MergeEvent::kRetry, MergeState::kReady},
    {MergeState::kBlocked, MergeEvent::kNoSpace, MergeState::kBlocked},
    {MergeState::kBlocked, MergeEvent::kNoSpaceWithoutCopies, MergeState::kBlocked},
    {MergeState::kBlocked, MergeEvent::kNoSpaceForEdit, MergeState::kAllBlocked},
    {MergeState::kAllBlocked, MergeEvent::kRetry, MergeState::kReady},
    {MergeState::kAllBlocked, MergeEvent::kNoSpace, MergeState::kAllBlocked},
    {MergeState::kAllBlocked, MergeEvent::kNoSpaceWithoutCopies, MergeState::kAllBlocked},
    {MergeState::kAllBlocked, MergeEvent::kNoSpaceForEdit, MergeState::kAllBlocked},
}};
static_assert(IsDeterministic(kMergeMoves) && AllComeBack(kMergeMoves));

// A garbage collection that found too little space is tried again with half as many bytes to copy, some times.
enum class CollectionState { kReady, kBlocked };
enum class CollectionEvent { kRetry, kRefused, kRefusedTooOften };

inline constexpr std::array<Move<CollectionState, CollectionEvent>, 6> kCollectionMoves = {{
    {CollectionState::kReady, CollectionEvent::kRetry, CollectionState::kReady},
    {CollectionState::kReady, CollectionEvent::kRefused, CollectionState::kReady},
    {CollectionState::kReady, CollectionEvent::kRefusedTooOften, CollectionState::kBlocked},
    {CollectionState::kBlocked, CollectionEvent::kRetry, CollectionState::kReady},
    {CollectionState::kBlocked, CollectionEvent::kRefused, CollectionState::kBlocked},
    {CollectionState::kBlocked, CollectionEvent::kRefusedTooOften, CollectionState::kBlocked},
}};
static_assert(IsDeterministic(kCollectionMoves) && AllComeBack(kCollectionMoves));

// A single memtable is flushed at a time. A flush that found no space waits for some.
enum class FlushState { kIdle, kRunning, kBlocked };
enum class FlushEvent { kBegin, kEnd, kNoSpace, kRetry };

inline constexpr std::array<Move<FlushState, FlushEvent>, 6> kFlushMoves = {{
    {FlushState::kIdle, FlushEvent::kBegin, FlushState::kRunning},
    {FlushState::kIdle, FlushEvent::kRetry, FlushState::kIdle},
    {FlushState::kRunning, FlushEvent::kEnd, FlushState::kIdle},
    {FlushState::kRunning, FlushEvent::kNoSpace, FlushState::kBlocked},
    {FlushState::kRunning, FlushEvent::kRetry, FlushState::kRunning},
    {FlushState::kBlocked, FlushEvent::kRetry, FlushState::kIdle},
}};
static_assert(IsDeterministic(kFlushMoves) && AllComeBack(kFlushMoves));

// Whether the last attempt to get space for a log chunk found some.
enum class SpaceState { kFound, kFull };
enum class SpaceEvent { kFound, kRefused };

inline constexpr std::array<Move<SpaceState, SpaceEvent>, 4> kSpaceMoves = {{
    {SpaceState::kFound, SpaceEvent::kFound, SpaceState::kFound},
    {SpaceState::kFound, SpaceEvent::kRefused, SpaceState::kFull},
    {SpaceState::kFull, SpaceEvent::kFound, SpaceState::kFound},
    {SpaceState::kFull, SpaceEvent::kRefused, SpaceState::kFull},
}};
static_assert(IsDeterministic(kSpaceMoves) && AllComeBack(kSpaceMoves));

// Marks for evacuation. Sums tell with the mutex held that marks are wanted; then a thread picks extents without it,
// and looks for the tables that refer to them, which collections rewrite.
enum class MarkState { kNone, kWanted, kSearching, kFound };
enum class MarkEvent { kWant, kSearch, kNone, kFound };

inline constexpr std::array<Move<MarkState, MarkEvent>, 5> kMarkMoves = {{
    {MarkState::kNone, MarkEvent::kWant, MarkState::kWanted},
    {MarkState::kWanted, MarkEvent::kSearch, MarkState::kSearching},
    {MarkState::kSearching, MarkEvent::kNone, MarkState::kNone},
    {MarkState::kSearching, MarkEvent::kFound, MarkState::kFound},
    {MarkState::kFound, MarkEvent::kWant, MarkState::kWanted},
}};
static_assert(IsDeterministic(kMarkMoves) && AllComeBack(kMarkMoves));
using Marks = Machine<MarkState, MarkEvent, kMarkMoves.size()>;

// Holdings of jobs: inputs of merges, or tables of the repository in jobs that take only some of it.
enum class Busy : uint8_t { kRuns, kTables };

// Whether tables that may be dropped without a job for them are looked for, or are being dropped.
enum class TrimState : uint8_t { kIdle, kLooking, kDropping };

// The kind of job that a hold belongs to.
enum class Holder : uint8_t {
  kNobody,  // a job of the SSD tier alone, which holds nothing of the pool
  kMerge,
  kDrain,
};

// The holdings of a running merge or drain, so that the scheduler gets them back when the job itself is gone.
struct JobHold {
  Holder holder = Holder::kNobody;
  MergeKind kind = MergeKind::kZeroCopy;  // of a merge
  int level = 0;
  int output_level = 0;
  std::vector<uint64_t> runs;    // ids of the inputs
  std::vector<uint64_t> tables;  // of the repository, if the job takes only these of it
  uint64_t ended_run = 0;        // output of a merge of which this is the last part; 0: none
  bool may_copy = true;          // records, when it began
  bool full = false;             // the pool was full when it began
  uint64_t installed = 0;        // jobs that had been installed then
};

// Space in bytes, as far as garbage collection looks at it.
struct SpaceFigures {
  uint64_t free = 0;            // in the pool
  uint64_t capacity = 0;        // of the pool
  uint64_t reserve = 0;         // kept free of the log
  uint64_t index_reserve = 0;   // of it, for the indexes of merges
  uint64_t copies = 0;          // kept besides the index reserve for copies of collections that run
  uint64_t copies_leave = 0;    // free besides the index reserve, by copies of a collection
  uint64_t payload = 0;         // that records take, with garbage
  uint64_t live = 0;            // of it, that tables refer to
  uint64_t settled = 0;         // of it, in the repository, going by the number of entries
  uint64_t chunk = 0;           // of the log
  int amplification = 125;      // payload in percent of live that is borne
  bool buffer_is_empty = true;  // all tables are in the repository

  // The part of the pool that neither the reserve nor settled data takes: it is for the log, the buffer and garbage.
  uint64_t Slack() const { return capacity - std::min(capacity, reserve + settled); }

  // Left: space that writers may use up. Held: the part of it that they may not use while jobs copy.
  uint64_t Left() const { return free - std::min(free, reserve); }
  uint64_t Held() const { return std::min(Left(), index_reserve + copies - std::min(index_reserve + copies, reserve)); }
};

// Every figure that the scheduler decides by. Each has a test that shows what it does.
struct SchedulePolicy {
  // A garbage collection that finds too little space is tried so often, with half as many bytes to copy each time: the
  // emptiest extents alone may free what the others need.
  int collection_attempts = 8;

  // While writers are busy and space is plentiful, garbage may be so many times what the amplification allows: it costs
  // nothing to collect what will be garbage as a whole.
  uint64_t patience = 3;

  // Writers are busy for so long after a write that was seen.
  uint64_t busy_micros = 1000 * 1000;

  // Space is plentiful while more than one such part of the pool is free. Work that nobody waits for leaves space
  // plentiful.
  uint64_t plenty_share = 3;

  // Space is short when less than one such part of the slack, or less than so many chunks of the log, is free above the
  // reserve: the garbage has to be found before the log stops for it.
  uint64_t short_share = 4;
  uint64_t short_chunks = 4;

  // Where space is short and the buffer has more than one such part of the slack, all of it goes to the repository:
  // what its versions hide there is most of what can be had then.
  uint64_t buffer_share = 4;

  // Where space is short, the copies of one collection leave writers one such part of what is left: copies are given
  // back at the end, and writers have to live on the rest until then. In a pool that is full, as long as nothing has
  // ended since that was found, nobody lives on anything.
  uint64_t writers_share = 2;

  // Where space is short, payload in percent of its live bytes: what is above the first is collected, down to the
  // second. The gap between them makes the work of a collection worth its beginning.
  uint64_t short_start_percent = 106;
  uint64_t short_goal_percent = 103;

  // Merges of the buffer.
  const MergePolicy* merges = DefaultMergePolicy();

  // Rules for work that a database does by itself once writers are quiet.
  QuietPolicy quiet = {};
};

// Space is short if less than so many bytes are left.
uint64_t ShortBelow(const SpaceFigures& figures, const SchedulePolicy& policy = SchedulePolicy());
inline bool SpaceIsShort(const SpaceFigures& figures, const SchedulePolicy& policy = SchedulePolicy()) {
  return figures.Left() < ShortBelow(figures, policy);
}

// Whether all of the buffer is to be merged into the repository for the space that this leads to.
bool WantsBufferMerged(const SpaceFigures& figures, const SchedulePolicy& policy = SchedulePolicy());

class Scheduler {
 public:
  // repository: its level.
  explicit Scheduler(int repository, const SchedulePolicy& policy = SchedulePolicy());

  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // ---- merges

  // The next merge, or nothing. version, level_trigger, snapshots and push_down of what goes in are the owner's.
  std::optional<MergeJob> NextMerge(PickerInput input) const;

  // The job runs from now on, until EndMerge.
  JobHold BeginMerge(const MergeJob& job);

  // refused: a collection was installed, but found too little space for some of its copies.
  void EndMerge(const JobHold& hold, Outcome outcome, bool refused);

  bool merges_may_copy() const { return merges_ == MergeState::kReady; }
  bool merges_blocked() const { return merges_ == MergeState::kBlocked || merges_ == MergeState::kAllBlocked; }
  bool anything_blocked() const { return merges_blocked() || collections_ == CollectionState::kBlocked; }

  // ---- garbage

  // Nothing has ended since the marks were made, or they are wanted or looked for: there is no use in looking at the
  // figures.
  bool marks_are_fresh() const {
    return marks_ == MarkState::kWanted || marks_ == MarkState::kSearching ||
           (marks_ == MarkState::kFound && marked_at_ == attempts_);
  }

  // Whether extents are to be marked for evacuation now, and which; nothing: the marks stay as they are.
  std::optional<MarkRequest> WantsMarks(const SpaceFigures& figures, uint64_t now_micros) const;

  // A thread is to make the marks anew.
  void WantMarks(const MarkRequest& request) {
    marks_.On(MarkEvent::kWant);
    mark_request_ = request;
  }

  // The thread begins, and tells marks() the outcome.
  const MarkRequest& BeginMarks() {
    marks_.On(MarkEvent::kSearch);
    marked_at_ = attempts_;
    return mark_request_;
  }
  Marks& marks() { return marks_; }

  // While there are writes, and nobody waits for all work to be done, more garbage is borne where space is plentiful.
  bool WritersAreBusy(uint64_t now_micros) const;

  // ---- quiet

  // The owner says when it saw which sequence (See), and that NextMerge had nothing for a thread that would have run it
  // (FoundNothing). All else is the scheduler's to say.
  Quiet& quiet() { return quiet_; }

  // ---- flush

  bool flush_blocked() const { return flush_ == FlushState::kBlocked; }
  bool flushing() const { return flush_ == FlushState::kRunning; }
  void BeginFlush() { flush_.On(FlushEvent::kBegin); }
  void EndFlush(Outcome outcome);
  void RetryFlush() { flush_.On(FlushEvent::kRetry); }

  // ---- space for the log

  // An attempt to get space begins. Space that comes free from now on makes the result of the attempt out of date.
  void LookForSpace() { looked_at_ = attempts_; }
  void FoundSpace(bool found) { space_.On(found ? SpaceEvent::kFound : SpaceEvent::kRefused); }
  bool full() const { return space_ == SpaceState::kFull; }

  // Nothing has ended since the attempt that found the pool full.
  bool FullAsItIs() const { return full() && looked_at_ == attempts_; }

  // ---- drains

  // A drain takes from the repository, which merges put into: it counts as a merge.
  JobHold BeginDrain(const SsdJob& job);
  void EndDrain(const JobHold& hold) {
    CHECK(hold.holder == Holder::kDrain);
    Release(hold);
  }

  // ---- deletions of ranges

  // While tables are being dropped, by an edit that no job is for, no merge and no drain begins.
  void SetTrim(TrimState state);
  TrimState trim() const { return trim_; }

  // A job of the SSD tier has ended.
  void EndSsd(Outcome outcome);

  // Whether drains may begin, and which tables they may not take. settled: the buffer is empty.
  bool MayDrain(bool settled) const;
  const std::set<uint64_t>& busy(Busy what) const { return what == Busy::kRuns ? busy_runs_ : busy_tables_; }

  // ---- who waits

  // Somebody wants everything in the repository that was written up to this sequence, from Begin to End, without what
  // had expired at this date. Later ones would never come to an end where others write and records expire all the time.
  void BeginSettle(uint64_t date_micros = 0, uint64_t sequence = kMaxSequence) {
    settles_++;
    settle_date_micros_ = std::max(settle_date_micros_, date_micros);
    settle_sequence_ = settles_ == 1 ? sequence : std::max(settle_sequence_, sequence);
  }
  void EndSettle();
  bool settling() const { return settles_ > 0; }
  uint64_t settle_sequence() const { return settling() ? settle_sequence_ : kMaxSequence; }

  // Merges and collections that wait for space are to be tried again.
  void Retry();

  // Space came from elsewhere.
  void SpaceAdded();

  // ---- all

  int running() const { return running_; }  // merges and drains

  // Checks the invariants.
  void Check() const;

 private:
  // Levels that a job holds for itself, from the first to the last, and whether it shares the repository's with others
  // that take some of its tables.
  struct HeldLevels {
    int first = 0;
    int last = -1;
    bool shares = false;
  };
  HeldLevels LevelsOf(const JobHold& hold) const;
  void Hold(const JobHold& hold);
  void Release(const JobHold& hold);
  void CollectionRefused();
  void NoSpace(const JobHold& hold);

  const int repository_;
  const SchedulePolicy policy_;

  Machine<MergeState, MergeEvent, kMergeMoves.size()> merges_{&kMergeMoves};
  Machine<CollectionState, CollectionEvent, kCollectionMoves.size()> collections_{&kCollectionMoves};
  Machine<FlushState, FlushEvent, kFlushMoves.size()> flush_{&kFlushMoves};
  Machine<SpaceState, SpaceEvent, kSpaceMoves.size()> space_{&kSpaceMoves};
  Marks marks_{&kMarkMoves};
  MarkRequest mark_request_;  // the last

  Quiet quiet_;

  std::set<uint64_t> busy_runs_;    // inputs of running merges
  std::set<int> busy_levels_;       // levels that a running job takes runs from or puts them into
  std::set<uint64_t> busy_tables_;  // of the repository, in jobs that take only some of it
  std::vector<BegunMerge> begun_;   // at most one into each level
  TrimState trim_ = TrimState::kIdle;
  int repository_shares_ = 0;  // such jobs
  int running_ = 0;            // merges and drains
  int drains_ = 0;             // of them

  int refusals_ = 0;                 // collections that found too little space, one after the other
  uint64_t marked_at_ = 0;           // attempts_ when they were made
  uint64_t looked_at_ = 0;           // attempts_ when space for the log was last looked for
  uint64_t attempts_ = 0;            // jobs and flushes that have ended: each may have freed space
  uint64_t installed_ = 0;           // those that were installed
  uint64_t settle_date_micros_ = 0;  // the latest that was asked for
  uint64_t settle_sequence_ = 0;     // the same of those who wait
  int settles_ = 0;                  // callers who want everything in the repository
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_SCHEDULER_H_
