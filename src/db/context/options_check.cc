// The range of every option. An option out of range is refused with its name, its value and what is allowed; none is
// changed without a word.

#include "src/db/context/options_check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "miodb/lifetime.h"
#include "src/format/pm_ref.h"
#include "src/format/region_table.h"
#include "src/format/superblock.h"
#include "src/log/file_log_format.h"
#include "src/nvm/region/region.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

constexpr uint64_t KiB = 1024;
constexpr uint64_t GiB = KiB * KiB * KiB;

// The largest pool that references can reach (format/pm_ref.h). Sums and products of such sizes do not overflow.
constexpr uint64_t kMostPoolBytes = IndexWord::kMaxRef + 1;

// The text names the option, its value and the range: a caller who reads it needs no header.
Status OutOfRange(const char* name, uint64_t value, const std::string& range) {
  return Status::InvalidArgument(std::string("Options::") + name + " is " + std::to_string(value), "allowed: " + range);
}

Status CheckRange(const char* name, uint64_t value, uint64_t low, uint64_t high) {
  DCHECK_LE(low, high);
  if (value >= low && value <= high) return Status::OK();
  return OutOfRange(name, value, std::to_string(low) + " to " + std::to_string(high));
}

// Options that are negative for "none" are plain integers.
Status CheckInt(const char* name, int value, int low, int high) {
  DCHECK_LE(low, high);
  if (value >= low && value <= high) return Status::OK();
  return Status::InvalidArgument(std::string("Options::") + name + " is " + std::to_string(value),
                                 "allowed: " + std::to_string(low) + " to " + std::to_string(high));
}

// Reads an enumeration as the integer that lies there: a caller may have put anything into it.
template <typename Enum>
int Raw(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int raw;
  memcpy(&raw, &value, sizeof(raw));
  return raw;
}

// Extents have sizes in units, and chunks and growth are extents.
Status CheckMultiple(const char* name, uint64_t value) {
  if (value % kExtentUnit == 0) return Status::OK();
  return OutOfRange(name, value, "multiples of " + std::to_string(kExtentUnit));
}

// The least pool that can be filled and emptied again: with chunks of 4 KiB, the header page and both manifest areas
// take 3, the chunks that are in use and ready 2, their flush and the merge after it up to 8, and 6 are kept for
// records on the move (Space::Reserve); as many again for what is to be stored.
constexpr uint64_t kLeastPoolChunks = 32;

Status CheckPoolSize(const Options& o, bool any_sizes) {
  if (o.pool_size == 0) return Status::OK();
  if (any_sizes) return CheckRange("pool_size", o.pool_size, KiB, kMostPoolBytes);
  Status s = CheckRange("pool_size", o.pool_size, kLeastPoolChunks * 4 * KiB, kMostPoolBytes);
  if (!s.ok() || o.log_chunk_size <= o.pool_size / kLeastPoolChunks) return s;
  return OutOfRange("log_chunk_size", o.log_chunk_size,
                    "up to a " + std::to_string(kLeastPoolChunks) + "nd of pool_size, which is " +
                        std::to_string(o.pool_size) + ": a full pool could not be emptied with larger ones");
}

// Each range ends where the code behind it does: sums and products of values in range do not overflow, and a job of the
// least size makes progress.
Status CheckSsdOptions(const Options& o, bool any_sizes) {
  const uint64_t least = any_sizes ? 64 : KiB;
  const uint64_t least_budget = any_sizes ? 1 : 64 * KiB;
  for (const Status& s : {
           CheckInt("max_open_files", o.max_open_files, 16, 10 * 1000 * 1000),
           CheckRange("block_size", o.block_size, 64, 64 * KiB * KiB),
           CheckInt("block_restart_interval", o.block_restart_interval, 1, 65536),
           CheckInt("compression", Raw(o.compression), kNoCompression, kZstdCompression),
           CheckInt("zstd_compression_level", o.zstd_compression_level, -131072, 22),
           o.nvm_budget == 0 ? Status::OK() : CheckRange("nvm_budget", o.nvm_budget, least_budget, UINT64_MAX),
           CheckInt("ssd_levels", o.ssd_levels, 1, 8),
           o.ssd_level_size == 0 ? Status::OK() : CheckRange("ssd_level_size", o.ssd_level_size, 4 * least, GiB * GiB),
           CheckInt("ssd_level_multiplier", o.ssd_level_multiplier, 2, 100),
           CheckRange("ssd_file_size", o.ssd_file_size, least, 4 * GiB),
           CheckInt("max_background_ssd_jobs", o.max_background_ssd_jobs, 1, 64),
           CheckRange("compaction_readahead_size", o.compaction_readahead_size, 0, 64 * KiB * KiB),
           CheckInt("multi_get_threads", o.multi_get_threads, 0, 64),
       }) {
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// Memory without a name: what is kept of it is in files of a log and of an SSD tier, or nowhere.
Status CheckAnonymous(const Options& o) {
  const bool anonymous = Region::IsAnonymous(o.pool_path);
  for (const NvmRegion& region : o.nvm_regions) {
    if (Region::IsAnonymous(region.path) == anonymous) continue;
    return Status::InvalidArgument(
        "Options::nvm_regions has " + region.path,
        "all regions of a pool are anonymous, or none; pool_path is \"" + o.pool_path + "\"");
  }
  if (!anonymous) return Status::OK();
  const std::string what = "Options::pool_path is anonymous, which is volatile memory";
  if (o.ssd_path.empty() && o.log_mode != kLogOff)
    return Status::InvalidArgument(what, "log_mode has to be kLogOff without an ssd_path: no log would ever end");
  if (!o.ssd_path.empty() && o.log_mode != kLogFile)
    return Status::InvalidArgument(what, "log_mode has to be kLogFile with an ssd_path: what is on SSD needs its log");
  if (o.persist_mode == kPersistAuto || o.persist_mode == kPersistEmulated) return Status::OK();
  return Status::InvalidArgument(what, "persist_mode has to be kPersistAuto or kPersistEmulated");
}

// Paths are compared as they are written; that two of them name one file is found out when the second is locked.
Status CheckRegions(const Options& o, bool any_sizes) {
  constexpr size_t kMost = kMaxRegions - 1;
  Status s = CheckRange("nvm_regions.size()", o.nvm_regions.size(), 0, kMost);
  for (size_t i = 0; s.ok() && i < o.nvm_regions.size(); i++) {
    const NvmRegion& region = o.nvm_regions[i];
    const std::string name = "nvm_regions[" + std::to_string(i) + "]";
    if (region.path.empty()) return Status::InvalidArgument("Options::" + name + ".path", "must not be empty");
    const uint64_t least = any_sizes ? 2 * kPoolHeaderSize : 64 * KiB;
    if (region.limit != 0) s = CheckRange((name + ".limit").c_str(), region.limit, least, kMostPoolBytes);
    if (s.ok()) s = CheckInt((name + ".node").c_str(), region.node, -1, 1023);
    for (size_t j = 0; s.ok() && j < i; j++) {
      if (o.nvm_regions[j].path != region.path || Region::IsAnonymous(region.path)) continue;
      s = Status::InvalidArgument("Options::" + name + ".path is " + region.path, "another region has the same");
    }
    if (s.ok() && region.path == o.pool_path && !Region::IsAnonymous(region.path)) {
      s = Status::InvalidArgument("Options::" + name + ".path is " + region.path, "that is the pool_path");
    }
  }
  return s;
}

}  // namespace

// Only in libleveldb and the C API: in MioDB's own API nothing is clipped without a word.
void ClipAsLevelDB(Options* options) {
  options->write_buffer_size = std::clamp<uint64_t>(options->write_buffer_size, 64 * KiB, GiB);
}

// All checks are made, and the first that fails is told. any_sizes: tests make databases of a few cache lines, in which
// everything that fills up does so soon.
Status CheckOptions(const Options& o, bool any_sizes) {
  if (o.comparator == nullptr) return Status::InvalidArgument("Options::comparator", "must not be null");
  if (o.env == nullptr) return Status::InvalidArgument("Options::env", "must not be null");
  if (std::find(o.listeners.begin(), o.listeners.end(), nullptr) != o.listeners.end()) {
    return Status::InvalidArgument("Options::listeners", "none of them may be null");
  }
  const uint64_t least = any_sizes ? 64 : 4 * KiB;
  for (const Status& s : {
           CheckRange("write_buffer_size", o.write_buffer_size, least, 64 * GiB),
           CheckRange("pool_growth", o.pool_growth, least, KiB * GiB),
           CheckMultiple("pool_growth", o.pool_growth),
           CheckInt("persist_mode", Raw(o.persist_mode), Raw(kPersistAuto), Raw(kPersistFile)),
           CheckInt("dram_node", o.dram_node, -1, 1023),
           CheckInt("nvm_node", o.nvm_node, -1, 1023),
           CheckInt("nvm_next_node", o.nvm_next_node, -1, 1023),
           CheckInt("file_access", Raw(o.file_access), Raw(FileAccess::kOwner), Raw(FileAccess::kGroupWrites)),
           CheckInt("info_log_level", Raw(o.info_log_level), Raw(InfoLogLevel::kInfo), Raw(InfoLogLevel::kNone)),
           CheckRange("keep_log_file_num", o.keep_log_file_num, 1, 1000),
           CheckInt("log_mode", Raw(o.log_mode), Raw(kLogPmem), Raw(kLogFile)),
           IsLogBlockSize(o.wal_block_size)
               ? Status::OK()
               : OutOfRange("wal_block_size", o.wal_block_size, "powers of two from 256 to 65536"),
           CheckRange("wal_size_limit_mb", o.wal_size_limit_mb, 0, UINT64_MAX >> 20),
           o.log_chunk_size == 0 ? Status::OK() : CheckRange("log_chunk_size", o.log_chunk_size, least, GiB),
           CheckMultiple("log_chunk_size", o.log_chunk_size),
           CheckPoolSize(o, any_sizes),
           CheckRange("lifetime_seconds", o.lifetime_seconds, 0, kMostLifetimeSeconds),
           o.lifetime_policy == nullptr ? Status::OK() : CheckRange("lifetime_seconds", o.lifetime_seconds, 0, 0),
           CheckInt("max_immutable_memtables", o.max_immutable_memtables, 1, 64),
           CheckInt("num_levels", o.num_levels, 2, 16),
           CheckInt("level_trigger", o.level_trigger, 2, 64),
           CheckInt("max_background_merges", o.max_background_merges, 0, 64),
           CheckInt("settle_after_idle_ms", o.settle_after_idle_ms, 0, 1000 * 1000 * 1000),
           CheckRange("partition_size", o.partition_size, least, 64 * GiB),
           CheckRange("lazy_copy_limit", o.lazy_copy_limit, 0, GiB),
           CheckInt("space_amplification_percent", o.space_amplification_percent, 105, 1000),
           CheckInt("filter_bits_per_key", o.filter_bits_per_key, 0, 32),
       }) {
    if (!s.ok()) return s;
  }
  // Rules over several options come last, when each option is known to be in its range.
  Status s = CheckRegions(o, any_sizes);
  if (s.ok()) s = CheckAnonymous(o);
  return s.ok() && !o.ssd_path.empty() ? CheckSsdOptions(o, any_sizes) : s;
}

}  // namespace miodb
