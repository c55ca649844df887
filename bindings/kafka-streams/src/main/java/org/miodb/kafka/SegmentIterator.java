package org.miodb.kafka;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;

/**
 * A walk over one range of keys in segment after segment, over those that a condition accepts. A segment is looked at when the
 * walk gets there, as it is then; one that is gone by then is passed over. When the store is closed, the walk is at its end.
 */
final class SegmentIterator implements KeyValueIterator<Bytes, byte[]> {
  private final MioDBStore store;
  private final Segments segments;
  private final Iterator<Long> left;
  private final byte[] from;
  private final byte[] to;
  private final boolean forward;
  private final Predicate<byte[]> accepted;
  private StoreIterator current;

  SegmentIterator(MioDBStore store, Segments segments, List<Long> ids, byte[] from, byte[] to, boolean forward,
      Predicate<byte[]> accepted) {
    this.store = store;
    this.segments = segments;
    this.left = ids.iterator();
    this.from = from;
    this.to = to;
    this.forward = forward;
    this.accepted = accepted;
  }

  @Override
  public boolean hasNext() {
    while (store.isOpen()) {
      while (current != null && current.hasNext()) {
        if (accepted.test(current.peekNextKey().get())) {
          return true;
        }
        current.next();
      }
      close();
      if (!left.hasNext()) {
        return false;
      }
      Table segment = segments.get(left.next());
      current = segment == null ? null : segment.range(from, to, forward);
    }
    return false;
  }

  @Override
  public KeyValue<Bytes, byte[]> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return current.next();
  }

  @Override
  public Bytes peekNextKey() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return current.peekNextKey();
  }

  @Override
  public void close() {
    if (current != null) {
      current.close();
      current = null;
    }
  }
}
