package org.miodb.kafka;

import java.util.Objects;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.HeadersBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreSupplier;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.VersionedKeyValueToBytesStoreAdapter;

/** Suppliers of stores. Those with headers are classes of their own, as older versions of Kafka have no such stores. */
final class Suppliers {
  /** Tags the metrics of the stores. */
  static final String SCOPE = "miodb";

  private static final long LEAST_INTERVAL = 60_000;

  private Suppliers() {}

  /** Times are in milliseconds. */
  private static long checked(String what, long millis, long least) {
    if (millis < least) {
      throw new IllegalArgumentException(what + " must be at least " + least + " ms: " + millis);
    }
    return millis;
  }

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
      return SCOPE;
    }
  }

  /** Of key-value stores. */
  static class OfKeyValueStores extends Supplier<OfKeyValueStores, KeyValueStore<Bytes, byte[]>>
      implements KeyValueBytesStoreSupplier {
    OfKeyValueStores(String name, Function<OfKeyValueStores, KeyValueStore<Bytes, byte[]>> store) {
      super(name, store);
    }

    /** Of those with headers. */
    static final class WithHeaders extends OfKeyValueStores implements HeadersBytesStoreSupplier {
      WithHeaders(String name) {
        super(name, supplier -> new MioDBKeyValueStore.WithHeaders(supplier.name()));
      }
    }
  }

  /** Of versioned stores. */
  static final class OfVersionedStores extends OfKeyValueStores implements VersionedBytesStoreSupplier {
    private final long retention;

    OfVersionedStores(String name, long retention) {
      super(name, supplier -> new VersionedKeyValueToBytesStoreAdapter(new MioDBVersionedStore(name, retention)));
      this.retention = checked("the retention of history", retention, 0);
    }

    @Override
    public long historyRetentionMs() {
      return retention;
    }
  }

  /** Of window and session stores. */
  abstract static class OfSegments<S extends OfSegments<S, T>, T extends StateStore> extends Supplier<S, T> {
    private final long retention;
    private final boolean timeOrdered;

    OfSegments(String name, long retention, boolean timeOrdered, Function<S, T> store) {
      super(name, store);
      this.retention = retention;
      this.timeOrdered = timeOrdered;
    }

    /** Whether entries are found by their time alone, too, as windows that are emitted when they close have to be. */
    boolean isTimeOrdered() {
      return timeOrdered;
    }

    public long segmentIntervalMs() {
      return Math.max(retention / 2, LEAST_INTERVAL);
    }

    public long retentionPeriod() {
      return retention;
    }
  }

  /** Of window stores. */
  static class OfWindowStores extends OfSegments<OfWindowStores, WindowStore<Bytes, byte[]>>
      implements WindowBytesStoreSupplier {
    private final long windowSize;
    private final boolean retainDuplicates;

    OfWindowStores(String name, long retention, long windowSize, boolean retainDuplicates, boolean timeOrdered,
        Function<OfWindowStores, WindowStore<Bytes, byte[]>> store) {
      super(name, checked("the retention", retention, checked("the size of a window", windowSize, 0)), timeOrdered, store);
      this.windowSize = windowSize;
      this.retainDuplicates = retainDuplicates;
    }

    @Override
    public long windowSize() {
      return windowSize;
    }

    @Override
    public boolean retainDuplicates() {
      return retainDuplicates;
    }

    /** Of those with headers. */
    static final class WithHeaders extends OfWindowStores implements HeadersBytesStoreSupplier {
      WithHeaders(String name, long retention, long windowSize, boolean retainDuplicates, boolean timeOrdered) {
        super(name, retention, windowSize, retainDuplicates, timeOrdered, MioDBWindowStore.WithHeaders::new);
      }
    }
  }

  /** Of session stores. */
  static class OfSessionStores extends OfSegments<OfSessionStores, SessionStore<Bytes, byte[]>>
      implements SessionBytesStoreSupplier {
    OfSessionStores(String name, long retention, boolean timeOrdered,
        Function<OfSessionStores, SessionStore<Bytes, byte[]>> store) {
      super(name, checked("the retention", retention, 0), timeOrdered, store);
    }

    /** Of those with headers. */
    static final class WithHeaders extends OfSessionStores implements HeadersBytesStoreSupplier {
      WithHeaders(String name, long retention, boolean timeOrdered) {
        super(name, retention, timeOrdered, MioDBSessionStore.WithHeaders::new);
      }
    }
  }
}
