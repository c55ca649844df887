// How often each value occurs: exact counts, and the figures that follow from them.
//
// Threads: one.

#ifndef MIODB_TOOLS_TRACE_DISTRIBUTION_H_
#define MIODB_TOOLS_TRACE_DISTRIBUTION_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace miodb::tools {

class Distribution {
 public:
  void Add(uint64_t value, uint64_t times = 1) {
    total_ += times;
    if (value < kSmall) {
      if (small_.empty()) small_.resize(kSmall);
      small_[value] += times;
    } else {
      large_[value] += times;
    }
  }

  uint64_t total() const { return total_; }

  // Calls visit(value, times) for every value that occurs, in rising order.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (size_t value = 0; value < small_.size(); value++) {
      if (small_[value] != 0) visit(static_cast<uint64_t>(value), small_[value]);
    }
    for (const auto& [value, times] : large_) visit(value, times);
  }

  double Average() const {
    double sum = 0;
    ForEach([&](uint64_t value, uint64_t times) { sum += static_cast<double>(value) * static_cast<double>(times); });
    return total_ == 0 ? 0 : sum / static_cast<double>(total_);
  }

  double Deviation() const {
    const double average = Average();
    double sum = 0;
    ForEach([&](uint64_t value, uint64_t times) {
      const double off = static_cast<double>(value) - average;
      sum += off * off * static_cast<double>(times);
    });
    return total_ == 0 ? 0 : std::sqrt(sum / static_cast<double>(total_));
  }

  // The least value that half of all do not exceed; 0 without any.
  uint64_t Median() const {
    uint64_t below = 0, median = 0;
    bool found = false;
    ForEach([&](uint64_t value, uint64_t times) {
      below += times;
      if (!found && 2 * below >= total_) {
        median = value;
        found = true;
      }
    });
    return median;
  }

 private:
  static constexpr uint64_t kSmall = 4096;  // Values below have a place in an array.

  uint64_t total_ = 0;
  std::vector<uint64_t> small_;
  std::map<uint64_t, uint64_t> large_;
};

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_DISTRIBUTION_H_
