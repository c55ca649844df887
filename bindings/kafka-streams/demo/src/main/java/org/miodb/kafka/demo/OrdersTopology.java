package org.miodb.kafka.demo;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;

/**
 * Tables over generated orders, each in a store of another kind. Keys of the input are customers; the value of a customer is a
 * region, that of an order an amount, that of a payment anything.
 */
final class OrdersTopology {
  static final String CUSTOMERS = "customers";
  static final String ORDERS = "orders";
  static final String PAYMENTS = "payments";

  static final String SALES = "sales";
  static final String WINDOWS = "windows";
  static final String SESSIONS = "sessions";
  static final String PAID = "paid";

  static final Duration WINDOW = Duration.ofSeconds(10);
  static final Duration GAP = Duration.ofSeconds(1);
  static final Duration PAYS_WITHIN = Duration.ofSeconds(2);
  /** More than the orders of a run take: nothing comes too late, and no window is dropped. */
  private static final Duration GRACE = Duration.ofDays(1);

  private OrdersTopology() {}

  static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    KTable<String, String> customers = builder.table(CUSTOMERS, Materialized.as(CUSTOMERS));
    KStream<String, String> orders = builder.stream(ORDERS);
    KStream<String, String> payments = builder.stream(PAYMENTS);

    orders.join(customers, (amount, region) -> KeyValue.pair(region, Long.parseLong(amount)))
        .map((customer, sale) -> sale)
        .groupByKey(Grouped.with("by-region", Serdes.String(), Serdes.Long()))
        .reduce(Long::sum, Materialized.as(SALES));
    orders.groupByKey().windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE)).count(Materialized.as(WINDOWS));
    orders.groupByKey().windowedBy(SessionWindows.ofInactivityGapAndGrace(GAP, GRACE)).count(Materialized.as(SESSIONS));
    orders.join(payments, (order, payment) -> order, JoinWindows.ofTimeDifferenceAndGrace(PAYS_WITHIN, GRACE),
        StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String()).withName("pay").withStoreName("pay"))
        .groupByKey().count(Materialized.as(PAID));
    return builder.build();
  }
}
