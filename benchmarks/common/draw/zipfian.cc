#include "benchmarks/common/draw/zipfian.h"

#include <algorithm>
#include <cmath>

namespace miodb::bench {

namespace {

// The terms below this are summed one by one, the rest by the Euler-Maclaurin formula with two correction terms, whose
// error is then far below the rounding of doubles.
constexpr uint64_t kExactTerms = 1000;

// Growing by more than this takes the closed form instead of term after term.
constexpr uint64_t kMaxStepwise = 256;

double SumStepwise(uint64_t first, uint64_t last, double theta) {
  double sum = 0;
  for (uint64_t i = last; i >= first; i--) sum += std::pow(static_cast<double>(i), -theta);
  return sum;
}

}  // namespace

double Zeta(uint64_t n, double theta) {
  if (n <= kExactTerms) return SumStepwise(1, n, theta);
  const double m = static_cast<double>(kExactTerms);
  const double x = static_cast<double>(n);
  const double s = 1 - theta;
  const double integral = std::pow(m, s) * std::expm1(s * std::log(x / m)) / s;
  const double ends = (std::pow(m, -theta) + std::pow(x, -theta)) / 2;
  const double slope = theta / 12 * (std::pow(m, -theta - 1) - std::pow(x, -theta - 1));
  const double third = theta * (theta + 1) * (theta + 2) / 720 * (std::pow(m, -theta - 3) - std::pow(x, -theta - 3));
  return SumStepwise(1, kExactTerms - 1, theta) + integral + ends + slope - third;
}

Zipfian::Zipfian(uint64_t items, double theta)
    : items_(items),
      theta_(theta),
      alpha_(1 / (1 - theta)),
      half_to_theta_(std::pow(0.5, theta)),
      zeta_(Zeta(items, theta)) {
  Derive();
}

void Zipfian::Derive() {
  const double n = static_cast<double>(items_);
  // With two items or fewer Rank never gets as far as eta.
  eta_ = items_ > 2 ? (1 - std::pow(2 / n, 1 - theta_)) / (1 - (1 + half_to_theta_) / zeta_) : 0;
}

void Zipfian::Grow(uint64_t items) {
  if (items == items_) return;
  if (items - items_ > kMaxStepwise) {
    zeta_ = Zeta(items, theta_);
  } else {
    zeta_ += SumStepwise(items_ + 1, items, theta_);
  }
  items_ = items;
  Derive();
}

uint64_t Zipfian::Rank(double uniform) const {
  const double scaled = uniform * zeta_;
  if (scaled < 1 || items_ == 1) return 0;
  if (scaled < 1 + half_to_theta_ || items_ == 2) return 1;
  const double n = static_cast<double>(items_);
  const double rank = n * std::pow(eta_ * uniform - eta_ + 1, alpha_);
  return std::min(static_cast<uint64_t>(rank), items_ - 1);
}

}  // namespace miodb::bench
