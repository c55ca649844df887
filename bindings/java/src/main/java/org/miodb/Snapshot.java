package org.miodb;

/**
 * What a database had when {@link DB#snapshot} was called, for {@link ReadOptions#withSnapshot}. Any thread may read with it.
 *
 * <p>Close it soon: what it sees keeps its space. Reads that are on their way end; later ones throw IllegalStateException;
 * iterators made before go on. One that is leaked is closed when it is collected.
 */
public final class Snapshot implements AutoCloseable {
  private final DB db;
  private final SnapshotHandle handle;

  /** Within a call of the store. */
  Snapshot(DB db, Store store) {
    this.db = db;
    handle = new SnapshotHandle(this, store);
  }

  /** The handle, if the snapshot is of this database. */
  SnapshotHandle of(DB reader) {
    if (reader != db) {
      throw new IllegalArgumentException("the snapshot is of another database");
    }
    return handle;
  }

  /** Whether it, or its database, is closed. */
  public boolean isClosed() {
    return handle.isClosed();
  }

  /** Closes it. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
