#include "compaction/ssd_picker.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace miodb {

namespace {

void Widen(const KeyOrder& order, const std::string& smallest, const std::string& largest, SsdRange* range) {
  if (order.Compare(smallest, range->smallest) < 0) range->smallest = smallest;
  if (order.Compare(largest, range->largest) > 0) range->largest = largest;
}

bool IsFree(const SsdPickerInput& input, const SsdRange& range) {
  return std::none_of(input.running->begin(), input.running->end(), [&](const SsdRange& other) {
    return std::abs(other.first_level - range.first_level) <= 1 &&
           input.order.Compare(range.smallest, other.largest) <= 0 &&
           input.order.Compare(other.smallest, range.largest) <= 0;
  });
}

// Adds what overlaps in the output level.
void Complete(const SsdPickerInput& input, SsdJob* job) {
  const std::vector<SstRef>& below = input.version->ssd->levels[static_cast<size_t>(job->output_level)];
  job->lower = OverlappingFiles(input.order, below, job->range.smallest, job->range.largest);
  if (job->lower.empty()) return;
  Widen(input.order, job->lower.front()->meta().smallest, job->lower.back()->meta().largest, &job->range);
}

// Bytes to rewrite for each byte moved. Of drains that are to shorten the log, the age of the partition.
double Cost(const SsdPickerInput& input, const SsdJob& job) {
  if (job.is_drain() && input.oldest_first) return static_cast<double>(job.tables[0]->oldest_sequence());
  uint64_t moved = TotalBytes(job.upper);
  for (const TableRef& table : job.tables) moved += table->payload_bytes();
  return static_cast<double>(TotalBytes(job.lower)) / static_cast<double>(std::max<uint64_t>(moved, 1));
}

// Whether a table or file is one of those that are to be purged.
bool IsPurged(const SsdPickerInput& input, uint64_t number, uint64_t tombstones, const Slice& smallest,
              const Slice& largest) {
  const PurgeRequest& purge = *input.purge;
  return tombstones > 0 && number < purge.before &&
         (purge.begin == nullptr || input.order.Compare(largest, *purge.begin) >= 0) &&
         (purge.end == nullptr || input.order.Compare(smallest, *purge.end) <= 0) &&
         input.version->ssd->OverlapsFrom(static_cast<size_t>(purge.level + 1), smallest, largest) != purge.rewrite;
}

// The best of the jobs that were offered.
class Choice {
 public:
  explicit Choice(const SsdPickerInput& input) : input_(input) {}

  // Takes the job if it may run now and costs less than the best one so far.
  void Offer(SsdJob job) {
    if (!IsFree(input_, job.range)) return;
    const double cost = Cost(input_, job);
    if (best_.has_value() && cost >= cost_) return;
    cost_ = cost;
    best_ = std::move(job);
  }

  std::optional<SsdJob> Best() { return std::move(best_); }

 private:
  const SsdPickerInput& input_;
  std::optional<SsdJob> best_;
  double cost_ = 0;
};

// The drain with the least to rewrite.
std::optional<SsdJob> PickDrain(const SsdPickerInput& input, bool purge) {
  const Version& version = *input.version;
  Choice choice(input);
  if (!input.may_drain || version.levels.back().empty()) return std::nullopt;
  for (const TableRef& table : version.levels.back()[0]->tables) {
    if (input.busy_tables != nullptr && input.busy_tables->count(table->number()) > 0) continue;
    if (purge && !IsPurged(input, table->number(), table->tombstones(), table->smallest(), table->largest())) continue;
    SsdJob job;
    job.output_level = 0;
    job.tables.push_back(table);
    job.range = {-1, table->smallest().ToString(), table->largest().ToString()};
    Complete(input, &job);
    choice.Offer(std::move(job));
  }
  return choice.Best();
}

// The compaction out of this level with the least to rewrite.
std::optional<SsdJob> PickCompaction(const SsdPickerInput& input, size_t level, bool purge) {
  Choice choice(input);
  for (const SstRef& file : input.version->ssd->levels[level]) {
    const SstMeta& meta = file->meta();
    if (purge && !IsPurged(input, meta.number, meta.tombstones, meta.smallest, meta.largest)) continue;
    SsdJob job;
    job.output_level = static_cast<int>(level) + (purge && input.purge->rewrite ? 0 : 1);
    job.upper.push_back(file);
    job.range = {static_cast<int>(level), meta.smallest, meta.largest};
    if (job.output_level > job.range.first_level) Complete(input, &job);
    choice.Offer(std::move(job));
  }
  return choice.Best();
}

// The level that is furthest above its limit; others follow if it has nothing free.
std::optional<SsdJob> PickFullLevel(const SsdPickerInput& input) {
  const std::vector<std::vector<SstRef>>& levels = input.version->ssd->levels;
  std::vector<std::pair<double, size_t>> scores;
  for (size_t level = 0; level + 1 < levels.size() && level < input.level_limits.size(); level++) {
    const double score =
        static_cast<double>(TotalBytes(levels[level])) / static_cast<double>(input.level_limits[level]);
    if (score > 1) scores.emplace_back(score, level);
  }
  std::sort(scores.rbegin(), scores.rend());
  for (const auto& [score, level] : scores) {
    if (std::optional<SsdJob> job = PickCompaction(input, level, false)) return job;
  }
  return std::nullopt;
}

}  // namespace

std::vector<uint64_t> AutomaticLevelLimits(uint64_t pool_budget, uint64_t ssd_bytes, int levels, int multiplier) {
  const double budget = static_cast<double>(std::max<uint64_t>(pool_budget, 1));
  const double ratio = std::max(1.0, static_cast<double>(ssd_bytes) / budget);
  int used = 1;
  while (used < levels && std::pow(ratio, 1.0 / used) > multiplier) used++;
  const double step = std::pow(ratio, 1.0 / used);
  std::vector<uint64_t> limits;
  double limit = budget;
  for (int level = 0; level + 1 < used; level++) {
    limit *= step;
    limits.push_back(static_cast<uint64_t>(limit));
  }
  return limits;
}

std::optional<SsdJob> PickPurge(const SsdPickerInput& input) {
  if (input.version->ssd == nullptr || input.purge == nullptr) return std::nullopt;
  if (input.purge->level < 0) return PickDrain(input, true);
  const size_t level = static_cast<size_t>(input.purge->level);
  // Nothing lies below the last level, so only a rewrite finds anything to do there.
  return level < input.version->ssd->levels.size() ? PickCompaction(input, level, true) : std::nullopt;
}

std::optional<SsdJob> PickSsdJob(const SsdPickerInput& input) {
  if (input.version->ssd == nullptr) return std::nullopt;
  // Room in the pool first, because writers wait for that.
  std::optional<SsdJob> job;
  if (input.purge_first) job = PickPurge(input);
  if (!job.has_value() && input.drain) job = PickDrain(input, false);
  if (!job.has_value()) job = PickFullLevel(input);
  if (!job.has_value()) job = PickPurge(input);
  return job;
}

}  // namespace miodb
