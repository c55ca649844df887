#include "tools/miodb/stores/foreign_library.h"

#include <dlfcn.h>

#include <vector>

namespace miodb::tool {

namespace {

constexpr int kMajorVersions = 12;  // of RocksDB, and so many minor ones of each
constexpr int kMinorVersions = 20;

// The name for development first: it leads to whatever is installed. Without it, the newest that is there.
std::vector<std::string> LibraryNames(Format format) {
  if (format == Format::kLevelDb) return {"libleveldb.so.1d", "libleveldb.so.1", "libleveldb.so"};
  std::vector<std::string> names = {"librocksdb.so"};
  for (int major = kMajorVersions; major >= 5; major--) {
    names.push_back("librocksdb.so." + std::to_string(major));
    for (int minor = kMinorVersions; minor >= 0; minor--) {
      names.push_back("librocksdb.so." + std::to_string(major) + "." + std::to_string(minor));
    }
  }
  return names;
}

// Finds functions one after the other, and remembers the first that is missing.
class Finder {
 public:
  Finder(void* library, const std::string& prefix) : library_(library), prefix_(prefix) {}

  template <typename Function>
  void Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library_, (prefix_ + name).c_str()));
    if (*function == nullptr && missing_.empty()) missing_ = prefix_ + name;
  }

  const std::string& missing() const { return missing_; }

 private:
  void* const library_;
  const std::string prefix_;
  std::string missing_;
};

void FindCommon(Finder* f, ForeignLibrary* l) {
  f->Find("options_create", &l->options_create);
  f->Find("options_destroy", &l->options_destroy);
  f->Find("options_set_paranoid_checks", &l->options_set_paranoid_checks);
  f->Find("options_set_create_if_missing", &l->options_set_create_if_missing);
  f->Find("options_set_error_if_exists", &l->options_set_error_if_exists);
  f->Find("readoptions_create", &l->readoptions_create);
  f->Find("readoptions_destroy", &l->readoptions_destroy);
  f->Find("readoptions_set_verify_checksums", &l->readoptions_set_verify_checksums);
  f->Find("readoptions_set_fill_cache", &l->readoptions_set_fill_cache);
  f->Find("open", &l->open);
  f->Find("close", &l->close);
  f->Find("free", &l->free);
  f->Find("create_iterator", &l->create_iterator);
  f->Find("iter_destroy", &l->iter_destroy);
  f->Find("iter_valid", &l->iter_valid);
  f->Find("iter_seek_to_first", &l->iter_seek_to_first);
  f->Find("iter_next", &l->iter_next);
  f->Find("iter_key", &l->iter_key);
  f->Find("iter_value", &l->iter_value);
  f->Find("iter_get_error", &l->iter_get_error);
}

void FindLevelDb(Finder* f, ForeignLibrary* l) {
  f->Find("approximate_sizes", &l->leveldb.approximate_sizes);
  f->Find("writeoptions_create", &l->leveldb.writeoptions_create);
  f->Find("writeoptions_destroy", &l->leveldb.writeoptions_destroy);
  f->Find("writebatch_create", &l->leveldb.writebatch_create);
  f->Find("writebatch_destroy", &l->leveldb.writebatch_destroy);
  f->Find("writebatch_clear", &l->leveldb.writebatch_clear);
  f->Find("writebatch_put", &l->leveldb.writebatch_put);
  f->Find("write", &l->leveldb.write);
}

void FindRocksDb(Finder* f, ForeignLibrary* l) {
  f->Find("options_set_wal_recovery_mode", &l->rocksdb.options_set_wal_recovery_mode);
  f->Find("list_column_families", &l->rocksdb.list_column_families);
  f->Find("list_column_families_destroy", &l->rocksdb.list_column_families_destroy);
  f->Find("open_for_read_only_column_families", &l->rocksdb.open_for_read_only_column_families);
  f->Find("column_family_handle_destroy", &l->rocksdb.column_family_handle_destroy);
  f->Find("create_iterator_cf", &l->rocksdb.create_iterator_cf);
  f->Find("approximate_sizes_cf", &l->rocksdb.approximate_sizes_cf);
}

}  // namespace

Status ForeignLibrary::Load(Format format, const std::string& path, ForeignLibrary* library) {
  const bool is_leveldb = format == Format::kLevelDb;
  const std::vector<std::string> names = path.empty() ? LibraryNames(format) : std::vector<std::string>{path};
  void* loaded = nullptr;
  std::string reason;
  for (const std::string& name : names) {
    loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded != nullptr) break;
    if (reason.empty()) reason = dlerror();
  }
  if (loaded == nullptr) {
    return Status::NotFound(path.empty() ? reason : path + ": " + reason,
                            is_leveldb ? "install LevelDB's library (Debian: libleveldb1d), or say where it is with "
                                         "--library=PATH"
                                       : "install RocksDB's library (Debian: librocksdb7.8), or say where it is with "
                                         "--library=PATH");
  }
  Finder finder(loaded, is_leveldb ? "leveldb_" : "rocksdb_");
  library->format = format;
  FindCommon(&finder, library);
  (is_leveldb ? FindLevelDb : FindRocksDb)(&finder, library);
  if (finder.missing().empty()) return Status::OK();
  return Status::NotSupported(path.empty() ? "the installed library" : path,
                              "has no function " + finder.missing() + "; another version of it is wanted");
}

Status ForeignLibrary::TakeError(const std::string& place, char* error) const {
  if (error == nullptr) return Status::OK();
  const std::string text = error;
  free(error);
  return Status::Corruption(place, text);
}

}  // namespace miodb::tool
