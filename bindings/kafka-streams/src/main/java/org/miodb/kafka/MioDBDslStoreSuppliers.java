package org.miodb.kafka;

import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.state.DslKeyValueParams;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.DslStoreSuppliers;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/**
 * Gives all stores of a topology to MioDB: {@code dsl.store.suppliers.class=org.miodb.kafka.MioDBDslStoreSuppliers}. Any thread
 * may use it.
 */
public final class MioDBDslStoreSuppliers implements DslStoreSuppliers {
  /** Made by Kafka from its name, or given to {@code Materialized.as}. */
  public MioDBDslStoreSuppliers() {}

  @Override
  public KeyValueBytesStoreSupplier keyValueStore(DslKeyValueParams params) {
    switch (ValueFormat.of(params)) {
      case HEADERS:
        return MioDBStores.timestampedKeyValueStoreWithHeaders(params.name());
      case TIMESTAMPED:
        return MioDBStores.timestampedKeyValueStore(params.name());
      default:
        return MioDBStores.keyValueStore(params.name());
    }
  }

  @Override
  public WindowBytesStoreSupplier windowStore(DslWindowParams params) {
    long retention = params.retentionPeriod().toMillis();
    long size = params.windowSize().toMillis();
    boolean timeOrdered = emitsOnClose(params.emitStrategy());
    switch (ValueFormat.of(params)) {
      case HEADERS:
        return new Suppliers.OfWindowStores.WithHeaders(params.name(), retention, size, params.retainDuplicates(),
            timeOrdered);
      case TIMESTAMPED:
        return new Suppliers.OfWindowStores(params.name(), retention, size, params.retainDuplicates(), timeOrdered,
            MioDBWindowStore.Timestamped::new);
      default:
        return new Suppliers.OfWindowStores(params.name(), retention, size, params.retainDuplicates(), timeOrdered,
            MioDBWindowStore::new);
    }
  }

  @Override
  public SessionBytesStoreSupplier sessionStore(DslSessionParams params) {
    long retention = params.retentionPeriod().toMillis();
    boolean timeOrdered = emitsOnClose(params.emitStrategy());
    return ValueFormat.of(params) == ValueFormat.HEADERS
        ? new Suppliers.OfSessionStores.WithHeaders(params.name(), retention, timeOrdered)
        : new Suppliers.OfSessionStores(params.name(), retention, timeOrdered, MioDBSessionStore::new);
  }

  private static boolean emitsOnClose(EmitStrategy strategy) {
    return strategy.type() == EmitStrategy.StrategyType.ON_WINDOW_CLOSE;
  }
}
