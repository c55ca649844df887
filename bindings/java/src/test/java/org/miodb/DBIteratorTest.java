package org.miodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.miodb.Databases.bytes;
import static org.miodb.Databases.text;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Iterators against a sorted map. */
class DBIteratorTest {
  @TempDir Path folder;
  private DB db;
  private final TreeMap<String, String> model = new TreeMap<>();

  @BeforeEach
  void open() {
    db = Databases.open(folder.resolve("db"));
    for (int i = 0; i < 60; i += 2) {
      String key = String.format("%02d", i);
      model.put(key, "v" + key);
      db.put(bytes(key), bytes("v" + key));
      if (i == 30) {
        db.flush();
      }
    }
  }

  @AfterEach
  void close() {
    db.close();
  }

  private static String key(Random random) {
    return String.format("%02d", random.nextInt(62));
  }

  /** Makes one random move of the iterator, and returns where a map says that it leads. */
  private static String move(Random random, DBIterator iterator, TreeMap<String, String> map, String at) {
    switch (random.nextInt(at == null ? 4 : 10)) {
      case 0:
        iterator.seekToFirst();
        return map.isEmpty() ? null : map.firstKey();
      case 1:
        iterator.seekToLast();
        return map.isEmpty() ? null : map.lastKey();
      case 2:
        String target = key(random);
        iterator.seek(bytes(target));
        return map.ceilingKey(target);
      case 3:
        String behind = key(random);
        iterator.seekForPrev(bytes(behind));
        return map.floorKey(behind);
      case 4, 5, 6:
        iterator.next();
        return map.higherKey(at);
      default:
        iterator.prev();
        return map.lowerKey(at);
    }
  }

  @Test
  void randomMovesWithinBoundsAreThoseOfAMap() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      String lower = random.nextBoolean() ? key(random) : null;
      String upper = random.nextBoolean() ? key(random) : null;
      TreeMap<String, String> within = new TreeMap<>(model);
      within.keySet().removeIf(
          key -> (lower != null && key.compareTo(lower) < 0) || (upper != null && key.compareTo(upper) >= 0));
      ReadOptions options = ReadOptions.DEFAULT.withLowerBound(lower == null ? null : bytes(lower))
          .withUpperBound(upper == null ? null : bytes(upper)).withReadahead(4096);
      try (DBIterator iterator = db.iterator(options)) {
        String at = null;
        List<String> moves = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
          at = move(random, iterator, within, at);
          moves.add(at);
          String what = "seed " + seed + ", bounds " + lower + " " + upper + ", places " + moves;
          assertEquals(at != null, iterator.isValid(), what);
          if (at != null) {
            assertEquals(at, text(iterator.key()), what);
            assertEquals(within.get(at), text(iterator.value()), what);
          }
        }
      }
    }
  }

  @Test
  void anEntryThatIsNotThereIsAnException() {
    try (DBIterator iterator = db.iterator()) {
      for (int i = 0; i < 2; i++) {
        assertFalse(iterator.isValid());
        assertThrows(NoSuchElementException.class, iterator::key);
        assertThrows(NoSuchElementException.class, iterator::value);
        assertThrows(NoSuchElementException.class, iterator::next);
        assertThrows(NoSuchElementException.class, iterator::prev);
        assertThrows(NoSuchElementException.class, () -> iterator.key(ByteBuffer.allocateDirect(1)));
        assertThrows(NoSuchElementException.class, () -> iterator.value(ByteBuffer.allocate(1)));
        iterator.seekToLast();
        iterator.next();
      }
    }
  }

  @Test
  void keysAndValuesGoToBuffers() {
    try (DBIterator iterator = db.iterator()) {
      iterator.seek(bytes("10"));
      for (ByteBuffer buffer : List.of(ByteBuffer.allocateDirect(10), ByteBuffer.allocate(10))) {
        buffer.position(1);
        assertEquals(2, iterator.key(buffer));
        assertEquals("10", text(Buffers.bytes(buffer)));
        buffer.clear();
        assertEquals(3, iterator.value(buffer));
        assertEquals("v10", text(Buffers.bytes(buffer)));
        buffer.clear().position(9);
        assertEquals(3, iterator.value(buffer));
        assertEquals(10, buffer.limit());
      }
    }
  }

  @Test
  void anIteratorSeesWhatWasThereWhenItWasMade() {
    try (DBIterator iterator = db.iterator()) {
      assertEquals(db, iterator.database());
      for (String key : model.keySet()) {
        db.delete(bytes(key));
      }
      db.put(bytes("zz"), bytes("new"));
      db.compactRange(null, null);
      List<String> expected = model.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
      assertEquals(expected, Databases.entries(iterator));
    }
  }
}
