#include "tools/trace/fit_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace miodb::tools {

namespace {

using Point = std::vector<double>;

// a + factor (b - a)
Point Along(const Point& a, const Point& b, double factor) {
  Point result(a.size());
  for (size_t i = 0; i < a.size(); i++) result[i] = a[i] + factor * (b[i] - a[i]);
  return result;
}

class Simplex {
 public:
  Simplex(const std::function<double(const Point&)>& function, const Point& start, const Point& steps)
      : function_(function) {
    Add(start);
    for (size_t i = 0; i < start.size(); i++) {
      Point corner = start;
      corner[i] += steps[i];
      Add(corner);
    }
  }

  Point Run() {
    constexpr int kMostMoves = 2000;
    constexpr double kNearEnough = 1e-10;
    for (int move = 0; move < kMostMoves; move++) {
      std::sort(corners_.begin(), corners_.end(), [](const Corner& a, const Corner& b) { return a.first < b.first; });
      const double best = corners_.front().first, worst = corners_.back().first;
      if (std::abs(worst - best) <= kNearEnough * (std::abs(best) + kNearEnough)) break;
      Move();
    }
    return std::min_element(corners_.begin(), corners_.end(),
                            [](const Corner& a, const Corner& b) { return a.first < b.first; })
        ->second;
  }

 private:
  using Corner = std::pair<double, Point>;

  void Add(const Point& point) { corners_.emplace_back(Value(point), point); }

  double Value(const Point& point) const {
    const double value = function_(point);
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  }

  // Replaces the worst corner, or draws all corners towards the best.
  void Move() {
    const size_t n = corners_.size() - 1;
    Point centre(n, 0);
    for (size_t c = 0; c < n; c++) {
      for (size_t i = 0; i < n; i++) centre[i] += corners_[c].second[i] / static_cast<double>(n);
    }
    Corner& worst = corners_.back();
    const auto at = [&](double factor) {
      Point point = Along(centre, worst.second, factor);
      const double value = Value(point);
      return Corner(value, std::move(point));
    };
    Corner reflected = at(-1);
    if (reflected.first < corners_.front().first) {
      Corner expanded = at(-2);
      worst = expanded.first < reflected.first ? expanded : reflected;
    } else if (reflected.first < corners_[n - 1].first) {
      worst = reflected;
    } else {
      Corner contracted = reflected.first < worst.first ? at(-0.5) : at(0.5);
      if (contracted.first < std::min(worst.first, reflected.first)) {
        worst = contracted;
        return;
      }
      for (size_t c = 1; c < corners_.size(); c++) {
        Point point = Along(corners_[0].second, corners_[c].second, 0.5);
        const double value = Value(point);
        corners_[c] = Corner(value, std::move(point));
      }
    }
  }

  const std::function<double(const Point&)>& function_;
  std::vector<Corner> corners_;
};

}  // namespace

std::vector<double> Minimise(const std::function<double(const std::vector<double>&)>& function,
                             const std::vector<double>& start, const std::vector<double>& steps) {
  const Point first = Simplex(function, start, steps).Run();
  return Simplex(function, first, steps).Run();
}

std::vector<double> SolveLeastSquares(const std::vector<std::vector<double>>& columns, const std::vector<double>& y,
                                      const std::vector<double>& weight) {
  // The normal equations, with the right side as the last column, by elimination with pivots.
  const size_t n = columns.size();
  std::vector<std::vector<double>> rows(n, std::vector<double>(n + 1, 0));
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c <= n; c++) {
      const std::vector<double>& other = c < n ? columns[c] : y;
      for (size_t i = 0; i < y.size(); i++) rows[r][c] += weight[i] * columns[r][i] * other[i];
    }
  }
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; r++) {
      if (std::abs(rows[r][k]) > std::abs(rows[pivot][k])) pivot = r;
    }
    std::swap(rows[k], rows[pivot]);
    if (!(std::abs(rows[k][k]) > 1e-300)) return {};
    for (size_t r = 0; r < n; r++) {
      if (r == k) continue;
      const double factor = rows[r][k] / rows[k][k];
      for (size_t c = k; c <= n; c++) rows[r][c] -= factor * rows[k][c];
    }
  }
  std::vector<double> solution(n);
  for (size_t k = 0; k < n; k++) solution[k] = rows[k][n] / rows[k][k];
  return solution;
}

double Pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double sum_x = 0, sum_y = 0;
  for (size_t i = 0; i < x.size(); i++) {
    sum_x += x[i];
    sum_y += y[i];
  }
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); i++) {
    const double dx = x[i] - sum_x / n, dy = y[i] - sum_y / n;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace miodb::tools
