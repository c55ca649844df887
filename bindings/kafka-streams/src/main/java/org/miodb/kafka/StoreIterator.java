package org.miodb.kafka;

import java.util.Arrays;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;

/**
 * A walk over keys of a table as they were when it began, in either direction: what the database has, overlaid by what its
 * buffer had. For one thread at a time. Once the store is closed, it throws InvalidStateStoreException.
 */
final class StoreIterator extends LookAhead {
  private final StoreDatabase database;
  private final Cursor entries;
  private final int prefixBytes;
  private final Runnable end;
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
    return super.hasNext();
  }

  @Override
  KeyValue<Bytes, byte[]> find() {
    try {
      KeyValue<Bytes, byte[]> found = null;
      while (found == null && entries.key() != null) {
        byte[] value = entries.value();
        if (value != WriteBuffer.REMOVED) {
          byte[] key = entries.key();
          found = new KeyValue<>(Bytes.wrap(Arrays.copyOfRange(key, prefixBytes, key.length)), value);
        }
        entries.next();
      }
      return found;
    } catch (IllegalStateException e) {
      throw new InvalidStateStoreException("store " + database.name() + " was closed by another thread", e);
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      end.run();
    }
  }
}
