package org.miodb.kafka.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** The tables of the topology, counted anew from what the input topics have: each line is a store, a key and a value. */
final class Tables {
  private final Map<String, String> regions = new HashMap<>();
  private final Map<String, List<Long>> orders = new HashMap<>();
  private final Map<String, List<Long>> payments = new HashMap<>();
  private final Map<String, Long> sales = new HashMap<>();

  private Tables() {}

  /** Reads the topics from their beginning to their end. */
  static TreeMap<String, Long> recount(String broker) {
    Tables tables = new Tables();
    Properties properties = new Properties();
    properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
      tables.read(consumer, OrdersTopology.CUSTOMERS, record -> tables.regions.put(record.key(), record.value()));
      tables.read(consumer, OrdersTopology.ORDERS, tables::order);
      tables.read(consumer, OrdersTopology.PAYMENTS, record -> add(tables.payments, record));
    }
    return tables.lines();
  }

  private interface Reader {
    void read(ConsumerRecord<String, String> record);
  }

  private void read(KafkaConsumer<String, String> consumer, String topic, Reader reader) {
    List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
        .map(info -> new TopicPartition(info.topic(), info.partition())).toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
      consumer.poll(Duration.ofMillis(200)).forEach(reader::read);
    }
  }

  private static void add(Map<String, List<Long>> times, ConsumerRecord<String, String> record) {
    times.computeIfAbsent(record.key(), key -> new ArrayList<>()).add(record.timestamp());
  }

  private void order(ConsumerRecord<String, String> record) {
    add(orders, record);
    sales.merge(regions.get(record.key()), Long.parseLong(record.value()), Long::sum);
  }

  private TreeMap<String, Long> lines() {
    TreeMap<String, Long> lines = new TreeMap<>();
    sales.forEach((region, amount) -> lines.put(line(OrdersTopology.SALES, region), amount));
    orders.forEach((customer, times) -> {
      Collections.sort(times);
      addWindows(lines, customer, times);
      addSessions(lines, customer, times);
      long pairs = pairs(times, payments.getOrDefault(customer, List.of()));
      if (pairs > 0) {
        lines.put(line(OrdersTopology.PAID, customer), pairs);
      }
    });
    return lines;
  }

  static String line(String store, String key) {
    return store + " " + key;
  }

  private static void addWindows(Map<String, Long> lines, String customer, List<Long> times) {
    long size = OrdersTopology.WINDOW.toMillis();
    times.forEach(time -> lines.merge(line(OrdersTopology.WINDOWS, customer + "@" + time / size * size), 1L, Long::sum));
  }

  private static void addSessions(Map<String, Long> lines, String customer, List<Long> times) {
    for (int first = 0, last = 0; first < times.size(); first = ++last) {
      while (last + 1 < times.size() && times.get(last + 1) - times.get(last) <= OrdersTopology.GAP.toMillis()) {
        last++;
      }
      lines.put(line(OrdersTopology.SESSIONS, customer + "@" + times.get(first) + "-" + times.get(last)),
          (long) last - first + 1);
    }
  }

  private static long pairs(List<Long> orders, List<Long> payments) {
    return orders.stream().mapToLong(order -> payments.stream()
        .filter(payment -> Math.abs(payment - order) <= OrdersTopology.PAYS_WITHIN.toMillis()).count()).sum();
  }
}
