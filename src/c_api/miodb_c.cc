#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "miodb/c.h"
#include "miodb/dumpfile.h"
#include "src/c_api/c_types.h"
#include "src/util/no_throw.h"

// The functions that MioDB adds to LevelDB's C API, in the order of its header.

using miodb::CopyForC;
using miodb::SaveError;
using miodb::Slice;
using miodb::Status;

namespace {

// Stores a copy of the key and lets *bound point to it, or takes the bound away.
// The options own the bytes of their bounds, because a C program may free the key at once. They must not change while
// an iterator made with them lives.
void SetBound(const char* key, size_t keylen, std::string* copy, Slice* view, const Slice** bound) {
  *bound = nullptr;
  if (key == nullptr) return;
  copy->assign(key, keylen);
  *view = Slice(*copy);
  *bound = view;
}

// Dumps into *text, which is deleted: an error of its Close is one of the dump.
Status DumpInto(miodb::Env* env, const char* fname, miodb::WritableFile* text) {
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

// ---- Options. A setter stores into the member of its name, whose range DB::Open checks. ----

// Values are stored as they come; leveldb_open checks all of them together and says what is wrong. Paths are copied.
// Flags come as bytes, as LevelDB's C API passes them; everything but 0 is true.
#define SETTER(type, name)                                                  \
  void miodb_options_set_##name(leveldb_options_t* options, type value) {   \
    options->rep.name = static_cast<decltype(miodb::Options::name)>(value); \
  }

SETTER(const char*, pool_path)
SETTER(uint64_t, pool_size)
SETTER(uint64_t, pool_growth)
SETTER(int, persist_mode)
SETTER(int, file_access)

SETTER(int, dram_node)
SETTER(int, nvm_node)
SETTER(int, nvm_next_node)

SETTER(int, log_mode)
SETTER(const char*, wal_dir)
SETTER(size_t, wal_block_size)
SETTER(uint8_t, wal_padding)
SETTER(size_t, log_chunk_size)
SETTER(int, max_immutable_memtables)

SETTER(int, num_levels)
SETTER(int, level_trigger)
SETTER(int, max_background_merges)
SETTER(uint64_t, partition_size)
SETTER(size_t, lazy_copy_limit)
SETTER(int, space_amplification_percent)
SETTER(int, filter_bits_per_key)
SETTER(uint8_t, reuse_logs)

SETTER(const char*, ssd_path)
SETTER(uint64_t, nvm_budget)
SETTER(int, ssd_levels)
SETTER(uint64_t, ssd_level_size)
SETTER(int, ssd_level_multiplier)
SETTER(uint64_t, ssd_file_size)
SETTER(int, max_background_ssd_jobs)
SETTER(uint64_t, ssd_rate_limit)
SETTER(uint8_t, use_direct_reads)
SETTER(uint8_t, use_direct_io_for_flush_and_compaction)
SETTER(size_t, compaction_readahead_size)
SETTER(uint8_t, multi_get_io_uring)
SETTER(int, multi_get_threads)
SETTER(int, zstd_compression_level)

#undef SETTER

void miodb_readoptions_set_readahead_size(leveldb_readoptions_t* options, size_t bytes) {
  options->rep.readahead_size = bytes;
}

// ---- Bounds. ----

void miodb_readoptions_set_iterate_lower_bound(leveldb_readoptions_t* options, const char* key, size_t keylen) {
  SetBound(key, keylen, &options->lower_key, &options->lower, &options->rep.iterate_lower_bound);
}

void miodb_readoptions_set_iterate_upper_bound(leveldb_readoptions_t* options, const char* key, size_t keylen) {
  SetBound(key, keylen, &options->upper_key, &options->upper, &options->rep.iterate_upper_bound);
}

// ---- Pinned values. ----

// NULL without an error means that the key is not there, so a program that does not look at the error takes damage for
// a missing key: it has to look.
miodb_pinnedslice_t* miodb_get_pinned(leveldb_t* db, const leveldb_readoptions_t* options, const char* key,
                                      size_t keylen, char** errptr) {
  auto value = std::make_unique<miodb_pinnedslice_t>();
  const Status s = db->rep->Get(options->rep, Slice(key, keylen), &value->rep);
  if (s.ok()) return value.release();
  if (!s.IsNotFound()) SaveError(errptr, s);
  return nullptr;
}

// The bytes belong to the slice and lie where the database has them, until miodb_pinnedslice_destroy.
const char* miodb_pinnedslice_value(const miodb_pinnedslice_t* slice, size_t* vallen) {
  *vallen = slice->rep.size();
  return slice->rep.data();
}

void miodb_pinnedslice_destroy(miodb_pinnedslice_t* slice) { delete slice; }

// ---- Many gets. ----

// Every place of the three arrays is written, whatever happens: without memory for the call each key gets the error,
// so that a program can free what it finds without knowing how far the call came.
void miodb_multi_get(leveldb_t* db, const leveldb_readoptions_t* options, size_t num_keys, const char* const* keys,
                     const size_t* keylens, char** values, size_t* vallens, char** errors) {
  std::vector<std::string> found;
  std::vector<Status> statuses;
  const Status called = miodb::NoThrow("MultiGet", [&] {
    std::vector<Slice> slices;
    slices.reserve(num_keys);
    for (size_t i = 0; i < num_keys; i++) slices.emplace_back(keys[i], keylens[i]);
    statuses = db->rep->MultiGet(options->rep, slices, &found);
    return statuses.size() == num_keys ? Status::OK() : Status::IOError("MultiGet", "out of memory");
  });
  for (size_t i = 0; i < num_keys; i++) {
    values[i] = nullptr;
    vallens[i] = 0;
    errors[i] = nullptr;
    const Status& s = called.ok() ? statuses[i] : called;
    if (s.ok()) {
      values[i] = CopyForC(found[i]);
      vallens[i] = found[i].size();
    } else if (!s.IsNotFound()) {
      SaveError(&errors[i], s);
    }
  }
}

// ---- Waiting and telling. ----

void miodb_flush(leveldb_t* db, char** errptr) { SaveError(errptr, db->rep->Flush()); }
void miodb_wait_for_idle(leveldb_t* db, char** errptr) { SaveError(errptr, db->rep->WaitForIdle()); }

// A property whose text is no plain number is refused instead of being cut at its first other character.
uint8_t miodb_property_int(leveldb_t* db, const char* propname, uint64_t* value) {
  std::string text;
  if (!db->rep->GetProperty(propname, &text)) return 0;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return 0;
  *value = strtoull(text.c_str(), nullptr, 10);
  return 1;
}

char* miodb_stats(leveldb_t* db) { return leveldb_property_value(db, "miodb.counters"); }

// ---- Batches and files. ----

size_t miodb_writebatch_approximate_size(const leveldb_writebatch_t* batch) { return batch->rep.ApproximateSize(); }

// Both files are the system's. A text that was begun stays as far as it came, since it may say what is wrong.
void miodb_dump_file(const char* fname, const char* text_name, char** errptr) {
  miodb::Env* const env = miodb::Env::Default();
  miodb::WritableFile* text = nullptr;
  if (SaveError(errptr, env->NewWritableFile(text_name, &text))) return;
  SaveError(errptr, DumpInto(env, fname, text));
}

}  // extern "C"
