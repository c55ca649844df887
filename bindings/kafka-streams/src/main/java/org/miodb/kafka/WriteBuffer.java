package org.miodb.kafka;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.miodb.WriteBatch;

/**
 * What was written to a store since its last commit: the newest value of each key, and older ones while a view needs them.
 *
 * <p>One thread at a time changes a buffer or makes a view of it, under the monitor of its database; any thread reads it.
 */
final class WriteBuffer {
  /** What an entry takes in the heap besides its key and its value, about. */
  private static final int ENTRY_BYTES = 96;

  /** Stands for the value of a removed key. */
  static final byte[] REMOVED = new byte[0];

  /** A value of a key, or REMOVED. */
  private static final class Version {
    private final byte[] value;
    private final long sequence;
    private Version older;

    Version(byte[] value, long sequence) {
      this.value = value;
      this.sequence = sequence;
    }
  }

  private final ConcurrentSkipListMap<byte[], Version> newest = new ConcurrentSkipListMap<>(Arrays::compareUnsigned);
  private final WriteBatch drops = new WriteBatch();
  private long sequence;
  private long bytes;
  private int views;
  /** The sequence of the newest view. */
  private long viewed;

  /** Sets a key to a value; null removes the key. */
  void put(byte[] key, byte[] value) {
    Version old = newest.get(key);
    Version version = new Version(value == null ? REMOVED : value, ++sequence);
    if (views > 0 && old != null) {
      // What came behind the newest view is in none.
      version.older = old.sequence > viewed ? old.older : old;
    }
    bytes += bytesOf(version) - bytesOf(old) + (old == null ? ENTRY_BYTES + key.length : 0);
    newest.put(key, version);
  }

  /** Bytes of the values of a version and of older ones. */
  private static long bytesOf(Version version) {
    long sum = 0;
    for (; version != null; version = version.older) {
      sum += version.value.length;
    }
    return sum;
  }

  /** Removes the keys from one on and before another, which nobody reads any more. */
  void drop(byte[] begin, byte[] end) {
    drops.deleteRange(begin, end);
    Iterator<Map.Entry<byte[], Version>> entries = newest.subMap(begin, end).entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<byte[], Version> entry = entries.next();
      bytes -= ENTRY_BYTES + entry.getKey().length + bytesOf(entry.getValue());
      entries.remove();
    }
  }

  /** The value of a key, or REMOVED; null if the buffer knows nothing of it. */
  byte[] get(byte[] key) {
    Version version = newest.get(key);
    return version == null ? null : version.value;
  }

  boolean isEmpty() {
    return newest.isEmpty() && drops.count() == 0;
  }

  /** Bytes of the heap, about. */
  long bytes() {
    return bytes;
  }

  /** How many keys more there are by what the buffer has, about: it does not know which of them were there before. */
  long entries() {
    return newest.values().stream().mapToLong(version -> version.value == REMOVED ? -1 : 1).sum();
  }

  /** Adds everything to a batch, ranges first: what was put is newer than they are. */
  void addTo(WriteBatch batch) {
    batch.append(drops);
    newest.forEach((key, version) -> {
      if (version.value == REMOVED) {
        batch.delete(key);
      } else {
        batch.put(key, version.value);
      }
    });
  }

  /** What the buffer has now of the keys from one on and before another; to be ended. */
  View view(byte[] begin, byte[] end, boolean forward) {
    views++;
    viewed = sequence;
    return new View(begin, end, forward);
  }

  /** A walk over the buffer as of one moment. */
  final class View implements Cursor {
    private final Iterator<Map.Entry<byte[], Version>> entries;
    private final long last = sequence;
    private byte[] key;
    private byte[] value;

    private View(byte[] begin, byte[] end, boolean forward) {
      ConcurrentNavigableMap<byte[], Version> range = newest.subMap(begin, end);
      entries = (forward ? range : range.descendingMap()).entrySet().iterator();
      next();
    }

    @Override
    public byte[] key() {
      return key;
    }

    @Override
    public byte[] value() {
      return value;
    }

    @Override
    public void next() {
      while (entries.hasNext()) {
        Map.Entry<byte[], Version> entry = entries.next();
        Version version = entry.getValue();
        while (version != null && version.sequence > last) {
          version = version.older;
        }
        if (version != null) {
          key = entry.getKey();
          value = version.value;
          return;
        }
      }
      key = null;
      value = null;
    }

    /** Under the monitor, once: lets the buffer keep newest values alone again, if no other view is there. */
    void end() {
      views--;
    }
  }
}
