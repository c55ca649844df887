// What Options say of the SSD tier's files.

#ifndef MIODB_SRC_DB_SSD_OPTIONS_H_
#define MIODB_SRC_DB_SSD_OPTIONS_H_

#include "miodb/options.h"
#include "src/ssd/ssd_store.h"

namespace miodb {

inline SsdStore::Options SsdStoreOptions(const Options& options) {
  SsdStore::Options o;
  o.env = options.env;
  o.path = options.ssd_path;
  o.order = KeyOrder(options.comparator);
  o.format.filter_policy = options.filter_policy;
  o.format.block_size = options.block_size;
  o.format.restart_interval = options.block_restart_interval;
  o.format.compression = options.compression;
  o.format.zstd_level = options.zstd_compression_level;
  o.filter_bits = options.filter_bits_per_key;
  o.block_cache = options.block_cache;
  o.max_open_files = options.max_open_files;
  o.bytes_per_second = options.ssd_rate_limit;
  o.verify_on_open = options.paranoid_checks;
  o.direct_reads = options.use_direct_reads;
  o.direct_writes = options.use_direct_io_for_flush_and_compaction;
  o.merge_readahead = options.compaction_readahead_size;
  return o;
}

}  // namespace miodb

#endif  // MIODB_SRC_DB_SSD_OPTIONS_H_
