// RocksDB through its public headers. RocksDB's defaults stay except where its tuning guide recommends otherwise for
// this kind of load or where all engines get the same figure (memtable, cache, filter, block size, no compression).

#ifdef MIODB_WITH_ROCKSDB

#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/counting_comparator.h"
#include "benchmarks/common/engines/family_session.h"
#include "benchmarks/common/engines/session.h"
#include "benchmarks/common/interrupt.h"

namespace miodb::bench {

namespace {

constexpr int64_t kDefaultCacheBytes = 8 << 20;

struct Traits {
  using DB = rocksdb::DB;
  using Slice = rocksdb::Slice;
  using Iterator = rocksdb::Iterator;
  using WriteBatch = rocksdb::WriteBatch;
  using ReadOptions = rocksdb::ReadOptions;
  using WriteOptions = rocksdb::WriteOptions;

  static std::string Message(const rocksdb::Status& status) { return status.ToString(); }
  static rocksdb::Status Get(DB* db, const ReadOptions& options, const Slice& key, std::string* value) {
    return db->Get(options, key, value);
  }
  static rocksdb::Status Get(DB* db, const ReadOptions& options, const Slice& key, rocksdb::PinnableSlice* value) {
    return db->Get(options, db->DefaultColumnFamily(), key, value);
  }
  struct MultiGetRoom {
    std::vector<Slice> keys;
    std::vector<rocksdb::PinnableSlice> values;
    std::vector<rocksdb::Status> statuses;
  };
  static rocksdb::Status MultiGet(DB* db, const ReadOptions& options, std::span<const std::string_view> keys,
                                  MultiGetRoom* room, const Session::FoundFunction& found) {
    room->keys.clear();
    for (std::string_view key : keys) room->keys.emplace_back(key.data(), key.size());
    for (rocksdb::PinnableSlice& value : room->values) value.Reset();
    room->values.resize(keys.size());
    room->statuses.resize(keys.size());
    db->MultiGet(options, db->DefaultColumnFamily(), keys.size(), room->keys.data(), room->values.data(),
                 room->statuses.data());
    for (size_t i = 0; i < keys.size(); i++) {
      if (room->statuses[i].ok()) {
        found(i, std::string_view(room->values[i].data(), room->values[i].size()));
      } else if (!room->statuses[i].IsNotFound()) {
        return room->statuses[i];
      }
    }
    return {};
  }
};

using BytewiseCounter = CountingComparator<rocksdb::Comparator, rocksdb::Slice>;

// False if the name is unknown or this build of RocksDB lacks the algorithm.
bool FindCompression(const std::string& name, rocksdb::CompressionType* type) {
  constexpr std::pair<const char*, rocksdb::CompressionType> kTypes[] = {
      {"none", rocksdb::kNoCompression},
      {"snappy", rocksdb::kSnappyCompression},
      {"zlib", rocksdb::kZlibCompression},
      {"bzip2", rocksdb::kBZip2Compression},
      {"lz4", rocksdb::kLZ4Compression},
      {"lz4hc", rocksdb::kLZ4HCCompression},
      {"zstd", rocksdb::kZSTD},
  };
  for (const auto& [known, value] : kTypes) {
    if (name != known) continue;
    *type = value;
    const std::vector<rocksdb::CompressionType> built_in = rocksdb::GetSupportedCompressions();
    return value == rocksdb::kNoCompression || std::find(built_in.begin(), built_in.end(), value) != built_in.end();
  }
  return false;
}

class RocksDbEngine final : public Engine {
 public:
  RocksDbEngine(const EngineConfig& config, rocksdb::CompressionType compression)
      : config_(config), compression_(compression), counter_(rocksdb::BytewiseComparator()) {
    if (config.perf_level > 1) statistics_ = rocksdb::CreateDBStatistics();
    cache_ = rocksdb::NewLRUCache(static_cast<size_t>(config.cache_size < 0 ? kDefaultCacheBytes : config.cache_size));
  }

  ~RocksDbEngine() override { Close(); }

  std::string Name() const override { return "RocksDB"; }
  std::string Version() const override {
    return std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." + std::to_string(ROCKSDB_PATCH);
  }

  Outcome Open() override {
    if (config_.num_column_families > 1) return OpenFamilies();
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = config_.readonly ? rocksdb::DB::OpenForReadOnly(MakeOptions(), config_.db, &db)
                                                    : rocksdb::DB::Open(MakeOptions(), config_.db, &db);
    db_.reset(db);
    return ToOutcome(status);
  }
  void Close() override {
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
    families_.clear();
    db_.reset();
  }
  Outcome Destroy() override { return ToOutcome(rocksdb::DestroyDB(config_.db, MakeOptions())); }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    rocksdb::WriteOptions write_options;
    write_options.sync = options.sync;
    write_options.disableWAL = config_.disable_wal;
    rocksdb::ReadOptions read_options;
    read_options.verify_checksums = config_.verify_checksum;
    read_options.readahead_size = config_.readahead_size;
    if (!families_.empty()) {
      return std::make_unique<FamilySession<Traits, rocksdb::ColumnFamilyHandle>>(db_.get(), families_, write_options,
                                                                                  read_options);
    }
    if (config_.pinned_get) {
      return std::make_unique<ApiSession<Traits, rocksdb::PinnableSlice>>(db_.get(), write_options, read_options);
    }
    return std::make_unique<ApiSession<Traits, std::string>>(db_.get(), write_options, read_options);
  }

  Outcome Flush() override { return ToOutcome(db_->Flush(rocksdb::FlushOptions())); }
  Outcome CompactAll() override {
    rocksdb::Status status;
    Interrupt::Watch([&] { status = db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr); },
                     [this] { db_->DisableManualCompaction(); });
    return Interrupt::StopRequested() ? Outcome{} : ToOutcome(status);
  }

  // 7.8 has no call for this; its properties say what runs and what is due. Two looks in a row must agree, because
  // one job's end schedules the next.
  Outcome WaitForIdle() override {
    for (int quiet = 0; quiet < 2 && !Interrupt::StopRequested();) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      uint64_t work = 0;
      for (const char* property : {"rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
                                   "rocksdb.num-running-compactions", "rocksdb.compaction-pending"}) {
        uint64_t value = 0;
        if (!db_->GetIntProperty(property, &value)) return Outcome::Error(std::string("no property ") + property);
        work += value;
      }
      quiet = work == 0 ? quiet + 1 : 0;
    }
    return {};
  }

  bool Describe(Text which, std::string* text) override {
    switch (which) {
      case Text::kStats:
        return db_->GetProperty("rocksdb.stats", text);
      case Text::kLevelStats:
        return db_->GetProperty("rocksdb.levelstats", text);
      case Text::kSstables:
        return db_->GetProperty("rocksdb.sstables", text);
      case Text::kMemory:
        break;
    }
    text->clear();
    for (const char* name : {"size-all-mem-tables", "block-cache-usage", "estimate-table-readers-mem"}) {
      uint64_t bytes = 0;
      if (!db_->GetIntProperty(std::string("rocksdb.") + name, &bytes)) return false;
      *text += std::string(name) + ": " + std::to_string(bytes) + "\n";
    }
    return true;
  }
  bool ResetStats() override { return db_->ResetStats().ok(); }

  // A block that is not in the cache is read from its file, or from the mapped file.
  ReadCounts CountReads() override {
    if (statistics_ == nullptr) return {};
    const auto count = [this](rocksdb::Tickers ticker) { return statistics_->getTickerCount(ticker); };
    return {{"block reads", count(rocksdb::BLOCK_CACHE_MISS)},
            {"block cache hits", count(rocksdb::BLOCK_CACHE_HIT)},
            {"block bytes read", count(rocksdb::BLOCK_CACHE_BYTES_WRITE)}};
  }

  // RocksDB knows no records of our own, and 7.8 declares preserve_write_order without doing it for single writers.
  Outcome StartTrace(const std::string& path, const TraceSettings& settings) override {
    rocksdb::TraceOptions options;
    options.max_trace_file_size = static_cast<uint64_t>(settings.max_file_bytes);
    options.sampling_frequency = static_cast<uint64_t>(settings.sampling_frequency);
    options.filter = static_cast<uint64_t>(settings.filter);
    options.preserve_write_order = settings.preserve_write_order;
    std::unique_ptr<rocksdb::TraceWriter> writer;
    rocksdb::Status status = rocksdb::NewFileTraceWriter(rocksdb::Env::Default(), rocksdb::EnvOptions(), path, &writer);
    if (status.ok()) status = db_->StartTrace(options, std::move(writer));
    return ToOutcome(status);
  }
  Outcome EndTrace() override { return ToOutcome(db_->EndTrace()); }

  uint64_t Comparisons() const override { return counter_.calls(); }

 private:
  // Opens the families of the configuration, and makes missing families.
  Outcome OpenFamilies() {
    rocksdb::DBOptions options(MakeOptions());
    options.create_missing_column_families = true;
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    descriptors.reserve(static_cast<size_t>(config_.num_column_families));
    for (int i = 0; i < config_.num_column_families; i++) {
      descriptors.emplace_back(FamilyName(i), rocksdb::ColumnFamilyOptions(MakeOptions()));
    }
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = config_.readonly
                                       ? rocksdb::DB::OpenForReadOnly(options, config_.db, descriptors, &families_, &db)
                                       : rocksdb::DB::Open(options, config_.db, descriptors, &families_, &db);
    db_.reset(db);
    return ToOutcome(status);
  }

  static Outcome ToOutcome(const rocksdb::Status& status) {
    return status.ok() ? Outcome{} : Outcome::Error(Traits::Message(status));
  }

  bool TableFlagGiven(const char* name) const {
    return std::count(config_.table_flags.begin(), config_.table_flags.end(), name) > 0;
  }

  rocksdb::Options MakeOptions() const {
    rocksdb::Options options;
    options.create_if_missing = config_.create_if_missing;
    if (!config_.merge_operator.empty()) {
      // With a name that RocksDB does not know there is none, and merges say so.
      rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), config_.merge_operator,
                                               &options.merge_operator)
          .PermitUncheckedError();
    }
    options.write_buffer_size = config_.options.write_buffer_size;
    options.max_write_buffer_number = config_.max_write_buffer_number;
    options.min_write_buffer_number_to_merge = config_.min_write_buffer_number_to_merge;
    options.max_background_jobs = config_.max_background_jobs;
    options.max_subcompactions = config_.subcompactions;
    options.level0_file_num_compaction_trigger = config_.level0_file_num_compaction_trigger;
    options.level0_slowdown_writes_trigger = config_.level0_slowdown_writes_trigger;
    options.level0_stop_writes_trigger = config_.level0_stop_writes_trigger;
    options.target_file_size_base = config_.target_file_size_base;
    options.max_bytes_for_level_base = config_.max_bytes_for_level_base;
    options.level_compaction_dynamic_level_bytes = config_.level_compaction_dynamic_level_bytes;
    options.disable_auto_compactions = config_.disable_auto_compactions;
    options.enable_pipelined_write = config_.enable_pipelined_write;
    options.allow_mmap_reads = config_.mmap_read;
    options.allow_mmap_writes = config_.mmap_write;
    if (TableFlagGiven("compaction_readahead_size")) {
      options.compaction_readahead_size = config_.options.compaction_readahead_size;
    }
    options.use_direct_reads = config_.options.use_direct_reads;
    options.use_direct_io_for_flush_and_compaction = config_.options.use_direct_io_for_flush_and_compaction;
    options.bytes_per_sync = config_.bytes_per_sync;
    options.wal_dir = config_.options.wal_dir;
    options.wal_bytes_per_sync = config_.options.wal_bytes_per_sync;
    options.WAL_ttl_seconds = config_.options.wal_ttl_seconds;
    options.WAL_size_limit_MB = config_.options.wal_size_limit_mb;
    options.max_total_wal_size = config_.options.max_total_wal_size;
    options.max_open_files = config_.open_files >= 0 ? static_cast<int>(config_.open_files) : -1;
    if (config_.num_levels >= 0) options.num_levels = static_cast<int>(config_.num_levels);
    options.compression = compression_;
    options.compression_opts.level = compression_ == rocksdb::kZSTD
                                         ? config_.options.zstd_compression_level
                                         : rocksdb::CompressionOptions::kDefaultCompressionLevel;
    if (config_.comparisons) options.comparator = &counter_;
    options.statistics = statistics_;

    rocksdb::BlockBasedTableOptions table;
    table.block_cache = cache_;
    table.block_size = config_.options.block_size;
    table.block_restart_interval = config_.options.block_restart_interval;
    if (config_.bloom_bits > 0) {
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(static_cast<double>(config_.bloom_bits)));
    }
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  }

  const EngineConfig& config_;
  const rocksdb::CompressionType compression_;
  BytewiseCounter counter_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::shared_ptr<rocksdb::Statistics> statistics_;  // nullptr: nothing is counted
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;  // of db_; empty: the default one alone
};

}  // namespace

std::unique_ptr<Engine> NewRocksDbEngine(const EngineConfig& config, std::string* error) {
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
  if (!FindCompression(config.Compression(), &compression)) {
    *error = "this rocksdb has no compression type '" + config.Compression() + "'";
    return nullptr;
  }
  return std::make_unique<RocksDbEngine>(config, compression);
}

}  // namespace miodb::bench

#endif  // MIODB_WITH_ROCKSDB
