// MioDB through its public headers.

#include <algorithm>
#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/miodb_session.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/common/miodb_options.h"
#include "miodb/cache.h"
#include "miodb/comparator.h"
#include "miodb/db.h"
#include "miodb/options.h"
#include "miodb/trace.h"

namespace miodb::bench {

namespace {

// Bytewise order that counts comparisons. Timing wants the plain comparator, for which MioDB has fast paths.
class CountingOrder final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    // Relaxed: a statistic, read when the threads are done.
    calls_.fetch_add(1, std::memory_order_relaxed);
    return BytewiseComparator()->Compare(a, b);
  }
  // The same name, so that a store written with the plain comparator opens with this one.
  const char* Name() const override { return BytewiseComparator()->Name(); }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    BytewiseComparator()->FindShortestSeparator(start, limit);
  }
  void FindShortSuccessor(std::string* key) const override { BytewiseComparator()->FindShortSuccessor(key); }

  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  mutable std::atomic<uint64_t> calls_{0};
};

class MioDbEngine final : public Engine {
 public:
  explicit MioDbEngine(const EngineConfig& config)
      : config_(config),
        cache_(config.cache_size >= 0 ? NewLRUCache(static_cast<size_t>(config.cache_size)) : nullptr) {}

  ~MioDbEngine() override { Close(); }

  std::string Name() const override { return "MioDB"; }
  std::string Version() const override { return std::to_string(kMajorVersion) + "." + std::to_string(kMinorVersion); }

  Outcome Open() override {
    miodb::DB* db = nullptr;
    Status status = DB::Open(MakeOptions(), config_.db, &db);
    db_.reset(db);
    families_.clear();
    for (int i = 0; status.ok() && config_.num_column_families > 1 && i < config_.num_column_families; i++) {
      ColumnFamilyHandle* family = nullptr;
      status = db->GetColumnFamily(FamilyName(i), &family);
      if (status.IsNotFound()) status = db->CreateColumnFamily(FamilyName(i), &family);
      families_.push_back(family);
    }
    return ToOutcome(status);
  }
  void Close() override { db_.reset(); }
  Outcome Destroy() override { return ToOutcome(DestroyDB(config_.db, MakeOptions())); }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<MioDbSession>(db_.get(), families_, config_, options, &times_);
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
    const auto property = [this](const char* name, std::string* found) { return db_->GetProperty(name, found); };
    if (!DescribeByProperties(property, which, MakeOptions().num_levels, text)) return false;
    if (which == Text::kStats && config_.perf_sampling > 0) *text += times_.Take();
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

  Options MakeOptions() const {
    Options options = config_.options;
    options.block_cache = cache_.get();
    FillMioDbOptions(config_, &options);
    if (config_.comparisons) options.comparator = &counter_;
    if (config_.perf_level > 1 && (options.nvm_model.empty() || options.nvm_model == "none")) {
      constexpr int64_t kLeastCache = 4096, kMostCache = 10000000000;
      options.nvm_model = "count";
      if (config_.cache_size >= 0) {
        options.nvm_model += ":" + std::to_string(std::clamp(config_.cache_size, kLeastCache, kMostCache));
      }
    }
    return options;
  }

  const EngineConfig& config_;
  CountingOrder counter_;
  const std::unique_ptr<Cache> cache_;  // outlives the database
  SampledTimes times_;
  std::unique_ptr<miodb::DB> db_;
  std::vector<ColumnFamilyHandle*> families_;  // of db_; empty: the default one alone
};

}  // namespace

std::unique_ptr<Engine> NewMioDbEngine(const EngineConfig& config, std::string* error) {
  Options options = config.options;
  *error = FillMioDbOptions(config, &options);
  if (!error->empty()) return nullptr;
  return std::make_unique<MioDbEngine>(config);
}

}  // namespace miodb::bench
