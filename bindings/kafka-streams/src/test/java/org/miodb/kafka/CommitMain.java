package org.miodb.kafka;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.apache.kafka.test.StreamsTestUtils;

/** Puts and commits until it is killed: after commit n every key has the value n, the offset is n, and the position, too. */
final class CommitMain {
  static final int KEYS = 40;
  static final TopicPartition CHANGELOG = new TopicPartition("changelog", 0);

  private CommitMain() {}

  /** The store of a folder under exactly-once; its context is put into an array. */
  static MioDBKeyValueStore open(Path folder, InternalMockProcessorContext<?, ?>[] context) {
    Properties properties = StreamsTestUtils.getStreamsConfig();
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(MioDBConfig.MEMTABLE_BYTES, 1 << 16);
    context[0] = new InternalMockProcessorContext<>(folder.toFile(), new StreamsConfig(properties));
    MioDBKeyValueStore store = new MioDBKeyValueStore("store");
    store.init(context[0], store);
    return store;
  }

  /** Arguments: the folder. Prints a line for each commit that has returned. */
  public static void main(String[] arguments) {
    InternalMockProcessorContext<?, ?>[] context = new InternalMockProcessorContext<?, ?>[1];
    MioDBKeyValueStore store = open(Path.of(arguments[0]), context);
    Long last = store.committedOffset(CHANGELOG);
    for (long n = last == null ? 1 : last + 1; ; n++) {
      context[0].setRecordContext(new ProcessorRecordContext(0, n, 0, "input", new RecordHeaders()));
      for (int i = 0; i < KEYS; i++) {
        store.put(StoreFixture.key("k" + i), Long.toString(n).getBytes());
      }
      store.commit(Map.of(CHANGELOG, n));
      System.out.println(n);
    }
  }
}
