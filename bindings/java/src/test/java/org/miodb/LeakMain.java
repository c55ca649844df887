package org.miodb;

import java.io.IOException;
import java.nio.file.Path;

/** Leaks iterators and snapshots under a small heap; ends with 0 if the memory of the process has not grown. */
final class LeakMain {
  private static final int WARM_UP = 300_000;
  private static final long MOST_GROWTH_KIB = 100 << 10;

  private LeakMain() {}

  /** Arguments: the path of a database, how many iterators. */
  public static void main(String[] arguments) throws IOException {
    DB db = Databases.open(Path.of(arguments[0]));
    db.put(Databases.bytes("k"), Databases.bytes("v"));
    leak(db, WARM_UP);
    long before = ManyStoresMain.status("VmRSS:");
    leak(db, Long.parseLong(arguments[1]));
    long after = ManyStoresMain.status("VmRSS:");
    System.out.println("resident before " + before + " KiB, after " + after + " KiB");
    // The database stays open: the end of the process has to be orderly with it.
    System.exit(after - before < MOST_GROWTH_KIB ? 0 : 1);
  }

  private static void leak(DB db, long count) {
    for (long i = 0; i < count; i++) {
      DBIterator iterator = i % 10 == 0 ? db.iterator(ReadOptions.DEFAULT.withSnapshot(db.snapshot())) : db.iterator();
      if (!iterator.seekToFirst()) {
        throw new AssertionError("the entry is gone");
      }
    }
  }
}
