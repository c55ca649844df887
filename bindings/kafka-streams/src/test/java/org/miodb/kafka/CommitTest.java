package org.miodb.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.Test;

/** What a store keeps, and when. */
class CommitTest extends StoreFixture {
  /** What is not committed goes with the store. */
  private void exactlyOnce() {
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
  }

  @Test
  void whatIsNotCommittedIsSeenAndIsKeptByACloseUnderAtLeastOnceAlone() {
    for (String guarantee : List.of(StreamsConfig.EXACTLY_ONCE_V2, StreamsConfig.AT_LEAST_ONCE)) {
      properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
      MioDBKeyValueStore store = reopen();
      store.put(key("a"), "1".getBytes());
      assertEquals("1", text(store.get(key("a"))));
      assertEquals(List.of("a=1"), entries(store.all()));
      store = reopen();
      assertEquals(guarantee.equals(StreamsConfig.AT_LEAST_ONCE) ? "1" : null, text(store.get(key("a"))));
      assertNull(store.committedOffset(CHANGELOG));
    }
  }

  @Test
  void aCloseKeepsTheStreamTimeOfWhatItKeeps() {
    Suppliers.OfWindowStores supplier = (Suppliers.OfWindowStores) MioDBStores.windowStore("store", Duration.ofMinutes(2),
        Duration.ofMinutes(1), false);
    WindowStore<Bytes, byte[]> store = supplier.get();
    open((MioDBStore) store);
    store.put(key("k"), "v".getBytes(), 600_000);
    store = supplier.get();
    open((MioDBStore) store);
    store.put(key("late"), "v".getBytes(), 1000);
    assertEquals("v", text(store.fetch(key("k"), 600_000)));
    assertNull(store.fetch(key("late"), 1000));
  }

  @Test
  void aCommitHasDataOffsetsAndPosition() {
    exactlyOnce();
    MioDBKeyValueStore store = reopen();
    assertTrue(store.managesOffsets());
    context.setRecordContext(new ProcessorRecordContext(0, 17, 0, "input", new RecordHeaders()));
    store.put(key("a"), "1".getBytes());
    store.put(key("b"), "2".getBytes());
    store.commit(Map.of(CHANGELOG, 5L));
    context.setRecordContext(new ProcessorRecordContext(0, 18, 0, "input", new RecordHeaders()));
    store.delete(key("a"));
    store.put(key("c"), "3".getBytes());
    store = reopen();
    assertEquals(List.of("a=1", "b=2"), entries(store.all()));
    assertEquals(5, store.committedOffset(CHANGELOG));
    assertEquals(Position.emptyPosition().withComponent("input", 0, 17), store.getPosition());
    store.delete(key("a"));
    store.commit(Map.of(CHANGELOG, 6L, new TopicPartition("other", 1), 7L));
    store = reopen();
    assertEquals(List.of("b=2"), entries(store.all()));
    assertEquals(6, store.committedOffset(CHANGELOG));
    assertEquals(7, store.committedOffset(new TopicPartition("other", 1)));
  }

  @Test
  void offsetsAreForgotten() {
    TopicPartition other = new TopicPartition("other", 1);
    MioDBKeyValueStore store = reopen();
    store.commit(Map.of(CHANGELOG, 6L, other, 7L));
    store.commit(Collections.singletonMap(other, null));
    assertNull(store.committedOffset(other));
    assertEquals(6, store.committedOffset(CHANGELOG));
    store.put(key("a"), "1".getBytes());
    store.commit(Map.of());
    store = reopen();
    assertNull(store.committedOffset(CHANGELOG));
    assertEquals("1", text(store.get(key("a"))));
  }

  @Test
  @SuppressWarnings("deprecation")
  void aFlushCommitsWithoutOffsets() {
    MioDBKeyValueStore store = reopen();
    store.commit(Map.of(CHANGELOG, 6L));
    store.put(key("a"), "1".getBytes());
    store.flush();
    store = reopen();
    assertEquals("1", text(store.get(key("a"))));
    assertEquals(6, store.committedOffset(CHANGELOG));
  }

  @Test
  void aFullBufferIsWrittenOrAsksForACommit() {
    properties.put(MioDBConfig.BUFFER_BYTES, "10000");
    MioDBKeyValueStore store = reopen();
    for (int i = 0; i < 100; i++) {
      store.put(key("k" + i), new byte[200]);
    }
    assertEquals(0, commitsAskedFor.get());
    long left = store.open().bufferedBytes();
    assertTrue(left < 11_000, "left " + left);

    exactlyOnce();
    store = reopen();
    for (int i = 0; i < 100; i++) {
      store.put(key("x" + i), new byte[200]);
    }
    assertTrue(commitsAskedFor.get() > 0);
    assertEquals(200, entries(store.all()).size());
    store = reopen();
    assertEquals(100, entries(store.all()).size());
  }

  private void processes(long offset) {
    context.setRecordContext(new ProcessorRecordContext(0, offset, 0, "input", new RecordHeaders()));
  }

  private void commitBegins() {
    context.<CommitSignal>getStateStore("store.commits").flushCache();
  }

  @Test
  void underExactlyOnceACommitIsKeptOnceTheTaskWentOn() {
    exactlyOnce();
    TopicPartition changelog = new TopicPartition("changelog", reopen().context().taskId().partition());
    MioDBKeyValueStore store = reopen();
    processes(1);
    store.put(key("a"), "1".getBytes());
    store.put(key("b"), "1".getBytes());
    written.put(changelog, 10L);
    commitBegins();
    // What a cache puts while the commit goes on belongs to it.
    store.put(key("c"), "1".getBytes());
    written.put(changelog, 11L);
    processes(2);
    store.put(key("a"), "2".getBytes());
    store.delete(key("b"));
    assertEquals(List.of("a=2", "c=1"), entries(store.all()));
    written.put(changelog, 13L);
    commitBegins();
    assertEquals(List.of("a=2", "c=1"), entries(store.all()));
    assertEquals("2", text(store.get(key("a"))));
    assertNull(store.get(key("b")));
    // The process ends: the first commit has succeeded, of the second nobody knows.
    store = reopen();
    assertEquals(List.of("a=1", "b=1"), entries(store.all()));
    assertEquals(10, store.committedOffset(changelog));
    assertEquals(Position.emptyPosition().withComponent("input", 0, 1), store.getPosition());
  }

  @Test
  void underExactlyOnceATableOverATopicKeepsWhatItHasRead() {
    exactlyOnce();
    MioDBKeyValueStore store = reopen();
    TopicPartition topic = new TopicPartition("changelog", context.taskId().partition());
    for (long offset = 7; offset < 9; offset++) {
      context.setRecordContext(new ProcessorRecordContext(0, offset, topic.partition(), topic.topic(), new RecordHeaders()));
      store.put(key("a"), Long.toString(offset).getBytes());
      commitBegins();
    }
    store = reopen();
    assertEquals(7, store.committedOffset(topic));
    assertEquals("7", text(store.get(key("a"))));
  }

  @Test
  void underExactlyOnceACommitThatFailedIsForgotten() {
    exactlyOnce();
    MioDBKeyValueStore store = reopen();
    processes(1);
    store.put(key("a"), "1".getBytes());
    commitBegins();
    // A task that is closed because its commit failed flushes its caches once more, at the same record.
    store.put(key("b"), "1".getBytes());
    commitBegins();
    assertEquals(List.of(), entries(reopen().all()));
  }

  @Test
  void underExactlyOnceACommitOfTheStoreWritesWhatIsSealed() {
    exactlyOnce();
    MioDBKeyValueStore store = reopen();
    processes(1);
    store.put(key("a"), "1".getBytes());
    commitBegins();
    store.put(key("b"), "1".getBytes());
    store.commit(Map.of(CHANGELOG, 5L));
    store = reopen();
    assertEquals(List.of("a=1", "b=1"), entries(store.all()));
    assertEquals(5, store.committedOffset(CHANGELOG));
  }

  @Test
  void aCommitSyncsWhatARestoreHasWritten() {
    properties.put(MioDBConfig.PERSIST_MODE, "file");
    MioDBKeyValueStore store = reopen();
    context.restore("store", List.of(KeyValue.pair("a".getBytes(), "1".getBytes())));
    long fences = store.open().property("miodb.nvm-fences");
    store.commit(null);
    assertTrue(store.open().property("miodb.nvm-fences") > fences);
    long synced = store.open().property("miodb.nvm-fences");
    store.commit(null);
    assertEquals(synced, store.open().property("miodb.nvm-fences"), "there is nothing to sync");
  }

  @Test
  void whatIsRestoredIsKept() {
    exactlyOnce();
    reopen();
    context.restore("store", List.of(KeyValue.pair("a".getBytes(), "1".getBytes()),
        KeyValue.pair("b".getBytes(), "2".getBytes()), KeyValue.pair("a".getBytes(), null)));
    assertEquals(List.of("b=2"), entries(reopen().all()));
  }
}
