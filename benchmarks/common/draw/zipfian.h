// Zipf-distributed ranks: rank r (from 0) with a probability in proportion to 1 / (r + 1)^theta, by the method that
// Java YCSB uses (Gray and others, "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994): exact for the
// two most frequent ranks, a closed form for the rest.
//
// Threads: any for Rank while nobody calls Grow. Theta lies in (0, 1).

#ifndef MIODB_BENCHMARKS_COMMON_DRAW_ZIPFIAN_H_
#define MIODB_BENCHMARKS_COMMON_DRAW_ZIPFIAN_H_

#include <cstdint>

#include "benchmarks/common/draw/random.h"

namespace miodb::bench {

// The sum of i^-theta for i = 1..n, to about 14 digits, in constant time.
double Zeta(uint64_t n, double theta);

class Zipfian {
 public:
  Zipfian(uint64_t items, double theta);

  // The rank in [0, items) for a uniform number in [0, 1).
  uint64_t Rank(double uniform) const;
  uint64_t Next(Random* random) const { return Rank(random->Unit()); }

  // Makes it a distribution over more items. Costs two powers for each new item, a little more for many at once.
  // REQUIRES: items >= the present number.
  void Grow(uint64_t items);

  uint64_t items() const { return items_; }
  double zeta() const { return zeta_; }

 private:
  void Derive();

  uint64_t items_;
  const double theta_;
  const double alpha_;
  const double half_to_theta_;
  double zeta_;
  double eta_ = 0;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_DRAW_ZIPFIAN_H_
