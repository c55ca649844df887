#include "benchmarks/db_bench/runner.h"

#include <algorithm>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/measure/latency_report.h"

namespace miodb::bench {

namespace {

// Values come from a pool of their own, the same in every benchmark.
constexpr uint64_t kValueStream = ~uint64_t{0};
// In place of a thread's index: for what the threads of a benchmark agree on.
constexpr uint64_t kAllThreads = ~uint64_t{0};

void RunOne(ThreadState* thread, Engine* engine, Work work, bool is_measured, std::latch* start) {
  if (engine != nullptr) thread->session = engine->NewSession(SessionOptions{thread->workload.sync});
  start->arrive_and_wait();
  thread->stats.Start();
  work(thread);
  thread->stats.Stop();
  if (is_measured) thread->run->MeasuredThreadDone();
  thread->session.reset();
}

}  // namespace

RunResult RunThreads(const Config& config, Engine* engine, const Workload& workload, const Job& job) {
  const int first_measured = job.has_background_thread ? 1 : 0;
  const int total = workload.threads + first_measured;
  const uint64_t seed = static_cast<uint64_t>(config.seed);
  const ValuePool pool(MixSeed(seed, kValueStream, 0), config.compression_ratio,
                       std::max(workload.value_sizes.max(), workload.block_size));
  RunState run(workload, MixSeed(seed, job.stream, kAllThreads));
  std::latch start(total);

  std::vector<std::unique_ptr<ThreadState>> states;
  std::vector<std::thread> running;
  running.reserve(static_cast<size_t>(total));
  for (int i = 0; i < total; i++) {
    const uint64_t thread_seed = MixSeed(seed, job.stream, static_cast<uint64_t>(i));
    states.push_back(std::make_unique<ThreadState>(config, workload, pool, &run, thread_seed, i, i == first_measured));
    states.back()->stats.CountInto(job.counter);
    if (job.latencies != nullptr && i >= first_measured) {
      states.back()->stats.RecordInto(job.latencies->NewRecorder());
    }
  }
  for (int i = 0; i < total; i++) {
    running.emplace_back(RunOne, states[static_cast<size_t>(i)].get(), engine, job.work, i >= first_measured, &start);
  }
  for (std::thread& thread : running) thread.join();

  RunResult result{Stats(config, 0, false), run.error()};
  for (int i = first_measured; i < total; i++) result.stats.Merge(states[static_cast<size_t>(i)]->stats);
  if (job.has_background_thread) {
    const Counts& background = states[0]->stats.counts;
    result.stats.counts.background_writes = background.background_writes;
    result.stats.counts.background_scanned = background.background_scanned;
    result.stats.counts.written_bytes += background.written_bytes;
  }
  return result;
}

}  // namespace miodb::bench
