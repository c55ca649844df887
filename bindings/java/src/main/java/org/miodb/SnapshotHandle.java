package org.miodb;

import java.util.concurrent.atomic.AtomicInteger;

/** A snapshot of the engine. Any number of threads read with it; the last of them frees it after a close. */
final class SnapshotHandle extends Store.Dependent {
  /** In the count of users: nobody may join them. */
  private static final int CLOSED = 1 << 30;

  private final Store store;
  private final long snapshot;
  private final Store.Reads reads = new Store.Reads();
  private final AtomicInteger users = new AtomicInteger();

  /** Within a call of the store. */
  SnapshotHandle(Object owner, Store store) {
    super(owner);
    this.store = store;
    snapshot = Native.newSnapshot(store.db());
    reads.make(snapshot);
    store.add(this);
  }

  Store store() {
    return store;
  }

  /** Takes the snapshot for a read, within a call of the store. */
  void begin() {
    int before = users.getAndIncrement();
    if ((before & CLOSED) != 0) {
      end();
      throw new IllegalStateException("the snapshot is closed");
    }
  }

  void end() {
    if (users.decrementAndGet() == CLOSED) {
      freeOnce();
    }
  }

  long reads(ReadOptions options) {
    return reads.of(options);
  }

  long snapshot() {
    return snapshot;
  }

  boolean isClosed() {
    return (users.get() & CLOSED) != 0 || store.isClosed();
  }

  @Override
  void close() {
    int cell = store.tryEnter();
    if (cell < 0) {
      return; // the store frees it
    }
    int before = users.getAndUpdate(count -> count | CLOSED);
    if (before == 0) {
      freeOnce();
    }
    store.leave(cell);
  }

  /** A caller that begins too late counts itself for a moment, so the count may reach zero twice. */
  private void freeOnce() {
    if (users.compareAndSet(CLOSED, CLOSED | CLOSED >> 1)) {
      store.remove(this);
      free();
    }
  }

  @Override
  void storeCloses() {
    free();
  }

  private void free() {
    Native.freeSnapshot(store.db(), snapshot);
    reads.free();
  }
}
