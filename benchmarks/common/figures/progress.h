// The progress of long work on stderr: how much is done, and how long the rest may take.

#ifndef MIODB_BENCHMARKS_COMMON_FIGURES_PROGRESS_H_
#define MIODB_BENCHMARKS_COMMON_FIGURES_PROGRESS_H_

#include <cstdint>
#include <string>

namespace miodb::bench {

// "42 %, 12 s left", for a share from 0 to 1 that took so many seconds.
std::string ProgressText(double share, double seconds);

// A line that is written over by the next one, at most once in so many nanoseconds, a second, and never in the first.
//
// Threads: one.
class ProgressLine {
 public:
  static constexpr uint64_t kSecond = 1000000000;

  // Without "is_shown" nothing is.
  explicit ProgressLine(bool is_shown, uint64_t between_nanos = kSecond);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // "... <what>, 42 %, 12 s left"
  void Show(const std::string& what, double share);

 private:
  const bool is_shown_;
  const uint64_t between_nanos_;
  bool has_shown_ = false;
  const uint64_t start_nanos_;
  uint64_t next_nanos_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_FIGURES_PROGRESS_H_
