// Options of every kind, and the objects that they point to.

#include <cstdlib>
#include <string>

#include "bindings/java/native/support.h"

using jni::Bytes;
using jni::FromHandle;
using jni::Guarded;
using jni::ThrowError;
using jni::ToHandle;

namespace {

// ---- Options of a database. ----

jlong NewOptions(JNIEnv*, jclass) { return ToHandle(leveldb_options_create()); }

void FreeOptions(JNIEnv*, jclass, jlong options) { leveldb_options_destroy(FromHandle<leveldb_options_t>(options)); }

void SetOption(JNIEnv* env, jclass, jlong handle, jbyteArray name, jbyteArray text) {
  const Bytes n(env, name);
  if (!n.ok()) return;
  const Bytes t(env, text);
  if (!t.ok()) return;
  Guarded(env, [&] {
    leveldb_options_t* const options = FromHandle<leveldb_options_t>(handle);
    const std::string option(n.data(), n.size());
    const std::string value(t.data(), t.size());
    char* error = nullptr;
    const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
    if (option == "write_buffer_size" && is_number) {  // of any size, as in LevelDB
      leveldb_options_set_write_buffer_size(options, strtoull(value.c_str(), nullptr, 10));
    } else {
      miodb_options_set(options, option.c_str(), value.c_str(), &error);
    }
    ThrowError(env, error);
    return true;
  });
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
    METHOD("newOptions", "()J", NewOptions),     METHOD("freeOptions", "(J)V", FreeOptions),
    METHOD("setOption", "(J[B[B)V", SetOption),  METHOD("newCache", "(JJ)J", NewCache),
    METHOD("freeCache", "(J)V", FreeCache),      METHOD("newFilter", "(JI)J", NewFilter),
    METHOD("freeFilter", "(J)V", FreeFilter),    METHOD("newReads", "(JZZ)J", NewReads),
    METHOD("setBounds", "(J[B[BJ)V", SetBounds), METHOD("freeReads", "(J)V", FreeReads),
    METHOD("newWrites", "(Z)J", NewWrites),      METHOD("freeWrites", "(J)V", FreeWrites),
    METHOD("version", "()I", Version),
};

}  // namespace

jni::Methods jni::OptionMethods() { return {kMethods, sizeof(kMethods) / sizeof(kMethods[0])}; }
