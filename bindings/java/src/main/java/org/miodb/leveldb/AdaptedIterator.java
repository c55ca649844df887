package org.miodb.leveldb;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.Map;
import java.util.NoSuchElementException;
import org.iq80.leveldb.DBIterator;

/**
 * An iterator under the interface of iq80, which stands between two entries. It is before the first one when it is made; after
 * seekToLast() next() gives the last entry, as with leveldbjni.
 */
final class AdaptedIterator implements DBIterator {
  /** Where it stands. The entry is that of the engine's iterator. */
  private enum Place {
    BEGIN,
    END,
    BEFORE_ENTRY,
    BEHIND_ENTRY
  }

  private final org.miodb.DBIterator iterator;
  private Place place = Place.BEGIN;

  AdaptedIterator(org.miodb.DBIterator iterator) {
    this.iterator = iterator;
  }

  @Override
  public void seek(byte[] key) {
    arrive(AdaptedDB.translate(() -> iterator.seek(key)));
  }

  @Override
  public void seekToFirst() {
    arrive(AdaptedDB.translate(iterator::seekToFirst));
  }

  @Override
  public void seekToLast() {
    arrive(AdaptedDB.translate(iterator::seekToLast));
  }

  private void arrive(boolean atEntry) {
    place = atEntry ? Place.BEFORE_ENTRY : Place.END;
  }

  /** Brings the engine's iterator to the next entry. */
  @Override
  public boolean hasNext() {
    requireOpen();
    if (place == Place.BEGIN) {
      seekToFirst();
    } else if (place == Place.BEHIND_ENTRY) {
      arrive(AdaptedDB.translate(iterator::next));
    }
    return place == Place.BEFORE_ENTRY;
  }

  /** Brings the engine's iterator to the entry before. */
  @Override
  public boolean hasPrev() {
    requireOpen();
    if (place == Place.END || place == Place.BEFORE_ENTRY) {
      boolean atEntry = AdaptedDB.translate(place == Place.END ? iterator::seekToLast : iterator::prev);
      place = atEntry ? Place.BEHIND_ENTRY : Place.BEGIN;
    }
    return place == Place.BEHIND_ENTRY;
  }

  /** A closed iterator throws at any call. */
  private void requireOpen() {
    iterator.isValid();
  }

  @Override
  public Map.Entry<byte[], byte[]> peekNext() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return entry();
  }

  @Override
  public Map.Entry<byte[], byte[]> peekPrev() {
    if (!hasPrev()) {
      throw new NoSuchElementException();
    }
    return entry();
  }

  @Override
  public Map.Entry<byte[], byte[]> next() {
    Map.Entry<byte[], byte[]> entry = peekNext();
    place = Place.BEHIND_ENTRY;
    return entry;
  }

  @Override
  public Map.Entry<byte[], byte[]> prev() {
    Map.Entry<byte[], byte[]> entry = peekPrev();
    place = Place.BEFORE_ENTRY;
    return entry;
  }

  private Map.Entry<byte[], byte[]> entry() {
    return AdaptedDB.translate(() -> new SimpleImmutableEntry<>(iterator.key(), iterator.value()));
  }

  @Override
  public void remove() {
    throw new UnsupportedOperationException("an iterator changes nothing");
  }

  @Override
  public void close() {
    iterator.close();
  }
}
