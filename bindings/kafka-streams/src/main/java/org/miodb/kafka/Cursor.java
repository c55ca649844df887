package org.miodb.kafka;

import java.util.Arrays;
import org.miodb.DBIterator;

/** A walk over entries in the order of their keys. It stands at an entry, at first at the first, or is at its end. */
interface Cursor {
  /** Null at the end. */
  byte[] key();

  /** {@link WriteBuffer#REMOVED} where the key was removed. */
  byte[] value();

  void next();

  /** What a database has within the bounds of an iterator, which stays the caller's. */
  final class Stored implements Cursor {
    private final DBIterator iterator;
    private final boolean forward;
    private byte[] key;

    Stored(DBIterator iterator, boolean forward) {
      this.iterator = iterator;
      this.forward = forward;
      key = (forward ? iterator.seekToFirst() : iterator.seekToLast()) ? iterator.key() : null;
    }

    @Override
    public byte[] key() {
      return key;
    }

    @Override
    public byte[] value() {
      return iterator.value();
    }

    @Override
    public void next() {
      key = (forward ? iterator.next() : iterator.prev()) ? iterator.key() : null;
    }
  }

  /** Two walks as one; where both have a key, the upper one says what it is. */
  final class Overlay implements Cursor {
    private final Cursor upper;
    private final Cursor lower;
    private final boolean forward;

    Overlay(Cursor upper, Cursor lower, boolean forward) {
      this.upper = upper;
      this.lower = lower;
      this.forward = forward;
    }

    /** Negative where the upper walk comes first, positive where the lower one does, 0 where they have one key. */
    private int order() {
      if (upper.key() == null || lower.key() == null) {
        return lower.key() == null ? -1 : 1;
      }
      int order = Arrays.compareUnsigned(upper.key(), lower.key());
      return forward ? order : -order;
    }

    @Override
    public byte[] key() {
      return order() <= 0 ? upper.key() : lower.key();
    }

    @Override
    public byte[] value() {
      return order() <= 0 ? upper.value() : lower.value();
    }

    @Override
    public void next() {
      int order = order();
      if (order <= 0) {
        upper.next();
      }
      if (order >= 0) {
        lower.next();
      }
    }
  }
}
