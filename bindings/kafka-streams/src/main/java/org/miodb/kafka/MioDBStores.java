package org.miodb.kafka;

import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/**
 * Suppliers of stores on MioDB, for {@link org.apache.kafka.streams.state.Stores} and
 * {@link org.apache.kafka.streams.kstream.Materialized}. Each mirrors the one of Stores that has RocksDB, and throws
 * IllegalArgumentException for a time that cannot be.
 *
 * <p>A supplier is for any thread. The stores that it makes belong to their tasks: one thread writes, any thread queries.
 */
public final class MioDBStores {
  private MioDBStores() {}

  /** Key-value stores. */
  public static KeyValueBytesStoreSupplier keyValueStore(String name) {
    return new Suppliers.OfKeyValueStores(name, supplier -> new MioDBKeyValueStore(supplier.name()));
  }

  /** Key-value stores whose values have timestamps. */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStore(String name) {
    return new Suppliers.OfKeyValueStores(name, supplier -> new MioDBKeyValueStore.Timestamped(supplier.name()));
  }

  /** Window stores. */
  public static WindowBytesStoreSupplier windowStore(String name, Duration retention, Duration windowSize,
      boolean retainDuplicates) {
    return new Suppliers.OfWindowStores(name, retention.toMillis(), windowSize.toMillis(), retainDuplicates,
        MioDBWindowStore::new);
  }

  /** Window stores whose values have timestamps. */
  public static WindowBytesStoreSupplier timestampedWindowStore(String name, Duration retention, Duration windowSize,
      boolean retainDuplicates) {
    return new Suppliers.OfWindowStores(name, retention.toMillis(), windowSize.toMillis(), retainDuplicates,
        MioDBWindowStore.Timestamped::new);
  }

  /** Session stores. */
  public static SessionBytesStoreSupplier sessionStore(String name, Duration retention) {
    return new Suppliers.OfSessionStores(name, retention.toMillis(), MioDBSessionStore::new);
  }
}
