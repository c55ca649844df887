package org.miodb;

/** How a write is done. */
public enum WriteOptions {
  /** Survives the end of the process; loss of power where the medium is persistent memory. */
  DEFAULT,
  /** Survives loss of power when the call returns. */
  SYNC
}
