package org.miodb.kafka;

import java.util.Objects;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;

/** Suppliers of stores. */
final class Suppliers {
  private static final long LEAST_INTERVAL = 60_000;

  private Suppliers() {}

  /** What all have: a name, and how a store is made. */
  abstract static class Supplier<S extends Supplier<S, T>, T extends StateStore> implements StoreSupplier<T> {
    private final String name;
    private final Function<S, T> store;

    Supplier(String name, Function<S, T> store) {
      this.name = Objects.requireNonNull(name, "name cannot be null");
      this.store = store;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    @SuppressWarnings("unchecked")
    public T get() {
      return store.apply((S) this);
    }

    @Override
    public String metricsScope() {
      return "miodb";
    }
  }

  /** Of key-value stores. */
  static class OfKeyValueStores extends Supplier<OfKeyValueStores, KeyValueStore<Bytes, byte[]>>
      implements KeyValueBytesStoreSupplier {
    OfKeyValueStores(String name, Function<OfKeyValueStores, KeyValueStore<Bytes, byte[]>> store) {
      super(name, store);
    }
  }

  /** Times are in milliseconds, and of the lengths that Kafka's own suppliers allow. */
  private static long checked(String what, long millis, long least) {
    if (millis < least) {
      throw new IllegalArgumentException(what + " must be at least " + least + " ms: " + millis);
    }
    return millis;
  }

  /** Of window stores. */
  static class OfWindowStores extends Supplier<OfWindowStores, WindowStore<Bytes, byte[]>>
      implements WindowBytesStoreSupplier {
    private final long retention;
    private final long windowSize;
    private final boolean retainDuplicates;

    OfWindowStores(String name, long retention, long windowSize, boolean retainDuplicates,
        Function<OfWindowStores, WindowStore<Bytes, byte[]>> store) {
      super(name, store);
      this.windowSize = checked("the size of a window", windowSize, 0);
      this.retention = checked("the retention", retention, windowSize);
      this.retainDuplicates = retainDuplicates;
    }

    @Override
    public long segmentIntervalMs() {
      return Math.max(retention / 2, LEAST_INTERVAL);
    }

    @Override
    public long windowSize() {
      return windowSize;
    }

    @Override
    public boolean retainDuplicates() {
      return retainDuplicates;
    }

    @Override
    public long retentionPeriod() {
      return retention;
    }
  }

  /** Of session stores. */
  static class OfSessionStores extends Supplier<OfSessionStores, SessionStore<Bytes, byte[]>>
      implements SessionBytesStoreSupplier {
    private final long retention;

    OfSessionStores(String name, long retention, Function<OfSessionStores, SessionStore<Bytes, byte[]>> store) {
      super(name, store);
      this.retention = checked("the retention", retention, 0);
    }

    @Override
    public long segmentIntervalMs() {
      return Math.max(retention / 2, LEAST_INTERVAL);
    }

    @Override
    public long retentionPeriod() {
      return retention;
    }
  }
}
