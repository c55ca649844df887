package org.miodb.kafka;

import java.util.Arrays;
import java.util.NoSuchElementException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;

/**
 * A walk over keys of a table as they were when it began, in either direction: what the database has, overlaid by what its
 * buffer had. For one thread at a time. Once the store is closed, it throws InvalidStateStoreException.
 */
final class StoreIterator implements KeyValueIterator<Bytes, byte[]> {
  private final StoreDatabase database;
  private final Cursor entries;
  private final int prefixBytes;
  private final Runnable end;
  private KeyValue<Bytes, byte[]> next;
  private boolean closed;

  /** The prefix is that of the table; the close calls the end, once. */
  StoreIterator(StoreDatabase database, Cursor entries, int prefixBytes, Runnable end) {
    this.database = database;
    this.entries = entries;
    this.prefixBytes = prefixBytes;
    this.end = end;
  }

  @Override
  public boolean hasNext() {
    if (closed || !database.isOpen()) {
      throw new InvalidStateStoreException("the iterator, or its store " + database.name() + ", is closed");
    }
    try {
      while (next == null && entries.key() != null) {
        byte[] value = entries.value();
        if (value != WriteBuffer.REMOVED) {
          byte[] key = entries.key();
          next = new KeyValue<>(Bytes.wrap(Arrays.copyOfRange(key, prefixBytes, key.length)), value);
        }
        entries.next();
      }
    } catch (IllegalStateException e) {
      throw new InvalidStateStoreException("store " + database.name() + " was closed by another thread", e);
    }
    return next != null;
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
      end.run();
    }
  }
}
