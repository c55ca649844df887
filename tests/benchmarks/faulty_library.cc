// A library with LevelDB's C functions that answers wrong on request: a test of the questions loads it as a peer, a
// test of exports writes with it. The store is a file of records that is read when the store is opened; FAULT names
// what it does wrong. The file "calls" beside it has a line for each write, with "synced" if that was asked for, and
// each compaction. FAULT "compact": a compaction fails, which the next write says.
//
// As a library of RocksDB it has the names of the functions that programs cannot do without, and no store behind them.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Map = std::map<std::string, std::string>;
using Batch = std::vector<std::pair<std::string, std::string>>;  // an empty value: a delete

struct Store {
  std::string path;
  Map map;
  std::map<const Batch*, int> writes;  // of batches
  bool is_broken = false;
};

struct Iterator {
  const Map map;
  Map::const_iterator at;
};

struct ReadOptions {
  const Map* snapshot = nullptr;
};

bool Has(const std::string& fault) {
  const char* const named = std::getenv("FAULT");
  return named != nullptr && fault == named;
}

void Append(const Store& store, const std::string& key, const std::string& value) {
  std::ofstream(store.path + "/records", std::ios::app) << key << ' ' << value << '\n';
}

void Set(Store* store, const std::string& key, const std::string& value) {
  if (value.empty() && !Has("delete")) {
    store->map.erase(key);
  } else if (!Has("overwrite") || store->map.count(key) == 0) {
    store->map[key] = value;
  }
  if (!Has("kill") && !Has("reopen")) Append(*store, key, value);
}

const Map& Seen(const Store* store, const ReadOptions* options) {
  return options->snapshot == nullptr ? store->map : *options->snapshot;
}

char* Copy(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int nothing;  // what objects without a state are

}  // namespace

extern "C" {

void* leveldb_options_create() { return &nothing; }
void leveldb_options_destroy(void*) {}
void leveldb_options_set_create_if_missing(void*, unsigned char) {}
void leveldb_options_set_error_if_exists(void*, unsigned char) {}
void leveldb_options_set_paranoid_checks(void*, unsigned char) {}
void leveldb_options_set_comparator(void*, void*) {}
void* leveldb_comparator_create(void*, void (*)(void*), int (*)(void*, const char*, size_t, const char*, size_t),
                                const char* (*)(void*)) {
  return &nothing;
}
void leveldb_comparator_destroy(void*) {}
void leveldb_options_set_write_buffer_size(void*, size_t) {}
void leveldb_options_set_max_open_files(void*, int) {}
void leveldb_options_set_block_size(void*, size_t) {}
void leveldb_options_set_max_file_size(void*, size_t) {}
void leveldb_options_set_compression(void*, int) {}
void leveldb_options_set_cache(void*, void*) {}
void* leveldb_cache_create_lru(size_t) { return &nothing; }
void leveldb_cache_destroy(void*) {}
void leveldb_options_set_filter_policy(void*, void*) {}
void* leveldb_filterpolicy_create_bloom(int) { return &nothing; }
void leveldb_filterpolicy_destroy(void*) {}
void* leveldb_readoptions_create() { return new ReadOptions(); }
void leveldb_readoptions_destroy(void* options) { delete static_cast<ReadOptions*>(options); }
void leveldb_readoptions_set_verify_checksums(void*, unsigned char) {}
void leveldb_readoptions_set_fill_cache(void*, unsigned char) {}
void leveldb_readoptions_set_snapshot(void* options, const void* snapshot) {
  static_cast<ReadOptions*>(options)->snapshot = Has("snapshot") ? nullptr : static_cast<const Map*>(snapshot);
}
void* leveldb_writeoptions_create() { return new bool(false); }
void leveldb_writeoptions_destroy(void* options) { delete static_cast<bool*>(options); }
void leveldb_writeoptions_set_sync(void* options, unsigned char sync) { *static_cast<bool*>(options) = sync != 0; }

void* leveldb_open(const void*, const char* path, char** error) {
  std::printf("a store that talks\n");
  if (Has("crash")) std::abort();
  while (Has("hang")) sleep(1);
  if (Has("open")) {
    *error = Copy("it does not want to");
    return nullptr;
  }
  Store* const store = new Store{path, {}, {}, false};
  std::system(("mkdir -p " + store->path).c_str());
  std::ifstream records(store->path + "/records");
  for (std::string line; std::getline(records, line);) {
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space), value = line.substr(space + 1);
    if (value.empty()) store->map.erase(key);
    if (!value.empty()) store->map[key] = value;
  }
  return store;
}
void leveldb_close(void* db) {
  Store* const store = static_cast<Store*>(db);
  if (Has("kill")) {
    for (const auto& [key, value] : store->map) Append(*store, key, value);
  }
  delete store;
}
void leveldb_destroy_db(const void*, const char* path, char**) { std::system(("rm -rf " + std::string(path)).c_str()); }
void leveldb_free(void* bytes) { std::free(bytes); }

void leveldb_put(void* db, const void*, const char* key, size_t key_size, const char* value, size_t size, char**) {
  Set(static_cast<Store*>(db), std::string(key, key_size), std::string(value, size));
}
void leveldb_delete(void* db, const void*, const char* key, size_t size, char**) {
  Set(static_cast<Store*>(db), std::string(key, size), "");
}
char* leveldb_get(void* db, const void* options, const char* key, size_t key_size, size_t* size, char**) {
  const Map& map = Seen(static_cast<Store*>(db), static_cast<const ReadOptions*>(options));
  const auto found = map.find(std::string(key, key_size));
  if (found == map.end()) return nullptr;
  *size = found->second.size();
  return Copy(found->second);
}

void* leveldb_writebatch_create() { return new Batch(); }
void leveldb_writebatch_destroy(void* batch) { delete static_cast<Batch*>(batch); }
void leveldb_writebatch_clear(void* batch) { static_cast<Batch*>(batch)->clear(); }
void leveldb_writebatch_put(void* batch, const char* key, size_t key_size, const char* value, size_t size) {
  static_cast<Batch*>(batch)->emplace_back(std::string(key, key_size), std::string(value, size));
}
void leveldb_writebatch_delete(void* batch, const char* key, size_t size) {
  static_cast<Batch*>(batch)->emplace_back(std::string(key, size), "");
}
void leveldb_write(void* db, const void* options, void* batch, char** error) {
  Store* const store = static_cast<Store*>(db);
  std::ofstream(store->path + "/calls", std::ios::app)
      << (*static_cast<const bool*>(options) ? "synced write\n" : "write\n");
  if (store->is_broken) *error = Copy("the compaction failed");
  const Batch& updates = *static_cast<Batch*>(batch);
  if (store->writes[&updates]++ > 0 && Has("batch")) return;
  for (const auto& [key, value] : updates) Set(store, key, value);
}

void* leveldb_create_iterator(void* db, const void* options) {
  Iterator* const iterator =
      new Iterator{Seen(static_cast<Store*>(db), static_cast<const ReadOptions*>(options)), Map::const_iterator()};
  iterator->at = iterator->map.end();
  return iterator;
}
void leveldb_iter_destroy(void* iterator) { delete static_cast<Iterator*>(iterator); }
unsigned char leveldb_iter_valid(const void* iterator) {
  const Iterator* const it = static_cast<const Iterator*>(iterator);
  return it->at != it->map.end() ? 1 : 0;
}
void leveldb_iter_seek_to_first(void* iterator) {
  Iterator* const it = static_cast<Iterator*>(iterator);
  it->at = it->map.begin();
}
void leveldb_iter_seek_to_last(void* iterator) {
  Iterator* const it = static_cast<Iterator*>(iterator);
  it->at = it->map.empty() ? it->map.end() : std::prev(it->map.end());
}
void leveldb_iter_seek(void* iterator, const char* key, size_t size) {
  Iterator* const it = static_cast<Iterator*>(iterator);
  it->at = it->map.lower_bound(std::string(key, size));
}
void leveldb_iter_next(void* iterator) { ++static_cast<Iterator*>(iterator)->at; }
void leveldb_iter_prev(void* iterator) {
  Iterator* const it = static_cast<Iterator*>(iterator);
  it->at = it->at == it->map.begin() ? it->map.end() : std::prev(it->at);
}
const char* leveldb_iter_key(const void* iterator, size_t* size) {
  const Iterator* const it = static_cast<const Iterator*>(iterator);
  *size = it->at->first.size();
  return it->at->first.data();
}
const char* leveldb_iter_value(const void* iterator, size_t* size) {
  const Iterator* const it = static_cast<const Iterator*>(iterator);
  *size = it->at->second.size();
  return it->at->second.data();
}
void leveldb_iter_get_error(const void*, char**) {}
const void* leveldb_create_snapshot(void* db) { return new Map(static_cast<Store*>(db)->map); }
void leveldb_release_snapshot(void*, const void* snapshot) { delete static_cast<const Map*>(snapshot); }
char* leveldb_property_value(void*, const char*) { return nullptr; }
void leveldb_compact_range(void* db, const char*, size_t, const char*, size_t) {
  Store* const store = static_cast<Store*>(db);
  std::ofstream(store->path + "/calls", std::ios::app) << "compaction\n";
  store->is_broken = Has("compact");
}
void leveldb_approximate_sizes(void*, int, const char* const*, const size_t*, const char* const*, const size_t*,
                               uint64_t*) {}

void rocksdb_options_create() {}
void rocksdb_options_destroy() {}
void rocksdb_options_set_create_if_missing() {}
void rocksdb_options_set_error_if_exists() {}
void rocksdb_options_set_paranoid_checks() {}
void rocksdb_options_set_comparator() {}
void rocksdb_comparator_create() {}
void rocksdb_comparator_destroy() {}
void rocksdb_readoptions_create() {}
void rocksdb_readoptions_destroy() {}
void rocksdb_readoptions_set_verify_checksums() {}
void rocksdb_readoptions_set_fill_cache() {}
void rocksdb_readoptions_set_snapshot() {}
void rocksdb_writeoptions_create() {}
void rocksdb_writeoptions_destroy() {}
void rocksdb_writeoptions_set_sync() {}
void rocksdb_close() {}
void rocksdb_destroy_db() {}
void rocksdb_free() {}
void rocksdb_write() {}
void rocksdb_writebatch_create() {}
void rocksdb_writebatch_destroy() {}
void rocksdb_writebatch_clear() {}
void rocksdb_iter_destroy() {}
void rocksdb_iter_valid() {}
void rocksdb_iter_seek_to_first() {}
void rocksdb_iter_seek_to_last() {}
void rocksdb_iter_seek() {}
void rocksdb_iter_next() {}
void rocksdb_iter_prev() {}
void rocksdb_iter_key() {}
void rocksdb_iter_value() {}
void rocksdb_iter_get_error() {}
void rocksdb_create_snapshot() {}
void rocksdb_release_snapshot() {}
void rocksdb_property_value() {}
void rocksdb_compact_range() {}
void rocksdb_get_options_from_string() {}
void rocksdb_options_set_wal_recovery_mode() {}
void rocksdb_open_column_families() {}
void rocksdb_open_for_read_only_column_families() {}
void rocksdb_list_column_families() {}
void rocksdb_list_column_families_destroy() {}
void rocksdb_column_family_handle_destroy() {}
void rocksdb_put_cf() {}
void rocksdb_merge_cf() {}
void rocksdb_delete_cf() {}
void rocksdb_get_cf() {}
void rocksdb_writebatch_put_cf() {}
void rocksdb_writebatch_merge_cf() {}
void rocksdb_writebatch_delete_cf() {}
void rocksdb_create_iterator_cf() {}
void rocksdb_writeoptions_disable_WAL() {}
void rocksdb_flush() {}
void rocksdb_compact_range_cf() {}
void rocksdb_property_value_cf() {}
void rocksdb_flushoptions_create() {}
void rocksdb_flushoptions_destroy() {}
void rocksdb_options_enable_statistics() {}
void rocksdb_options_statistics_get_string() {}

}  // extern "C"
