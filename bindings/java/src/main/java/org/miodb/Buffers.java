package org.miodb;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Objects;

/** Byte buffers as keys and values. Those that are not direct go through arrays. */
final class Buffers {
  private Buffers() {}

  /** The bytes from the position to the limit; the buffer stays as it is. */
  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  /**
   * Checks that so many bytes from a position on are the buffer's, which another thread may have moved in meanwhile, and that its
   * memory is there. For direct buffers, whose memory the native library uses.
   */
  static void check(ByteBuffer buffer, int position, int size) {
    Objects.checkFromIndexSize(position, size, buffer.capacity());
    if (size > 0) {
      buffer.get(position);  // throws where the arena of the memory is closed
    }
  }

  /** Whether the engine can write into the buffer. Throws if nobody may. */
  static boolean isWritableDirect(ByteBuffer buffer) {
    if (buffer.isReadOnly()) {
      throw new ReadOnlyBufferException();
    }
    return buffer.isDirect();
  }

  /** Copies the bytes to the buffer if they fit, sets its limit behind them, and returns how many they are. */
  static int store(byte[] bytes, ByteBuffer buffer) {
    if (bytes.length <= buffer.remaining()) {
      buffer.duplicate().put(bytes);
    }
    return limit(buffer, bytes.length);
  }

  /** Sets the limit behind what was copied, if it was. */
  static int limit(ByteBuffer buffer, int size) {
    if (size <= buffer.remaining()) {
      buffer.limit(buffer.position() + size);
    }
    return size;
  }
}
