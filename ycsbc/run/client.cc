#include "ycsbc/run/client.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "ycsbc/run/status.h"

namespace miodb::ycsb {

namespace {

using bench::Ticks;

constexpr uint64_t kOpsPerTimeseriesLine = 100;

// The objects of a thread. Aligned, so that no two threads write to one cache line.
struct alignas(128) Client {
  Client(const Settings& settings, bool with_intervals, uint64_t start_nanos)
      : recorder(settings, with_intervals, start_nanos) {}

  Recorder recorder;
  uint64_t quota = 0;
  std::atomic<uint64_t> done{0};  // Relaxed: for progress lines, and read after the join.
  uint64_t end_nanos = 0;
};

// Wakes the watcher when the last thread ends.
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  size_t threads;  // Guarded by mutex.
};

// The threads make ready, then the start is noted, then they go.
struct Gates {
  explicit Gates(size_t threads) : ready(static_cast<std::ptrdiff_t>(threads)), go(1) {}

  std::latch ready;
  std::latch go;
};

// Keeps this thread on one of the CPUs that the process may use.
void PinThread(size_t index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  size_t left = index % static_cast<size_t>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

// The line of MioDB's driver for "count" operations.
void PrintTimeseriesLine(uint64_t number, uint64_t count, uint64_t nanos) {
  const double micros = static_cast<double>(nanos > 0 ? nanos : 1) / 1e3;
  const double ops = static_cast<double>(count);
  std::printf("No.%llu %llu opeartions: use time:%.3f us  IOPS:%.2f iops  average latency:%.3f micros/op\n\n",
              static_cast<unsigned long long>(number), static_cast<unsigned long long>(count), micros,
              ops * 1e6 / micros, micros / ops);
}

void DoOperations(Phase* phase, Client* client, Worker* worker, Pacer* pacer) {
  const bool with_lines = phase->settings.timeseries;
  uint64_t line_start = with_lines ? Ticks::Now() : 0;
  for (uint64_t done = 0; done < client->quota;) {
    const uint64_t late_nanos = pacer->Await();
    if (phase->IsStopped()) break;
    worker->Do(late_nanos);
    client->done.store(++done, std::memory_order_relaxed);
    if (with_lines && done % kOpsPerTimeseriesLine == 0) {
      const uint64_t now = Ticks::Now();
      PrintTimeseriesLine(done / kOpsPerTimeseriesLine, kOpsPerTimeseriesLine, Ticks::NanosBetween(line_start, now));
      line_start = Ticks::Now();
    }
  }
}

class PhaseRun {
 public:
  PhaseRun(const Settings& settings, const RateSchedule& schedule, PhaseKind kind, uint64_t stream,
           bench::Engine* engine, bench::HdrLogs* hdr_logs)
      : schedule_(schedule),
        stream_(stream),
        engine_(engine),
        phase_(settings, kind),
        status_(settings, kind, hdr_logs),
        total_(kind == PhaseKind::kLoad ? settings.LoadedRecords() : static_cast<uint64_t>(settings.operationcount)) {
    if (total_ == 0) total_ = std::numeric_limits<uint64_t>::max();
  }

  PhaseResult Run();

 private:
  void RunThread(size_t index, Running* running, Gates* gates);
  void Watch(Running* running);
  void Report(bool is_last);
  uint64_t Done() const;

  const RateSchedule& schedule_;
  const uint64_t stream_;
  bench::Engine* const engine_;
  Phase phase_;
  StatusReporter status_;
  uint64_t total_;
  uint64_t start_nanos_ = 0;
  std::vector<std::unique_ptr<Client>> clients_;
};

void PhaseRun::RunThread(size_t index, Running* running, Gates* gates) {
  const Settings& settings = phase_.settings;
  if (settings.pinthreads) PinThread(index);
  Client* const client = clients_[index].get();
  std::unique_ptr<bench::Session> session = engine_->NewSession(bench::SessionOptions{settings.engine.sync});
  Worker worker(&phase_, session.get(), &client->recorder,
                bench::MixSeed(static_cast<uint64_t>(settings.seed), stream_, index));
  gates->ready.count_down();
  gates->go.wait();
  Pacer pacer(schedule_, phase_, clients_.size(), index, start_nanos_);
  DoOperations(&phase_, client, &worker, &pacer);
  client->end_nanos = Ticks::MonotonicNanos();

  const uint64_t start = Ticks::Now();
  session.reset();
  client->recorder.Record(Op::kCleanup, Result::kOk, start, Ticks::Now(), 0);
  const std::lock_guard<std::mutex> lock(running->mutex);
  running->threads--;
  running->changed.notify_one();
}

uint64_t PhaseRun::Done() const {
  uint64_t done = 0;
  for (const auto& client : clients_) done += client->done.load(std::memory_order_relaxed);
  return done;
}

void PhaseRun::Report(bool is_last) {
  IntervalSummary interval;
  for (const auto& client : clients_) client->recorder.TakeInterval(&interval);
  status_.Report(Ticks::MonotonicNanos() - start_nanos_, Done(), total_, interval, is_last);
}

// Waits for the threads; meanwhile reports, and ends the phase when its time is over.
void PhaseRun::Watch(Running* running) {
  const Settings& settings = phase_.settings;
  const uint64_t interval = static_cast<uint64_t>(settings.status_interval) * Ticks::kNanosPerSecond;
  const uint64_t deadline = static_cast<uint64_t>(settings.maxexecutiontime) * Ticks::kNanosPerSecond;
  if (status_.is_on()) Report(/*is_last=*/false);
  uint64_t next_report = interval;
  std::unique_lock<std::mutex> lock(running->mutex);
  while (running->threads > 0) {
    const uint64_t now = Ticks::MonotonicNanos() - start_nanos_;
    if (deadline > 0 && now >= deadline) phase_.stop.store(true, std::memory_order_relaxed);
    if (status_.is_on() && now >= next_report) {
      lock.unlock();
      Report(/*is_last=*/false);
      lock.lock();
      next_report += interval;
      continue;
    }
    uint64_t wait = Ticks::kNanosPerSecond / 10;
    if (status_.is_on()) wait = std::min(wait, next_report - now);
    if (deadline > now) wait = std::min(wait, deadline - now);
    running->changed.wait_for(lock, std::chrono::nanoseconds(wait));
  }
}

PhaseResult PhaseRun::Run() {
  const size_t threads = static_cast<size_t>(phase_.settings.threadcount);
  Running running;
  running.threads = threads;
  Gates gates(threads);
  std::vector<std::thread> started;
  start_nanos_ = Ticks::MonotonicNanos();
  for (size_t i = 0; i < threads; i++) {
    clients_.push_back(std::make_unique<Client>(phase_.settings, status_.is_on(), start_nanos_));
    clients_.back()->quota = total_ / threads + (i < total_ % threads ? 1 : 0);
  }
  for (size_t i = 0; i < threads; i++) started.emplace_back(&PhaseRun::RunThread, this, i, &running, &gates);
  gates.ready.wait();
  start_nanos_ = Ticks::MonotonicNanos();
  gates.go.count_down();
  Watch(&running);
  for (std::thread& thread : started) thread.join();
  if (status_.is_on()) Report(/*is_last=*/true);

  PhaseResult result;
  result.kind = phase_.kind;
  result.operations = Done();
  uint64_t end_nanos = start_nanos_;
  for (const auto& client : clients_) {
    end_nanos = std::max(end_nanos, client->end_nanos);
    result.summary.Merge(client->recorder.summary());
  }
  result.seconds = static_cast<double>(end_nanos - start_nanos_) / 1e9;
  result.error = phase_.error().empty() ? status_.error() : phase_.error();
  return result;
}

}  // namespace

PhaseResult RunPhase(const Settings& settings, const RateSchedule& schedule, PhaseKind kind, uint64_t stream,
                     bench::Engine* engine, bench::HdrLogs* hdr_logs) {
  return PhaseRun(settings, schedule, kind, stream, engine, hdr_logs).Run();
}

}  // namespace miodb::ycsb
