package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What window and session stores share. A stored key is the record's key and a suffix of fixed size with times, as in the
 * changelogs of Kafka's own stores.
 */
abstract class SegmentedStore extends MioDBStore {
  private static final byte[] NOTHING = new byte[0];
  private static final Logger LOG = LoggerFactory.getLogger(SegmentedStore.class);

  private final long retention;
  private final long interval;
  private final int suffixBytes;
  private final boolean timeOrdered;
  private StreamTime streamTime;
  private Segments segments;
  /** Stored keys behind their times, in segments of their own; null where nobody asks for an order of times. */
  private Segments times;

  SegmentedStore(String name, long retention, long interval, int suffixBytes, boolean timeOrdered) {
    super(name);
    this.timeOrdered = timeOrdered;
    this.retention = retention;
    this.interval = interval;
    this.suffixBytes = suffixBytes;
  }

  /** The time of a stored key, which decides on its segment. */
  abstract long time(byte[] stored);

  /** Whether a stored key is of the times that are asked for. */
  abstract boolean isWithin(byte[] stored, long from, long to);

  /** Whether what is exactly as old as the retention is still seen. */
  boolean seesEdge() {
    return false;
  }

  @Override
  void opened(StoreDatabase opened) {
    dropsRecords();
    streamTime = new StreamTime(opened);
    segments = new Segments(opened, streamTime, (byte) 1, retention, interval);
    times = timeOrdered ? new Segments(opened, streamTime, (byte) 2, retention, interval) : null;
  }

  @Override
  void committing() {
    streamTime.committing();
  }

  @Override
  void restore(ConsumerRecord<byte[], byte[]> record) {
    put(record.key(), record.value());
  }

  /** Under the monitor. Returns whether the time of the key is not over. */
  private boolean put(byte[] stored, byte[] value) {
    long time = time(stored);
    streamTime.advance(time);
    Table segment = segments.forPut(time);
    if (segment == null) {
      return false;
    }
    segment.put(stored, value);
    if (times != null) {
      times.forPut(time).put(Keys.concat(Keys.bytes(time), stored), value == null ? null : NOTHING);
    }
    return true;
  }

  /** Sets a stored key to a value, null removes it; one whose time is over is dropped, and counted. */
  final void putStored(byte[] stored, byte[] value) {
    boolean put = change(() -> put(stored, value));
    if (!put) {
      recordDropped();
    }
  }

  /** The earliest time whose entries are seen. */
  final long earliest() {
    return streamTime.get() - retention + (seesEdge() ? 0 : 1);
  }

  /** The value of a stored key; null if it has none, or its time is over. */
  final byte[] getStored(byte[] stored) {
    open();
    return time(stored) < earliest() ? null : find(stored);
  }

  /** The same, whether its time is over or not, as long as its segment is there. */
  private byte[] find(byte[] stored) {
    Table segment = segments.at(time(stored));
    return segment == null ? null : segment.get(stored);
  }

  /** The record's key. */
  final Bytes key(Bytes stored) {
    return Bytes.wrap(Arrays.copyOf(stored.get(), stored.get().length - suffixBytes));
  }

  /** A number in the suffix, so many bytes from the end. */
  static long fromEnd(byte[] stored, int bytes) {
    return ByteBuffer.wrap(stored).getLong(stored.length - bytes);
  }

  /** A walk over the keys from one to another, null for no bound, of some times, in the segments up to that of one. */
  final KeyValueIterator<Bytes, byte[]> walk(Bytes keyFrom, Bytes keyTo, long from, long to, long lastSegment,
      boolean forward) {
    byte[] begin = keyFrom == null ? null : keyFrom.get();
    byte[] end = keyTo == null ? null : keyTo.get();
    if (begin != null && end != null && keyFrom.compareTo(keyTo) > 0) {
      return Iterators.invalidRange(LOG);
    }
    byte[] last = end == null ? null : lastWithKeyUpTo(end);
    return walk(begin, last, from, to, lastSegment, forward, stored -> isBetween(stored, begin, end));
  }

  /** The same over one key, of which the first and the last stored key that can count are known. */
  final KeyValueIterator<Bytes, byte[]> walkKey(Bytes key, byte[] first, byte[] last, long from, long to,
      long lastSegment, boolean forward) {
    byte[] only = key.get();
    return walk(first, last, from, to, lastSegment, forward, stored -> isBetween(stored, only, only));
  }

  /** Over a closed store it is at its end at once. */
  private KeyValueIterator<Bytes, byte[]> walk(byte[] first, byte[] last, long from, long to, long lastSegment,
      boolean forward, Predicate<byte[]> ofKeys) {
    long start = Math.max(from, earliest());
    return new SegmentIterator(this, segments, segments.between(start, lastSegment, forward), first, last, forward,
        stored -> isWithin(stored, start, to) && ofKeys.test(stored));
  }

  /** Whether there is a walk in the order of times. */
  final boolean isTimeOrdered() {
    return timeOrdered;
  }

  /**
   * A walk over the entries from one time to another, both included, in the order of their times, then of their keys. It has what
   * is older than the retention, too, as long as its segment is there.
   */
  final KeyValueIterator<Bytes, byte[]> walkTimes(long from, long to, boolean forward) {
    long first = Math.max(0, from);
    byte[] last = to == Long.MAX_VALUE ? null : Keys.bytes(Math.max(0, to + 1));
    SegmentIterator keys = new SegmentIterator(this, times, times.between(first, to, forward), Keys.bytes(first), last,
        forward, key -> true);
    return new Iterators.Found(keys, Long.BYTES, this::find);
  }

  private boolean isBetween(byte[] stored, byte[] keyFrom, byte[] keyTo) {
    int size = stored.length - suffixBytes;
    return (keyFrom == null || Arrays.compareUnsigned(stored, 0, size, keyFrom, 0, keyFrom.length) >= 0)
        && (keyTo == null || Arrays.compareUnsigned(stored, 0, size, keyTo, 0, keyTo.length) <= 0);
  }

  /** No stored key of this key, or of one before it, is behind this: one that begins it may have a larger suffix. */
  private byte[] lastWithKeyUpTo(byte[] key) {
    byte[] last = largest(key, key.length);
    for (int size = 0; size < key.length; size++) {
      byte[] other = largest(key, size);
      if (Arrays.compareUnsigned(other, last) > 0) {
        last = other;
      }
    }
    return last;
  }

  private byte[] largest(byte[] key, int size) {
    byte[] largest = Arrays.copyOf(key, size + suffixBytes);
    Arrays.fill(largest, size, largest.length, (byte) 0xff);
    return largest;
  }
}
