// Functions that the files of the JNI library share: errors as exceptions, bytes of Java, handles.
//
// The library unpacks what Java gives, makes one call of the C API, and packs what comes back. The library keeps no
// state but the classes that it makes objects of. A handle is the address of an object of the C API as a long; Java
// sees to it that it is alive during the call (Store.java), so nothing is checked here but what other programs could
// change meanwhile: the bytes of arrays and buffers.
//
// Errors: a function that fails leaves an exception pending and returns zero or null.

#ifndef MIODB_BINDINGS_JAVA_NATIVE_SUPPORT_H_
#define MIODB_BINDINGS_JAVA_NATIVE_SUPPORT_H_

#include <jni.h>
#include <leveldb/c.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "miodb/c.h"

namespace jni {

// Finds the classes that the library makes objects of. Returns false with an exception pending.
bool FindClasses(JNIEnv* env);

// The class of byte[].
jclass ByteArrayClass();

// Throws what *error says, if it says anything, and frees it. Returns whether it did.
bool ThrowError(JNIEnv* env, char* error);

void ThrowOutOfMemory(JNIEnv* env);

// An array of these bytes. Null with an exception pending if there is no memory for it, or no array so long.
jbyteArray NewArray(JNIEnv* env, const char* data, size_t size);

// Calls the function, whose vectors may find no memory.
template <typename Function>
auto Guarded(JNIEnv* env, Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    ThrowOutOfMemory(env);
    return decltype(function())();
  }
}

template <typename T>
T* FromHandle(jlong handle) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(handle));
}

template <typename T>
jlong ToHandle(T* object) {
  return static_cast<jlong>(reinterpret_cast<uintptr_t>(object));
}

// A copy of the bytes of an array, on the stack if they are few. A copy, because a call may wait, and an array that is
// held meanwhile would hold up the garbage collector. A null array has data() == nullptr. Bytes of a buffer are copied
// for a write alone: the log has them with their checksum, and another thread may change the buffer.
class Bytes {
 public:
  Bytes(JNIEnv* env, jbyteArray array);
  Bytes(JNIEnv* env, const char* source, size_t size);
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  // Whether the bytes are there; otherwise an exception is pending.
  bool ok() const { return ok_; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kOnStack = 512;

  // Gets the place for so many bytes.
  void Reserve(JNIEnv* env, size_t size);

  char few_[kOnStack];
  char* data_ = nullptr;
  size_t size_ = 0;
  bool ok_ = true;
};

// Where the bytes of a direct buffer are, from a position on that Java has checked.
inline char* AddressOf(JNIEnv* env, jobject buffer, jint position) {
  return static_cast<char*>(env->GetDirectBufferAddress(buffer)) + position;
}

// The functions of a class, for RegisterNatives.
struct Methods {
  const JNINativeMethod* methods;
  size_t count;
};

Methods DatabaseMethods();
Methods IteratorMethods();
Methods OptionMethods();

}  // namespace jni

#endif  // MIODB_BINDINGS_JAVA_NATIVE_SUPPORT_H_
