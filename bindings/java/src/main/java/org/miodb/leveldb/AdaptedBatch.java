package org.miodb.leveldb;

import org.iq80.leveldb.WriteBatch;

/** A batch under the interface of iq80. It has nothing to close. */
final class AdaptedBatch implements WriteBatch {
  private final org.miodb.WriteBatch batch = new org.miodb.WriteBatch();

  org.miodb.WriteBatch batch() {
    return batch;
  }

  @Override
  public WriteBatch put(byte[] key, byte[] value) {
    batch.put(key, value);
    return this;
  }

  @Override
  public WriteBatch delete(byte[] key) {
    batch.delete(key);
    return this;
  }

  @Override
  public void close() {}
}
