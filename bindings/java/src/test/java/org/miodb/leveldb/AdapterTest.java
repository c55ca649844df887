package org.miodb.leveldb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.function.Supplier;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.DBComparator;
import org.iq80.leveldb.DBIterator;
import org.iq80.leveldb.Options;
import org.iq80.leveldb.Range;
import org.iq80.leveldb.ReadOptions;
import org.iq80.leveldb.Snapshot;
import org.iq80.leveldb.WriteBatch;
import org.iq80.leveldb.WriteOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The interface of iq80: what its own text promises, and its iterator against a list. */
class AdapterTest {
  @TempDir Path folder;
  private File path;
  private DB db;

  @BeforeEach
  void open() throws IOException {
    path = folder.resolve("db").toFile();
    db = MioDBFactory.INSTANCE.open(path, new Options().compressionType(CompressionType.NONE).cacheSize(1 << 20));
  }

  @AfterEach
  void close() throws IOException {
    db.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  @Test
  void getsPutsDeletesAndBatches() throws IOException {
    db.put(bytes("a"), bytes("1"));
    assertNull(db.put(bytes("b"), bytes("2"), new WriteOptions().sync(true)));
    assertEquals("1", text(db.get(bytes("a"))));
    assertNull(db.get(bytes("none")));
    db.delete(bytes("a"));
    assertNull(db.get(bytes("a"), new ReadOptions().fillCache(false).verifyChecksums(true)));
    try (WriteBatch batch = db.createWriteBatch()) {
      batch.put(bytes("c"), bytes("3")).delete(bytes("b")).put(bytes("d"), bytes("4"));
      db.write(batch);
      assertNull(db.write(batch, new WriteOptions()));
    }
    List<String> entries = new ArrayList<>();
    for (Map.Entry<byte[], byte[]> entry : db) {
      entries.add(text(entry.getKey()) + "=" + text(entry.getValue()));
    }
    assertEquals(List.of("c=3", "d=4"), entries);
    assertThrows(NullPointerException.class, () -> db.get(null));
  }

  @Test
  void aWriteGivesTheStateBehindItWhenAsked() throws IOException {
    WriteOptions asked = new WriteOptions().snapshot(true);
    try (Snapshot first = db.put(bytes("k"), bytes("1"), asked); Snapshot second = db.delete(bytes("k"), asked);
        Snapshot third = db.write(db.createWriteBatch().put(bytes("k"), bytes("3")), asked)) {
      assertEquals("1", text(db.get(bytes("k"), new ReadOptions().snapshot(first))));
      assertNull(db.get(bytes("k"), new ReadOptions().snapshot(second)));
      assertEquals("3", text(db.get(bytes("k"), new ReadOptions().snapshot(third))));
      try (DBIterator iterator = db.iterator(new ReadOptions().snapshot(second))) {
        assertFalse(iterator.hasNext());
      }
    }
    assertNotNull(db.getSnapshot());
  }

  /** What a move gives, null where it says that there is nothing. */
  private static String entry(Supplier<Map.Entry<byte[], byte[]>> move) {
    try {
      return text(move.get().getKey());
    } catch (NoSuchElementException e) {
      return null;
    }
  }

  @Test
  void randomMovesOfAnIteratorAreThoseOfAPlaceInAList() throws IOException {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 40; i += 2) {
      keys.add(String.format("%02d", i));
      db.put(bytes(keys.get(keys.size() - 1)), bytes("v"));
    }
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      int place = 0;
      try (DBIterator iterator = db.iterator()) {
        for (int i = 0; i < 100; i++) {
          String what = "seed " + seed + ", move " + i + ", place " + place;
          String next = place < keys.size() ? keys.get(place) : null;
          String previous = place > 0 ? keys.get(place - 1) : null;
          switch (random.nextInt(9)) {
            case 0 -> {
              iterator.seekToFirst();
              place = 0;
            }
            case 1 -> {
              iterator.seekToLast();
              place = keys.size() - 1;
            }
            case 2 -> {
              int target = random.nextInt(42);
              iterator.seek(bytes(String.format("%02d", target)));
              place = Math.min((target + 1) / 2, keys.size());
            }
            case 3 -> assertEquals(next != null, iterator.hasNext(), what);
            case 4 -> assertEquals(previous != null, iterator.hasPrev(), what);
            case 5 -> assertEquals(next, entry(iterator::peekNext), what);
            case 6 -> assertEquals(previous, entry(iterator::peekPrev), what);
            case 7 -> {
              assertEquals(next, entry(iterator::next), what);
              place = Math.min(place + 1, keys.size());
            }
            default -> {
              assertEquals(previous, entry(iterator::prev), what);
              place = Math.max(place - 1, 0);
            }
          }
        }
      }
    }
  }

  @Test
  void sizesPropertiesAndCompactions() {
    for (int i = 0; i < 1000; i++) {
      db.put(bytes(String.format("%04d", i)), new byte[100]);
    }
    db.compactRange(null, null);
    db.compactRange(bytes("0"), bytes("5"));
    long[] sizes = db.getApproximateSizes(new Range(bytes("0"), bytes("9")), new Range(bytes("x"), bytes("y")));
    assertTrue(sizes[0] > 50_000 && sizes[1] == 0);
    assertNotNull(db.getProperty("leveldb.stats"));
    assertNull(db.getProperty("none"));
    assertThrows(UnsupportedOperationException.class, db::suspendCompactions);
    assertThrows(UnsupportedOperationException.class, db::resumeCompactions);
  }

  @Test
  void whatIsClosedThrows() throws IOException {
    DBIterator iterator = db.iterator();
    DBIterator closed = db.iterator();
    Snapshot snapshot = db.getSnapshot();
    closed.close();
    assertThrows(IllegalStateException.class, closed::hasNext);
    assertThrows(UnsupportedOperationException.class, iterator::remove);
    db.close();
    db.close();
    assertThrows(IllegalStateException.class, () -> db.get(bytes("k")));
    assertThrows(IllegalStateException.class, () -> db.get(bytes("k"), new ReadOptions().snapshot(snapshot)));
    for (Runnable call : List.<Runnable>of(iterator::hasNext, iterator::hasPrev, iterator::next, iterator::prev,
        iterator::seekToFirst, iterator::seekToLast, () -> iterator.seek(bytes("k")))) {
      assertThrows(IllegalStateException.class, call::run);
    }
    iterator.close();
    snapshot.close();
  }

  @Test
  void theFactoryOpensRepairsAndDestroys() throws IOException {
    db.put(bytes("k"), bytes("v"));
    assertThrows(IOException.class, () -> MioDBFactory.INSTANCE.open(path, new Options()));
    assertThrows(IOException.class, () -> MioDBFactory.INSTANCE.destroy(path, new Options()));
    db.close();
    assertThrows(IOException.class, () -> MioDBFactory.INSTANCE.open(path, new Options().errorIfExists(true)));
    MioDBFactory.INSTANCE.repair(path, new Options());
    try (DB repaired = MioDBFactory.INSTANCE.open(path, new Options())) {
      assertArrayEquals(bytes("v"), repaired.get(bytes("k")));
    }
    MioDBFactory.INSTANCE.destroy(path, new Options());
    assertFalse(path.exists());
    assertThrows(IOException.class,
        () -> MioDBFactory.INSTANCE.open(path, new Options().createIfMissing(false)));
    Path pool = folder.resolve("pool");
    MioDBFactory elsewhere = new MioDBFactory(options -> options.poolPath(pool));
    elsewhere.open(path, new Options()).close();
    assertTrue(pool.toFile().exists());
    assertTrue(MioDBFactory.INSTANCE.toString().startsWith("MioDB "));
  }

  @Test
  void aComparatorIsRefused() {
    DBComparator comparator = new DBComparator() {
      @Override
      public int compare(byte[] a, byte[] b) {
        return 0;
      }

      @Override
      public String name() {
        return "none";
      }

      @Override
      public byte[] findShortestSeparator(byte[] start, byte[] limit) {
        return start;
      }

      @Override
      public byte[] findShortSuccessor(byte[] key) {
        return key;
      }
    };
    assertThrows(UnsupportedOperationException.class,
        () -> MioDBFactory.INSTANCE.open(path, new Options().comparator(comparator)));
  }
}
