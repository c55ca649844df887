// Options of every kind, and the objects that they point to.

#include <cstring>
#include <string>

#include "bindings/java/native/support.h"

using jni::Bytes;
using jni::FromHandle;
using jni::Guarded;
using jni::ToHandle;

namespace {

// A setter of the C API under the name that Options.java has for it.
struct Setter {
  const char* name;
  void (*set)(leveldb_options_t*, jlong value);
};

// Java has checked the range of what is narrower than a long.
template <typename T, void (*kSet)(leveldb_options_t*, T)>
void Set(leveldb_options_t* options, jlong value) {
  kSet(options, static_cast<T>(value));
}

#define LEVELDB_SETTER(type, name) \
  { #name, Set < type, leveldb_options_set_##name> }
#define SETTER(type, name) \
  { #name, Set < type, miodb_options_set_##name> }

const Setter kSetters[] = {
    LEVELDB_SETTER(uint8_t, create_if_missing),
    LEVELDB_SETTER(uint8_t, error_if_exists),
    LEVELDB_SETTER(uint8_t, paranoid_checks),
    LEVELDB_SETTER(size_t, write_buffer_size),
    LEVELDB_SETTER(int, max_open_files),
    LEVELDB_SETTER(size_t, block_size),
    LEVELDB_SETTER(int, block_restart_interval),
    LEVELDB_SETTER(size_t, max_file_size),
    LEVELDB_SETTER(int, compression),
    SETTER(uint64_t, pool_size),
    SETTER(uint64_t, pool_growth),
    SETTER(int, persist_mode),
    SETTER(int, file_access),
    SETTER(int, dram_node),
    SETTER(int, nvm_node),
    SETTER(int, nvm_next_node),
    SETTER(int, log_mode),
    SETTER(size_t, wal_block_size),
    SETTER(uint8_t, wal_padding),
    SETTER(size_t, log_chunk_size),
    SETTER(int, max_immutable_memtables),
    SETTER(uint64_t, keep_log_bytes),
    SETTER(int, num_levels),
    SETTER(int, level_trigger),
    SETTER(int, max_background_merges),
    SETTER(uint64_t, partition_size),
    SETTER(int, settle_after_idle_ms),
    SETTER(uint64_t, lifetime_seconds),
    SETTER(size_t, lazy_copy_limit),
    SETTER(int, space_amplification_percent),
    SETTER(int, filter_bits_per_key),
    SETTER(uint8_t, reuse_logs),
    SETTER(uint8_t, statistics),
    SETTER(int, info_log_level),
    SETTER(size_t, max_log_file_size),
    SETTER(size_t, keep_log_file_num),
    SETTER(uint64_t, nvm_budget),
    SETTER(int, ssd_levels),
    SETTER(uint64_t, ssd_level_size),
    SETTER(int, ssd_level_multiplier),
    SETTER(uint64_t, ssd_file_size),
    SETTER(int, max_background_ssd_jobs),
    SETTER(uint64_t, ssd_rate_limit),
    SETTER(uint8_t, use_direct_reads),
    SETTER(uint8_t, use_direct_io_for_flush_and_compaction),
    SETTER(size_t, compaction_readahead_size),
    SETTER(uint8_t, multi_get_io_uring),
    SETTER(int, multi_get_threads),
    SETTER(int, zstd_compression_level),
};

struct PathSetter {
  const char* name;
  void (*set)(leveldb_options_t*, const char* path);
};

const PathSetter kPathSetters[] = {
    {"pool_path", miodb_options_set_pool_path},
    {"wal_dir", miodb_options_set_wal_dir},
    {"ssd_path", miodb_options_set_ssd_path},
};

// ---- Options of a database. ----

jlong NewOptions(JNIEnv*, jclass) { return ToHandle(leveldb_options_create()); }

void FreeOptions(JNIEnv*, jclass, jlong options) { leveldb_options_destroy(FromHandle<leveldb_options_t>(options)); }

// Returns whether there is such an option.
jboolean SetNumber(JNIEnv* env, jclass, jlong options, jbyteArray name, jlong value) {
  const Bytes n(env, name);
  if (!n.ok()) return JNI_FALSE;
  for (const Setter& setter : kSetters) {
    if (strlen(setter.name) != n.size() || memcmp(setter.name, n.data(), n.size()) != 0) continue;
    setter.set(FromHandle<leveldb_options_t>(options), value);
    return JNI_TRUE;
  }
  return JNI_FALSE;
}

jboolean SetPath(JNIEnv* env, jclass, jlong options, jbyteArray name, jbyteArray path) {
  const Bytes n(env, name);
  if (!n.ok()) return JNI_FALSE;
  const Bytes p(env, path);
  if (!p.ok()) return JNI_FALSE;
  for (const PathSetter& setter : kPathSetters) {
    if (strlen(setter.name) != n.size() || memcmp(setter.name, n.data(), n.size()) != 0) continue;
    return Guarded(env, [&] {
      setter.set(FromHandle<leveldb_options_t>(options), std::string(p.data(), p.size()).c_str());
      return static_cast<jboolean>(JNI_TRUE);
    });
  }
  return JNI_FALSE;
}

jlong NewCache(JNIEnv*, jclass, jlong options, jlong bytes) {
  leveldb_cache_t* const cache = leveldb_cache_create_lru(static_cast<size_t>(bytes));
  leveldb_options_set_cache(FromHandle<leveldb_options_t>(options), cache);
  return ToHandle(cache);
}

void FreeCache(JNIEnv*, jclass, jlong cache) { leveldb_cache_destroy(FromHandle<leveldb_cache_t>(cache)); }

jlong NewFilter(JNIEnv*, jclass, jlong options, jint bits_per_key) {
  leveldb_filterpolicy_t* const filter = leveldb_filterpolicy_create_bloom(bits_per_key);
  leveldb_options_set_filter_policy(FromHandle<leveldb_options_t>(options), filter);
  return ToHandle(filter);
}

void FreeFilter(JNIEnv*, jclass, jlong filter) {
  leveldb_filterpolicy_destroy(FromHandle<leveldb_filterpolicy_t>(filter));
}

// ---- Options of reads and writes. ----

jlong NewReads(JNIEnv*, jclass, jlong snapshot, jboolean verify_checksums, jboolean fill_cache) {
  leveldb_readoptions_t* const reads = leveldb_readoptions_create();
  leveldb_readoptions_set_snapshot(reads, FromHandle<const leveldb_snapshot_t>(snapshot));
  leveldb_readoptions_set_verify_checksums(reads, verify_checksums);
  leveldb_readoptions_set_fill_cache(reads, fill_cache);
  return ToHandle(reads);
}

// The bounds of an iterator, which lie in the options as long as it lives; null for none.
void SetBounds(JNIEnv* env, jclass, jlong reads, jbyteArray lower, jbyteArray upper, jlong readahead_bytes) {
  const Bytes l(env, lower);
  if (!l.ok()) return;
  const Bytes u(env, upper);
  if (!u.ok()) return;
  Guarded(env, [&] {
    leveldb_readoptions_t* const options = FromHandle<leveldb_readoptions_t>(reads);
    miodb_readoptions_set_iterate_lower_bound(options, l.data(), l.size());
    miodb_readoptions_set_iterate_upper_bound(options, u.data(), u.size());
    miodb_readoptions_set_readahead_size(options, static_cast<size_t>(readahead_bytes));
    return true;
  });
}

void FreeReads(JNIEnv*, jclass, jlong reads) { leveldb_readoptions_destroy(FromHandle<leveldb_readoptions_t>(reads)); }

jlong NewWrites(JNIEnv*, jclass, jboolean sync) {
  leveldb_writeoptions_t* const writes = leveldb_writeoptions_create();
  leveldb_writeoptions_set_sync(writes, sync);
  return ToHandle(writes);
}

void FreeWrites(JNIEnv*, jclass, jlong writes) {
  leveldb_writeoptions_destroy(FromHandle<leveldb_writeoptions_t>(writes));
}

jint Version(JNIEnv*, jclass) { return miodb_major_version() * 1000 + miodb_minor_version(); }

#define METHOD(name, signature, function) \
  { const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function) }

const JNINativeMethod kMethods[] = {
    METHOD("newOptions", "()J", NewOptions),   METHOD("freeOptions", "(J)V", FreeOptions),
    METHOD("setNumber", "(J[BJ)Z", SetNumber), METHOD("setPath", "(J[B[B)Z", SetPath),
    METHOD("newCache", "(JJ)J", NewCache),     METHOD("freeCache", "(J)V", FreeCache),
    METHOD("newFilter", "(JI)J", NewFilter),   METHOD("freeFilter", "(J)V", FreeFilter),
    METHOD("newReads", "(JZZ)J", NewReads),    METHOD("setBounds", "(J[B[BJ)V", SetBounds),
    METHOD("freeReads", "(J)V", FreeReads),    METHOD("newWrites", "(Z)J", NewWrites),
    METHOD("freeWrites", "(J)V", FreeWrites),  METHOD("version", "()I", Version),
};

}  // namespace

jni::Methods jni::OptionMethods() { return {kMethods, sizeof(kMethods) / sizeof(kMethods[0])}; }
