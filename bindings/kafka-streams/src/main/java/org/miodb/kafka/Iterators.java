package org.miodb.kafka;

import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.slf4j.Logger;

/** Iterators over others. */
final class Iterators {
  private Iterators() {}

  /** The same entries under other keys. */
  static class Mapped<K> implements KeyValueIterator<K, byte[]> {
    private final KeyValueIterator<Bytes, byte[]> entries;
    private final Function<Bytes, K> key;

    Mapped(KeyValueIterator<Bytes, byte[]> entries, Function<Bytes, K> key) {
      this.entries = entries;
      this.key = key;
    }

    @Override
    public boolean hasNext() {
      return entries.hasNext();
    }

    @Override
    public KeyValue<K, byte[]> next() {
      KeyValue<Bytes, byte[]> entry = entries.next();
      return new KeyValue<>(key.apply(entry.key), entry.value);
    }

    @Override
    public K peekNextKey() {
      return key.apply(entries.peekNextKey());
    }

    @Override
    public void close() {
      entries.close();
    }
  }

  /** The values of one key under the times of their windows. */
  static final class OfWindows extends Mapped<Long> implements WindowStoreIterator<byte[]> {
    OfWindows(KeyValueIterator<Bytes, byte[]> entries, Function<Bytes, Long> time) {
      super(entries, time);
    }
  }

  /** The entries whose keys another walk finds, behind a prefix; what is gone by then is passed over. */
  static final class Found extends LookAhead {
    private final KeyValueIterator<Bytes, byte[]> keys;
    private final int prefixBytes;
    private final Function<byte[], byte[]> values;

    Found(KeyValueIterator<Bytes, byte[]> keys, int prefixBytes, Function<byte[], byte[]> values) {
      this.keys = keys;
      this.prefixBytes = prefixBytes;
      this.values = values;
    }

    @Override
    KeyValue<Bytes, byte[]> find() {
      while (keys.hasNext()) {
        byte[] found = keys.next().key.get();
        byte[] key = Arrays.copyOfRange(found, prefixBytes, found.length);
        byte[] value = values.apply(key);
        if (value != null) {
          return new KeyValue<>(Bytes.wrap(key), value);
        }
      }
      return null;
    }

    @Override
    public void close() {
      keys.close();
    }
  }

  /** No entries. */
  static final class Empty implements KeyValueIterator<Bytes, byte[]> {
    @Override
    public boolean hasNext() {
      return false;
    }

    @Override
    public KeyValue<Bytes, byte[]> next() {
      throw new NoSuchElementException();
    }

    @Override
    public Bytes peekNextKey() {
      throw new NoSuchElementException();
    }

    @Override
    public void close() {}
  }

  /** No entries, and a warning in the words that Kafka's stores have for it. */
  static KeyValueIterator<Bytes, byte[]> invalidRange(Logger log) {
    log.warn("Returning empty iterator for fetch with invalid key range: from > to. This may be due to range arguments set in"
        + " the wrong order, or serdes that don't preserve ordering when lexicographically comparing the serialized bytes."
        + " Note that the built-in numerical serdes do not follow this for negative numbers");
    return new Empty();
  }
}
