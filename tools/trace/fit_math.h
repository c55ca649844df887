// Fitting by least squares and by likelihood: the general part.
//
// Threads: any; nothing is shared.

#ifndef MIODB_TOOLS_TRACE_FIT_MATH_H_
#define MIODB_TOOLS_TRACE_FIT_MATH_H_

#include <functional>
#include <limits>
#include <vector>

namespace miodb::tools {

// Where a function that Minimise is given is not defined.
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The point where a function is least, found from a start with these first steps by the simplex method (Nelder, Mead
// 1965), restarted once. The function may be infinite where it is not defined.
std::vector<double> Minimise(const std::function<double(const std::vector<double>&)>& function,
                             const std::vector<double>& start, const std::vector<double>& steps);

// The coefficients c for which sum_j c_j columns[j][i] comes nearest to y[i] in the sum of weight[i] times the squared
// difference. Empty if the columns are not independent.
std::vector<double> SolveLeastSquares(const std::vector<std::vector<double>>& columns, const std::vector<double>& y,
                                      const std::vector<double>& weight);

// Pearson's correlation of two series of equal length; 0 where one of them is constant.
double Pearson(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_FIT_MATH_H_
