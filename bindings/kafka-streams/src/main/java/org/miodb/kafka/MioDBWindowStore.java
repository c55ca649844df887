package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.TimeWindow;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/** A window store: a stored key is the record's key, the start of the window, and a number that tells duplicates apart. */
class MioDBWindowStore extends SegmentedStore implements WindowStore<Bytes, byte[]> {
  private static final int SUFFIX_BYTES = Long.BYTES + Integer.BYTES;

  private final long windowSize;
  private final boolean retainDuplicates;
  private int number;

  MioDBWindowStore(Suppliers.OfWindowStores supplier) {
    super(supplier.name(), supplier.retentionPeriod(), supplier.segmentIntervalMs(), SUFFIX_BYTES,
        supplier.isTimeOrdered());
    windowSize = supplier.windowSize();
    retainDuplicates = supplier.retainDuplicates();
  }

  /** Values begin with a timestamp. */
  static final class Timestamped extends MioDBWindowStore implements TimestampedBytesStore {
    Timestamped(Suppliers.OfWindowStores supplier) {
      super(supplier);
    }

    @Override
    String format() {
      return "timestamped windows";
    }
  }

  /** Values begin with headers and a timestamp. */
  static final class WithHeaders extends MioDBWindowStore implements TimestampedBytesStore, HeadersBytesStore {
    WithHeaders(Suppliers.OfWindowStores supplier) {
      super(supplier);
    }

    @Override
    String format() {
      return "windows with headers";
    }
  }

  @Override
  String format() {
    return "windows";
  }

  private static byte[] stored(Bytes key, long start, int number) {
    byte[] bytes = key.get();
    return ByteBuffer.allocate(bytes.length + SUFFIX_BYTES).put(bytes).putLong(start).putInt(number).array();
  }

  @Override
  long time(byte[] stored) {
    return fromEnd(stored, SUFFIX_BYTES);
  }

  @Override
  boolean isWithin(byte[] stored, long from, long to) {
    return time(stored) >= from && time(stored) <= to;
  }

  /** A window that is emitted when it closes is just then as old as the retention. */
  @Override
  boolean seesEdge() {
    return isTimeOrdered();
  }

  private Windowed<Bytes> windowed(Bytes stored) {
    long start = time(stored.get());
    long end = start + windowSize;
    return new Windowed<>(key(stored), new TimeWindow(start, end < 0 ? Long.MAX_VALUE : end));
  }

  @Override
  public void put(Bytes key, byte[] value, long windowStartTimestamp) {
    Objects.requireNonNull(key, "key cannot be null");
    if (retainDuplicates) {
      if (value == null) {
        return;
      }
      number = (number + 1) & Integer.MAX_VALUE;
    }
    putStored(stored(key, windowStartTimestamp, number), value);
  }

  @Override
  public byte[] fetch(Bytes key, long time) {
    return getStored(stored(key, time, number));
  }

  @Override
  public WindowStoreIterator<byte[]> fetch(Bytes key, long timeFrom, long timeTo) {
    return ofKey(key, timeFrom, timeTo, true);
  }

  @Override
  public WindowStoreIterator<byte[]> backwardFetch(Bytes key, long timeFrom, long timeTo) {
    return ofKey(key, timeFrom, timeTo, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes keyFrom, Bytes keyTo, long timeFrom, long timeTo) {
    return windows(keyFrom, keyTo, timeFrom, timeTo, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes keyFrom, Bytes keyTo, long timeFrom, long timeTo) {
    return windows(keyFrom, keyTo, timeFrom, timeTo, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> all() {
    return windows(null, null, 0, Long.MAX_VALUE, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardAll() {
    return windows(null, null, 0, Long.MAX_VALUE, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(long timeFrom, long timeTo) {
    return windows(null, null, timeFrom, timeTo, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetchAll(long timeFrom, long timeTo) {
    return windows(null, null, timeFrom, timeTo, false);
  }

  private WindowStoreIterator<byte[]> ofKey(Bytes key, long from, long to, boolean forward) {
    Objects.requireNonNull(key, "key cannot be null");
    byte[] first = stored(key, Math.max(0, from), 0);
    byte[] last = stored(key, Math.max(0, to), Integer.MAX_VALUE);
    return new Iterators.OfWindows(walkKey(key, first, last, from, to, to, forward), stored -> time(stored.get()));
  }

  private KeyValueIterator<Windowed<Bytes>, byte[]> windows(Bytes keyFrom, Bytes keyTo, long from, long to,
      boolean forward) {
    boolean byTime = isTimeOrdered() && keyFrom == null && keyTo == null;
    return new Iterators.Mapped<>(
        byTime ? walkTimes(Math.max(from, earliest()), to, forward) : walk(keyFrom, keyTo, from, to, to, forward), this::windowed);
  }
}
