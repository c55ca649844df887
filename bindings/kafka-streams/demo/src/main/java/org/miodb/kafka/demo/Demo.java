package org.miodb.kafka.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;

/** A run: broker, instances, orders, kills, and the comparison of the tables with a recount of the input. */
final class Demo {
  private static final int INSTANCES = 3;
  private static final int PARTITIONS = 3;
  private static final long PATIENCE_MILLIS = 300_000;

  private final Map<String, String> options;
  private final Cluster cluster;
  private final List<String> kills = new ArrayList<>();
  private final Random random = new Random();
  private final long began = System.nanoTime();

  private Demo(Map<String, String> options) {
    this.options = options;
    cluster = new Cluster(Path.of(options.get("work")), INSTANCES, List.of("-Xmx160m", "-XX:TieredStopAtLevel=1"));
  }

  private int option(String name) {
    return Integer.parseInt(options.get(name));
  }

  /** What arguments say that are name=value. */
  static Map<String, String> options(String[] arguments) {
    Map<String, String> options = new HashMap<>();
    for (String argument : arguments) {
      options.put(argument.substring(0, argument.indexOf('=')), argument.substring(argument.indexOf('=') + 1));
    }
    return options;
  }

  /** Arguments: name=value, all those that run.sh has. */
  public static void main(String[] arguments) throws Exception {
    Demo demo = new Demo(options(arguments));
    Runtime.getRuntime().addShutdownHook(new Thread(demo.cluster::close));
    boolean same = demo.run();
    System.exit(same ? 0 : 1);
  }

  private void say(String text, Object... arguments) {
    System.out.printf("%6.1f s  %s%n", (System.nanoTime() - began) / 1e9, String.format(text, arguments));
  }

  private boolean run() throws Exception {
    say("starting the broker at %s", cluster.broker());
    cluster.startBroker();
    try (Orders orders = new Orders(cluster.broker(), PARTITIONS); Page page = new Page(cluster, orders, this::killNow)) {
      say("the page is at %s", page.open(option("port")));
      long count = option("orders");
      long firstTime = System.currentTimeMillis() - Orders.millis(count) - 60_000;
      orders.writeCustomers(firstTime - 60_000);
      for (int i = 0; i < INSTANCES; i++) {
        start(i);
      }
      for (int i = 0; i < INSTANCES; i++) {
        await(i);
      }
      awaitCustomers();
      say("%d instances with stores of %s run", INSTANCES, options.get("store"));
      Thread writer = new Thread(() -> write(orders, count, firstTime));
      writer.start();
      killAtRandom(orders, count);
      while (writer.isAlive()) {
        say("%d of %d orders written, %s", orders.written(), count, progress());
        writer.join(5000);
      }
      boolean same = compare();
      if (option("stay") > 0) {
        say("it goes on until it is ended, for the page");
        Thread.sleep(Long.MAX_VALUE);
      }
      return same;
    }
  }

  private void start(int instance) throws IOException {
    cluster.start(instance, "demo", options.get("store"), "orders");
  }

  private void write(Orders orders, long count, long firstTime) {
    try {
      orders.writeOrders(count, option("rate"), firstTime);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String progress() throws InterruptedException {
    StringBuilder text = new StringBuilder("processed");
    for (int i = 0; i < INSTANCES; i++) {
      text.append(' ').append(cluster.number(i, "processed"));
    }
    return text.toString();
  }

  private void await(int instance) throws InterruptedException {
    long until = System.currentTimeMillis() + PATIENCE_MILLIS;
    while (!cluster.isRunning(instance)) {
      if (System.currentTimeMillis() > until || !cluster.isAlive()) {
        throw new IllegalStateException("instance " + instance + " does not run; see the logs in " + options.get("work"));
      }
      Thread.sleep(50);
    }
  }

  /** The join takes the region that is there when an order comes, so all customers have to be there before. */
  private void awaitCustomers() throws InterruptedException {
    long until = System.currentTimeMillis() + PATIENCE_MILLIS;
    for (long seen = 0; seen < Orders.CUSTOMERS;) {
      if (System.currentTimeMillis() > until) {
        throw new IllegalStateException("the customers were not taken up; see the logs in " + options.get("work"));
      }
      Thread.sleep(200);
      seen = 0;
      for (int i = 0; i < INSTANCES; i++) {
        Long processed = cluster.number(i, "processed");
        seen += processed == null ? 0 : processed;
      }
    }
  }

  // ---- Kills. ----

  private void killAtRandom(Orders orders, long count) throws Exception {
    int wanted = option("kill");
    for (int kill = 0; kill < wanted; kill++) {
      // One in each part of the run, at any moment of it.
      long at = (long) (count * (kill + 0.2 + 0.6 * random.nextDouble()) / wanted);
      while (orders.written() < at) {
        Thread.sleep(5);
      }
      killNow(random.nextInt(INSTANCES));
    }
  }

  /** Kills an instance, starts it again, and says what it restored. */
  private synchronized String killNow(int instance) throws IOException, InterruptedException {
    cluster.kill(instance);
    long killed = System.currentTimeMillis();
    start(instance);
    await(instance);
    String said = String.format("kill -9 of instance %d: it runs again after %.1f s; %d records restored in %d ms, %d stores",
        instance, (System.currentTimeMillis() - killed) / 1e3, cluster.number(instance, "restored"),
        cluster.number(instance, "restoreMillis"), cluster.number(instance, "stores"));
    kills.add(said);
    say("%s", said);
    return said;
  }

  // ---- The comparison. ----

  private boolean compare() throws InterruptedException, ExecutionException {
    TreeMap<String, Long> expected = Tables.recount(cluster.broker());
    say("the recount of the input has %d entries", expected.size());
    long until = System.currentTimeMillis() + PATIENCE_MILLIS;
    TreeMap<String, Long> found = cluster.tables();
    for (int i = 1; !expected.equals(found) && System.currentTimeMillis() < until; i++) {
      Thread.sleep(500);
      found = cluster.tables();
      if (i % 10 == 0) {
        say("the instances have %s entries, %s", found == null ? "no" : found.size(), progress());
      }
    }
    // What was counted twice would come later.
    Thread.sleep(2000);
    found = cluster.tables();
    boolean same = expected.equals(found);
    kills.forEach(kill -> say("%s", kill));
    if (same) {
      say("the tables of the instances are the same: %s", progress());
    } else {
      sayDifference(expected, found == null ? new TreeMap<>() : found);
    }
    return same;
  }

  private void sayDifference(TreeMap<String, Long> expected, TreeMap<String, Long> found) {
    say("the tables differ: %d entries expected, %d found", expected.size(), found.size());
    TreeMap<String, Long> all = new TreeMap<>(expected);
    all.putAll(found);
    all.keySet().stream().filter(key -> !Objects.equals(expected.get(key), found.get(key))).limit(10)
        .forEach(key -> say("  %s: expected %s, found %s", key, expected.get(key), found.get(key)));
  }
}
