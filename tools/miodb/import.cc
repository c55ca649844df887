// import and export: data moved in and out.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "benchmarks/common/interrupt.h"
#include "miodb/write_batch.h"
#include "tools/miodb/content_hash.h"
#include "tools/miodb/files.h"
#include "tools/miodb/foreign_store.h"
#include "tools/miodb/long_work.h"
#include "tools/miodb/option_map.h"
#include "tools/miodb/source.h"
#include "tools/miodb/store.h"
#include "tools/miodb/verbs.h"

namespace miodb::tool {

namespace {

constexpr size_t kBatchBytes = 1 << 20;

std::string Unfinished(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path + ".unfinished";
}

// Makes the new name durable: syncs the folder that has it.
void SyncParent(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const int descriptor = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

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
    options->Text("column_family", "NAME", &source_.column_family, "of a RocksDB database that has several");
    options->Switch("into", &into_, "put the records into a database that is there");
    options->Switch("progress", &progress_, "show progress even if standard error is no terminal");
    open_.AddOptions(options, false);
  }

  int Run(const Call& call) override {
    target_ = call.operands[0];
    source_.path = call.operands[1];
    Options options;
    const std::string problem = open_.Make(target_, &options);
    if (!problem.empty()) return Fail(call, problem);
    if (!into_ && !IsFree()) {
      return Fail(call, target_ + ": is there already, and is left as it is",
                  "Give another name, or --into to put the records into it.");
    }
    std::unique_ptr<Source> source;
    const Status s = OpenSource(source_, &source);
    if (!s.ok()) return FailOfSource(call, s);
    options_text_ = DescribeOptions(source_.path);
    if (into_) return AddTo(call, options, source.get());
    const bool outside = !options.pool_path.empty() || !options.ssd_path.empty() || !options.wal_dir.empty() ||
                         !options.nvm_regions.empty();
    return Make(call, options, outside ? target_ : Unfinished(target_), source.get());
  }

 private:
  // Nothing, or an empty folder.
  bool IsFree() const { return !Exists(target_) || (IsDirectory(target_) && NamesIn(target_).empty()); }

  static int FailOfSource(const Call& call, const Status& s) {
    return Fail(call, s.ToString(),
                s.IsCorruption() ? "Repair the source with its own tools first. Nothing was made." : "");
  }

  int AddTo(const Call& call, const Options& options, Source* source) {
    DB* opened = nullptr;
    Status s = DB::Open(options, target_, &opened);
    if (!s.ok()) return Fail(call, s);
    const std::unique_ptr<DB> db(opened);
    s = Copy(source, db.get());
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
    if (is_whole && directory != target_) s = GiveName(directory);
    if (is_whole && s.ok()) return Report(call);
    const Status removed = DestroyDB(directory, options);
    if (!removed.ok()) Fail(call, "what was made could not be removed: " + removed.ToString());
    if (s.ok()) return kInterrupted;
    return source_failed ? FailOfSource(call, s) : Fail(call, s);
  }

  Status GiveName(const std::string& directory) const {
    if (rename(directory.c_str(), target_.c_str()) != 0) return Status::IOError(target_, strerror(errno));
    SyncParent(target_);
    return Status::OK();
  }

  // Until the source ends, something fails or a signal comes.
  Status Copy(Source* source, DB* db) {
    LongWork work("imported", progress_, [source] { return source->ShareRead(); });
    WriteBatch batch;
    Slice key, value;
    Status s;
    while (s.ok() && !bench::Interrupt::StopRequested() && source->Next(&key, &value)) {
      is_sorted_ = is_sorted_ && (read_.records() == 0 || Slice(last_key_).compare(key) < 0);
      last_key_.assign(key.data(), key.size());
      read_.Add(key, value);
      batch.Put(key, value);
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

  // Checks that the database has the records that were read. Lines of JSON need not be sorted, and later lines win over
  // earlier ones.
  Status Compare(DB* db) {
    if (!is_sorted_) return Status::OK();
    LongWork work("compared", progress_,
                  [this, &work] { return static_cast<double>(work.records()) / static_cast<double>(read_.records()); });
    ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    const std::unique_ptr<Iterator> it(db->NewIterator(options));
    ContentHash written;
    for (it->SeekToFirst(); it->Valid() && !bench::Interrupt::StopRequested(); it->Next()) {
      written.Add(it->key(), it->value());
      work.Did(it->key().size() + it->value().size());
    }
    if (!it->status().ok() || bench::Interrupt::StopRequested()) return it->status();
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
  bool is_sorted_ = true;
  std::string last_key_;
};

class Export final : public ReadCommand {
 public:
  void AddReadOptions(OptionTable* options) override {
    range_.AddOptions(options);
    coding_.AddOptions(options, false);
    options->Text("output", "PATH", &output_, "the file, or the LevelDB directory, to make");
    options->Word("format", &format_, {{"json", Format::kJson}, {"leveldb", Format::kLevelDb}}, "what to write");
    options->Text("library", "PATH", &library_, "the shared library of LevelDB; else the system's");
    options->Switch("progress", &progress_, "show progress even if standard error is no terminal");
  }

  int Read(DB* db, const Call& call) override {
    const std::string problem = range_.Read(coding_);
    if (!problem.empty()) return Fail(call, problem);
    ReadOptions read;
    read.verify_checksums = true;
    read.fill_cache = false;
    range_.Bind(&read);
    const std::unique_ptr<Iterator> it(db->NewIterator(read));
    it->SeekToFirst();
    std::string keys = "0";
    db->GetProperty("miodb.estimate-num-keys", &keys);
    expected_ = std::max(1.0, std::min(std::stod(keys), static_cast<double>(range_.limit())));
    return format_ == Format::kJson ? WriteJson(it.get(), call) : WriteLevelDb(it.get(), call);
  }

 private:
  // Calls use(key, value) for each record while that returns true.
  template <typename Use>
  void ForRecords(Iterator* it, Use use) {
    LongWork work("exported", progress_, [this, &work] { return static_cast<double>(work.records()) / expected_; });
    for (uint64_t left = range_.limit(); left > 0 && it->Valid() && !bench::Interrupt::StopRequested(); left--) {
      if (!use(it->key(), it->value())) return;
      work.Did(it->key().size() + it->value().size());
      it->Next();
    }
  }

  int WriteJson(Iterator* it, const Call& call) {
    const std::unique_ptr<Output> out(output_.empty() ? new Output() : new Output(output_));
    ForRecords(it, [&](const Slice& key, const Slice& value) {
      out->Write(coding_.ShowJson(key, value));
      return out->ok();
    });
    if (!it->status().ok()) return Fail(call, it->status());  // a file keeps no name then
    return out->Finish(call, kDone);
  }

  int WriteLevelDb(Iterator* it, const Call& call) {
    if (output_.empty()) return Fail(call, "--format=leveldb wants --output=DIRECTORY");
    if (Exists(output_)) return Fail(call, output_ + ": exists; give another name, or remove it");
    const std::string directory = Unfinished(output_);
    if (Exists(directory)) return Fail(call, directory + ": was left by an export that was cut off: remove it");
    std::unique_ptr<LevelDbWriter> writer;
    Status s = LevelDbWriter::Open(directory, library_, &writer);
    if (!s.ok()) return Fail(call, s);
    ForRecords(it, [&](const Slice& key, const Slice& value) {
      s = writer->Put(key, value);
      return s.ok();
    });
    if (s.ok()) s = it->status();
    if (s.ok()) s = writer->Finish();
    writer.reset();
    if (s.ok() && CodeAfter(kDone) == kDone) {
      if (rename(directory.c_str(), output_.c_str()) == 0) {
        SyncParent(output_);
        return kDone;
      }
      s = Status::IOError(output_, strerror(errno));
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return s.ok() ? CodeAfter(kDone) : Fail(call, s);
  }

  KeyRange range_;
  Coding coding_;
  std::string output_;
  Format format_ = Format::kJson;
  std::string library_;
  bool progress_ = false;
  double expected_ = 1;
};

}  // namespace

std::unique_ptr<Command> NewImport() { return std::make_unique<Import>(); }
std::unique_ptr<Command> NewExport() { return std::make_unique<Export>(); }

}  // namespace miodb::tool
