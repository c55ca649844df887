// The scheduler's events. A job holds its runs, its levels and, of the repository, its tables from Begin to End; counts
// of jobs that ended and that were installed tell whether anything has changed since something was tried.

#include "compaction/policy/scheduler.h"

#include <algorithm>

#include "compaction/policy/parts.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

bool HoldsAll(const JobHold& hold) {
  return hold.kind == MergeKind::kQuiet || (hold.kind == MergeKind::kSettle && hold.tables.empty());
}

QuietEvent EndOf(Outcome outcome) {
  return outcome == Outcome::kInstalled ? QuietEvent::kInstalled
         : outcome == Outcome::kGivenUp ? QuietEvent::kGivenUp
                                        : QuietEvent::kRefused;
}

}  // namespace

uint64_t ShortBelow(const SpaceFigures& figures, const SchedulePolicy& policy) {
  CHECK_GT(policy.short_share, 0u);
  return std::max(figures.Slack() / policy.short_share, policy.short_chunks * figures.chunk);
}

bool WantsBufferMerged(const SpaceFigures& figures, const SchedulePolicy& policy) {
  CHECK(figures.live >= figures.settled && policy.buffer_share > 0);
  return SpaceIsShort(figures, policy) && figures.live - figures.settled > figures.Slack() / policy.buffer_share;
}

Scheduler::Scheduler(int repository, const SchedulePolicy& policy)
    : repository_(repository), policy_(policy), quiet_(policy.quiet) {
  CHECK_GT(repository_, 0);
  CHECK(policy_.collection_attempts >= 0 && policy_.collection_attempts < 63);  // a budget is halved so often
  CHECK(policy_.merges != nullptr);
  CHECK(policy_.plenty_share > 0 && policy_.short_share > 0 && policy_.buffer_share > 0 && policy_.writers_share > 0);
  CHECK(policy_.short_goal_percent >= 100 && policy_.short_start_percent >= policy_.short_goal_percent);
}

// ---- what runs

// The scheduler knows which jobs run, so those fields of the input are set here whatever the owner put there. The owner
// may have found a reason of its own to settle.
std::optional<MergeJob> Scheduler::NextMerge(PickerInput input) const {
  if (trim_ == TrimState::kDropping) return std::nullopt;
  input.policy = policy_.merges;
  input.begun = &begun_;
  if (marks_ != MarkState::kFound) input.marked = nullptr;
  input.busy_runs = &busy_runs_;
  input.busy_levels = &busy_levels_;
  input.busy_tables = &busy_tables_;
  input.repository_shared = repository_shares_ > 0;
  input.jobs_running = running_ > 0;
  input.settle = input.settle || settling();
  input.settle_date_micros = settle_date_micros_;
  input.settle_sequence = settle_sequence();
  input.merges_blocked = merges_ == MergeState::kAllBlocked ? MergesBlocked::kAll
                         : merges_blocked()                 ? MergesBlocked::kWriting
                                                            : MergesBlocked::kNone;
  input.collection_blocked = collections_ == CollectionState::kBlocked;
  // A quiet merge runs alone, and only where nothing waits for space. A quiet merge drops garbage on its way, so
  // collections come after it.
  const bool quietly = quiet_.MaySettle() && !input.settle && running_ == 0 && !flushing() && merges_may_copy();
  input.collection_blocked = input.collection_blocked || quietly;
  std::optional<MergeJob> job = PickMerge(input);
  if (!job.has_value() && quietly) {
    job = PickQuiet(input, policy_.quiet.growth);
    input.collection_blocked = collections_ == CollectionState::kBlocked;
    if (!job.has_value()) job = PickMerge(input);
  }
  if (kChecksWhole && job.has_value()) CheckJob(input, *job);
  return job;
}

// Jobs that take some tables of the repository share its level among them, and exclude those that take all of it. A
// settling or quiet merge holds everything. A merge in place holds both of its levels, a zero-copy merge those that it
// takes from and not the one it puts into: its run comes in front there, whatever another job takes from the back.
// Between a lazy copy and the repository all levels are empty.
Scheduler::HeldLevels Scheduler::LevelsOf(const JobHold& hold) const {
  if (hold.holder == Holder::kDrain) return {0, -1, true};
  if (HoldsAll(hold)) return {0, repository_, false};
  const bool shares = !hold.tables.empty();
  CHECK(!shares || hold.output_level == repository_);
  return {hold.level, hold.output_level - (shares || hold.kind == MergeKind::kZeroCopy), shares};
}

// Without memory nothing is held: what is busy is made beside what was, and few jobs run at a time.
void Scheduler::Hold(const JobHold& hold) {
  std::set<uint64_t> runs = busy_runs_, tables = busy_tables_;
  std::set<int> levels = busy_levels_;
  const auto hold_level = [&](int level) {
    CHECK(level >= 0 && level <= repository_);
    CHECK(levels.insert(level).second);
  };
  CHECK(!HoldsAll(hold) || running_ == 0);
  // No two jobs have an input in common, which these insertions check.
  for (const uint64_t run : hold.runs) CHECK(runs.insert(run).second);
  for (const uint64_t table : hold.tables) CHECK(tables.insert(table).second);
  const HeldLevels held = LevelsOf(hold);
  for (int level = held.first; level <= held.last; level++) hold_level(level);
  if (held.shares && repository_shares_ == 0) hold_level(repository_);
  // From here on nothing needs memory.
  busy_runs_.swap(runs);
  busy_tables_.swap(tables);
  busy_levels_.swap(levels);
  running_++;
  drains_ += hold.holder == Holder::kDrain;
  repository_shares_ += held.shares;
}

// The opposite of Hold. Release needs the hold alone, because the job and its tables may be gone by then.
void Scheduler::Release(const JobHold& hold) {
  const auto free_level = [this](int level) { CHECK_EQ(busy_levels_.erase(level), 1u); };
  CHECK_GT(running_, 0);
  CHECK_LE(hold.installed, installed_);
  running_--;
  drains_ -= hold.holder == Holder::kDrain;
  for (const uint64_t run : hold.runs) CHECK_EQ(busy_runs_.erase(run), 1u);
  for (const uint64_t table : hold.tables) CHECK_EQ(busy_tables_.erase(table), 1u);
  const HeldLevels held = LevelsOf(hold);
  for (int level = held.first; level <= held.last; level++) free_level(level);
  repository_shares_ -= held.shares;
  CHECK_GE(repository_shares_, 0);
  if (held.shares && repository_shares_ == 0) free_level(repository_);
  if (kChecksWhole) Check();
}

// A collection may always copy, since copying is its purpose.
JobHold Scheduler::BeginMerge(const MergeJob& job) {
  JobHold hold;
  hold.holder = Holder::kMerge;
  hold.kind = job.kind;
  hold.level = job.level;
  hold.output_level = job.output_level;
  hold.may_copy = job.kind == MergeKind::kCollect || merges_may_copy();
  hold.full = full();
  hold.installed = installed_;
  for (const RunRef& run : job.inputs) hold.runs.push_back(run->id);
  if (job.output_run > 0 && !job.range.to.has_value()) hold.ended_run = job.output_run;
  if (!TakesSomeTables(job.kind)) NoteBegun(job, &begun_);
  // The repository's other tables are free for other jobs, but beside a quiet merge no job runs.
  if (job.takes_part() && job.kind != MergeKind::kQuiet) hold.runs.pop_back();
  if (job.output_level == repository_ && job.kind != MergeKind::kQuiet) hold.tables = Numbers(job.tables);
  Hold(hold);
  if (hold.kind == MergeKind::kQuiet) quiet_.Begin();
  if (kChecksWhole) Check();
  return hold;
}

// A merge that was installed may have freed space for everybody; a collection has freed some for all but collections,
// which it would otherwise start again and again where it found too little itself. A job that failed changes nothing:
// the owner stops the database, or tries again.
void Scheduler::EndMerge(const JobHold& hold, Outcome outcome, bool refused) {
  CHECK(hold.holder == Holder::kMerge);
  const bool collection = hold.kind == MergeKind::kCollect, quiet = hold.kind == MergeKind::kQuiet;
  CHECK(!quiet || quiet_.running());
  if (quiet) quiet_.End(EndOf(outcome));
  Release(hold);
  attempts_++;
  switch (outcome) {
    case Outcome::kInstalled:
      installed_++;
      std::erase_if(begun_,
                    [&](const BegunMerge& begun) { return hold.ended_run > 0 && begun.output_run == hold.ended_run; });
      if (!quiet) quiet_.Changed();
      RetryFlush();
      if (!collection) {
        Retry();
        break;
      }
      merges_.On(MergeEvent::kRetry);
      // A collection that went well takes a refusal back, so that the budget grows again step by step.
      if (refused) {
        CollectionRefused();
      } else if (collections_ == CollectionState::kReady) {
        refusals_ = std::max(refusals_ - 1, 0);
      }
      break;
    case Outcome::kNoSpace:
      // Nobody waits for a quiet merge, so others need not do without copies because of it.
      if (!quiet) NoSpace(hold);
      break;
    case Outcome::kFailed:
    case Outcome::kGivenUp:
      break;
  }
  if (kChecksWhole) Check();
}

// Space that other jobs freed meanwhile came too late for this job, or the job held it: so the job is tried again at
// once. Jobs that failed freed nothing: with them two would keep each other going for ever.
void Scheduler::NoSpace(const JobHold& hold) {
  CHECK(hold.holder == Holder::kMerge);
  CHECK_LE(hold.installed, installed_);
  if (installed_ != hold.installed) return;
  if (hold.kind == MergeKind::kCollect) {
    CollectionRefused();
  } else if (hold.kind == MergeKind::kDrop) {
    merges_.On(MergeEvent::kNoSpaceForEdit);
  } else {
    merges_.On(hold.may_copy ? MergeEvent::kNoSpace : MergeEvent::kNoSpaceWithoutCopies);
  }
}

// The collection is tried again with fewer extents, the emptiest: a small copy may free a lot.
void Scheduler::CollectionRefused() {
  refusals_ = std::min(refusals_ + 1, policy_.collection_attempts + 1);
  CHECK_GT(refusals_, 0);
  collections_.On(refusals_ > policy_.collection_attempts ? CollectionEvent::kRefusedTooOften
                                                          : CollectionEvent::kRefused);
}

// A flush frees the tails of its chunks, so merges that wait are tried again.
void Scheduler::EndFlush(Outcome outcome) {
  flush_.On(outcome == Outcome::kNoSpace ? FlushEvent::kNoSpace : FlushEvent::kEnd);
  attempts_++;
  if (outcome == Outcome::kInstalled) {
    installed_++;
    quiet_.Changed();
    Retry();
  }
  if (kChecksWhole) Check();
}

// ---- garbage

// Extents that will soon be garbage cost nothing to collect later, so while writers are busy and space is plentiful
// more garbage is borne: collecting a random load of every key once moves a third of the data at 125 % all the time, a
// seventh at its end.
//
// The marks are made anew after every job, never added to: the records of marked extents have to fit into the space
// that is free now. Copies that stop half-way, in key order, leave a part of every extent behind and free none. Marks
// that merges found when they began stay while one of them runs; drains copy nothing.
std::optional<MarkRequest> Scheduler::WantsMarks(const SpaceFigures& f, uint64_t now_micros) const {
  if (marks_are_fresh()) return std::nullopt;
  const bool has_marks = marks_ == MarkState::kFound;
  if (has_marks && running_ > drains_) return std::nullopt;
  const bool pressed = full() || SpaceIsShort(f, policy_);
  // Merges on the way to a settled state find more garbage, in extents that may then be cheaper to collect; unless they
  // wait for the space that is collected here.
  const bool on_the_way = settling() || quiet_.MaySettle() || quiet_.running();
  if (on_the_way && !pressed && !merges_blocked() && !has_marks && !f.buffer_is_empty) return std::nullopt;
  const uint64_t percent = static_cast<uint64_t>(f.amplification), extra = percent - 100;
  CHECK_GE(f.amplification, 100);
  const bool patient = f.free > f.capacity / policy_.plenty_share && WritersAreBusy(now_micros);
  const uint64_t limit = pressed ? policy_.short_start_percent : patient ? 100 + policy_.patience * extra : percent;
  MarkRequest request;
  request.slack = (pressed ? 1 : 2) * f.chunk;
  request.goal_percent = pressed ? policy_.short_goal_percent : limit - (extra + 9) / 10;
  request.start_percent = has_marks ? request.goal_percent : limit;
  if (!has_marks && (f.payload * 100 <= f.live * limit || f.payload <= f.live + request.slack)) return std::nullopt;
  // Copies must leave what the indexes of merges need, and the log a chunk to go on with; in a full pool, which may
  // have less than that, not all of it.
  request.budget = f.free - std::min(f.free, f.index_reserve);
  request.budget -= full() ? std::min(f.chunk, request.budget / 2) : std::min(f.copies_leave + f.chunk, request.budget);
  // Writers have to live on something until the copies are given back.
  if (pressed && !FullAsItIs()) request.budget -= std::min(request.budget, f.Left() / policy_.writers_share);
  request.budget >>= refusals_;
  CHECK(request.goal_percent >= 100 && request.goal_percent <= request.start_percent);
  CHECK_LE(request.budget, f.free);
  // Nothing has ended since nothing was found for as much.
  if (!has_marks && marked_at_ == attempts_ && mark_request_.Covers(request)) return std::nullopt;
  return request;
}

// A settle wants garbage gone now, whatever writers do.
bool Scheduler::WritersAreBusy(uint64_t now_micros) const {
  return !settling() && quiet_.SilentMicros(now_micros) < policy_.busy_micros;
}

// ---- drains

// While somebody waits for a settled database, a drain waits until the buffer is empty, because the merge needs the
// repository; unless something waits for the space that a drain frees.
bool Scheduler::MayDrain(bool settled) const {
  CHECK_GE(settles_, 0);
  const bool repository_is_free = repository_shares_ > 0 || busy_levels_.count(repository_) == 0;
  return repository_is_free && trim_ != TrimState::kDropping && (!settling() || settled || anything_blocked());
}

// Drains of different partitions run side by side: each holds its tables, and all of them share the repository.
JobHold Scheduler::BeginDrain(const SsdJob& job) {
  CHECK(job.is_drain());
  JobHold hold;
  hold.holder = Holder::kDrain;
  hold.tables = Numbers(job.tables);
  Hold(hold);
  if (kChecksWhole) Check();
  return hold;
}

// Tables that went may have freed what others wait for.
void Scheduler::SetTrim(TrimState state) {
  CHECK(state != trim_ && (state != TrimState::kDropping || trim_ == TrimState::kLooking));
  if (std::exchange(trim_, state) != TrimState::kDropping) return;
  attempts_++;
  installed_++;
  quiet_.Changed();
  RetryFlush();
  Retry();
}

// A drain has freed space of the pool, a compaction has made room for drains.
void Scheduler::EndSsd(Outcome outcome) {
  attempts_++;
  if (outcome == Outcome::kInstalled) {
    installed_++;
    quiet_.Changed();
    RetryFlush();
    Retry();
  }
  if (kChecksWhole) Check();
}

// ---- who waits

void Scheduler::EndSettle() {
  CHECK_GT(settles_, 0);
  settles_--;
}

// Collections begin again with their whole budget: space may have come from anywhere.
void Scheduler::Retry() {
  merges_.On(MergeEvent::kRetry);
  collections_.On(CollectionEvent::kRetry);
  refusals_ = 0;
}

// Another region: everything that waits for space may go on.
void Scheduler::SpaceAdded() {
  attempts_++;
  FoundSpace(true);
  quiet_.Changed();
  RetryFlush();
  Retry();
}

// Run after events in debug builds and simulators (kChecksWhole).
void Scheduler::Check() const {
  CHECK(running_ >= drains_ && drains_ >= 0);
  CHECK(repository_shares_ >= drains_ && repository_shares_ <= running_);
  CHECK(repository_shares_ == 0 || busy_levels_.count(repository_) == 1);
  CHECK(repository_shares_ > 0 || busy_tables_.empty());
  CHECK_EQ(running_ == 0, busy_levels_.empty());
  CHECK(running_ > drains_ || busy_runs_.empty());
  CHECK(busy_levels_.empty() || (*busy_levels_.begin() >= 0 && *busy_levels_.rbegin() <= repository_));
  CHECK(settles_ >= 0 && installed_ <= attempts_);
  CHECK_LE(begun_.size(), static_cast<size_t>(repository_) + 1);
  CHECK(marked_at_ <= attempts_ && looked_at_ <= attempts_);
  CHECK_GE(refusals_, 0);
  // A quiet merge runs alone.
  CHECK(!quiet_.running() || running_ == 1);
  CHECK(collections_ == CollectionState::kBlocked ? refusals_ > policy_.collection_attempts
                                                  : refusals_ <= policy_.collection_attempts);
}

}  // namespace miodb
