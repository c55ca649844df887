package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;

/** A session store: a stored key is the record's key, the end of the session and its start. */
class MioDBSessionStore extends SegmentedStore implements SessionStore<Bytes, byte[]> {
  private static final int SUFFIX_BYTES = 2 * Long.BYTES;

  MioDBSessionStore(Suppliers.OfSessionStores supplier) {
    super(supplier.name(), supplier.retentionPeriod(), supplier.segmentIntervalMs(), SUFFIX_BYTES,
        supplier.isTimeOrdered());
  }

  /** Values begin with headers. */
  static final class WithHeaders extends MioDBSessionStore implements HeadersBytesStore {
    WithHeaders(Suppliers.OfSessionStores supplier) {
      super(supplier);
    }

    @Override
    String format() {
      return "sessions with headers";
    }
  }

  @Override
  String format() {
    return "sessions";
  }

  private static byte[] stored(Bytes key, long start, long end) {
    byte[] bytes = key.get();
    return ByteBuffer.allocate(bytes.length + SUFFIX_BYTES).put(bytes).putLong(end).putLong(start).array();
  }

  private static byte[] stored(Windowed<Bytes> session) {
    return stored(session.key(), session.window().start(), session.window().end());
  }

  @Override
  long time(byte[] stored) {
    return fromEnd(stored, SUFFIX_BYTES);
  }

  /** A session counts that ends at the first time or later, and starts at the second or earlier. */
  @Override
  boolean isWithin(byte[] stored, long from, long to) {
    return time(stored) >= from && fromEnd(stored, Long.BYTES) <= to;
  }

  private Windowed<Bytes> windowed(Bytes stored) {
    return new Windowed<>(key(stored), new SessionWindow(fromEnd(stored.get(), Long.BYTES), time(stored.get())));
  }

  @Override
  public void put(Windowed<Bytes> session, byte[] aggregate) {
    Objects.requireNonNull(session, "session cannot be null");
    putStored(stored(session), aggregate);
  }

  @Override
  public void remove(Windowed<Bytes> session) {
    Objects.requireNonNull(session, "session cannot be null");
    putStored(stored(session), null);
  }

  @Override
  public byte[] fetchSession(Bytes key, long start, long end) {
    Objects.requireNonNull(key, "key cannot be null");
    return getStored(stored(key, start, end));
  }

  /** The sessions that end from one time to another, in the order of their ends; of time-ordered stores alone. */
  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(long earliestEnd, long latestEnd) {
    if (!isTimeOrdered()) {
      return SessionStore.super.findSessions(earliestEnd, latestEnd);
    }
    return new Iterators.Mapped<>(walkTimes(earliestEnd, latestEnd, true), this::windowed);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(Bytes key, long earliestEnd, long latestStart) {
    return ofKey(key, earliestEnd, latestStart, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(Bytes key, long earliestEnd, long latestStart) {
    return ofKey(key, earliestEnd, latestStart, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(Bytes keyFrom, Bytes keyTo, long earliestEnd,
      long latestStart) {
    return sessions(keyFrom, keyTo, earliestEnd, latestStart, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(Bytes keyFrom, Bytes keyTo, long earliestEnd,
      long latestStart) {
    return sessions(keyFrom, keyTo, earliestEnd, latestStart, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes key) {
    return ofKey(key, 0, Long.MAX_VALUE, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes key) {
    return ofKey(key, 0, Long.MAX_VALUE, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes keyFrom, Bytes keyTo) {
    return findSessions(keyFrom, keyTo, 0, Long.MAX_VALUE);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(Bytes keyFrom, Bytes keyTo) {
    return backwardFindSessions(keyFrom, keyTo, 0, Long.MAX_VALUE);
  }

  private KeyValueIterator<Windowed<Bytes>, byte[]> ofKey(Bytes key, long earliestEnd, long latestStart,
      boolean forward) {
    Objects.requireNonNull(key, "key cannot be null");
    byte[] first = stored(key, 0, Math.max(0, earliestEnd));
    byte[] last = stored(key, Math.max(0, latestStart), Long.MAX_VALUE);
    return new Iterators.Mapped<>(walkKey(key, first, last, earliestEnd, latestStart, Long.MAX_VALUE, forward),
        this::windowed);
  }

  private KeyValueIterator<Windowed<Bytes>, byte[]> sessions(Bytes keyFrom, Bytes keyTo, long earliestEnd,
      long latestStart, boolean forward) {
    return new Iterators.Mapped<>(walk(keyFrom, keyTo, earliestEnd, latestStart, Long.MAX_VALUE, forward),
        this::windowed);
  }
}
