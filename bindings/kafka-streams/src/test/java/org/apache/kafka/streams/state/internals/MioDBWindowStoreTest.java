package org.apache.kafka.streams.state.internals;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.miodb.kafka.MioDBStores;

/** Kafka's suite for window stores. */
class MioDBWindowStoreTest extends AbstractWindowBytesStoreTest {
  /** Some tests have two stores in one folder at once, which have to differ in their names. */
  private int stores;

  @Override
  <K, V> WindowStore<K, V> buildWindowStore(long retention, long windowSize, boolean retainDuplicates, Serde<K> keySerde,
      Serde<V> valueSerde) {
    return Stores.windowStoreBuilder(MioDBStores.windowStore("window-store-" + stores++, Duration.ofMillis(retention),
        Duration.ofMillis(windowSize), retainDuplicates), keySerde, valueSerde).build();
  }
}
