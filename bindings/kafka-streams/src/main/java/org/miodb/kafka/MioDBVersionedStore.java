package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.apache.kafka.streams.state.internals.StoreQueryUtils;

/**
 * A versioned store. The newest value of a key is an entry of one table, with its time; what was before it, and removals, are
 * in the {@link History}.
 */
final class MioDBVersionedStore extends MioDBStore implements VersionedKeyValueStore<Bytes, byte[]> {
  private final long retention;
  private Table newest;
  private History history;
  private StreamTime streamTime;

  MioDBVersionedStore(String name, long retention) {
    super(name);
    this.retention = retention;
  }

  @Override
  String format() {
    return "versions";
  }

  @Override
  void opened(StoreDatabase opened) {
    dropsRecords();
    newest = new Table(opened, (byte) 1);
    history = new History(opened, retention);
    streamTime = new StreamTime(opened);
  }

  @Override
  void committing() {
    streamTime.committing();
  }

  @Override
  void restore(ConsumerRecord<byte[], byte[]> record) {
    if (record.timestamp() >= horizon()) {
      putVersion(record.key(), record.value(), record.timestamp());
    }
  }

  /** What was before is not kept, and not taken any more. */
  private long horizon() {
    return streamTime.get() - retention;
  }

  private long newestTime(byte[] key) {
    byte[] current = newest.get(key);
    return current == null ? Long.MAX_VALUE : time(current);
  }

  /** How many versions and markers are kept behind the newest ones. */
  long historyEntries() {
    return history.entries();
  }

  private static byte[] entry(long time, byte[] value) {
    return ByteBuffer.allocate(Long.BYTES + value.length).putLong(time).put(value).array();
  }

  private static long time(byte[] entry) {
    return ByteBuffer.wrap(entry).getLong();
  }

  private static byte[] value(byte[] entry) {
    return Arrays.copyOfRange(entry, Long.BYTES, entry.length);
  }

  // ---- Writes. ----

  @Override
  public long put(Bytes key, byte[] value, long timestamp) {
    Objects.requireNonNull(key, "key cannot be null");
    long validTo = change(() -> timestamp < horizon() ? PUT_RETURN_CODE_NOT_PUT
        : putVersion(key.get(), value, timestamp));
    if (validTo == PUT_RETURN_CODE_NOT_PUT) {
      recordDropped();
    }
    return validTo;
  }

  @Override
  public VersionedRecord<byte[]> delete(Bytes key, long timestamp) {
    Objects.requireNonNull(key, "key cannot be null");
    boolean taken = timestamp >= horizon();
    VersionedRecord<byte[]> before = taken ? get(key, timestamp) : null;
    put(key, null, timestamp);
    return before;
  }

  /** Under the monitor. Returns until when the version is valid. */
  private long putVersion(byte[] key, byte[] value, long time) {
    streamTime.advance(time);
    history.sweep(horizon(), this::newestTime);
    byte[] current = newest.get(key);
    if (current != null && time(current) > time) {
      return putBefore(key, value, time, time(current));
    }
    long next = current == null ? history.after(key, time) : PUT_RETURN_CODE_VALID_TO_UNDEFINED;
    if (next != PUT_RETURN_CODE_VALID_TO_UNDEFINED) {
      return putBefore(key, value, time, next);
    }
    if (current != null && time(current) < time) {
      history.put(key, time(current), value(current), time);
    }
    if (value == null) {
      newest.put(key, null);
      history.put(key, time, null, time);
    } else {
      history.remove(key, time);
      newest.put(key, entry(time, value));
    }
    return PUT_RETURN_CODE_VALID_TO_UNDEFINED;
  }

  private long putBefore(byte[] key, byte[] value, long time, long latest) {
    long next = history.after(key, time);
    long validTo = next == PUT_RETURN_CODE_VALID_TO_UNDEFINED ? latest : next;
    history.put(key, time, value, validTo);
    return validTo;
  }

  // ---- Reads. ----

  @Override
  public VersionedRecord<byte[]> get(Bytes key) {
    Objects.requireNonNull(key, "key cannot be null");
    open();
    byte[] current = newest.get(key.get());
    return current == null ? null : new VersionedRecord<>(value(current), time(current));
  }

  @Override
  public VersionedRecord<byte[]> get(Bytes key, long asOf) {
    VersionedRecord<byte[]> current = get(key);
    if (current != null && current.timestamp() <= asOf) {
      return current;
    }
    if (asOf < Math.max(0, horizon())) {
      return null;
    }
    long latest = current == null ? Long.MAX_VALUE : current.timestamp();
    return history.at(key.get(), asOf, latest);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <R> QueryResult<R> query(Query<R> query, PositionBound positionBound, QueryConfig config) {
    if (!(query instanceof MultiVersionedKeyQuery)) {
      return super.query(query, positionBound, config);
    }
    return answer(query, positionBound, config, () -> {
      MultiVersionedKeyQuery<Bytes, byte[]> asked = (MultiVersionedKeyQuery<Bytes, byte[]>) query;
      return (R) new Versions(between(asked.key(), asked.fromTime().orElseThrow().toEpochMilli(),
          asked.toTime().orElseThrow().toEpochMilli(), asked.resultOrder()));
    });
  }

  /** The versions that were valid at some time from one to another, the newest first if not asked for otherwise. */
  private List<VersionedRecord<byte[]>> between(Bytes key, long from, long to, ResultOrder order) {
    VersionedRecord<byte[]> current = get(key);
    List<VersionedRecord<byte[]>> found = new ArrayList<>();
    if (to >= horizon()) {
      found.addAll(history.between(key.get(), from, to, current == null ? Long.MAX_VALUE : current.timestamp()));
    }
    if (current != null && current.timestamp() <= to) {
      found.add(current);
    }
    if (order != ResultOrder.ASCENDING) {
      Collections.reverse(found);
    }
    return found;
  }

  /** Versions in a list. */
  private static final class Versions implements VersionedRecordIterator<byte[]> {
    private final Iterator<VersionedRecord<byte[]>> versions;

    Versions(List<VersionedRecord<byte[]>> versions) {
      this.versions = versions.iterator();
    }

    @Override
    public boolean hasNext() {
      return versions.hasNext();
    }

    @Override
    public VersionedRecord<byte[]> next() {
      return versions.next();
    }

    @Override
    public void close() {}
  }
}
