package org.miodb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * An open database of the engine, what depends on it, and who may call it.
 *
 * <p>Every call is counted from enter() to leave(); close() first lets no further call in, then waits until the count is zero,
 * then lets go of what depends on the store, and closes it. So no call meets an object of the engine that is gone.
 *
 * <p>The count is spread over cells by thread, so that threads that read side by side do not share a cache line. A call adds
 * to its cell and then looks whether the store is closed; close() says so and then reads the cells. Both orders are
 * sequentially consistent, so one of the two sees the other.
 */
final class Store extends Leaks.Closed {
  /** Refers to the stores that are open, and so to what depends on them, until they are closed or collected. */
  private static final Set<Store> OPEN = ConcurrentHashMap.newKeySet();

  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int CELLS = 16;
  private static final int LONGS_PER_CACHE_LINE = 8;
  private static final long WAIT_NANOS = 50_000;

  private final long db;
  private final Options.Applied options;
  private final long[] calls = new long[(CELLS + 2) * LONGS_PER_CACHE_LINE];
  private final Reads reads = new Reads();
  private final long lazyWrites;
  private final long syncWrites;
  private volatile boolean closed;
  /** Whether the engine has closed, guarded by this; others that close wait for it. */
  private boolean ended;
  /** What depends on the store, a list guarded by this. */
  private Dependent dependents;

  /** Opens the store of a database, which is closed when its owner is collected. The options are the store's from then on. */
  Store(Object owner, byte[] name, Options.Applied options) {
    super(owner);
    this.options = options;
    db = open(name);
    reads.make(0);
    lazyWrites = Native.newWrites(false);
    syncWrites = Native.newWrites(true);
  }

  /** The engine opens last, so that a heap without room leaves no store open. */
  private long open(byte[] name) {
    OPEN.add(this);
    boolean opened = false;
    try {
      long made = Native.open(options.handle(), name);
      opened = true;
      return made;
    } finally {
      if (!opened) {
        OPEN.remove(this);
      }
    }
  }

  long db() {
    return db;
  }

  Reads reads() {
    return reads;
  }

  long writes(WriteOptions options) {
    return options == WriteOptions.SYNC ? syncWrites : lazyWrites;
  }

  boolean isClosed() {
    return closed;
  }

  /** Counts a call, and returns the cell to leave. Throws where the store is closed. */
  int enter() {
    int cell = tryEnter();
    if (cell < 0) {
      throw new IllegalStateException("the database is closed");
    }
    return cell;
  }

  /** The same, with a negative number where the store is closed. */
  int tryEnter() {
    int cell = (1 + ((int) Thread.currentThread().getId() & (CELLS - 1))) * LONGS_PER_CACHE_LINE;
    CELL.getAndAdd(calls, cell, 1L);
    if (closed) {
      leave(cell);
      return -1;
    }
    return cell;
  }

  void leave(int cell) {
    CELL.getAndAdd(calls, cell, -1L);
  }

  /** A thread may leave a cell that another one entered, so only the sum means something. */
  private long callsOnTheirWay() {
    long sum = 0;
    for (int cell = 1; cell <= CELLS; cell++) {
      sum += (long) CELL.getVolatile(calls, cell * LONGS_PER_CACHE_LINE);
    }
    return sum;
  }

  /** Within a call: what has to be gone before the store is closed. */
  synchronized void add(Dependent dependent) {
    dependent.next = dependents;
    if (dependents != null) {
      dependents.previous = dependent;
    }
    dependents = dependent;
  }

  synchronized void remove(Dependent dependent) {
    if (dependent.previous != null) {
      dependent.previous.next = dependent.next;
    } else {
      dependents = dependent.next;
    }
    if (dependent.next != null) {
      dependent.next.previous = dependent.previous;
    }
    dependent.next = null;
    dependent.previous = null;
  }

  /** Returns when the store is closed, whoever closes it. */
  @Override
  void close() {
    closed = true;
    boolean interrupted = false;
    while (callsOnTheirWay() != 0) {
      // A call ends whether its caller is interrupted or not, so this waits on.
      interrupted |= Thread.interrupted();
      LockSupport.parkNanos(WAIT_NANOS);
    }
    closeEngine();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void closeEngine() {
    if (ended) {
      return;
    }
    ended = true;
    for (Dependent dependent = dependents; dependent != null; dependent = dependent.next) {
      dependent.storeCloses();
    }
    dependents = null;
    reads.free();
    Native.freeWrites(lazyWrites);
    Native.freeWrites(syncWrites);
    Native.close(db);
    options.free();
    OPEN.remove(this);
  }

  /** Options of reads for each pair of flags, of the newest state or of a snapshot. */
  static final class Reads {
    private final long[] variants = new long[4];

    /** Makes them, for a snapshot of the engine or 0. */
    void make(long snapshot) {
      for (int i = 0; i < variants.length; i++) {
        variants[i] = Native.newReads(snapshot, (i & 1) != 0, (i & 2) != 0);
      }
    }

    long of(ReadOptions options) {
      return variants[(options.verifyChecksums() ? 1 : 0) + (options.fillCache() ? 2 : 0)];
    }

    void free() {
      for (long variant : variants) {
        Native.freeReads(variant);
      }
    }
  }

  /** What depends on a store, and is freed once: by its owner, when that is collected, or by the close of the store. */
  abstract static class Dependent extends Leaks.Closed {
    private Dependent next;
    private Dependent previous;

    Dependent(Object owner) {
      super(owner);
    }

    /** The store closes, no call is on its way: frees what is not freed yet. Must not touch the list. */
    abstract void storeCloses();
  }
}
