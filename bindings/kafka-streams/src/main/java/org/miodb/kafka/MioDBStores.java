package org.miodb.kafka;

import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/**
 * Suppliers of stores on MioDB, for {@link org.apache.kafka.streams.state.Stores} and
 * {@link org.apache.kafka.streams.kstream.Materialized}. Each mirrors the one of Stores that has RocksDB, and throws
 * IllegalArgumentException for a time that cannot be. Those with headers need Kafka 4.3; with an older one they throw
 * NoClassDefFoundError.
 *
 * <p>A supplier is for any thread. The stores that it makes belong to their tasks: one thread writes, any thread queries. What
 * a crash leaves of a store is what its last commit wrote, with the offsets of its changelog.
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

  /** Key-value stores whose values have timestamps and headers. */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStoreWithHeaders(String name) {
    return new Suppliers.OfKeyValueStores.WithHeaders(name);
  }

  /** Key-value stores that keep what their keys were for as long as the retention, which is also how late records may be. */
  public static VersionedBytesStoreSupplier versionedKeyValueStore(String name, Duration historyRetention) {
    return new Suppliers.OfVersionedStores(name, historyRetention.toMillis());
  }

  /** Window stores. */
  public static WindowBytesStoreSupplier windowStore(String name, Duration retention, Duration windowSize,
      boolean retainDuplicates) {
    return new Suppliers.OfWindowStores(name, retention.toMillis(), windowSize.toMillis(), retainDuplicates, false,
        MioDBWindowStore::new);
  }

  /** Window stores whose values have timestamps. */
  public static WindowBytesStoreSupplier timestampedWindowStore(String name, Duration retention, Duration windowSize,
      boolean retainDuplicates) {
    return new Suppliers.OfWindowStores(name, retention.toMillis(), windowSize.toMillis(), retainDuplicates, false,
        MioDBWindowStore.Timestamped::new);
  }

  /** Window stores whose values have timestamps and headers. */
  public static WindowBytesStoreSupplier timestampedWindowStoreWithHeaders(String name, Duration retention,
      Duration windowSize, boolean retainDuplicates) {
    return new Suppliers.OfWindowStores.WithHeaders(name, retention.toMillis(), windowSize.toMillis(), retainDuplicates,
        false);
  }

  /** Session stores. */
  public static SessionBytesStoreSupplier sessionStore(String name, Duration retention) {
    return new Suppliers.OfSessionStores(name, retention.toMillis(), false, MioDBSessionStore::new);
  }

  /** Session stores whose values have headers. */
  public static SessionBytesStoreSupplier sessionStoreWithHeaders(String name, Duration retention) {
    return new Suppliers.OfSessionStores.WithHeaders(name, retention.toMillis(), false);
  }
}
