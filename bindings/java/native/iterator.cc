// Iterators. A move returns whether the iterator stands at an entry then; where it does not because of an error, that
// is thrown.

#include <climits>
#include <cstring>

#include "bindings/java/native/support.h"

using jni::AddressOf;
using jni::Bytes;
using jni::FromHandle;
using jni::ToHandle;

namespace {

leveldb_iterator_t* It(jlong iterator) { return FromHandle<leveldb_iterator_t>(iterator); }

jboolean Arrived(JNIEnv* env, jlong iterator) {
  if (leveldb_iter_valid(It(iterator)) != 0) return JNI_TRUE;
  char* error = nullptr;
  leveldb_iter_get_error(It(iterator), &error);
  jni::ThrowError(env, error);
  return JNI_FALSE;
}

jlong NewIterator(JNIEnv*, jclass, jlong db, jlong reads) {
  return ToHandle(leveldb_create_iterator(FromHandle<leveldb_t>(db), FromHandle<leveldb_readoptions_t>(reads)));
}

void FreeIterator(JNIEnv*, jclass, jlong iterator) { leveldb_iter_destroy(It(iterator)); }

jboolean SeekToFirst(JNIEnv* env, jclass, jlong iterator) {
  leveldb_iter_seek_to_first(It(iterator));
  return Arrived(env, iterator);
}

jboolean SeekToLast(JNIEnv* env, jclass, jlong iterator) {
  leveldb_iter_seek_to_last(It(iterator));
  return Arrived(env, iterator);
}

jboolean Seek(JNIEnv* env, jclass, jlong iterator, jbyteArray target) {
  const Bytes t(env, target);
  if (!t.ok()) return JNI_FALSE;
  leveldb_iter_seek(It(iterator), t.data(), t.size());
  return Arrived(env, iterator);
}

// The last entry whose key is not behind the target: the entry that a seek finds if it has that key, else the one
// before.
jboolean SeekForPrev(JNIEnv* env, jclass, jlong iterator, jbyteArray target) {
  const Bytes t(env, target);
  if (!t.ok()) return JNI_FALSE;
  leveldb_iter_seek(It(iterator), t.data(), t.size());
  if (leveldb_iter_valid(It(iterator)) != 0) {
    size_t size = 0;
    const char* const key = leveldb_iter_key(It(iterator), &size);
    if (size != t.size() || memcmp(key, t.data(), size) != 0) leveldb_iter_prev(It(iterator));
    return Arrived(env, iterator);
  }
  char* error = nullptr;
  leveldb_iter_get_error(It(iterator), &error);
  if (jni::ThrowError(env, error)) return JNI_FALSE;
  return SeekToLast(env, nullptr, iterator);
}

jboolean Next(JNIEnv* env, jclass, jlong iterator) {
  leveldb_iter_next(It(iterator));
  return Arrived(env, iterator);
}

jboolean Prev(JNIEnv* env, jclass, jlong iterator) {
  leveldb_iter_prev(It(iterator));
  return Arrived(env, iterator);
}

jbyteArray Key(JNIEnv* env, jclass, jlong iterator) {
  size_t size = 0;
  const char* const key = leveldb_iter_key(It(iterator), &size);
  return jni::NewArray(env, key, size);
}

jbyteArray Value(JNIEnv* env, jclass, jlong iterator) {
  size_t size = 0;
  const char* const value = leveldb_iter_value(It(iterator), &size);
  return jni::NewArray(env, value, size);
}

// Copies bytes into a direct buffer if it has room for all of them, and returns how many there are.
jint Copy(JNIEnv* env, const char* data, size_t size, jobject buffer, jint position, jint room) {
  if (size > INT_MAX) {
    jni::ThrowOutOfMemory(env);
    return 0;
  }
  if (size <= static_cast<size_t>(room)) memcpy(AddressOf(env, buffer, position), data, size);
  return static_cast<jint>(size);
}

jint KeyDirect(JNIEnv* env, jclass, jlong iterator, jobject buffer, jint position, jint room) {
  size_t size = 0;
  const char* const key = leveldb_iter_key(It(iterator), &size);
  return Copy(env, key, size, buffer, position, room);
}

jint ValueDirect(JNIEnv* env, jclass, jlong iterator, jobject buffer, jint position, jint room) {
  size_t size = 0;
  const char* const value = leveldb_iter_value(It(iterator), &size);
  return Copy(env, value, size, buffer, position, room);
}

#define METHOD(name, signature, function) \
  { const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function) }

const JNINativeMethod kMethods[] = {
    METHOD("newIterator", "(JJ)J", NewIterator),
    METHOD("freeIterator", "(J)V", FreeIterator),
    METHOD("seekToFirst", "(J)Z", SeekToFirst),
    METHOD("seekToLast", "(J)Z", SeekToLast),
    METHOD("seek", "(J[B)Z", Seek),
    METHOD("seekForPrev", "(J[B)Z", SeekForPrev),
    METHOD("next", "(J)Z", Next),
    METHOD("prev", "(J)Z", Prev),
    METHOD("key", "(J)[B", Key),
    METHOD("value", "(J)[B", Value),
    METHOD("keyDirect", "(JLjava/nio/ByteBuffer;II)I", KeyDirect),
    METHOD("valueDirect", "(JLjava/nio/ByteBuffer;II)I", ValueDirect),
};

}  // namespace

jni::Methods jni::IteratorMethods() { return {kMethods, sizeof(kMethods) / sizeof(kMethods[0])}; }
