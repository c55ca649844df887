package org.miodb.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.query.TimestampedKeyQuery;
import org.apache.kafka.streams.query.WindowKeyQuery;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A topology with all kinds of stores, and one line of configuration: its output is what it is with Kafka's own stores. */
class TopologyTest {
  private static final Duration SIZE = Duration.ofSeconds(10);
  private static final Duration GRACE = Duration.ofSeconds(5);

  @TempDir
  Path folder;

  static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    KStream<String, String> left = builder.stream("left");
    KStream<String, String> right = builder.stream("right");
    KTable<String, Long> counts = left.groupByKey().count(Materialized.as("counts"));
    counts.toStream().mapValues(String::valueOf).to("counts-out");
    KTable<String, String> table = builder.table("table", Materialized.as("table"));
    left.join(table, (a, b) -> a + b).to("table-join-out");
    left.join(builder.globalTable("global", Materialized.as("global")), (key, value) -> key, (a, b) -> a + b)
        .to("global-join-out");
    table.join(counts, (a, b) -> a + b).toStream().to("tables-join-out");
    left.outerJoin(right, (a, b) -> a + b, JoinWindows.ofTimeDifferenceAndGrace(SIZE, GRACE)).to("outer-join-out");
    left.groupByKey().windowedBy(TimeWindows.ofSizeAndGrace(SIZE, GRACE)).count(Materialized.as("windows")).toStream()
        .map((key, value) -> KeyValue.pair(key.toString(), String.valueOf(value))).to("windows-out");
    left.groupByKey().windowedBy(SessionWindows.ofInactivityGapAndGrace(GRACE, GRACE)).count(Materialized.as("sessions"))
        .toStream().map((key, value) -> KeyValue.pair(key.toString(), String.valueOf(value))).to("sessions-out");
    right.groupByKey().windowedBy(TimeWindows.ofSizeAndGrace(SIZE, GRACE)).emitStrategy(EmitStrategy.onWindowClose()).count()
        .toStream().map((key, value) -> KeyValue.pair(key.toString(), String.valueOf(value))).to("closed-windows-out");
    right.groupByKey().windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(SIZE, GRACE))
        .emitStrategy(EmitStrategy.onWindowClose()).count().toStream()
        .map((key, value) -> KeyValue.pair(key.toString(), String.valueOf(value))).to("sliding-out");
    right.groupByKey().windowedBy(SessionWindows.ofInactivityGapAndGrace(GRACE, GRACE))
        .emitStrategy(EmitStrategy.onWindowClose()).count().toStream()
        .map((key, value) -> KeyValue.pair(key.toString(), String.valueOf(value))).to("closed-sessions-out");
    right.groupByKey().windowedBy(TimeWindows.ofSizeWithNoGrace(SIZE))
        .count(Materialized.with(Serdes.String(), Serdes.Long()))
        .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())).toStream()
        .map((key, value) -> KeyValue.pair(key.toString(), String.valueOf(value))).to("suppressed-out");
    return builder.build();
  }

  private static final List<String> OUTPUTS = List.of("counts-out", "table-join-out", "global-join-out", "tables-join-out", "outer-join-out",
      "windows-out", "sessions-out", "closed-windows-out", "sliding-out", "closed-sessions-out", "suppressed-out");

  private Properties properties(Class<?> suppliers, String... more) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "topology-test");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, folder.resolve(suppliers.getSimpleName()).toString());
    properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.String().getClass());
    properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.String().getClass());
    properties.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, suppliers);
    properties.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_WINDOWED_AGGREGATION, 0);
    for (int i = 0; i < more.length; i += 2) {
      properties.put(more[i], more[i + 1]);
    }
    return properties;
  }

  /** What the topology has put out, and what its stores answer. */
  private static List<String> run(Properties properties) {
    List<String> results = new ArrayList<>();
    Random random = new Random(3);
    try (TopologyTestDriver driver = new TopologyTestDriver(topology(), properties, Instant.EPOCH)) {
      List<TestInputTopic<String, String>> inputs = Stream.of("left", "right", "table", "global")
          .map(name -> driver.createInputTopic(name, new StringSerializer(), new StringSerializer())).toList();
      for (int i = 0; i < 700; i++) {
        long time = Math.max(0, i * 400L - (random.nextInt(4) == 0 ? random.nextInt(30_000) : 0));
        int input = random.nextInt(4);
        String value = input >= 2 && random.nextInt(5) == 0 ? null : "v" + i;
        inputs.get(input).pipeInput("k" + random.nextInt(20), value, Instant.ofEpochMilli(time));
      }
      for (String output : OUTPUTS) {
        driver.createOutputTopic(output, new StringDeserializer(), new StringDeserializer()).readKeyValuesToList()
            .forEach(entry -> results.add(output + " " + entry.key + "=" + entry.value));
      }
      addAll(results, driver.<String, Object>getTimestampedKeyValueStore("counts").all());
      addAll(results, driver.<String, Object>getTimestampedKeyValueStore("table").reverseRange("k1", "k2"));
      addAll(results, driver.<String, Object>getTimestampedWindowStore("windows").fetch("k1", Instant.EPOCH, Instant.ofEpochMilli(Long.MAX_VALUE)));
      addAll(results, driver.<String, Object>getTimestampedWindowStore("windows").backwardAll());
      addAll(results, driver.<String, Object>getSessionStore("sessions").fetch("k0", "k5"));
    }
    return results;
  }

  private static <K, V> void addAll(List<String> results, KeyValueIterator<K, V> iterator) {
    try (iterator) {
      iterator.forEachRemaining(entry -> results.add(entry.key + "=" + entry.value));
    }
  }

  @Test
  void aTopologyPutsOutTheSame() throws Exception {
    List<String> theirs = run(properties(BuiltInDslStoreSuppliers.RocksDBDslStoreSuppliers.class));
    OUTPUTS.forEach(output -> assertTrue(theirs.stream().anyMatch(line -> line.startsWith(output + " ")), output));
    assertEquals(String.join("\n", theirs), String.join("\n", run(properties(MioDBDslStoreSuppliers.class))));
  }

  /** Versions of Kafka without headers do not know the property. */
  @Test
  void aTopologyWithHeadersPutsOutTheSame() throws Exception {
    String[] headers = {"dsl.store.format", "HEADERS"};
    List<String> theirs = run(properties(BuiltInDslStoreSuppliers.RocksDBDslStoreSuppliers.class, headers));
    assertEquals(String.join("\n", theirs), String.join("\n", run(properties(MioDBDslStoreSuppliers.class, headers))));
  }

  private static Object answer(TopologyTestDriver driver, String store, Query<?> query) {
    QueryResult<?> result = driver.getAllStateStores().get(store).query(query, PositionBound.unbounded(), new QueryConfig(false));
    assertTrue(result.isSuccess(), store + ": " + result);
    if (!(result.getResult() instanceof KeyValueIterator)) {
      return result.getResult();
    }
    List<String> entries = new ArrayList<>();
    addAll(entries, (KeyValueIterator<?, ?>) result.getResult());
    return entries;
  }

  @Test
  void storesOfATopologyAnswerQueries() {
    for (String format : List.of("DEFAULT", "HEADERS")) {
      Properties properties = properties(MioDBDslStoreSuppliers.class, "dsl.store.format", format,
          StreamsConfig.APPLICATION_ID_CONFIG, "queries-" + format);
      try (TopologyTestDriver driver = new TopologyTestDriver(topology(), properties, Instant.EPOCH)) {
        TestInputTopic<String, String> left =
            driver.createInputTopic("left", new StringSerializer(), new StringSerializer());
        left.pipeInput("k", "v", Instant.ofEpochMilli(1000));
        left.pipeInput("k", "v", Instant.ofEpochMilli(2000));
        assertEquals(2L, answer(driver, "counts", KeyQuery.withKey("k")));
        assertEquals(List.of("k=2"), answer(driver, "counts", RangeQuery.withNoBounds()));
        assertEquals(2L, ((ValueAndTimestamp<?>) answer(driver, "counts", TimestampedKeyQuery.withKey("k"))).value());
        Object windows = answer(driver, "windows",
            WindowKeyQuery.withKeyAndWindowStartRange("k", Instant.EPOCH, Instant.ofEpochMilli(5000)));
        assertTrue(windows.toString().startsWith("[0="), windows.toString());
        Object sessions = answer(driver, "sessions", WindowRangeQuery.withKey("k"));
        assertTrue(sessions.toString().startsWith("[[k@1000/2000]="), sessions.toString());
      }
    }
  }

  @Test
  void everyStoreIsMioDBs() throws Exception {
    Path pools = folder.resolve("pools");
    Properties properties = properties(MioDBDslStoreSuppliers.class, MioDBConfig.POOL_FOLDER, pools.toString(),
        StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    assertFalse(run(properties).isEmpty());
    try (Stream<Path> files = Files.walk(folder)) {
      List<String> names = files.map(Path::toString).toList();
      assertEquals(List.of(), names.stream().filter(name -> name.contains("/rocksdb")).toList());
      assertTrue(names.stream().filter(name -> name.startsWith(pools.toString()) && name.endsWith(".pool")).count() > 9);
    }
  }
}
