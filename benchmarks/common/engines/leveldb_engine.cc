// LevelDB, and what has its C functions, through them. LevelDB always logs, has no switch for the number of levels, and
// no call that flushes or waits; the comments below describe the substitutes.

#include <chrono>
#include <ctime>
#include <thread>

#include "benchmarks/common/engines/c_session.h"
#include "benchmarks/common/interrupt.h"

namespace miodb::bench {

namespace {

constexpr int kLevels = 7;  // Fixed when LevelDB is compiled.

double ProcessCpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

class LevelDbSession final : public CSession {
 public:
  LevelDbSession(const CApi& api, void* db, const EngineConfig& config, const SessionOptions& options)
      : CSession(api, db, config, options) {}

  Code Put(std::string_view key, std::string_view value) override {
    char* error = nullptr;
    api_.put_(db_, write_options_, key.data(), key.size(), value.data(), value.size(), &error);
    return Finish(error);
  }
  Code Delete(std::string_view key) override {
    char* error = nullptr;
    api_.delete_(db_, write_options_, key.data(), key.size(), &error);
    return Finish(error);
  }
  Code Get(std::string_view key, std::string_view* value) override {
    char* error = nullptr;
    size_t size = 0;
    char* const found = api_.get_(db_, read_options_, key.data(), key.size(), &size, &error);
    return Found(found, size, error, value);
  }
  void BatchPut(std::string_view key, std::string_view value) override {
    api_.writebatch_put_(batch_, key.data(), key.size(), value.data(), value.size());
  }
  void BatchDelete(std::string_view key) override { api_.writebatch_delete_(batch_, key.data(), key.size()); }
  std::unique_ptr<Cursor> NewCursor() override {
    return std::make_unique<CCursor>(api_, api_.create_iterator_(db_, read_options_));
  }
};

class LevelDbEngine final : public Engine {
 public:
  explicit LevelDbEngine(const EngineConfig& config) : config_(config) {}

  ~LevelDbEngine() override {
    Close();
    if (options_ != nullptr) api_.options_destroy_(options_);
    if (cache_ != nullptr) api_.cache_destroy_(cache_);
    if (filter_ != nullptr) api_.filterpolicy_destroy_(filter_);
  }

  Outcome Load() {
    if (config_.Given("reuse_logs")) {
      return Outcome::Error("leveldb's C functions cannot set reuse_logs (--reuse_logs)");
    }
    const Outcome loaded = CApi::Load(CApi::Kind::kLevelDb, config_.library, &api_);
    if (!loaded.ok()) return loaded;
    const std::string missing = Missing();
    return missing.empty() ? MakeOptions() : Outcome::Error(api_.library.path() + " has no option " + missing);
  }

  std::string Name() const override { return "LevelDB"; }
  std::string Version() const override {
    if (api_.major_version_ == nullptr || api_.minor_version_ == nullptr) return "of unknown version";
    return std::to_string(api_.major_version_()) + "." + std::to_string(api_.minor_version_());
  }
  std::string LibraryPath() const override { return api_.library.path(); }

  Outcome Open() override {
    char* error = nullptr;
    db_ = api_.open_(options_, config_.db.c_str(), &error);
    return api_.Take(error);
  }
  void Close() override {
    if (db_ != nullptr) api_.close_(db_);
    db_ = nullptr;
  }
  Outcome Destroy() override {
    char* error = nullptr;
    api_.destroy_db_(options_, config_.db.c_str(), &error);
    return api_.Take(error);
  }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<LevelDbSession>(api_, db_, config_, options);
  }

  // A manual compaction first flushes the memtable and then touches only tables that overlap its range; a range
  // behind all keys leaves nothing but the flush.
  Outcome Flush() override {
    const std::string behind(64, '\xff');
    api_.compact_range_(db_, behind.data(), behind.size(), behind.data(), behind.size());
    return {};
  }
  Outcome CompactAll() override {
    api_.compact_range_(db_, nullptr, 0, nullptr, 0);
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
      api_.Property(db_, "leveldb.sstables", &now);
      quiet = now == last && cpu < 0.002 ? quiet + 1 : 0;
      last = now;
    }
    return {};
  }

  bool Describe(Text which, std::string* text) override {
    const auto property = [this](const char* name, std::string* found) { return api_.Property(db_, name, found); };
    return DescribeByProperties(property, which, kLevels, text);
  }

  uint64_t Comparisons() const override { return order_.calls(); }

 private:
  // Names the flag that was given and that this library has no function for; empty: there is none.
  std::string Missing() const {
    if (api_.options_set_max_file_size_ == nullptr && config_.Given("max_file_size")) return "max_file_size";
    const bool has_restarts = api_.options_set_block_restart_interval_ != nullptr;
    return !has_restarts && config_.Given("block_restart_interval") ? "block_restart_interval" : "";
  }

  Outcome MakeOptions() {
    const Options& shared = config_.options;
    options_ = api_.options_create_();
    api_.options_set_create_if_missing_(options_, config_.create_if_missing ? 1 : 0);
    api_.options_set_write_buffer_size_(options_, shared.write_buffer_size);
    api_.options_set_block_size_(options_, shared.block_size);
    if (api_.options_set_block_restart_interval_ != nullptr) {
      api_.options_set_block_restart_interval_(options_, shared.block_restart_interval);
    }
    if (config_.open_files >= 0) api_.options_set_max_open_files_(options_, static_cast<int>(config_.open_files));
    api_.options_set_compression_(options_, config_.Compression() == "snappy" ? 1 : 0);
    cache_ =
        api_.cache_create_lru_(static_cast<size_t>(config_.cache_size < 0 ? kDefaultCacheBytes : config_.cache_size));
    api_.options_set_cache_(options_, cache_);
    if (config_.bloom_bits > 0) {
      filter_ = api_.filterpolicy_create_bloom_(static_cast<int>(config_.bloom_bits));
      api_.options_set_filter_policy_(options_, filter_);
    }
    if (config_.comparisons) order_.Use(api_, options_);
    if (api_.options_set_max_file_size_ != nullptr) {
      api_.options_set_max_file_size_(options_, shared.max_file_size);
    }
    return {};
  }

  const EngineConfig& config_;
  CApi api_;
  CountedOrder order_;
  void* options_ = nullptr;
  void* cache_ = nullptr;
  void* filter_ = nullptr;
  void* db_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> NewLevelDbEngine(const EngineConfig& config, std::string* error) {
  return NewLoadedEngine<LevelDbEngine>(config, error);
}

}  // namespace miodb::bench
