package org.miodb.kafka;

import java.math.BigInteger;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.internals.metrics.RocksDBMetrics;
import org.apache.kafka.streams.state.internals.metrics.RocksDBMetrics.RocksDBMetricContext;

/**
 * What the engine says of itself, under the names that RocksDB's stores have for the same. Kafka removes them when the store is
 * closed.
 */
final class StoreMetrics {
  private StoreMetrics() {}

  private interface Number {
    long of(StoreDatabase database);
  }

  /** Adds them for a store, which is asked when somebody looks. */
  static void add(MioDBStore store, String scope, StateStoreContext context) {
    if (!(context.metrics() instanceof StreamsMetricsImpl)) {
      return;
    }
    StreamsMetricsImpl metrics = (StreamsMetricsImpl) context.metrics();
    RocksDBMetricContext names = new RocksDBMetricContext(context.taskId().toString(), scope, store.name());
    RocksDBMetrics.addEstimateNumKeysMetric(metrics, names, gauge(store, StoreDatabase::approximateNumEntries));
    RocksDBMetrics.addTotalSstFilesSizeMetric(metrics, names, gauge(store, "miodb.pool-bytes-used"));
    RocksDBMetrics.addLiveSstFilesSizeMetric(metrics, names, gauge(store, "miodb.live-bytes"));
    RocksDBMetrics.addEstimateTableReadersMemMetric(metrics, names, gauge(store, "miodb.table-memory-bytes"));
    RocksDBMetrics.addNumImmutableMemTableMetric(metrics, names, gauge(store, "miodb.immutable-memtables"));
    RocksDBMetrics.addBackgroundErrorsMetric(metrics, names, gauge(store, database -> database.hasFailed() ? 1 : 0));
  }

  private static Gauge<BigInteger> gauge(MioDBStore store, String property) {
    return gauge(store, database -> database.property(property));
  }

  /** A closed store has nothing. */
  private static Gauge<BigInteger> gauge(MioDBStore store, Number number) {
    return (config, now) -> {
      try {
        return BigInteger.valueOf(number.of(store.open()));
      } catch (IllegalStateException | InvalidStateStoreException e) {
        return BigInteger.ZERO;
      }
    };
  }
}
