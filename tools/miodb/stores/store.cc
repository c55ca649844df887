#include "tools/miodb/stores/store.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/miodb_options.h"
#include "miodb/env.h"
#include "tools/inspect/inspect.h"
#include "tools/miodb/terminal/files.h"

namespace miodb::tool {

namespace {

// Names of db_bench's that mean something to a benchmark alone.
bool IsOfBenchmarks(const std::string& name) {
  const char* const names[] = {"sync",       "verify_checksum", "cache_size",
                               "perf_level", "perf_sampling",   "readahead_size"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The first key behind all that begin with the prefix. False: there is none.
bool AfterPrefix(const std::string& prefix, std::string* key) {
  *key = prefix;
  while (!key->empty() && key->back() == '\xff') key->pop_back();
  if (key->empty()) return false;
  key->back() = static_cast<char>(key->back() + 1);
  return true;
}

// Options::keep_log_bytes of a verb that names none: a verb is a short visit, and what followers of the database have
// still to read stays. A database that keeps no log begins to keep none.
constexpr uint64_t kWhatIsKept = UINT64_MAX - 1;

Status OpenToWrite(const Options& given, const std::string& directory, DB** db) {
  Options options = given;
  if (options.keep_log_bytes == kWhatIsKept && !KeepsLog(directory, options)) {
    options.keep_log_bytes = Options().keep_log_bytes;
  }
  return DB::Open(options, directory, db);
}

// STORE is there from before anything else of a database is made.
bool IsThere(const std::string& directory) { return Env::Default()->FileExists(directory + "/STORE"); }

}  // namespace

void OpenOptions::AddCreate(OptionTable* options, const std::string& help) {
  options->Switch("create", &create_, help);
}

void OpenOptions::AddOptions(OptionTable* options) {
  options->Text("merge_operator", "NAME", &merge_operator_,
                "the merge operator that the database is used with: put, uint64add, max or stringappend");
  options->List("option", "NAME=VALUE", &settings_,
                "an option of the database, such as pool_size=1073741824, by its name in db_bench --help");
}

std::string OpenOptions::Make(const std::string& directory, Options* options) const {
  bench::EngineConfig config;
  config.create_if_missing = create_;
  config.merge_operator = merge_operator_;
  config.compression_type = "snappy";
  if (IsThere(directory)) config.options.keep_log_bytes = kWhatIsKept;
  FindPlaces(directory, &config.options).IgnoreError();  // what is wrong with STORE is told by the open, or repaired
  bench::FlagSet flags;
  bench::RegisterEngineFlags(&flags, &config);
  for (const std::string& setting : settings_) {
    const size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    if (equals == std::string::npos) return "--option=" + setting + ": NAME=VALUE is wanted";
    if (!flags.Knows(name) || IsOfBenchmarks(name)) return "--option=" + setting + ": there is no option of that name";
    const std::string problem = flags.Set(name, setting.substr(equals + 1));
    if (!problem.empty()) return "--option=" + setting + ": " + problem;
  }
  std::string problem = bench::FinishEngineConfig(flags, &config);
  for (const bench::IdleFlag& idle : bench::IdleEngineFlags(flags, config)) {
    if (idle.needs.empty()) problem = "--option=" + idle.name + ": that is no option of this store";
  }
  *options = config.options;
  return problem.empty() ? bench::FillMioDbOptions(config, options) : problem;
}

std::unique_ptr<DB> OpenOptions::Open(const Call& call, const std::string& directory) const {
  return OpenBy(OpenToWrite, call, directory);
}

std::unique_ptr<DB> OpenOptions::OpenReader(const Call& call, const std::string& directory) const {
  return OpenBy(DB::OpenReader, call, directory);
}

bool OpenOptions::WouldCreate(const std::string& directory) const { return create_ && !IsThere(directory); }

std::unique_ptr<DB> OpenOptions::OpenBy(OpenCall open, const Call& call, const std::string& directory) const {
  Options options;
  const std::string problem = Make(directory, &options);
  if (!problem.empty()) {
    Fail(call, problem);
    return nullptr;
  }
  DB* db = nullptr;
  const Status s = open(options, directory, &db);
  if (!s.ok()) Fail(call, s);
  return std::unique_ptr<DB>(db);
}

void StoreCommand::AddOptions(OptionTable* options) {
  AddShellOptions(options);
  open_.AddOptions(options);
}

void StoreCommand::AddShellOptions(OptionTable* options) {
  AddOwnOptions(options);
  families_.AddOptions(options);
}

int StoreCommand::Run(const Call& call) {
  const std::string& directory = call.operands[0];
  Options options;
  const std::string problem = open_.Make(directory, &options);
  if (!problem.empty()) return Fail(call, problem);
  Call rest = call;
  rest.operands.erase(rest.operands.begin());
  const int code = ReadWords(rest, &options);
  if (code != kDone) return code;
  const std::unique_ptr<DB> db = Open(call, directory);
  return db == nullptr ? kFailed : Work(db.get(), rest);
}

int StoreCommand::RunIn(DB* db, const Call& call) {
  const int code = ReadWords(call, nullptr);
  return code == kDone ? Work(db, call) : code;
}

int StoreCommand::ReadWords(const Call& call, const Options*) {
  const Status s = families_.ReadName();
  return s.ok() ? kDone : Fail(call, s);
}

std::unique_ptr<DB> StoreCommand::Open(const Call& call, const std::string& directory) const {
  return open_.Open(call, directory);
}

int StoreCommand::Work(DB* db, const Call& call) {
  using Missing = FamilyChoice::Missing;
  const Status s = families_.Look(db, open_.create() ? Missing::kIsMade : Missing::kIsAnError);
  return s.ok() ? RunOn(db, call) : Fail(call, s);
}

void ReadCommand::AddOptions(OptionTable* options) {
  StoreCommand::AddOptions(options);
  options->Switch("reader", &reader_, "read beside the process that has the database open, and create nothing");
}

void ReadCommand::AddShellOptions(OptionTable* options) {
  StoreCommand::AddShellOptions(options);
  options->Maybe("savepoint", "NAME", &savepoint_, "read this savepoint, and not what the database has now");
}

std::unique_ptr<DB> ReadCommand::Open(const Call& call, const std::string& directory) const {
  return reader_ ? open().OpenReader(call, directory) : StoreCommand::Open(call, directory);
}

int ReadCommand::Work(DB* db, const Call& call) {
  if (!savepoint_.has_value()) return StoreCommand::Work(db, call);
  std::string name;
  const std::string problem = FromText(*savepoint_, &name);
  if (!problem.empty()) return Fail(call, problem);
  DB* opened = nullptr;
  const Status s = db->OpenSavepoint(name, &opened);
  const std::unique_ptr<DB> view(opened);
  if (s.IsNotFound()) return Fail(call, "no savepoint '" + *savepoint_ + "'", kListsSavepoints);
  return s.ok() ? StoreCommand::Work(view.get(), call) : Fail(call, s);
}

void KeyRange::AddOptions(OptionTable* options) {
  options->Maybe("from", "KEY", &from_, "the first key");
  options->Maybe("to", "KEY", &to_, "the first key that is not wanted any more");
  options->Maybe("prefix", "KEY", &prefix_, "only keys that begin with this");
}

void KeyRange::AddLimit(OptionTable* options) {
  options->Number("limit", &limit_, -1, INT64_MAX, "at most so many records; -1: all");
}

std::string KeyRange::Read(const Coding& coding) {
  const auto raise = [this](const std::string& key) {
    if (!has_lower_ || key > lower_key_) lower_key_ = key;
    has_lower_ = true;
  };
  const auto lower = [this](const std::string& key) {
    if (!has_upper_ || key < upper_key_) upper_key_ = key;
    has_upper_ = true;
  };
  std::string key, problem;
  if (from_.has_value()) problem = coding.ReadKey(*from_, &key);
  if (!problem.empty()) return problem;
  if (from_.has_value()) raise(key);
  if (to_.has_value()) problem = coding.ReadKey(*to_, &key);
  if (!problem.empty()) return problem;
  if (to_.has_value()) lower(key);
  if (prefix_.has_value()) problem = coding.ReadKey(*prefix_, &key);
  if (!problem.empty()) return problem;
  if (prefix_.has_value()) {
    raise(key);
    std::string after;
    if (AfterPrefix(key, &after)) lower(after);
  }
  lower_ = lower_key_;
  upper_ = upper_key_;
  return "";
}

void KeyRange::Bind(ReadOptions* options) const {
  options->iterate_lower_bound = lower();
  options->iterate_upper_bound = upper();
}

}  // namespace miodb::tool
