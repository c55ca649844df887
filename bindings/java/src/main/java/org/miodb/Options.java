package org.miodb;

import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * How a database is opened. What is not set is the engine's default; {@code miodb/options.h} says what each option means, its
 * unit and its range. A value out of range makes the open fail with a {@link MioDBException} that names the option.
 *
 * <p>A plain object for one thread at a time. An open copies it, so it may be changed and used again.
 */
public final class Options {
  /** How stores to the pool are made durable. */
  public enum PersistMode {
    /** By the medium: that of persistent memory, of tmpfs, or of a file. */
    AUTO,
    /** Persistent memory, or the open fails. */
    PMEM,
    /** Memory that is not persistent, treated as if it were. */
    EMULATED,
    /** An ordinary file. */
    FILE
  }

  /** Who may use the files that are made. */
  public enum FileAccess {
    /** Their owner. */
    OWNER,
    /** Their group reads them. */
    GROUP_READS,
    /** Their group reads and writes them. */
    GROUP_WRITES
  }

  /** What the info log is told. */
  public enum InfoLogLevel {
    /** Every merge, what was opened, what is waited for. */
    INFO,
    /** What somebody should look at. */
    WARNING,
    /** What failed. */
    ERROR,
    /** Nothing. */
    NONE
  }

  /** Where the log is. */
  public enum LogMode {
    /** In the pool. */
    PMEM,
    /** Nowhere: what is not flushed does not survive. */
    OFF,
    /** In files of LevelDB's format. */
    FILE
  }

  /** How blocks of table files on SSD are compressed. */
  public enum Compression {
    /** Not at all. */
    NONE,
    /** With Snappy. */
    SNAPPY,
    /** With Zstandard. */
    ZSTD
  }

  private final Map<String, Long> numbers = new LinkedHashMap<>();
  private final Map<String, String> paths = new LinkedHashMap<>();
  private long blockCacheBytes;
  private int bloomFilterBits;

  private Options number(String name, long value) {
    numbers.put(name, value);
    return this;
  }

  private Options size(String name, long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException(name + " must not be negative: " + bytes);
    }
    return number(name, bytes);
  }

  private Options path(String name, Path path) {
    paths.put(name, name(path));
    return this;
  }

  /** Copies all options. */
  public Options copy() {
    Options copy = new Options();
    copy.numbers.putAll(numbers);
    copy.paths.putAll(paths);
    copy.blockCacheBytes = blockCacheBytes;
    copy.bloomFilterBits = bloomFilterBits;
    return copy;
  }

  /** Bytes of the cache for blocks of table files on SSD; 0: the engine's own. */
  public Options blockCacheSize(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("blockCacheSize must not be negative: " + bytes);
    }
    blockCacheBytes = bytes;
    return this;
  }

  /** Bits for each key of the filters of table files on SSD; 0: none. */
  public Options bloomFilterBits(int bits) {
    if (bits < 0) {
      throw new IllegalArgumentException("bloomFilterBits must not be negative: " + bits);
    }
    bloomFilterBits = bits;
    return this;
  }

  /** Whether a database that is not there is made. */
  public Options createIfMissing(boolean value) {
    return number("create_if_missing", value ? 1 : 0);
  }

  /** Whether a database that is there is an error. */
  public Options errorIfExists(boolean value) {
    return number("error_if_exists", value ? 1 : 0);
  }

  /** Whether every record that is read and every table that is opened is checked. */
  public Options paranoidChecks(boolean value) {
    return number("paranoid_checks", value ? 1 : 0);
  }

  /** Bytes of a memtable. */
  public Options writeBufferSize(long bytes) {
    return size("write_buffer_size", bytes);
  }

  /** Files of the SSD tier that stay open. */
  public Options maxOpenFiles(int value) {
    return number("max_open_files", value);
  }

  /** Bytes of a block of table files. */
  public Options blockSize(long bytes) {
    return size("block_size", bytes);
  }

  /** Keys between restarts in a block of table files. */
  public Options blockRestartInterval(int value) {
    return number("block_restart_interval", value);
  }

  /** Accepted; {@link #ssdFileSize} is the size of table files. */
  public Options maxFileSize(long bytes) {
    return size("max_file_size", bytes);
  }

  /** Of blocks of table files. */
  public Options compression(Compression value) {
    return number("compression", value.ordinal());
  }

  /** For {@link Compression#ZSTD}. */
  public Options zstdCompressionLevel(int value) {
    return number("zstd_compression_level", value);
  }

  /** The pool: a file on persistent memory, tmpfs or an ordinary file system, or a DAX device. */
  public Options poolPath(Path path) {
    return path("pool_path", path);
  }

  /** Most bytes of the pool; 0: all that its file system has. */
  public Options poolSize(long bytes) {
    return size("pool_size", bytes);
  }

  /** Bytes by which the pool grows. */
  public Options poolGrowth(long bytes) {
    return size("pool_growth", bytes);
  }

  /** How stores to the pool are made durable. */
  public Options persistMode(PersistMode value) {
    return number("persist_mode", value.ordinal());
  }

  /** Who may use the files. */
  public Options fileAccess(FileAccess value) {
    return number("file_access", value.ordinal());
  }

  /** NUMA node of memtables and threads; -1: any. */
  public Options dramNode(int value) {
    return number("dram_node", value);
  }

  /** NUMA node of the pool; -1: any. */
  public Options nvmNode(int value) {
    return number("nvm_node", value);
  }

  /** NUMA node of the pool when the first is full; -1: none. */
  public Options nvmNextNode(int value) {
    return number("nvm_next_node", value);
  }

  /** Where the log is. */
  public Options logMode(LogMode value) {
    return number("log_mode", value.ordinal());
  }

  /** Folder of log files. */
  public Options walDir(Path path) {
    return path("wal_dir", path);
  }

  /** Bytes of a block of log files. */
  public Options walBlockSize(long bytes) {
    return size("wal_block_size", bytes);
  }

  /** Whether records of log files begin a new block instead of being split. */
  public Options walPadding(boolean value) {
    return number("wal_padding", value ? 1 : 0);
  }

  /** Bytes of a chunk of the log in the pool; 0: by the size of a memtable. */
  public Options logChunkSize(long bytes) {
    return size("log_chunk_size", bytes);
  }

  /** Memtables that wait for a flush before writers do. */
  public Options maxImmutableMemtables(int value) {
    return number("max_immutable_memtables", value);
  }

  /** Bytes of log that stay after their flush, for programs that follow the database. */
  public Options keepLogBytes(long bytes) {
    return size("keep_log_bytes", bytes);
  }

  /** Levels of the elastic buffer and the repository. */
  public Options numLevels(int value) {
    return number("num_levels", value);
  }

  /** Runs of a level that begin a merge. */
  public Options levelTrigger(int value) {
    return number("level_trigger", value);
  }

  /** Merges at a time; 0: by the number of CPUs. */
  public Options maxBackgroundMerges(int value) {
    return number("max_background_merges", value);
  }

  /** Bytes of a partition of the repository. */
  public Options partitionSize(long bytes) {
    return size("partition_size", bytes);
  }

  /** Milliseconds without a write after which the database settles; 0: never. */
  public Options settleAfterIdleMs(int value) {
    return number("settle_after_idle_ms", value);
  }

  /** Largest record that a merge copies. */
  public Options lazyCopyLimit(long bytes) {
    return size("lazy_copy_limit", bytes);
  }

  /** Seconds for which values live; 0: for ever. */
  public Options lifetimeSeconds(long seconds) {
    return size("lifetime_seconds", seconds);
  }

  /** Space that garbage may take before it is collected. */
  public Options spaceAmplificationPercent(int value) {
    return number("space_amplification_percent", value);
  }

  /** Bits for each key of the filters in DRAM; 0: none. */
  public Options filterBitsPerKey(int value) {
    return number("filter_bits_per_key", value);
  }

  /** As in LevelDB. */
  public Options reuseLogs(boolean value) {
    return number("reuse_logs", value ? 1 : 0);
  }

  /** Whether the times of calls and of background work are kept, for the properties of times. */
  public Options statistics(boolean value) {
    return number("statistics", value ? 1 : 0);
  }

  /** What is written to the info log: messages of this kind and of those behind it. */
  public Options infoLogLevel(InfoLogLevel value) {
    return number("info_log_level", value.ordinal());
  }

  /** Bytes at which the info log begins a new file; 0: only at every open. */
  public Options maxLogFileSize(long bytes) {
    return size("max_log_file_size", bytes);
  }

  /** Files of the info log that are kept. */
  public Options keepLogFileNum(long files) {
    return size("keep_log_file_num", files);
  }

  /** Folder of the SSD tier; it is there only with this. */
  public Options ssdPath(Path path) {
    return path("ssd_path", path);
  }

  /** Bytes of data in the pool before the SSD tier takes some; 0: by the size of the pool. */
  public Options nvmBudget(long bytes) {
    return size("nvm_budget", bytes);
  }

  /** Levels on SSD. */
  public Options ssdLevels(int value) {
    return number("ssd_levels", value);
  }

  /** Bytes of the first level on SSD; 0: by what there is. */
  public Options ssdLevelSize(long bytes) {
    return size("ssd_level_size", bytes);
  }

  /** How many times larger each further level is. */
  public Options ssdLevelMultiplier(int value) {
    return number("ssd_level_multiplier", value);
  }

  /** Bytes of a table file. */
  public Options ssdFileSize(long bytes) {
    return size("ssd_file_size", bytes);
  }

  /** Drains and compactions at a time. */
  public Options maxBackgroundSsdJobs(int value) {
    return number("max_background_ssd_jobs", value);
  }

  /** Bytes a second that they may write; 0: without limit. */
  public Options ssdRateLimit(long bytes) {
    return size("ssd_rate_limit", bytes);
  }

  /** Whether reads of table files go around the page cache. */
  public Options useDirectReads(boolean value) {
    return number("use_direct_reads", value ? 1 : 0);
  }

  /** Whether writes of table files do. */
  public Options useDirectIoForFlushAndCompaction(boolean value) {
    return number("use_direct_io_for_flush_and_compaction", value ? 1 : 0);
  }

  /** Bytes that compactions read ahead. */
  public Options compactionReadaheadSize(long bytes) {
    return size("compaction_readahead_size", bytes);
  }

  /** Whether gets of many keys read with io_uring. */
  public Options multiGetIoUring(boolean value) {
    return number("multi_get_io_uring", value ? 1 : 0);
  }

  /** Threads of such a get where there is no io_uring. */
  public Options multiGetThreads(int value) {
    return number("multi_get_threads", value);
  }

  /** These options as objects of the engine. */
  Applied apply() {
    return new Applied(this);
  }

  /** Options of the engine, with the objects that they point to, which live as long as the database. */
  static final class Applied {
    private final long handle;
    private final long cache;
    private final long filter;

    private Applied(Options options) {
      handle = Native.newOptions();
      cache = options.blockCacheBytes > 0 ? Native.newCache(handle, options.blockCacheBytes) : 0;
      filter = options.bloomFilterBits > 0 ? Native.newFilter(handle, options.bloomFilterBits) : 0;
      options.numbers.forEach((name, value) -> require(name, Native.setNumber(handle, bytes(name), value)));
      options.paths.forEach((name, path) -> require(name, Native.setPath(handle, bytes(name), bytes(path))));
    }

    private static void require(String name, boolean known) {
      if (!known) {
        throw new AssertionError("the native library has no option " + name);
      }
    }

    long handle() {
      return handle;
    }

    void free() {
      Native.freeOptions(handle);
      if (cache != 0) {
        Native.freeCache(cache);
      }
      if (filter != 0) {
        Native.freeFilter(filter);
      }
    }
  }

  /**
   * The name of a file for the engine. Paths of other file systems than the default one, such as those in a zip file, have names
   * that mean other files to the engine.
   */
  static String name(Path path) {
    if (path.getFileSystem() != FileSystems.getDefault()) {
      throw new IllegalArgumentException("the path " + path + " is of the file system "
          + path.getFileSystem().provider().getScheme() + "; databases are in files of the default one");
    }
    return path.toString();
  }

  /** A name or a path for the engine. */
  static byte[] bytes(String text) {
    if (Objects.requireNonNull(text).indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a name has no zero character");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
