package org.miodb;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

/**
 * Updates that are written together by {@link DB#write}: all or none of them survive a crash. They are kept in the heap, so a
 * batch has nothing to free; it may be written several times, and to several databases. For one thread at a time.
 */
public final class WriteBatch {
  private static final int HEADER_BYTES = 8;
  private static final int NO_VALUE = -1;
  /** A range has this less the size of its end in place of the size of a value. */
  private static final int RANGE = -2;
  private static final int FIRST_BYTES = 256;
  private static final int MOST_BYTES = Integer.MAX_VALUE - 16;

  /**
   * Of each update: the size of its key, that of its value, NO_VALUE or RANGE and below, and their bytes. The native library
   * reads it.
   */
  private byte[] updates = new byte[FIRST_BYTES];
  private int size;
  private int count;

  /** Gets the updates of a batch, in their order. */
  public interface Handler {
    /** A key is set to a value. */
    void put(byte[] key, byte[] value);

    /** A key is removed. */
    void delete(byte[] key);

    /** All keys from begin on and before end are removed. */
    default void deleteRange(byte[] begin, byte[] end) {
      throw new UnsupportedOperationException("the batch deletes a range");
    }
  }

  /** Sets a key to a value. */
  public WriteBatch put(byte[] key, byte[] value) {
    return put(ByteBuffer.wrap(key), ByteBuffer.wrap(value));
  }

  /** Sets a key to a value, each what lies between position and limit. */
  public WriteBatch put(ByteBuffer key, ByteBuffer value) {
    ByteBuffer room = room(key.remaining(), value.remaining());
    room.putInt(key.remaining()).putInt(value.remaining()).put(key.duplicate()).put(value.duplicate());
    return added(room);
  }

  /** Removes a key. */
  public WriteBatch delete(byte[] key) {
    return delete(ByteBuffer.wrap(key));
  }

  /** Removes a key: what lies between position and limit. */
  public WriteBatch delete(ByteBuffer key) {
    ByteBuffer room = room(key.remaining(), 0);
    room.putInt(key.remaining()).putInt(NO_VALUE).put(key.duplicate());
    return added(room);
  }

  /**
   * Removes all keys from begin on and before end, by one update whose cost does not depend on how many they are. Both have at
   * most 64 KiB.
   */
  public WriteBatch deleteRange(byte[] begin, byte[] end) {
    ByteBuffer room = room(begin.length, end.length);
    room.putInt(begin.length).putInt(RANGE - end.length).put(begin).put(end);
    return added(room);
  }

  /** Adds the updates of another batch. */
  public WriteBatch append(WriteBatch other) {
    int bytes = other.size;
    grow(bytes);
    System.arraycopy(other.updates, 0, updates, size, bytes);
    size += bytes;
    count += other.count;
    return this;
  }

  /** Forgets all updates. */
  public WriteBatch clear() {
    size = 0;
    count = 0;
    return this;
  }

  /** How many updates there are. */
  public int count() {
    return count;
  }

  /** Bytes that the updates take. */
  public long approximateSize() {
    return size;
  }

  /** Gives the updates to a handler. */
  public void iterate(Handler handler) {
    Objects.requireNonNull(handler);
    ByteBuffer read = ByteBuffer.wrap(updates, 0, size).order(ByteOrder.nativeOrder());
    while (read.hasRemaining()) {
      byte[] key = new byte[read.getInt()];
      int valueSize = read.getInt();
      read.get(key);
      if (valueSize == NO_VALUE) {
        handler.delete(key);
        continue;
      }
      byte[] value = new byte[valueSize <= RANGE ? RANGE - valueSize : valueSize];
      read.get(value);
      if (valueSize <= RANGE) {
        handler.deleteRange(key, value);
      } else {
        handler.put(key, value);
      }
    }
  }

  byte[] updates() {
    return updates;
  }

  int size() {
    return size;
  }

  private ByteBuffer room(int keySize, int valueSize) {
    grow((long) HEADER_BYTES + keySize + valueSize);
    return ByteBuffer.wrap(updates, size, updates.length - size).order(ByteOrder.nativeOrder());
  }

  private WriteBatch added(ByteBuffer room) {
    size = room.position();
    count++;
    return this;
  }

  private void grow(long bytes) {
    long wanted = size + bytes;
    if (wanted > MOST_BYTES) {
      throw new IllegalStateException("a batch holds at most " + MOST_BYTES + " bytes");
    }
    if (wanted > updates.length) {
      updates = Arrays.copyOf(updates, (int) Math.min(MOST_BYTES, Math.max(wanted, 2L * updates.length)));
    }
  }
}
