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

  /** What remains of a direct buffer, read once: another thread may move in the buffer meanwhile. */
  record Window(int position, int size) {}

  /** The window of a direct buffer, whose memory the native library uses. Throws where that memory is not the buffer's. */
  static Window window(ByteBuffer buffer) {
    Window window = new Window(buffer.position(), buffer.remaining());
    Objects.checkFromIndexSize(window.position(), window.size(), buffer.capacity());
    if (window.size() > 0) {
      buffer.get(window.position());  // throws where the arena of the memory is closed
    }
    return window;
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
