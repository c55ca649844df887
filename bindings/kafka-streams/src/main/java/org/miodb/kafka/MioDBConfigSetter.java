package org.miodb.kafka;

import java.util.Map;
import org.miodb.Options;

/**
 * Sets options of single stores, as RocksDBConfigSetter does for RocksDB. It is named by {@link MioDBConfig#CONFIG_SETTER}, has a
 * public constructor without arguments, and is made anew for each store; several threads may open stores at once.
 */
public interface MioDBConfigSetter {
  /**
   * Called before the database of a store is opened.
   *
   * @param storeName the name of the store
   * @param options what the properties say; what is changed here is used
   * @param configs all properties of the program
   */
  void setConfig(String storeName, Options options, Map<String, Object> configs);
}
