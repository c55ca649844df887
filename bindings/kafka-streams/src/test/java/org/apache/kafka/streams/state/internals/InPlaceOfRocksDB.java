package org.apache.kafka.streams.state.internals;

import static org.mockito.Mockito.mockConstruction;
import static org.mockito.Mockito.mockStatic;
import static org.mockito.Mockito.withSettings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.miodb.kafka.MioDBStores;
import org.mockito.MockedConstruction;
import org.mockito.MockedStatic;
import org.mockito.invocation.InvocationOnMock;
import org.mockito.stubbing.Answer;

/** Gives stores of MioDB to suites of Kafka's that make stores of RocksDB themselves, until it is closed. */
final class InPlaceOfRocksDB {
  private InPlaceOfRocksDB() {}

  /** Of the persistent stores that Kafka's factory makes. Counts them in made[0]. */
  static MockedStatic<Stores> stores(int[] made) {
    return mockStatic(Stores.class, call -> {
      Object[] arguments = call.getArguments();
      made[0]++;
      switch (call.getMethod().getName()) {
        case "persistentWindowStore":
          return MioDBStores.windowStore((String) arguments[0], (Duration) arguments[1], (Duration) arguments[2],
              (Boolean) arguments[3]);
        case "persistentTimestampedWindowStore":
          return MioDBStores.timestampedWindowStore((String) arguments[0], (Duration) arguments[1], (Duration) arguments[2],
              (Boolean) arguments[3]);
        case "persistentSessionStore":
          return MioDBStores.sessionStore((String) arguments[0], (Duration) arguments[1]);
        default:
          made[0]--;
          return call.callRealMethod();
      }
    });
  }

  /** Of the versioned stores that are made by their constructor. */
  static MockedConstruction<RocksDBVersionedStore> versionedStores() {
    return mockConstruction(RocksDBVersionedStore.class, made -> {
      List<?> arguments = made.arguments();
      return withSettings().defaultAnswer(new Versioned((String) arguments.get(0), (Long) arguments.get(2)));
    });
  }

  /** Answers the calls of a versioned store of RocksDB. */
  private static final class Versioned implements Answer<Object> {
    private final VersionedKeyValueStore<Bytes, byte[]> store;
    private InternalMockProcessorContext<?, ?> context;

    Versioned(String name, long retention) {
      store = ((VersionedKeyValueToBytesStoreAdapter) MioDBStores.versionedKeyValueStore(name, Duration.ofMillis(retention)).get())
          .inner;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Object answer(InvocationOnMock call) throws Throwable {
      Object[] arguments = call.getArguments();
      switch (call.getMethod().getName()) {
        case "init":
          context = (InternalMockProcessorContext<?, ?>) arguments[0];
          store.init((StateStoreContext) context, store);
          return null;
        case "restoreBatch":
          context.restoreWithHeaders(store.name(), (List<ConsumerRecord<byte[], byte[]>>) arguments[0]);
          return null;
        case "get":
          return arguments.length == 4 ? versions(arguments) : same(call);
        default:
          return same(call);
      }
    }

    /** What RocksDB's store has as a method and others as a query. */
    private VersionedRecordIterator<byte[]> versions(Object[] arguments) {
      MultiVersionedKeyQuery<Bytes, byte[]> query = MultiVersionedKeyQuery.<Bytes, byte[]>withKey((Bytes) arguments[0])
          .fromTime(Instant.ofEpochMilli((Long) arguments[1])).toTime(Instant.ofEpochMilli((Long) arguments[2]));
      if (arguments[3] == ResultOrder.ASCENDING) {
        query = query.withAscendingTimestamps();
      } else if (arguments[3] == ResultOrder.DESCENDING) {
        query = query.withDescendingTimestamps();
      }
      return store.query(query, PositionBound.unbounded(), new QueryConfig(false)).getResult();
    }

    private Object same(InvocationOnMock call) throws Throwable {
      try {
        Method method = store.getClass().getMethod(call.getMethod().getName(), call.getMethod().getParameterTypes());
        // The class of the store is its package's own.
        method.setAccessible(true);
        return method.invoke(store, call.getArguments());
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }
  }
}
