#include <cstdlib>
#include <cstring>
#include <memory>

#include "leveldb/c.h"
#include "miodb/comparator.h"
#include "src/c_api/c_types.h"
#include "src/db/context/options_check.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// The functions of LevelDB's C API, in the order of its header; most of those of options are in options_c.cc. Each
// unpacks its C types, makes one call of the C++ API, and packs what comes back. A program frees every pointer that it
// gets: strings and values with leveldb_free, objects with their own destroy. Errors go into *errptr as text, since C
// has no Status; a function without one has no error to tell, or swallows it.
//
// Threads, lifetimes and the state after a crash are those of the C++ calls.

using miodb::CopyForC;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Slice;
using miodb::Status;
using miodb::ValueForC;

namespace miodb {

// The copy is from malloc, since programs free what they get with leveldb_free or free. The zero behind the bytes is
// LevelDB's promise for properties, and does no harm elsewhere.
char* CopyForC(const Slice& bytes) {
  DCHECK(bytes.data() != nullptr);
  char* const copy = static_cast<char*>(malloc(bytes.size() + 1));
  if (copy == nullptr) abort();  // C has no way to tell
  memcpy(copy, bytes.data(), bytes.size());
  copy[bytes.size()] = '\0';
  return copy;
}

// An error that was there before is replaced, as the header of LevelDB says; *errptr has to be NULL or from malloc. A
// success leaves it alone.
bool SaveError(char** errptr, const Status& s) {
  DCHECK(errptr != nullptr);
  if (s.ok()) return false;
  free(*errptr);
  const auto copy = [&] {
    *errptr = CopyForC(s.ToString());
    return Status::OK();
  };
  if (!NoThrow("error", copy).ok()) *errptr = CopyForC("out of memory");
  DCHECK(*errptr != nullptr);  // C knows by it that there was an error
  return true;
}

bool Found(const Status& s, char** errptr) {
  if (!s.ok() && !s.IsNotFound()) SaveError(errptr, s);
  return s.ok();
}

// The length is written also where no value is found: a caller that looks at it alone must not see an old one.
char* ValueForC(const Status& s, const Slice& value, size_t* vallen, char** errptr) {
  DCHECK(vallen != nullptr);
  const bool found = Found(s, errptr);
  *vallen = found ? value.size() : 0;
  return found ? CopyForC(value) : nullptr;
}

namespace {

// Calls two functions of C for the updates of a batch that LevelDB has, in their order, and goes on over the others: a
// function that gets a key alone cannot tell an operand, a range or another family. Keys and values are the batch's
// bytes, for the length of the call.
class CHandler final : public WriteBatch::Handler {
 public:
  using PutFunction = void (*)(void*, const char* k, size_t klen, const char* v, size_t vlen);
  using DeleteFunction = void (*)(void*, const char* k, size_t klen);

  CHandler(void* state, PutFunction put, DeleteFunction deleted) : state_(state), put_(put), deleted_(deleted) {}

  void Put(const Slice& key, const Slice& value) override {
    put_(state_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const Slice& key) override { deleted_(state_, key.data(), key.size()); }
  Status SingleDelete(const Slice& key) override {
    Delete(key);
    return Status::OK();
  }
  Status Merge(const Slice&, const Slice&) override { return Status::OK(); }
  Status DeleteRange(const Slice&, const Slice&) override { return Status::OK(); }
  Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status SingleDeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }

 private:
  void* const state_;
  const PutFunction put_;
  const DeleteFunction deleted_;
};

}  // namespace
}  // namespace miodb

// A comparator of C's functions. The destructor is called when the comparator is destroyed, whichever database used
// it; that must be closed by then.
struct leveldb_comparator_t final : public miodb::Comparator, private miodb::CState {
  using CompareFunction = int (*)(void*, const char* a, size_t alen, const char* b, size_t blen);

  leveldb_comparator_t(void* s, void (*d)(void*), CompareFunction c, const char* (*n)(void*))
      : CState(s, d), compare(c), name(n) {
    DCHECK(compare != nullptr && name != nullptr);
  }

  int Compare(const Slice& a, const Slice& b) const override {
    return compare(state_, a.data(), a.size(), b.data(), b.size());
  }
  const char* Name() const override { return name(state_); }
  // C comparators cannot shorten keys.
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  const CompareFunction compare;
  const char* (*const name)(void*);
};

// Two kinds of policies are behind one type of C: functions of the program's, and the library's own filter.
struct leveldb_filterpolicy_t : public miodb::FilterPolicy {};

namespace miodb {
namespace {

// A filter policy whose functions are C's.
class CFilterPolicy final : public leveldb_filterpolicy_t, private CState {
 public:
  using CreateFunction = char* (*)(void*, const char* const* key_array, const size_t* key_length_array, int num_keys,
                                   size_t* filter_length);
  using MatchFunction = uint8_t (*)(void*, const char* key, size_t length, const char* filter, size_t filter_length);

  CFilterPolicy(void* state, void (*destructor)(void*), CreateFunction create, MatchFunction match,
                const char* (*name)(void*))
      : CState(state, destructor), create_(create), match_(match), name_(name) {
    DCHECK(name_ != nullptr);
  }

  const char* Name() const override { return name_(state_); }

  // The program's filter is memory from malloc that is given up to the library.
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    CHECK_GE(n, 0);
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
  DCHECK(name != nullptr);
  return miodb::NewHandle<leveldb_t>(name, errptr, [&](miodb::DB** db) {
    miodb::Options clipped = RepOf(options);
    miodb::ClipAsLevelDB(&clipped);
    return miodb::DB::Open(clipped, name, db);
  });
}

// Iterators, snapshots and pinned values are gone by now, as in C++: nothing here counts them.
void leveldb_close(leveldb_t* db) {
  CHECK(db != nullptr);
  delete RepOf(db);
  delete db;
}

// Key and value are the caller's again when a write returns.
void leveldb_put(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen, const char* val,
                 size_t vallen, char** errptr) {
  SaveError(errptr, RepOf(db)->Put(RepOf(options), Slice(key, keylen), Slice(val, vallen)));
}

void leveldb_delete(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                    char** errptr) {
  SaveError(errptr, RepOf(db)->Delete(RepOf(options), Slice(key, keylen)));
}

// The batch is applied whole or not at all, and can be used again.
void leveldb_write(leveldb_t* db, const leveldb_writeoptions_t* options, leveldb_writebatch_t* batch, char** errptr) {
  SaveError(errptr, RepOf(db)->Write(RepOf(options), &RepOf(batch)));
}

// NULL is a miss or an error: *errptr tells which.
char* leveldb_get(leveldb_t* db, const leveldb_readoptions_t* options, const char* key, size_t keylen, size_t* vallen,
                  char** errptr) {
  DCHECK(vallen != nullptr);
  miodb::PinnableSlice value;  // saves one of two copies
  const Status s = RepOf(db)->Get(RepOf(options), Slice(key, keylen), &value);
  return ValueForC(s, value, vallen, errptr);
}

// Never NULL: an iterator that could not be made has its error in leveldb_iter_get_error.
leveldb_iterator_t* leveldb_create_iterator(leveldb_t* db, const leveldb_readoptions_t* options) {
  miodb::Iterator* const iterator = RepOf(db)->NewIterator(RepOf(options));
  CHECK(iterator != nullptr);
  return new leveldb_iterator_t{iterator};
}

// Without memory for a snapshot its rep is null, and reads made with it see the newest state.
const leveldb_snapshot_t* leveldb_create_snapshot(leveldb_t* db) {
  return new leveldb_snapshot_t{RepOf(db)->GetSnapshot()};
}

// The handle goes with the snapshot, also one whose rep is null: then there is nothing to release behind it.
void leveldb_release_snapshot(leveldb_t* db, const leveldb_snapshot_t* snapshot) {
  CHECK(snapshot != nullptr);
  RepOf(db)->ReleaseSnapshot(RepOf(snapshot));
  delete snapshot;
}

// A copy for the caller to free; NULL if there is no such property.
char* leveldb_property_value(leveldb_t* db, const char* propname) {
  std::string value;
  return RepOf(db)->GetProperty(propname, &value) ? CopyForC(value) : nullptr;
}

// A range at a time, so that C arrays need no copy into an array of ranges, for which there might be no memory.
void leveldb_approximate_sizes(leveldb_t* db, int num_ranges, const char* const* range_start_key,
                               const size_t* range_start_key_len, const char* const* range_limit_key,
                               const size_t* range_limit_key_len, uint64_t* sizes) {
  CHECK(num_ranges <= 0 || sizes != nullptr);
  for (int i = 0; i < num_ranges; i++) {
    const miodb::Range range(Slice(range_start_key[i], range_start_key_len[i]),
                             Slice(range_limit_key[i], range_limit_key_len[i]));
    RepOf(db)->GetApproximateSizes(&range, 1, &sizes[i]);
  }
}

// A NULL key has no length that counts: the range is open at that end.
void leveldb_compact_range(leveldb_t* db, const char* start_key, size_t start_key_len, const char* limit_key,
                           size_t limit_key_len) {
  const Slice start(start_key, start_key_len);
  const Slice limit(limit_key, limit_key_len);
  RepOf(db)->CompactRange(start_key == nullptr ? nullptr : &start, limit_key == nullptr ? nullptr : &limit);
}

// ---- Databases that are not open. ----

// The database is closed, by everybody: whoever has it open holds its lock, and the call fails.
void leveldb_destroy_db(const leveldb_options_t* options, const char* name, char** errptr) {
  DCHECK(name != nullptr);
  SaveError(errptr, miodb::NoThrow(name, [&] { return miodb::DestroyDB(name, RepOf(options)); }));
}

// The file LOST names the records that could not be saved; lost records are no error of the call.
void leveldb_repair_db(const leveldb_options_t* options, const char* name, char** errptr) {
  DCHECK(name != nullptr);
  SaveError(errptr, miodb::NoThrow(name, [&] { return miodb::RepairDB(name, RepOf(options)); }));
}

// ---- Iterators. ----

void leveldb_iter_destroy(leveldb_iterator_t* iter) {
  CHECK(iter != nullptr);
  delete RepOf(iter);
  delete iter;
}

// Moves change the iterator and nothing else. If the iterator is not valid after a move, leveldb_iter_get_error has the
// error.
uint8_t leveldb_iter_valid(const leveldb_iterator_t* iter) { return RepOf(iter)->Valid(); }
void leveldb_iter_seek_to_first(leveldb_iterator_t* iter) { RepOf(iter)->SeekToFirst(); }
void leveldb_iter_seek_to_last(leveldb_iterator_t* iter) { RepOf(iter)->SeekToLast(); }
void leveldb_iter_seek(leveldb_iterator_t* iter, const char* k, size_t klen) { RepOf(iter)->Seek(Slice(k, klen)); }
void leveldb_iter_next(leveldb_iterator_t* iter) { RepOf(iter)->Next(); }
void leveldb_iter_prev(leveldb_iterator_t* iter) { RepOf(iter)->Prev(); }

// Key and value belong to the iterator and go with its next move.
const char* leveldb_iter_key(const leveldb_iterator_t* iter, size_t* klen) {
  DCHECK(klen != nullptr);
  const Slice key = RepOf(iter)->key();
  *klen = key.size();
  return key.data();
}

const char* leveldb_iter_value(const leveldb_iterator_t* iter, size_t* vlen) {
  DCHECK(vlen != nullptr);
  const Slice value = RepOf(iter)->value();
  *vlen = value.size();
  return value.data();
}

// An iterator that is at its end has no error; one that met damage, or was opened before fork(), has.
void leveldb_iter_get_error(const leveldb_iterator_t* iter, char** errptr) { SaveError(errptr, RepOf(iter)->status()); }

// ---- Batches. ----

// A batch belongs to the program before and after it was written, which does not change it.
leveldb_writebatch_t* leveldb_writebatch_create() { return new leveldb_writebatch_t; }
void leveldb_writebatch_destroy(leveldb_writebatch_t* batch) { delete batch; }
void leveldb_writebatch_clear(leveldb_writebatch_t* batch) { RepOf(batch).Clear(); }

void leveldb_writebatch_put(leveldb_writebatch_t* batch, const char* key, size_t klen, const char* val, size_t vlen) {
  RepOf(batch).Put(Slice(key, klen), Slice(val, vlen));
}

void leveldb_writebatch_delete(leveldb_writebatch_t* batch, const char* key, size_t klen) {
  RepOf(batch).Delete(Slice(key, klen));
}

void leveldb_writebatch_iterate(const leveldb_writebatch_t* batch, void* state,
                                void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen),
                                void (*deleted)(void*, const char* k, size_t klen)) {
  miodb::CHandler handler(state, put, deleted);
  RepOf(batch).Iterate(&handler).IgnoreError();  // C makes no damaged batches, and the function has no way to tell
}

// The two may be the same batch, whose updates are then there twice.
void leveldb_writebatch_append(leveldb_writebatch_t* destination, const leveldb_writebatch_t* source) {
  DCHECK(destination != nullptr && source != nullptr);
  RepOf(destination).Append(RepOf(source));
}

// ---- Comparators and filter policies, and the options that name them. ----

void leveldb_options_set_comparator(leveldb_options_t* options, leveldb_comparator_t* comparator) {
  RepOf(options).comparator = comparator == nullptr ? miodb::BytewiseComparator() : comparator;
}

void leveldb_options_set_filter_policy(leveldb_options_t* options, leveldb_filterpolicy_t* policy) {
  RepOf(options).filter_policy = policy;
}

// Functions of C are called by any thread, several at once; state is theirs to guard.
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

// The library's own policy; LevelDB reads its filters too.
leveldb_filterpolicy_t* leveldb_filterpolicy_create_bloom(int bits_per_key) {
  return new miodb::CBloomPolicy(bits_per_key);
}

// ---- Caches and environments. ----

leveldb_cache_t* leveldb_cache_create_lru(size_t capacity) { return new leveldb_cache_t{miodb::NewLRUCache(capacity)}; }

// Databases that use the cache are closed before.
void leveldb_cache_destroy(leveldb_cache_t* cache) {
  CHECK(cache != nullptr);
  delete RepOf(cache);
  delete cache;
}

// The Env behind it is the library's and stays when this is destroyed.
leveldb_env_t* leveldb_create_default_env() { return new leveldb_env_t{miodb::Env::Default()}; }
void leveldb_env_destroy(leveldb_env_t* env) { delete env; }

char* leveldb_env_get_test_directory(leveldb_env_t* env) {
  CHECK(env != nullptr);
  std::string path;
  return RepOf(env)->GetTestDirectory(&path).ok() ? CopyForC(path) : nullptr;
}

// ---- Other. ----

void leveldb_free(void* ptr) { free(ptr); }
// The version is that of the LevelDB whose interface this is; miodb_major_version says whose library it is.
int leveldb_major_version() { return 1; }
int leveldb_minor_version() { return 23; }

}  // extern "C"
