#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "leveldb/c.h"
#include "miodb/comparator.h"
#include "src/c_api/c_types.h"
#include "src/db/options_check.h"
#include "src/util/no_throw.h"

// The functions of LevelDB's C API, in the order of its header. Each unpacks its C types, makes one call of the C++
// API, and packs what comes back. What a program gets as a pointer it frees: strings and values with leveldb_free,
// objects with their own destroy. Errors go into *errptr as text, since C has no Status; a function without one has no
// error to tell, or swallows it.
//
// Threads, lifetimes and what a crash leaves are those of the C++ calls.

using miodb::CopyForC;
using miodb::SaveError;
using miodb::Slice;
using miodb::Status;

namespace miodb {

// The copy is from malloc, since programs free what they get with leveldb_free or free. The zero behind the bytes is
// LevelDB's promise for properties, and does no harm elsewhere.
char* CopyForC(const Slice& bytes) {
  char* const copy = static_cast<char*>(malloc(bytes.size() + 1));
  if (copy == nullptr) abort();  // C has no way to tell
  memcpy(copy, bytes.data(), bytes.size());
  copy[bytes.size()] = '\0';
  return copy;
}

// An error that was there before is replaced, as the header of LevelDB says; *errptr has to be NULL or from malloc. A
// success leaves it alone.
bool SaveError(char** errptr, const Status& s) {
  if (s.ok()) return false;
  free(*errptr);
  const auto copy = [&] {
    *errptr = CopyForC(s.ToString());
    return Status::OK();
  };
  if (!NoThrow("error", copy).ok()) *errptr = CopyForC("out of memory");
  return true;
}

namespace {

// Calls two functions of C for the updates of a batch.
class CHandler final : public WriteBatch::Handler {
 public:
  using PutFunction = void (*)(void*, const char* k, size_t klen, const char* v, size_t vlen);
  using DeleteFunction = void (*)(void*, const char* k, size_t klen);

  CHandler(void* state, PutFunction put, DeleteFunction deleted) : state_(state), put_(put), deleted_(deleted) {}

  void Put(const Slice& key, const Slice& value) override {
    put_(state_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const Slice& key) override { deleted_(state_, key.data(), key.size()); }

 private:
  void* const state_;
  const PutFunction put_;
  const DeleteFunction deleted_;
};

}  // namespace
}  // namespace miodb

// A comparator of C's functions. The destructor is called when the comparator is destroyed, whichever database used
// it; that must be closed by then.
struct leveldb_comparator_t final : public miodb::Comparator {
  using CompareFunction = int (*)(void*, const char* a, size_t alen, const char* b, size_t blen);

  leveldb_comparator_t(void* s, void (*d)(void*), CompareFunction c, const char* (*n)(void*))
      : state(s), destructor(d), compare(c), name(n) {}
  ~leveldb_comparator_t() override { destructor(state); }

  int Compare(const Slice& a, const Slice& b) const override {
    return compare(state, a.data(), a.size(), b.data(), b.size());
  }
  const char* Name() const override { return name(state); }
  // C comparators cannot shorten keys.
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  void* const state;
  void (*const destructor)(void*);
  const CompareFunction compare;
  const char* (*const name)(void*);
};

// Two kinds of policies are behind one type of C: functions of the program's, and the library's own filter.
struct leveldb_filterpolicy_t : public miodb::FilterPolicy {};

namespace miodb {
namespace {

// A filter policy whose functions are C's.
class CFilterPolicy final : public leveldb_filterpolicy_t {
 public:
  using CreateFunction = char* (*)(void*, const char* const* key_array, const size_t* key_length_array, int num_keys,
                                   size_t* filter_length);
  using MatchFunction = uint8_t (*)(void*, const char* key, size_t length, const char* filter, size_t filter_length);

  CFilterPolicy(void* state, void (*destructor)(void*), CreateFunction create, MatchFunction match,
                const char* (*name)(void*))
      : state_(state), destructor_(destructor), create_(create), match_(match), name_(name) {}
  ~CFilterPolicy() override { destructor_(state_); }

  const char* Name() const override { return name_(state_); }

  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::vector<const char*> pointers;
    std::vector<size_t> lengths;
    pointers.reserve(static_cast<size_t>(n));
    lengths.reserve(static_cast<size_t>(n));
    for (int i = 0; i < n; i++) {
      pointers.push_back(keys[i].data());
      lengths.push_back(keys[i].size());
    }
    size_t length = 0;
    char* const filter = create_(state_, pointers.data(), lengths.data(), n, &length);
    dst->append(filter, length);
    free(filter);
  }

  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return match_(state_, key.data(), key.size(), filter.data(), filter.size()) != 0;
  }

 private:
  void* const state_;
  void (*const destructor_)(void*);
  const CreateFunction create_;
  const MatchFunction match_;
  const char* (*const name_)(void*);
};

// The library's Bloom filter in the type that C knows.
class CBloomPolicy final : public leveldb_filterpolicy_t {
 public:
  explicit CBloomPolicy(int bits_per_key) : bloom_(NewBloomFilterPolicy(bits_per_key)) {}

  const char* Name() const override { return bloom_->Name(); }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override { bloom_->CreateFilter(keys, n, dst); }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override { return bloom_->KeyMayMatch(key, filter); }

 private:
  const std::unique_ptr<const FilterPolicy> bloom_;
};

}  // namespace
}  // namespace miodb

extern "C" {

// ---- Database. ----

// The write buffer is clipped to LevelDB's range, as LevelDB does it without a word: a program that was written for it
// may rely on that.
leveldb_t* leveldb_open(const leveldb_options_t* options, const char* name, char** errptr) {
  miodb::DB* db = nullptr;
  const Status opened = miodb::NoThrow(name, [&] {
    miodb::Options clipped = options->rep;
    miodb::ClipAsLevelDB(&clipped);
    return miodb::DB::Open(clipped, name, &db);
  });
  if (SaveError(errptr, opened)) return nullptr;
  auto* const handle = new (std::nothrow) leveldb_t{db};
  if (handle == nullptr) {
    delete db;
    SaveError(errptr, Status::IOError(name, "out of memory"));
  }
  return handle;
}

// Iterators, snapshots and pinned values are gone by now, as in C++: nothing here counts them.
void leveldb_close(leveldb_t* db) {
  delete db->rep;
  delete db;
}

void leveldb_put(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen, const char* val,
                 size_t vallen, char** errptr) {
  SaveError(errptr, db->rep->Put(options->rep, Slice(key, keylen), Slice(val, vallen)));
}

void leveldb_delete(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                    char** errptr) {
  SaveError(errptr, db->rep->Delete(options->rep, Slice(key, keylen)));
}

void leveldb_write(leveldb_t* db, const leveldb_writeoptions_t* options, leveldb_writebatch_t* batch, char** errptr) {
  SaveError(errptr, db->rep->Write(options->rep, &batch->rep));
}

char* leveldb_get(leveldb_t* db, const leveldb_readoptions_t* options, const char* key, size_t keylen, size_t* vallen,
                  char** errptr) {
  *vallen = 0;
  miodb::PinnableSlice value;  // saves one of two copies
  const Status s = db->rep->Get(options->rep, Slice(key, keylen), &value);
  if (!s.ok()) {
    if (!s.IsNotFound()) SaveError(errptr, s);
    return nullptr;
  }
  *vallen = value.size();
  return CopyForC(value);
}

// Never NULL: an iterator that could not be made has its error in leveldb_iter_get_error.
leveldb_iterator_t* leveldb_create_iterator(leveldb_t* db, const leveldb_readoptions_t* options) {
  return new leveldb_iterator_t{db->rep->NewIterator(options->rep)};
}

// Without memory for a snapshot its rep is null, and reads made with it see the newest state.
const leveldb_snapshot_t* leveldb_create_snapshot(leveldb_t* db) {
  return new leveldb_snapshot_t{db->rep->GetSnapshot()};
}

void leveldb_release_snapshot(leveldb_t* db, const leveldb_snapshot_t* snapshot) {
  db->rep->ReleaseSnapshot(snapshot->rep);
  delete snapshot;
}

char* leveldb_property_value(leveldb_t* db, const char* propname) {
  std::string value;
  return db->rep->GetProperty(propname, &value) ? CopyForC(value) : nullptr;
}

// A range at a time, so that C arrays need no copy into an array of ranges, for which there might be no memory.
void leveldb_approximate_sizes(leveldb_t* db, int num_ranges, const char* const* range_start_key,
                               const size_t* range_start_key_len, const char* const* range_limit_key,
                               const size_t* range_limit_key_len, uint64_t* sizes) {
  for (int i = 0; i < num_ranges; i++) {
    const miodb::Range range(Slice(range_start_key[i], range_start_key_len[i]),
                             Slice(range_limit_key[i], range_limit_key_len[i]));
    db->rep->GetApproximateSizes(&range, 1, &sizes[i]);
  }
}

void leveldb_compact_range(leveldb_t* db, const char* start_key, size_t start_key_len, const char* limit_key,
                           size_t limit_key_len) {
  const Slice start(start_key, start_key_len);
  const Slice limit(limit_key, limit_key_len);
  db->rep->CompactRange(start_key == nullptr ? nullptr : &start, limit_key == nullptr ? nullptr : &limit);
}

// ---- Databases that are not open. ----

void leveldb_destroy_db(const leveldb_options_t* options, const char* name, char** errptr) {
  SaveError(errptr, miodb::NoThrow(name, [&] { return miodb::DestroyDB(name, options->rep); }));
}

void leveldb_repair_db(const leveldb_options_t* options, const char* name, char** errptr) {
  SaveError(errptr, miodb::NoThrow(name, [&] { return miodb::RepairDB(name, options->rep); }));
}

// ---- Iterators. ----

void leveldb_iter_destroy(leveldb_iterator_t* iter) {
  delete iter->rep;
  delete iter;
}

uint8_t leveldb_iter_valid(const leveldb_iterator_t* iter) { return iter->rep->Valid(); }
void leveldb_iter_seek_to_first(leveldb_iterator_t* iter) { iter->rep->SeekToFirst(); }
void leveldb_iter_seek_to_last(leveldb_iterator_t* iter) { iter->rep->SeekToLast(); }
void leveldb_iter_seek(leveldb_iterator_t* iter, const char* k, size_t klen) { iter->rep->Seek(Slice(k, klen)); }
void leveldb_iter_next(leveldb_iterator_t* iter) { iter->rep->Next(); }
void leveldb_iter_prev(leveldb_iterator_t* iter) { iter->rep->Prev(); }

const char* leveldb_iter_key(const leveldb_iterator_t* iter, size_t* klen) {
  const Slice key = iter->rep->key();
  *klen = key.size();
  return key.data();
}

const char* leveldb_iter_value(const leveldb_iterator_t* iter, size_t* vlen) {
  const Slice value = iter->rep->value();
  *vlen = value.size();
  return value.data();
}

void leveldb_iter_get_error(const leveldb_iterator_t* iter, char** errptr) { SaveError(errptr, iter->rep->status()); }

// ---- Batches. ----

leveldb_writebatch_t* leveldb_writebatch_create() { return new leveldb_writebatch_t; }
void leveldb_writebatch_destroy(leveldb_writebatch_t* batch) { delete batch; }
void leveldb_writebatch_clear(leveldb_writebatch_t* batch) { batch->rep.Clear(); }

void leveldb_writebatch_put(leveldb_writebatch_t* batch, const char* key, size_t klen, const char* val, size_t vlen) {
  batch->rep.Put(Slice(key, klen), Slice(val, vlen));
}

void leveldb_writebatch_delete(leveldb_writebatch_t* batch, const char* key, size_t klen) {
  batch->rep.Delete(Slice(key, klen));
}

void leveldb_writebatch_iterate(const leveldb_writebatch_t* batch, void* state,
                                void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen),
                                void (*deleted)(void*, const char* k, size_t klen)) {
  miodb::CHandler handler(state, put, deleted);
  batch->rep.Iterate(&handler).IgnoreError();  // C makes no damaged batches, and the function has no way to tell
}

void leveldb_writebatch_append(leveldb_writebatch_t* destination, const leveldb_writebatch_t* source) {
  destination->rep.Append(source->rep);
}

// ---- Options. ----

leveldb_options_t* leveldb_options_create() { return new leveldb_options_t; }
void leveldb_options_destroy(leveldb_options_t* options) { delete options; }

void leveldb_options_set_comparator(leveldb_options_t* options, leveldb_comparator_t* comparator) {
  options->rep.comparator = comparator == nullptr ? miodb::BytewiseComparator() : comparator;
}

void leveldb_options_set_filter_policy(leveldb_options_t* options, leveldb_filterpolicy_t* policy) {
  options->rep.filter_policy = policy;
}

void leveldb_options_set_create_if_missing(leveldb_options_t* options, uint8_t v) {
  options->rep.create_if_missing = v != 0;
}

void leveldb_options_set_error_if_exists(leveldb_options_t* options, uint8_t v) {
  options->rep.error_if_exists = v != 0;
}

void leveldb_options_set_paranoid_checks(leveldb_options_t* options, uint8_t v) {
  options->rep.paranoid_checks = v != 0;
}

void leveldb_options_set_env(leveldb_options_t* options, leveldb_env_t* env) {
  options->rep.env = env == nullptr ? miodb::Env::Default() : env->rep;
}

void leveldb_options_set_info_log(leveldb_options_t* options, leveldb_logger_t* logger) {
  options->rep.info_log = logger == nullptr ? nullptr : logger->rep;
}

void leveldb_options_set_write_buffer_size(leveldb_options_t* options, size_t s) { options->rep.write_buffer_size = s; }
void leveldb_options_set_max_open_files(leveldb_options_t* options, int n) { options->rep.max_open_files = n; }

void leveldb_options_set_cache(leveldb_options_t* options, leveldb_cache_t* cache) {
  options->rep.block_cache = cache == nullptr ? nullptr : cache->rep;
}

void leveldb_options_set_block_size(leveldb_options_t* options, size_t s) { options->rep.block_size = s; }

void leveldb_options_set_block_restart_interval(leveldb_options_t* options, int n) {
  options->rep.block_restart_interval = n;
}

void leveldb_options_set_max_file_size(leveldb_options_t* options, size_t s) { options->rep.max_file_size = s; }

void leveldb_options_set_compression(leveldb_options_t* options, int t) {
  options->rep.compression = static_cast<miodb::CompressionType>(t);
}

// ---- Comparators and filter policies. ----

leveldb_comparator_t* leveldb_comparator_create(void* state, void (*destructor)(void*),
                                                int (*compare)(void*, const char* a, size_t alen, const char* b,
                                                               size_t blen),
                                                const char* (*name)(void*)) {
  return new leveldb_comparator_t(state, destructor, compare, name);
}

void leveldb_comparator_destroy(leveldb_comparator_t* comparator) { delete comparator; }

leveldb_filterpolicy_t* leveldb_filterpolicy_create(void* state, void (*destructor)(void*),
                                                    char* (*create_filter)(void*, const char* const* key_array,
                                                                           const size_t* key_length_array, int num_keys,
                                                                           size_t* filter_length),
                                                    uint8_t (*key_may_match)(void*, const char* key, size_t length,
                                                                             const char* filter, size_t filter_length),
                                                    const char* (*name)(void*)) {
  return new miodb::CFilterPolicy(state, destructor, create_filter, key_may_match, name);
}

void leveldb_filterpolicy_destroy(leveldb_filterpolicy_t* policy) { delete policy; }

leveldb_filterpolicy_t* leveldb_filterpolicy_create_bloom(int bits_per_key) {
  return new miodb::CBloomPolicy(bits_per_key);
}

// ---- Options of reads and writes. ----

leveldb_readoptions_t* leveldb_readoptions_create() { return new leveldb_readoptions_t; }
void leveldb_readoptions_destroy(leveldb_readoptions_t* options) { delete options; }

void leveldb_readoptions_set_verify_checksums(leveldb_readoptions_t* options, uint8_t v) {
  options->rep.verify_checksums = v != 0;
}

void leveldb_readoptions_set_fill_cache(leveldb_readoptions_t* options, uint8_t v) { options->rep.fill_cache = v != 0; }

void leveldb_readoptions_set_snapshot(leveldb_readoptions_t* options, const leveldb_snapshot_t* snapshot) {
  options->rep.snapshot = snapshot == nullptr ? nullptr : snapshot->rep;
}

leveldb_writeoptions_t* leveldb_writeoptions_create() { return new leveldb_writeoptions_t; }
void leveldb_writeoptions_destroy(leveldb_writeoptions_t* options) { delete options; }
void leveldb_writeoptions_set_sync(leveldb_writeoptions_t* options, uint8_t v) { options->rep.sync = v != 0; }

// ---- Caches and environments. ----

leveldb_cache_t* leveldb_cache_create_lru(size_t capacity) { return new leveldb_cache_t{miodb::NewLRUCache(capacity)}; }

void leveldb_cache_destroy(leveldb_cache_t* cache) {
  delete cache->rep;
  delete cache;
}

// The Env behind it is the library's and stays when this is destroyed.
leveldb_env_t* leveldb_create_default_env() { return new leveldb_env_t{miodb::Env::Default()}; }
void leveldb_env_destroy(leveldb_env_t* env) { delete env; }

char* leveldb_env_get_test_directory(leveldb_env_t* env) {
  std::string path;
  return env->rep->GetTestDirectory(&path).ok() ? CopyForC(path) : nullptr;
}

// ---- Other. ----

void leveldb_free(void* ptr) { free(ptr); }
// The version is that of the LevelDB whose interface this is; miodb_major_version says whose library it is.
int leveldb_major_version() { return 1; }
int leveldb_minor_version() { return 23; }

}  // extern "C"
