// import: data moved in.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "benchmarks/common/interrupt.h"
#include "miodb/write_batch.h"
#include "tools/miodb/stores/content_hash.h"
#include "tools/miodb/stores/option_map.h"
#include "tools/miodb/stores/source.h"
#include "tools/miodb/stores/store.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/verbs/long_work.h"
#include "tools/miodb/verbs/verbs.h"

namespace miodb::tool {

namespace {

constexpr size_t kBatchBytes = 1 << 20;

class Import final : public Command {
 public:
  void AddOptions(OptionTable* options) override {
    options->Word("format", &source_.format,
                  {{"auto", Format::kAuto},
                   {"json", Format::kJson},
                   {"leveldb", Format::kLevelDb},
                   {"rocksdb", Format::kRocksDb}},
                  "what SOURCE is; auto looks at it");
    options->Text("library", "PATH", &source_.library, "the shared library of the other store; else the system's");
    options->Text("wal", "PATH", &source_.wal, "the folder of RocksDB's log, if it is not where its options say");
    options->Maybe("column_family", "NAME", &column_family_,
                   "this column family of SOURCE alone, into the default one; else all of them, each into its own");
    options->Switch("into", &into_, "put the records into a database that is there");
    options->Switch("progress", &progress_, "show progress even if standard error is no terminal");
    open_.AddOptions(options);
  }

  int Run(const Call& call) override {
    target_ = call.operands[0];
    source_.path = call.operands[1];
    Options options;
    std::string problem = open_.Make(target_, &options);
    if (column_family_.has_value() && problem.empty()) {
      problem = FromText(*column_family_, &source_.column_family.emplace());
    }
    if (!problem.empty()) return Fail(call, problem);
    if (!into_ && !IsFree()) {
      return Fail(call, target_ + ": is there already, and is left as it is",
                  "Give another name, or --into to put the records into it.");
    }
    std::unique_ptr<Source> source;
    const Status s = OpenSource(source_, &source);
    if (!s.ok()) return FailOfSource(call, s);
    options_text_ = DescribeOptions(source_.path);
    if (into_) return AddTo(call, source.get());
    const bool in_place = !options.pool_path.empty() || !options.ssd_path.empty() || !options.wal_dir.empty() ||
                          !options.nvm_regions.empty() || (Exists(target_) && !IsReplaceable(target_));
    return Make(call, options, in_place ? target_ : Unfinished(target_), source.get());
  }

 private:
  // Nothing, or an empty folder.
  bool IsFree() const { return !Exists(target_) || (IsDirectory(target_) && NamesIn(target_).empty()); }

  static int FailOfSource(const Call& call, const Status& s) {
    return Fail(call, s.ToString(),
                s.IsCorruption() ? "Repair the source with its own tools first. Nothing was made." : "");
  }

  int AddTo(const Call& call, Source* source) {
    const std::unique_ptr<DB> db = open_.Open(call, target_);
    if (db == nullptr) return kFailed;
    Status s = Copy(source, db.get());
    const Status flushed = db->Flush();
    if (s.ok()) s = flushed;
    const std::string done = std::to_string(read_.records()) + " records are in " + target_;
    if (!s.ok()) return Fail(call, s.ToString(), done + "; the same import, repeated, goes over them once more.");
    if (CodeAfter(kDone) != kDone) {
      Fail(call, "interrupted: " + done);
      return kInterrupted;
    }
    return Report(call);
  }

  int Make(const Call& call, Options options, const std::string& directory, Source* source) {
    if (directory != target_ && Exists(directory)) {
      return Fail(call, directory + ": is there already",
                  "It was left by an import that was cut off, if nothing else made it; remove it with rm -r.");
    }
    options.create_if_missing = true;
    options.error_if_exists = true;
    DB* db = nullptr;
    Status s = DB::Open(options, directory, &db);
    if (!s.ok()) return Fail(call, s);
    s = Copy(source, db);
    const bool source_failed = !source->status().ok();
    if (s.ok()) s = db->Flush();
    if (s.ok() && !bench::Interrupt::StopRequested()) s = Compare(db);
    delete db;
    const bool is_whole = s.ok() && !bench::Interrupt::StopRequested();
    if (is_whole && directory != target_) s = GiveName(directory, target_);
    if (is_whole && s.ok()) return Report(call);
    const Status removed = DestroyDB(directory, options);
    if (!removed.ok()) Fail(call, "what was made could not be removed: " + removed.ToString());
    if (s.ok()) return kInterrupted;
    return source_failed ? FailOfSource(call, s) : Fail(call, s);
  }

  // Until the source ends, something fails or a signal comes.
  Status Copy(Source* source, DB* db) {
    LongWork work("imported", progress_, [source] { return source->ShareRead(); });
    WriteBatch batch;
    std::string name;
    std::optional<SourceRecord> record;
    Status s;
    while (s.ok() && !bench::Interrupt::StopRequested() && source->Next(&name, &record)) {
      ColumnFamilyHandle* family = nullptr;
      s = Enter(db, name, &family);
      if (!s.ok() || !record.has_value()) continue;
      const auto& [key, value] = *record;
      is_sorted_ = is_sorted_ && (!last_key_.has_value() || Slice(*last_key_).compare(key) < 0);
      last_key_ = key.ToString();
      read_.Add(key, value);
      batch.Put(family, key, value);
      if (batch.ApproximateSize() >= kBatchBytes) {
        s = db->Write(WriteOptions(), &batch);
        batch.Clear();
      }
      work.Did(key.size() + value.size());
    }
    if (s.ok()) s = source->status();
    if (s.ok()) s = db->Write(WriteOptions(), &batch);
    return s;
  }

  // The family of what comes from the source; makes it if it is not there.
  Status Enter(DB* db, const std::string& name, ColumnFamilyHandle** family) {
    if (name != family_) {
      is_sorted_ = is_sorted_ && FamilyComesBefore(family_, name);
      family_ = name;
      last_key_.reset();
      read_.BeginFamily(name == kDefaultFamilyName ? "" : name);
    }
    ColumnFamilyHandle*& known = families_[name];
    const Status s = known == nullptr ? FamilyToWrite(db, name, &known) : Status::OK();
    *family = known;
    return s;
  }

  // Checks that the database has the records that were read. Lines of JSON need not be sorted, and later lines win over
  // earlier ones.
  Status Compare(DB* db) {
    if (!is_sorted_) return Status::OK();
    LongWork work("compared", progress_,
                  [this, &work] { return static_cast<double>(work.records()) / static_cast<double>(read_.records()); });
    ReadOptions options;
    options.verify_checksums = true;
    FamilyChoice all(FamilyScope::kAll);
    RecordWalk walk;
    ContentHash written;
    Status s = walk.Open(db, KeyRange(), options, &all);
    if (s.ok()) {
      s = walk.Go(
          RecordWalk::Direction::kForward, [&](const std::string& family) { written.BeginFamily(family); },
          [&](const Slice& key, const Slice& value) {
            written.Add(key, value);
            work.Did(key.size() + value.size());
            return true;
          });
    }
    if (!s.ok() || bench::Interrupt::StopRequested()) return s;
    if (written.records() == read_.records() && written.hash() == read_.hash()) return Status::OK();
    return Status::Corruption(target_, "what was written is not what was read; is the memory of this machine sound?");
  }

  int Report(const Call& call) const {
    Output out;
    out.Write(options_text_);
    out.Write(read_.Describe());
    return out.Finish(call, kDone);
  }

  OpenOptions open_;
  SourceRequest source_;
  bool into_ = false;
  bool progress_ = false;
  std::string target_;
  std::string options_text_;
  ContentHash read_;
  std::optional<std::string> column_family_;
  std::map<std::string, ColumnFamilyHandle*> families_;  // of the target
  // The family and key that were read last, and whether all records came in the order of a walk.
  std::string family_ = kDefaultFamilyName;
  std::optional<std::string> last_key_;
  bool is_sorted_ = true;
};

}  // namespace

std::unique_ptr<Command> NewImport() { return std::make_unique<Import>(); }

}  // namespace miodb::tool
