package org.miodb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.miodb.Databases.bytes;
import static org.miodb.Databases.text;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gets, puts, batches and many gets: what goes in comes out. */
class DBTest {
  @TempDir Path folder;
  private DB db;

  @BeforeEach
  void open() {
    db = Databases.open(folder.resolve("db"));
  }

  @AfterEach
  void close() {
    db.close();
  }

  @Test
  void aValueIsWhatWasPut() {
    assertNull(db.get(bytes("key")));
    Random random = new Random(301);
    for (int size : new int[] {0, 1, 511, 512, 513, 100_000}) {
      byte[] value = new byte[size];
      random.nextBytes(value);
      byte[] key = Arrays.copyOf(value, Math.min(size, 2000));
      db.put(key, value, WriteOptions.SYNC);
      assertArrayEquals(value, db.get(key));
      assertArrayEquals(value, db.get(key, ReadOptions.DEFAULT.withVerifyChecksums(true).withFillCache(false)));
      db.delete(key);
      assertNull(db.get(key));
    }
    db.delete(bytes("none"), WriteOptions.SYNC);
  }

  @Test
  void directBuffersAndOthersGiveTheSame() {
    byte[] data = bytes("..key..value..");
    for (ByteBuffer buffer : List.of(ByteBuffer.allocateDirect(20), ByteBuffer.allocate(20))) {
      buffer.put(data);
      ByteBuffer key = buffer.duplicate().position(2).limit(5);
      ByteBuffer value = buffer.duplicate().position(7).limit(12);
      db.put(key, value);
      assertEquals("value", text(db.get(bytes("key"))));
      db.put(key, value, WriteOptions.SYNC);
      assertEquals(2, key.position());
      assertEquals(5, value.remaining());
      for (ByteBuffer into : List.of(ByteBuffer.allocateDirect(30), ByteBuffer.allocate(30))) {
        into.position(3);
        assertEquals(5, db.get(key, into));
        byte[] read = new byte[into.remaining()];
        into.get(read);
        assertEquals("value", text(read));
        into.clear().position(28);
        assertEquals(5, db.get(key, into, ReadOptions.DEFAULT));
        assertEquals(30, into.limit());
        assertEquals(0, into.get(28));
        assertEquals(DB.NOT_FOUND, db.get(value, into));
      }
      assertEquals("value", text(db.get(bytes("key"))));
    }
    assertThrows(ReadOnlyBufferException.class,
        () -> db.get(ByteBuffer.allocateDirect(1), ByteBuffer.allocateDirect(1).asReadOnlyBuffer()));
    db.put(ByteBuffer.allocateDirect(0), ByteBuffer.allocateDirect(0));
    assertEquals(0, db.get(ByteBuffer.allocateDirect(0), ByteBuffer.allocateDirect(0)));
  }

  /** Does something to a buffer in another thread, again and again, while the body runs. */
  private static void beside(Runnable change, Runnable body) throws InterruptedException {
    AtomicBoolean ended = new AtomicBoolean();
    Thread other = new Thread(() -> {
      while (!ended.get()) {
        change.run();
      }
    });
    other.start();
    try {
      body.run();
    } finally {
      ended.set(true);
      other.join();
    }
  }

  @Test
  void aBufferThatAnotherThreadMovesInIsNotLeft() throws InterruptedException {
    ByteBuffer all = ByteBuffer.allocateDirect(8192);
    ByteBuffer part = all.slice(0, 4096);
    byte[] value = new byte[4096];
    Arrays.fill(value, (byte) 1);
    ByteBuffer key = ByteBuffer.allocateDirect(1);
    db.put(new byte[1], value);
    beside(() -> part.clear().position(4000), () -> {
      for (int i = 0; i < 100000; i++) {
        try {
          db.get(key, part);
        } catch (IndexOutOfBoundsException | IllegalArgumentException torn) {
          // What the other thread did in between was seen.
        }
      }
    });
    for (int i = 4096; i < 8192; i++) {
      assertEquals(0, all.get(i), "byte " + i);
    }
  }

  /** The log has the checksum of what it has, whatever the writer's bytes become meanwhile. */
  @Test
  void aBufferThatChangesDuringAPutDamagesNothing() throws InterruptedException {
    ByteBuffer key = ByteBuffer.allocateDirect(1);
    ByteBuffer value = ByteBuffer.allocateDirect(4 << 20);
    ByteBuffer changed = value.duplicate();
    beside(() -> {
      for (int i = 0; i < changed.capacity(); i += 1 << 16) {
        changed.put(i, (byte) (changed.get(i) + 1));
      }
    }, () -> {
      for (int i = 0; i < 20; i++) {
        db.put(key.put(0, (byte) i), value);
      }
    });
    for (int i = 0; i < 20; i++) {
      byte[] read = db.get(new byte[] {(byte) i}, ReadOptions.DEFAULT.withVerifyChecksums(true));
      assertEquals(value.capacity(), read.length);
    }
  }

  @Test
  void nullIsRefused() {
    WriteBatch batch = new WriteBatch();
    DBIterator iterator = db.iterator();
    byte[] key = bytes("k");
    assertThrows(NullPointerException.class, () -> db.get(null));
    assertThrows(NullPointerException.class, () -> db.get(null, ReadOptions.DEFAULT));
    assertThrows(NullPointerException.class, () -> db.get(key, null));
    assertThrows(NullPointerException.class, () -> db.put(null, key));
    assertThrows(NullPointerException.class, () -> db.put(key, null));
    assertThrows(NullPointerException.class, () -> db.put((ByteBuffer) null, ByteBuffer.allocateDirect(1)));
    assertThrows(NullPointerException.class, () -> db.put(ByteBuffer.allocateDirect(1), null));
    assertThrows(NullPointerException.class, () -> db.get(null, ByteBuffer.allocateDirect(1)));
    assertThrows(NullPointerException.class, () -> db.get(ByteBuffer.allocateDirect(1), (ByteBuffer) null));
    assertThrows(NullPointerException.class, () -> db.delete(null));
    assertThrows(NullPointerException.class, () -> db.write(null));
    assertThrows(NullPointerException.class, () -> db.multiGet(Arrays.asList(key, null)));
    assertThrows(NullPointerException.class, () -> db.approximateSize(null, key));
    assertThrows(NullPointerException.class, () -> db.property(null));
    assertThrows(NullPointerException.class, () -> db.iterator(null));
    assertThrows(NullPointerException.class, () -> batch.put(key, null));
    assertThrows(NullPointerException.class, () -> batch.delete((byte[]) null));
    assertThrows(NullPointerException.class, () -> batch.append(null));
    assertThrows(NullPointerException.class, () -> iterator.seek(null));
    assertThrows(NullPointerException.class, () -> iterator.seekForPrev(null));
    assertThrows(NullPointerException.class, () -> DB.open(null, new Options()));
    assertEquals(0, batch.count());
    assertEquals(List.of(), Databases.entries(db));
  }

  @Test
  void manyGetsInOneCall() {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      byte[] key = bytes("key " + i);
      keys.add(key);
      if (i % 3 != 0) {
        db.put(key, bytes("value " + i));
      }
    }
    keys.add(new byte[0]);
    List<byte[]> values = db.multiGet(keys);
    assertEquals(keys.size(), values.size());
    for (int i = 0; i < keys.size(); i++) {
      assertArrayEquals(db.get(keys.get(i)), values.get(i));
    }
    assertEquals(List.of(), db.multiGet(List.of()));
    try (Snapshot snapshot = db.snapshot()) {
      db.put(keys.get(0), bytes("new"));
      assertNull(db.multiGet(keys.subList(0, 1), ReadOptions.DEFAULT.withSnapshot(snapshot)).get(0));
    }
    assertEquals("new", text(db.multiGet(keys).get(0)));
  }

  @Test
  void aBatchIsWrittenWholeAndInOrder() {
    WriteBatch batch = new WriteBatch().put(bytes("a"), bytes("1")).delete(bytes("a")).put(bytes("b"), new byte[0]);
    batch.append(new WriteBatch().put(bytes("c"), bytes("3")));
    batch.append(new WriteBatch());
    ByteBuffer direct = ByteBuffer.allocateDirect(4).put(bytes("dd44")).flip();
    batch.put(direct.duplicate().limit(2), direct.duplicate().position(2));
    batch.delete(direct.duplicate().limit(1));
    assertEquals(6, batch.count());
    List<String> updates = new ArrayList<>();
    batch.iterate(new WriteBatch.Handler() {
      @Override
      public void put(byte[] key, byte[] value) {
        updates.add(text(key) + "=" + text(value));
      }

      @Override
      public void delete(byte[] key) {
        updates.add(text(key));
      }
    });
    assertEquals(List.of("a=1", "a", "b=", "c=3", "dd=44", "d"), updates);
    assertEquals(List.of(), Databases.entries(db));
    db.write(batch);
    db.write(batch, WriteOptions.SYNC);
    assertEquals(List.of("b=", "c=3", "dd=44"), Databases.entries(db));
    batch.append(batch);
    assertEquals(12, batch.count());
    db.write(batch.clear());
    assertEquals(0, batch.approximateSize());
    byte[] large = new byte[3 << 20];
    db.write(batch.put(bytes("large"), large));
    assertArrayEquals(large, db.get(bytes("large")));
  }

  @Test
  void aBatchDeletesRanges() {
    for (String key : List.of("a", "b", "c", "d")) {
      db.put(bytes(key), bytes("1"));
    }
    WriteBatch batch = new WriteBatch().deleteRange(bytes("b"), bytes("d")).put(bytes("c"), bytes("2"));
    List<String> ranges = new ArrayList<>();
    batch.iterate(new WriteBatch.Handler() {
      @Override
      public void put(byte[] key, byte[] value) {}

      @Override
      public void delete(byte[] key) {}

      @Override
      public void deleteRange(byte[] begin, byte[] end) {
        ranges.add(text(begin) + "-" + text(end));
      }
    });
    assertEquals(List.of("b-d"), ranges);
    db.write(batch);
    assertEquals(List.of("a=1", "c=2", "d=1"), Databases.entries(db));
    db.write(batch.clear().deleteRange(bytes(""), bytes("z")));
    assertEquals(List.of(), Databases.entries(db));
  }

  @Test
  void aBatchThatAnotherThreadChangesHarmsNothing() throws InterruptedException {
    WriteBatch batch = new WriteBatch();
    Thread other = new Thread(() -> {
      for (int i = 0; i < 20_000; i++) {
        try {
          if (i % 50 == 0) {
            batch.clear();
          }
          batch.put(new byte[i % 1000], new byte[i % 77]);
        } catch (RuntimeException e) {
          batch.clear();
        }
      }
    });
    other.start();
    while (other.isAlive()) {
      try {
        db.write(batch);
      } catch (IllegalStateException | MioDBException e) {
        assertTrue(e.getMessage() != null);
      }
    }
    other.join();
    db.put(bytes("k"), bytes("v"));
    assertEquals("v", text(db.get(bytes("k"))));
  }

  @Test
  void aSnapshotDoesNotSeeWhatComesLater() {
    db.put(bytes("a"), bytes("old"));
    try (Snapshot snapshot = db.snapshot()) {
      ReadOptions then = ReadOptions.DEFAULT.withSnapshot(snapshot);
      db.put(bytes("a"), bytes("new"));
      db.put(bytes("b"), bytes("2"));
      assertEquals("old", text(db.get(bytes("a"), then)));
      ByteBuffer value = ByteBuffer.allocateDirect(10);
      assertEquals(3, db.get(ByteBuffer.allocateDirect(1).put(0, (byte) 'a'), value, then));
      assertEquals('o', value.get(0));
      try (DBIterator iterator = db.iterator(then)) {
        assertEquals(List.of("a=old"), Databases.entries(iterator));
      }
      assertEquals("new", text(db.get(bytes("a"), then.withSnapshot(null))));
      try (DB other = Databases.open(folder.resolve("other"))) {
        assertThrows(IllegalArgumentException.class, () -> other.get(bytes("a"), then));
        assertThrows(IllegalArgumentException.class, () -> other.iterator(then));
      }
    }
  }

  @Test
  void whatADatabaseSaysOfItself() {
    for (int i = 0; i < 1000; i++) {
      db.put(bytes(String.format("%04d", i)), new byte[100]);
    }
    db.flush();
    db.waitForIdle();
    db.compactRange(bytes("0"), null);
    db.compactRange(null, bytes("1"));
    assertTrue(db.approximateSize(bytes("0"), bytes("9")) > 50_000);
    assertEquals(0, db.approximateSize(bytes("x"), bytes("y")));
    assertTrue(db.statistics().size() > 10);
    assertTrue(db.property("miodb.counters").contains(":"));
    assertTrue(db.longProperty("miodb.live-bytes").getAsLong() > 0);
    assertTrue(db.longProperty("miodb.persist-mode").isEmpty());
    assertNull(db.property("none"));
    assertTrue(DB.version().matches("[0-9]+\\.[0-9]+"));
    assertEquals(folder.resolve("db"), db.path());
  }
}
