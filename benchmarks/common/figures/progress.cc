#include "benchmarks/common/figures/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace miodb::bench {

namespace {

uint64_t NowNanos() {
  return static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

}  // namespace

std::string ProgressText(double share, double seconds) {
  const double done = std::clamp(share, 0.0, 1.0);
  char text[80];
  std::snprintf(text, sizeof(text), "%.0f %%", 100 * done);
  if (done > 0) {
    const double left = seconds / done - seconds;
    const size_t used = std::string(text).size();
    if (left < 120) {
      std::snprintf(text + used, sizeof(text) - used, ", %.0f s left", left);
    } else {
      std::snprintf(text + used, sizeof(text) - used, ", %.0f min left", left / 60);
    }
  }
  return text;
}

ProgressLine::ProgressLine(bool is_shown, uint64_t between_nanos)
    : is_shown_(is_shown),
      between_nanos_(between_nanos),
      start_nanos_(NowNanos()),
      next_nanos_(start_nanos_ + between_nanos) {}

ProgressLine::~ProgressLine() {
  if (has_shown_) std::fputc('\n', stderr);
}

void ProgressLine::Show(const std::string& what, double share) {
  if (!is_shown_) return;
  const uint64_t now = NowNanos();
  if (now < next_nanos_) return;
  next_nanos_ = now + between_nanos_;
  has_shown_ = true;
  const double seconds = static_cast<double>(now - start_nanos_) / 1e9;
  std::fprintf(stderr, "... %s, %s%20s\r", what.c_str(), ProgressText(share, seconds).c_str(), "");
  std::fflush(stderr);
}

}  // namespace miodb::bench
