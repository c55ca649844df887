package org.apache.kafka.streams.state.internals;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.mockito.MockedStatic;

/** Kafka's suite for walks over session stores of a topology. */
class MioDBSessionStoreFetchTest extends SessionStoreFetchTest {
  private static final int[] MADE = {0};

  private MockedStatic<Stores> stores;

  @BeforeEach
  void takeStoresOfMioDB() {
    stores = InPlaceOfRocksDB.stores(MADE);
  }

  @AfterEach
  void leaveRocksDBToOthers() {
    stores.close();
  }

  @AfterAll
  static void someStoresWereOfMioDB() {
    assertTrue(MADE[0] > 0);
  }
}
