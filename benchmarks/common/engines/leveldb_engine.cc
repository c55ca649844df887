// LevelDB through its public headers. LevelDB always logs, has no switch for the number of levels, and no call that
// flushes or waits; the comments below describe the substitutes.

#ifdef MIODB_WITH_LEVELDB

#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/counting_comparator.h"
#include "benchmarks/common/engines/session.h"
#include "benchmarks/common/interrupt.h"

namespace miodb::bench {

namespace {

constexpr int kLevels = 7;  // Fixed when LevelDB is compiled.
constexpr size_t kDefaultCacheBytes = 8 << 20;

struct Traits {
  using DB = leveldb::DB;
  using Slice = leveldb::Slice;
  using Iterator = leveldb::Iterator;
  using WriteBatch = leveldb::WriteBatch;
  using ReadOptions = leveldb::ReadOptions;
  using WriteOptions = leveldb::WriteOptions;

  static std::string Message(const leveldb::Status& status) { return status.ToString(); }
  static leveldb::Status Get(DB* db, const ReadOptions& options, const Slice& key, std::string* value) {
    return db->Get(options, key, value);
  }
};

using BytewiseCounter = CountingComparator<leveldb::Comparator, leveldb::Slice>;

double ProcessCpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

class LevelDbEngine final : public Engine {
 public:
  explicit LevelDbEngine(const EngineConfig& config)
      : config_(config),
        counter_(leveldb::BytewiseComparator()),
        cache_(
            leveldb::NewLRUCache(config.cache_size < 0 ? kDefaultCacheBytes : static_cast<size_t>(config.cache_size))),
        filter_(config.bloom_bits > 0 ? leveldb::NewBloomFilterPolicy(static_cast<int>(config.bloom_bits)) : nullptr) {}

  ~LevelDbEngine() override { Close(); }

  std::string Name() const override { return "LevelDB"; }
  std::string Version() const override {
    return std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  }

  Outcome Open() override {
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(MakeOptions(), config_.db, &db);
    db_.reset(db);
    return ToOutcome(status);
  }
  void Close() override { db_.reset(); }
  Outcome Destroy() override { return ToOutcome(leveldb::DestroyDB(config_.db, MakeOptions())); }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    leveldb::WriteOptions write_options;
    write_options.sync = options.sync;
    leveldb::ReadOptions read_options;
    read_options.verify_checksums = config_.verify_checksum;
    return std::make_unique<ApiSession<Traits, std::string>>(db_.get(), write_options, read_options);
  }

  // A manual compaction first flushes the memtable and then touches only tables that overlap its range; a range
  // behind all keys leaves nothing but the flush.
  Outcome Flush() override {
    const std::string behind(64, '\xff');
    const leveldb::Slice key(behind);
    db_->CompactRange(&key, &key);
    return {};
  }
  Outcome CompactAll() override {
    db_->CompactRange(nullptr, nullptr);
    return {};
  }

  // There is no call for this. Background work shows as a change of the tables or as CPU time of the process, so
  // idle is: for two seconds neither a change nor more than 2 % of a CPU.
  Outcome WaitForIdle() override {
    constexpr int kQuietPolls = 20;
    std::string last;
    for (int quiet = 0; quiet < kQuietPolls && !Interrupt::StopRequested();) {
      // The time of the question about tables, milliseconds if there are thousands, is not the database's work.
      const double cpu_before = ProcessCpuSeconds();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const double cpu = ProcessCpuSeconds() - cpu_before;
      std::string now;
      db_->GetProperty("leveldb.sstables", &now);
      quiet = now == last && cpu < 0.002 ? quiet + 1 : 0;
      last = now;
    }
    return {};
  }

  bool Describe(Text which, std::string* text) override {
    if (which == Text::kSstables) return db_->GetProperty("leveldb.sstables", text);
    if (which == Text::kMemory) return DescribeMemory(db_.get(), text);
    if (!db_->GetProperty("leveldb.stats", text)) return false;
    if (which == Text::kLevelStats) *text = LevelStatsFromTable(*text, kLevels);
    return true;
  }

  uint64_t Comparisons() const override { return counter_.calls(); }

 private:
  static Outcome ToOutcome(const leveldb::Status& status) {
    return status.ok() ? Outcome{} : Outcome::Error(Traits::Message(status));
  }

  leveldb::Options MakeOptions() const {
    leveldb::Options options;
    options.create_if_missing = config_.create_if_missing;
    options.block_cache = cache_.get();
    options.filter_policy = filter_.get();
    options.write_buffer_size = config_.options.write_buffer_size;
    options.max_file_size = config_.options.max_file_size;
    options.block_size = config_.options.block_size;
    options.block_restart_interval = config_.options.block_restart_interval;
    if (config_.open_files >= 0) options.max_open_files = static_cast<int>(config_.open_files);
    options.reuse_logs = config_.options.reuse_logs;
    options.compression = config_.Compression() == "snappy" ? leveldb::kSnappyCompression : leveldb::kNoCompression;
    if (config_.comparisons) options.comparator = &counter_;
    return options;
  }

  const EngineConfig& config_;
  BytewiseCounter counter_;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

std::unique_ptr<Engine> NewLevelDbEngine(const EngineConfig& config, std::string* error) {
  if (config.disable_wal) {
    *error = "leveldb cannot run without its log (--disable_wal)";
    return nullptr;
  }
  if (config.num_column_families > 1) {
    *error = "leveldb has no column families (--num_column_families)";
    return nullptr;
  }
  if (config.Compression() != "none" && config.Compression() != "snappy") {
    *error = "leveldb has no compression type '" + config.Compression() + "'";
    return nullptr;
  }
  return std::make_unique<LevelDbEngine>(config);
}

}  // namespace miodb::bench

#endif  // MIODB_WITH_LEVELDB
