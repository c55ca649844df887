package org.miodb.kafka;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.internals.RecordCollector;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.apache.kafka.test.MockRecordCollector;
import org.apache.kafka.test.StreamsTestUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A store in a temporary folder, which is opened as often as a test likes, and the task that it belongs to. */
abstract class StoreFixture {
  static final TopicPartition CHANGELOG = new TopicPartition("changelog", 0);

  @TempDir
  Path folder;

  final Map<String, Object> properties = new HashMap<>();
  final AtomicInteger commitsAskedFor = new AtomicInteger();
  /** The offsets that the changelog has acknowledged. */
  final Map<TopicPartition, Long> written = new HashMap<>();
  InternalMockProcessorContext<String, String> context;
  MioDBStore open;

  final InternalMockProcessorContext<String, String> newContext() {
    return newContext(folder);
  }

  final InternalMockProcessorContext<String, String> newContext(Path stateDir) {
    Properties all = StreamsTestUtils.getStreamsConfig();
    all.putAll(properties);
    return new InternalMockProcessorContext<>(stateDir.toFile(), new StreamsConfig(all)) {
      @Override
      public void commit() {
        commitsAskedFor.incrementAndGet();
      }

      @Override
      public RecordCollector recordCollector() {
        return new MockRecordCollector() {
          @Override
          public Map<TopicPartition, Long> offsets() {
            return written;
          }
        };
      }
    };
  }

  final <S extends MioDBStore> S open(S store) {
    if (open != null) {
      open.close();
    }
    context = newContext();
    context.addChangelogForStore("store", "changelog");
    open = store;
    store.init(context, store);
    return store;
  }

  final MioDBKeyValueStore reopen() {
    return open(new MioDBKeyValueStore("store"));
  }

  @AfterEach
  void close() {
    if (open != null) {
      open.close();
    }
  }

  static Bytes key(String text) {
    return Bytes.wrap(text.getBytes());
  }

  static String text(byte[] value) {
    return value == null ? null : new String(value);
  }

  static List<String> entries(KeyValueIterator<Bytes, byte[]> iterator) {
    List<String> entries = new ArrayList<>();
    try (iterator) {
      iterator.forEachRemaining(entry -> entries.add(text(entry.key.get()) + "=" + text(entry.value)));
    }
    return entries;
  }
}
