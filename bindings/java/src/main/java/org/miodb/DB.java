package org.miodb;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * A database.
 *
 * <p>Any thread may call it, also while others do. Keys and values are byte arrays or byte buffers of any content; a call
 * reads those that it is given only until it returns, and what it returns is the caller's. Of a buffer it takes what lies
 * between position and limit, and moves neither; direct buffers cost no copy in the heap.
 *
 * <p>{@link #close} waits for calls of other threads that are on their way, and closes iterators and snapshots, too. Any call
 * afterwards, on them as well, throws IllegalStateException; another close does nothing. A database that is leaked is closed
 * when it and all that was made from it is collected.
 *
 * <p>Errors of the engine are {@link MioDBException}.
 */
public final class DB implements AutoCloseable {
  /** What a get into a buffer returns for a key that is not there. */
  public static final int NOT_FOUND = Native.NOT_FOUND;

  private final Store store;
  private final Path path;

  private DB(Path path, byte[] name, Options.Applied options) {
    this.path = path;
    store = new Store(this, name, options);
  }

  /**
   * Opens a database by the path of its folder.
   *
   * @throws MioDBException if the engine cannot open it
   * @throws IllegalArgumentException if the path is not of the default file system
   */
  public static DB open(Path path, Options options) {
    byte[] name = Options.bytes(Options.name(path));
    Options.Applied applied = options.apply();
    try {
      return new DB(path, name, applied);
    } catch (MioDBException | OutOfMemoryError e) {
      applied.free();
      throw e;
    }
  }

  /** Removes a database with all that is in it. Throws as {@link #open} does. */
  public static void destroy(Path path, Options options) {
    byte[] name = Options.bytes(Options.name(path));
    Options.Applied applied = options.apply();
    try {
      Native.destroy(applied.handle(), name);
    } finally {
      applied.free();
    }
  }

  /** Makes a database that does not open usable again, with what of it is readable. Throws as {@link #open} does. */
  public static void repair(Path path, Options options) {
    byte[] name = Options.bytes(Options.name(path));
    Options.Applied applied = options.apply();
    try {
      Native.repair(applied.handle(), name);
    } finally {
      applied.free();
    }
  }

  /** The version of the engine, such as "1.0". */
  public static String version() {
    int version = Native.version();
    return version / 1000 + "." + version % 1000;
  }

  /** The path that it was opened by. */
  public Path path() {
    return path;
  }

  /** Whether it is closed. */
  public boolean isClosed() {
    return store.isClosed();
  }

  @Override
  public void close() {
    store.close();
  }

  // ---- Gets. ----

  /** A get within a call of the store: with the options of the engine that these options mean. */
  private interface Read<T> {
    T with(long reads);
  }

  private <T> T read(ReadOptions options, Read<T> read) {
    int cell = store.enter();
    try {
      if (options.snapshot() == null) {
        return read.with(store.reads().of(options));
      }
      SnapshotHandle snapshot = options.snapshot().of(this);
      snapshot.begin();
      try {
        return read.with(snapshot.reads(options));
      } finally {
        snapshot.end();
      }
    } finally {
      store.leave(cell);
    }
  }

  /** The value of a key; null if the key is not there. */
  public byte[] get(byte[] key) {
    Objects.requireNonNull(key);
    int cell = store.enter();
    try {
      return Native.get(store.db(), store.reads().of(ReadOptions.DEFAULT), key);
    } finally {
      store.leave(cell);
    }
  }

  /** The value of a key; null if the key is not there. */
  public byte[] get(byte[] key, ReadOptions options) {
    Objects.requireNonNull(key);
    return read(options, reads -> Native.get(store.db(), reads, key));
  }

  /** As {@link #get(ByteBuffer, ByteBuffer, ReadOptions)}. */
  public int get(ByteBuffer key, ByteBuffer value) {
    return get(key, value, ReadOptions.DEFAULT);
  }

  /**
   * Copies the value of a key to a buffer, from its position on, and sets its limit behind it.
   *
   * @return the size of the value, or {@link #NOT_FOUND}; if the value is larger than what remains of the buffer, nothing is
   *     copied
   */
  public int get(ByteBuffer key, ByteBuffer value, ReadOptions options) {
    if (!Buffers.isWritableDirect(value) || !key.isDirect()) {
      byte[] found = get(Buffers.bytes(key), options);
      return found == null ? NOT_FOUND : Buffers.store(found, value);
    }
    Buffers.Window k = Buffers.window(key);
    Buffers.Window v = Buffers.window(value);
    int size = read(options, reads -> Native.getDirect(store.db(), reads, key, k.position(), k.size(), value,
        v.position(), v.size()));
    return size == NOT_FOUND ? size : Buffers.limit(value, size);
  }

  /** As {@link #multiGet(List, ReadOptions)}. */
  public List<byte[]> multiGet(List<byte[]> keys) {
    return multiGet(keys, ReadOptions.DEFAULT);
  }

  /** The values of many keys as of one moment, in their order; null for each key that is not there. */
  public List<byte[]> multiGet(List<byte[]> keys, ReadOptions options) {
    int[] ends = new int[keys.size()];
    long size = 0;
    for (int i = 0; i < ends.length; i++) {
      size += keys.get(i).length;
      if (size > Integer.MAX_VALUE - 16) {
        throw new IllegalArgumentException("the keys are too long together");
      }
      ends[i] = (int) size;
    }
    byte[] together = new byte[(int) size];
    for (int i = 0; i < ends.length; i++) {
      byte[] key = keys.get(i);
      System.arraycopy(key, 0, together, ends[i] - key.length, key.length);
    }
    return Arrays.asList(read(options, reads -> Native.multiGet(store.db(), reads, together, ends)));
  }

  // ---- Writes. ----

  /** As {@link #put(byte[], byte[], WriteOptions)}, with {@link WriteOptions#DEFAULT}. */
  public void put(byte[] key, byte[] value) {
    put(key, value, WriteOptions.DEFAULT);
  }

  /** Sets a key to a value. */
  public void put(byte[] key, byte[] value, WriteOptions options) {
    Objects.requireNonNull(key);
    Objects.requireNonNull(value);
    int cell = store.enter();
    try {
      Native.put(store.db(), store.writes(options), key, value);
    } finally {
      store.leave(cell);
    }
  }

  /** As {@link #put(ByteBuffer, ByteBuffer, WriteOptions)}, with {@link WriteOptions#DEFAULT}. */
  public void put(ByteBuffer key, ByteBuffer value) {
    put(key, value, WriteOptions.DEFAULT);
  }

  /** Sets a key to a value. */
  public void put(ByteBuffer key, ByteBuffer value, WriteOptions options) {
    if (!key.isDirect() || !value.isDirect()) {
      put(Buffers.bytes(key), Buffers.bytes(value), options);
      return;
    }
    Buffers.Window k = Buffers.window(key);
    Buffers.Window v = Buffers.window(value);
    int cell = store.enter();
    try {
      Native.putDirect(store.db(), store.writes(options), key, k.position(), k.size(), value, v.position(), v.size());
    } finally {
      store.leave(cell);
    }
  }

  /** As {@link #delete(byte[], WriteOptions)}, with {@link WriteOptions#DEFAULT}. */
  public void delete(byte[] key) {
    delete(key, WriteOptions.DEFAULT);
  }

  /** Removes a key, if it is there. */
  public void delete(byte[] key, WriteOptions options) {
    Objects.requireNonNull(key);
    int cell = store.enter();
    try {
      Native.delete(store.db(), store.writes(options), key);
    } finally {
      store.leave(cell);
    }
  }

  /** As {@link #write(WriteBatch, WriteOptions)}, with {@link WriteOptions#DEFAULT}. */
  public void write(WriteBatch batch) {
    write(batch, WriteOptions.DEFAULT);
  }

  /** Writes the updates of a batch, all of them or none. */
  public void write(WriteBatch batch, WriteOptions options) {
    // The size first: if another thread makes the batch grow meanwhile, an array that holds more is read.
    int size = batch.size();
    byte[] updates = batch.updates();
    int cell = store.enter();
    try {
      Native.write(store.db(), store.writes(options), updates, Math.min(size, updates.length));
    } finally {
      store.leave(cell);
    }
  }

  // ---- Iterators and snapshots. ----

  /** As {@link #iterator(ReadOptions)}, over everything. */
  public DBIterator iterator() {
    return iterator(ReadOptions.DEFAULT);
  }

  /** An iterator over the keys within the bounds of the options. */
  public DBIterator iterator(ReadOptions options) {
    Leaks.help();
    int cell = store.enter();
    try {
      SnapshotHandle snapshot = options.snapshot() == null ? null : options.snapshot().of(this);
      if (snapshot == null) {
        return new DBIterator(this, store, 0, options);
      }
      snapshot.begin();
      try {
        return new DBIterator(this, store, snapshot.snapshot(), options);
      } finally {
        snapshot.end();
      }
    } finally {
      store.leave(cell);
    }
  }

  /** What the database has now. */
  public Snapshot snapshot() {
    Leaks.help();
    int cell = store.enter();
    try {
      return new Snapshot(this, store);
    } finally {
      store.leave(cell);
    }
  }

  // ---- Work behind, and what the database says of itself. ----

  /** Returns when what is in memory is in a table. */
  public void flush() {
    int cell = store.enter();
    try {
      Native.flush(store.db());
    } finally {
      store.leave(cell);
    }
  }

  /** Returns when everything is flushed, merged and collected. */
  public void waitForIdle() {
    int cell = store.enter();
    try {
      Native.waitForIdle(store.db());
    } finally {
      store.leave(cell);
    }
  }

  /** Merges what lies from one key to another; null stands for the one before all keys, or behind all. */
  public void compactRange(byte[] begin, byte[] end) {
    int cell = store.enter();
    try {
      Native.compactRange(store.db(), begin, end);
    } finally {
      store.leave(cell);
    }
  }

  /** Roughly how many bytes the keys from start to before limit take. */
  public long approximateSize(byte[] start, byte[] limit) {
    Objects.requireNonNull(start);
    Objects.requireNonNull(limit);
    int cell = store.enter();
    try {
      return Native.approximateSize(store.db(), start, limit);
    } finally {
      store.leave(cell);
    }
  }

  /** A property such as "miodb.counters"; null if there is none of this name. */
  public String property(String name) {
    byte[] bytes = Options.bytes(name);
    int cell = store.enter();
    try {
      byte[] text = Native.property(store.db(), bytes);
      return text == null ? null : new String(text, StandardCharsets.UTF_8);
    } finally {
      store.leave(cell);
    }
  }

  /** A property that is a number; empty if there is none of this name, or it is no number. */
  public OptionalLong longProperty(String name) {
    String text = property(name);
    return text == null || !text.matches("[0-9]{1,18}") ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
  }

  /** All counters by their names. */
  public Map<String, Long> statistics() {
    Map<String, Long> counters = new LinkedHashMap<>();
    for (String line : property("miodb.counters").split("\n")) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        counters.put(line.substring(0, colon).trim(), Long.parseUnsignedLong(line.substring(colon + 1).trim()));
      }
    }
    return counters;
  }
}
