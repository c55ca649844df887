package org.miodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What needs a JVM of its own, and the loading of the native library. */
@Timeout(600)
class ProcessTest {
  @TempDir Path folder;

  /**
   * Runs a main class of the tests in a JVM with these options, and with those that look for wrong uses of JNI; returns its status
   * and what it printed.
   */
  private String run(List<String> options, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(System.getProperty("miodb.jvm").split(" ")));
    command.addAll(options);
    command.add(program.getName());
    command.addAll(List.of(arguments));
    Path output = folder.resolve("output");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    return process.waitFor() + "\n" + Files.readString(output);
  }

  @Test
  void leakedIteratorsAreCollectedUnderASmallHeap() throws Exception {
    boolean heavy = "heavy".equals(System.getenv("MIODB_TEST_SCALE"));
    String said = run(List.of("-Xmx32m"), LeakMain.class, folder.resolve("db").toString(),
        heavy ? "10000000" : "500000");
    assertTrue(said.startsWith("0\n"), said);
  }

  @Test
  void manyDatabasesShareThreadsAndTakeLittleMemory() throws Exception {
    String said = run(List.of("-Xmx64m"), ManyStoresMain.class, folder.toString(), "300");
    assertTrue(said.startsWith("0\n"), said);
  }

  @Test
  void aFullHeapLeavesNothingBehind() throws Exception {
    String said = run(List.of("-Xmx16m"), FullHeapMain.class, folder.resolve("db").toString());
    assertEquals("0\n", said);
  }

  @Test
  void aProcessEndsWhileThreadsReadAndWrite() throws Exception {
    String path = folder.resolve("db").toString();
    for (int i = 0; i < 5; i++) {
      String said = run(List.of(), ExitMain.class, path);
      assertEquals("0\n", said);
    }
    Databases.open(Path.of(path)).close();
  }

  @Test
  void aPlatformWithoutALibraryIsNamed() throws Exception {
    String said = run(List.of("-Dos.arch=riscv64"), LeakMain.class, folder.resolve("db").toString(), "1");
    assertTrue(said.startsWith("1\n"), said);
    assertTrue(said.contains("runs on Linux on x86-64 and aarch64, and this is Linux on riscv64"), said);
    assertThrows(UnsatisfiedLinkError.class, () -> NativeLibrary.resource("Windows 11", "amd64"));
    assertEquals("/org/miodb/native/linux-aarch64/libmiodb_jni.so", NativeLibrary.resource("Linux", "aarch64"));
  }

  @Test
  void aLibraryThatDoesNotLoadSaysWhatItNeeds() throws IOException {
    Path file = Files.writeString(folder.resolve("no_library.so"), "text");
    UnsatisfiedLinkError error = assertThrows(UnsatisfiedLinkError.class, () -> NativeLibrary.load(file, System::load));
    assertTrue(error.getMessage().contains("libpmem1"), error.getMessage());
    assertTrue(error.getMessage().contains("no_library.so"), error.getMessage());
  }

  @Test
  void aJvmThatRefusesNativeLibrariesSaysHowItAllowsThem() {
    UnsatisfiedLinkError error = assertThrows(UnsatisfiedLinkError.class, () -> NativeLibrary.load(folder, file -> {
      // As System.load of Java 24 and later does with --illegal-native-access=deny.
      throw new IllegalCallerException("Illegal native access from an unnamed module");
    }));
    assertTrue(error.getMessage().contains("--enable-native-access=ALL-UNNAMED"), error.getMessage());
  }

  @Test
  void whateverKeepsTheLibraryFromBeingLoadedIsALinkError() {
    System.setProperty(NativeLibrary.PROPERTY, "a\0b");
    try {
      UnsatisfiedLinkError error = assertThrows(UnsatisfiedLinkError.class, NativeLibrary::load);
      assertTrue(error.getMessage().contains("InvalidPathException"), error.getMessage());
    } finally {
      System.clearProperty(NativeLibrary.PROPERTY);
    }
  }

  @Test
  void theJarHasTheLicencesOfWhatIsInIt() throws Exception {
    Path content = Path.of(DB.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    assertTrue(Files.readString(content.resolve("META-INF/LICENSE")).contains("MioDB authors"));
    assertTrue(Files.readString(content.resolve("META-INF/licenses/xxHash")).contains("Yann Collet"));
  }
}
