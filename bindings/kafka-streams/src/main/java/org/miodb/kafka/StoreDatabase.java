package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
 * <p>A buffer may be sealed before it is known whether it will ever be committed: a new one lies over it then, and the next
 * seal, or a commit, writes it.
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
  private volatile Layers layers = new Layers(new WriteBuffer(), new WriteBuffer());
  /** Of what is sealed: the offsets and the position that go with it. */
  private Map<TopicPartition, Long> sealedOffsets;
  private Position sealedPosition;
  private Position committed;
  /** Whether something was written that loss of power may undo, because no commit came behind it. */
  private boolean unsynced;
  private volatile boolean open = true;

  /** What is not written yet, the newer over the older. */
  private static final class Layers {
    private final WriteBuffer current;
    private final WriteBuffer sealed;

    Layers(WriteBuffer current, WriteBuffer sealed) {
      this.current = current;
      this.sealed = sealed;
    }
  }

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
    Layers now = layers;
    byte[] found = now.current.get(key);
    if (found == null) {
      found = now.sealed.get(key);
    }
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
        WriteBuffer.View current = layers.current.view(begin, end, forward);
        WriteBuffer.View sealed = layers.sealed.view(begin, end, forward);
        Cursor entries = new Cursor.Overlay(current,
            new Cursor.Overlay(sealed, new Cursor.Stored(stored, forward), forward), forward);
        return new StoreIterator(this, entries, prefixBytes, () -> {
          stored.close();
          end(current);
          end(sealed);
        });
      } catch (IllegalStateException e) {
        throw new InvalidStateStoreException("store " + name + " is closed", e);
      } catch (MioDBException e) {
        throw failed("read", e);
      }
    }
  }

  private void end(WriteBuffer.View view) {
    synchronized (position) {
      view.end();
    }
  }

  /** How many entries there are, about. */
  long approximateNumEntries() {
    long stored = property("miodb.estimate-num-keys") - metaEntries();
    Layers now = layers;
    return Math.max(0, stored + now.current.entries() + now.sealed.entries());
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

  /** A property of the engine that is a number; 0 if there is none of this name. */
  long property(String property) {
    return db.longProperty(property).orElse(0);
  }

  /** Whether an error has made the database read-only. */
  boolean hasFailed() {
    return !"OK".equals(db.property("miodb.background-error"));
  }

  // ---- Writes: under the monitor. ----

  /** Sets a key to a value; null removes the key. */
  void put(byte[] key, byte[] value) {
    layers.current.put(key, value);
  }

  /** Removes the keys from one on and before another, which nobody reads any more, not before the next commit or spill. */
  void drop(byte[] begin, byte[] end) {
    layers.current.drop(begin, end);
  }

  /** Bytes of the heap that the buffers take, about. */
  long bufferedBytes() {
    return layers.current.bytes() + layers.sealed.bytes();
  }

  /** Writes the buffers without offsets or position: a crash leaves values that the next restore writes once more. */
  void spill() {
    if (!layers.current.isEmpty() || !layers.sealed.isEmpty()) {
      write(all(), WriteOptions.DEFAULT);
      unsynced = true;
      layers = new Layers(new WriteBuffer(), new WriteBuffer());
    }
  }

  /**
   * Writes what is sealed, which is known to be committed now, and seals what was put since then.
   *
   * @param offsets of changelogs, none of which is behind what was put
   */
  void seal(Map<TopicPartition, Long> offsets) {
    WriteBatch batch = new WriteBatch();
    layers.sealed.addTo(batch);
    if (sealedOffsets != null && !sealedOffsets.isEmpty()) {
      addOffsets(batch, sealedOffsets);
    }
    if (batch.count() > 0) {
      addPosition(batch, sealedPosition);
      write(batch, WriteOptions.DEFAULT);
      unsynced = true;
      committed = sealedPosition;
    }
    sealedOffsets = offsets;
    sealedPosition = position.copy();
    layers = new Layers(new WriteBuffer(), layers.current);
  }

  /**
   * Writes the buffers, the position and the offsets as one batch, which survives loss of power where the medium allows it, as
   * what was spilled before it does.
   *
   * @param offsets of changelogs; a null one is forgotten, all are if there is none; a null map leaves them as they are
   */
  void commit(Map<TopicPartition, Long> offsets) {
    WriteBatch batch = all();
    if (offsets != null) {
      addOffsets(batch, offsets);
    }
    addPosition(batch, position);
    if (batch.count() > 0 || unsynced) {
      write(batch, WriteOptions.SYNC);
      unsynced = false;
    }
    if (batch.count() > 0) {
      committed = position.copy();
      sealedOffsets = null;
      layers = new Layers(new WriteBuffer(), new WriteBuffer());
    }
  }

  private WriteBatch all() {
    WriteBatch batch = new WriteBatch();
    layers.sealed.addTo(batch);
    layers.current.addTo(batch);
    return batch;
  }

  private void addPosition(WriteBatch batch, Position now) {
    if (!now.equals(committed)) {
      batch.put(ByteBuffer.wrap(POSITION), PositionSerde.serialize(now));
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

  private void write(WriteBatch batch, WriteOptions options) {
    try {
      db.write(batch, options);
    } catch (MioDBException e) {
      throw failed("write", e);
    }
  }

  // ---- Marks of the store, its format, and its end. ----

  /** A mark of the store that the next commit writes. */
  void mark(String mark, byte[] value) {
    layers.current.put(meta(mark), value);
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
