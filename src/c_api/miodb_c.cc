#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "miodb/c.h"
#include "miodb/dumpfile.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// The functions that MioDB adds to LevelDB's C API, in the order of its header; those of options are in options_c.cc.

using miodb::CopyForC;
using miodb::Found;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Slice;
using miodb::Status;

namespace {

// Dumps into *text, which is deleted: an error of its Close is one of the dump.
Status DumpInto(miodb::Env* env, const char* fname, miodb::WritableFile* text) {
  CHECK(text != nullptr);
  const std::unique_ptr<miodb::WritableFile> owned(text);
  const Status s = miodb::DumpFile(env, fname, text);
  const Status closed = text->Close();
  return s.ok() ? closed : s;
}

}  // namespace

extern "C" {

// ---- Version. In libleveldb db.h does not say it, so it comes from the build. ----

int miodb_major_version() { return MIODB_VERSION_MAJOR; }
int miodb_minor_version() { return MIODB_VERSION_MINOR; }

// ---- Pinned values. ----

// NULL without an error means that the key is not there, so a program that does not look at the error takes damage for
// a missing key: it has to look.
miodb_pinnedslice_t* miodb_get_pinned(leveldb_t* db, const leveldb_readoptions_t* options, const char* key,
                                      size_t keylen, char** errptr) {
  auto value = std::make_unique<miodb_pinnedslice_t>();
  const Status s = RepOf(db)->Get(RepOf(options), Slice(key, keylen), &value->rep);
  return Found(s, errptr) ? value.release() : nullptr;
}

// The bytes belong to the slice and lie where the database has them, until miodb_pinnedslice_destroy.
const char* miodb_pinnedslice_value(const miodb_pinnedslice_t* slice, size_t* vallen) {
  DCHECK(slice != nullptr && vallen != nullptr);
  *vallen = RepOf(slice).size();
  return RepOf(slice).data();
}

void miodb_pinnedslice_destroy(miodb_pinnedslice_t* slice) { delete slice; }

// ---- Many gets. ----

void miodb_multi_get(leveldb_t* db, const leveldb_readoptions_t* options, size_t num_keys, const char* const* keys,
                     const size_t* keylens, char** values, size_t* vallens, char** errors) {
  miodb_multi_get_cf(db, options, nullptr, num_keys, keys, keylens, values, vallens, errors);
}

// A slice that was made stays the caller's also if there is no memory for the next one, which then gets the error.
void miodb_multi_get_pinned(leveldb_t* db, const leveldb_readoptions_t* options, size_t num_keys,
                            const char* const* keys, const size_t* keylens, miodb_pinnedslice_t** slices,
                            char** errors) {
  DCHECK(num_keys == 0 || (keys != nullptr && keylens != nullptr && slices != nullptr && errors != nullptr));
  std::fill(slices, slices + num_keys, nullptr);
  std::fill(errors, errors + num_keys, nullptr);
  std::vector<miodb::PinnableSlice> found;
  std::vector<Status> statuses;
  const Status called = miodb::NoThrow("MultiGet", [&] {
    std::vector<Slice> looked_for;
    for (size_t i = 0; i < num_keys; i++) looked_for.emplace_back(keys[i], keylens[i]);
    statuses = RepOf(db)->MultiGet(RepOf(options), looked_for, &found);
    if (statuses.size() != num_keys) return Status::IOError("MultiGet", "out of memory");
    for (size_t i = 0; i < num_keys; i++) {
      if (statuses[i].ok()) slices[i] = new miodb_pinnedslice_t{std::move(found[i])};
    }
    return Status::OK();
  });
  for (size_t i = 0; i < num_keys; i++) {
    Found(called.ok() || slices[i] != nullptr ? statuses[i] : called, &errors[i]);
  }
}

// Without memory for a copy the value counts as not found, which is no error.
uint8_t miodb_key_may_exist(leveldb_t* db, const leveldb_readoptions_t* options, const char* key, size_t keylen,
                            char** value, size_t* vallen) {
  DCHECK(key != nullptr || keylen == 0);
  std::string bytes;
  bool found = false;
  const bool may = RepOf(db)->KeyMayExist(RepOf(options), Slice(key, keylen), &bytes, &found);
  if (value != nullptr) *value = found ? CopyForC(bytes) : nullptr;
  if (vallen != nullptr) *vallen = found ? bytes.size() : 0;
  return may ? 1 : 0;
}

// ---- Iterators. ----

// An error leaves the iterator as it was, on the state that it showed.
void miodb_iter_refresh(leveldb_iterator_t* iterator, char** errptr) { SaveError(errptr, RepOf(iterator)->Refresh()); }

// ---- Waiting and telling. ----

// The two calls wait for background work, and report the error that stops it. Neither is needed for durability of
// writes with sync.
void miodb_flush(leveldb_t* db, char** errptr) { SaveError(errptr, RepOf(db)->Flush()); }
void miodb_wait_for_idle(leveldb_t* db, char** errptr) { SaveError(errptr, RepOf(db)->WaitForIdle()); }
void miodb_create_checkpoint(leveldb_t* db, const char* directory, char** errptr) {
  SaveError(errptr, RepOf(db)->CreateCheckpoint(directory));
}

// A property whose text is no plain number is refused instead of being cut at its first other character.
uint8_t miodb_property_int(leveldb_t* db, const char* propname, uint64_t* value) {
  std::string text;
  if (!RepOf(db)->GetProperty(propname, &text)) return 0;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return 0;
  DCHECK(value != nullptr);
  *value = strtoull(text.c_str(), nullptr, 10);
  return 1;
}

// The counters as text, for the caller to free.
char* miodb_stats(leveldb_t* db) { return leveldb_property_value(db, "miodb.counters"); }

// ---- Batches and files. ----

size_t miodb_writebatch_approximate_size(const leveldb_writebatch_t* batch) { return RepOf(batch).ApproximateSize(); }

// The two files are the system's, not those of an Env that some options may name. A text that was begun stays as far as
// it came, since it may say what is wrong.
void miodb_dump_file(const char* fname, const char* text_name, char** errptr) {
  miodb::Env* const env = miodb::Env::Default();
  miodb::WritableFile* text = nullptr;
  if (SaveError(errptr, env->NewWritableFile(text_name, &text))) return;
  SaveError(errptr, DumpInto(env, fname, text));
}

}  // extern "C"
