package org.miodb.kafka.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreType;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.miodb.kafka.MioDBDslStoreSuppliers;

/**
 * One instance of the topology. Its HTTP server answers {@code /status} with numbers, {@code /get?STORE=KEY} with a value of its
 * part of a store, and {@code /dump} with all that it has.
 */
final class Instance {
  private final KafkaStreams streams;
  private final Path state;
  private final Restores restores = new Restores();

  private Instance(Map<String, String> options) {
    state = Path.of(options.get("state"));
    Topology topology =
        options.get("topology").equals("lookups") ? LookupsTopology.topology() : OrdersTopology.topology();
    streams = new KafkaStreams(topology, properties(options));
    streams.setGlobalStateRestoreListener(restores);
    streams.setUncaughtExceptionHandler(error -> {
      error.printStackTrace();
      return StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.REPLACE_THREAD;
    });
  }

  private static Properties properties(Map<String, String> options) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, options.get("application"));
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, options.get("broker"));
    properties.put(StreamsConfig.STATE_DIR_CONFIG, options.get("state"));
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
    properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.String().getClass());
    properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.String().getClass());
    // The one line that says which stores there are.
    properties.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, options.get("store").equals("rocksdb")
        ? BuiltInDslStoreSuppliers.RocksDBDslStoreSuppliers.class : MioDBDslStoreSuppliers.class);
    // An instance that was killed gets its tasks back if it is there again in time.
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG), options.get("name"));
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), 60_000);
    return properties;
  }

  /** Counts what is restored, and how long it takes. */
  private static final class Restores implements StateRestoreListener {
    private final AtomicLong records = new AtomicLong();
    private final AtomicLong stores = new AtomicLong();
    private final AtomicLong began = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();

    @Override
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
      stores.incrementAndGet();
      began.compareAndSet(0, System.currentTimeMillis());
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long offset, long restored) {
      records.addAndGet(restored);
    }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long total) {
      ended.set(System.currentTimeMillis());
    }

    long millis() {
      return Math.max(0, ended.get() - began.get());
    }
  }

  /** Arguments: name=value, of broker, folder of the state, port, application, name, kind of stores, and topology. */
  public static void main(String[] arguments) throws IOException {
    Map<String, String> options = Demo.options(arguments);
    Instance instance = new Instance(options);
    HttpServer server = HttpServer.create(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(options.get("port"))), 0);
    server.setExecutor(Executors.newFixedThreadPool(2));
    server.createContext("/status", exchange -> answer(exchange, instance::status));
    server.createContext("/dump", exchange -> answer(exchange, instance::dump));
    server.createContext("/get", exchange -> answer(exchange, () -> instance.get(exchange.getRequestURI().getQuery())));
    server.start();
    Runtime.getRuntime().addShutdownHook(new Thread(instance.streams::close));
    instance.streams.start();
  }

  private interface Answer {
    String text() throws IOException;
  }

  /** While tasks move, stores cannot be queried: that is the status 503. */
  private static void answer(HttpExchange exchange, Answer answer) throws IOException {
    int status = 200;
    String text;
    try {
      text = answer.text();
    } catch (RuntimeException e) {
      status = 503;
      text = e.toString();
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private String status() throws IOException {
    double processed = streams.metrics().entrySet().stream()
        .filter(metric -> metric.getKey().name().equals("process-total")
            && metric.getKey().group().equals("stream-thread-metrics"))
        .mapToDouble(metric -> (Double) metric.getValue().metricValue()).sum();
    return String.format(
        "{\"state\":\"%s\",\"processed\":%.0f,\"restored\":%d,\"restoreMillis\":%d,\"stores\":%d,\"stateBytes\":%d}",
        streams.state(), processed, restores.records.get(), restores.millis(), restores.stores.get(), stateBytes());
  }

  private long stateBytes() throws IOException {
    try (Stream<Path> files = Files.walk(state)) {
      return files.mapToLong(file -> {
        try {
          return Files.isRegularFile(file) ? Files.size(file) : 0;
        } catch (IOException e) {
          return 0;  // It went meanwhile.
        }
      }).sum();
    }
  }

  private <T> T store(String name, QueryableStoreType<T> type) {
    return streams.store(StoreQueryParameters.fromNameAndType(name, type));
  }

  private String get(String query) {
    int equals = query.indexOf('=');
    return String.valueOf(store(query.substring(0, equals), QueryableStoreTypes.<String, Object>keyValueStore())
        .get(query.substring(equals + 1)));
  }

  private String dump() {
    StringBuilder lines = new StringBuilder();
    for (String name : new String[] {OrdersTopology.SALES, OrdersTopology.PAID}) {
      add(lines, name, store(name, QueryableStoreTypes.<String, Long>keyValueStore()).all(), key -> key);
    }
    add(lines, OrdersTopology.WINDOWS, store(OrdersTopology.WINDOWS, QueryableStoreTypes.<String, Long>windowStore()).all(),
        key -> key.key() + "@" + key.window().start());
    add(lines, OrdersTopology.SESSIONS,
        store(OrdersTopology.SESSIONS, QueryableStoreTypes.<String, Long>sessionStore()).fetch(null, null),
        key -> key.key() + "@" + key.window().start() + "-" + key.window().end());
    return lines.toString();
  }

  private static <K> void add(StringBuilder lines, String store, KeyValueIterator<K, Long> entries,
      Function<K, String> key) {
    try (entries) {
      entries.forEachRemaining(
          entry -> lines.append(Tables.line(store, key.apply(entry.key))).append('\t').append(entry.value).append('\n'));
    }
  }
}
