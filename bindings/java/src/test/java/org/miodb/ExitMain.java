package org.miodb;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** Ends with 0 while threads read and write an open database. */
final class ExitMain {
  private static final int THREADS = 3;

  private ExitMain() {}

  /** Argument: the path of a database. */
  public static void main(String[] arguments) throws InterruptedException {
    DB db = Databases.open(Path.of(arguments[0]));
    CountDownLatch running = new CountDownLatch(THREADS);
    for (int i = 0; i < THREADS; i++) {
      int first = i;
      new Thread(() -> {
        for (long n = 0;; n++) {
          db.put(Databases.bytes(first + " " + n % 5000), new byte[100]);
          db.get(Databases.bytes("1 " + n % 5000));
          try (DBIterator iterator = db.iterator()) {
            iterator.seekToLast();
          }
          if (n == 5000) {
            running.countDown();
          }
        }
      }).start();
    }
    running.await();
    System.exit(0);
  }
}
