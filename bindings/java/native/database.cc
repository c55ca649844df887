// Calls of a database: opening, gets, writes, snapshots, and what it says of itself.

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bindings/java/native/support.h"

using jni::AddressOf;
using jni::Bytes;
using jni::FromHandle;
using jni::Guarded;
using jni::NewArray;
using jni::ThrowError;
using jni::ToHandle;

namespace {

// The result of a get in place of a size.
constexpr jint kNotFound = -1;

// ---- Opening and closing. ----

jlong Open(JNIEnv* env, jclass, jlong options, jbyteArray path) {
  const Bytes name(env, path);
  if (!name.ok()) return 0;
  return Guarded(env, [&] {
    char* error = nullptr;
    leveldb_t* const db =
        leveldb_open(FromHandle<leveldb_options_t>(options), std::string(name.data(), name.size()).c_str(), &error);
    return ThrowError(env, error) ? 0 : ToHandle(db);
  });
}

void Close(JNIEnv*, jclass, jlong db) { leveldb_close(FromHandle<leveldb_t>(db)); }

void Destroy(JNIEnv* env, jclass, jlong options, jbyteArray path) {
  const Bytes name(env, path);
  if (!name.ok()) return;
  Guarded(env, [&] {
    char* error = nullptr;
    leveldb_destroy_db(FromHandle<leveldb_options_t>(options), std::string(name.data(), name.size()).c_str(), &error);
    return ThrowError(env, error);
  });
}

void Repair(JNIEnv* env, jclass, jlong options, jbyteArray path) {
  const Bytes name(env, path);
  if (!name.ok()) return;
  Guarded(env, [&] {
    char* error = nullptr;
    leveldb_repair_db(FromHandle<leveldb_options_t>(options), std::string(name.data(), name.size()).c_str(), &error);
    return ThrowError(env, error);
  });
}

// ---- Gets. ----

// Holds a value where the database has it, for the length of a call.
class Pinned {
 public:
  Pinned(jlong db, jlong reads, const char* key, size_t key_size, char** error)
      : slice_(miodb_get_pinned(FromHandle<leveldb_t>(db), FromHandle<leveldb_readoptions_t>(reads), key, key_size,
                                error)) {
    if (slice_ != nullptr) data_ = miodb_pinnedslice_value(slice_, &size_);
  }
  ~Pinned() { miodb_pinnedslice_destroy(slice_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  bool found() const { return slice_ != nullptr; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  miodb_pinnedslice_t* const slice_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

jbyteArray Get(JNIEnv* env, jclass, jlong db, jlong reads, jbyteArray key) {
  const Bytes k(env, key);
  if (!k.ok()) return nullptr;
  char* error = nullptr;
  const Pinned value(db, reads, k.data(), k.size(), &error);
  if (ThrowError(env, error) || !value.found()) return nullptr;
  return NewArray(env, value.data(), value.size());
}

// Copies the value into the buffer if it has room for all of it, and returns its size.
jint GetDirect(JNIEnv* env, jclass, jlong db, jlong reads, jobject key, jint key_position, jint key_size,
               jobject buffer, jint position, jint room) {
  char* error = nullptr;
  const Pinned value(db, reads, AddressOf(env, key, key_position), static_cast<size_t>(key_size), &error);
  if (ThrowError(env, error) || !value.found()) return kNotFound;
  if (value.size() > INT_MAX) {
    jni::ThrowOutOfMemory(env);
    return kNotFound;
  }
  if (value.size() <= static_cast<size_t>(room)) memcpy(AddressOf(env, buffer, position), value.data(), value.size());
  return static_cast<jint>(value.size());
}

// Keys and values of a get of many; frees what the C API gave.
class Many {
 public:
  Many(const char* keys, const std::vector<jint>& ends)
      : keys_(ends.size()),
        key_sizes_(ends.size()),
        values_(ends.size(), nullptr),
        sizes_(ends.size(), 0),
        errors_(ends.size(), nullptr) {
    jint begin = 0;
    for (size_t i = 0; i < ends.size(); i++) {
      keys_[i] = keys + begin;
      key_sizes_[i] = static_cast<size_t>(ends[i] - begin);
      begin = ends[i];
    }
  }
  ~Many() {
    for (char* value : values_) leveldb_free(value);
    for (char* error : errors_) leveldb_free(error);
  }
  Many(const Many&) = delete;
  Many& operator=(const Many&) = delete;

  void Get(jlong db, jlong reads) {
    miodb_multi_get(FromHandle<leveldb_t>(db), FromHandle<leveldb_readoptions_t>(reads), keys_.size(), keys_.data(),
                    key_sizes_.data(), values_.data(), sizes_.data(), errors_.data());
  }

  // The values as arrays, null for what is not there; null with an exception pending after an error.
  jobjectArray Result(JNIEnv* env) {
    for (char*& error : errors_) {
      char* const taken = error;
      error = nullptr;
      if (ThrowError(env, taken)) return nullptr;
    }
    const jobjectArray result = env->NewObjectArray(static_cast<jsize>(values_.size()), jni::ByteArrayClass(), nullptr);
    for (size_t i = 0; result != nullptr && i < values_.size(); i++) {
      if (values_[i] == nullptr) continue;
      const jbyteArray value = NewArray(env, values_[i], sizes_[i]);
      if (value == nullptr) return nullptr;
      env->SetObjectArrayElement(result, static_cast<jsize>(i), value);
      env->DeleteLocalRef(value);
    }
    return result;
  }

 private:
  std::vector<const char*> keys_;
  std::vector<size_t> key_sizes_;
  std::vector<char*> values_;
  std::vector<size_t> sizes_;
  std::vector<char*> errors_;
};

// The keys lie one behind the other; ends says where each ends, and is Java's own, not the program's.
jobjectArray MultiGet(JNIEnv* env, jclass, jlong db, jlong reads, jbyteArray keys, jintArray ends) {
  const Bytes k(env, keys);
  if (!k.ok()) return nullptr;
  return Guarded(env, [&]() -> jobjectArray {
    std::vector<jint> positions(static_cast<size_t>(env->GetArrayLength(ends)));
    env->GetIntArrayRegion(ends, 0, static_cast<jsize>(positions.size()), positions.data());
    Many many(k.data(), positions);
    many.Get(db, reads);
    return many.Result(env);
  });
}

// ---- Writes. ----

void Put(JNIEnv* env, jclass, jlong db, jlong writes, jbyteArray key, jbyteArray value) {
  const Bytes k(env, key);
  if (!k.ok()) return;
  const Bytes v(env, value);
  if (!v.ok()) return;
  char* error = nullptr;
  leveldb_put(FromHandle<leveldb_t>(db), FromHandle<leveldb_writeoptions_t>(writes), k.data(), k.size(), v.data(),
              v.size(), &error);
  ThrowError(env, error);
}

void PutDirect(JNIEnv* env, jclass, jlong db, jlong writes, jobject key, jint key_position, jint key_size,
               jobject value, jint value_position, jint value_size) {
  const Bytes k(env, AddressOf(env, key, key_position), static_cast<size_t>(key_size));
  if (!k.ok()) return;
  const Bytes v(env, AddressOf(env, value, value_position), static_cast<size_t>(value_size));
  if (!v.ok()) return;
  char* error = nullptr;
  leveldb_put(FromHandle<leveldb_t>(db), FromHandle<leveldb_writeoptions_t>(writes), k.data(), k.size(), v.data(),
              v.size(), &error);
  ThrowError(env, error);
}

void Delete(JNIEnv* env, jclass, jlong db, jlong writes, jbyteArray key) {
  const Bytes k(env, key);
  if (!k.ok()) return;
  char* error = nullptr;
  leveldb_delete(FromHandle<leveldb_t>(db), FromHandle<leveldb_writeoptions_t>(writes), k.data(), k.size(), &error);
  ThrowError(env, error);
}

// Reads the updates of WriteBatch.java: a size of the key, then a size of the value, kNoValue for a deletion, or kRange
// less the size of the end for a deletion of a range, then their bytes. Returns false if they do not fit together,
// which a thread that changes the batch meanwhile can bring about.
bool Unpack(const char* at, size_t size, leveldb_writebatch_t* batch) {
  constexpr int32_t kNoValue = -1;
  constexpr int32_t kRange = -2;
  int32_t sizes[2];
  const char* const end = at + size;
  while (at != end) {
    if (static_cast<size_t>(end - at) < sizeof(sizes)) return false;
    memcpy(sizes, at, sizeof(sizes));
    at += sizeof(sizes);
    const size_t left = static_cast<size_t>(end - at);
    const size_t value_size = static_cast<size_t>(std::max<int64_t>({0, sizes[1], int64_t{kRange} - sizes[1]}));
    if (sizes[0] < 0 || static_cast<size_t>(sizes[0]) > left || value_size > left - static_cast<size_t>(sizes[0])) {
      return false;
    }
    const size_t key_size = static_cast<size_t>(sizes[0]);
    if (sizes[1] == kNoValue) {
      leveldb_writebatch_delete(batch, at, key_size);
    } else if (sizes[1] < 0) {
      miodb_writebatch_delete_range(batch, at, key_size, at + key_size, value_size);
    } else {
      leveldb_writebatch_put(batch, at, key_size, at + key_size, value_size);
    }
    at += key_size + value_size;
  }
  return true;
}

void Write(JNIEnv* env, jclass, jlong db, jlong writes, jbyteArray updates, jint size) {
  const std::unique_ptr<leveldb_writebatch_t, void (*)(leveldb_writebatch_t*)> batch(leveldb_writebatch_create(),
                                                                                     leveldb_writebatch_destroy);
  // Held only while it is copied: the garbage collector waits for it.
  void* const bytes = env->GetPrimitiveArrayCritical(updates, nullptr);
  if (bytes == nullptr) return jni::ThrowOutOfMemory(env);
  const bool whole = Unpack(static_cast<const char*>(bytes), static_cast<size_t>(size), batch.get());
  env->ReleasePrimitiveArrayCritical(updates, bytes, JNI_ABORT);
  if (!whole) {
    const jclass kind = env->FindClass("java/lang/IllegalStateException");
    if (kind != nullptr) env->ThrowNew(kind, "another thread changed the batch while it was written");
    return;
  }
  char* error = nullptr;
  leveldb_write(FromHandle<leveldb_t>(db), FromHandle<leveldb_writeoptions_t>(writes), batch.get(), &error);
  ThrowError(env, error);
}

// ---- Snapshots. ----

jlong NewSnapshot(JNIEnv*, jclass, jlong db) { return ToHandle(leveldb_create_snapshot(FromHandle<leveldb_t>(db))); }

void FreeSnapshot(JNIEnv*, jclass, jlong db, jlong snapshot) {
  leveldb_release_snapshot(FromHandle<leveldb_t>(db), FromHandle<const leveldb_snapshot_t>(snapshot));
}

// ---- Work behind, and what the database says of itself. ----

void Flush(JNIEnv* env, jclass, jlong db) {
  char* error = nullptr;
  miodb_flush(FromHandle<leveldb_t>(db), &error);
  ThrowError(env, error);
}

void WaitForIdle(JNIEnv* env, jclass, jlong db) {
  char* error = nullptr;
  miodb_wait_for_idle(FromHandle<leveldb_t>(db), &error);
  ThrowError(env, error);
}

void CompactRange(JNIEnv* env, jclass, jlong db, jbyteArray begin, jbyteArray end) {
  const Bytes b(env, begin);
  if (!b.ok()) return;
  const Bytes e(env, end);
  if (!e.ok()) return;
  leveldb_compact_range(FromHandle<leveldb_t>(db), b.data(), b.size(), e.data(), e.size());
}

jlong ApproximateSize(JNIEnv* env, jclass, jlong db, jbyteArray start, jbyteArray limit) {
  const Bytes s(env, start);
  if (!s.ok()) return 0;
  const Bytes l(env, limit);
  if (!l.ok()) return 0;
  const char* const starts[] = {s.data()};
  const char* const limits[] = {l.data()};
  const size_t start_sizes[] = {s.size()};
  const size_t limit_sizes[] = {l.size()};
  uint64_t bytes = 0;
  leveldb_approximate_sizes(FromHandle<leveldb_t>(db), 1, starts, start_sizes, limits, limit_sizes, &bytes);
  return static_cast<jlong>(bytes);
}

jbyteArray Property(JNIEnv* env, jclass, jlong db, jbyteArray name) {
  const Bytes n(env, name);
  if (!n.ok()) return nullptr;
  return Guarded(env, [&]() -> jbyteArray {
    char* const text = leveldb_property_value(FromHandle<leveldb_t>(db), std::string(n.data(), n.size()).c_str());
    if (text == nullptr) return nullptr;
    const jbyteArray array = NewArray(env, text, strlen(text));
    leveldb_free(text);
    return array;
  });
}

#define METHOD(name, signature, function) \
  { const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function) }

const JNINativeMethod kMethods[] = {
    METHOD("open", "(J[B)J", Open),
    METHOD("close", "(J)V", Close),
    METHOD("destroy", "(J[B)V", Destroy),
    METHOD("repair", "(J[B)V", Repair),
    METHOD("get", "(JJ[B)[B", Get),
    METHOD("getDirect", "(JJLjava/nio/ByteBuffer;IILjava/nio/ByteBuffer;II)I", GetDirect),
    METHOD("multiGet", "(JJ[B[I)[[B", MultiGet),
    METHOD("put", "(JJ[B[B)V", Put),
    METHOD("putDirect", "(JJLjava/nio/ByteBuffer;IILjava/nio/ByteBuffer;II)V", PutDirect),
    METHOD("delete", "(JJ[B)V", Delete),
    METHOD("write", "(JJ[BI)V", Write),
    METHOD("newSnapshot", "(J)J", NewSnapshot),
    METHOD("freeSnapshot", "(JJ)V", FreeSnapshot),
    METHOD("flush", "(J)V", Flush),
    METHOD("waitForIdle", "(J)V", WaitForIdle),
    METHOD("compactRange", "(J[B[B)V", CompactRange),
    METHOD("approximateSize", "(J[B[B)J", ApproximateSize),
    METHOD("property", "(J[B)[B", Property),
};

}  // namespace

jni::Methods jni::DatabaseMethods() { return {kMethods, sizeof(kMethods) / sizeof(kMethods[0])}; }
