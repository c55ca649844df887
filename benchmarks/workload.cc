#include "benchmarks/workload.h"

#include "benchmarks/config.h"

namespace miodb::bench {

namespace {

constexpr size_t kCacheLineBytes = 64;

}  // namespace

Workload::Workload(const Config& config)
    : num(config.Writes()),
      reads(config.Reads()),
      writes(config.Writes()),
      deletes(config.Deletes()),
      readwrites(config.ReadWrites()),
      key_space(static_cast<uint64_t>(config.num)),
      batch_size(config.batch_size),
      value_size(static_cast<size_t>(config.value_size)),
      block_size(static_cast<size_t>(config.block_size)),
      duration_seconds(config.duration),
      seek_nexts(config.seek_nexts),
      read_percent(config.readwritepercent),
      sync(config.sync),
      reverse(config.reverse_iterator),
      touch_values(config.touch_values),
      zstd_level(static_cast<int>(config.zstd_compression_level)) {}

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
      key(KeyFormat(config)),
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

void ThreadState::Consume(std::string_view record_key, std::string_view value) {
  stats.AddBytes(record_key.size() + value.size());
  if (!workload.touch_values) return;
  for (size_t i = 0; i < value.size(); i += kCacheLineBytes) consumed += static_cast<unsigned char>(value[i]);
}

}  // namespace miodb::bench
