package org.miodb.kafka.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The page of a run: {@code /} shows it, {@code /status} has its numbers, {@code /kill?N} kills an instance. */
final class Page implements AutoCloseable {
  private final Cluster cluster;
  private final Orders orders;
  private final Killer killer;
  private final ExecutorService threads = Executors.newFixedThreadPool(4);
  private HttpServer server;

  /** Kills an instance, starts it again, and says what came of it. */
  interface Killer {
    String kill(int instance) throws IOException, InterruptedException;
  }

  private interface Answer {
    byte[] bytes() throws IOException, InterruptedException;
  }

  Page(Cluster cluster, Orders orders, Killer killer) {
    this.cluster = cluster;
    this.orders = orders;
    this.killer = killer;
  }

  /** Serves it at a port, 0 for any. Returns its address. */
  String open(int port) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(threads);
    server.createContext("/", exchange -> answer(exchange, "text/html; charset=utf-8", Page::html));
    server.createContext("/status", exchange -> answer(exchange, "application/json", this::status));
    server.createContext("/kill", exchange -> answer(exchange, "text/plain; charset=utf-8",
        () -> killer.kill(Integer.parseInt(exchange.getRequestURI().getQuery())).getBytes(StandardCharsets.UTF_8)));
    server.start();
    return "http://localhost:" + server.getAddress().getPort() + "/";
  }

  private static byte[] html() throws IOException {
    try (InputStream page = Page.class.getResourceAsStream("/page.html")) {
      return page.readAllBytes();
    }
  }

  /** What the instances say, null for one that does not answer. */
  private byte[] status() throws InterruptedException {
    StringBuilder json = new StringBuilder(
        "{\"time\":" + System.currentTimeMillis() + ",\"written\":" + orders.written() + ",\"instances\":[");
    for (int i = 0; i < cluster.instances(); i++) {
      json.append(i == 0 ? "" : ",").append(cluster.ask(i, "/status"));
    }
    return json.append("]}").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void answer(HttpExchange exchange, String type, Answer answer) throws IOException {
    byte[] bytes;
    int status = 200;
    try {
      bytes = answer.bytes();
    } catch (InterruptedException | RuntimeException e) {
      status = 500;
      bytes = e.toString().getBytes(StandardCharsets.UTF_8);
    }
    exchange.getResponseHeaders().add("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
