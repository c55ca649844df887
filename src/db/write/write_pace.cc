#include "src/db/write/write_pace.h"

#include <algorithm>

#include "src/util/check/check.h"

namespace miodb {

// Time in which nothing is at work is no time of waiting for a return.
void WritePace::See(const Moment& now) {
  CHECK_GE(now.micros, seen_micros_);
  if (at_work_) work_micros_ += now.micros - seen_micros_;
  seen_micros_ = now.micros;
  at_work_ = now.at_work;
  const uint64_t sum = now.left + taken_;
  if (sum <= sum_ + std::max(now.near / kReturnShare, kReturnChunks * now.chunk)) {
    sum_ = std::min(sum_, sum);
    return;
  }
  sum_ = sum;
  longest_micros_ = std::max(longest_micros_, work_micros_ - returned_micros_);
  returned_micros_ = work_micros_;
  if (++returns_ % kReturnsRemembered != 0) return;
  longest_before_micros_ = longest_micros_;
  longest_micros_ = 0;
}

uint64_t WritePace::Observe(const Moment& now) {
  CHECK(now.left > now.held && now.near > 0);
  See(now);
  const uint64_t left = now.left - now.held;
  if (left >= now.near) returned_micros_ = work_micros_;
  if (left >= now.near || !now.at_work) return 0;
  const uint64_t period = std::max({longest_micros_, longest_before_micros_, work_micros_ - returned_micros_});
  const double nanos_per_byte = static_cast<double>(kPatience * period) * 1000 *
                                (1 / static_cast<double>(left) - 1 / static_cast<double>(now.near));
  DCHECK_GE(nanos_per_byte, 0);
  return static_cast<uint64_t>(std::min(nanos_per_byte * 1024, static_cast<double>(kMostNanos)));
}

}  // namespace miodb
