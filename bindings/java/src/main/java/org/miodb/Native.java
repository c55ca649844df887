package org.miodb;

import java.nio.ByteBuffer;

/**
 * The functions of the native library. A handle is an object of the C API; whoever passes one has to see to it that it is
 * alive until the call returns.
 */
final class Native {
  /** What getDirect returns for a key that is not there. */
  static final int NOT_FOUND = -1;

  static {
    NativeLibrary.load();
  }

  private Native() {}

  static native int version();

  static native long newOptions();

  static native void freeOptions(long options);

  static native void setOption(long options, byte[] name, byte[] text);

  static native long newCache(long options, long bytes);

  static native void freeCache(long cache);

  static native long newFilter(long options, int bitsPerKey);

  static native void freeFilter(long filter);

  static native long newReads(long snapshot, boolean verifyChecksums, boolean fillCache);

  static native void setBounds(long reads, byte[] lower, byte[] upper, long readaheadBytes);

  static native void freeReads(long reads);

  static native long newWrites(boolean sync);

  static native void freeWrites(long writes);

  static native long open(long options, byte[] path);

  static native void close(long db);

  static native void destroy(long options, byte[] path);

  static native void repair(long options, byte[] path);

  static native byte[] get(long db, long reads, byte[] key);

  static native int getDirect(long db, long reads, ByteBuffer key, int keyPosition, int keySize, ByteBuffer value,
      int position, int room);

  static native byte[][] multiGet(long db, long reads, byte[] keys, int[] ends);

  static native void put(long db, long writes, byte[] key, byte[] value);

  static native void putDirect(long db, long writes, ByteBuffer key, int keyPosition, int keySize, ByteBuffer value,
      int valuePosition, int valueSize);

  static native void delete(long db, long writes, byte[] key);

  static native void write(long db, long writes, byte[] updates, int size);

  static native long newSnapshot(long db);

  static native void freeSnapshot(long db, long snapshot);

  static native void flush(long db);

  static native void waitForIdle(long db);

  static native void compactRange(long db, byte[] begin, byte[] end);

  static native long approximateSize(long db, byte[] start, byte[] limit);

  static native byte[] property(long db, byte[] name);

  static native long newIterator(long db, long reads);

  static native void freeIterator(long iterator);

  static native boolean seekToFirst(long iterator);

  static native boolean seekToLast(long iterator);

  static native boolean seek(long iterator, byte[] target);

  static native boolean seekForPrev(long iterator, byte[] target);

  static native boolean next(long iterator);

  static native boolean prev(long iterator);

  static native byte[] key(long iterator);

  static native byte[] value(long iterator);

  static native int keyDirect(long iterator, ByteBuffer buffer, int position, int room);

  static native int valueDirect(long iterator, ByteBuffer buffer, int position, int room);
}
