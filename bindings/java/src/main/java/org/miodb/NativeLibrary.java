package org.miodb;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.function.Consumer;

/** Finds the native library in the jar and loads it. */
final class NativeLibrary {
  /** Names a library to load in place of the one in the jar. */
  static final String PROPERTY = "org.miodb.library";

  private NativeLibrary() {}

  /** Throws UnsatisfiedLinkError that says what is missing: no other exception may leave the initializer of a class. */
  static void load() {
    try {
      find();
    } catch (RuntimeException e) {
      throw unusable("loading it failed: " + e, e);
    }
  }

  private static void find() {
    String named = System.getProperty(PROPERTY);
    if (named != null) {
      load(Path.of(named).toAbsolutePath(), System::load);
      return;
    }
    String resource = resource(System.getProperty("os.name"), System.getProperty("os.arch"));
    try (InputStream bytes = NativeLibrary.class.getResourceAsStream(resource)) {
      if (bytes == null) {
        throw unusable("this jar has no " + resource + "; it was built for another platform", null);
      }
      loadCopy(bytes);
    } catch (IOException e) {
      throw unusable("it cannot be copied from the jar to a file (java.io.tmpdir): " + e, e);
    }
  }

  /** Where in the jar the library for a platform lies. */
  static String resource(String system, String architecture) {
    String name = architecture.toLowerCase(Locale.ROOT);
    String known = name.equals("amd64") || name.equals("x86_64") ? "x86_64" : name.equals("aarch64") ? "aarch64" : null;
    if (!system.equals("Linux") || known == null) {
      throw unusable("it runs on Linux on x86-64 and aarch64, and this is " + system + " on " + architecture, null);
    }
    return "/org/miodb/native/linux-" + known + "/libmiodb_jni.so";
  }

  /** A loaded file may be removed: the system keeps what is mapped. */
  private static void loadCopy(InputStream bytes) throws IOException {
    Path folder = Files.createTempDirectory("miodb");
    Path file = folder.resolve("libmiodb_jni.so");
    try {
      Files.copy(bytes, file, StandardCopyOption.REPLACE_EXISTING);
      load(file, System::load);
    } finally {
      Files.deleteIfExists(file);
      Files.deleteIfExists(folder);
    }
  }

  /** Has the system load the library in a file. */
  static void load(Path file, Consumer<String> system) {
    try {
      system.accept(file.toString());
    } catch (UnsatisfiedLinkError e) {
      throw unusable("the system says: " + e.getMessage() + ". It needs the libraries pmem, numa, uring, snappy and zstd "
          + "(Debian: libpmem1 libnuma1 liburing2 libsnappy1v5 libzstd1), and a file system for java.io.tmpdir that "
          + "programs may be run from", e);
    } catch (IllegalCallerException e) {
      throw unusable("this JVM does not let the jar load native libraries. Start it with --enable-native-access=ALL-UNNAMED if "
          + "the jar is on the class path, and with --enable-native-access=org.miodb if it is on the module path", e);
    }
  }

  private static UnsatisfiedLinkError unusable(String why, Throwable cause) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError("MioDB's native library cannot be used: " + why);
    error.initCause(cause);
    return error;
  }
}
