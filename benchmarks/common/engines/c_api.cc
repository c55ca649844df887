#include "benchmarks/common/engines/c_api.h"

#include <vector>

namespace miodb::bench {

namespace {

constexpr int kMajorVersions = 12;  // of RocksDB, and so many minor ones of each
constexpr int kMinorVersions = 20;

// The name for development first: it leads to whatever is installed. Without it, the newest that is there.
std::vector<std::string> RocksDbNames() {
  std::vector<std::string> names = {"librocksdb.so"};
  for (int major = kMajorVersions; major >= 5; major--) {
    names.push_back("librocksdb.so." + std::to_string(major));
    for (int minor = kMinorVersions; minor >= 0; minor--) {
      names.push_back("librocksdb.so." + std::to_string(major) + "." + std::to_string(minor));
    }
  }
  return names;
}

}  // namespace

Outcome CApi::Load(Kind kind, const std::string& file, CApi* api) {
  const bool is_leveldb = kind == Kind::kLevelDb;
  const std::vector<std::string> names =
      is_leveldb ? std::vector<std::string>{"libleveldb.so.1d", "libleveldb.so.1", "libleveldb.so"} : RocksDbNames();
  Library* const library = &api->library;
  const Outcome loaded = library->Load(file, names, is_leveldb ? "libleveldb1d" : "librocksdb7.8");
  if (!loaded.ok()) return loaded;
  const std::string prefix = is_leveldb ? "leveldb_" : "rocksdb_";
#define MIODB_C_API_NEED(result, name, arguments) library->Need(prefix + #name, &api->name##_);
#define MIODB_C_API_FIND(result, name, arguments) library->Find(prefix + #name, &api->name##_);
  MIODB_C_API_OF_BOTH(MIODB_C_API_NEED)
  if (is_leveldb) {
    MIODB_C_API_OF_LEVELDB(MIODB_C_API_NEED)
    MIODB_C_API_OF_NEW_LEVELDB(MIODB_C_API_FIND)
  } else {
    MIODB_C_API_OF_ROCKSDB(MIODB_C_API_NEED)
    MIODB_C_API_OF_NEW_ROCKSDB(MIODB_C_API_FIND)
  }
  return library->Complete();
}

Outcome CApi::Take(char* error) const {
  if (error == nullptr) return {};
  Outcome outcome = Outcome::Error(error);
  free_(error);
  return outcome;
}

bool CApi::Property(void* db, const char* name, std::string* text) const {
  return TakeText(property_value_(db, name), text);
}

bool CApi::Property(void* db, void* family, const char* name, std::string* text) const {
  return TakeText(property_value_cf_(db, family, name), text);
}

bool CApi::TakeText(char* value, std::string* text) const {
  if (value == nullptr) return false;
  *text = value;
  free_(value);
  return true;
}

}  // namespace miodb::bench
