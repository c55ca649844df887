package org.miodb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Opens iterators and snapshots until the heap is full; ends with 0 if the database can be closed and opened then. */
final class FullHeapMain {
  private FullHeapMain() {}

  /** Argument: the path of a database. */
  public static void main(String[] arguments) {
    Path path = Path.of(arguments[0]);
    for (int round = 0; round < 3; round++) {
      DB db = Databases.open(path);
      db.put(Databases.bytes("k"), Databases.bytes("v"));
      int made = fill(db);
      db.close();
      if (made < 1000) {
        throw new AssertionError("the heap was full before it began");
      }
    }
    Databases.open(path).close();
    System.exit(0);
  }

  private static int fill(DB db) {
    List<Object> kept = new ArrayList<>();
    ReadOptions bounds = ReadOptions.DEFAULT.withLowerBound(new byte[600]);
    int made = 0;
    try {
      while (true) {
        kept.add(made % 2 == 0 ? db.iterator(bounds) : db.snapshot());
        made++;
      }
    } catch (OutOfMemoryError e) {
      kept.clear();
    }
    return made;
  }
}
