// Choosing work of the SSD tier. Each candidate is completed by the files that it overlaps below; of those that are
// free the cheapest becomes the job, and only of that one lists are made.

#include "compaction/policy/ssd_picker.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// The picker takes the best of so many partitions or files that may be moved, so that a look takes no longer where
// there are more. Small databases have fewer.
constexpr size_t kMostCandidates = 1024;

// The reason to look for a job: decides which tables and files of a level may be chosen.
enum class Why {
  kSize,   // the level is too large: any of them
  kPurge,  // those that the purge wants
};

// Something that may be moved, and what overlaps it in the output level. The slices are the version's.
struct Candidate {
  const TableRef* table = nullptr;  // a drain's
  const SstRef* file = nullptr;     // a compaction's
  int first_level = -1;
  int output_level = 0;
  Slice smallest, largest;  // of all of these
  uint64_t moved = 0;       // bytes
  size_t lower = 0;         // index of the first file of the output level that overlaps
  size_t lower_count = 0;
  uint64_t rewritten = 0;  // bytes of these
};

// Sizes of drains are payload bytes, of compactions bytes of files: they are never compared with each other.
Candidate DrainOf(const TableRef& table) {
  CHECK_GT(table->entries(), 0u);
  Candidate c;
  c.table = &table;
  c.smallest = table->smallest();
  c.largest = table->largest();
  c.moved = table->payload_bytes();
  return c;
}

// A file that goes down, or, for a rewrite, stays on its level.
Candidate CompactionOf(const SstRef& file, size_t level, int output_level) {
  CHECK_GE(output_level, static_cast<int>(level));
  Candidate c;
  c.file = &file;
  c.first_level = static_cast<int>(level);
  c.output_level = output_level;
  c.smallest = file->meta().smallest;
  c.largest = file->meta().largest;
  c.moved = file->meta().size;
  return c;
}

// Whether no running job holds a range that overlaps, in this level or one beside it: a job holds its own level and the
// next, so two whose first levels differ by one share a level. range: a candidate, or a job's.
template <typename Range>
bool IsFree(const SsdPickerInput& input, const Range& range) {
  return std::none_of(input.running->begin(), input.running->end(), [&](const SsdRange& other) {
    return std::abs(other.first_level - range.first_level) <= 1 &&
           input.order.Compare(range.smallest, other.largest) <= 0 &&
           input.order.Compare(other.smallest, range.largest) <= 0;
  });
}

// Adds what overlaps in the output level. The range grows by these files and is not looked at again: files of a level
// do not overlap, so no other file can come in by that.
void Complete(const SsdPickerInput& input, Candidate* c) {
  CHECK_LT(static_cast<size_t>(c->output_level), input.version->ssd->levels.size());
  const FileList& below = input.version->ssd->levels[static_cast<size_t>(c->output_level)];
  const Slice smallest = c->smallest, largest = c->largest;
  c->lower = FindFile(input.order, below, smallest);
  // From the first file that is not before the range, up to the first behind it.
  for (auto file = FileList::Iterator(&below, c->lower); file != below.end(); ++file) {
    const SstMeta& meta = (*file)->meta();
    if (input.order.Compare(meta.smallest, largest) > 0) break;
    if (input.order.Compare(meta.smallest, c->smallest) < 0) c->smallest = meta.smallest;
    if (input.order.Compare(meta.largest, c->largest) > 0) c->largest = meta.largest;
    c->rewritten += meta.size;
    c->lower_count++;
  }
  CHECK_LE(c->lower + c->lower_count, below.size());
}

// Bytes to rewrite for each byte moved. For drains that are to shorten the log, the age of the partition.
double Cost(const SsdPickerInput& input, const Candidate& c) {
  if (c.table != nullptr && input.drains == Drains::kOldest) return static_cast<double>((*c.table)->oldest_sequence());
  return static_cast<double>(c.rewritten) / static_cast<double>(std::max<uint64_t>(c.moved, 1));
}

// Whether the purge wants this table or file. Tombstones that hide something below go down; tombstones that hide
// nothing are dropped where they are (PurgeWay).
bool IsPurged(const SsdPickerInput& input, uint64_t number, uint64_t tombstones, const ExpiryRange& expiry,
              const Slice& smallest, const Slice& largest) {
  const PurgeRequest& purge = *input.purge;
  CHECK_GE(purge.level, -1);
  const int below = purge.level + 1;
  return (tombstones > 0 || expiry.MayHaveExpired(purge.date_micros)) && number < purge.before &&
         (purge.begin == nullptr || input.order.Compare(largest, *purge.begin) >= 0) &&
         (purge.end == nullptr || input.order.Compare(smallest, *purge.end) <= 0) &&
         input.version->ssd->OverlapsFrom(static_cast<size_t>(below), smallest, largest) ==
             (purge.way == PurgeWay::kPush);
}

bool RangesReach(const RangeSet* ranges, const SstMeta& meta) {
  if (ranges == nullptr) return false;
  const std::vector<RangeFragment>& fragments = ranges->fragments();
  const KeyOrder& order = ranges->order();
  DCHECK(order.Compare(meta.smallest, meta.largest) <= 0);
  for (size_t i = ranges->FindEnd(meta.smallest);
       i < fragments.size() && order.Compare(fragments[i].begin, meta.largest) <= 0; i++) {
    if (fragments[i].newest() > meta.ranges_applied) return true;
  }
  return false;
}

// The best of the candidates that were offered.
class Choice {
 public:
  explicit Choice(const SsdPickerInput& input) : input_(input) {}

  // Takes the candidate if it may run now and costs less than the best one so far.
  void Offer(Candidate c) {
    // A rewrite stays on its level, where no other file has keys of its range.
    if (c.output_level > c.first_level) Complete(input_, &c);
    if (!IsFree(input_, c)) return;
    offered_++;
    const double cost = Cost(input_, c);
    CHECK_GE(cost, 0);
    if (best_.has_value() && cost >= cost_) return;
    cost_ = cost;
    best_ = c;
  }

  // Whether the picker has seen enough candidates: the best of them is good enough.
  bool IsFull() const { return offered_ >= kMostCandidates; }

  // Lists of references are made for the one that was chosen, in the order of the level.
  std::optional<SsdJob> Best() const {
    CHECK_EQ(best_.has_value(), offered_ > 0);
    if (!best_.has_value()) return std::nullopt;
    CHECK_NE(best_->table == nullptr, best_->file == nullptr);
    SsdJob job;
    job.output_level = best_->output_level;
    if (best_->table != nullptr) job.tables.push_back(*best_->table);
    if (best_->file != nullptr) job.upper.push_back(*best_->file);
    const FileList& below = input_.version->ssd->levels[static_cast<size_t>(job.output_level)];
    for (size_t i = 0; i < best_->lower_count; i++) job.lower.push_back(below[best_->lower + i]);
    job.range = {best_->first_level, best_->smallest.ToString(), best_->largest.ToString()};
    if (kChecksWhole) CheckJob(input_, job);
    return job;
  }

 private:
  const SsdPickerInput& input_;
  std::optional<Candidate> best_;
  double cost_ = 0;
  size_t offered_ = 0;
};

// Has visit(item) called for the list's items, from one on that is another when the list has grown, until it says
// false.
template <typename List, typename Visit>
void VisitFromAnywhere(const List& list, Visit visit) {
  // Fibonacci hashing: neighbouring sizes begin far from each other.
  const size_t start = list.size() <= kMostCandidates ? 0 : list.size() * 0x9e3779b97f4a7c15u % list.size();
  CHECK(list.empty() || start < list.size());
  auto item = typename List::Iterator(&list, start);
  for (size_t left = list.size(); left > 0; left--) {
    if (item == list.end()) item = list.begin();
    if (!visit(*item)) return;
    ++item;
  }
}

// The drain with the least to rewrite. Where the oldest partition is wanted all are looked at, since any may be it.
std::optional<SsdJob> PickDrain(const SsdPickerInput& input, Why why) {
  const Version& version = *input.version;
  Choice choice(input);
  if (!input.may_drain || version.levels.back().empty()) return std::nullopt;
  CHECK_EQ(version.levels.back().size(), 1u);
  VisitFromAnywhere(version.levels.back()[0]->tables, [&](const TableRef& table) {
    if (input.busy_tables != nullptr && input.busy_tables->count(table->number()) > 0) return true;
    if (why == Why::kPurge &&
        !IsPurged(input, table->number(), table->tombstones(), table->expiry(), table->smallest(), table->largest())) {
      return true;
    }
    choice.Offer(DrainOf(table));
    return input.drains == Drains::kOldest || !choice.IsFull();
  });
  return choice.Best();
}

// The compaction out of this level with the least to rewrite.
std::optional<SsdJob> PickCompaction(const SsdPickerInput& input, size_t level, Why why) {
  CHECK_LT(level, input.version->ssd->levels.size());
  Choice choice(input);
  const bool rewrite = why == Why::kPurge && input.purge->way == PurgeWay::kRewrite;
  const int output_level = static_cast<int>(level) + (rewrite ? 0 : 1);
  VisitFromAnywhere(input.version->ssd->levels[level], [&](const SstRef& file) {
    const SstMeta& meta = file->meta();
    // A deletion of a range that may hide something in the file counts as a tombstone of its.
    const uint64_t tombstones = meta.tombstones + (RangesReach(input.version->ranges.get(), meta) ? 1 : 0);
    if (why == Why::kPurge && !IsPurged(input, meta.number, tombstones, meta.expiry, meta.smallest, meta.largest)) {
      return true;
    }
    choice.Offer(CompactionOf(file, level, output_level));
    return !choice.IsFull();
  });
  return choice.Best();
}

// A file goes as a whole if all of it has expired and no file of a deeper level has keys in its range. The deepest come
// first: then what lies above may have nothing left that it hides. Files go one at a time, since each holds its range
// only for an edit.
std::optional<SsdJob> PickExpired(const SsdPickerInput& input) {
  const SsdLevels& ssd = *input.version->ssd;
  for (size_t level = ssd.levels.size(); level-- > 0;) {
    std::optional<SsdJob> job;
    ssd.levels[level].Search(
        [&](const FileSummary& part) { return !job.has_value() && part.whole_expiry <= input.date_micros; },
        [&](const SstRef& file) {
          const SstMeta& meta = file->meta();
          if (job.has_value() || meta.whole_expiry() > input.date_micros) return;
          const SsdRange range = {static_cast<int>(level), meta.smallest, meta.largest};
          if (!IsFree(input, range) || ssd.OverlapsFrom(level + 1, meta.smallest, meta.largest)) return;
          job.emplace();
          job->kind = SsdJobKind::kDrop;
          job->output_level = range.first_level;
          job->upper.push_back(file);
          job->range = range;
        });
    if (!job.has_value()) continue;
    CHECK(job->upper.size() == 1 && job->lower.empty() && !job->is_move());
    return job;
  }
  return std::nullopt;
}

// The level that is furthest above its limit; others follow if it has nothing free.
std::optional<SsdJob> PickFullLevel(const SsdPickerInput& input) {
  const SsdLevels& ssd = *input.version->ssd;
  CHECK_EQ(ssd.level_bytes.size(), ssd.levels.size());
  std::vector<std::pair<double, size_t>> scores;
  // The last level has no limit: there is no level below it to move to.
  for (size_t level = 0; level + 1 < ssd.levels.size() && level < input.level_limits.size(); level++) {
    const double score = static_cast<double>(ssd.level_bytes[level]) / static_cast<double>(input.level_limits[level]);
    if (score > 1) scores.emplace_back(score, level);
  }
  std::sort(scores.rbegin(), scores.rend());
  for (const auto& [score, level] : scores) {
    if (std::optional<SsdJob> job = PickCompaction(input, level, Why::kSize)) return job;
  }
  return std::nullopt;
}

}  // namespace

const char* SsdJobName(const SsdJob& job) {
  if (job.kind == SsdJobKind::kDrop) return "removal of what expired";
  return job.is_drain() ? "drain" : job.is_move() ? "move" : "compaction";
}

// Files of both levels lie inside of the range that is held, or two jobs could have one in common.
void CheckJob(const SsdPickerInput& input, const SsdJob& job) {
  const auto inside = [&](const Slice& smallest, const Slice& largest) {
    return input.order.Compare(job.range.smallest, smallest) <= 0 &&
           input.order.Compare(largest, job.range.largest) <= 0;
  };
  CHECK_NE(job.tables.empty(), job.upper.empty());
  CHECK_EQ(job.is_drain(), job.range.first_level == -1);
  CHECK(job.output_level - job.range.first_level <= 1 && job.output_level >= job.range.first_level);
  CHECK(job.output_level > job.range.first_level || job.lower.empty());
  CHECK(IsFree(input, job.range));
  for (const TableRef& table : job.tables) {
    CHECK(inside(table->smallest(), table->largest()));
    CHECK(input.busy_tables == nullptr || input.busy_tables->count(table->number()) == 0);
  }
  for (const SstRef& file : job.upper) CHECK(inside(file->meta().smallest, file->meta().largest));
  for (const SstRef& file : job.lower) CHECK(inside(file->meta().smallest, file->meta().largest));
}

// The more levels, the less a compaction has to rewrite for what it moves, and the more often each byte is moved: the
// fewest levels whose ratio stays below the multiplier are the compromise.
std::vector<uint64_t> AutomaticLevelLimits(uint64_t pool_budget, uint64_t ssd_bytes, int levels, int multiplier) {
  CHECK(levels > 0 && multiplier > 0);
  const double budget = static_cast<double>(std::max<uint64_t>(pool_budget, 1));
  const double ratio = std::max(1.0, static_cast<double>(ssd_bytes) / budget);
  int used = 1;
  while (used < levels && std::pow(ratio, 1.0 / used) > multiplier) used++;
  // From the budget to all bytes on SSD in so many equal steps; the limits are those in between.
  const double step = std::pow(ratio, 1.0 / used);
  std::vector<uint64_t> limits;
  double limit = budget;
  for (int level = 0; level + 1 < used; level++) {
    limit *= step;
    limits.push_back(static_cast<uint64_t>(limit));
  }
  CHECK(std::is_sorted(limits.begin(), limits.end()));
  CHECK_LT(limits.size(), static_cast<size_t>(levels));
  return limits;
}

std::optional<SsdJob> PickPurge(const SsdPickerInput& input) {
  if (input.version->ssd == nullptr || input.purge == nullptr) return std::nullopt;
  if (input.purge->level < 0) return PickDrain(input, Why::kPurge);
  const size_t level = static_cast<size_t>(input.purge->level);
  // Nothing lies below the last level, so only a rewrite finds anything to do there.
  return level < input.version->ssd->levels.size() ? PickCompaction(input, level, Why::kPurge) : std::nullopt;
}

std::optional<SsdJob> PickSsdJob(const SsdPickerInput& input) {
  if (input.version->ssd == nullptr) return std::nullopt;
  CHECK(input.running != nullptr);
  // Work that costs nothing comes first, then room in the pool, because writers wait for room.
  std::optional<SsdJob> job = PickExpired(input);
  if (!job.has_value() && input.purge_first) job = PickPurge(input);
  if (!job.has_value() && input.drains != Drains::kNone) job = PickDrain(input, Why::kSize);
  if (!job.has_value()) job = PickFullLevel(input);
  if (!job.has_value()) job = PickPurge(input);
  return job;
}

}  // namespace miodb
