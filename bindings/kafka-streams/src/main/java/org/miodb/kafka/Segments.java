package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;

/**
 * Entries by stretches of time, each a table of its own below one table. A segment goes as a whole, by the deletion of a range,
 * when stream time has left it behind by the retention.
 *
 * <p>Stream time is the latest time that was seen, and is kept with the data.
 */
final class Segments {
  private static final String STREAM_TIME = "stream time";

  private final StoreDatabase database;
  private final byte table;
  private final long retention;
  private final long interval;
  private final NavigableMap<Long, Table> live = new ConcurrentSkipListMap<>();
  private volatile long streamTime = ConsumerRecord.NO_TIMESTAMP;
  private long markedTime = ConsumerRecord.NO_TIMESTAMP;

  /** Finds the segments that are there. */
  Segments(StoreDatabase database, byte table, long retention, long interval) {
    this.database = database;
    this.table = table;
    this.retention = retention;
    this.interval = interval;
    byte[] mark = database.mark(STREAM_TIME);
    if (mark != null) {
      streamTime = ByteBuffer.wrap(mark).getLong();
      markedTime = streamTime;
    }
    findSegments();
  }

  private void findSegments() {
    Table all = new Table(database, table);
    for (byte[] from = new byte[0]; from != null;) {
      try (KeyValueIterator<Bytes, byte[]> entries = all.range(from, null, true)) {
        if (!entries.hasNext()) {
          return;
        }
        long id = ByteBuffer.wrap(entries.peekNextKey().get()).getLong();
        live.put(id, segment(id));
        from = id(id + 1);
      }
    }
  }

  private static byte[] id(long id) {
    return ByteBuffer.allocate(Long.BYTES).putLong(id).array();
  }

  private Table segment(long id) {
    return new Table(database, Keys.concat(new byte[] {table}, id(id)));
  }

  /** The earliest time whose entries are seen. */
  long earliest() {
    return streamTime - retention + 1;
  }

  /** Under the monitor: stream time is at least this. */
  void advance(long time) {
    streamTime = Math.max(streamTime, time);
  }

  /** Under the monitor: the segment of a time, made if it is not there; null if its time is over. Drops those whose is. */
  Table forPut(long time) {
    long first = (streamTime - retention) / interval;
    long id = time / interval;
    if (id < first) {
      return null;
    }
    NavigableMap<Long, Table> expired = live.headMap(first, false);
    expired.values().forEach(Table::drop);
    expired.clear();
    return live.computeIfAbsent(id, this::segment);
  }

  /** The segment of a time; null if it is not there. */
  Table at(long time) {
    return live.get(time / interval);
  }

  /** Whether a segment is still there. */
  boolean isLive(Long id) {
    return live.containsKey(id);
  }

  /** A segment by its number. */
  Table get(Long id) {
    return live.get(id);
  }

  /** The numbers of the segments from one time to another, in the order of a walk. */
  List<Long> between(long from, long to, boolean forward) {
    long first = from / interval;
    long last = to / interval;
    if (first > last) {
      return List.of();
    }
    NavigableMap<Long, Table> range = live.subMap(first, true, last, true);
    return new ArrayList<>((forward ? range : range.descendingMap()).keySet());
  }

  /** Under the monitor: what the next commit has to write. */
  void committing() {
    if (streamTime != markedTime) {
      database.mark(STREAM_TIME, id(streamTime));
      markedTime = streamTime;
    }
  }
}
