// export: data moved out.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "tools/miodb/stores/foreign_store.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/terminal/text.h"
#include "tools/miodb/verbs/long_work.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

class Export final : public ReadCommand {
 public:
  Export() : ReadCommand(FamilyScope::kAll) {}

 protected:
  void AddOwnOptions(OptionTable* options) override {
    range_.AddOptions(options);
    range_.AddLimit(options);
    coding_.AddOptions(options, false);
    options->Text("output", "PATH", &output_, "the file, or the LevelDB directory, to make");
    options->Word("format", &format_, {{"json", Format::kJson}, {"leveldb", Format::kLevelDb}}, "what to write");
    options->Text("library", "PATH", &library_, "the shared library of LevelDB; else the system's");
    options->Word("lifetimes", &lifetimes_, {{"refuse", Lifetimes::kRefuse}, {"drop", Lifetimes::kDrop}},
                  "records that expire: refuse to export them, or drop their lifetimes, so that they stay");
    options->Switch("progress", &progress_, "show progress even if standard error is no terminal");
  }

  int RunOn(DB* db, const Call& call) override {
    const std::string problem = range_.Read(coding_);
    if (!problem.empty()) return Fail(call, problem);
    ReadOptions read;
    read.verify_checksums = true;
    RecordWalk walk;
    const Status s = walk.Open(db, range_, read, families());
    if (!s.ok()) return Fail(call, s);
    std::string keys = "0";
    db->GetProperty("miodb.estimate-num-keys", &keys);
    expected_ = std::max(1.0, std::min(std::stod(keys), static_cast<double>(range_.limit())));
    db_ = db;
    return format_ == Format::kJson ? WriteJson(&walk, call) : WriteLevelDb(&walk, call);
  }

 private:
  // The treatment of records that expire: neither format has lifetimes.
  enum class Lifetimes { kRefuse, kDrop };

  // Calls begin(family) and use(key, value) as RecordWalk::Go does.
  template <typename Begin, typename Use>
  Status ForRecords(RecordWalk* walk, const Begin& begin, const Use& use) {
    LongWork work("exported", progress_, [this, &work] { return static_cast<double>(work.records()) / expected_; });
    auto next = families()->families().begin();
    ColumnFamilyHandle* family = nullptr;
    Status lives;
    const Status s = walk->Go(
        RecordWalk::Direction::kForward,
        [&](const std::string& name) {
          family = *next++;
          begin(name);
        },
        [&](const Slice& key, const Slice& value) {
          lives = CheckLifetime(family, key);
          if (!lives.ok() || !use(key, value)) return false;
          work.Did(key.size() + value.size());
          return true;
        });
    return s.ok() ? lives : s;
  }

  // InvalidArgument: the record expires, and must not become one that stays. A key that is gone by now was overtaken.
  Status CheckLifetime(ColumnFamilyHandle* family, const Slice& key) {
    if (lifetimes_ == Lifetimes::kDrop) return Status::OK();
    ReadOptions options;
    options.fill_cache = false;
    uint64_t expiry_micros = UINT64_MAX;
    const Status s = db_->GetWithExpiry(options, family, key, &found_, &expiry_micros);
    if (!s.ok()) return s.IsNotFound() ? Status::OK() : s;
    if (expiry_micros == UINT64_MAX) return s;
    return Status::InvalidArgument("key '" + ToText(key) + "'",
                                   "expires, and an export has no lifetimes; with --lifetimes=drop such records stay");
  }

  int WriteJson(RecordWalk* walk, const Call& call) {
    const std::unique_ptr<Output> out(output_.empty() ? new Output() : new Output(output_));
    std::string family;
    const Status s = ForRecords(
        walk,
        [&](const std::string& name) {
          family = name;
          if (!name.empty()) out->Write(coding_.ShowJsonFamily(name));
        },
        [&](const Slice& key, const Slice& value) {
          out->Write(coding_.ShowJson(family, key, value));
          return out->ok();
        });
    if (!s.ok()) return Fail(call, s);  // a file keeps no name then
    return out->Finish(call, kDone);
  }

  int WriteLevelDb(RecordWalk* walk, const Call& call) {
    if (families()->families().size() > 1) {
      return Fail(call,
                  "the database has the column families " + NamesOf(families()->families()) + ", and LevelDB has none",
                  "Choose one with --column_family=NAME, each into a directory.");
    }
    if (output_.empty()) return Fail(call, "--format=leveldb wants --output=DIRECTORY");
    if (Exists(output_)) return Fail(call, output_ + ": exists; give another name, or remove it");
    const std::string directory = Unfinished(output_);
    if (Exists(directory)) return Fail(call, directory + ": was left by an export that was cut off: remove it");
    std::unique_ptr<LevelDbWriter> writer;
    Status s = LevelDbWriter::Open(directory, library_, &writer);
    if (!s.ok()) return Fail(call, s);
    const Status read = ForRecords(
        walk, [](const std::string&) {},
        [&](const Slice& key, const Slice& value) {
          s = writer->Put(key, value);
          return s.ok();
        });
    if (s.ok()) s = read;
    if (s.ok()) s = writer->Finish();
    writer.reset();
    if (s.ok() && CodeAfter(kDone) == kDone) {
      s = GiveName(directory, output_);
      if (s.ok()) return kDone;
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return s.ok() ? CodeAfter(kDone) : Fail(call, s);
  }

  KeyRange range_;
  Coding coding_;
  std::string output_;
  Format format_ = Format::kJson;
  Lifetimes lifetimes_ = Lifetimes::kRefuse;
  DB* db_ = nullptr;
  std::string found_;  // by the last look at a lifetime
  std::string library_;
  bool progress_ = false;
  double expected_ = 1;
};

}  // namespace

std::unique_ptr<Command> NewExport() { return std::make_unique<Export>(); }

}  // namespace miodb::tool
