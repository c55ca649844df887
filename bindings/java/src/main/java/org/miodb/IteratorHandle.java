package org.miodb;

import java.util.concurrent.atomic.AtomicReference;

/**
 * An iterator of the engine. One thread at a time moves it; a close while another thread does so lets that one end, which
 * then frees it.
 */
final class IteratorHandle extends Store.Dependent {
  private enum State {
    /** No thread uses it. Moves to IN_USE, and to CLOSED. */
    IDLE,
    /** A thread uses it. Moves back to IDLE, and to CLOSING. */
    IN_USE,
    /** A thread uses it and will free it. Moves to CLOSED. */
    CLOSING,
    /** Freed, or about to be. */
    CLOSED
  }

  private final Store store;
  private final long iterator;
  private final long reads;
  private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

  /**
   * Within a call of the store. The iterator of the engine is made last, so that a heap without room leaves nothing behind
   * that the store would meet when it is closed.
   */
  IteratorHandle(Object owner, Store store, long snapshot, ReadOptions options) {
    super(owner);
    this.store = store;
    reads = newReads(snapshot, options);
    iterator = Native.newIterator(store.db(), reads);
    store.add(this);
  }

  /** Options of the engine, where the bounds are as long as the iterator lives. */
  private static long newReads(long snapshot, ReadOptions options) {
    long reads = Native.newReads(snapshot, options.verifyChecksums(), options.fillCache());
    if (options.lowerBound() == null && options.upperBound() == null && options.readaheadBytes() == 0) {
      return reads;
    }
    try {
      Native.setBounds(reads, options.lowerBound(), options.upperBound(), options.readaheadBytes());
    } catch (OutOfMemoryError e) {
      Native.freeReads(reads);
      throw e;
    }
    return reads;
  }

  /** Takes the iterator for a use of it; returns the store's cell, for end(). */
  int begin() {
    int cell = store.enter();
    if (state.compareAndSet(State.IDLE, State.IN_USE)) {
      return cell;
    }
    State now = state.get();
    store.leave(cell);
    throw new IllegalStateException(
        now == State.CLOSED || now == State.CLOSING ? "the iterator is closed" : "another thread uses the iterator");
  }

  void end(int cell) {
    if (!state.compareAndSet(State.IN_USE, State.IDLE)) {
      state.set(State.CLOSED);
      store.remove(this);
      free();
    }
    store.leave(cell);
  }

  long iterator() {
    return iterator;
  }

  @Override
  void close() {
    int cell = store.tryEnter();
    if (cell < 0) {
      return; // the store frees it
    }
    State before = state.getAndUpdate(IteratorHandle::closed);
    if (before == State.IDLE) {
      store.remove(this);
      free();
    }
    store.leave(cell);
  }

  /** The move of a close, which is one step: a thread that ends its use between two steps would lose the close. */
  private static State closed(State state) {
    return switch (state) {
      case IDLE -> State.CLOSED;
      case IN_USE -> State.CLOSING;
      case CLOSING, CLOSED -> state;
    };
  }

  @Override
  void storeCloses() {
    state.set(State.CLOSED);
    free();
  }

  private void free() {
    Native.freeIterator(iterator);
    Native.freeReads(reads);
  }
}
