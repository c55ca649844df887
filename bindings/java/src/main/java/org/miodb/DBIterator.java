package org.miodb;

import java.nio.ByteBuffer;
import java.util.NoSuchElementException;
import java.util.Objects;

/**
 * Walks over the keys of a database, or of its bounds, in either direction, and sees what was there when it was made. It stands
 * at an entry, or at none; at first at none.
 *
 * <p>For one thread at a time: a second one gets IllegalStateException. Close it when it is done: it keeps space of what it
 * sees. After that, or the close of its database, every call but another close throws IllegalStateException. One that is
 * leaked is closed when it is collected.
 */
public final class DBIterator implements AutoCloseable {
  /** Keeps the database from being collected. */
  private final DB db;
  private final IteratorHandle handle;
  private boolean valid;

  /** Within a call of the store. The snapshot is of the engine, or 0. */
  DBIterator(DB db, Store store, long snapshot, ReadOptions options) {
    this.db = db;
    handle = new IteratorHandle(this, store, snapshot, options);
  }

  /** The database that it walks over. */
  public DB database() {
    return db;
  }

  /** Whether it stands at an entry. */
  public boolean isValid() {
    int cell = handle.begin();
    try {
      return valid;
    } finally {
      handle.end(cell);
    }
  }

  /** Moves to the first entry. Returns whether there is one, as all moves do. */
  public boolean seekToFirst() {
    int cell = handle.begin();
    try {
      valid = false;
      return valid = Native.seekToFirst(handle.iterator());
    } finally {
      handle.end(cell);
    }
  }

  /** Moves to the last entry. */
  public boolean seekToLast() {
    int cell = handle.begin();
    try {
      valid = false;
      return valid = Native.seekToLast(handle.iterator());
    } finally {
      handle.end(cell);
    }
  }

  /** Moves to the first entry whose key is not before the target. */
  public boolean seek(byte[] target) {
    Objects.requireNonNull(target);
    int cell = handle.begin();
    try {
      valid = false;
      return valid = Native.seek(handle.iterator(), target);
    } finally {
      handle.end(cell);
    }
  }

  /** Moves to the last entry whose key is not behind the target. */
  public boolean seekForPrev(byte[] target) {
    Objects.requireNonNull(target);
    int cell = handle.begin();
    try {
      valid = false;
      return valid = Native.seekForPrev(handle.iterator(), target);
    } finally {
      handle.end(cell);
    }
  }

  /** Moves to the next entry. Throws NoSuchElementException if it stands at none. */
  public boolean next() {
    int cell = handle.begin();
    try {
      leaveEntry();
      return valid = Native.next(handle.iterator());
    } finally {
      handle.end(cell);
    }
  }

  /** Moves to the entry before. Throws NoSuchElementException if it stands at none. */
  public boolean prev() {
    int cell = handle.begin();
    try {
      leaveEntry();
      return valid = Native.prev(handle.iterator());
    } finally {
      handle.end(cell);
    }
  }

  /** The key of the entry. Throws NoSuchElementException if it stands at none. */
  public byte[] key() {
    int cell = handle.begin();
    try {
      requireEntry();
      return Native.key(handle.iterator());
    } finally {
      handle.end(cell);
    }
  }

  /** The value of the entry. Throws NoSuchElementException if it stands at none. */
  public byte[] value() {
    int cell = handle.begin();
    try {
      requireEntry();
      return Native.value(handle.iterator());
    } finally {
      handle.end(cell);
    }
  }

  /**
   * Copies the key to a buffer, from its position on, and sets its limit behind it.
   *
   * @return the size of the key; if it is larger than what remains of the buffer, nothing is copied
   */
  public int key(ByteBuffer buffer) {
    if (!Buffers.isWritableDirect(buffer)) {
      return Buffers.store(key(), buffer);
    }
    int cell = handle.begin();
    try {
      requireEntry();
      Buffers.Window window = Buffers.window(buffer);
      int size = Native.keyDirect(handle.iterator(), buffer, window.position(), window.size());
      return Buffers.limit(buffer, size);
    } finally {
      handle.end(cell);
    }
  }

  /**
   * Copies the value to a buffer, from its position on, and sets its limit behind it.
   *
   * @return the size of the value; if it is larger than what remains of the buffer, nothing is copied
   */
  public int value(ByteBuffer buffer) {
    if (!Buffers.isWritableDirect(buffer)) {
      return Buffers.store(value(), buffer);
    }
    int cell = handle.begin();
    try {
      requireEntry();
      Buffers.Window window = Buffers.window(buffer);
      int size = Native.valueDirect(handle.iterator(), buffer, window.position(), window.size());
      return Buffers.limit(buffer, size);
    } finally {
      handle.end(cell);
    }
  }

  private void requireEntry() {
    if (!valid) {
      throw new NoSuchElementException("the iterator stands at no entry");
    }
  }

  /** A move that throws leaves the iterator at no entry. */
  private void leaveEntry() {
    requireEntry();
    valid = false;
  }

  /** Closes it. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
