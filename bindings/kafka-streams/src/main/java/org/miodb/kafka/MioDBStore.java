package org.miodb.kafka;

import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.api.ProcessingContext;
import org.apache.kafka.streams.processor.internals.ChangelogRecordDeserializationHelper;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;
import org.apache.kafka.streams.processor.internals.RecordCollector;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.processor.internals.metrics.TaskMetrics;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.internals.StoreQueryUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all stores share: a database, its buffer and the commits.
 *
 * <p>One thread writes, commits and closes, that of the task. Any thread may read, also while it does so. A crash leaves what
 * the last commit wrote, with its offsets, so that only what came after it is restored. Under at-least-once it may also leave
 * later writes, which the restore writes once more.
 */
abstract class MioDBStore implements StateStore {
  private static final Logger LOG = LoggerFactory.getLogger(MioDBStore.class);

  /** The partition of the task of global stores, which has no transactions. */
  private static final int GLOBAL = -1;

  private final String name;
  private StateStoreContext context;
  private StoreDatabase database;
  private long mostBuffered;
  private boolean exactlyOnce;
  private boolean consistent;
  private Sensor dropped;
  /** The record that the task was at when the last commit began. */
  private Object sealedAt;
  private volatile boolean open;

  MioDBStore(String name) {
    this.name = Objects.requireNonNull(name);
  }

  // ---- What a store adds. ----

  /** The database is open: makes the tables. */
  abstract void opened(StoreDatabase opened);

  /** Under the monitor: a record of the changelog is put, as it was put before. */
  abstract void restore(ConsumerRecord<byte[], byte[]> record);

  /** Under the monitor, before what was put is written: what else is to be written. */
  void committing() {}

  /** The format of keys and values, which a database keeps as long as it lives. */
  abstract String format();

  // ---- StateStore. ----

  @Override
  public String name() {
    return name;
  }

  /**
   * Opens the database and registers the store.
   *
   * @throws ProcessorStateException if the database cannot be opened
   */
  @Override
  public void init(StateStoreContext stateStoreContext, StateStore root) {
    context = stateStoreContext;
    Map<String, Object> properties = context.appConfigs();
    mostBuffered = new MioDBConfig(properties).getLong(MioDBConfig.BUFFER_BYTES);
    exactlyOnce = StreamsConfig.EXACTLY_ONCE_V2.equals(properties.get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG))
        && context.taskId().partition() != GLOBAL;
    consistent = StreamsConfig.InternalConfig.getBoolean(properties,
        StreamsConfig.InternalConfig.IQ_CONSISTENCY_OFFSET_VECTOR_ENABLED, false);
    openDatabase();
    StoreMetrics.add(this, Suppliers.SCOPE, context);
    context.register(root, (RecordBatchingStateRestoreCallback) this::restoreBatch);
    if (exactlyOnce) {
      CommitSignal signal = new CommitSignal(name + ".commits", this::commitBegins);
      context.register(signal, signal);
    }
  }

  private void openDatabase() {
    database = StoreDatabases.open(name, context);
    try {
      checkFormat();
      opened(database);
      open = true;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** A database of another format is emptied, and restored from the changelog. */
  private void checkFormat() {
    String found = database.format();
    if (format().equals(found)) {
      return;
    }
    if (found != null) {
      boolean logged = context instanceof InternalProcessorContext
          && ((InternalProcessorContext<?, ?>) context).changelogFor(name) != null;
      if (!logged) {
        throw new ProcessorStateException("store " + name + " has the format " + found + " instead of " + format()
            + ", and no changelog to restore it from; remove its folder in the state directory");
      }
      LOG.warn("store {} has the format {} instead of {}: it is emptied and restored", name, found, format());
    }
    database.begin(format());
  }

  @Override
  public boolean persistent() {
    return true;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  /** Offsets are written with the data. */
  @Override
  @SuppressWarnings("deprecation")
  public boolean managesOffsets() {
    return true;
  }

  /**
   * Writes what was put since the last commit, the offsets and the position, all or nothing; it survives the end of the
   * process, and loss of power where the medium allows it.
   *
   * @throws ProcessorStateException if it cannot be written; the store is then as the last commit left it
   */
  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {
    commitWith(changelogOffsets);
  }

  /** The same without offsets, for versions of Kafka where stores are given none. */
  @Override
  @Deprecated
  public void flush() {
    commitWith(null);
  }

  private void commitWith(Map<TopicPartition, Long> offsets) {
    StoreDatabase current = open();
    synchronized (current.position()) {
      committing();
      current.commit(offsets);
    }
  }

  /**
   * Under exactly-once Kafka does not tell stores of each commit, but of its beginning. If the task went on since the last one
   * began, that one has succeeded, and what was put before it is written. Else the task is ending, and it may have failed.
   */
  private void commitBegins() {
    Object at = context.recordMetadata().orElse(null);
    if (!open || at == null || at == sealedAt) {
      return;
    }
    sealedAt = at;
    synchronized (database.position()) {
      committing();
      database.seal(writtenOffsets());
    }
  }

  /**
   * The offset up to which the changelog is known to have what was put. A table whose changelog is its own input has what it has
   * read of it.
   */
  private Map<TopicPartition, Long> writtenOffsets() {
    String changelog = ((InternalProcessorContext<?, ?>) context).changelogFor(name);
    if (changelog == null || !(context instanceof RecordCollector.Supplier)) {
      return Map.of();
    }
    TopicPartition partition = new TopicPartition(changelog, context.taskId().partition());
    Long offset = ((RecordCollector.Supplier) context).recordCollector().offsets().get(partition);
    Long read = database.position().getPartitionPositions(changelog).get(partition.partition());
    return offset == null && read == null ? Map.of() : Map.of(partition, offset == null ? read : offset);
  }

  @Override
  public Long committedOffset(TopicPartition partition) {
    return open().committedOffset(partition);
  }

  /**
   * Closes the database. Under exactly-once what was not committed is forgotten; under at-least-once it is written first, as
   * RocksDB's stores keep it. A second call does nothing.
   *
   * @throws ProcessorStateException if it cannot be written; the database is closed then, too
   */
  @Override
  public void close() {
    boolean wasOpen = open;
    open = false;
    if (database == null) {
      return;
    }
    synchronized (database.position()) {
      try {
        if (wasOpen && !exactlyOnce) {
          spill(database);
        }
      } finally {
        database.close();
      }
    }
  }

  @Override
  public Position getPosition() {
    return database == null ? Position.emptyPosition() : database.position();
  }

  @Override
  public <R> QueryResult<R> query(Query<R> query, PositionBound positionBound, QueryConfig config) {
    return StoreQueryUtils.handleBasicQueries(query, positionBound, config, this, getPosition(), context);
  }

  // ---- For the stores. ----

  /** Answers a query that Kafka's own helper does not know, as it answers the others. */
  final <R> QueryResult<R> answer(Query<R> query, PositionBound bound, QueryConfig config, Change<R> result) {
    long start = System.nanoTime();
    Position position = getPosition();
    synchronized (position) {
      QueryResult<R> answer = StoreQueryUtils.isPermitted(position, bound, context.taskId().partition())
          ? QueryResult.forResult(result.make())
          : QueryResult.notUpToBound(position, bound, context.taskId().partition());
      if (config.isCollectExecutionInfo()) {
        answer.addExecutionInfo("Handled in " + getClass() + " in " + (System.nanoTime() - start) + "ns");
      }
      answer.setPosition(position.copy());
      return answer;
    }
  }

  /** The context of the task. */
  final StateStoreContext context() {
    return context;
  }

  /** The database; throws InvalidStateStoreException where it is closed. */
  final StoreDatabase open() {
    if (!open) {
      throw new InvalidStateStoreException("Store " + name + " is currently closed");
    }
    return database;
  }

  /** A change that a task makes. */
  interface Change<T> {
    T make();
  }

  /** Makes a change for the record that the task is at. */
  final <T> T change(Change<T> change) {
    StoreDatabase current = open();
    synchronized (current.position()) {
      StoreQueryUtils.updatePosition(current.position(), context);
      T result = change.make();
      if (current.bufferedBytes() > mostBuffered) {
        relieve(current);
      }
      return result;
    }
  }

  /** Makes the metric of dropped records, which is there before one is dropped, as with Kafka's own stores. */
  final void dropsRecords() {
    dropped = TaskMetrics.droppedRecordsSensor(Thread.currentThread().getName(), context.taskId().toString(),
        (StreamsMetricsImpl) context.metrics());
  }

  /** Counts a record that came when its time was over. Those of a restore came before that, and are not counted. */
  final void recordDropped() {
    dropped.record();
  }

  /** Under exactly-once nothing may be written before the commit. */
  private void relieve(StoreDatabase current) {
    if (!exactlyOnce) {
      spill(current);
    } else if (context instanceof ProcessingContext) {
      ((ProcessingContext) context).commit();
    }
  }

  /** What a changelog has is committed, so a restore writes it at once. A closed store is opened, as those of RocksDB are. */
  private void restoreBatch(Collection<ConsumerRecord<byte[], byte[]>> records) {
    if (!open) {
      openDatabase();
    }
    StoreDatabase current = open();
    synchronized (current.position()) {
      for (ConsumerRecord<byte[], byte[]> record : records) {
        ChangelogRecordDeserializationHelper.applyChecksAndUpdatePosition(record, consistent, current.position());
        restore(record);
      }
      spill(current);
    }
  }

  /** Under the monitor: writes what was put, without offsets, so that a restore writes it once more. */
  private void spill(StoreDatabase current) {
    committing();
    current.spill();
  }
}
