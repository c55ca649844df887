package org.miodb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/**
 * What many databases in one JVM cost: threads that were not there before, memory of the process, and how long opens
 * and closes take. Ends with 0 if threads and memory are within their bounds; times are told, not judged.
 */
final class ManyStoresMain {
  private static final int PUTS = 100;
  private static final int VALUE_BYTES = 1000;
  private static final long MOST_THREADS = 16;
  private static final long MOST_RESIDENT_MIB = 600;

  private final Path folder;
  private final DB[] databases;
  private final long threadsBefore = threads();
  private boolean within = true;

  private ManyStoresMain(Path folder, int count) throws IOException {
    this.folder = folder;
    databases = new DB[count];
  }

  /** Arguments: a folder, how many databases. */
  public static void main(String[] arguments) throws IOException {
    ManyStoresMain stores = new ManyStoresMain(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
    stores.run();
    System.exit(stores.within ? 0 : 1);
  }

  private void run() throws IOException {
    byte[] value = new byte[VALUE_BYTES];
    report("begin", new long[0]);
    each("create", i -> open(i, true));
    each("close", this::close);
    each("open", i -> open(i, false));
    each("puts", i -> {
      for (int k = 0; k < PUTS; k++) {
        databases[i].put(Databases.bytes("key" + k), value);
      }
    });
    each("close", this::close);
    each("open, with log", i -> open(i, false));
    each("gets", i -> databases[i].get(Databases.bytes("key1")));
    each("flush", i -> databases[i].flush());
    each("close", this::close);
    each("open, with a table", i -> open(i, false));
    each("gets", i -> databases[i].get(Databases.bytes("key1")));
    each("close", this::close);
    each("destroy", i -> DB.destroy(folder.resolve("" + i), new Options()));
  }

  private void open(int i, boolean create) {
    databases[i] = DB.open(folder.resolve("" + i), new Options().createIfMissing(create).errorIfExists(create));
  }

  private void close(int i) {
    databases[i].close();
  }

  private void each(String stage, IntConsumer call) throws IOException {
    long[] nanos = new long[databases.length];
    for (int i = 0; i < databases.length; i++) {
      long start = System.nanoTime();
      call.accept(i);
      nanos[i] = System.nanoTime() - start;
    }
    report(stage, nanos);
  }

  private void report(String stage, long[] nanos) throws IOException {
    Arrays.sort(nanos);
    String times = nanos.length == 0 ? ""
        : String.format(" median %7.3f max %8.3f ms,", nanos[nanos.length / 2] / 1e6, nanos[nanos.length - 1] / 1e6);
    long threads = threads() - threadsBefore;
    long residentMib = status("VmRSS:") >> 10;
    within &= threads <= MOST_THREADS && residentMib < MOST_RESIDENT_MIB;
    System.out.printf("%-20s%s %d threads more, %d MiB resident (%d MiB of it own)%n", stage, times, threads,
        residentMib, status("RssAnon:") >> 10);
  }

  private static long threads() throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      return tasks.count();
    }
  }

  /** A line of the status of the process: the KiB behind a name. */
  static long status(String name) throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", ""))).findFirst().getAsLong();
  }
}
