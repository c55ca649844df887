package org.miodb.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is killed at any moment leaves the state of a commit: the last that returned, or the one after it. */
class KillTest {
  private static final int KILLS = 4;

  @TempDir
  Path folder;

  @Test
  void aKilledProcessLeavesACommit() throws Exception {
    Random random = new Random();
    Path output = folder.resolve("output");
    for (int kill = 0; kill < KILLS; kill++) {
      Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
          "-cp", System.getProperty("java.class.path"), CommitMain.class.getName(), folder.toString())
          .redirectErrorStream(true).redirectOutput(output.toFile()).start();
      while (Files.size(output) == 0 && process.isAlive()) {
        Thread.sleep(1);
      }
      Thread.sleep(random.nextInt(200));
      assertTrue(process.isAlive(), Files.readString(output));
      process.destroyForcibly().waitFor();
      // A line that the end cut off is the number of a commit that returned, or begins it.
      List<String> lines = Files.readString(output).lines().filter(line -> line.matches("[0-9]+")).toList();
      check(Long.parseLong(lines.get(Math.max(0, lines.size() - 2))));
      Files.delete(output);
    }
  }

  private void check(long returned) {
    MioDBKeyValueStore store = CommitMain.open(folder, new InternalMockProcessorContext<?, ?>[1]);
    try (KeyValueIterator<Bytes, byte[]> entries = store.all()) {
      long committed = store.committedOffset(CommitMain.CHANGELOG);
      assertTrue(committed >= returned, committed + " after " + returned);
      int found = 0;
      for (; entries.hasNext(); found++) {
        assertEquals(committed, Long.parseLong(new String(entries.next().value)));
      }
      assertEquals(CommitMain.KEYS, found);
      assertEquals(Position.emptyPosition().withComponent("input", 0, committed), store.getPosition());
    } finally {
      store.close();
    }
  }
}
