// The models of a workload and their fits to what trace_analyzer counted.
//
// Threads: any; nothing is shared.

#ifndef MIODB_TOOLS_TRACE_FIT_MODELS_H_
#define MIODB_TOOLS_TRACE_FIT_MODELS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace miodb::tools {

// So many observations that lie in (above, upto].
struct Bin {
  double above;
  double upto;
  double count;
};

// A family of curves, fitted.
struct FamilyFit {
  std::string family;                                      // "Pareto"
  std::vector<std::pair<std::string, double>> parameters;  // by name
  double error = 0;  // Standard error of the fit: root of the mean squared residual.
};

// Power, exponential, polynomial, Weibull and Pareto, fitted to the bins by likelihood, the polynomial by least squares
// to their cumulative distribution; by the standard error of that distribution, best first.
std::vector<FamilyFit> FitDistribution(const std::vector<Bin>& bins);

// Generalised Pareto with theta 0, S(x) = (1 + k x / sigma)^(-1/k), by maximum likelihood.
struct ParetoFit {
  double k = 0;
  double sigma = 0;
};

// fold: 0, or values of so much and more were folded back by a remainder before they were counted, as mixgraph does it.
// A value in the first bin may have been anything up to the bin's end: mixgraph makes no value smaller than ten bytes.
ParetoFit FitPareto(const std::vector<Bin>& bins, double fold);

// Share of accesses to the x hottest of "keys" keys: a x^b.
struct PowerFit {
  double a = 0;
  double b = 0;
  double error = 0;        // Root of the mean squared residual of the cumulative share, over the keys used.
  uint64_t keys_used = 0;  // Those with enough accesses to say something.
};

// counts: accesses of each accessed key, any order; fit_hotness.cc tells how. keys_used 0: nothing stands out.
PowerFit FitKeyHotness(std::vector<uint64_t> counts, uint64_t keys);

// a e^(bx) + c e^(dx), x the rank from 1.
struct RangeFit {
  double a = 0, b = 0, c = 0, d = 0;
  double error = 0;
};

// shares: of the accesses, by range, any order. "accesses" weighs them: a share that rests on few is less certain.
RangeFit FitRangeHotness(std::vector<double> shares, double accesses);

// a sin(bt + c) + d
struct SineFit {
  double a = 0, b = 0, c = 0, d = 0;
  // Whether the rates say that there is such a sine, and the same of a cubic; without, it is not to be used.
  bool explains = false;
  bool polynomial_explains = false;
  double mean = 0;
  double error = 0;             // Of the sine.
  double constant_error = 0;    // Of the average.
  double polynomial_error = 0;  // Of a cubic.
};

// Fewer seconds say nothing about a curve.
inline constexpr size_t kLeastRateSeconds = 16;

// With fewer than kLeastRateSeconds only the average is fitted.
SineFit FitRate(const std::vector<double>& per_second);

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_FIT_MODELS_H_
