#include "src/db/background/range_trim.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compaction/merge/drop_account.h"
#include "src/util/check/check.h"

namespace miodb {

// A snapshot that comes allows nothing, one that goes may.
bool RangeTrim::IsDue() const {
  if (tree_->versions->current()->ranges == nullptr || at_work()) return false;
  if (looked_at_ != tree_->version_changes || reach_ < Reach() || (waits_ && scheduler_->running() == 0)) return true;
  if (snapshots_.empty()) return false;
  const std::vector<uint64_t> now = tree_->snapshots.Sequences();
  return !std::includes(now.begin(), now.end(), snapshots_.begin(), snapshots_.end());
}

// The newest write whose deletions may make a merge of the repository due.
uint64_t RangeTrim::Reach() const {
  return std::min(tree_->versions->manifest().flushed_sequence, scheduler_->settle_sequence());
}

// Deletions that are there already keep their numbers.
void RangeTrim::AddRangeChanges(std::vector<RangeDeletion> left, VersionEdit* edit) {
  CHECK(edit->ranges.empty() && edit->removed_ranges.empty());
  using Key = std::tuple<std::string, std::string, uint64_t>;
  std::map<Key, uint64_t> known;
  for (const auto& [id, place] : tree_->versions->manifest().ranges) {
    const Key key(place.range.begin, place.range.end, place.range.sequence);
    if (!known.emplace(key, id).second) edit->removed_ranges.push_back(id);
  }
  for (RangeDeletion& range : left) {
    const auto found = known.find(Key(range.begin, range.end, range.sequence));
    if (found != known.end()) {
      known.erase(found);
    } else {
      edit->ranges.push_back({tree_->versions->NewId(), std::move(range)});
    }
  }
  for (const auto& [key, id] : known) edit->removed_ranges.push_back(id);
}

// The sets of the scheduler are as small as jobs are few.
RangeWork RangeTrim::Look() {
  looked_at_ = tree_->version_changes;
  snapshots_ = tree_->snapshots.Sequences();
  const std::vector<uint64_t> snapshots = snapshots_;
  const std::set<uint64_t> runs = scheduler_->busy(Busy::kRuns), tables = scheduler_->busy(Busy::kTables);
  const uint64_t reach = reach_ = Reach();
  const VersionRef version = tree_->versions->current();
  RangeWork work;
  {
    const DbUnlock unlock(control_);
    work = FindRangeWork(*version, db_.order, snapshots, reach, [&](const Run& run, const PMTable& table) {
      return runs.count(run.id) > 0 || tables.count(table.number()) > 0;
    });
  }
  return work;
}

// Whether one of the tables has gone, or a job has it.
bool RangeTrim::IsBusy(const std::vector<TableRef>& tables) const {
  const auto& places = tree_->versions->manifest().tables;
  const std::set<uint64_t>&busy_runs = scheduler_->busy(Busy::kRuns), &busy = scheduler_->busy(Busy::kTables);
  CHECK_LE(tables.size(), kMostDroppedTables);
  return std::any_of(tables.begin(), tables.end(), [&](const TableRef& table) {
    const auto place = places.find(table->number());
    return place == places.end() || busy.count(place->first) > 0 || busy_runs.count(place->second.run) > 0;
  });
}

// The words of the tables say what becomes free.
Status RangeTrim::Drop(std::vector<TableRef> hidden, VersionEdit edit) {
  Additions added;
  Status s;
  VersionRef version = tree_->versions->current();
  {
    const DbUnlock unlock(control_);
    s = DropTables(version->payload, hidden, &added.payload.dropped);
    version.reset();
    hidden.clear();
  }
  if (s.ok()) s = tree_->Apply(std::move(edit), added);
  if (s.ok()) tree_->Publish();
  return s;
}

// Whether a family's deletion has to be found as it was written (Families::FinishDrops).
bool RangeTrim::AwaitsErasure() const {
  const auto& families = tree_->versions->manifest().families;
  return db_.HasLog() &&
         std::any_of(families.begin(), families.end(), [](const auto& family) { return family.second.dropped(); });
}

// Deletions that a look found to be needless are so in every later version with the same ranges: new tables have
// entries of the tables that there were, or newer ones. No job may begin with a table that is about to go, while the
// mutex is let go of.
bool RangeTrim::Trim() {
  VersionEdit edit;
  std::vector<TableRef> hidden;
  scheduler_->SetTrim(TrimState::kLooking);
  const RangeSetRef ranges = tree_->versions->current()->ranges;
  Status s = db_.WithMemory([&] {
    control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
    RangeWork work = Look();
    waits_ = work.waits || IsBusy(work.hidden);
    droppable_ = work.droppable;
    if (tree_->versions->current()->ranges != ranges || IsBusy(work.hidden)) return Status::OK();
    edit.removed_tables = Numbers(work.hidden);
    hidden = std::move(work.hidden);
    if (AwaitsErasure()) return Status::OK();
    const bool changes = work.forgets || work.left.size() != tree_->versions->manifest().ranges.size();
    if (changes) AddRangeChanges(std::move(work.left), &edit);
    return Status::OK();
  });
  const bool drops = s.ok() && !(edit.removed_tables.empty() && edit.removed_ranges.empty() && edit.ranges.empty());
  if (!drops) {
    scheduler_->SetTrim(TrimState::kIdle);
    control_->SignalDone();
    return false;
  }
  const uint64_t tables = edit.removed_tables.size();
  scheduler_->SetTrim(TrimState::kDropping);
  s = db_.WithMemory([&] {
    control_->AssertHeld();  // as above
    return Drop(std::move(hidden), std::move(edit));
  });
  scheduler_->SetTrim(TrimState::kIdle);
  waits_ = waits_ && s.ok();  // without space for the edit there is no use in trying again at once
  if (s.ok()) {
    if (tree_->version_changes == looked_at_ + 1) looked_at_++;  // this edit's own
    db_.statistics.ranges.tables.Add(tables);
    db_.Log("ranges: %llu tables dropped whole, %zu deletions left", static_cast<unsigned long long>(tables),
            tree_->versions->manifest().ranges.size());
  } else if (!s.IsNoSpace()) {
    control_->SetError(s);
  }
  control_->Progressed();
  return s.ok();
}

}  // namespace miodb
