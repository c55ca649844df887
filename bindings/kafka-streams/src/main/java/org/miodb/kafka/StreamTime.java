package org.miodb.kafka;

import java.nio.ByteBuffer;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The latest time that a store has seen, which is kept with its data. Any thread reads it; changes are under the monitor. */
final class StreamTime {
  private static final String MARK = "stream time";

  private final StoreDatabase database;
  private volatile long time = ConsumerRecord.NO_TIMESTAMP;
  private long marked;

  StreamTime(StoreDatabase database) {
    this.database = database;
    byte[] mark = database.mark(MARK);
    if (mark != null) {
      time = ByteBuffer.wrap(mark).getLong();
    }
    marked = time;
  }

  long get() {
    return time;
  }

  void advance(long seen) {
    time = Math.max(time, seen);
  }

  /** What the next commit has to write. */
  void committing() {
    if (time != marked) {
      database.mark(MARK, Keys.bytes(time));
      marked = time;
    }
  }
}
