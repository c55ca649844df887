package org.miodb.leveldb;

import java.util.function.Supplier;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.DBException;
import org.iq80.leveldb.DBIterator;
import org.iq80.leveldb.Range;
import org.iq80.leveldb.ReadOptions;
import org.iq80.leveldb.Snapshot;
import org.iq80.leveldb.WriteBatch;
import org.iq80.leveldb.WriteOptions;
import org.miodb.MioDBException;

/** A database under the interface of iq80. Errors of the engine are its DBException; use after close IllegalStateException. */
final class AdaptedDB implements DB {
  private final org.miodb.DB db;
  private final boolean verifyChecksums;

  AdaptedDB(org.miodb.DB db, boolean verifyChecksums) {
    this.db = db;
    this.verifyChecksums = verifyChecksums;
  }

  /** Makes a call, and the engine's exceptions those of the interface. */
  static <T> T translate(Supplier<T> call) {
    try {
      return call.get();
    } catch (MioDBException e) {
      throw new DBException(e.getMessage(), e);
    }
  }

  /** As {@link #translate}, for calls that return nothing. */
  static void run(Runnable call) {
    translate(() -> {
      call.run();
      return null;
    });
  }

  private org.miodb.ReadOptions convert(ReadOptions options) {
    Snapshot snapshot = options.snapshot();
    if (snapshot != null && !(snapshot instanceof AdaptedSnapshot)) {
      throw new IllegalArgumentException("the snapshot is of another store");
    }
    return org.miodb.ReadOptions.DEFAULT
        .withVerifyChecksums(verifyChecksums || options.verifyChecksums())
        .withFillCache(options.fillCache())
        .withSnapshot(snapshot == null ? null : ((AdaptedSnapshot) snapshot).snapshot());
  }

  private static org.miodb.WriteOptions convert(WriteOptions options) {
    return options.sync() ? org.miodb.WriteOptions.SYNC : org.miodb.WriteOptions.DEFAULT;
  }

  /** What a write returns that was asked for the state behind it. Other threads may have written meanwhile. */
  private Snapshot after(WriteOptions options) {
    return options.snapshot() ? getSnapshot() : null;
  }

  @Override
  public byte[] get(byte[] key) {
    return get(key, new ReadOptions());
  }

  @Override
  public byte[] get(byte[] key, ReadOptions options) {
    return translate(() -> db.get(key, convert(options)));
  }

  @Override
  public DBIterator iterator() {
    return iterator(new ReadOptions());
  }

  @Override
  public DBIterator iterator(ReadOptions options) {
    return translate(() -> new AdaptedIterator(db.iterator(convert(options))));
  }

  @Override
  public void put(byte[] key, byte[] value) {
    put(key, value, new WriteOptions());
  }

  @Override
  public Snapshot put(byte[] key, byte[] value, WriteOptions options) {
    run(() -> db.put(key, value, convert(options)));
    return after(options);
  }

  @Override
  public void delete(byte[] key) {
    delete(key, new WriteOptions());
  }

  @Override
  public Snapshot delete(byte[] key, WriteOptions options) {
    run(() -> db.delete(key, convert(options)));
    return after(options);
  }

  @Override
  public WriteBatch createWriteBatch() {
    return new AdaptedBatch();
  }

  @Override
  public void write(WriteBatch updates) {
    write(updates, new WriteOptions());
  }

  @Override
  public Snapshot write(WriteBatch updates, WriteOptions options) {
    if (!(updates instanceof AdaptedBatch)) {
      throw new IllegalArgumentException("the batch is of another store");
    }
    run(() -> db.write(((AdaptedBatch) updates).batch(), convert(options)));
    return after(options);
  }

  @Override
  public Snapshot getSnapshot() {
    return translate(() -> new AdaptedSnapshot(db.snapshot()));
  }

  @Override
  public long[] getApproximateSizes(Range... ranges) {
    long[] sizes = new long[ranges.length];
    for (int i = 0; i < ranges.length; i++) {
      Range range = ranges[i];
      sizes[i] = translate(() -> db.approximateSize(range.start(), range.limit()));
    }
    return sizes;
  }

  @Override
  public String getProperty(String name) {
    return translate(() -> db.property(name));
  }

  @Override
  public void suspendCompactions() {
    throw new UnsupportedOperationException("merges cannot be suspended: writers would wait for space");
  }

  @Override
  public void resumeCompactions() {
    throw new UnsupportedOperationException("merges cannot be suspended, so they cannot be resumed");
  }

  @Override
  public void compactRange(byte[] begin, byte[] end) {
    run(() -> db.compactRange(begin, end));
  }

  @Override
  public void close() {
    db.close();
  }
}
