package org.miodb.kafka.demo;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/**
 * A topology that does little but use its store: a table of items, and baskets, for each of which it looks up some items.
 * The caches before stores are off, since the keys are random.
 */
final class LookupsTopology {
  static final String ITEMS = "items";
  static final String BASKETS = "baskets";
  static final int ITEMS_OF_A_BASKET = 10;

  private LookupsTopology() {}

  /** The key of an item, 16 characters, in no order. */
  static String key(long number) {
    long mixed = (number + 1) * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
    return Long.toHexString(mixed ^ (mixed >>> 32) | Long.MIN_VALUE);
  }

  static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    builder.table(ITEMS, Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(ITEMS)
        .withKeySerde(Serdes.String()).withValueSerde(Serdes.String()).withCachingDisabled());
    builder.<String, String>stream(BASKETS).process(Lookups::new, ITEMS);
    return builder.build();
  }

  /** A basket is the numbers of its items. */
  private static final class Lookups extends ContextualProcessor<String, String, Void, Void> {
    private TimestampedKeyValueStore<String, String> items;

    @Override
    public void init(ProcessorContext<Void, Void> context) {
      super.init(context);
      items = context.getStateStore(ITEMS);
    }

    @Override
    public void process(Record<String, String> basket) {
      for (String number : basket.value().split(" ")) {
        ValueAndTimestamp<String> item = items.get(key(Long.parseLong(number)));
        if (item == null) {
          throw new IllegalStateException("item " + number + " is not there");
        }
      }
    }
  }
}
