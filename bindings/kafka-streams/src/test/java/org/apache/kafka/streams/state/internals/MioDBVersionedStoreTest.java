package org.apache.kafka.streams.state.internals;

import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.mockito.MockedConstruction;

/** Kafka's suite for its versioned store. */
class MioDBVersionedStoreTest extends RocksDBVersionedStoreTest {
  private MockedConstruction<RocksDBVersionedStore> stores;

  @Override
  @BeforeEach
  public void before() {
    stores = InPlaceOfRocksDB.versionedStores();
    super.before();
  }

  @AfterEach
  void leaveRocksDBToOthers() {
    assertFalse(stores.constructed().isEmpty());
    stores.close();
  }

  /** No test here: the file is that of older stores of RocksDB. */
  @Override
  public void shouldMigrateExistingPositionFromFile() {}
}
