// MioDB through its public headers.

#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/counting_comparator.h"
#include "benchmarks/common/engines/sampled_session.h"
#include "benchmarks/common/engines/session.h"
#include "benchmarks/common/interrupt.h"
#include "miodb/cache.h"
#include "miodb/comparator.h"
#include "miodb/db.h"
#include "miodb/options.h"
#include "miodb/pinnable_slice.h"
#include "miodb/trace.h"
#include "miodb/write_batch.h"

namespace miodb::bench {

namespace {

struct Traits {
  using DB = miodb::DB;
  using Slice = miodb::Slice;
  using Iterator = miodb::Iterator;
  using WriteBatch = miodb::WriteBatch;
  using ReadOptions = miodb::ReadOptions;
  using WriteOptions = miodb::WriteOptions;

  // Names the kind of the error where scripts look for it: a full pool is what capacity experiments wait for.
  static std::string Message(const miodb::Status& status) {
    return (status.IsNoSpace() ? "NoSpace: " : "") + status.ToString();
  }
  static miodb::Status Get(DB* db, const ReadOptions& options, const Slice& key, std::string* value) {
    return db->Get(options, key, value);
  }
  static miodb::Status Get(DB* db, const ReadOptions& options, const Slice& key, PinnableSlice* value) {
    return db->Get(options, key, value);
  }
  static miodb::Status MultiGet(DB* db, const ReadOptions& options, std::span<const std::string_view> keys,
                                const Session::FoundFunction& found) {
    std::vector<Slice> slices;
    slices.reserve(keys.size());
    for (std::string_view key : keys) slices.emplace_back(key.data(), key.size());
    std::vector<std::string> values;
    const std::vector<miodb::Status> statuses = db->MultiGet(options, slices, &values);
    if (statuses.size() != keys.size()) return miodb::Status::IOError("MultiGet", "out of memory");
    for (size_t i = 0; i < keys.size(); i++) {
      if (statuses[i].ok()) {
        found(i, values[i]);
      } else if (!statuses[i].IsNotFound()) {
        return statuses[i];
      }
    }
    return miodb::Status::OK();
  }
};

using BytewiseCounter = CountingComparator<miodb::Comparator, miodb::Slice>;

class MioDbEngine final : public Engine {
 public:
  explicit MioDbEngine(const EngineConfig& config)
      : config_(config),
        counter_(BytewiseComparator()),
        cache_(config.cache_size >= 0 ? NewLRUCache(static_cast<size_t>(config.cache_size)) : nullptr) {}

  ~MioDbEngine() override { Close(); }

  std::string Name() const override { return "MioDB"; }
  std::string Version() const override { return std::to_string(kMajorVersion) + "." + std::to_string(kMinorVersion); }

  Outcome Open() override {
    miodb::DB* db = nullptr;
    const Status status = DB::Open(MakeOptions(), config_.db, &db);
    db_.reset(db);
    return ToOutcome(status);
  }
  void Close() override { db_.reset(); }
  Outcome Destroy() override { return ToOutcome(DestroyDB(config_.db, MakeOptions())); }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    WriteOptions write_options;
    write_options.sync = options.sync;
    ReadOptions read_options;
    read_options.verify_checksums = config_.verify_checksum;
    read_options.readahead_size = static_cast<size_t>(config_.readahead_size);
    std::unique_ptr<Session> session;
    if (config_.pinned_get) {
      session = std::make_unique<ApiSession<Traits, PinnableSlice>>(db_.get(), write_options, read_options);
    } else {
      session = std::make_unique<ApiSession<Traits, std::string>>(db_.get(), write_options, read_options);
    }
    if (config_.perf_sampling <= 0) return session;
    return std::make_unique<SampledSession>(std::move(session), static_cast<uint64_t>(config_.perf_sampling), &times_);
  }

  Outcome Flush() override { return ToOutcome(db_->Flush()); }
  Outcome CompactAll() override {
    Interrupt::Watch([this] { db_->CompactRange(nullptr, nullptr); }, [this] { db_->StopWaiting(); });
    return {};
  }
  Outcome WaitForIdle() override {
    Status status;
    Interrupt::Watch([&] { status = db_->WaitForIdle(); }, [this] { db_->StopWaiting(); });
    return Interrupt::StopRequested() ? Outcome{} : ToOutcome(status);
  }

  bool Describe(Text which, std::string* text) override {
    if (which == Text::kSstables) return db_->GetProperty("leveldb.sstables", text);
    if (which == Text::kMemory) return DescribeMemory(db_.get(), text);
    if (!db_->GetProperty("leveldb.stats", text)) return false;
    if (which == Text::kStats && config_.perf_sampling > 0) *text += times_.Take();
    if (which == Text::kLevelStats) *text = LevelStatsFromTable(*text, MakeOptions().num_levels);
    return true;
  }

  Outcome StartTrace(const std::string& path, const TraceSettings& settings) override {
    TraceOptions options;
    options.max_trace_file_size = static_cast<uint64_t>(settings.max_file_bytes);
    options.sampling_frequency = static_cast<uint64_t>(settings.sampling_frequency);
    options.filter = static_cast<uint64_t>(settings.filter);
    options.preserve_write_order = settings.preserve_write_order;
    options.own_records = settings.own_records;
    std::unique_ptr<TraceWriter> writer;
    Status status = NewFileTraceWriter(path, &writer);
    if (status.ok()) status = db_->StartTrace(options, std::move(writer));
    return ToOutcome(status);
  }
  Outcome EndTrace() override { return ToOutcome(db_->EndTrace()); }

  Counters ReadCounters() override {
    std::string text;
    Counters counters;
    if (!db_->GetProperty("miodb.counters", &text)) return counters;
    std::istringstream lines(text);
    std::string name;
    for (uint64_t value = 0; std::getline(lines, name, ':') && lines >> value >> std::ws;) counters[name] = value;
    return counters;
  }

  std::string PersistMode() override {
    std::string mode;
    if (!db_->GetProperty("miodb.persist-mode", &mode)) return "unknown";
    // Nobody is to take modelled figures for measured ones. Counting alone slows nothing down on purpose.
    if (std::string model; db_->GetProperty("miodb.nvm-model", &model) && model != "none" && !IsCounting(model)) {
      mode += ", all figures MODELLED: " + model;
    }
    return mode;
  }

  // Units of 256 bytes, as a medium with a cache of such would see the reads.
  ReadCounts CountReads() override {
    if (config_.perf_level < 2) return {};
    const Counters counters = ReadCounters();
    const auto units = counters.find("modelled-units-read"), cached = counters.find("modelled-units-cached");
    if (units == counters.end() || cached == counters.end()) return {};
    return {{"NVM units read", units->second},
            {"NVM units found in cache", cached->second},
            {"NVM bytes read", units->second * 256}};
  }

  uint64_t Comparisons() const override { return counter_.calls(); }

 private:
  static bool IsCounting(const std::string& model) { return model.starts_with("count"); }
  static Outcome ToOutcome(const Status& status) {
    return status.ok() ? Outcome{} : Outcome::Error(Traits::Message(status));
  }

  // Stores a flag's value unless it says "the library's default".
  template <class Option>
  static void Override(int64_t flag, Option* option) {
    if (flag >= 0) *option = static_cast<Option>(flag);
  }

  static enum PersistMode ParsePersistMode(const std::string& name) {
    if (name == "pmem") return kPersistPmem;
    if (name == "emulated") return kPersistEmulated;
    if (name == "file") return kPersistFile;
    return kPersistAuto;
  }

  Options MakeOptions() const {
    Options options;
    options.create_if_missing = config_.create_if_missing;
    options.write_buffer_size = static_cast<size_t>(config_.write_buffer_size);
    options.pool_path = config_.pool_path;
    options.pool_size = static_cast<uint64_t>(config_.pool_size);
    options.persist_mode = ParsePersistMode(config_.persist_mode);
    options.file_access = config_.file_access == "group_writes"  ? FileAccess::kGroupWrites
                          : config_.file_access == "group_reads" ? FileAccess::kGroupReads
                                                                 : FileAccess::kOwner;
    options.dram_node = static_cast<int>(config_.dram_node);
    options.nvm_node = static_cast<int>(config_.nvm_node);
    options.nvm_model = config_.nvm_model;
    if (config_.perf_level > 1 && (config_.nvm_model.empty() || config_.nvm_model == "none")) {
      constexpr int64_t kLeastCache = 4096, kMostCache = 10000000000;
      options.nvm_model = "count";
      if (config_.cache_size >= 0) {
        options.nvm_model += ":" + std::to_string(std::clamp(config_.cache_size, kLeastCache, kMostCache));
      }
    }
    options.nvm_next_node = static_cast<int>(config_.nvm_next_node);
    for (const EngineConfig::Region& region : config_.regions) {
      NvmRegion& r = options.nvm_regions.emplace_back();
      r.path = region.path;
      r.limit = region.limit;
      r.node = region.node;
    }
    options.nvm_region_search = config_.region_search;
    options.nvm_huge_pages = config_.nvm_huge_pages;
    Override(config_.pool_growth, &options.pool_growth);
    options.log_mode = config_.log_mode == "off" ? kLogOff : config_.log_mode == "file" ? kLogFile : kLogPmem;
    options.wal_dir = config_.wal_dir;
    options.wal_block_size = static_cast<size_t>(config_.wal_block_size);
    options.wal_padding = config_.wal_padding;
    options.wal_bytes_per_sync = static_cast<uint64_t>(config_.wal_bytes_per_sync);
    options.wal_ttl_seconds = static_cast<uint64_t>(config_.wal_ttl_seconds);
    options.wal_size_limit_mb = static_cast<uint64_t>(config_.wal_size_limit_mb);
    options.max_total_wal_size = static_cast<uint64_t>(config_.max_total_wal_size);
    options.log_chunk_size = static_cast<size_t>(config_.log_chunk_size);
    options.max_background_merges = static_cast<int>(config_.max_background_merges);
    Override(config_.num_levels, &options.num_levels);
    Override(config_.level_trigger, &options.level_trigger);
    Override(config_.partition_size, &options.partition_size);
    Override(config_.lazy_copy_limit, &options.lazy_copy_limit);
    Override(config_.space_amplification_percent, &options.space_amplification_percent);
    Override(config_.bloom_bits >= 0 ? config_.bloom_bits : config_.bits_per_key, &options.filter_bits_per_key);
    SetSsdOptions(&options);
    if (config_.comparisons) options.comparator = &counter_;
    return options;
  }

  static CompressionType ParseCompression(const std::string& name) {
    if (name == "snappy") return kSnappyCompression;
    return name == "zstd" ? kZstdCompression : kNoCompression;
  }

  void SetSsdOptions(Options* options) const {
    options->ssd_path = config_.ssd_path;
    options->nvm_budget = static_cast<uint64_t>(config_.nvm_budget);
    options->ssd_rate_limit = static_cast<uint64_t>(config_.ssd_rate_limit);
    options->block_cache = cache_.get();
    options->block_size = static_cast<size_t>(config_.block_size);
    options->compression = ParseCompression(config_.Compression());
    options->zstd_compression_level = static_cast<int>(config_.zstd_compression_level);
    Override(config_.open_files, &options->max_open_files);
    Override(config_.ssd_levels, &options->ssd_levels);
    Override(config_.ssd_level_size, &options->ssd_level_size);
    Override(config_.ssd_level_multiplier, &options->ssd_level_multiplier);
    Override(config_.ssd_file_size, &options->ssd_file_size);
    Override(config_.max_background_ssd_jobs, &options->max_background_ssd_jobs);
    Override(config_.compaction_readahead_size, &options->compaction_readahead_size);
    options->multi_get_io_uring = config_.multi_get_io_uring;
    Override(config_.multi_get_threads, &options->multi_get_threads);
    options->use_direct_reads = config_.use_direct_reads;
    options->use_direct_io_for_flush_and_compaction = config_.use_direct_io_for_flush_and_compaction;
  }

  const EngineConfig& config_;
  BytewiseCounter counter_;
  const std::unique_ptr<Cache> cache_;  // outlives the database
  SampledTimes times_;
  std::unique_ptr<miodb::DB> db_;
};

}  // namespace

std::unique_ptr<Engine> NewMioDbEngine(const EngineConfig& config, std::string* error) {
  error->clear();
  const std::string compression = config.Compression();
  if (!config.ssd_path.empty() && compression != "none" && compression != "snappy" && compression != "zstd") {
    *error = "miodb has no compression type '" + compression + "'";
    return nullptr;
  }
  return std::make_unique<MioDbEngine>(config);
}

}  // namespace miodb::bench
