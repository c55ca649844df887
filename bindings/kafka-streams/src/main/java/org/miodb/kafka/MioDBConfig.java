package org.miodb.kafka;

import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.miodb.Options;

/**
 * Properties of stores, given beside those of StreamsConfig. Each holds for every store of the program; a
 * {@link MioDBConfigSetter} tells them apart.
 */
public final class MioDBConfig extends AbstractConfig {
  /** Folder of the pools, on persistent memory, tmpfs or a file system; without it each lies in its store's folder. */
  public static final String POOL_FOLDER = "miodb.pool.folder";

  /** Most bytes of the pool of one store; 0: what its file system has. It begins small and grows. */
  public static final String POOL_SIZE = "miodb.pool.size";

  /** Bytes of free space that a growing pool has ready, at most; it grows in steps of this, or of 16 MiB. */
  public static final String POOL_GROWTH = "miodb.pool.growth";

  /** Bytes of a memtable. */
  public static final String MEMTABLE_BYTES = "miodb.memtable.bytes";

  /**
   * Bytes that a store keeps in the heap between two commits. Beyond them it writes early, or under exactly-once, where it must
   * not, asks for a commit.
   */
  public static final String BUFFER_BYTES = "miodb.buffer.bytes";

  /** How stores to the pools are made durable: auto, pmem, emulated or file. Another medium than asked for is an error. */
  public static final String PERSIST_MODE = "miodb.persist.mode";

  /** A class that implements {@link MioDBConfigSetter}. */
  public static final String CONFIG_SETTER = "miodb.config.setter";

  private static final ConfigDef DEFINITION = new ConfigDef()
      .define(POOL_FOLDER, Type.STRING, null, Importance.HIGH, "Folder of the pools.")
      .define(POOL_SIZE, Type.LONG, 0, Importance.MEDIUM, "Most bytes of the pool of one store.")
      .define(POOL_GROWTH, Type.LONG, 1 << 20, Importance.LOW, "Bytes by which a pool grows.")
      .define(MEMTABLE_BYTES, Type.LONG, 4 << 20, Importance.MEDIUM, "Bytes of a memtable.")
      .define(BUFFER_BYTES, Type.LONG, 4 << 20, Importance.MEDIUM, "Bytes kept in the heap between commits.")
      .define(PERSIST_MODE, Type.STRING, "auto", ConfigDef.ValidString.in("auto", "pmem", "emulated", "file"),
          Importance.MEDIUM, "How stores to the pools are made durable.")
      .define(CONFIG_SETTER, Type.CLASS, null, Importance.LOW, "A class that implements MioDBConfigSetter.");

  /**
   * The properties of a program.
   *
   * @throws org.apache.kafka.common.config.ConfigException if one has a value that it cannot have
   */
  public MioDBConfig(Map<String, ?> properties) {
    super(DEFINITION, properties, false);
  }

  /** Options of the database of a store, before its setter sees them. */
  Options options() {
    return new Options()
        .createIfMissing(true)
        .poolSize(getLong(POOL_SIZE))
        .poolGrowth(getLong(POOL_GROWTH))
        .writeBufferSize(getLong(MEMTABLE_BYTES))
        .infoLogLevel(Options.InfoLogLevel.WARNING)
        .persistMode(Options.PersistMode.valueOf(getString(PERSIST_MODE).toUpperCase(Locale.ROOT)));
  }

  /** The setter; null if there is none. */
  MioDBConfigSetter setter() {
    return getConfiguredInstance(CONFIG_SETTER, MioDBConfigSetter.class);
  }
}
