#include "benchmarks/db_bench/replay/replayer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "benchmarks/common/clock/sleep.h"
#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/db_bench/replay/replay_calls.h"

namespace miodb::bench {

namespace {

constexpr int kMostWorkers = 1024;

// Records that wait for one worker. More would only hide that the database is too slow.
constexpr size_t kMostQueued = 256;

// A copy of a record whose bytes are its own.
struct ReplayJob {
  TraceRecord record;
  uint64_t due_nanos = 0;
  bool keeps_iterators = false;
  std::string bytes;

  void CopyFrom(const TraceRecord& source) {
    record = source;
    bytes.clear();
    size_t total = source.batch.size() + source.key.size() + source.lower_bound.size() + source.upper_bound.size();
    for (const TraceKey& key : source.keys) total += key.key.size();
    bytes.reserve(total);  // so that nothing moves while it is filled
    for (Slice* slice : {&record.batch, &record.key, &record.lower_bound, &record.upper_bound}) Own(slice);
    for (TraceKey& key : record.keys) Own(&key.key);
  }

 private:
  void Own(Slice* slice) {
    const size_t at = bytes.size();
    bytes.append(slice->data(), slice->size());
    *slice = Slice(bytes.data() + at, slice->size());
  }
};

// Makes calls, measures them and keeps the account of one worker.
class Worker {
 public:
  Worker(DB* db, int index, const ReplayOptions& options, std::atomic<bool>* stop)
      : calls_(db), index_(index), options_(options), stop_(stop) {}

  void Make(const TraceRecord& record, uint64_t due_nanos, bool keeps_iterators) {
    const uint64_t written_before = calls_.written_bytes();
    const uint64_t start = Ticks::MonotonicNanos();
    const uint64_t lag_micros = due_nanos != 0 && start > due_nanos ? (start - due_nanos) / 1000 : 0;
    const Status s = calls_.Make(record, keeps_iterators);
    const uint64_t nanos = Ticks::MonotonicNanos() - start;
    ReplayCounts& counts = report_.counts[record.type];
    if (s.IsNotSupportedError()) {
      counts.unsupported++;
      return;
    }
    counts.issued++;
    (s.ok() ? counts.succeeded : counts.failed)++;
    report_.lag_micros_max = std::max(report_.lag_micros_max, lag_micros);
    report_.lag_micros_total += lag_micros;
    if (!s.ok() && (report_.first_failure.ok() || record.offset < report_.first_failure_offset)) {
      report_.first_failure = s;
      report_.first_failure_offset = record.offset;
    }
    if (options_.on_call == nullptr) return;
    ReplayedCall call;
    call.worker = index_;
    call.type = record.type;
    call.nanos = nanos;
    call.lag_micros = lag_micros;
    call.offset = record.offset;
    call.written_bytes = calls_.written_bytes() - written_before;
    // relaxed: a wish, which others may see a call later
    if (!options_.on_call(call)) stop_->store(true, std::memory_order_relaxed);
  }

  void AddTo(ReplayReport* report) const {
    for (const auto& [type, counts] : report_.counts) {
      for (ReplayCounts* sum : {&report->counts[type], &report->total}) {
        sum->issued += counts.issued;
        sum->succeeded += counts.succeeded;
        sum->failed += counts.failed;
        sum->unsupported += counts.unsupported;
      }
    }
    report->steps += calls_.steps();
    report->lag_micros_max = std::max(report->lag_micros_max, report_.lag_micros_max);
    report->lag_micros_total += report_.lag_micros_total;
    if (report_.first_failure.ok()) return;
    if (report->first_failure.ok() || report_.first_failure_offset < report->first_failure_offset) {
      report->first_failure = report_.first_failure;
      report->first_failure_offset = report_.first_failure_offset;
    }
  }

 private:
  ReplayCalls calls_;
  const int index_;
  const ReplayOptions& options_;
  std::atomic<bool>* const stop_;
  ReplayReport report_;
};

// A worker on a thread of its own, with the records that wait for it.
class WorkerThread {
 public:
  explicit WorkerThread(Worker* worker) : worker_(worker) {}
  ~WorkerThread() { Join(); }

  void Start() {
    thread_ = std::thread([this] { Loop(); });
  }

  // Waits while the queue is full.
  void Add(const TraceRecord& record, uint64_t due_nanos, bool keeps_iterators) {
    std::unique_ptr<ReplayJob> job;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return queue_.size() < kMostQueued; });
      if (!unused_.empty()) {
        job = std::move(unused_.back());
        unused_.pop_back();
      }
    }
    if (job == nullptr) job = std::make_unique<ReplayJob>();
    job->CopyFrom(record);
    job->due_nanos = due_nanos;
    job->keeps_iterators = keeps_iterators;
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(job));
    changed_.notify_all();
  }

  // Returns when nothing waits or runs.
  void Drain() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
  }

  // Makes what waits and ends the thread.
  void Join() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

 private:
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !queue_.empty() || closing_; });
      if (queue_.empty()) return;
      std::unique_ptr<ReplayJob> job = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
      lock.unlock();
      worker_->Make(job->record, job->due_nanos, job->keeps_iterators);
      lock.lock();
      busy_ = false;
      unused_.push_back(std::move(job));
      changed_.notify_all();
    }
  }

  Worker* const worker_;
  std::thread thread_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<std::unique_ptr<ReplayJob>> queue_;
  std::vector<std::unique_ptr<ReplayJob>> unused_;
  bool busy_ = false;
  bool closing_ = false;
};

// The key by which a record is given to a worker. False if it concerns several keys of a write.
bool RoutingKey(const TraceRecord& record, Slice* key) {
  if (record.type == kTraceMultiGet) {
    *key = record.keys.empty() ? Slice() : record.keys[0].key;
    return true;
  }
  *key = record.key;
  if (record.type != kTraceWrite) return true;
  TraceUpdates updates(record.batch);
  TraceUpdate update, second;
  if (!updates.Next(&update)) return true;
  *key = update.key;
  return update.kind != TraceUpdate::kDeleteRange && !updates.Next(&second);
}

class Replayer {
 public:
  Replayer(const std::vector<DB*>& views, TraceReader* reader, const ReplayOptions& options)
      : reader_(reader), options_(options) {
    for (size_t i = 0; i < views.size(); i++) {
      workers_.push_back(std::make_unique<Worker>(views[i], static_cast<int>(i), options, &stop_));
    }
    if (workers_.size() == 1) return;
    for (const auto& worker : workers_) threads_.push_back(std::make_unique<WorkerThread>(worker.get()));
  }

  Status Run(ReplayReport* report) {
    try {
      for (const auto& thread : threads_) thread->Start();
    } catch (const std::system_error& error) {
      return Status::IOError("replay", std::string("cannot start a thread: ") + error.what());
    }
    start_nanos_ = Ticks::MonotonicNanos();
    TraceRecord record;
    while (!Stopped() && reader_->Next(&record)) {
      const uint64_t due_nanos = WaitFor(record);
      Issue(record, due_nanos);
    }
    for (const auto& thread : threads_) thread->Join();
    for (const auto& worker : workers_) worker->AddTo(report);
    report->micros = (Ticks::MonotonicNanos() - start_nanos_) / 1000;
    report->stopped = Stopped();
    return reader_->status();
  }

 private:
  // relaxed: a wish
  bool Stopped() const { return stop_.load(std::memory_order_relaxed); }

  // Returns when the record is due, and when that was; 0 without times.
  uint64_t WaitFor(const TraceRecord& record) {
    if (options_.as_fast_as_possible) return 0;
    const uint64_t micros = std::max(record.micros, reader_->start_micros()) - reader_->start_micros();
    const uint64_t due =
        start_nanos_ + static_cast<uint64_t>(std::min(static_cast<double>(micros) * 1e3 / options_.fast_forward, 9e18));
    SleepUntil(due, [this] { return Stopped(); });
    return due;
  }

  void Issue(const TraceRecord& record, uint64_t due_nanos) {
    const bool keeps_iterators = reader_->has_own_records();
    if (threads_.empty()) {
      workers_[0]->Make(record, due_nanos, keeps_iterators);
      return;
    }
    Slice key;
    if (RoutingKey(record, &key)) {
      const size_t index = std::hash<std::string_view>()({key.data(), key.size()}) % threads_.size();
      threads_[index]->Add(record, due_nanos, keeps_iterators);
      return;
    }
    for (const auto& thread : threads_) thread->Drain();
    threads_[0]->Add(record, due_nanos, keeps_iterators);
    threads_[0]->Drain();
  }

  TraceReader* const reader_;
  const ReplayOptions& options_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<WorkerThread>> threads_;  // None with one worker.
  uint64_t start_nanos_ = 0;
};

}  // namespace

Status ReplayTrace(const std::vector<DB*>& views, TraceReader* reader, const ReplayOptions& options,
                   ReplayReport* report) {
  *report = ReplayReport();
  if (!std::isfinite(options.fast_forward) || options.fast_forward <= 0) {
    return Status::InvalidArgument("ReplayOptions::fast_forward", "must be above 0");
  }
  if (views.empty() || views.size() > kMostWorkers) {
    return Status::InvalidArgument("replay workers", std::to_string(views.size()) + " is not 1 to 1024");
  }
  return Replayer(views, reader, options).Run(report);
}

Status ReplayTrace(DB* db, TraceReader* reader, const ReplayOptions& options, ReplayReport* report) {
  *report = ReplayReport();
  if (options.workers < 1 || options.workers > kMostWorkers) {
    return Status::InvalidArgument("ReplayOptions::workers", std::to_string(options.workers) + " is not 1 to 1024");
  }
  return ReplayTrace(std::vector<DB*>(static_cast<size_t>(options.workers), db), reader, options, report);
}

}  // namespace miodb::bench
