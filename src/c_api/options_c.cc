#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "leveldb/c.h"
#include "miodb/c.h"
#include "miodb/option_table.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"

// Options of the C API, LevelDB's and MioDB's: how they are made, and a setter for each member. Setters of comparators
// and filter policies are in leveldb_c.cc, beside the structs behind these types.
//
// A setter stores what it is given, and copies paths. Ranges are checked by the call that the options are given to, all
// of them together. Objects that options point to stay the program's, and outlive every database opened with them.

using miodb::RepOf;
using miodb::Slice;

namespace {

// Stores a copy of the key and lets *bound point to it, or takes the bound away.
// The options own the bytes of their bounds, because a C program may free the key at once. They must not change while
// an iterator made with them lives.
void SetBound(const char* key, size_t keylen, std::string* copy, Slice* view, const Slice** bound) {
  DCHECK(copy != nullptr && view != nullptr && bound != nullptr);
  *bound = nullptr;
  if (key == nullptr) return;
  copy->assign(key, keylen);
  *view = Slice(*copy);
  *bound = view;
}

}  // namespace

extern "C" {

// A setter into the member of its name. Flags come as bytes, as LevelDB's C API passes them; everything but 0 is true.
#define SETTER(prefix, handle, type, name)                                                            \
  void prefix##_set_##name(handle* options, type value) {                                             \
    RepOf(options).name = static_cast<std::remove_reference_t<decltype(RepOf(options).name)>>(value); \
  }
#define LEVELDB_OPTION(type, name) SETTER(leveldb_options, leveldb_options_t, type, name)

// ---- LevelDB's. What a database was opened with is a copy, so options may go then. ----

leveldb_options_t* leveldb_options_create() { return new leveldb_options_t; }
void leveldb_options_destroy(leveldb_options_t* options) { delete options; }

LEVELDB_OPTION(uint8_t, create_if_missing)
LEVELDB_OPTION(uint8_t, error_if_exists)
LEVELDB_OPTION(uint8_t, paranoid_checks)
LEVELDB_OPTION(size_t, write_buffer_size)
LEVELDB_OPTION(int, max_open_files)
LEVELDB_OPTION(size_t, block_size)
LEVELDB_OPTION(int, block_restart_interval)
LEVELDB_OPTION(size_t, max_file_size)
LEVELDB_OPTION(int, compression)

// NULL stands for the default, as miodb/options.h has it.
void leveldb_options_set_env(leveldb_options_t* options, leveldb_env_t* env) {
  RepOf(options).env = env == nullptr ? miodb::Env::Default() : RepOf(env);
}

void leveldb_options_set_info_log(leveldb_options_t* options, leveldb_logger_t* logger) {
  RepOf(options).info_log = logger == nullptr ? nullptr : RepOf(logger);
}

void leveldb_options_set_cache(leveldb_options_t* options, leveldb_cache_t* cache) {
  RepOf(options).block_cache = cache == nullptr ? nullptr : RepOf(cache);
}

// ---- By their names. ----

void miodb_options_set(leveldb_options_t* options, const char* name, const char* text, char** errptr) {
  DCHECK(name != nullptr && text != nullptr);
  miodb::SaveError(errptr, miodb::SetOption(&RepOf(options), name, text));
}

char* miodb_options_get(const leveldb_options_t* options, const char* name, char** errptr) {
  DCHECK(name != nullptr);
  std::string text;
  return miodb::SaveError(errptr, miodb::GetOption(RepOf(options), name, &text)) ? nullptr : miodb::CopyForC(text);
}

int miodb_option_kind(const char* name) {
  for (const miodb::OptionInfo& option : miodb::AllOptions()) {
    if (strcmp(option.name, name) == 0) return static_cast<int>(option.kind);
  }
  return miodb_option_none;
}

const char* miodb_option_name(size_t number) {
  return number < miodb::AllOptions().size() ? miodb::AllOptions()[number].name : nullptr;
}

// ---- What databases share. A handle holds one reference, options and databases have their own. ----

miodb_sharedresources_t* miodb_sharedresources_create(int threads_of_a_kind, size_t memory_budget,
                                                      size_t memory_of_each, size_t block_cache_bytes) {
  miodb::SharedResourceOptions options;
  options.threads_of_a_kind = threads_of_a_kind;
  options.memory_budget = memory_budget;
  options.memory_of_each = memory_of_each;
  options.block_cache_bytes = block_cache_bytes;
  std::shared_ptr<miodb::SharedResources> made = miodb::NewSharedResources(options);
  return made == nullptr ? nullptr : new (std::nothrow) miodb_sharedresources_t{std::move(made)};
}

void miodb_sharedresources_destroy(miodb_sharedresources_t* resources) { delete resources; }

size_t miodb_sharedresources_threads(const miodb_sharedresources_t* resources) { return RepOf(resources)->Threads(); }

size_t miodb_sharedresources_memory_bytes(const miodb_sharedresources_t* resources) {
  return RepOf(resources)->MemoryBytes();
}

void miodb_options_set_shared_resources(leveldb_options_t* options, const miodb_sharedresources_t* resources) {
  RepOf(options).shared_resources = resources == nullptr ? nullptr : RepOf(resources);
}

// ---- Of reads and writes. ----

leveldb_readoptions_t* leveldb_readoptions_create() { return new leveldb_readoptions_t; }
void leveldb_readoptions_destroy(leveldb_readoptions_t* options) { delete options; }

SETTER(leveldb_readoptions, leveldb_readoptions_t, uint8_t, verify_checksums)
SETTER(leveldb_readoptions, leveldb_readoptions_t, uint8_t, fill_cache)
SETTER(miodb_readoptions, leveldb_readoptions_t, size_t, readahead_size)

// The snapshot is looked at now: a handle that is released before the read leaves a pointer to nothing in the options.
void leveldb_readoptions_set_snapshot(leveldb_readoptions_t* options, const leveldb_snapshot_t* snapshot) {
  RepOf(options).snapshot = snapshot == nullptr ? nullptr : RepOf(snapshot);
}

leveldb_writeoptions_t* leveldb_writeoptions_create() { return new leveldb_writeoptions_t; }
void leveldb_writeoptions_destroy(leveldb_writeoptions_t* options) { delete options; }
SETTER(leveldb_writeoptions, leveldb_writeoptions_t, uint8_t, sync)
SETTER(miodb_writeoptions, leveldb_writeoptions_t, uint64_t, lifetime_seconds)

// ---- Bounds: keys in [lower, upper) only. ----

void miodb_readoptions_set_iterate_lower_bound(leveldb_readoptions_t* options, const char* key, size_t keylen) {
  SetBound(key, keylen, &options->lower_key, &options->lower, &RepOf(options).iterate_lower_bound);
}

void miodb_readoptions_set_iterate_upper_bound(leveldb_readoptions_t* options, const char* key, size_t keylen) {
  SetBound(key, keylen, &options->upper_key, &options->upper, &RepOf(options).iterate_upper_bound);
}

#undef LEVELDB_OPTION
#undef SETTER

}  // extern "C"
