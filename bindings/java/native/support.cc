#include "bindings/java/native/support.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace jni {

namespace {

// Global references, made when the library is loaded; it is never unloaded while its classes live.
jclass byte_array_class = nullptr;
jclass exception_class = nullptr;
jclass out_of_memory_class = nullptr;

bool FindClass(JNIEnv* env, const char* name, jclass* found) {
  const jclass local = env->FindClass(name);
  if (local == nullptr) return false;
  *found = static_cast<jclass>(env->NewGlobalRef(local));
  env->DeleteLocalRef(local);
  return *found != nullptr;
}

}  // namespace

bool FindClasses(JNIEnv* env) {
  return FindClass(env, "[B", &byte_array_class) && FindClass(env, "org/miodb/MioDBException", &exception_class) &&
         FindClass(env, "java/lang/OutOfMemoryError", &out_of_memory_class);
}

jclass ByteArrayClass() { return byte_array_class; }

void ThrowOutOfMemory(JNIEnv* env) { env->ThrowNew(out_of_memory_class, "miodb: no memory outside of the heap"); }

// The text goes to Java as bytes: it may hold names of files in any encoding, which NewStringUTF must not see.
bool ThrowError(JNIEnv* env, char* error) {
  if (error == nullptr) return false;
  size_t size = 0;
  while (error[size] != '\0') size++;
  const jbyteArray text = NewArray(env, error, size);
  leveldb_free(error);
  if (text == nullptr) return true;
  const jmethodID made = env->GetStaticMethodID(exception_class, "of", "([B)Lorg/miodb/MioDBException;");
  if (made == nullptr) return true;
  const jobject exception = env->CallStaticObjectMethod(exception_class, made, text);
  // Without memory for the exception of the engine's error OutOfMemoryError is pending.
  if (!env->ExceptionCheck()) env->Throw(static_cast<jthrowable>(exception));
  return true;
}

jbyteArray NewArray(JNIEnv* env, const char* data, size_t size) {
  if (size > INT_MAX) {
    ThrowOutOfMemory(env);
    return nullptr;
  }
  const jsize length = static_cast<jsize>(size);
  const jbyteArray array = env->NewByteArray(length);
  if (array != nullptr) env->SetByteArrayRegion(array, 0, length, reinterpret_cast<const jbyte*>(data));
  return array;
}

void Bytes::Reserve(JNIEnv* env, size_t size) {
  size_ = size;
  data_ = size_ <= kOnStack ? few_ : static_cast<char*>(malloc(size_));
  ok_ = data_ != nullptr;
  if (!ok_) ThrowOutOfMemory(env);
}

Bytes::Bytes(JNIEnv* env, jbyteArray array) {
  if (array == nullptr) return;
  Reserve(env, static_cast<size_t>(env->GetArrayLength(array)));
  if (ok_) env->GetByteArrayRegion(array, 0, static_cast<jsize>(size_), reinterpret_cast<jbyte*>(data_));
}

Bytes::Bytes(JNIEnv* env, const char* source, size_t size) {
  Reserve(env, size);
  if (ok_) memcpy(data_, source, size);
}

Bytes::~Bytes() {
  if (data_ != few_) free(data_);
}

}  // namespace jni

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  if (!jni::FindClasses(env)) return JNI_ERR;
  const jclass natives = env->FindClass("org/miodb/Native");
  if (natives == nullptr) return JNI_ERR;
  for (const jni::Methods& methods : {jni::DatabaseMethods(), jni::IteratorMethods(), jni::OptionMethods()}) {
    if (env->RegisterNatives(natives, methods.methods, static_cast<jint>(methods.count)) != JNI_OK) return JNI_ERR;
  }
  return JNI_VERSION_10;
}
