package org.miodb.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.Test;
import org.miodb.Options;

/** What is seen of a store, what goes of it, and how it is opened. */
class StoreTest extends StoreFixture {
  // ---- Iterators. ----

  @Test
  void anIteratorSeesWhatWasThereWhenItWasMade() {
    MioDBKeyValueStore store = reopen();
    for (String name : List.of("a", "b", "c")) {
      store.put(key(name), "old".getBytes());
    }
    store.commit(Map.of());
    store.put(key("b"), "new".getBytes());
    store.put(key("d"), "new".getBytes());
    List<String> expected = List.of("a=old", "b=new", "c=old", "d=new");
    try (KeyValueIterator<Bytes, byte[]> before = store.all(); KeyValueIterator<Bytes, byte[]> back = store.reverseAll()) {
      store.put(key("b"), "newer".getBytes());
      store.put(key("b"), "newest".getBytes());
      store.delete(key("d"));
      store.put(key("bb"), "new".getBytes());
      store.delete(key("c"));
      store.commit(Map.of());
      store.put(key("a"), "newest".getBytes());
      assertEquals(expected, entries(before));
      List<String> reversed = new ArrayList<>(expected);
      Collections.reverse(reversed);
      assertEquals(reversed, entries(back));
    }
    assertEquals(List.of("a=newest", "b=newest", "bb=new"), entries(store.all()));
  }

  @Test
  void iteratorsOfAClosedStoreSaySo() {
    MioDBKeyValueStore store = reopen();
    store.put(key("a"), "1".getBytes());
    KeyValueIterator<Bytes, byte[]> iterator = store.all();
    store.close();
    assertThrows(InvalidStateStoreException.class, iterator::hasNext);
    iterator.close();
    assertThrows(InvalidStateStoreException.class, () -> store.get(key("a")));
    assertThrows(InvalidStateStoreException.class, () -> store.put(key("a"), null));
    assertThrows(InvalidStateStoreException.class, () -> store.commit(Map.of()));
    store.close();
  }

  @Test
  void readersSeeEveryKeyWhileItIsWrittenAndCommitted() throws Exception {
    MioDBKeyValueStore store = reopen();
    for (int i = 0; i < 50; i++) {
      store.put(key("k" + i), "0".getBytes());
    }
    AtomicInteger missed = new AtomicInteger();
    AtomicInteger reads = new AtomicInteger();
    Thread reader = new Thread(() -> {
      while (!Thread.currentThread().isInterrupted()) {
        if (store.get(key("k" + reads.incrementAndGet() % 50)) == null || entries(store.all()).size() != 50) {
          missed.incrementAndGet();
        }
      }
    });
    reader.start();
    for (int round = 0; round < 300 || reads.get() < 100; round++) {
      for (int i = 0; i < 50; i++) {
        store.put(key("k" + i), Integer.toString(round).getBytes());
      }
      store.commit(Map.of(CHANGELOG, (long) round));
    }
    reader.interrupt();
    reader.join();
    assertEquals(0, missed.get());
  }

  // ---- Queries. ----

  @Test
  void queriesAreAnsweredUpToTheirBound() {
    MioDBKeyValueStore store = reopen();
    context.setRecordContext(new ProcessorRecordContext(0, 17, 0, "input", new RecordHeaders()));
    store.put(key("a"), "1".getBytes());
    QueryConfig config = new QueryConfig(true);
    PositionBound bound = PositionBound.at(Position.emptyPosition().withComponent("input", 0, 17));
    QueryResult<byte[]> one = store.query(KeyQuery.withKey(key("a")), bound, config);
    assertEquals("1", text(one.getResult()));
    assertFalse(one.getExecutionInfo().isEmpty());
    RangeQuery<Bytes, byte[]> range = RangeQuery.withNoBounds();
    assertEquals(List.of("a=1"), entries(store.query(range.withDescendingKeys(), bound, config).getResult()));
    PositionBound later = PositionBound.at(Position.emptyPosition().withComponent("input", 0, 18));
    assertFalse(store.query(KeyQuery.<Bytes, byte[]>withKey(key("a")), later, config).isSuccess());
  }

  @Test
  void versionsAreFoundByTheirTimes() {
    MioDBVersionedStore store = open(new MioDBVersionedStore("store", 600_000));
    store.put(key("k"), "1".getBytes(), 1000);
    store.put(key("k"), "2".getBytes(), 2000);
    store.put(key("k"), null, 3000);
    store.put(key("k"), "4".getBytes(), 4000);
    MultiVersionedKeyQuery<Bytes, byte[]> query = MultiVersionedKeyQuery.<Bytes, byte[]>withKey(key("k"))
        .fromTime(Instant.ofEpochMilli(1500)).toTime(Instant.ofEpochMilli(4000));
    assertEquals(List.of("4@4000-Optional.empty", "2@2000-Optional[3000]", "1@1000-Optional[2000]"), versions(store, query));
    assertEquals(List.of("1@1000-Optional[2000]", "2@2000-Optional[3000]", "4@4000-Optional.empty"),
        versions(store, query.withAscendingTimestamps()));
  }

  private static List<String> versions(MioDBVersionedStore store, MultiVersionedKeyQuery<Bytes, byte[]> query) {
    List<String> found = new ArrayList<>();
    try (VersionedRecordIterator<byte[]> iterator =
        store.query(query, PositionBound.unbounded(), new QueryConfig(false)).getResult()) {
      iterator.forEachRemaining(
          version -> found.add(text(version.value()) + "@" + version.timestamp() + "-" + version.validTo()));
    }
    return found;
  }

  @Test
  void metricsHaveTheNamesOfRocksDBs() {
    MioDBKeyValueStore store = reopen();
    store.put(key("a"), "1".getBytes());
    Map<String, Object> values = new HashMap<>();
    context.metrics().metrics().forEach((name, metric) -> {
      if (name.group().equals("stream-state-metrics") && name.tags().containsKey("miodb-state-id")) {
        values.put(name.name(), metric.metricValue());
      }
    });
    assertEquals(BigInteger.ONE, values.get("estimate-num-keys"));
    assertEquals(BigInteger.ZERO, values.get("background-errors"));
    assertTrue(((BigInteger) values.get("total-sst-files-size")).longValue() > 0);
    assertEquals(6, values.size());
  }

  // ---- What goes. ----

  @Test
  void historyGoesWhenItsTimeIsOver() {
    MioDBVersionedStore store = open(new MioDBVersionedStore("store", 300_000));
    for (int i = 0; i < 3000; i++) {
      store.put(key("k" + i % 100), i % 7 == 0 ? null : "v".getBytes(), i * 100L);
    }
    assertTrue(store.historyEntries() > 2000);
    for (int i = 0; i < 3000; i++) {
      store.put(key("last"), "v".getBytes(), 1_000_000 + i);
    }
    long left = store.historyEntries();
    assertTrue(left < 3050, "left " + left);
    store.put(key("last"), null, 10_000_000);
    for (int i = 0; i < 10; i++) {
      store.put(key("other"), "v".getBytes(), 20_000_000);
    }
    assertEquals(0, store.historyEntries());
  }

  @Test
  void segmentsGoAndStreamTimeStays() {
    Suppliers.OfWindowStores supplier = (Suppliers.OfWindowStores) MioDBStores.windowStore("store", Duration.ofMinutes(2),
        Duration.ofMinutes(1), false);
    WindowStore<Bytes, byte[]> store = supplier.get();
    open((MioDBStore) store);
    for (int i = 0; i < 600; i++) {
      store.put(key("k"), "v".getBytes(), i * 1000L);
      if (i % 50 == 0) {
        open.commit(Map.of(CHANGELOG, (long) i));
      }
    }
    open.commit(Map.of(CHANGELOG, 600L));
    int kept = 0;
    try (StoreIterator entries = open.open().iterator(new byte[] {1}, new byte[] {2}, 1, true)) {
      for (; entries.hasNext(); kept++) {
        entries.next();
      }
    }
    assertTrue(kept < 250, "kept " + kept);
    store = supplier.get();
    open((MioDBStore) store);
    store.put(key("late"), "v".getBytes(), 1000);
    assertNull(store.fetch(key("late"), 1000));
    assertArrayEquals("v".getBytes(), store.fetch(key("k"), 599_000));
    assertNull(store.fetch(key("k"), 400_000));
  }

  // ---- Opening. ----

  @Test
  void aStoreOfAnotherFormatIsRestored() {
    reopen().put(key("a"), "1".getBytes());
    open.commit(Map.of(CHANGELOG, 5L));
    MioDBKeyValueStore store = open(new MioDBKeyValueStore.Timestamped("store"));
    assertNull(store.committedOffset(CHANGELOG));
    assertEquals(List.of(), entries(store.all()));
    store.close();
    context = newContext();
    MioDBKeyValueStore unlogged = new MioDBKeyValueStore("store");
    ProcessorStateException error = assertThrows(ProcessorStateException.class, () -> unlogged.init(context, unlogged));
    assertTrue(error.getMessage().contains("has the format timestamped instead of plain"), error.getMessage());
  }

  /** Names one pool after its store. */
  public static final class Setter implements MioDBConfigSetter {
    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
      options.poolPath(Path.of(configs.get("test.folder").toString(), storeName + "-by-setter"));
    }
  }

  @Test
  void propertiesAndTheSetterSayHowADatabaseIsOpened() throws Exception {
    properties.put("test.folder", folder.toString());
    properties.put(MioDBConfig.CONFIG_SETTER, Setter.class.getName());
    properties.put(MioDBConfig.POOL_SIZE, 64 << 20);
    reopen().put(key("a"), "1".getBytes());
    assertTrue(folder.resolve("store-by-setter").toFile().exists());
    properties.put(MioDBConfig.PERSIST_MODE, "none");
    assertThrows(ConfigException.class, this::reopen);
    properties.put(MioDBConfig.PERSIST_MODE, "pmem");
    ProcessorStateException error = assertThrows(ProcessorStateException.class, this::reopen);
    assertTrue(error.getMessage().startsWith("cannot open store store in "), error.getMessage());
    properties.remove(MioDBConfig.PERSIST_MODE);
    reopen();
  }

  @Test
  void aPoolThatIsLeftOfARemovedStateDirectoryGoes() throws Exception {
    Path pools = folder.resolve("pools");
    properties.put(MioDBConfig.POOL_FOLDER, pools.toString());
    reopen().put(key("a"), "1".getBytes());
    open.commit(Map.of());
    open.close();
    Utils.delete(folder.resolve("miodb").toFile());
    assertEquals(List.of(), entries(reopen().all()));
  }

  @Test
  void aPoolThatIsGoneIsNamed() throws Exception {
    properties.put(MioDBConfig.POOL_FOLDER, folder.resolve("pools").toString());
    reopen().put(key("a"), "1".getBytes());
    open.commit(Map.of());
    open.close();
    Utils.delete(folder.resolve("pools").toFile());
    ProcessorStateException error = assertThrows(ProcessorStateException.class, this::reopen);
    assertTrue(error.getMessage().contains("/store-"), error.getMessage());
  }

  /** A store of an instance with this state.dir. */
  private MioDBKeyValueStore openBelow(String stateDir) throws Exception {
    MioDBKeyValueStore store = new MioDBKeyValueStore("store");
    store.init(newContext(Files.createDirectories(folder.resolve(stateDir).resolve("0_0"))), store);
    return store;
  }

  @Test
  void instancesOnOneHostMayShareTheFolderOfThePools() throws Exception {
    properties.put(MioDBConfig.POOL_FOLDER, folder.resolve("pools").toString());
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "application");
    MioDBKeyValueStore first = openBelow("a");
    first.put(key("a"), "1".getBytes());
    first.commit(Map.of());
    MioDBKeyValueStore second = openBelow("b");
    second.put(key("b"), "2".getBytes());
    second.close();
    first.close();
    first = openBelow("a");
    assertEquals(List.of("a=1"), entries(first.all()));
    first.close();
  }

  @Test
  void aHotKeyBesideAnIteratorTakesNoMemory() {
    WriteBuffer buffer = new WriteBuffer();
    byte[] key = "k".getBytes();
    buffer.put(key, "first".getBytes());
    WriteBuffer.View view = buffer.view(key, "l".getBytes(), true);
    for (int i = 0; i < 1000; i++) {
      buffer.put(key, new byte[1000]);
    }
    WriteBuffer.View second = buffer.view(key, "l".getBytes(), true);
    for (int i = 0; i < 1000; i++) {
      buffer.put(key, new byte[10]);
    }
    assertTrue(buffer.bytes() < 3000, "" + buffer.bytes());
    assertArrayEquals("first".getBytes(), view.value());
    assertEquals(1000, second.value().length);
    assertEquals(10, buffer.get(key).length);
    view.end();
    second.end();
    buffer.put(key, new byte[10]);
    assertTrue(buffer.bytes() < 200, "" + buffer.bytes());
  }
}
