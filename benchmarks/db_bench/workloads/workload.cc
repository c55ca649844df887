#include "benchmarks/db_bench/workloads/workload.h"

#include <cmath>

#include "benchmarks/db_bench/config/config.h"

namespace miodb::bench {

namespace {

constexpr size_t kCacheLineBytes = 64;
// A prime, so that multiplication by it modulo the number of keys maps them one to one.
constexpr uint64_t kSpreadPrime = 0x9e3779b1u;

RateLimiter SineLimiter(const MixgraphConfig& config) {
  return RateLimiter([&config](double seconds) { return config.SineRate(seconds); },
                     static_cast<uint64_t>(config.sine_write_rate_interval_milliseconds) * 1000000u);
}

}  // namespace

Workload::Workload(const Config& config, const ExistingKeys* existing)
    : existing_keys(existing),
      threads(static_cast<int>(config.threads)),
      num(config.Writes()),
      reads(config.Reads()),
      writes(config.Writes()),
      deletes(config.Deletes()),
      readwrites(config.ReadWrites()),
      key_space(existing != nullptr ? existing->count() : static_cast<uint64_t>(config.num)),
      batch_size(config.batch_size),
      value_sizes(config),
      block_size(config.options.block_size),
      duration_seconds(config.duration),
      multiread_stride(config.multiread_stride),
      seek_nexts(config.seek_nexts),
      max_scan_distance(static_cast<uint64_t>(config.max_scan_distance)),
      read_percent(config.readwritepercent),
      delete_percent(config.deletepercent),
      merge_keys(config.merge_keys),
      merge_read_percent(config.mergereadpercent),
      read_exp_range(config.read_random_exp_range),
      zipf_theta(config.zipf_theta),
      overwrite_probability(config.overwrite_probability),
      overwrite_window(static_cast<uint64_t>(config.overwrite_window_size)),
      write_rate_limit(config.benchmark_write_rate_limit),
      read_rate_limit(config.benchmark_read_rate_limit),
      finish_after_writes(config.finish_after_writes),
      sync(config.sync),
      single_deletes(config.use_single_deletes),
      reverse(config.reverse_iterator),
      touch_values(config.touch_values),
      compression(config.Compression() == "none" ? "snappy" : config.Compression()),
      zstd_level(config.options.zstd_compression_level),
      mixgraph(&config.mixgraph) {}

RunState::RunState(const Workload& workload, uint64_t shared_seed)
    : seed(shared_seed),
      write_limiter(workload.mixgraph->sine_write_rate ? SineLimiter(*workload.mixgraph)
                                                       : RateLimiter(workload.write_rate_limit)),
      read_limiter(workload.read_rate_limit),
      running_(workload.threads) {}

void RunState::Fail(const std::string& error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error_.empty()) error_ = error;
  Interrupt::RequestStop();
}

std::string RunState::error() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

ThreadState::ThreadState(const Config& config, const Workload& run_workload, const ValuePool& pool, RunState* run_state,
                         uint64_t seed, int thread_index, bool reports_progress)
    : workload(run_workload),
      run(run_state),
      thread(thread_index),
      random(seed),
      key(KeyFormat(config), run_workload.existing_keys),
      values(pool, random.Next()),
      stats(config, thread_index, reports_progress) {}

bool ThreadState::Check(Code code, const char* what) {
  if (code != Code::kError) return true;
  run->Fail(std::string(what) + " error: " + session->error());
  return false;
}

bool ThreadState::Check(const Outcome& outcome, const char* what) {
  if (outcome.ok()) return true;
  run->Fail(std::string(what) + " error: " + outcome.message);
  return false;
}

uint64_t ThreadState::ReadKey() {
  uint64_t rank;
  if (workload.read_zipf != nullptr) {
    rank = workload.read_zipf->Rank(random.Unit());
  } else if (workload.read_exp_range > 0) {
    const double scale = std::exp(-workload.read_exp_range * random.Unit());
    rank = static_cast<uint64_t>(static_cast<double>(workload.key_space) * scale);
  } else {
    return RandomKey();
  }
  return static_cast<uint64_t>(static_cast<unsigned __int128>(rank) * kSpreadPrime % workload.key_space);  // NOLINT
}

void ThreadState::AwaitTurn(RateLimiter* limiter, uint64_t units) {
  const uint64_t begin = Ticks::Now();
  // A background thread also wakes up when the others are done, unless it has work of its own to finish.
  limiter->Await(units, [this] {
    return Interrupt::StopRequested() || (!run->MeasuredThreadsRun() && !workload.finish_after_writes);
  });
  stats.SkipTime(begin);
}

bool ThreadState::GetOne(uint64_t number) {
  AwaitRead(1);
  const std::string_view bytes = key.Make(number);
  std::string_view value;
  const Code code = session->Get(bytes, &value);
  if (!Check(code, "get")) return false;
  stats.counts.reads++;
  if (code == Code::kOk) {
    stats.counts.found++;
    Consume(bytes, value);
  }
  return true;
}

bool ThreadState::PutOne(uint64_t number) {
  const std::string_view bytes = key.Make(number);
  const std::string_view value = NextValue();
  AwaitWrite(bytes.size() + value.size());
  if (!Check(session->Put(bytes, value), "put")) return false;
  stats.counts.writes++;
  CountWritten(bytes.size() + value.size());
  return true;
}

bool ThreadState::MergeOne(uint64_t number) {
  const std::string_view bytes = key.Make(number);
  const std::string_view operand = NextValue();
  AwaitWrite(bytes.size() + operand.size());
  if (!Check(session->Merge(bytes, operand), "merge")) return false;
  stats.counts.writes++;
  CountWritten(bytes.size() + operand.size());
  return true;
}

void ThreadState::Consume(std::string_view record_key, std::string_view value) {
  stats.AddBytes(record_key.size() + value.size());
  if (!workload.touch_values) return;
  for (size_t i = 0; i < value.size(); i += kCacheLineBytes) consumed += static_cast<unsigned char>(value[i]);
}

}  // namespace miodb::bench
