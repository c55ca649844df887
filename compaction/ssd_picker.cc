#include "compaction/ssd_picker.h"

#include <algorithm>
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

// Bytes to rewrite for each byte moved.
double Cost(const SsdJob& job) {
  uint64_t moved = TotalBytes(job.upper);
  for (const TableRef& table : job.tables) moved += table->payload_bytes();
  return static_cast<double>(TotalBytes(job.lower)) / static_cast<double>(std::max<uint64_t>(moved, 1));
}

bool InRange(const SsdPickerInput& input, const Slice& smallest, const Slice& largest) {
  const PurgeRange& purge = *input.purge;
  return (purge.begin == nullptr || input.order.Compare(largest, *purge.begin) >= 0) &&
         (purge.end == nullptr || input.order.Compare(smallest, *purge.end) <= 0);
}

// The drain with the least to rewrite. purge: only of a partition with tombstones over older data.
std::optional<SsdJob> PickDrain(const SsdPickerInput& input, bool purge) {
  const Version& version = *input.version;
  if (!input.may_drain || version.levels.back().empty()) return std::nullopt;
  std::optional<SsdJob> best;
  for (const TableRef& table : version.levels.back()[0]->tables) {
    if (purge && (table->tombstones() == 0 || !InRange(input, table->smallest(), table->largest()) ||
                  !version.ssd->OverlapsFrom(0, table->smallest(), table->largest()))) {
      continue;
    }
    SsdJob job;
    job.output_level = 0;
    job.tables.push_back(table);
    job.range = {-1, table->smallest().ToString(), table->largest().ToString()};
    Complete(input, &job);
    if (IsFree(input, job.range) && (!best.has_value() || Cost(job) < Cost(*best))) best = std::move(job);
  }
  return best;
}

// The compaction out of this level with the least to rewrite. purge: only of a file with tombstones over older data.
std::optional<SsdJob> PickCompaction(const SsdPickerInput& input, size_t level, bool purge) {
  const SsdLevels& ssd = *input.version->ssd;
  std::optional<SsdJob> best;
  for (const SstRef& file : ssd.levels[level]) {
    const SstMeta& meta = file->meta();
    if (purge && (meta.tombstones == 0 || !InRange(input, meta.smallest, meta.largest) ||
                  !ssd.OverlapsFrom(level + 1, meta.smallest, meta.largest))) {
      continue;
    }
    SsdJob job;
    job.output_level = static_cast<int>(level) + 1;
    job.upper.push_back(file);
    job.range = {static_cast<int>(level), meta.smallest, meta.largest};
    Complete(input, &job);
    if (IsFree(input, job.range) && (!best.has_value() || Cost(job) < Cost(*best))) best = std::move(job);
  }
  return best;
}

// A file of this level with tombstones that hide nothing.
std::optional<SsdJob> PickRewrite(const SsdPickerInput& input, size_t level) {
  const SsdLevels& ssd = *input.version->ssd;
  for (const SstRef& file : ssd.levels[level]) {
    const SstMeta& meta = file->meta();
    if (meta.tombstones == 0 || !InRange(input, meta.smallest, meta.largest)) continue;
    SsdJob job;
    job.output_level = static_cast<int>(level);
    job.upper.push_back(file);
    job.range = {static_cast<int>(level), meta.smallest, meta.largest};
    if (IsFree(input, job.range)) return job;
  }
  return std::nullopt;
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

std::optional<SsdJob> PickSsdJob(const SsdPickerInput& input) {
  if (input.version->ssd == nullptr) return std::nullopt;
  // Room in the pool first, because writers wait for that.
  if (input.drain) {
    if (std::optional<SsdJob> job = PickDrain(input, false)) return job;
  }
  if (std::optional<SsdJob> job = PickFullLevel(input)) return job;
  if (input.purge == nullptr) return std::nullopt;
  if (std::optional<SsdJob> job = PickDrain(input, true)) return job;
  for (size_t level = 0; level + 1 < input.version->ssd->levels.size(); level++) {
    if (std::optional<SsdJob> job = PickCompaction(input, level, true)) return job;
  }
  // Only when nothing is under way that could put something below again.
  for (size_t level = 0; input.may_rewrite && input.running->empty() && level < input.version->ssd->levels.size();
       level++) {
    if (std::optional<SsdJob> job = PickRewrite(input, level)) return job;
  }
  return std::nullopt;
}

}  // namespace miodb
