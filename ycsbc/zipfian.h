// Zipf-distributed ranks: rank r (from 0) with a probability in proportion to 1 / (r + 1)^theta, by the method that
// Java YCSB uses (Gray and others, "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994): exact for the
// two most frequent ranks, a closed form for the rest.
//
// Threads: one per generator. Theta lies in (0, 1).

#ifndef MIODB_YCSBC_ZIPFIAN_H_
#define MIODB_YCSBC_ZIPFIAN_H_

#include <cstdint>

#include "benchmarks/common/random.h"

namespace miodb::ycsb {

// The sum of i^-theta for i = 1..n, to about 14 digits, in constant time.
double Zeta(uint64_t n, double theta);

class Zipfian {
 public:
  Zipfian(uint64_t items, double theta);

  // A rank in [0, items).
  uint64_t Next(bench::Random* random);

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

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_ZIPFIAN_H_
