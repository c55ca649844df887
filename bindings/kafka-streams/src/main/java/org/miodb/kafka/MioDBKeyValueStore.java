package org.miodb.kafka;

import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A key-value store; the bytes of its values are of a format that its class marks for Kafka. */
class MioDBKeyValueStore extends MioDBStore implements KeyValueStore<Bytes, byte[]> {
  private static final Logger LOG = LoggerFactory.getLogger(MioDBKeyValueStore.class);

  private Table entries;

  MioDBKeyValueStore(String name) {
    super(name);
  }

  /** Values begin with a timestamp. */
  static final class Timestamped extends MioDBKeyValueStore implements TimestampedBytesStore {
    Timestamped(String name) {
      super(name);
    }

    @Override
    String format() {
      return "timestamped";
    }
  }

  /** Values begin with headers and a timestamp. */
  static final class WithHeaders extends MioDBKeyValueStore implements HeadersBytesStore {
    WithHeaders(String name) {
      super(name);
    }

    @Override
    String format() {
      return "headers";
    }
  }

  @Override
  String format() {
    return "plain";
  }

  @Override
  void opened(StoreDatabase opened) {
    entries = new Table(opened, (byte) 1);
  }

  @Override
  void restore(ConsumerRecord<byte[], byte[]> record) {
    entries.put(record.key(), record.value());
  }

  @Override
  public void put(Bytes key, byte[] value) {
    Objects.requireNonNull(key, "key cannot be null");
    change(() -> {
      entries.put(key.get(), value);
      return null;
    });
  }

  @Override
  public byte[] putIfAbsent(Bytes key, byte[] value) {
    byte[] there = get(key);
    if (there == null) {
      put(key, value);
    }
    return there;
  }

  @Override
  public void putAll(List<KeyValue<Bytes, byte[]>> all) {
    all.forEach(entry -> Objects.requireNonNull(entry.key, "key cannot be null"));
    change(() -> {
      all.forEach(entry -> entries.put(entry.key.get(), entry.value));
      return null;
    });
  }

  @Override
  public byte[] delete(Bytes key) {
    byte[] there = get(key);
    put(key, null);
    return there;
  }

  @Override
  public byte[] get(Bytes key) {
    Objects.requireNonNull(key, "key cannot be null");
    open();
    return entries.get(key.get());
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
    return walk(from, to, true);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseRange(Bytes from, Bytes to) {
    return walk(from, to, false);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> all() {
    return walk(null, null, true);
  }

  @Override
  public KeyValueIterator<Bytes, byte[]> reverseAll() {
    return walk(null, null, false);
  }

  private KeyValueIterator<Bytes, byte[]> walk(Bytes from, Bytes to, boolean forward) {
    open();
    if (from != null && to != null && from.compareTo(to) > 0) {
      return Iterators.invalidRange(LOG);
    }
    return entries.range(from == null ? null : from.get(), to == null ? null : to.get(), forward);
  }

  @Override
  public <S extends Serializer<P>, P> KeyValueIterator<Bytes, byte[]> prefixScan(P prefix, S serializer) {
    open();
    return entries.prefixScan(Bytes.wrap(serializer.serialize(null, prefix)));
  }

  @Override
  public long approximateNumEntries() {
    return open().approximateNumEntries();
  }
}
