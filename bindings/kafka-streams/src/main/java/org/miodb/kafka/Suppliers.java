package org.miodb.kafka;

import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;

/** Suppliers of stores. */
final class Suppliers {
  private static final String SCOPE = "miodb";

  private Suppliers() {}

  /** Of key-value stores. */
  static class OfKeyValueStores implements KeyValueBytesStoreSupplier {
    private final String name;
    private final Function<String, KeyValueStore<Bytes, byte[]>> store;

    OfKeyValueStores(String name, Function<String, KeyValueStore<Bytes, byte[]>> store) {
      this.name = name;
      this.store = store;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return store.apply(name);
    }

    @Override
    public String metricsScope() {
      return SCOPE;
    }
  }
}
