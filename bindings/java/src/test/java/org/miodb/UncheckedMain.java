package org.miodb;

/** Makes a wrong call of JNI, which -Xcheck:jni has to see. */
final class UncheckedMain {
  private UncheckedMain() {}

  private static native void call(Object object);

  /** Argument: the file of the library that makes it. */
  public static void main(String[] arguments) {
    System.load(arguments[0]);
    call(arguments);
  }
}
