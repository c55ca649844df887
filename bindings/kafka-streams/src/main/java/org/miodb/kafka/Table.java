package org.miodb.kafka;

import org.apache.kafka.common.utils.Bytes;

/**
 * The keys of a database that begin with a prefix, without it. Reads are for any thread, writes under the monitor of the
 * database.
 */
final class Table {
  private final StoreDatabase database;
  private final byte[] prefix;
  private final byte[] end;

  /** The first byte of the prefix is positive. */
  Table(StoreDatabase database, byte... prefix) {
    this.database = database;
    this.prefix = prefix;
    end = Keys.successor(prefix);
  }

  byte[] get(byte[] key) {
    return database.get(Keys.concat(prefix, key));
  }

  /** Sets a key to a value; null removes the key. */
  void put(byte[] key, byte[] value) {
    database.put(Keys.concat(prefix, key), value);
  }

  /** Removes all keys, which nobody reads any more. */
  void drop() {
    database.drop(prefix, end);
  }

  /** A walk over the keys from one to another, both included; null is no bound. */
  StoreIterator range(byte[] from, byte[] to, boolean forward) {
    return walk(from, to == null ? null : Keys.after(to), forward);
  }

  /** A walk over the keys with a prefix. */
  StoreIterator prefixScan(Bytes scanned) {
    return walk(scanned.get(), Keys.successor(scanned.get()), true);
  }

  private StoreIterator walk(byte[] from, byte[] before, boolean forward) {
    byte[] lower = from == null ? prefix : Keys.concat(prefix, from);
    byte[] upper = before == null ? end : Keys.concat(prefix, before);
    return database.iterator(lower, upper, prefix.length, forward);
  }
}
