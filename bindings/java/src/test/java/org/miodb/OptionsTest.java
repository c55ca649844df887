package org.miodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.miodb.Databases.bytes;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Options reach the engine, wrong ones are refused by name, and errors are of their kinds. */
class OptionsTest {
  @TempDir Path folder;

  private static MioDBException.Kind kindOf(Runnable call) {
    return assertThrows(MioDBException.class, call::run).kind();
  }

  @Test
  void optionsOfThePoolReachTheDatabase() {
    Path path = folder.resolve("db");
    Path pool = folder.resolve("pool");
    Path ssd = folder.resolve("ssd");
    Options options = Databases.options().poolPath(pool).ssdPath(ssd).poolSize(8 << 20).poolGrowth(1 << 20)
        .persistMode(Options.PersistMode.FILE).fileAccess(Options.FileAccess.GROUP_READS)
        .compression(Options.Compression.ZSTD).blockCacheSize(1 << 20).bloomFilterBits(10);
    try (DB db = DB.open(path, options)) {
      assertTrue(Files.exists(pool) && Files.exists(ssd));
      assertEquals("file", db.property("miodb.persist-mode"));
      assertEquals(8 << 20, db.longProperty("miodb.pool-bytes-capacity").getAsLong());
    }
    DB.destroy(path, options);
    assertFalse(Files.exists(path) || Files.exists(pool));
  }

  /** Every option of the engine has a setter here, whose name and value the native library takes. */
  @Test
  void everyOptionOfTheEngineCanBeSet() throws Exception {
    String document = Files.readString(Path.of("../../docs/options.md"));
    Matcher names = Pattern.compile("^\\| `(\\w+)` \\|(?:[^|]*\\|){6}$", Pattern.MULTILINE).matcher(document);
    Set<String> wanted = new TreeSet<>();
    while (names.find()) {
      wanted.add(camel(names.group(1)));
    }
    assertTrue(wanted.size() > 50);
    Path path = folder.resolve("db");
    for (Method method : Options.class.getMethods()) {
      if (method.getReturnType() != Options.class || method.getParameterCount() != 1) {
        continue;
      }
      wanted.remove(method.getName());
      Class<?> type = method.getParameterTypes()[0];
      Object value = type == boolean.class ? true : type == long.class ? (Object) 256L : type == int.class ? (Object) 1
          : type == Path.class ? folder.resolve("p") : type == String.class ? "" : type.getEnumConstants()[0];
      Options options = new Options();
      method.invoke(options, value);
      try {
        options.copy().apply().free();
      } catch (MioDBException wrong) {
        // 256 is in the range of few.
        assertEquals(MioDBException.Kind.INVALID_ARGUMENT, wrong.kind());
        assertTrue(wrong.getMessage().contains("is '256': allowed: "), wrong.getMessage());
      }
    }
    assertEquals(Set.of(), wanted);
    for (String name : new String[] {"no_such_option", "comparator"}) {
      Options options = new Options().set(name, "1");
      assertTrue(assertThrows(MioDBException.class, () -> DB.open(path, options)).getMessage().contains("Options::" + name));
    }
    assertFalse(Files.exists(path));
  }

  private static String camel(String name) {
    Matcher letters = Pattern.compile("_(\\w)").matcher(name);
    return letters.replaceAll(match -> match.group(1).toUpperCase(java.util.Locale.ROOT));
  }

  @Test
  void wrongOptionsAreRefusedByName() {
    Path path = folder.resolve("db");
    MioDBException wrong =
        assertThrows(MioDBException.class, () -> DB.open(path, Databases.options().numLevels(1)));
    assertEquals(MioDBException.Kind.INVALID_ARGUMENT, wrong.kind());
    assertTrue(wrong.getMessage().contains("Options::num_levels"), wrong.getMessage());
    assertThrows(IllegalArgumentException.class, () -> new Options().poolSize(-1));
    assertThrows(IllegalArgumentException.class, () -> new Options().blockCacheSize(-1));
    assertThrows(IllegalArgumentException.class, () -> new Options().bloomFilterBits(-1));
    assertThrows(IllegalArgumentException.class, () -> ReadOptions.DEFAULT.withReadahead(-1));
    assertThrows(NullPointerException.class, () -> new Options().poolPath(null));
    assertFalse(Files.exists(path));
  }

  @Test
  void errorsAreOfTheirKinds() throws IOException {
    Path path = folder.resolve("db");
    assertEquals(MioDBException.Kind.INVALID_ARGUMENT, kindOf(() -> DB.open(path, new Options())));
    try (DB db = Databases.open(path)) {
      for (int i = 0; i < 1000; i++) {
        db.put(bytes("" + i), new byte[1000]);
      }
      db.waitForIdle();
      assertEquals(MioDBException.Kind.IO, kindOf(() -> Databases.open(path)));
      assertThrows(MioDBException.class, () -> DB.destroy(path, new Options()));
    }
    assertEquals(MioDBException.Kind.INVALID_ARGUMENT,
        kindOf(() -> DB.open(path, Databases.options().errorIfExists(true))));
    assertEquals(MioDBException.Kind.NOT_FOUND, kindOf(() -> Databases.open(folder.resolve("no/parent/db"))));
    DB.repair(path, new Options());
    Path pool = path.resolve("pool");
    byte[] damaged = new byte[(int) Files.size(pool)];
    java.util.Arrays.fill(damaged, (byte) -1);
    Files.write(pool, damaged);
    assertEquals(MioDBException.Kind.CORRUPTION, kindOf(() -> Databases.open(path)));
  }

  @Test
  void aPathWithAZeroCharacterIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> Options.bytes("a\0b"));
  }

  /** Every kind of the engine's errors that a call of this binding can have. */
  @Test
  void theKindsAreThoseOfTheEngine() throws IOException {
    Matcher texts = Pattern.compile("return \"([^\"]+: )\" \\+").matcher(Files.readString(Path.of("../../src/api/types/status.cc")));
    Set<MioDBException.Kind> found = EnumSet.of(MioDBException.Kind.OTHER);
    Set<String> others = new TreeSet<>();
    while (texts.find()) {
      MioDBException.Kind kind = MioDBException.of(bytes(texts.group(1) + "text")).kind();
      found.add(kind);
      if (kind == MioDBException.Kind.OTHER) {
        others.add(texts.group(1));
      }
    }
    assertEquals(EnumSet.allOf(MioDBException.Kind.class), found);
    // Transactions and merges, which the binding does not offer, have these.
    assertEquals(Set.of("Resource busy: ", "Merge in progress: "), others);
  }

  /** The engine would take the path of a file in a zip file for one in the system's file system. */
  @Test
  void aPathOfAnotherFileSystemIsRefused() throws IOException {
    Path real = Path.of("/miodb-of-a-zip-file");
    try (FileSystem zip = FileSystems.newFileSystem(folder.resolve("a.zip"), Map.of("create", "true"))) {
      Path path = zip.getPath(real.toString());
      assertThrows(IllegalArgumentException.class, () -> DB.open(path, Databases.options()));
      assertThrows(IllegalArgumentException.class, () -> DB.destroy(path, new Options()));
      assertThrows(IllegalArgumentException.class, () -> DB.repair(path, new Options()));
      assertThrows(IllegalArgumentException.class, () -> new Options().poolPath(path));
      assertThrows(IllegalArgumentException.class, () -> new Options().walDir(path));
      assertThrows(IllegalArgumentException.class, () -> new Options().ssdPath(path));
    }
    assertFalse(Files.exists(real));
  }
}
