// The ranges of the options, which are a table, and the rules over several of them. An option out of range is refused
// with its name, its value and what is allowed; none is changed without a word.

#include "src/db/context/options_check.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "miodb/lifetime.h"
#include "src/api/options/option_table.h"
#include "src/format/pm_ref.h"
#include "src/format/region_table.h"
#include "src/format/superblock.h"
#include "src/log/file_log_format.h"
#include "src/nvm/region/region_file.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

constexpr uint64_t KiB = 1024;
constexpr uint64_t GiB = KiB * KiB * KiB;

// The table's figures are those of the code behind them. References reach the largest pool, and sums and products of
// such sizes do not overflow.
static_assert(kMostPoolBytes == IndexWord::kMaxRef + 1 && kMostLifetimeSeconds == 10'000'000'000);
static_assert(kLeastLogBlock == 256 && kMostLogBlock == 65536);

Status CheckRange(const std::string& name, uint64_t value, uint64_t low, uint64_t high) {
  DCHECK_LE(low, high);
  if (value >= low && value <= high) return Status::OK();
  return Status::InvalidArgument("Options::" + name + " is " + std::to_string(value),
                                 "allowed: " + std::to_string(low) + " to " + std::to_string(high));
}

// The least pool that can be filled and emptied again: with chunks of 4 KiB, the header page and both manifest areas
// take 3, the chunks that are in use and ready 2, their flush and the merge after it up to 8, and 6 are kept for
// records on the move (Space::Reserve); as many again for what is to be stored.
constexpr uint64_t kLeastPoolChunks = 32;

Status CheckChunkOfPool(const Options& o) {
  if (o.pool_size == 0 || o.log_chunk_size <= o.pool_size / kLeastPoolChunks) return Status::OK();
  return Status::InvalidArgument("Options::log_chunk_size is " + std::to_string(o.log_chunk_size),
                                 "allowed: up to a " + std::to_string(kLeastPoolChunks) + "nd of pool_size, which is " +
                                     std::to_string(o.pool_size) +
                                     ": a full pool could not be emptied with larger ones");
}

// Memory without a name: what is kept of it is in files of a log and of an SSD tier, or nowhere.
Status CheckAnonymous(const Options& o) {
  const PoolPlace place = PlaceOfPool(o.pool_path);
  for (const NvmRegion& region : o.nvm_regions) {
    if (PlaceOfPool(region.path) == place) continue;
    return Status::InvalidArgument(
        "Options::nvm_regions has " + region.path,
        "all regions of a pool are anonymous, or none; pool_path is \"" + o.pool_path + "\"");
  }
  if (place == PoolPlace::kNamed) return Status::OK();
  const std::string what = "Options::pool_path is anonymous, which is volatile memory";
  if (o.ssd_path.empty() && o.log_mode != kLogOff)
    return Status::InvalidArgument(what, "log_mode has to be kLogOff without an ssd_path: no log would ever end");
  if (!o.ssd_path.empty() && o.log_mode != kLogFile)
    return Status::InvalidArgument(what, "log_mode has to be kLogFile with an ssd_path: what is on SSD needs its log");
  if (o.persist_mode == kPersistAuto || o.persist_mode == kPersistEmulated) return Status::OK();
  return Status::InvalidArgument(what, "persist_mode has to be kPersistAuto or kPersistEmulated");
}

// Paths are compared as they are written; that two of them name one file is found out when the second is locked.
Status CheckRegions(const Options& o, uint64_t least) {
  constexpr size_t kMost = kMaxRegions - 1;
  Status s = CheckRange("nvm_regions.size()", o.nvm_regions.size(), 0, kMost);
  for (size_t i = 0; s.ok() && i < o.nvm_regions.size(); i++) {
    const NvmRegion& region = o.nvm_regions[i];
    const std::string name = "nvm_regions[" + std::to_string(i) + "]";
    if (region.path.empty()) return Status::InvalidArgument("Options::" + name + ".path", "must not be empty");
    const PoolPlace place = PlaceOfPool(region.path);
    if (region.limit != 0) s = CheckRange(name + ".limit", region.limit, least, kMostPoolBytes);
    if (s.ok() && region.node != -1) s = CheckRange(name + ".node", static_cast<unsigned>(region.node), 0, 1023);
    for (size_t j = 0; s.ok() && j < i; j++) {
      if (o.nvm_regions[j].path != region.path || place == PoolPlace::kAnonymous) continue;
      s = Status::InvalidArgument("Options::" + name + ".path is " + region.path, "another region has the same");
    }
    if (s.ok() && region.path == o.pool_path && place == PoolPlace::kNamed) {
      s = Status::InvalidArgument("Options::" + name + ".path is " + region.path, "that is the pool_path");
    }
  }
  return s;
}

}  // namespace

PoolPlace PlaceOfPool(const std::string& path) {
  return IsAnonymousPath(path) ? PoolPlace::kAnonymous : PoolPlace::kNamed;
}

// Only in libleveldb and the C API: in MioDB's own API nothing is clipped without a word.
void ClipAsLevelDB(Options* options) {
  options->write_buffer_size = std::clamp<uint64_t>(options->write_buffer_size, 64 * KiB, GiB);
}

// All checks are made, and the first that fails is told. Tests make databases of a few cache lines, in which everything
// that fills up does so soon.
Status CheckOptions(const Options& o, const DbHooks& hooks) {
  const bool any_sizes = hooks.background == BackgroundMode::kBySteps || hooks.opener == Opener::kRepair;
  if (o.comparator == nullptr) return Status::InvalidArgument("Options::comparator", "must not be null");
  if (o.env == nullptr) return Status::InvalidArgument("Options::env", "must not be null");
  if (std::find(o.listeners.begin(), o.listeners.end(), nullptr) != o.listeners.end()) {
    return Status::InvalidArgument("Options::listeners", "none of them may be null");
  }
  Status s = CheckRanges(o, any_sizes ? 1 : INT64_MAX, kExtentUnit);
  // Rules over several options come last, when each option is known to be in its range.
  if (s.ok() && !any_sizes) s = CheckChunkOfPool(o);
  if (s.ok() && o.lifetime_policy != nullptr && o.lifetime_seconds != 0) {
    s = Status::InvalidArgument("Options::lifetime_seconds is " + std::to_string(o.lifetime_seconds),
                                "allowed: 0 beside a lifetime_policy");
  }
  if (s.ok()) s = CheckRegions(o, any_sizes ? 2 * kPoolHeaderSize : 64 * KiB);
  return s.ok() ? CheckAnonymous(o) : s;
}

}  // namespace miodb
