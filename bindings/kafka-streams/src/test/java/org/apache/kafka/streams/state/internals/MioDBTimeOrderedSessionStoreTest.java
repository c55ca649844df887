package org.apache.kafka.streams.state.internals;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.miodb.kafka.MioDBDslStoreSuppliers;

/** Kafka's suite for session stores, of those for sessions that are emitted when they close. */
class MioDBTimeOrderedSessionStoreTest extends AbstractSessionBytesStoreTest {
  /** Some tests have two stores in one folder at once, which have to differ in their names. */
  private int stores;

  @Override
  @SuppressWarnings("deprecation")
  <K, V> SessionStore<K, V> buildSessionStore(long retention, Serde<K> keySerde, Serde<V> valueSerde) {
    DslSessionParams params = new DslSessionParams("sessions-" + stores++, Duration.ofMillis(retention),
        EmitStrategy.onWindowClose());
    return Stores.sessionStoreBuilder(new MioDBDslStoreSuppliers().sessionStore(params), keySerde, valueSerde).build();
  }

  @Override
  StoreType storeType() {
    return StoreType.RocksDBTimeOrderedSessionStoreWithIndex;
  }
}
