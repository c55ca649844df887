package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;

/**
 * Entries by stretches of time, each a table of its own below one table. A segment goes as a whole, by the deletion of a range,
 * when stream time has left it behind by the retention.
 */
final class Segments {
  private final StoreDatabase database;
  private final byte table;
  private final long retention;
  private final long interval;
  private final NavigableMap<Long, Table> live = new ConcurrentSkipListMap<>();
  private final StreamTime streamTime;

  /** Finds the segments that are there. */
  Segments(StoreDatabase database, StreamTime streamTime, byte table, long retention, long interval) {
    this.database = database;
    this.streamTime = streamTime;
    this.table = table;
    this.retention = retention;
    this.interval = interval;
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
        from = Keys.bytes(id + 1);
      }
    }
  }

  private Table segment(long id) {
    return new Table(database, Keys.concat(new byte[] {table}, Keys.bytes(id)));
  }

  /** Under the monitor: the segment of a time, made if it is not there; null if its time is over. Drops those whose is. */
  Table forPut(long time) {
    long first = (streamTime.get() - retention) / interval;
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

  /** A segment by its number; null if it is gone. */
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
}
