package org.miodb;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What the tests share. */
final class Databases {
  private Databases() {}

  /** An open small database. */
  static DB open(Path path) {
    return DB.open(path, options());
  }

  static Options options() {
    return new Options().createIfMissing(true).writeBufferSize(256 << 10);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  /** All entries of an iterator from the first on, "a=1". */
  static List<String> entries(DBIterator iterator) {
    List<String> entries = new ArrayList<>();
    for (boolean there = iterator.seekToFirst(); there; there = iterator.next()) {
      entries.add(text(iterator.key()) + "=" + text(iterator.value()));
    }
    return entries;
  }

  static List<String> entries(DB db) {
    try (DBIterator iterator = db.iterator()) {
      return entries(iterator);
    }
  }
}
