package org.miodb.kafka;

import java.util.Objects;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;

/**
 * Suppliers of stores on MioDB, for {@link org.apache.kafka.streams.state.Stores} and
 * {@link org.apache.kafka.streams.kstream.Materialized}. Each mirrors the one of Stores that has RocksDB.
 *
 * <p>A supplier is for any thread. The stores that it makes belong to their tasks: one thread writes, any thread queries.
 */
public final class MioDBStores {
  private MioDBStores() {}

  /** A supplier of key-value stores. */
  public static KeyValueBytesStoreSupplier keyValueStore(String name) {
    return new Suppliers.OfKeyValueStores(Objects.requireNonNull(name), MioDBKeyValueStore::new);
  }

  /** A supplier of key-value stores whose values have timestamps. */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStore(String name) {
    return new Suppliers.OfKeyValueStores(Objects.requireNonNull(name), MioDBKeyValueStore.Timestamped::new);
  }
}
