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

// ---- Options. ----

// Values are stored as they come; leveldb_open checks all of them together and says what is wrong. Paths are copied.
void miodb_options_set_pool_path(leveldb_options_t* options, const char* path) { options->rep.pool_path = path; }
void miodb_options_set_pool_size(leveldb_options_t* options, uint64_t bytes) { options->rep.pool_size = bytes; }
void miodb_options_set_pool_growth(leveldb_options_t* options, uint64_t bytes) { options->rep.pool_growth = bytes; }

// The ranges of modes and access are checked where the database is opened.
void miodb_options_set_persist_mode(leveldb_options_t* options, int mode) {
  options->rep.persist_mode = static_cast<miodb::PersistMode>(mode);
}

void miodb_options_set_log_mode(leveldb_options_t* options, int mode) {
  options->rep.log_mode = static_cast<miodb::LogMode>(mode);
}

void miodb_options_set_file_access(leveldb_options_t* options, int access) {
  options->rep.file_access = static_cast<miodb::FileAccess>(access);
}

void miodb_options_set_dram_node(leveldb_options_t* options, int node) { options->rep.dram_node = node; }
void miodb_options_set_nvm_node(leveldb_options_t* options, int node) { options->rep.nvm_node = node; }
void miodb_options_set_nvm_next_node(leveldb_options_t* options, int node) { options->rep.nvm_next_node = node; }

void miodb_options_set_wal_dir(leveldb_options_t* options, const char* path) { options->rep.wal_dir = path; }
void miodb_options_set_wal_block_size(leveldb_options_t* options, size_t bytes) { options->rep.wal_block_size = bytes; }
// Flags come as bytes, as LevelDB's C API passes them; everything but 0 is true.
void miodb_options_set_wal_padding(leveldb_options_t* options, uint8_t v) { options->rep.wal_padding = v != 0; }

void miodb_options_set_log_chunk_size(leveldb_options_t* options, size_t bytes) { options->rep.log_chunk_size = bytes; }

void miodb_options_set_max_immutable_memtables(leveldb_options_t* options, int n) {
  options->rep.max_immutable_memtables = n;
}

void miodb_options_set_num_levels(leveldb_options_t* options, int n) { options->rep.num_levels = n; }
void miodb_options_set_level_trigger(leveldb_options_t* options, int n) { options->rep.level_trigger = n; }

void miodb_options_set_max_background_merges(leveldb_options_t* options, int n) {
  options->rep.max_background_merges = n;
}

void miodb_options_set_partition_size(leveldb_options_t* options, uint64_t bytes) {
  options->rep.partition_size = bytes;
}

void miodb_options_set_lazy_copy_limit(leveldb_options_t* options, size_t bytes) {
  options->rep.lazy_copy_limit = bytes;
}

void miodb_options_set_space_amplification_percent(leveldb_options_t* options, int n) {
  options->rep.space_amplification_percent = n;
}

void miodb_options_set_filter_bits_per_key(leveldb_options_t* options, int n) { options->rep.filter_bits_per_key = n; }
void miodb_options_set_reuse_logs(leveldb_options_t* options, uint8_t v) { options->rep.reuse_logs = v != 0; }

void miodb_options_set_ssd_path(leveldb_options_t* options, const char* path) { options->rep.ssd_path = path; }
void miodb_options_set_nvm_budget(leveldb_options_t* options, uint64_t bytes) { options->rep.nvm_budget = bytes; }
void miodb_options_set_ssd_levels(leveldb_options_t* options, int n) { options->rep.ssd_levels = n; }
void miodb_options_set_ssd_level_size(leveldb_options_t* options, uint64_t n) { options->rep.ssd_level_size = n; }

void miodb_options_set_ssd_level_multiplier(leveldb_options_t* options, int n) {
  options->rep.ssd_level_multiplier = n;
}

void miodb_options_set_ssd_file_size(leveldb_options_t* options, uint64_t bytes) { options->rep.ssd_file_size = bytes; }

void miodb_options_set_max_background_ssd_jobs(leveldb_options_t* options, int n) {
  options->rep.max_background_ssd_jobs = n;
}

void miodb_options_set_ssd_rate_limit(leveldb_options_t* options, uint64_t n) { options->rep.ssd_rate_limit = n; }
void miodb_options_set_use_direct_reads(leveldb_options_t* options, uint8_t v) {
  options->rep.use_direct_reads = v != 0;
}

void miodb_options_set_use_direct_io_for_flush_and_compaction(leveldb_options_t* options, uint8_t v) {
  options->rep.use_direct_io_for_flush_and_compaction = v != 0;
}

void miodb_options_set_compaction_readahead_size(leveldb_options_t* options, size_t bytes) {
  options->rep.compaction_readahead_size = bytes;
}

void miodb_options_set_multi_get_io_uring(leveldb_options_t* options, uint8_t v) {
  options->rep.multi_get_io_uring = v != 0;
}

void miodb_options_set_multi_get_threads(leveldb_options_t* options, int n) { options->rep.multi_get_threads = n; }

void miodb_options_set_zstd_compression_level(leveldb_options_t* options, int n) {
  options->rep.zstd_compression_level = n;
}

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
