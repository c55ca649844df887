// The progress of work that goes over many records: how many, how fast, how much is left. On standard error, if that is
// a terminal, or if it was asked for.
//
// Threads: one.

#ifndef MIODB_TOOLS_MIODB_VERBS_LONG_WORK_H_
#define MIODB_TOOLS_MIODB_VERBS_LONG_WORK_H_

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "benchmarks/common/figures/progress.h"

namespace miodb::tool {

class LongWork {
 public:
  // done: "imported"; share: how much of the work is done, from 0 to 1, asked for once a second.
  LongWork(const char* done, bool always, std::function<double()> share)
      : done_(done),
        is_shown_(always || isatty(STDERR_FILENO) != 0),
        share_(std::move(share)),
        line_(is_shown_, 0),
        start_(std::chrono::steady_clock::now()),
        next_(start_ + std::chrono::seconds(1)) {}

  // Counts a record of so many bytes.
  void Did(uint64_t bytes) {
    records_++;
    bytes_ += bytes;
    if (is_shown_ && records_ % kRecordsBetweenLooks == 0) Look();
  }

  uint64_t records() const { return records_; }

 private:
  static constexpr uint64_t kRecordsBetweenLooks = 256;

  void Look() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(1);
    const double seconds = std::chrono::duration<double>(now - start_).count();
    char text[120];
    std::snprintf(text, sizeof(text), "%s %.0f records, %.0f a second, %.1f MB/s", done_, static_cast<double>(records_),
                  static_cast<double>(records_) / seconds, static_cast<double>(bytes_) / seconds / 1e6);
    line_.Show(text, share_());
  }

  const char* const done_;
  const bool is_shown_;
  const std::function<double()> share_;
  bench::ProgressLine line_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_VERBS_LONG_WORK_H_
