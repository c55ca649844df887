#include "tools/miodb/stores/foreign_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "tools/miodb/stores/families.h"
#include "tools/miodb/stores/leveldb_manifest.h"
#include "tools/miodb/stores/option_map.h"
#include "tools/miodb/terminal/files.h"
#include "tools/miodb/terminal/text.h"

namespace miodb::tool {

namespace {

constexpr size_t kBatchBytes = 1 << 20;

// Behind all keys that anyone has, for questions about sizes.
constexpr char kLastKey[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

std::string AbsolutePath(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  const std::string result = real != nullptr ? real : path;
  free(real);
  return result;
}

// IOError: another process has the database open, or may have. Both stores hold such a lock on the file LOCK.
Status CheckUnlocked(const std::string& directory) {
  const std::string path = directory + "/LOCK";
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return Status::OK();  // a copy
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool is_known = descriptor >= 0 && fcntl(descriptor, F_GETLK, &lock) == 0;
  const std::string reason = is_known ? "" : strerror(errno);
  if (descriptor >= 0) close(descriptor);
  if (!is_known) return Status::IOError(path, reason + "; whether another process has the database open is not known");
  if (lock.l_type == F_UNLCK) return Status::OK();
  return Status::IOError(directory, "another process has it open; end that one first");
}

// Whether LevelDB takes a file's number for free, because a crash left it, and writes over it. Logs are looked at
// before.
bool IsLeftOver(const std::string& name, uint64_t next_file) {
  if (name.ends_with(".log")) return false;
  if (name.ends_with(".dbtmp")) return true;
  const size_t digits = name.find_first_of("0123456789");
  return digits != std::string::npos && std::strtoull(name.c_str() + digits, nullptr, 10) >= next_file;
}

// A folder of links to the files of a database. Through none of them anything is written.
class LinkedCopy {
 public:
  LinkedCopy() = default;
  ~LinkedCopy() {
    if (path_.empty()) return;
    for (const std::string& name : NamesIn(path_)) unlink((path_ + "/" + name).c_str());
    rmdir(path_.c_str());
  }
  LinkedCopy(const LinkedCopy&) = delete;
  LinkedCopy& operator=(const LinkedCopy&) = delete;

  // next_file: the least number of files that are not linked, logs apart.
  Status Make(const std::string& directory, const std::string& log_directory, uint64_t next_file) {
    const char* const parent = getenv("TMPDIR");
    std::string made = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/miodb_import_XXXXXX";
    if (mkdtemp(made.data()) == nullptr) {
      return Status::IOError(made, std::string(strerror(errno)) + "; TMPDIR may name another folder");
    }
    path_ = made;
    Status s = LinkAll(directory, false, next_file);
    if (s.ok() && !log_directory.empty()) s = LinkAll(log_directory, true, next_file);
    return s;
  }

  const std::string& path() const { return path_; }

 private:
  // The lock and the info logs are the library's to make anew.
  Status LinkAll(const std::string& directory, bool logs_only, uint64_t next_file) {
    const std::string source = AbsolutePath(directory);
    if (!IsDirectory(source) || access(source.c_str(), R_OK | X_OK) != 0) {
      return Status::IOError(directory, IsDirectory(source) ? strerror(errno) : "is no directory");
    }
    for (const std::string& name : NamesIn(source)) {
      if (name == "LOCK" || name.starts_with("LOG") || IsDirectory(source + "/" + name)) continue;
      if ((logs_only && !name.ends_with(".log")) || IsLeftOver(name, next_file)) continue;
      if (symlink((source + "/" + name).c_str(), (path_ + "/" + name).c_str()) != 0 && errno != EEXIST) {
        return Status::IOError(path_ + "/" + name, strerror(errno));
      }
    }
    return Status::OK();
  }

  std::string path_;
};

Status LoadLibrary(Format format, const std::string& file, bench::CApi* library) {
  using Kind = bench::CApi::Kind;
  const bench::Outcome loaded =
      bench::CApi::Load(format == Format::kLevelDb ? Kind::kLevelDb : Kind::kRocksDb, file, library);
  if (loaded.ok()) return Status::OK();
  return loaded.code == bench::Code::kNotFound ? Status::NotFound("the library", loaded.message)
                                               : Status::NotSupported("the library", loaded.message);
}

class ForeignSource final : public Source {
 public:
  explicit ForeignSource(const SourceRequest& request) : request_(request) {}

  ~ForeignSource() override {
    if (iterator_ != nullptr) library_.iter_destroy_(iterator_);
    for (void* const handle : handles_) library_.column_family_handle_destroy_(handle);
    if (db_ != nullptr) library_.close_(db_);
    if (options_ != nullptr) library_.options_destroy_(options_);
    if (read_options_ != nullptr) library_.readoptions_destroy_(read_options_);
  }

  Status Open() {
    const std::string& path = request_.path;
    if (!IsDirectory(path) || !Exists(path + "/CURRENT")) {
      return Status::NotFound(path, "holds no database: it has no file CURRENT");
    }
    Status s = CheckUnlocked(path);
    std::string wal = request_.wal;
    if (s.ok() && !is_leveldb() && wal.empty()) s = WalDirectoryOf(path, &wal);
    if (s.ok()) s = LoadLibrary(request_.format, request_.library, &library_);
    // RocksDB is opened for reading alone and makes no files but logs of its own.
    const uint64_t next_file = is_leveldb() ? NextFileOfLevelDb(path) : UINT64_MAX;
    if (s.ok()) s = copy_.Make(path, is_leveldb() ? "" : wal, next_file);
    if (!s.ok()) return s;
    options_ = library_.options_create_();
    library_.options_set_paranoid_checks_(options_, 1);
    library_.options_set_create_if_missing_(options_, 0);
    read_options_ = library_.readoptions_create_();
    library_.readoptions_set_verify_checksums_(read_options_, 1);
    library_.readoptions_set_fill_cache_(read_options_, 0);
    s = is_leveldb() ? OpenLevelDb() : OpenRocksDb();
    if (!s.ok()) return s;
    for (size_t family = 0; family < families_.size(); family++) total_ += BytesBefore(family, kLastKey);
    return s;
  }

  // Each family begins with an item that has no record.
  bool Next(std::string* family, std::optional<SourceRecord>* record) override {
    record->reset();
    if (place_ == Place::kAtRecord) {
      library_.iter_next_(iterator_);
    } else if (place_ == Place::kAtFamily) {
      library_.iter_seek_to_first_(iterator_);
    }
    if (place_ == Place::kBefore || !library_.iter_valid_(iterator_)) {
      if (!NextFamily()) return false;
      place_ = Place::kAtFamily;
      *family = ShownFamily();
      return true;
    }
    place_ = Place::kAtRecord;
    *family = ShownFamily();
    size_t key_size, value_size;
    const char* const key_data = library_.iter_key_(iterator_, &key_size);
    const char* const value_data = library_.iter_value_(iterator_, &value_size);
    *record = SourceRecord{Slice(key_data, key_size), Slice(value_data, value_size)};
    return true;
  }

  Status status() const override { return status_; }

  double ShareRead() override {
    if (total_ == 0 || place_ != Place::kAtRecord || !library_.iter_valid_(iterator_)) return 0;
    size_t size;
    const char* const key = library_.iter_key_(iterator_, &size);
    return static_cast<double>(done_ + BytesBefore(family_, std::string(key, size))) / static_cast<double>(total_);
  }

 private:
  enum class Place { kBefore, kAtFamily, kAtRecord };

  // A family that was named alone is given as the default one (SourceRequest).
  std::string ShownFamily() const {
    return request_.column_family.has_value() ? kDefaultFamilyName : families_[family_];
  }

  // Makes the iterator of the next family. False: there is none, or this one did not end well.
  bool NextFamily() {
    if (place_ != Place::kBefore) {
      status_ = IteratorStatus();
      if (!status_.ok() || family_ + 1 == families_.size()) return false;
      done_ += BytesBefore(family_, kLastKey);
      family_++;
      library_.iter_destroy_(iterator_);
    }
    iterator_ = is_leveldb() ? library_.create_iterator_(db_, read_options_)
                             : library_.create_iterator_cf_(db_, read_options_, handles_[family_]);
    return true;
  }

  bool is_leveldb() const { return request_.format == Format::kLevelDb; }

  Status Check(char* error) const {
    if (error == nullptr) return Status::OK();
    std::string text = library_.Take(error).message;
    // The library names files of the folder of links, which are the source's.
    for (size_t at; (at = text.find(copy_.path())) != std::string::npos;) {
      text.replace(at, copy_.path().size(), request_.path);
    }
    return Status::Corruption(request_.path, (is_leveldb() ? "LevelDB says: " : "RocksDB says: ") + text);
  }

  Status IteratorStatus() const {
    char* error = nullptr;
    library_.iter_get_error_(iterator_, &error);
    return Check(error);
  }

  Status OpenLevelDb() {
    families_ = {kDefaultFamilyName};
    if (request_.column_family.value_or(kDefaultFamilyName) != kDefaultFamilyName) return NoSuchFamily();
    char* error = nullptr;
    db_ = library_.open_(options_, copy_.path().c_str(), &error);
    return Check(error);
  }

  Status NoSuchFamily() const {
    std::string names;
    for (const std::string& name : families_) names += (names.empty() ? "" : ", ") + ToText(name);
    return Status::InvalidArgument(
        request_.path, "has no column family \"" + ToText(*request_.column_family) + "\"; there are " + names);
  }

  Status ChooseFamilies() {
    char* error = nullptr;
    size_t count = 0;
    char** const list = library_.list_column_families_(options_, copy_.path().c_str(), &count, &error);
    const Status s = Check(error);
    if (!s.ok()) return s;
    families_.assign(list, list + count);
    library_.list_column_families_destroy_(list, count);
    std::sort(families_.begin(), families_.end(), FamilyComesBefore);
    if (!request_.column_family.has_value()) return s;
    if (std::find(families_.begin(), families_.end(), *request_.column_family) == families_.end()) {
      return NoSuchFamily();
    }
    families_ = {*request_.column_family};
    return s;
  }

  // A torn end of the log is what a crash leaves; damage before it is damage. RocksDB wants the default family always.
  Status OpenRocksDb() {
    constexpr int kTolerateCorruptedTailRecords = 0;
    library_.options_set_wal_recovery_mode_(options_, kTolerateCorruptedTailRecords);
    Status s = ChooseFamilies();
    if (!s.ok()) return s;
    std::vector<const char*> names;
    for (const std::string& name : families_) names.push_back(name.c_str());
    if (families_.front() != kDefaultFamilyName) names.push_back(kDefaultFamilyName);
    const std::vector<const void*> options(names.size(), options_);
    std::vector<void*> handles(names.size(), nullptr);
    char* error = nullptr;
    db_ = library_.open_for_read_only_column_families_(options_, copy_.path().c_str(), static_cast<int>(names.size()),
                                                       names.data(), options.data(), handles.data(), 0, &error);
    s = Check(error);
    if (s.ok()) handles_ = handles;
    return s;
  }

  uint64_t BytesBefore(size_t family, const std::string& key) const {
    const char* const starts[] = {""};
    const size_t start_sizes[] = {0};
    const char* const limits[] = {key.data()};
    const size_t limit_sizes[] = {key.size()};
    uint64_t bytes = 0;
    if (is_leveldb()) {
      library_.approximate_sizes_(db_, 1, starts, start_sizes, limits, limit_sizes, &bytes);
    } else {
      char* error = nullptr;
      library_.approximate_sizes_cf_(db_, handles_[family], 1, starts, start_sizes, limits, limit_sizes, &bytes,
                                     &error);
      Check(error).IgnoreError();  // it is for the progress alone
    }
    return bytes;
  }

  SourceRequest request_;
  LinkedCopy copy_;
  bench::CApi library_;
  void* options_ = nullptr;
  void* read_options_ = nullptr;
  void* db_ = nullptr;
  std::vector<std::string> families_;  // in the order in which they are given
  std::vector<void*> handles_;         // of RocksDB; of the families, and perhaps of the default one behind them
  size_t family_ = 0;
  Place place_ = Place::kBefore;
  void* iterator_ = nullptr;  // of the family
  Status status_;
  uint64_t total_ = 0;  // bytes of the tables of the families
  uint64_t done_ = 0;   // of those that were read to their end
};

}  // namespace

Status OpenForeignSource(const SourceRequest& request, std::unique_ptr<Source>* source) {
  auto opened = std::make_unique<ForeignSource>(request);
  const Status s = opened->Open();
  if (s.ok()) *source = std::move(opened);
  return s;
}

Status LevelDbWriter::Open(const std::string& directory, const std::string& library,
                           std::unique_ptr<LevelDbWriter>* writer) {
  std::unique_ptr<LevelDbWriter> made(new LevelDbWriter(directory));
  const Status s = LoadLibrary(Format::kLevelDb, library, &made->library_);
  if (!s.ok()) return s;
  void* const options = made->library_.options_create_();
  made->library_.options_set_create_if_missing_(options, 1);
  made->library_.options_set_error_if_exists_(options, 1);
  char* error = nullptr;
  made->db_ = made->library_.open_(options, directory.c_str(), &error);
  made->library_.options_destroy_(options);
  if (error != nullptr) return Status::IOError(directory, "LevelDB says: " + made->library_.Take(error).message);
  made->batch_ = made->library_.writebatch_create_();
  *writer = std::move(made);
  return s;
}

LevelDbWriter::~LevelDbWriter() {
  if (batch_ != nullptr) library_.writebatch_destroy_(batch_);
  if (db_ != nullptr) library_.close_(db_);
}

Status LevelDbWriter::Put(const Slice& key, const Slice& value) {
  library_.writebatch_put_(batch_, key.data(), key.size(), value.data(), value.size());
  batch_bytes_ += key.size() + value.size();
  return batch_bytes_ < kBatchBytes ? Status::OK() : WriteBatch(Sync::kNo);
}

Status LevelDbWriter::WriteBatch(Sync sync) {
  void* const options = library_.writeoptions_create_();
  library_.writeoptions_set_sync_(options, static_cast<unsigned char>(sync));
  char* error = nullptr;
  library_.write_(db_, options, batch_, &error);
  library_.writeoptions_destroy_(options);
  library_.writebatch_clear_(batch_);
  batch_bytes_ = 0;
  if (error == nullptr) return Status::OK();
  return Status::IOError(directory_, "LevelDB says: " + library_.Take(error).message);
}

// A compaction writes the memtable into a table, which is synced, and says nothing of errors; the write behind it
// does. The range has at most one key, so that nothing else is compacted.
Status LevelDbWriter::Finish() {
  Status s = WriteBatch(Sync::kYes);
  if (s.ok()) library_.compact_range_(db_, "", 0, "", 0);
  if (s.ok()) s = WriteBatch(Sync::kYes);
  library_.close_(db_);
  db_ = nullptr;
  return s;
}

}  // namespace miodb::tool
