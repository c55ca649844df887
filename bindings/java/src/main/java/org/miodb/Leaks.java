package org.miodb;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;

/**
 * Closes what programs leave open: databases, iterators and snapshots whose objects are collected.
 *
 * <p>A thread of its own does it, and whoever opens an iterator or a snapshot helps. Java's Cleaner has only the thread: where
 * a program leaks faster than that thread closes, what waits for it fills the heap.
 */
final class Leaks {
  /** What one opening closes at most; more than one, so that the queue becomes shorter. */
  private static final int HELP = 2;

  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();

  static {
    Thread thread = new Thread(Leaks::work, "miodb-leaks");
    thread.setDaemon(true);
    thread.start();
  }

  private Leaks() {}

  /** Is closed when its owner is collected. Somebody has to refer to it until then. */
  abstract static class Closed extends PhantomReference<Object> {
    Closed(Object owner) {
      super(owner, QUEUE);
    }

    /** Closes it. A second call does nothing. */
    abstract void close();
  }

  /** Closes a few of those whose owners are gone. */
  static void help() {
    for (int i = 0; i < HELP; i++) {
      Reference<?> reference = QUEUE.poll();
      if (reference == null) {
        return;
      }
      ((Closed) reference).close();
    }
  }

  private static void work() {
    while (true) {
      try {
        ((Closed) QUEUE.remove()).close();
      } catch (InterruptedException e) {
        // Nobody has a reason to; what is leaked has to be closed all the same.
      }
    }
  }
}
