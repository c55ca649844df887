package org.miodb.kafka;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.miodb.DB;
import org.miodb.MioDBException;
import org.miodb.Options;

/** The one place where databases of stores are opened: each is a folder below the state directory of its task. */
final class StoreDatabases {
  private static final String FOLDER = "miodb";
  /** The file without which a folder is no database. */
  private static final String DESCRIPTOR = "STORE";

  private StoreDatabases() {}

  /** Opens the database of a store, or makes it. Throws ProcessorStateException. */
  static StoreDatabase open(String name, StateStoreContext context) {
    Map<String, Object> properties = context.appConfigs();
    MioDBConfig config = new MioDBConfig(properties);
    Path folder = context.stateDir().toPath().resolve(FOLDER).resolve(name);
    try {
      Files.createDirectories(folder);
      Options options = config.options();
      String pools = config.getString(MioDBConfig.POOL_FOLDER);
      if (pools != null) {
        options.poolPath(pool(Path.of(pools).resolve(context.applicationId()).resolve(context.stateDir().getName()), folder));
      }
      MioDBConfigSetter setter = config.setter();
      if (setter != null) {
        setter.setConfig(name, options, properties);
      }
      return new StoreDatabase(name, DB.open(folder, options));
    } catch (IOException | MioDBException e) {
      throw new ProcessorStateException("cannot open store " + name + " in " + folder + ": " + e.getMessage(), e);
    }
  }

  /**
   * The pool of a database: its name tells the folder, because instances with a state.dir of their own may share the folder of
   * the pools. One that is left of a state directory that was removed is removed, too.
   */
  private static Path pool(Path pools, Path folder) throws IOException {
    Files.createDirectories(pools);
    CRC32C hash = new CRC32C();
    hash.update(folder.toRealPath().toString().getBytes(StandardCharsets.UTF_8));
    Path pool = pools.resolve(String.format("%s-%08x.pool", folder.getFileName(), hash.getValue()));
    if (!Files.exists(folder.resolve(DESCRIPTOR))) {
      Files.deleteIfExists(pool);
    }
    return pool;
  }
}
