package org.miodb.leveldb;

import java.io.File;
import java.io.IOException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.DBFactory;
import org.iq80.leveldb.Options;
import org.miodb.MioDBException;

/**
 * Opens databases of MioDB as {@link DB}.
 *
 * <p>Options that the interface does not have, such as the path of the pool, are set by a function that the factory is made
 * with. A comparator cannot be given, and a logger gets nothing.
 */
public final class MioDBFactory implements DBFactory {
  /** A factory that sets no further options. */
  public static final MioDBFactory INSTANCE = new MioDBFactory(options -> options);

  private final UnaryOperator<org.miodb.Options> further;

  /** A factory whose databases get further options. */
  public MioDBFactory(UnaryOperator<org.miodb.Options> further) {
    this.further = further;
  }

  @Override
  public DB open(File path, Options options) throws IOException {
    org.miodb.Options converted = convert(options);
    return attempt(() -> new AdaptedDB(org.miodb.DB.open(path.toPath(), converted), options.verifyChecksums()));
  }

  @Override
  public void destroy(File path, Options options) throws IOException {
    org.miodb.Options converted = convert(options);
    attempt(() -> {
      org.miodb.DB.destroy(path.toPath(), converted);
      return null;
    });
  }

  @Override
  public void repair(File path, Options options) throws IOException {
    org.miodb.Options converted = convert(options);
    attempt(() -> {
      org.miodb.DB.repair(path.toPath(), converted);
      return null;
    });
  }

  /** What this interface throws is an IOException. */
  private static <T> T attempt(Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (MioDBException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public String toString() {
    return "MioDB " + org.miodb.DB.version();
  }

  private org.miodb.Options convert(Options options) {
    if (options.comparator() != null) {
      throw new UnsupportedOperationException("keys are ordered bytewise; there are no comparators in Java");
    }
    boolean snappy = options.compressionType() == CompressionType.SNAPPY;
    return further.apply(new org.miodb.Options()
        .createIfMissing(options.createIfMissing())
        .errorIfExists(options.errorIfExists())
        .paranoidChecks(options.paranoidChecks())
        .writeBufferSize(options.writeBufferSize())
        .maxOpenFiles(options.maxOpenFiles())
        .blockSize(options.blockSize())
        .blockRestartInterval(options.blockRestartInterval())
        .blockCacheSize(options.cacheSize())
        .compression(snappy ? org.miodb.Options.Compression.SNAPPY : org.miodb.Options.Compression.NONE));
  }
}
