#include "benchmarks/db_bench/driver.h"

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <utility>

#include "benchmarks/common/clock/sleep.h"
#include "benchmarks/common/counters.h"
#include "benchmarks/common/draw/fnv.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/common/output.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/measure/stats.h"
#include "benchmarks/db_bench/replay/replay.h"
#include "benchmarks/db_bench/report.h"
#include "benchmarks/db_bench/runner.h"

namespace miodb::bench {

namespace {

constexpr int64_t kEntriesPerReopen = 10000;

// Prints at once, so that a reader of a pipe sees each result when it is there.
void Print(const std::string& text) {
  std::fputs(text.c_str(), Output());
  std::fflush(Output());
}

// The stream of random numbers of a benchmark: its name matters, so that a read phase in a process of its own does not
// draw the keys of the write phase in another; its place matters, so that a repeated name draws new ones.
uint64_t RandomStream(std::string_view name, uint64_t place) { return Fnv(name) ^ place; }

}  // namespace

std::vector<std::string> SplitList(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) names.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

int Driver::Run() {
  std::vector<Task> tasks;
  for (const std::string& element : SplitList(config_.benchmarks)) {
    std::string problem = ParseTask(element, &tasks.emplace_back());
    if (problem.empty()) problem = ProblemOf(tasks.back());
    if (problem.empty()) continue;
    std::fprintf(Messages(), "%s\n", problem.c_str());
    return 1;
  }
  const std::string peer = PeerHeader(config_, *engine_);  // asks in processes, so before there are threads
  traces_ = !config_.trace.trace_file.empty() && std::none_of(tasks.begin(), tasks.end(), [](const Task& task) {
    return task.benchmark->action == Action::kReplay;
  });
  if (!StartReports()) {
    std::fprintf(Messages(), "%s\n", error_.c_str());
    return 1;
  }
  std::fputs(EnvironmentHeader(*engine_).c_str(), Messages());
  Print(peer + WorkloadHeader(config_, *engine_));

  for (const Task& task : tasks) {
    if (Interrupt::StopRequested()) break;
    if (RunTask(task)) continue;
    error_ = std::string(task.benchmark->name) + ": " + error_;
    break;
  }
  Close(/*is_last=*/true);
  interval_report_.reset();

  if (Interrupt::Signal() != 0) {
    std::fprintf(Messages(), "interrupted: figures cover what was done until then\n");
    return 128 + Interrupt::Signal();
  }
  if (error_.empty()) return 0;
  std::fprintf(Messages(), "%s\n", error_.c_str());
  return 1;
}

// The files that are written while benchmarks run.
bool Driver::StartReports() {
  if (config_.report_interval_seconds > 0 && !config_.report_file.empty()) {
    interval_report_ = IntervalReport::Start(config_.report_file, config_.report_interval_seconds, &error_);
  }
  if (error_.empty()) latency_report_ = LatencyReport::Start(config_, &error_);
  return error_.empty();
}

void Driver::BeginLatencies(const Benchmark& benchmark) {
  if (latency_report_ != nullptr) latency_report_->Begin(std::string(benchmark.name));
}

void Driver::EndLatencies() {
  const std::string problem = latency_report_ == nullptr ? "" : latency_report_->End();
  if (error_.empty()) error_ = problem;
}

// The problem of a benchmark, given the flags, or nothing.
std::string Driver::ProblemOf(const Task& task) const {
  const Benchmark& benchmark = *task.benchmark;
  if (!config_.readonly || benchmark.is_fresh || !benchmark.Writes(config_)) return "";
  return std::string(benchmark.name) + ": it writes, which --readonly excludes";
}

bool Driver::RunTask(const Task& task) {
  const Benchmark& benchmark = *task.benchmark;
  if (benchmark.is_fresh && config_.use_existing_db) {
    Print(SkippedLine(benchmark.name, "--use_existing_db is true"));
    return true;
  }
  if (task.warmups > 0) {
    Print("Warming up benchmark by running " + std::to_string(task.warmups) + " times\n");
  }
  for (int64_t i = 0; i < task.warmups && !Interrupt::StopRequested(); i++) {
    if (!RunOne(benchmark)) return false;
  }
  const bool is_measured = benchmark.action == Action::kWorkload || benchmark.action == Action::kMicro;
  if (task.runs > 1) Print("Running benchmark for " + std::to_string(task.runs) + " times\n");
  RepeatedTotals repeated;
  int64_t done = 0;
  for (; done < task.runs && !Interrupt::StopRequested(); done++) {
    if (!RunOne(benchmark)) return false;
    if (task.runs == 1 || !is_measured) continue;
    repeated.Add(totals_);
    Print(repeated.Line(benchmark.name, config_.confidence_interval_only));
  }
  if (task.runs > 1 && is_measured && done > 0) {
    Print(repeated.FinalLines(benchmark.name, config_.confidence_interval_only));
  }
  return true;
}

bool Driver::RunOne(const Benchmark& benchmark) {
  started_++;
  if (benchmark.action == Action::kMicro) return RunWorkload(benchmark);
  if (benchmark.action == Action::kRecover) return RunRecover(benchmark);
  if (!(benchmark.is_fresh ? Fresh() : EnsureOpen())) return false;
  is_used_ = true;
  reads_ = engine_->CountReads();
  if (benchmark.action != Action::kWorkload) return RunAction(benchmark);
  if (traces_ && !is_traced_ && !StartTrace()) return false;
  return RunWorkload(benchmark);
}

bool Driver::RunWorkload(const Benchmark& benchmark) {
  const bool needs_store = benchmark.action == Action::kWorkload;
  if (needs_store && config_.use_existing_keys && !LoadExistingKeys()) return false;
  Workload workload(config_, needs_store ? existing_keys_.get() : nullptr);
  if (benchmark.adjust != nullptr) benchmark.adjust(&workload);
  const Job job = {benchmark.work, benchmark.has_background_thread, RandomStream(benchmark.name, started_ - 1),
                   interval_report_ != nullptr ? interval_report_->counter() : nullptr, latency_report_.get()};
  BeginLatencies(benchmark);
  const RunResult result = RunThreads(config_, needs_store ? engine_ : nullptr, workload, job);
  error_ = result.error;
  EndLatencies();
  if (!result.error.empty()) return false;
  totals_ = result.stats.totals();
  user_bytes_ += result.stats.counts.written_bytes;
  PrintResult(benchmark, result.stats);
  return error_.empty();
}

// Once; what benchmarks put and delete later changes nothing.
bool Driver::LoadExistingKeys() {
  if (existing_keys_ != nullptr) return true;
  auto keys = std::make_unique<ExistingKeys>();
  const std::unique_ptr<Session> session = engine_->NewSession(SessionOptions());
  const std::unique_ptr<Cursor> cursor = session->NewCursor();
  Entry entry;
  for (bool valid = cursor->SeekToFirst(&entry); valid && !Interrupt::StopRequested(); valid = cursor->Next(&entry)) {
    keys->Add(entry.key);
  }
  if (!Succeed(cursor->Check(), "iterator")) return false;
  const int64_t count = static_cast<int64_t>(keys->count());
  if (count == 0) error_ = "--use_existing_keys: the database has no keys";
  if (count > 0) error_ = CheckRanges(config_.mixgraph, count, "the keys that there are");
  Print("Existing keys: " + std::to_string(count) + "\n");
  existing_keys_ = std::move(keys);
  return error_.empty();
}

bool Driver::RunAction(const Benchmark& benchmark) {
  switch (benchmark.action) {
    case Action::kOpen:
      return RunOpen(benchmark);
    case Action::kKill:
      return std::raise(SIGKILL) == 0;  // Does not return.
    case Action::kCompact:
      return RunTimed(benchmark, [this] { return engine_->CompactAll(); });
    case Action::kFlush:
      return RunTimed(benchmark, [this] { return engine_->Flush(); });
    case Action::kWait:
    case Action::kWaitForCompaction:
      return WaitForIdle(benchmark.action);
    case Action::kPause:
      SleepUntil(Ticks::MonotonicNanos() + static_cast<uint64_t>(config_.pause_seconds * 1e9),
                 Interrupt::StopRequested);
      return true;
    case Action::kStats:
      PrintText(Engine::Text::kStats);
      Print(CountersText(engine_->ReadCounters(), engine_->PersistMode()));
      return true;
    case Action::kLevelStats:
      PrintText(Engine::Text::kLevelStats);
      return true;
    case Action::kSstables:
      PrintText(Engine::Text::kSstables);
      return true;
    case Action::kMemoryStats:
      PrintText(Engine::Text::kMemory);
      return true;
    case Action::kReplay:
      return RunReplay(benchmark);
    case Action::kNotAvailable:
      Print(NotAvailableLine(benchmark.name));
      return true;
    case Action::kWorkload:
    case Action::kMicro:
    case Action::kRecover:
      break;
  }
  return true;
}

bool Driver::RunTimed(const Benchmark& benchmark, const std::function<Outcome()>& call) {
  Stats stats(config_, 0, false);
  stats.Start();
  const Outcome outcome = call();
  stats.FinishedOp(OpType::kOther);
  stats.Stop();
  if (!Succeed(outcome, benchmark.name)) return false;
  if (Interrupt::StopRequested()) return true;  // it was not finished
  PrintResult(benchmark, stats);
  return true;
}

// Times reopening a store that was closed in order. The first closing, of the used store, is not timed.
bool Driver::RunOpen(const Benchmark& benchmark) {
  Close(/*is_last=*/false);
  if (!EnsureOpen()) return false;
  Stats stats(config_, 0, true);
  stats.Start();
  const int64_t cycles = std::max<int64_t>(1, config_.num / kEntriesPerReopen);
  for (int64_t i = 0; i < cycles && !Interrupt::StopRequested(); i++) {
    engine_->Close();
    is_open_ = false;
    if (!EnsureOpen()) return false;
    stats.FinishedOp(OpType::kOther);
  }
  stats.Stop();
  PrintResult(benchmark, stats);
  return true;
}

// Times one opening of the store as the last process left it, recovery included.
bool Driver::RunRecover(const Benchmark& benchmark) {
  if (!config_.use_existing_db) {
    Print(SkippedLine(benchmark.name, "--use_existing_db is false"));
    return true;
  }
  Close(/*is_last=*/false);
  Stats stats(config_, 0, false);
  stats.Start();
  if (!EnsureOpen()) return false;
  stats.FinishedOp(OpType::kOther);
  stats.Stop();
  is_used_ = true;
  PrintResult(benchmark, stats);
  return true;
}

bool Driver::WaitForIdle(Action action) {
  const bool is_rocksdb_name = action == Action::kWaitForCompaction;
  if (is_rocksdb_name) Print("waitforcompaction(" + config_.db + "): started\n");
  const uint64_t start = Ticks::MonotonicNanos();
  const Outcome outcome = engine_->WaitForIdle();
  const uint64_t seconds = (Ticks::MonotonicNanos() - start) / 1000000000u;
  if (!Succeed(outcome, "wait")) return false;
  if (Interrupt::StopRequested()) return true;  // it was not finished
  if (is_rocksdb_name) {
    Print("waitforcompaction(" + config_.db + "): finished with status (OK)\n");
  } else {
    Print("Wait balance:" + std::to_string(seconds) + " s\n");
  }
  return true;
}

bool Driver::RunReplay(const Benchmark& benchmark) {
  if (config_.trace.trace_file.empty()) error_ = "--trace_file is missing: it names the trace to replay";
  if (config_.threads > 1) error_ = "--threads must be 1; --trace_replay_threads says how many replay";
  if (!error_.empty()) return false;
  BeginLatencies(benchmark);
  const ReplayResult result = bench::RunReplay(config_, engine_, latency_report_.get());
  EndLatencies();
  if (result.began) {
    if (result.outcome.ok()) Print("Replay completed from trace_file: " + config_.trace.trace_file + "\n");
    totals_ = result.stats.totals();
    user_bytes_ += result.stats.counts.written_bytes;
    PrintResult(benchmark, result.stats);
    Print(result.summary);
  }
  return Succeed(result.outcome, benchmark.name) && error_.empty();
}

// A trace is of one open store: when the store is made anew or reopened, the next trace gets a number behind its name.
bool Driver::StartTrace() {
  trace_count_++;
  const std::string path = config_.trace.trace_file + (trace_count_ == 1 ? "" : "." + std::to_string(trace_count_));
  is_traced_ = Succeed(engine_->StartTrace(path, config_.trace.settings), "trace");
  if (is_traced_) Print("Tracing the workload to: [" + path + "]\n");
  return is_traced_;
}

void Driver::EndTrace() {
  if (!is_traced_) return;
  is_traced_ = false;
  const Outcome outcome = engine_->EndTrace();
  if (error_.empty()) Succeed(outcome, "trace");
}

bool Driver::EnsureOpen() {
  if (is_open_) return true;
  if (!was_prepared_ && !config_.use_existing_db && !Succeed(engine_->Destroy(), "destroy")) return false;
  was_prepared_ = true;
  user_bytes_ = 0;
  io_bytes_ = ProcessBytesWritten();
  is_open_ = Succeed(engine_->Open(), "open");
  if (is_open_ && !std::exchange(was_file_mode_noted_, true)) {
    std::fputs(FileModeNote(config_, engine_->PersistMode()).c_str(), Messages());
  }
  if (!is_open_ && config_.use_existing_db) error_ += "; --use_existing_db takes the database at --db and makes none";
  is_used_ = false;
  return is_open_;
}

bool Driver::Fresh() {
  Close(/*is_last=*/false);
  was_prepared_ = false;
  return EnsureOpen();
}

bool Driver::Succeed(const Outcome& outcome, const std::string& what) {
  if (!outcome.ok()) error_ = what + " error: " + outcome.message;
  return outcome.ok();
}

void Driver::PrintText(Engine::Text which) {
  std::string text;
  Print("\n" + (engine_->Describe(which, &text) ? text : "(failed)") + "\n");
}

void Driver::PrintResult(const Benchmark& benchmark, const Stats& stats) {
  const std::string message = benchmark.message != nullptr ? benchmark.message(config_, stats) : "";
  if (!config_.LeveldbStyle() && benchmark.action != Action::kMicro) Print("DB path: [" + config_.db + "]\n");
  Print(ResultLine(config_, benchmark.name, stats.totals(), message) + LatencyText(config_, stats));
  if (config_.comparisons && is_open_) {
    const uint64_t total = engine_->Comparisons();
    Print("Comparisons: " + std::to_string(total - comparisons_) + "\n");
    comparisons_ = total;
  }
  if (benchmark.action != Action::kMicro) PrintReads();
}

// Prints the reads of the benchmark, in the form of RocksDB's db_bench.
void Driver::PrintReads() {
  if (!is_open_) return;
  const Engine::ReadCounts now = engine_->CountReads();
  if (now.empty()) return;
  std::string text;
  for (size_t i = 0; i < now.size(); i++) {
    // A store that was opened anew has begun to count anew.
    const uint64_t before = i < reads_.size() && reads_[i].second <= now[i].second ? reads_[i].second : 0;
    text += (i == 0 ? "" : ", ") + now[i].first + " = " + std::to_string(now[i].second - before);
  }
  Print("PERF_CONTEXT:\n" + text + "\n");
}

void Driver::Close(bool is_last) {
  if (!is_open_) return;
  EndTrace();
  const Engine::Counters counters = engine_->ReadCounters();
  const std::string persist_mode = engine_->PersistMode();
  std::string reads;
  for (const auto& [name, count] : engine_->CountReads()) reads += name + ": " + std::to_string(count) + "\n";
  engine_->Close();
  is_open_ = false;
  if (!is_used_) return;
  if (is_last) Print(reads);
  // The three lines come last, because scripts take the last ones they find.
  if (counters.empty()) {
    if (is_last) Print(FileBytesText(static_cast<uint64_t>(user_bytes_), ProcessBytesWritten() - io_bytes_));
  } else {
    Print((is_last ? CountersText(counters, persist_mode) : "") + ClosingLines(counters));
  }
}

}  // namespace miodb::bench
