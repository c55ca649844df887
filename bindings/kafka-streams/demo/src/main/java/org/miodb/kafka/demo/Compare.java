package org.miodb.kafka.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** A store-bound topology with MioDB's and with RocksDB's stores, by turns: throughput, and how long restarts take. */
final class Compare {
  private static final String[] STORES = {"miodb", "rocksdb"};
  private static final int VALUE_BYTES = 100;
  private static final long POLL_MILLIS = 50;
  private static final long PATIENCE_MILLIS = 1_200_000;

  private final Cluster cluster;
  private final long items;
  private final long baskets;
  private final int rounds;
  private final long began = System.nanoTime();
  /** For each figure and store, a number of each round. */
  private final Map<String, Map<String, List<Double>>> figures = new LinkedHashMap<>();

  private Compare(Map<String, String> options) {
    items = Long.parseLong(options.get("items"));
    baskets = Long.parseLong(options.get("baskets"));
    rounds = Integer.parseInt(options.get("rounds"));
    cluster = new Cluster(Path.of(options.get("work")), STORES.length * rounds, List.of("-Xmx512m"));
  }

  /** Arguments: name=value, of work, items, baskets and rounds. */
  public static void main(String[] arguments) throws Exception {
    Compare compare = new Compare(Demo.options(arguments));
    Runtime.getRuntime().addShutdownHook(new Thread(compare.cluster::close));
    compare.run();
    System.exit(0);
  }

  private void say(String text, Object... arguments) {
    System.out.printf("%6.1f s  %s%n", (System.nanoTime() - began) / 1e9, String.format(text, arguments));
  }

  private void run() throws Exception {
    cluster.startBroker();
    write();
    say("%d items and %d baskets of %d are written", items, baskets, LookupsTopology.ITEMS_OF_A_BASKET);
    for (int round = 0; round < rounds; round++) {
      for (int turn = 0; turn < STORES.length; turn++) {
        String store = STORES[(round + turn) % STORES.length];
        measure(round * STORES.length + turn, store, store + round);
      }
    }
    System.out.printf("%-36s %10s %10s %10s%n", "medians of " + rounds + " rounds", STORES[0], STORES[1], "ratio");
    figures.forEach((name, byStore) -> {
      double ours = median(byStore.get(STORES[0]));
      double theirs = median(byStore.get(STORES[1]));
      System.out.printf("%-36s %10.1f %10.1f %10.2f%n", name, ours, theirs,
          Math.max(ours, theirs) / Math.min(ours, theirs));
    });
  }

  private static double median(List<Double> numbers) {
    List<Double> sorted = numbers.stream().sorted(Comparator.naturalOrder()).toList();
    return sorted.get(sorted.size() / 2);
  }

  private void add(String figure, String store, double number) {
    figures.computeIfAbsent(figure, name -> new LinkedHashMap<>()).computeIfAbsent(store, name -> new ArrayList<>())
        .add(number);
    say("%-8s %-36s %10.1f", store, figure, number);
  }

  /** The input of all rounds. Baskets are later than items, so a task takes them later. */
  private void write() throws ExecutionException, InterruptedException {
    Map<String, Object> broker = Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, cluster.broker());
    try (Admin admin = Admin.create(broker)) {
      admin.createTopics(List.of(new NewTopic(LookupsTopology.ITEMS, 1, (short) 1),
          new NewTopic(LookupsTopology.BASKETS, 1, (short) 1))).all().get();
    }
    Properties properties = new Properties();
    properties.putAll(broker);
    properties.put(ProducerConfig.LINGER_MS_CONFIG, 20);
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, PATIENCE_MILLIS);
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, 1 << 18);
    char[] value = new char[VALUE_BYTES];
    SplittableRandom random = new SplittableRandom(301);
    long time = System.currentTimeMillis() - items - baskets;
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      for (long i = 0; i < items; i++) {
        for (int j = 0; j < VALUE_BYTES; j++) {
          value[j] = (char) ('a' + random.nextInt(26));
        }
        producer.send(
            new ProducerRecord<>(LookupsTopology.ITEMS, 0, time + i, LookupsTopology.key(i), new String(value)));
      }
      for (long i = 0; i < baskets; i++) {
        StringJoiner numbers = new StringJoiner(" ");
        for (int j = 0; j < LookupsTopology.ITEMS_OF_A_BASKET; j++) {
          numbers.add(Long.toString(random.nextLong(items)));
        }
        producer.send(new ProducerRecord<>(LookupsTopology.BASKETS, 0, time + items + i, "", numbers.toString()));
      }
    }
  }

  private void measure(int instance, String store, String application) throws IOException, InterruptedException {
    start(instance, store, application, "without state");
    throughput(instance, store, "items", 1, items, 1);
    throughput(instance, store, "lookups", items + 1, items + baskets, LookupsTopology.ITEMS_OF_A_BASKET);
    add("state, MiB", store, cluster.number(instance, "stateBytes") / 1048576.0);
    cluster.end(instance);
    start(instance, store, application, "after an orderly end");
    cluster.kill(instance);
    start(instance, store, application, "after kill -9");
    cluster.end(instance);
  }

  /** Takes the time until the instance runs. */
  private void start(int instance, String store, String application, String when)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    cluster.start(instance, application, store, "lookups");
    long until = System.currentTimeMillis() + PATIENCE_MILLIS;
    while (!cluster.isRunning(instance)) {
      if (System.currentTimeMillis() > until || !cluster.isAlive(instance)) {
        throw new IllegalStateException("instance " + instance + " does not run; see its log");
      }
      Thread.sleep(POLL_MILLIS);
    }
    add("start " + when + ", s", store, (System.nanoTime() - start) / 1e9);
    add("its CPU time, s (" + when + ")", store, cluster.cpuSeconds(instance));
    add("its records restored (" + when + ")", store, cluster.number(instance, "restored"));
  }

  /** Takes the rates between the first look that sees so many records processed, and the first that sees that many. */
  private void throughput(int instance, String store, String what, long from, long to, int ofEach)
      throws InterruptedException {
    long processed = awaitProcessed(instance, from);
    long start = System.nanoTime();
    double cpu = cluster.cpuSeconds(instance);
    double thousands = (awaitProcessed(instance, to) - processed) * ofEach / 1e3;
    add(what + ", thousands a second", store, thousands / ((System.nanoTime() - start) / 1e9));
    add(what + ", thousands a second of its CPU", store, thousands / (cluster.cpuSeconds(instance) - cpu));
  }

  private long awaitProcessed(int instance, long count) throws InterruptedException {
    long until = System.currentTimeMillis() + PATIENCE_MILLIS;
    while (System.currentTimeMillis() < until && cluster.isAlive(instance)) {
      Long processed = cluster.number(instance, "processed");
      if (processed != null && processed >= count) {
        return processed;
      }
      Thread.sleep(POLL_MILLIS);
    }
    throw new IllegalStateException("instance " + instance + " does not go on; see its log");
  }
}
