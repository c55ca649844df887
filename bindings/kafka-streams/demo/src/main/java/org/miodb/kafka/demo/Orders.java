package org.miodb.kafka.demo;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes the input topics: all customers first, then orders, at a rate, and payments of half of them. */
final class Orders implements AutoCloseable {
  static final int CUSTOMERS = 1000;
  private static final int REGIONS = 8;
  private static final int MILLIS_BETWEEN = 10;

  private final KafkaProducer<String, String> producer;
  private final Random random = new Random(1);
  private final AtomicLong written = new AtomicLong();

  Orders(String broker, int partitions) throws ExecutionException, InterruptedException {
    try (Admin admin = Admin.create(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker))) {
      List<NewTopic> topics = Stream.of(OrdersTopology.CUSTOMERS, OrdersTopology.ORDERS, OrdersTopology.PAYMENTS)
          .map(name -> new NewTopic(name, partitions, (short) 1)).toList();
      admin.createTopics(topics).all().get();
    }
    Properties properties = new Properties();
    properties.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
    properties.put(ProducerConfig.LINGER_MS_CONFIG, 20);
    producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
  }

  void writeCustomers(long time) {
    for (int i = 0; i < CUSTOMERS; i++) {
      producer.send(new ProducerRecord<>(OrdersTopology.CUSTOMERS, null, time, "customer" + i, "region" + i % REGIONS));
    }
    producer.flush();
  }

  /** Returns when all are written. Their times go on by the same step, whatever the rate. */
  void writeOrders(long count, int perSecond, long firstTime) throws InterruptedException {
    long began = System.nanoTime();
    for (long i = 0; i < count; i++) {
      String customer = "customer" + random.nextInt(CUSTOMERS);
      long time = firstTime + i * MILLIS_BETWEEN;
      producer.send(new ProducerRecord<>(OrdersTopology.ORDERS, null, time, customer, "" + (1 + random.nextInt(500))));
      if (random.nextBoolean()) {
        producer.send(new ProducerRecord<>(OrdersTopology.PAYMENTS, null, time + random.nextInt(3000), customer, "paid"));
      }
      written.incrementAndGet();
      long ahead = i * 1_000_000_000L / perSecond - (System.nanoTime() - began);
      if (ahead > 20_000_000) {
        Thread.sleep(ahead / 1_000_000);
      }
    }
    producer.flush();
  }

  /** How many orders are written. */
  long written() {
    return written.get();
  }

  /** The time that all orders of a run take. */
  static long millis(long count) {
    return count * MILLIS_BETWEEN;
  }

  @Override
  public void close() {
    producer.close();
  }
}
