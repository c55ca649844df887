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

// A move without an argument.
template <void (*move)(leveldb_iterator_t*)>
jboolean Move(JNIEnv* env, jclass, jlong iterator) {
  move(It(iterator));
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
  return Move<leveldb_iter_seek_to_last>(env, nullptr, iterator);
}

// The key or the value of the entry.
using Part = const char* (*)(const leveldb_iterator_t*, size_t*);

template <Part part>
jbyteArray Array(JNIEnv* env, jclass, jlong iterator) {
  size_t size = 0;
  const char* const data = part(It(iterator), &size);
  return jni::NewArray(env, data, size);
}

// Copies it into a direct buffer if that has room for all of it, and returns how many bytes there are.
template <Part part>
jint Direct(JNIEnv* env, jclass, jlong iterator, jobject buffer, jint position, jint room) {
  size_t size = 0;
  const char* const data = part(It(iterator), &size);
  if (size > INT_MAX) {
    jni::ThrowOutOfMemory(env);
    return 0;
  }
  if (size <= static_cast<size_t>(room)) memcpy(AddressOf(env, buffer, position), data, size);
  return static_cast<jint>(size);
}

#define METHOD(name, signature, function) \
  { const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function) }

const JNINativeMethod kMethods[] = {
    METHOD("newIterator", "(JJ)J", NewIterator),
    METHOD("freeIterator", "(J)V", FreeIterator),
    METHOD("seekToFirst", "(J)Z", Move<leveldb_iter_seek_to_first>),
    METHOD("seekToLast", "(J)Z", Move<leveldb_iter_seek_to_last>),
    METHOD("seek", "(J[B)Z", Seek),
    METHOD("seekForPrev", "(J[B)Z", SeekForPrev),
    METHOD("next", "(J)Z", Move<leveldb_iter_next>),
    METHOD("prev", "(J)Z", Move<leveldb_iter_prev>),
    METHOD("key", "(J)[B", Array<leveldb_iter_key>),
    METHOD("value", "(J)[B", Array<leveldb_iter_value>),
    METHOD("keyDirect", "(JLjava/nio/ByteBuffer;II)I", Direct<leveldb_iter_key>),
    METHOD("valueDirect", "(JLjava/nio/ByteBuffer;II)I", Direct<leveldb_iter_value>),
};

}  // namespace

jni::Methods jni::IteratorMethods() { return {kMethods, sizeof(kMethods) / sizeof(kMethods[0])}; }
