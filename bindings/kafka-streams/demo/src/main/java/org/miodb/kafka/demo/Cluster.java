package org.miodb.kafka.demo;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The processes of a run: one broker and some instances, each a JVM of its own. Any thread may use it. */
final class Cluster implements AutoCloseable {
  private static final Pattern NUMBER = Pattern.compile("\"(\\w+)\":(\\d+)");

  private final Path work;
  private final List<String> jvm;
  private final int brokerPort = freePort();
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
  private final List<Member> members = new ArrayList<>();
  private Process broker;

  /** An instance: its process, and where it answers. */
  private static final class Member {
    private final int port = freePort();
    private volatile Process process;
  }

  /** The JVMs of the instances get these options. */
  Cluster(Path work, int instances, List<String> jvm) {
    this.work = work;
    this.jvm = jvm;
    for (int i = 0; i < instances; i++) {
      members.add(new Member());
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new IllegalStateException("no port is free", e);
    }
  }

  String broker() {
    return "localhost:" + brokerPort;
  }

  int instances() {
    return members.size();
  }

  /** A JVM of this class path; its output is a file of the work folder. */
  private Process java(String output, List<String> options, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(work.resolve(output).toFile())).start();
  }

  /** Formats and starts a broker in KRaft mode. Returns when it answers. */
  void startBroker() throws IOException, InterruptedException {
    int controllerPort = freePort();
    Path properties = work.resolve("broker.properties");
    Files.write(properties, List.of("process.roles=broker,controller", "node.id=1",
        "listeners=PLAINTEXT://localhost:" + brokerPort + ",CONTROLLER://localhost:" + controllerPort,
        "advertised.listeners=PLAINTEXT://localhost:" + brokerPort,
        "controller.listener.names=CONTROLLER", "controller.quorum.voters=1@localhost:" + controllerPort,
        "log.dirs=" + work.resolve("broker"), "num.partitions=1", "offsets.topic.replication.factor=1",
        "offsets.topic.num.partitions=3", "transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1",
        "transaction.state.log.num.partitions=3", "group.initial.rebalance.delay.ms=0", "log.segment.bytes=67108864"));
    Process format = java("broker.log", List.of("-Xmx128m"), "kafka.tools.StorageTool", "format", "--cluster-id",
        "demo-demo-demo-demo-de", "--config", properties.toString());
    if (format.waitFor() != 0) {
      throw new IOException("the broker's storage was not formatted; see " + work.resolve("broker.log"));
    }
    broker = java("broker.log", List.of("-Xmx320m", "-XX:TieredStopAtLevel=1"), "kafka.Kafka", properties.toString());
    awaitBroker();
  }

  /** On a machine that is busy a broker takes longer to start than clients have patience. */
  private void awaitBroker() throws IOException, InterruptedException {
    while (broker.isAlive()) {
      try {
        new Socket("localhost", brokerPort).close();
        return;
      } catch (ConnectException e) {
        Thread.sleep(100);
      }
    }
    throw new IOException("the broker has ended; see " + work.resolve("broker.log"));
  }

  /** Starts an instance of an application, with stores of a kind. */
  void start(int instance, String application, String store, String topology) throws IOException {
    Member member = members.get(instance);
    member.process = java("instance-" + instance + ".log", jvm, Instance.class.getName(), "broker=" + broker(),
        "state=" + work.resolve("state-" + instance), "port=" + member.port, "name=instance-" + instance,
        "application=" + application, "store=" + store, "topology=" + topology);
  }

  /** Ends an instance in order. */
  void end(int instance) throws InterruptedException {
    Process process = members.get(instance).process;
    process.destroy();
    process.waitFor();
  }

  /** As kill -9 does. */
  void kill(int instance) throws InterruptedException {
    members.get(instance).process.destroyForcibly().waitFor();
  }

  /** What an instance answers; null if it does not, or cannot now. */
  String ask(int instance, String path) throws InterruptedException {
    try {
      HttpResponse<String> response = http.send(HttpRequest
          .newBuilder(URI.create("http://localhost:" + members.get(instance).port + path)).timeout(Duration.ofSeconds(10))
          .build(), HttpResponse.BodyHandlers.ofString());
      return response.statusCode() == 200 ? response.body() : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** A number of an instance's status; null if it does not answer. */
  Long number(int instance, String name) throws InterruptedException {
    String status = ask(instance, "/status");
    Matcher matcher = NUMBER.matcher(status == null ? "" : status);
    while (matcher.find()) {
      if (matcher.group(1).equals(name)) {
        return Long.parseLong(matcher.group(2));
      }
    }
    return null;
  }

  boolean isRunning(int instance) throws InterruptedException {
    String status = ask(instance, "/status");
    return status != null && status.contains("\"RUNNING\"");
  }

  /** Whether the processes that should run do. */
  boolean isAlive() {
    return broker.isAlive() && members.stream().allMatch(member -> member.process.isAlive());
  }

  boolean isAlive(int instance) {
    return broker.isAlive() && members.get(instance).process.isAlive();
  }

  /** The CPU time that an instance has taken, also while others used the machine. */
  double cpuSeconds(int instance) {
    return members.get(instance).process.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
  }

  /** The tables of all instances together; null if one does not answer now. */
  TreeMap<String, Long> tables() throws InterruptedException {
    TreeMap<String, Long> tables = new TreeMap<>();
    for (int i = 0; i < members.size(); i++) {
      String dump = ask(i, "/dump");
      if (dump == null) {
        return null;
      }
      dump.lines().forEach(line -> tables.put(line.substring(0, line.indexOf('\t')),
          Long.parseLong(line.substring(line.indexOf('\t') + 1))));
    }
    return tables;
  }

  /** Ends all processes. */
  @Override
  public void close() {
    members.stream().filter(member -> member.process != null).forEach(member -> member.process.destroyForcibly());
    if (broker != null) {
      broker.destroyForcibly();
    }
  }
}
