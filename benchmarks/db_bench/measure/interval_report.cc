#include "benchmarks/db_bench/measure/interval_report.h"

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstring>

namespace miodb::bench {

std::unique_ptr<IntervalReport> IntervalReport::Start(const std::string& path, int64_t interval_seconds,
                                                      std::string* error) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    *error = "--report_file: cannot write " + path + ": " + std::strerror(errno);
    return nullptr;
  }
  return std::unique_ptr<IntervalReport>(new IntervalReport(file, interval_seconds));
}

IntervalReport::IntervalReport(std::FILE* file, int64_t interval_seconds)
    : file_(file), interval_seconds_(interval_seconds) {
  std::fputs("secs_elapsed,interval_qps\n", file_);
  writer_ = std::thread(&IntervalReport::Run, this);
}

IntervalReport::~IntervalReport() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
  }
  stop_signal_.notify_one();
  writer_.join();
  std::fclose(file_);
}

void IntervalReport::Run() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  int64_t seconds = interval_seconds_;
  while (!stop_signal_.wait_until(lock, start + std::chrono::seconds(seconds), [this] { return is_stopped_; })) {
    WriteRow(seconds);
    seconds += interval_seconds_;
  }
  if (done_.load(std::memory_order_relaxed) > reported_) WriteRow(seconds);
}

void IntervalReport::WriteRow(int64_t seconds) {
  const int64_t done = done_.load(std::memory_order_relaxed);
  std::fprintf(file_, "%" PRId64 ",%" PRId64 "\n", seconds, done - reported_);
  std::fflush(file_);
  reported_ = done;
}

}  // namespace miodb::bench
