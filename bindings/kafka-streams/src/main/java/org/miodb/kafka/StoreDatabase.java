package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.internals.PositionSerde;
import org.miodb.DB;
import org.miodb.DBIterator;
import org.miodb.MioDBException;
import org.miodb.ReadOptions;
import org.miodb.WriteBatch;
import org.miodb.WriteOptions;

/**
 * The database of one store. What is written goes into a buffer, and reads see it there; a commit writes the buffer, the
 * offsets of the changelog, the position and the store's own marks as one batch.
 *
 * <p>A crash leaves what the last commit wrote, and what {@link #spill} wrote since then. The first byte of a key says whose
 * table it is ({@link Table}); {@link #META} is the database's own.
 *
 * <p>The monitor of the position guards all changes and the beginning of each walk. Gets take no lock.
 */
final class StoreDatabase implements AutoCloseable {
  /** The table of what the database knows of itself. */
  private static final byte META = 0;

  private static final byte[] FORMAT = meta("format");
  private static final byte[] POSITION = meta("position");
  private static final String OFFSET = "offset ";

  private final String name;
  private final DB db;
  private final Position position;
  private final WriteBatch extra = new WriteBatch();
  private volatile WriteBuffer buffer = new WriteBuffer();
  private Position committed;
  private volatile boolean open = true;

  /** Takes an open database. */
  StoreDatabase(String name, DB db) {
    this.name = name;
    this.db = db;
    byte[] bytes = db.get(POSITION);
    position = bytes == null ? Position.emptyPosition() : PositionSerde.deserialize(ByteBuffer.wrap(bytes));
    committed = position.copy();
  }

  private static byte[] meta(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    byte[] key = new byte[bytes.length + 1];
    key[0] = META;
    System.arraycopy(bytes, 0, key, 1, bytes.length);
    return key;
  }

  private static byte[] offsetKey(TopicPartition partition) {
    return meta(OFFSET + partition);
  }

  String name() {
    return name;
  }

  boolean isOpen() {
    return open;
  }

  /** The position, whose monitor is the database's. */
  Position position() {
    return position;
  }

  // ---- Reads. ----

  /** The value of a key; null if it has none. */
  byte[] get(byte[] key) {
    byte[] found = buffer.get(key);
    if (found != null) {
      return found == WriteBuffer.REMOVED ? null : found;
    }
    try {
      return db.get(key);
    } catch (IllegalStateException e) {
      throw new InvalidStateStoreException("store " + name + " is closed", e);
    } catch (MioDBException e) {
      throw failed("read", e);
    }
  }

  /** A walk over the keys from one on and before another, as they are now; their prefix is left out. */
  StoreIterator iterator(byte[] begin, byte[] before, int prefixBytes, boolean forward) {
    byte[] end = Arrays.compareUnsigned(begin, before) > 0 ? begin : before;
    synchronized (position) {
      try {
        DBIterator stored = db.iterator(ReadOptions.DEFAULT.withLowerBound(begin).withUpperBound(end));
        return new StoreIterator(this, stored, buffer.view(begin, end, forward), prefixBytes, forward);
      } catch (IllegalStateException e) {
        throw new InvalidStateStoreException("store " + name + " is closed", e);
      } catch (MioDBException e) {
        throw failed("read", e);
      }
    }
  }

  /** A walk is over. */
  void end(WriteBuffer.View view) {
    synchronized (position) {
      view.end();
    }
  }

  /** How many entries there are, about. */
  long approximateNumEntries() {
    long stored = db.longProperty("miodb.estimate-num-keys").orElse(0) - metaEntries();
    return Math.max(0, stored + buffer.entries());
  }

  private long metaEntries() {
    long entries = 0;
    try (DBIterator iterator = db.iterator(ReadOptions.DEFAULT.withUpperBound(new byte[] {META + 1}))) {
      for (boolean there = iterator.seekToFirst(); there; there = iterator.next()) {
        entries++;
      }
    }
    return entries;
  }

  /** A property of the engine that is a number. */
  OptionalLong property(String property) {
    return db.longProperty(property);
  }

  // ---- Writes: under the monitor. ----

  /** Sets a key to a value; null removes the key. */
  void put(byte[] key, byte[] value) {
    buffer.put(key, value);
  }

  /** Removes the keys from one on and before another, which nobody reads any more, not before the next commit or spill. */
  void drop(byte[] begin, byte[] end) {
    buffer.forget(begin, end);
    extra.deleteRange(begin, end);
  }

  /** Bytes of the heap that the buffer takes, about. */
  long bufferedBytes() {
    return buffer.bytes();
  }

  /** Writes the buffer without offsets or position: a crash leaves values that the next restore writes once more. */
  void spill() {
    if (!buffer.isEmpty() || extra.count() > 0) {
      write(new WriteBatch(), WriteOptions.DEFAULT);
    }
  }

  /**
   * Writes the buffer, the position and the offsets as one batch, which survives loss of power where the medium allows it.
   *
   * @param offsets of changelogs; a null one is forgotten, all are if there is none; a null map leaves them as they are
   */
  void commit(Map<TopicPartition, Long> offsets) {
    WriteBatch batch = new WriteBatch();
    if (offsets != null) {
      addOffsets(batch, offsets);
    }
    if (!position.equals(committed)) {
      batch.put(ByteBuffer.wrap(POSITION), PositionSerde.serialize(position));
    }
    if (batch.count() > 0 || !buffer.isEmpty() || extra.count() > 0) {
      write(batch, WriteOptions.SYNC);
      committed = position.copy();
    }
  }

  private void addOffsets(WriteBatch batch, Map<TopicPartition, Long> offsets) {
    if (offsets.isEmpty()) {
      for (byte[] key : storedOffsets()) {
        batch.delete(key);
      }
    }
    offsets.forEach((partition, offset) -> {
      byte[] key = offsetKey(partition);
      byte[] stored = db.get(key);
      byte[] value = offset == null ? null : ByteBuffer.allocate(Long.BYTES).putLong(offset).array();
      if (Arrays.equals(stored, value)) {
        return;
      }
      if (value == null) {
        batch.delete(key);
      } else {
        batch.put(key, value);
      }
    });
  }

  private List<byte[]> storedOffsets() {
    List<byte[]> keys = new ArrayList<>();
    byte[] begin = meta(OFFSET);
    try (DBIterator iterator = db.iterator(ReadOptions.DEFAULT.withLowerBound(begin).withUpperBound(Keys.successor(begin)))) {
      for (boolean there = iterator.seekToFirst(); there; there = iterator.next()) {
        keys.add(iterator.key());
      }
    }
    return keys;
  }

  /** The offset that the last commit had for a changelog; null if it had none. */
  Long committedOffset(TopicPartition partition) {
    byte[] value = db.get(offsetKey(partition));
    return value == null ? null : ByteBuffer.wrap(value).getLong();
  }

  /** Dropped ranges go first: what is in the buffer is newer. */
  private void write(WriteBatch end, WriteOptions options) {
    WriteBatch batch = new WriteBatch().append(extra);
    buffer.addTo(batch);
    try {
      db.write(batch.append(end), options);
    } catch (MioDBException e) {
      throw failed("write", e);
    }
    extra.clear();
    buffer = new WriteBuffer();
  }

  // ---- Marks of the store, its format, and its end. ----

  /** A mark of the store that the next commit writes. */
  void mark(String mark, byte[] value) {
    buffer.put(meta(mark), value);
  }

  /** A mark; null if there is none. */
  byte[] mark(String mark) {
    return get(meta(mark));
  }

  /** The format of the store's keys and values; null in a new database. */
  String format() {
    byte[] format = db.get(FORMAT);
    return format == null ? null : new String(format, StandardCharsets.UTF_8);
  }

  /** Removes everything and sets the format, at once. */
  void begin(String format) {
    WriteBatch batch = new WriteBatch().deleteRange(new byte[0], new byte[] {Byte.MAX_VALUE});
    db.write(batch.put(FORMAT, format.getBytes(StandardCharsets.UTF_8)), WriteOptions.SYNC);
  }

  /** Forgets what was not committed. A second call does nothing. */
  @Override
  public void close() {
    synchronized (position) {
      open = false;
      db.close();
    }
  }

  private ProcessorStateException failed(String what, MioDBException e) {
    return new ProcessorStateException("cannot " + what + " store " + name + ": " + e.getMessage(), e);
  }
}
