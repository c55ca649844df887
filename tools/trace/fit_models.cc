#include "tools/trace/fit_models.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>

#include "tools/trace/fit_math.h"

namespace miodb::tools {

namespace {

using Point = std::vector<double>;

// The cumulative distribution at the upper ends of the bins, and the lower ends.
struct Cumulative {
  Point above, x, share, weight;

  explicit Cumulative(const std::vector<Bin>& bins) {
    double total = 0, below = 0;
    for (const Bin& bin : bins) total += bin.count;
    for (const Bin& bin : bins) {
      below += bin.count;
      above.push_back(bin.above);
      x.push_back(bin.upto);
      share.push_back(below / total);
      weight.push_back(bin.count / total);
    }
  }

  double MeanSquare(const std::function<double(double)>& curve) const {
    double sum = 0;
    for (size_t i = 0; i < x.size(); i++) {
      const double off = curve(x[i]) - share[i];
      sum += weight[i] * off * off;
    }
    return sum;
  }

  // Minus the logarithm of the likelihood, for each observation, which lies somewhere in its bin. A value in the first
  // bin may have been anything up to the bin's end.
  double Unlikelihood(const std::function<double(double)>& curve) const {
    double sum = 0;
    for (size_t i = 0; i < x.size(); i++) {
      const double mass = curve(x[i]) - (i == 0 ? 0 : curve(above[i]));
      if (!(mass > 0)) return kInfinite;
      sum -= weight[i] * std::log(mass);
    }
    return sum;
  }

  double Mean() const {
    double mean = 0;
    for (size_t i = 0; i < x.size(); i++) mean += weight[i] * x[i];
    return std::max(mean, 1e-9);
  }
};

double ParetoSurvival(double x, double k, double sigma) {
  if (x <= 0) return 1;
  if (std::abs(k) < 1e-9) return std::exp(-x / sigma);
  const double base = 1 + k * x / sigma;
  return base <= 0 ? 0 : std::pow(base, -1 / k);
}

// Curves with parameters above 0, which are fitted as logarithms: by likelihood, or by least squares where some bin
// cannot be under any parameters that are tried. The standard error is that of the cumulative distribution.
FamilyFit FitCurve(const Cumulative& data, const std::string& family, const std::vector<std::string>& names,
                   const Point& start, const std::function<double(double, const Point&)>& curve) {
  const auto exp_all = [](Point p) {
    for (double& v : p) v = std::exp(v);
    return p;
  };
  const auto loss = [&](const Point& logs) {
    const Point p = exp_all(logs);
    return data.MeanSquare([&](double x) { return curve(x, p); });
  };
  Point logs;
  for (double v : start) logs.push_back(std::log(v));
  Point best = Minimise(loss, logs, Point(start.size(), 0.5));
  const auto unlikelihood = [&](const Point& at) {
    const Point p = exp_all(at);
    return data.Unlikelihood([&](double x) { return curve(x, p); });
  };
  // Least squares may end where nothing is likely, and so may a start that has too light a tail.
  std::vector<Point> starts = {best};
  for (const double lower : {0.0, 1.0, 2.0}) {
    starts.push_back(logs);
    starts.back().back() -= lower;
  }
  for (const Point& from : starts) {
    if (!std::isfinite(unlikelihood(from))) continue;
    const Point found = Minimise(unlikelihood, from, Point(start.size(), 0.1));
    if (!std::isfinite(unlikelihood(best)) || unlikelihood(found) < unlikelihood(best)) best = found;
  }
  FamilyFit fit{family, {}, std::sqrt(loss(best))};
  const Point p = exp_all(best);
  for (size_t i = 0; i < names.size(); i++) fit.parameters.emplace_back(names[i], p[i]);
  return fit;
}

// a x^b, which ends where everything is below: the likelihood is highest if that is the largest value seen.
FamilyFit FitPower(const Cumulative& data) {
  const double most = std::max(data.x.back(), 1e-9);
  FamilyFit fit = FitCurve(data, "power", {"b"}, {0.3}, [most](double x, const Point& p) {
    return x <= 0 ? 0 : std::pow(std::min(x / most, 1.0), p[0]);
  });
  fit.parameters.insert(fit.parameters.begin(), {"a", std::pow(most, -fit.parameters[0].second)});
  return fit;
}

FamilyFit FitPolynomial(const Cumulative& data) {
  const double scale = std::max(data.x.back(), 1e-9);
  std::vector<Point> columns(4, Point(data.x.size()));
  for (size_t i = 0; i < data.x.size(); i++) {
    for (size_t j = 0; j < 4; j++) columns[j][i] = std::pow(data.x[i] / scale, static_cast<double>(j));
  }
  const Point c = SolveLeastSquares(columns, data.share, data.weight);
  FamilyFit fit{"polynomial", {}, kInfinite};
  if (c.empty()) return fit;
  fit.error = std::sqrt(data.MeanSquare([&](double x) {
    const double u = x / scale;
    return c[0] + u * (c[1] + u * (c[2] + u * c[3]));
  }));
  for (size_t j = 0; j < 4; j++) {
    fit.parameters.emplace_back("c" + std::to_string(j), c[j] / std::pow(scale, static_cast<double>(j)));
  }
  return fit;
}

// The mass in (above, upto] after folding: all of the distribution that is so much above a multiple of "fold".
double FoldedMass(double above, double upto, double fold, double k, double sigma) {
  constexpr int kExactFolds = 8;
  double mass = ParetoSurvival(above, k, sigma) - ParetoSurvival(upto, k, sigma);
  if (fold <= 0) return mass;
  for (int j = 1; j <= kExactFolds; j++) {
    mass += ParetoSurvival(above + j * fold, k, sigma) - ParetoSurvival(upto + j * fold, k, sigma);
  }
  // The rest is so flat that its sum is an integral.
  const double middle = (above + upto) / 2 + (kExactFolds + 0.5) * fold;
  return mass + (upto - above) / fold * ParetoSurvival(middle, k, sigma);
}

// Bins that are together wide enough to have little effect on the fit: it is quicker with fewer.
std::vector<Bin> Coarser(const std::vector<Bin>& bins) {
  constexpr double kRelativeWidth = 0.02;
  std::vector<Bin> coarse;
  for (const Bin& bin : bins) {
    const bool joins = !coarse.empty() && coarse.size() > 1 && coarse.back().upto == bin.above &&
                       bin.upto - coarse.back().above <= kRelativeWidth * bin.upto;
    if (joins) {
      coarse.back().upto = bin.upto;
      coarse.back().count += bin.count;
    } else {
      coarse.push_back(bin);
    }
  }
  return coarse;
}

}  // namespace

std::vector<FamilyFit> FitDistribution(const std::vector<Bin>& bins) {
  const Cumulative data(Coarser(bins));
  const double mean = data.Mean();
  std::vector<FamilyFit> fits;
  fits.push_back(FitPower(data));
  fits.push_back(FitCurve(data, "exponential", {"mean"}, {mean},
                          [](double x, const Point& p) { return 1 - std::exp(-std::max(x, 0.0) / p[0]); }));
  fits.push_back(FitPolynomial(data));
  fits.push_back(FitCurve(data, "Weibull", {"scale", "shape"}, {mean, 1}, [](double x, const Point& p) {
    return 1 - std::exp(-std::pow(std::max(x, 0.0) / p[0], p[1]));
  }));
  fits.push_back(FitCurve(data, "Pareto", {"k", "sigma"}, {0.3, mean},
                          [](double x, const Point& p) { return 1 - ParetoSurvival(x, p[0], p[1]); }));
  std::sort(fits.begin(), fits.end(), [](const FamilyFit& x, const FamilyFit& y) { return x.error < y.error; });
  return fits;
}

ParetoFit FitPareto(const std::vector<Bin>& bins, double fold) {
  const std::vector<Bin> coarse = Coarser(bins);
  const auto loss = [&](const Point& p) {
    const double sigma = std::exp(p[1]);
    double sum = 0;
    for (size_t i = 0; i < coarse.size(); i++) {
      const double above = i == 0 ? std::min(coarse[i].above, -1.0) : coarse[i].above;
      const double mass = FoldedMass(above, coarse[i].upto, fold, p[0], sigma);
      if (!(mass > 0)) return kInfinite;
      sum -= coarse[i].count * std::log(mass);
    }
    return sum;
  };
  const double mean = Cumulative(bins).Mean();
  Point best;
  for (double k : {0.1, 0.3, 1.0, 2.5}) {
    for (double scale : {mean, mean / (1 + k), mean / 10}) {
      const Point start = {k, std::log(scale)};
      if (best.empty() || loss(start) < loss(best)) best = start;
    }
  }
  best = Minimise(loss, best, {0.3, 0.5});
  return {best[0], std::exp(best[1])};
}

RangeFit FitRangeHotness(std::vector<double> shares, double accesses) {
  std::sort(shares.rbegin(), shares.rend());
  Point x(shares.size()), weight(shares.size());
  for (size_t i = 0; i < shares.size(); i++) {
    x[i] = static_cast<double>(i + 1);
    weight[i] = accesses / std::max(shares[i], 1 / std::max(accesses, 1.0));  // one over the variance of a count
  }
  RangeFit fit;
  // For given exponents the factors follow from linear equations.
  const auto solve = [&](const Point& p, Point* factors) {
    std::vector<Point> columns(2, Point(x.size()));
    for (size_t i = 0; i < x.size(); i++) {
      columns[0][i] = std::exp(p[0] * x[i]);
      columns[1][i] = std::exp(p[1] * x[i]);
    }
    *factors = SolveLeastSquares(columns, shares, weight);
    if (factors->empty()) return kInfinite;
    double sum = 0;
    for (size_t i = 0; i < x.size(); i++) {
      const double off = (*factors)[0] * columns[0][i] + (*factors)[1] * columns[1][i] - shares[i];
      sum += weight[i] * off * off;
    }
    return sum;
  };
  Point ignored;
  const auto loss = [&](const Point& p) { return p[0] > 1 || p[1] > 1 || p[0] < -30 ? kInfinite : solve(p, &ignored); };
  Point best;
  for (const Point& start : {Point{-3, -0.1}, Point{-1, -0.05}, Point{-0.3, -0.01}}) {
    const Point found = Minimise(loss, start, {0.5, 0.05});
    if (best.empty() || loss(found) < loss(best)) best = found;
  }
  if (best[0] > best[1]) std::swap(best[0], best[1]);
  Point factors;
  if (!std::isfinite(solve(best, &factors))) return fit;
  fit = {factors[0], best[0], factors[1], best[1], 0};
  double squares = 0;
  for (size_t i = 0; i < x.size(); i++) {
    const double off = fit.a * std::exp(fit.b * x[i]) + fit.c * std::exp(fit.d * x[i]) - shares[i];
    squares += off * off;
  }
  fit.error = std::sqrt(squares / static_cast<double>(x.size()));
  return fit;
}

SineFit FitRate(const std::vector<double>& per_second) {
  const size_t n = per_second.size();
  const Point weight(n, 1);
  Point t(n);
  for (size_t i = 0; i < n; i++) t[i] = static_cast<double>(i) + 0.5;  // the middle of each second
  const auto error_of = [&](const std::vector<Point>& columns, Point* factors) {
    *factors = SolveLeastSquares(columns, per_second, weight);
    if (factors->empty()) return kInfinite;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
      double value = 0;
      for (size_t j = 0; j < columns.size(); j++) value += (*factors)[j] * columns[j][i];
      squares += (value - per_second[i]) * (value - per_second[i]);
    }
    return std::sqrt(squares / static_cast<double>(n));
  };
  const auto sine_columns = [&](double b) {
    std::vector<Point> columns(3, Point(n, 1));
    for (size_t i = 0; i < n; i++) {
      columns[0][i] = std::sin(b * t[i]);
      columns[1][i] = std::cos(b * t[i]);
    }
    return columns;
  };
  SineFit fit;
  Point factors;
  fit.constant_error = error_of({Point(n, 1)}, &factors);
  fit.mean = factors.empty() ? 0 : factors[0];
  fit.error = fit.constant_error;
  if (n < kLeastRateSeconds) return fit;
  std::vector<Point> cubic(4, Point(n, 1));
  for (size_t j = 1; j < 4; j++) {
    for (size_t i = 0; i < n; i++) cubic[j][i] = cubic[j - 1][i] * t[i] / static_cast<double>(n);
  }
  // Every parameter takes some of the error away where there is nothing but chance.
  const auto explains = [&](double error) {
    constexpr double kParameters = 4;
    const double count = static_cast<double>(n);
    return error * std::sqrt(count / (count - kParameters)) < 0.7 * fit.constant_error;
  };
  fit.polynomial_error = error_of(cubic, &factors);
  fit.polynomial_explains = explains(fit.polynomial_error);
  // Periods from twice the trace down to four seconds; then the best is refined.
  const double length = static_cast<double>(n);
  double best = 0, best_error = kInfinite;
  for (double cycles = 0.5; cycles <= length / 4; cycles += std::max(0.05, cycles * 0.002)) {
    const double b = 2 * M_PI * cycles / length;
    const double error = error_of(sine_columns(b), &factors);
    if (error < best_error) {
      best = b;
      best_error = error;
    }
  }
  // Not beyond those periods: a small part of a large sine fits anything, and says nothing about what follows.
  const double least = M_PI / length, most = M_PI / 2;
  const auto error_at = [&](const Point& p) {
    return p[0] < least || p[0] > most ? kInfinite : error_of(sine_columns(p[0]), &factors);
  };
  fit.b = Minimise(error_at, {best}, {0.02 * 2 * M_PI / length})[0];
  fit.error = error_of(sine_columns(fit.b), &factors);
  if (factors.empty()) return fit;
  fit.a = std::hypot(factors[0], factors[1]);
  fit.c = std::atan2(factors[1], factors[0]);
  fit.d = factors[2];
  // Half a wave and more goes no further than what was seen.
  const auto [lowest, highest] = std::minmax_element(per_second.begin(), per_second.end());
  fit.explains = explains(fit.error) && fit.a <= *highest - *lowest;
  return fit;
}

}  // namespace miodb::tools
