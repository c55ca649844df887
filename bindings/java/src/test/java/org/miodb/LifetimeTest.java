package org.miodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.miodb.Databases.bytes;
import static org.miodb.Databases.text;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is closed says so, what is leaked goes, and nothing crashes. */
@Timeout(600)
class LifetimeTest {
  @TempDir Path folder;

  private DB open() {
    return Databases.open(folder.resolve("db"));
  }

  @Test
  void everythingOfAClosedDatabaseThrows() {
    DB db = open();
    byte[] k = bytes("k");
    db.put(k, k);
    Snapshot snapshot = db.snapshot();
    ReadOptions then = ReadOptions.DEFAULT.withSnapshot(snapshot);
    DBIterator iterator = db.iterator();
    iterator.seekToFirst();
    ByteBuffer direct = ByteBuffer.allocateDirect(1);
    db.close();
    db.close();
    assertTrue(db.isClosed() && snapshot.isClosed());
    List<Runnable> calls = List.of(() -> db.get(k), () -> db.get(k, then), () -> db.get(direct, direct),
        () -> db.multiGet(List.of(k)), () -> db.put(k, k), () -> db.put(direct, direct), () -> db.delete(k),
        () -> db.write(new WriteBatch()), db::iterator, () -> db.iterator(then), db::snapshot, db::flush,
        db::waitForIdle, () -> db.compactRange(null, null), () -> db.approximateSize(k, k),
        () -> db.property("miodb.counters"), db::statistics, iterator::isValid, iterator::seekToFirst,
        iterator::seekToLast, () -> iterator.seek(k), () -> iterator.seekForPrev(k), iterator::next, iterator::prev,
        iterator::key, iterator::value, () -> iterator.key(direct), () -> iterator.value(direct));
    for (Runnable call : calls) {
      String said = assertThrows(IllegalStateException.class, call::run).getMessage();
      assertTrue(said.contains(" is closed"), said);
    }
    snapshot.close();
    iterator.close();
    iterator.close();
  }

  @Test
  void aClosedIteratorOrSnapshotThrowsAndOthersGoOn() {
    try (DB db = open()) {
      db.put(bytes("k"), bytes("v"));
      Snapshot snapshot = db.snapshot();
      ReadOptions then = ReadOptions.DEFAULT.withSnapshot(snapshot);
      DBIterator over = db.iterator(then);
      DBIterator closed = db.iterator();
      snapshot.close();
      snapshot.close();
      closed.close();
      closed.close();
      assertTrue(snapshot.isClosed());
      assertThrows(IllegalStateException.class, () -> db.get(bytes("k"), then));
      assertThrows(IllegalStateException.class, () -> db.get(bytes("k"), then));
      assertThrows(IllegalStateException.class, () -> db.iterator(then));
      assertThrows(IllegalStateException.class, closed::seekToFirst);
      assertEquals(List.of("k=v"), Databases.entries(over));
      assertEquals("v", text(db.get(bytes("k"))));
    }
  }

  @Test
  void aDatabaseCanBeOpenedAgainRightAfterItsClose() {
    for (int i = 0; i < 5; i++) {
      DB db = open();
      db.iterator();
      db.snapshot();
      db.put(bytes("k" + i), bytes("v"));
      assertThrows(MioDBException.class, this::open);
      db.close();
    }
  }

  /** Runs calls in threads until each has thrown because of a close, and returns what they threw besides. */
  private static List<Throwable> runUntilClosed(List<Runnable> calls, Runnable close) throws InterruptedException {
    List<Throwable> unexpected = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch running = new CountDownLatch(calls.size());
    List<Thread> threads = new ArrayList<>();
    for (Runnable call : calls) {
      threads.add(new Thread(() -> {
        boolean first = true;
        try {
          while (true) {
            call.run();
            if (first) {
              running.countDown();
            }
            first = false;
          }
        } catch (IllegalStateException e) {
          if (!e.getMessage().contains("closed")) {
            unexpected.add(e);
          }
        } catch (Throwable e) {
          unexpected.add(e);
        }
      }));
    }
    threads.forEach(Thread::start);
    assertTrue(running.await(60, TimeUnit.SECONDS), () -> "not all calls work: " + unexpected);
    close.run();
    for (Thread thread : threads) {
      thread.join(60_000);
      assertFalse(thread.isAlive());
    }
    return unexpected;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void closingWhileThreadsReadAndWriteThrowsInThem(int round) throws InterruptedException {
    DB db = open();
    for (int i = 0; i < 2000; i++) {
      db.put(bytes("" + i), new byte[50]);
    }
    Snapshot snapshot = db.snapshot();
    ReadOptions then = ReadOptions.DEFAULT.withSnapshot(snapshot);
    DBIterator shared = db.iterator();
    ByteBuffer key = ByteBuffer.allocateDirect(1).put(0, (byte) '1');
    List<Runnable> calls = List.of(() -> db.get(bytes("100")), () -> db.put(bytes("x"), new byte[1000]),
        () -> db.get(bytes("100"), then), () -> Databases.entries(db), () -> db.multiGet(List.of(bytes("1"))),
        () -> db.get(key, ByteBuffer.allocateDirect(100)), shared::seekToFirst, () -> db.iterator(then).seekToLast(),
        () -> db.snapshot().close(), () -> db.write(new WriteBatch().put(bytes("y"), bytes("z"))), db::statistics);
    Thread closer = new Thread(db::close);
    List<Throwable> unexpected = runUntilClosed(calls, () -> {
      closer.start();
      db.close();
    });
    closer.join();
    assertEquals(List.of(), unexpected);
    open().close();
  }

  @Test
  void anIteratorOrSnapshotClosedWhileThreadsUseItEndsTheirCalls() throws InterruptedException {
    try (DB db = open()) {
      for (int i = 0; i < 1000; i++) {
        db.put(bytes("" + i), bytes("v"));
      }
      for (int i = 0; i < 20; i++) {
        Snapshot snapshot = db.snapshot();
        ReadOptions then = ReadOptions.DEFAULT.withSnapshot(snapshot);
        DBIterator iterator = db.iterator();
        Runnable read = () -> db.get(bytes("7"), then);
        List<Runnable> calls = List.of(read, read, () -> db.iterator(then).close(), iterator::seekToFirst);
        assertEquals(List.of(), runUntilClosed(calls, () -> {
          snapshot.close();
          iterator.close();
        }));
      }
    }
  }

  /** The shortest use there is, so that the close often falls on its end. */
  @Test
  void aCloseIsNotLostToAUseThatEndsMeanwhile() throws InterruptedException {
    try (DB db = open()) {
      for (int i = 0; i < 2000; i++) {
        DBIterator iterator = db.iterator();
        assertEquals(List.of(), runUntilClosed(List.of(iterator::isValid), iterator::close));
      }
    }
  }

  @Test
  void anIteratorInTwoThreadsThrowsInOneOfThem() throws InterruptedException {
    try (DB db = open()) {
      for (int i = 0; i < 20_000; i++) {
        db.put(bytes("" + i), bytes("v"));
      }
      DBIterator iterator = db.iterator();
      iterator.seekToFirst();
      List<Throwable> unexpected = Collections.synchronizedList(new ArrayList<>());
      Runnable walk = () -> {
        while (true) {
          try {
            if (!iterator.next()) {
              return;
            }
          } catch (java.util.NoSuchElementException e) {
            return;
          } catch (IllegalStateException e) {
            if (!e.getMessage().contains("another thread")) {
              unexpected.add(e);
            }
          }
        }
      };
      Thread other = new Thread(walk);
      other.start();
      walk.run();
      other.join();
      assertEquals(List.of(), unexpected);
    }
  }

  @Test
  void aLeakedDatabaseIsClosedWhenAllThatWasMadeFromItIsCollected() throws InterruptedException {
    DBIterator iterator = open().iterator();
    System.gc();
    assertFalse(iterator.seekToFirst());
    assertThrows(MioDBException.class, this::open);
    iterator = null;
    for (int i = 0; i < 600; i++) {
      System.gc();
      try {
        open().close();
        return;
      } catch (MioDBException e) {
        Thread.sleep(100);
      }
    }
    open().close();
  }

  /** Has a database and what was made from it, becomes garbage with them, and uses them in its finalizer. */
  private static final class Finalized {
    private final DB db;
    private final DBIterator iterator;
    private final Snapshot snapshot;
    private final List<Object> said;

    Finalized(DB db, List<Object> said) {
      this.db = db;
      this.said = said;
      iterator = db.iterator();
      snapshot = db.snapshot();
    }

    @Override
    @SuppressWarnings({"deprecation", "removal"})
    protected void finalize() {
      try {
        said.add(iterator.seekToFirst() + text(db.get(bytes("k"), ReadOptions.DEFAULT.withSnapshot(snapshot))));
        db.close();
        iterator.next();
      } catch (Throwable e) {
        said.add(e.getMessage());
      }
    }
  }

  @Test
  void aFinalizerMayUseAndCloseWhatIsCollectedWithItsObject() throws InterruptedException {
    List<Object> said = Collections.synchronizedList(new ArrayList<>());
    for (int round = 0; round < 3; round++) {
      DB db = open();
      db.put(bytes("k"), bytes("v"));
      new Finalized(db, said);
      db = null;
      said.clear();
      for (int i = 0; i < 600 && said.size() < 2; i++) {
        System.gc();
        Thread.sleep(10);
      }
      assertEquals(List.of("truev", "the database is closed"), said);
    }
    open().close();
  }

  @Test
  void aThreadThatIsInterruptedClosesAndStaysInterrupted() {
    DB db = open();
    Thread.currentThread().interrupt();
    db.put(bytes("k"), bytes("v"));
    db.close();
    assertTrue(Thread.interrupted());
    open().close();
  }
}
