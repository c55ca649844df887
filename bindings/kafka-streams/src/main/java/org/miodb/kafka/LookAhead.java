package org.miodb.kafka;

import java.util.NoSuchElementException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;

/** An iterator that finds its next entry when it is asked whether there is one. */
abstract class LookAhead implements KeyValueIterator<Bytes, byte[]> {
  private KeyValue<Bytes, byte[]> next;

  /** The entry behind the last one that was found, or null behind the last of all. */
  abstract KeyValue<Bytes, byte[]> find();

  @Override
  public boolean hasNext() {
    if (next == null) {
      next = find();
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
}
