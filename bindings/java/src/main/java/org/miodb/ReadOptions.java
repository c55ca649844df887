package org.miodb;

/**
 * How a read is done. Cannot be changed, so any thread may use it; each {@code with} method returns a new one. Bounds and
 * readahead are for iterators. Arrays that are given must not be changed while the options are used.
 */
public final class ReadOptions {
  /** The newest state, without bounds. */
  public static final ReadOptions DEFAULT = new ReadOptions(false, true, null, null, null, 0);

  private final boolean verifyChecksums;
  private final boolean fillCache;
  private final Snapshot snapshot;
  private final byte[] lowerBound;
  private final byte[] upperBound;
  private final long readaheadBytes;

  private ReadOptions(boolean verifyChecksums, boolean fillCache, Snapshot snapshot, byte[] lowerBound,
      byte[] upperBound, long readaheadBytes) {
    this.verifyChecksums = verifyChecksums;
    this.fillCache = fillCache;
    this.snapshot = snapshot;
    this.lowerBound = lowerBound;
    this.upperBound = upperBound;
    this.readaheadBytes = readaheadBytes;
  }

  /** Whether the checksum of every record and block that is read is verified. */
  public ReadOptions withVerifyChecksums(boolean verify) {
    return new ReadOptions(verify, fillCache, snapshot, lowerBound, upperBound, readaheadBytes);
  }

  /** Whether blocks of table files that are read stay in the block cache. */
  public ReadOptions withFillCache(boolean fill) {
    return new ReadOptions(verifyChecksums, fill, snapshot, lowerBound, upperBound, readaheadBytes);
  }

  /** Reads as of a snapshot of the same database; null: the newest state. */
  public ReadOptions withSnapshot(Snapshot read) {
    return new ReadOptions(verifyChecksums, fillCache, read, lowerBound, upperBound, readaheadBytes);
  }

  /** Iterators see no key before this one; null: no bound. */
  public ReadOptions withLowerBound(byte[] key) {
    return new ReadOptions(verifyChecksums, fillCache, snapshot, key, upperBound, readaheadBytes);
  }

  /** Iterators see neither this key nor one behind it; null: no bound. */
  public ReadOptions withUpperBound(byte[] key) {
    return new ReadOptions(verifyChecksums, fillCache, snapshot, lowerBound, key, readaheadBytes);
  }

  /** Bytes of table files that an iterator reads ahead at most; 0: the engine's default. */
  public ReadOptions withReadahead(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("readahead must not be negative: " + bytes);
    }
    return new ReadOptions(verifyChecksums, fillCache, snapshot, lowerBound, upperBound, bytes);
  }

  boolean verifyChecksums() {
    return verifyChecksums;
  }

  boolean fillCache() {
    return fillCache;
  }

  Snapshot snapshot() {
    return snapshot;
  }

  byte[] lowerBound() {
    return lowerBound;
  }

  byte[] upperBound() {
    return upperBound;
  }

  long readaheadBytes() {
    return readaheadBytes;
  }
}
