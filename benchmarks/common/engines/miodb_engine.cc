// MioDB through its public headers.

#include <algorithm>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/engines/counting_comparator.h"
#include "benchmarks/common/engines/sampled_session.h"
#include "benchmarks/common/engines/session.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/common/miodb_options.h"
#include "miodb/cache.h"
#include "miodb/comparator.h"
#include "miodb/db.h"
#include "miodb/merge_operator.h"
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
  struct MultiGetRoom {
    std::vector<Slice> keys;
    std::vector<std::string> values;
  };
  static miodb::Status MultiGet(DB* db, const ReadOptions& options, std::span<const std::string_view> keys,
                                MultiGetRoom* room, const Session::FoundFunction& found) {
    room->keys.clear();
    for (std::string_view key : keys) room->keys.emplace_back(key.data(), key.size());
    const std::vector<miodb::Status> statuses = db->MultiGet(options, room->keys, &room->values);
    if (statuses.size() != keys.size()) return miodb::Status::IOError("MultiGet", "out of memory");
    for (size_t i = 0; i < keys.size(); i++) {
      if (statuses[i].ok()) {
        found(i, room->values[i]);
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
    read_options.readahead_size = config_.readahead_size;
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
  BytewiseCounter counter_;
  const std::unique_ptr<Cache> cache_;  // outlives the database
  SampledTimes times_;
  std::unique_ptr<miodb::DB> db_;
};

}  // namespace

std::unique_ptr<Engine> NewMioDbEngine(const EngineConfig& config, std::string* error) {
  Options options = config.options;
  *error = FillMioDbOptions(config, &options);
  if (!error->empty()) return nullptr;
  return std::make_unique<MioDbEngine>(config);
}

}  // namespace miodb::bench
