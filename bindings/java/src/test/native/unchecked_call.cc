// A planted fault: a method of Java is called, and JNI is used again without a look for an exception. The scripts of
// the tests prove by it that -Xcheck:jni is on, and that they read what it says.

#include <jni.h>

extern "C" JNIEXPORT void JNICALL Java_org_miodb_UncheckedMain_call(JNIEnv* env, jclass, jobject object) {
  const jclass kind = env->FindClass("java/lang/Object");
  const jmethodID hash = env->GetMethodID(kind, "hashCode", "()I");
  env->CallIntMethod(object, hash);
  env->FindClass("java/lang/String");
}
