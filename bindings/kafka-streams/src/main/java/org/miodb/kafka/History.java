package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;

/**
 * What keys were before: an entry for each version, its key behind its key's, which says from when on it was valid. The next one
 * says until when. A removal is a version, too.
 *
 * <p>A marker says of a stretch of time that some version of a key ended in it. When all of the stretch is behind what is kept,
 * what ended of its keys is removed, some of them with each put.
 *
 * <p>Changes are under the monitor; any thread reads.
 */
final class History {
  private static final int MARKERS_AT_ONCE = 16;
  private static final int STRETCHES = 4;
  private static final long LEAST_STRETCH = 60_000;
  private static final byte[] NOTHING = new byte[0];
  private static final byte[] REMOVED = {0};
  private static final byte VALUE = 1;

  private final Table versions;
  private final Table markers;
  private final long stretch;
  private long swept;

  History(StoreDatabase database, long retention) {
    versions = new Table(database, (byte) 2);
    markers = new Table(database, (byte) 3);
    stretch = Math.max(retention / STRETCHES, LEAST_STRETCH);
  }

  /** A version as it is read; its value is null where the key was removed. */
  private static final class Version {
    private final long from;
    private final byte[] value;

    Version(long from, byte[] stored) {
      this.from = from;
      value = stored[0] == VALUE ? Arrays.copyOfRange(stored, 1, stored.length) : null;
    }

    VersionedRecord<byte[]> until(long to) {
      return to == Long.MAX_VALUE ? new VersionedRecord<>(value, from) : new VersionedRecord<>(value, from, to);
    }
  }

  private static byte[] at(byte[] key, long time) {
    return Keys.concat(key, Keys.bytes(time));
  }

  /** The next version of a key; null if there is none. Between them may be versions of longer keys. */
  private static Version next(KeyValueIterator<Bytes, byte[]> walk, byte[] key) {
    while (walk.hasNext()) {
      KeyValue<Bytes, byte[]> entry = walk.next();
      byte[] stored = entry.key.get();
      if (stored.length == key.length + Long.BYTES && Arrays.mismatch(stored, 0, key.length, key, 0, key.length) < 0) {
        return new Version(ByteBuffer.wrap(stored).getLong(key.length), entry.value);
      }
    }
    return null;
  }

  /** Sets a version, null for a removal, that is valid until a time. */
  void put(byte[] key, long from, byte[] value, long to) {
    versions.put(at(key, from), value == null ? REMOVED : Keys.concat(new byte[] {VALUE}, value));
    markers.put(Keys.concat(Keys.bytes(to / stretch), key), NOTHING);
  }

  void remove(byte[] key, long from) {
    if (versions.get(at(key, from)) != null) {
      versions.put(at(key, from), null);
    }
  }

  /** When the first version after a time begins; undefined if there is none. */
  long after(byte[] key, long time) {
    if (time == Long.MAX_VALUE) {
      return VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED;
    }
    try (StoreIterator walk = versions.range(at(key, time + 1), at(key, Long.MAX_VALUE), true)) {
      Version version = next(walk, key);
      return version == null ? VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED : version.from;
    }
  }

  /** The version of a time, where the newest of the key begins at another; null if there was no value then. */
  VersionedRecord<byte[]> at(byte[] key, long time, long newest) {
    try (StoreIterator walk = versions.range(at(key, 0), at(key, time), false)) {
      Version version = next(walk, key);
      if (version == null || version.value == null) {
        return null;
      }
      long after = after(key, time);
      return version.until(after == VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED ? newest : after);
    }
  }

  /** The versions that were valid at some time from one to another, the oldest first. */
  List<VersionedRecord<byte[]>> between(byte[] key, long from, long to, long newest) {
    List<VersionedRecord<byte[]>> found = new ArrayList<>();
    try (StoreIterator walk = versions.range(at(key, 0), at(key, Long.MAX_VALUE), true)) {
      for (Version version = next(walk, key); version != null && version.from <= to;) {
        Version following = next(walk, key);
        long end = following == null ? newest : following.from;
        if (version.value != null && end > from) {
          found.add(version.until(end));
        }
        version = following;
      }
    }
    return found;
  }

  /** Removes some of what ended before a time; newest says when the newest version of a key began, if it is not in here. */
  void sweep(long horizon, ToLongFunction<byte[]> newest) {
    long stretches = horizon / stretch;
    if (stretches <= swept) {
      return;
    }
    List<byte[]> over = new ArrayList<>();
    try (StoreIterator walk = markers.range(null, Keys.bytes(stretches), true)) {
      while (over.size() < MARKERS_AT_ONCE && walk.hasNext()) {
        over.add(walk.next().key.get());
      }
    }
    for (byte[] marker : over) {
      byte[] key = Arrays.copyOfRange(marker, Long.BYTES, marker.length);
      trim(key, horizon, newest.applyAsLong(key));
      markers.put(marker, null);
    }
    if (over.size() < MARKERS_AT_ONCE) {
      swept = stretches;
    }
  }

  /** Removes the versions of a key that ended before a time, and a removal that is the last of them. */
  private void trim(byte[] key, long horizon, long newest) {
    List<Long> over = new ArrayList<>();
    try (StoreIterator walk = versions.range(at(key, 0), at(key, Math.max(0, horizon)), true)) {
      for (Version version = next(walk, key); version != null;) {
        Version following = next(walk, key);
        if (following != null || version.value == null || newest <= horizon) {
          over.add(version.from);
        }
        version = following;
      }
    }
    over.forEach(from -> versions.put(at(key, from), null));
  }

  /** How many entries there are, of all tables. */
  long entries() {
    long entries = 0;
    for (Table table : List.of(versions, markers)) {
      try (StoreIterator walk = table.range(null, null, true)) {
        for (; walk.hasNext(); walk.next()) {
          entries++;
        }
      }
    }
    return entries;
  }
}
