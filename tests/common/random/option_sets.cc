#include "tests/common/random/option_sets.h"

#include <cstdio>
#include <cstdlib>

#include "tests/common/random/comparators.h"

namespace miodb::test {

namespace {

constexpr size_t kKiB = 1024;

// Everything as small as it may be, so that a few hundred writes reach every level.
Options TinyOptions() {
  Options options = SmallOptions();
  options.write_buffer_size = 4 * kKiB;
  options.log_chunk_size = 4 * kKiB;
  options.partition_size = 16 * kKiB;
  options.pool_growth = 64 * kKiB;
  options.num_levels = 3;
  return options;
}

std::vector<OptionSet> MakeSets() {
  std::vector<OptionSet> sets;
  const auto add = [&sets](const char* name, Options options) {
    return &sets.emplace_back(OptionSet{name, options}).options;
  };
  add("small", SmallOptions());
  add("tiny", TinyOptions());
  add("two_levels", TinyOptions())->num_levels = 2;

  Options* o = add("trigger_4", TinyOptions());
  o->level_trigger = 4;
  o->num_levels = 4;
  o->max_background_merges = 4;
  o->settle_after_idle_ms = 1;

  o = add("log_off", TinyOptions());
  o->log_mode = kLogOff;

  o = add("log_file", TinyOptions());
  o->log_mode = kLogFile;
  o->wal_block_size = 512;
  o->wal_padding = true;
  o->max_total_wal_size = 6 * kKiB;

  o = add("no_filters", TinyOptions());
  o->filter_bits_per_key = 0;
  o->num_levels = 5;
  o->merge_policy = "levelled";
  o->max_immutable_memtables = 1;

  o = add("no_lazy_copy", TinyOptions());
  o->lazy_copy_limit = 0;
  o->space_amplification_percent = 105;
  o->keep_log_bytes = 64 * kKiB;

  o = add("all_lazy_copy", TinyOptions());
  o->lazy_copy_limit = size_t{1} << 30;
  o->space_amplification_percent = 400;

  o = add("reverse", TinyOptions());
  o->comparator = ReverseComparator();
  o->record_cache_size = 64 * kKiB;

  o = add("file_mode", TinyOptions());
  o->persist_mode = kPersistFile;
  o->merge_policy = "tiered";
  o->write_buffer_size = 16 * kKiB;

  o = add("small_growth", TinyOptions());
  o->pool_growth = 4 * kKiB;
  o->num_levels = 16;
  o->max_background_merges = 1;
  o->record_cache_size = 16 * kKiB;

  o = add("paranoid", TinyOptions());
  o->paranoid_checks = true;
  o->filter_bits_per_key = 32;

  // Nearly everything goes down to SSD, through files of some blocks and levels of some files.
  o = add("ssd", TinyOptions());
  o->ssd_path = kSsdInDirectory;
  o->nvm_budget = 64 * kKiB;
  o->ssd_level_size = 32 * kKiB;
  o->ssd_level_multiplier = 2;
  o->ssd_levels = 3;
  o->ssd_file_size = 8 * kKiB;
  o->block_size = 512;
  o->max_open_files = 16;
  o->record_cache_size = 256 * kKiB;

  o = add("ssd_reverse", Options(*o));
  o->comparator = ReverseComparator();
  o->compression = kNoCompression;
  o->max_background_ssd_jobs = 4;
  o->ssd_level_size = 0;  // as the data wants it
  o->compaction_readahead_size = 0;
  o->paranoid_checks = true;
  return sets;
}

}  // namespace

Options AtPath(Options options, const std::string& path) {
  if (options.ssd_path == kSsdInDirectory) options.ssd_path = path + "/ssd";
  for (NvmRegion& region : options.nvm_regions) {
    if (region.path == kRegionInDirectory) region.path = path + "/region";
  }
  return options;
}

Options SmallOptions() {
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 * kKiB;
  options.partition_size = 128 * kKiB;
  options.pool_growth = 1024 * kKiB;
  return options;
}

const std::vector<OptionSet>& OptionSets() {
  static const std::vector<OptionSet> sets = MakeSets();
  return sets;
}

const OptionSet& FindOptionSet(const std::string& name) {
  for (const OptionSet& set : OptionSets()) {
    if (set.name == name) return set;
  }
  std::fprintf(stderr, "no option set is named \"%s\"\n", name.c_str());
  std::exit(2);
}

}  // namespace miodb::test
