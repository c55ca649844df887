package org.apache.kafka.streams.state.internals;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.miodb.kafka.MioDBStores;

/** Kafka's suite for session stores. */
class MioDBSessionStoreTest extends AbstractSessionBytesStoreTest {
  /** Some tests have two stores in one folder at once, which have to differ in their names. */
  private int stores;

  @Override
  <K, V> SessionStore<K, V> buildSessionStore(long retention, Serde<K> keySerde, Serde<V> valueSerde) {
    return Stores.sessionStoreBuilder(MioDBStores.sessionStore("session-store-" + stores++, Duration.ofMillis(retention)), keySerde,
        valueSerde).build();
  }

  /** The suite's stores are told apart by what they promise; this one promises what RocksDB's by key does. */
  @Override
  StoreType storeType() {
    return StoreType.RocksDBSessionStore;
  }
}
