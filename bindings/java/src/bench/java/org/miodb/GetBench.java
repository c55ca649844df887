package org.miodb;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.LRUCache;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Reads of values of 100 bytes by keys of 16 in random order, and walks, from MioDB and RocksDB; and the JVM's own cost of a
 * call that does nothing. Both stores are filled alike, settled, and lie in java.io.tmpdir;
 * RocksDB's block cache holds everything, and its tables have filters, as MioDB's have.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
@State(Scope.Benchmark)
public class GetBench {
  private static final int VALUE_BYTES = 100;
  private static final int KEYS_OF_A_BATCH = 1000;
  private static final int STEPS = 100;
  private static final long ROCKSDB_CACHE_BYTES = 1L << 30;

  static {
    RocksDB.loadLibrary();
  }

  private static final org.rocksdb.ReadOptions DEFAULT_READS = new org.rocksdb.ReadOptions();

  /** How many entries the stores have. */
  @Param("1000000")
  public int entries;

  private Path folder;
  private DB miodb;
  private RocksDB rocksdb;

  /** What one thread needs: its random keys, and buffers. */
  @State(Scope.Thread)
  public static class Caller {
    private final SplittableRandom random = new SplittableRandom(301);
    private final byte[] key = new byte[16];
    private final ByteBuffer directKey = ByteBuffer.allocateDirect(16);
    private final ByteBuffer directValue = ByteBuffer.allocateDirect(VALUE_BYTES);

    byte[] next(int entries) {
      fill(key, random.nextInt(entries));
      return key;
    }

    ByteBuffer nextDirect(int entries) {
      directValue.clear();
      return directKey.clear().put(next(entries)).flip();
    }
  }

  private static void fill(byte[] key, long number) {
    ByteBuffer.wrap(key).order(ByteOrder.BIG_ENDIAN).putLong(number).putLong(number * 0x9E3779B97F4A7C15L);
  }

  /** Fills both stores. */
  @Setup
  public void open() throws IOException, RocksDBException {
    folder = Files.createTempDirectory("miodb_bench");
    miodb = DB.open(folder.resolve("miodb"), new Options().createIfMissing(true));
    BlockBasedTableConfig tables = new BlockBasedTableConfig().setBlockCache(new LRUCache(ROCKSDB_CACHE_BYTES))
        .setFilterPolicy(new BloomFilter(10));
    rocksdb = RocksDB.open(new org.rocksdb.Options().setCreateIfMissing(true).setTableFormatConfig(tables),
        folder.resolve("rocksdb").toString());
    Random random = new Random(301);
    byte[] key = new byte[16];
    byte[] value = new byte[VALUE_BYTES];
    try (org.rocksdb.WriteOptions writes = new org.rocksdb.WriteOptions()) {
      for (int i = 0; i < entries; i += KEYS_OF_A_BATCH) {
        WriteBatch ours = new WriteBatch();
        try (org.rocksdb.WriteBatch theirs = new org.rocksdb.WriteBatch()) {
          for (int j = i; j < Math.min(entries, i + KEYS_OF_A_BATCH); j++) {
            fill(key, j);
            random.nextBytes(value);
            ours.put(key, value);
            theirs.put(key, value);
          }
          miodb.write(ours);
          rocksdb.write(writes, theirs);
        }
      }
    }
    miodb.waitForIdle();
    rocksdb.compactRange();
  }

  /** Removes both stores. */
  @TearDown
  public void close() throws IOException {
    miodb.close();
    rocksdb.close();
    try (var files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> {
        try {
          Files.delete(file);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }
  }

  /** A get of MioDB. */
  @Benchmark
  public byte[] getMioDB(Caller caller) {
    return miodb.get(caller.next(entries));
  }

  /** A get of RocksDB. */
  @Benchmark
  public byte[] getRocksDB(Caller caller) throws RocksDBException {
    return rocksdb.get(caller.next(entries));
  }

  /** A get of MioDB between direct buffers. */
  @Benchmark
  public int getDirectMioDB(Caller caller) {
    return miodb.get(caller.nextDirect(entries), caller.directValue);
  }

  /** A get of RocksDB between direct buffers. */
  @Benchmark
  public int getDirectRocksDB(Caller caller) throws RocksDBException {
    return rocksdb.get(DEFAULT_READS, caller.nextDirect(entries), caller.directValue);
  }

  /** A seek and a walk with MioDB. */
  @Benchmark
  public int walkMioDB(Caller caller) {
    int bytes = 0;
    try (DBIterator iterator = miodb.iterator()) {
      boolean there = iterator.seek(caller.next(entries));
      for (int i = 0; there && i < STEPS; i++) {
        bytes += iterator.key().length + iterator.value().length;
        there = iterator.next();
      }
    }
    return bytes;
  }

  /** A seek and a walk with RocksDB. */
  @Benchmark
  public int walkRocksDB(Caller caller) {
    int bytes = 0;
    try (RocksIterator iterator = rocksdb.newIterator()) {
      iterator.seek(caller.next(entries));
      for (int i = 0; iterator.isValid() && i < STEPS; i++) {
        bytes += iterator.key().length + iterator.value().length;
        iterator.next();
      }
    }
    return bytes;
  }

  /** A native call that does nothing: what the JVM itself takes. */
  @Benchmark
  public int nativeCall() {
    return Native.version();
  }
}
