package org.miodb.leveldb;

import org.iq80.leveldb.Snapshot;

/** A snapshot under the interface of iq80. */
final class AdaptedSnapshot implements Snapshot {
  private final org.miodb.Snapshot snapshot;

  AdaptedSnapshot(org.miodb.Snapshot snapshot) {
    this.snapshot = snapshot;
  }

  org.miodb.Snapshot snapshot() {
    return snapshot;
  }

  @Override
  public void close() {
    snapshot.close();
  }
}
