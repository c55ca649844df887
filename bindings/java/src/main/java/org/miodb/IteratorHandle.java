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

  /** Within a call of the store. The iterator owns the options, where its bounds are. */
  IteratorHandle(Object owner, Store store, long iterator, long reads) {
    super(owner);
    this.store = store;
    this.iterator = iterator;
    this.reads = reads;
    store.add(this);
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
    if (state.compareAndSet(State.IDLE, State.CLOSED)) {
      store.remove(this);
      free();
    } else {
      state.compareAndSet(State.IN_USE, State.CLOSING);
    }
    store.leave(cell);
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
