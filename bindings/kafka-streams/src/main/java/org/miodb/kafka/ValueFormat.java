package org.miodb.kafka;

import org.apache.kafka.streams.DslStoreFormat;
import org.apache.kafka.streams.state.DslKeyValueParams;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.DslWindowParams;

/** What values have before what the program gave. Versions of Kafka without headers say it in another way. */
enum ValueFormat {
  PLAIN,
  TIMESTAMPED,
  HEADERS;

  private static final boolean NAMED = isThere("org.apache.kafka.streams.DslStoreFormat");

  private static boolean isThere(String name) {
    try {
      Class.forName(name, false, ValueFormat.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  @SuppressWarnings("deprecation")
  static ValueFormat of(DslKeyValueParams params) {
    return NAMED ? Named.of(params.dslStoreFormat(), PLAIN) : params.isTimestamped() ? TIMESTAMPED : PLAIN;
  }

  @SuppressWarnings("deprecation")
  static ValueFormat of(DslWindowParams params) {
    return NAMED ? Named.of(params.dslStoreFormat(), TIMESTAMPED) : params.isTimestamped() ? TIMESTAMPED : PLAIN;
  }

  static ValueFormat of(DslSessionParams params) {
    return NAMED ? Named.of(params.storeFormat(), PLAIN) : PLAIN;
  }

  /** Of versions that name formats. */
  private static final class Named {
    private Named() {}

    static ValueFormat of(DslStoreFormat format, ValueFormat otherwise) {
      return format == null ? otherwise : valueOf(format.name());
    }
  }
}
