package org.miodb.kafka;

import java.util.Arrays;
import java.util.NoSuchElementException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.miodb.DBIterator;

/**
 * A walk over keys of a table as they were when it began, in either direction: what the database has, overlaid by what its
 * buffer had. For one thread at a time. Once the store is closed, it throws InvalidStateStoreException.
 */
final class StoreIterator implements KeyValueIterator<Bytes, byte[]> {
  private final StoreDatabase database;
  private final DBIterator stored;
  private final WriteBuffer.View buffered;
  private final int prefixBytes;
  private final boolean forward;
  private byte[] storedKey;
  private KeyValue<Bytes, byte[]> next;
  private boolean closed;

  /** Both walks are of one moment, and of the same keys; the prefix is that of the table. */
  StoreIterator(StoreDatabase database, DBIterator stored, WriteBuffer.View buffered, int prefixBytes, boolean forward) {
    this.database = database;
    this.stored = stored;
    this.buffered = buffered;
    this.prefixBytes = prefixBytes;
    this.forward = forward;
    storedKey = (forward ? stored.seekToFirst() : stored.seekToLast()) ? stored.key() : null;
  }

  @Override
  public boolean hasNext() {
    if (closed || !database.isOpen()) {
      throw new InvalidStateStoreException("the iterator, or its store " + database.name() + ", is closed");
    }
    try {
      while (next == null && (storedKey != null || buffered.key() != null)) {
        next = step();
      }
    } catch (IllegalStateException e) {
      throw new InvalidStateStoreException("store " + database.name() + " was closed by another thread", e);
    }
    return next != null;
  }

  /** The next entry; null if there was a removed key in its place. */
  private KeyValue<Bytes, byte[]> step() {
    int order = order();
    byte[] key = order < 0 ? storedKey : buffered.key();
    byte[] value = order < 0 ? stored.value() : buffered.value();
    if (order <= 0) {
      storedKey = (forward ? stored.next() : stored.prev()) ? stored.key() : null;
    }
    if (order >= 0) {
      buffered.next();
    }
    return value == WriteBuffer.REMOVED ? null : new KeyValue<>(Bytes.wrap(Arrays.copyOfRange(key, prefixBytes, key.length)), value);
  }

  /** Negative where the database's entry comes first, positive where that of the buffer does, 0 where they have one key. */
  private int order() {
    if (storedKey == null || buffered.key() == null) {
      return storedKey == null ? 1 : -1;
    }
    int order = Arrays.compareUnsigned(storedKey, buffered.key());
    return forward ? order : -order;
  }

  @Override
  public KeyValue<Bytes, byte[]> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    KeyValue<Bytes, byte[]> entry = next;
    next = null;
    return entry;
  }

  @Override
  public Bytes peekNextKey() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return next.key;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      stored.close();
      database.end(buffered);
    }
  }
}
