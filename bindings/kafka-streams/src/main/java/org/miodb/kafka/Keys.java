package org.miodb.kafka;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes of keys. */
final class Keys {
  private Keys() {}

  /** One behind the other. */
  static byte[] concat(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  /** A number that is not negative, in an order that is that of the numbers. */
  static byte[] bytes(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /** The least key behind a key. */
  static byte[] after(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /** The least key behind all that begin with a prefix; null if there is none. */
  static byte[] successor(byte[] prefix) {
    for (int last = prefix.length - 1; last >= 0; last--) {
      if (prefix[last] != (byte) 0xff) {
        byte[] next = Arrays.copyOf(prefix, last + 1);
        next[last]++;
        return next;
      }
    }
    return null;
  }
}
