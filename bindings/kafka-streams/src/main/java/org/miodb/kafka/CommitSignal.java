package org.miodb.kafka;

import org.apache.kafka.streams.processor.StateRestoreCallback;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.internals.CacheFlushListener;
import org.apache.kafka.streams.state.internals.CachedStateStore;

/**
 * A store without content that a task has beside another one, because Kafka flushes the caches of all registered stores when a
 * commit begins, and tells others nothing under exactly-once.
 */
final class CommitSignal implements StateStore, CachedStateStore<Object, Object>, StateRestoreCallback {
  private final String name;
  private final Runnable commitBegins;

  CommitSignal(String name, Runnable commitBegins) {
    this.name = name;
    this.commitBegins = commitBegins;
  }

  @Override
  public void flushCache() {
    commitBegins.run();
  }

  @Override
  public boolean setFlushListener(CacheFlushListener<Object, Object> listener, boolean sendOldValues) {
    return false;
  }

  @Override
  public void clearCache() {}

  @Override
  public String name() {
    return name;
  }

  @Override
  public void init(StateStoreContext context, StateStore root) {}

  @Override
  public void restore(byte[] key, byte[] value) {}

  @Override
  @Deprecated
  public void flush() {}

  @Override
  public void close() {}

  @Override
  public boolean persistent() {
    return false;
  }

  @Override
  public boolean isOpen() {
    return true;
  }
}
