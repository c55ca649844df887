// RocksDB, and what has its C functions, through them. RocksDB's defaults stay except where its tuning guide recommends
// otherwise for this kind of load or where all engines get the same figure (memtable, cache, filter, block size, no
// compression). All options go through RocksDB's own parser, so that each version judges what it has.

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "benchmarks/common/engines/c_session.h"
#include "benchmarks/common/engines/family_name.h"
#include "benchmarks/common/interrupt.h"
#include "miodb/option_table.h"

namespace miodb::bench {

namespace {

class RocksDbSession final : public CSession {
 public:
  RocksDbSession(const CApi& api, void* db, const std::vector<void*>& families, bool has_merge_operator,
                 const EngineConfig& config, const SessionOptions& options)
      : CSession(api, db, config, options),
        families_(families),
        has_merge_operator_(has_merge_operator),
        pins_(config.pinned_get) {
    api.writeoptions_disable_WAL_(write_options_, config.disable_wal ? 1 : 0);
    if (api.readoptions_set_readahead_size_) api.readoptions_set_readahead_size_(read_options_, config.readahead_size);
  }
  ~RocksDbSession() override { Unpin(); }

  Code Put(std::string_view key, std::string_view value) override {
    char* error = nullptr;
    api_.put_cf_(db_, write_options_, Of(key), key.data(), key.size(), value.data(), value.size(), &error);
    return Finish(error);
  }
  Code Delete(std::string_view key) override {
    char* error = nullptr;
    api_.delete_cf_(db_, write_options_, Of(key), key.data(), key.size(), &error);
    return Finish(error);
  }
  Code Merge(std::string_view key, std::string_view operand) override {
    char* error = nullptr;
    api_.merge_cf_(db_, write_options_, Of(key), key.data(), key.size(), operand.data(), operand.size(), &error);
    return Finish(error);
  }
  Code SingleDelete(std::string_view key) override {
    if (api_.singledelete_cf_ == nullptr) return Delete(key);
    char* error = nullptr;
    api_.singledelete_cf_(db_, write_options_, Of(key), key.data(), key.size(), &error);
    return Finish(error);
  }

  Code Get(std::string_view key, std::string_view* value) override {
    char* error = nullptr;
    size_t size = 0;
    if (pins_) {
      Unpin();
      pinned_ = api_.get_pinned_cf_(db_, read_options_, Of(key), key.data(), key.size(), &error);
      const char* const bytes = pinned_ == nullptr ? nullptr : api_.pinnableslice_value_(pinned_, &size);
      if (bytes == nullptr) return error == nullptr ? Code::kNotFound : Finish(error);
      *value = std::string_view(bytes, size);
      return Code::kOk;
    }
    char* const found = api_.get_cf_(db_, read_options_, Of(key), key.data(), key.size(), &size, &error);
    return Found(found, size, error, value);
  }

  Code MultiGet(std::span<const std::string_view> keys, const FoundFunction& found) override {
    if (api_.batched_multi_get_cf_ == nullptr || families_.size() > 1) return Session::MultiGet(keys, found);
    const size_t count = keys.size();
    starts_.clear();
    sizes_.clear();
    for (const std::string_view key : keys) {
      starts_.push_back(key.data());
      sizes_.push_back(key.size());
    }
    slices_.assign(count, nullptr);
    errors_.assign(count, nullptr);
    api_.batched_multi_get_cf_(db_, read_options_, families_[0], count, starts_.data(), sizes_.data(), slices_.data(),
                               errors_.data(), false);
    Code code = Code::kOk;
    for (size_t i = 0; i < count; i++) {
      if (errors_[i] != nullptr) code = Finish(errors_[i]);
      if (slices_[i] == nullptr) continue;
      size_t size = 0;
      const char* const bytes = api_.pinnableslice_value_(slices_[i], &size);
      if (bytes != nullptr) found(i, std::string_view(bytes, size));
      api_.pinnableslice_destroy_(slices_[i]);
    }
    return code;
  }

  void BatchPut(std::string_view key, std::string_view value) override {
    api_.writebatch_put_cf_(batch_, Of(key), key.data(), key.size(), value.data(), value.size());
  }
  void BatchDelete(std::string_view key) override {
    api_.writebatch_delete_cf_(batch_, Of(key), key.data(), key.size());
  }
  void BatchSingleDelete(std::string_view key) override {
    if (api_.writebatch_singledelete_cf_ == nullptr) return BatchDelete(key);
    api_.writebatch_singledelete_cf_(batch_, Of(key), key.data(), key.size());
  }
  // Some versions take operands without an operator, and then no read can have them.
  bool BatchMerge(std::string_view key, std::string_view operand) override {
    if (!has_merge_operator_) return false;
    api_.writebatch_merge_cf_(batch_, Of(key), key.data(), key.size(), operand.data(), operand.size());
    return true;
  }
  std::unique_ptr<Cursor> NewCursor() override {
    return std::make_unique<CCursor>(api_, api_.create_iterator_cf_(db_, read_options_, families_[0]));
  }
  std::unique_ptr<Cursor> NewCursorOf(std::string_view key) override {
    return std::make_unique<CCursor>(api_, api_.create_iterator_cf_(db_, read_options_, Of(key)));
  }

 private:
  void* Of(std::string_view key) const { return families_.size() == 1 ? families_[0] : FamilyOf(families_, key); }
  void Unpin() {
    if (pinned_ != nullptr) api_.pinnableslice_destroy_(pinned_);
    pinned_ = nullptr;
  }

  const std::vector<void*> families_;
  const bool has_merge_operator_;
  const bool pins_;
  void* pinned_ = nullptr;
  // Arguments of MultiGet, whose memory is kept from call to call.
  std::vector<const char*> starts_;
  std::vector<size_t> sizes_;
  std::vector<void*> slices_;
  std::vector<char*> errors_;
};

class RocksDbEngine final : public Engine {
 public:
  explicit RocksDbEngine(const EngineConfig& config) : config_(config) {}

  ~RocksDbEngine() override {
    Close();
    if (options_ != nullptr) api_.options_destroy_(options_);
    if (family_options_ != nullptr) api_.options_destroy_(family_options_);
  }

  Outcome Load() {
    const Outcome loaded = CApi::Load(CApi::Kind::kRocksDb, config_.library, &api_);
    if (!loaded.ok()) return loaded;
    const std::string missing = Missing();
    return missing.empty() ? MakeOptions() : Outcome::Error(api_.library.path() + " has no option " + missing);
  }

  std::string Name() const override { return "RocksDB"; }
  // RocksDB's C functions do not tell the version; each database names the version that has opened it.
  std::string Version() const override {
    if (!version_.empty()) return version_;
    const std::string in_name = api_.library.VersionInName();
    return in_name.empty() ? "of unknown version" : in_name;
  }
  std::string LibraryPath() const override { return api_.library.path(); }

  Outcome Open() override {
    std::vector<std::string> names;
    names.reserve(static_cast<size_t>(config_.num_column_families));
    for (int i = 0; i < config_.num_column_families; i++) names.push_back(FamilyName(i));
    std::vector<const char*> texts;
    texts.reserve(names.size());
    for (const std::string& name : names) texts.push_back(name.c_str());
    const std::vector<const void*> options(names.size(), family_options_);
    families_.assign(names.size(), nullptr);
    char* error = nullptr;
    const int count = static_cast<int>(names.size());
    db_ = config_.readonly ? api_.open_for_read_only_column_families_(options_, config_.db.c_str(), count, texts.data(),
                                                                      options.data(), families_.data(), 0, &error)
                           : api_.open_column_families_(options_, config_.db.c_str(), count, texts.data(),
                                                        options.data(), families_.data(), &error);
    if (error != nullptr) {
      db_ = nullptr;
      families_.clear();
      return api_.Take(error);
    }
    version_ = Written("rocksdb_version");
    return CheckMergeOperator();
  }
  void Close() override {
    for (void* const family : families_) api_.column_family_handle_destroy_(family);
    families_.clear();
    if (db_ != nullptr) api_.close_(db_);
    db_ = nullptr;
  }
  Outcome Destroy() override {
    char* error = nullptr;
    api_.destroy_db_(options_, config_.db.c_str(), &error);
    return api_.Take(error);
  }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<RocksDbSession>(api_, db_, families_, has_merge_operator_, config_, options);
  }

  Outcome Flush() override {
    if (families_.size() > 1 && api_.flush_cf_ == nullptr) {
      return Outcome::Error(api_.library.path() + " cannot flush column families");
    }
    void* const options = api_.flushoptions_create_();
    char* error = nullptr;
    for (size_t i = 0; i < families_.size() && error == nullptr; i++) {
      if (i == 0) {
        api_.flush_(db_, options, &error);
      } else {
        api_.flush_cf_(db_, options, families_[i], &error);
      }
    }
    api_.flushoptions_destroy_(options);
    return api_.Take(error);
  }
  Outcome CompactAll() override {
    Interrupt::Watch(
        [&] {
          for (void* const family : families_) {
            if (!Interrupt::StopRequested()) api_.compact_range_cf_(db_, family, nullptr, 0, nullptr, 0);
          }
        },
        [this] {
          if (api_.disable_manual_compaction_ != nullptr) api_.disable_manual_compaction_(db_);
        });
    return {};
  }

  // Its properties say what runs, of the whole store, and what is due, of each family. Two looks in a row must agree,
  // because one job's end schedules the next.
  Outcome WaitForIdle() override {
    for (int quiet = 0; quiet < 2 && !Interrupt::StopRequested();) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      uint64_t work = 0;
      for (const char* property : {"rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
                                   "rocksdb.num-running-compactions", "rocksdb.compaction-pending"}) {
        for (void* const family : families_) {
          std::string value;
          if (!api_.Property(db_, family, property, &value)) {
            return Outcome::Error(std::string("no property ") + property);
          }
          work += std::strtoull(value.c_str(), nullptr, 10);
        }
      }
      quiet = work == 0 ? quiet + 1 : 0;
    }
    return {};
  }

  bool Describe(Text which, std::string* text) override {
    switch (which) {
      case Text::kStats:
        return api_.Property(db_, "rocksdb.stats", text);
      case Text::kLevelStats:
        return api_.Property(db_, "rocksdb.levelstats", text);
      case Text::kSstables:
        return api_.Property(db_, "rocksdb.sstables", text);
      case Text::kMemory:
        break;
    }
    text->clear();
    for (const char* name : {"size-all-mem-tables", "block-cache-usage", "estimate-table-readers-mem"}) {
      std::string bytes = "0";  // a table format without a cache has no such property
      api_.Property(db_, (std::string("rocksdb.") + name).c_str(), &bytes);
      *text += std::string(name) + ": " + bytes + "\n";
    }
    return true;
  }

  // A block that is not in the cache is read from its file, or from the mapped file.
  ReadCounts CountReads() override {
    if (config_.perf_level < 2) return {};
    char* const text = api_.options_statistics_get_string_(options_);
    const std::string statistics = text == nullptr ? "" : text;
    if (text != nullptr) api_.free_(text);
    const auto count = [&](const std::string& ticker) {
      const std::string head = ticker + " COUNT : ";
      const size_t at = statistics.find(head);
      return at == std::string::npos ? 0 : std::strtoull(statistics.c_str() + at + head.size(), nullptr, 10);
    };
    return {{"block reads", count("rocksdb.block.cache.miss")},
            {"block cache hits", count("rocksdb.block.cache.hit")},
            {"block bytes read", count("rocksdb.block.cache.bytes.write")}};
  }

  uint64_t Comparisons() const override { return order_.calls(); }

 private:
  // Names the flag that was given and that this library has no function for; empty: there is none.
  std::string Missing() const {
    const bool has_readahead = api_.readoptions_set_readahead_size_ != nullptr;
    if (!has_readahead && config_.Given("readahead_size")) return "readahead_size";
    return config_.pinned_get && api_.get_pinned_cf_ == nullptr ? "pinned_get" : "";
  }

  // The text behind an option in the newest file of options that the database has; empty: there is none.
  std::string Written(const std::string& option) const {
    const std::string& directory = config_.db;
    std::string newest;
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with("OPTIONS-") && !name.ends_with(".dbtmp")) newest = std::max(newest, name);
    }
    std::ifstream lines(directory + "/" + newest);
    const std::string head = option + "=";
    for (std::string line; std::getline(lines, line);) {
      const size_t at = line.find(head);
      if (at != std::string::npos) return line.substr(at + head.size());
    }
    return "";
  }

  // RocksDB's parser takes the name of an operator that it does not know, and leaves the options as they are. An open
  // for writing tells, in its file of options.
  Outcome CheckMergeOperator() {
    has_merge_operator_ = Written("merge_operator") != "nullptr";
    const std::string& name = config_.merge_operator;
    if (has_merge_operator_ || config_.readonly || name.empty() || !config_.Given("merge_operator")) return {};
    Close();
    return Outcome::Error(api_.library.path() + " opened without the merge operator '" + name + "' (--merge_operator)");
  }

  // Goes over options with what RocksDB's parser makes of a text.
  Outcome Apply(const std::string& text, void** options) const {
    void* const changed = api_.options_create_();
    char* error = nullptr;
    api_.get_options_from_string_(*options, text.c_str(), changed, &error);
    if (error != nullptr) {
      api_.options_destroy_(changed);
      return Outcome::Error(api_.library.path() + ": " + api_.Take(error).message + " (in \"" + text + "\")");
    }
    api_.options_destroy_(*options);
    *options = changed;
    return {};
  }

  // The options of a file, which RocksDB reads only by the name that it gives itself.
  Outcome ReadFile(const std::string& path) {
    if (api_.load_latest_options_ == nullptr || api_.load_latest_options_destroy_ == nullptr) {
      return Outcome::Error(api_.library.path() + " cannot read a file of options (--rocksdb_options_file)");
    }
    std::string folder = std::filesystem::temp_directory_path() / "miodb_options_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return Outcome::Error("no temporary folder " + folder);
    std::error_code failed;
    std::filesystem::create_symlink(std::filesystem::absolute(path), folder + "/OPTIONS-000001", failed);
    void *options = nullptr, **family_options = nullptr, *env = api_.create_default_env_();
    char **names = nullptr, *error = nullptr;
    size_t count = 0;
    api_.load_latest_options_(folder.c_str(), env, false, nullptr, &options, &count, &names, &family_options, &error);
    std::filesystem::remove_all(folder, failed);
    if (error != nullptr) return Outcome::Error(path + ": " + api_.Take(error).message);
    Outcome copied = Outcome::Error(path + ": describes no column family \"default\"");
    for (size_t i = 0; i < count; i++) {
      if (std::string(names[i]) != "default") continue;
      char* failure = nullptr;
      api_.get_options_from_string_(options, "", options_, &failure);
      if (failure == nullptr) api_.get_options_from_string_(family_options[i], "", family_options_, &failure);
      copied = api_.Take(failure);
    }
    api_.load_latest_options_destroy_(options, names, family_options, count);
    return copied;
  }

  // Options of flags that all engines have; with a file of options only those that were given.
  std::string CommonText() const {
    const bool has_file = !config_.peer.rocksdb_options_file.empty();
    std::string text, table;
    const auto add = [&](const char* flag, const std::string& option, std::string* list) {
      if (!has_file || config_.Given(flag)) *list += option + ";";
    };
    const auto number = [](auto value) { return std::to_string(value); };
    const Options& o = config_.options;
    add("write_buffer_size", "write_buffer_size=" + number(o.write_buffer_size), &text);
    add("open_files", "max_open_files=" + number(config_.open_files >= 0 ? config_.open_files : -1), &text);
    if (config_.num_levels >= 0) add("num_levels", "num_levels=" + number(config_.num_levels), &text);
    add("compression_type", "compression=" + CompressionWord(), &text);
    if (config_.Compression() == "zstd") {
      text += "compression_opts=-14:" + number(o.zstd_compression_level) + ":0:0;";
    }
    add("level_compaction_dynamic_level_bytes", "level_compaction_dynamic_level_bytes=true", &text);
    // Those of files that the stores have in common, by RocksDB's names.
    for (const OptionInfo& option : AllOptions()) {
      const bool is_of_files =
          option.heading == OptionHeading::kLogFiles || option.heading == OptionHeading::kTableFiles;
      std::string value;
      if (!is_of_files || *option.rocksdb_name == '\0' || !config_.GivenOption(option.name)) continue;
      if (GetOption(o, option.name, &value).ok()) text += std::string(option.rocksdb_name) + "=" + value + ";";
    }
    const int64_t cache = config_.cache_size < 0 ? kDefaultCacheBytes : config_.cache_size;
    add("cache_size", "block_cache=" + number(cache), &table);
    add("block_size", "block_size=" + number(o.block_size), &table);
    add("block_restart_interval", "block_restart_interval=" + number(o.block_restart_interval), &table);
    if (config_.bloom_bits > 0) {
      add("bloom_bits", "filter_policy=bloomfilter:" + number(config_.bloom_bits) + ":false", &table);
    }
    return table.empty() ? text : text + "block_based_table_factory={" + table + "};";
  }

  // Sets the operator of the flag, with a file of options only if it was given. The parser of an old version takes
  // none: without the flag there is none then.
  Outcome ApplyMergeOperator(void** options) const {
    const bool has_file = !config_.peer.rocksdb_options_file.empty(), is_given = config_.Given("merge_operator");
    if (has_file && !is_given) return {};
    Outcome applied = has_file ? Apply("merge_operator=nullptr;", options) : Outcome{};
    const std::string& name = config_.merge_operator;
    if (applied.ok() && !name.empty()) applied = Apply("merge_operator=" + name + ";", options);
    return is_given ? applied : Outcome{};
  }

  std::string CompressionWord() const {
    constexpr std::pair<const char*, const char*> kWords[] = {{"none", "kNoCompression"},
                                                              {"snappy", "kSnappyCompression"},
                                                              {"zlib", "kZlibCompression"},
                                                              {"bzip2", "kBZip2Compression"},
                                                              {"lz4", "kLZ4Compression"},
                                                              {"lz4hc", "kLZ4HCCompression"},
                                                              {"zstd", "kZSTD"}};
    for (const auto& [name, word] : kWords) {
      if (config_.Compression() == name) return word;
    }
    return config_.Compression();
  }

  Outcome MakeOptions() {
    const PeerSettings& peer = config_.peer;
    options_ = api_.options_create_();
    family_options_ = api_.options_create_();
    Outcome made = peer.rocksdb_options_file.empty() ? Outcome{} : ReadFile(peer.rocksdb_options_file);
    const PeerPreset* const preset = FindPeerPreset("rocksdb", peer.preset);
    const std::string create = std::string("create_if_missing=") + (config_.create_if_missing ? "true" : "false") +
                               ";create_missing_column_families=true;";
    for (void** const options : {&options_, &family_options_}) {
      if (made.ok()) made = ApplyMergeOperator(options);
      for (const std::string& text : {create, CommonText(), std::string(preset == nullptr ? "" : preset->options),
                                      peer.RocksDbText(), peer.rocksdb_options}) {
        if (made.ok()) made = Apply(text, options);
      }
      if (made.ok() && config_.comparisons) order_.Use(api_, *options);
    }
    if (!made.ok()) return made;
    if (config_.perf_level > 1) api_.options_enable_statistics_(options_);
    return made;
  }

  const EngineConfig& config_;
  CApi api_;
  CountedOrder order_;
  void* options_ = nullptr;
  void* family_options_ = nullptr;
  void* db_ = nullptr;
  std::vector<void*> families_;     // of db_, the default one first
  bool has_merge_operator_ = true;  // as far as the open database tells
  std::string version_;
};

}  // namespace

std::unique_ptr<Engine> NewRocksDbEngine(const EngineConfig& config, std::string* error) {
  return NewLoadedEngine<RocksDbEngine>(config, error);
}

}  // namespace miodb::bench
