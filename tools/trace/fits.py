"""The models of a workload, but for the hotness of keys (key_hotness.py), fitted to what trace_analyzer counted."""

from collections import namedtuple

import numpy as np
from scipy import optimize

# A family of curves, fitted. parameters: by name. error: standard error, the root of the mean squared residual.
FamilyFit = namedtuple('FamilyFit', 'family parameters error')
# The average of rates and its error; the error of a cubic; a, b, c, d of a sin(bt + c) + d, and its error. None where
# the rates do not say that there is such a curve.
RateFit = namedtuple('RateFit', 'mean constant_error polynomial_error sine sine_error')

# Fewer seconds say nothing about a curve; only the average is fitted.
LEAST_RATE_SECONDS = 16


def minimise(function, start, steps):
    """The point where a function is least, from a start with these first steps by the simplex method, restarted once.

    The function may be infinite where it is not defined.
    """
    best, steps = np.asarray(start, float), np.asarray(steps, float)
    units = np.vstack([np.zeros(len(best)), np.eye(len(best))])
    for nearness in (1e-3, 1e-6):  # in steps
        def value(at, origin=best):
            result = function(origin + at * steps)
            return np.inf if np.isnan(result) else result

        options = {'initial_simplex': units, 'xatol': nearness, 'fatol': np.inf, 'maxiter': 2000}
        best = best + optimize.minimize(value, units[0], method='Nelder-Mead', options=options).x * steps
    return best


def least_squares(columns, y, weight=1.0):
    """The coefficients for which the sum of columns comes nearest to y; None if the columns are not independent."""
    root = np.sqrt(weight)
    matrix = (np.asarray(columns, float) * root).T
    lengths = np.linalg.norm(matrix, axis=0)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        return None
    solution, _, rank, _ = np.linalg.lstsq(matrix / lengths, y * root, rcond=None)
    return solution / lengths if rank == len(lengths) else None


def pearson(x, y):
    """Pearson's correlation of two series of equal length; 0 where one of them is constant."""
    x, y = (np.asarray(series, float) - np.sum(series) / max(len(series), 1) for series in (x, y))
    both = (x @ x) * (y @ y)
    return x @ y / np.sqrt(both) if both > 0 else 0.0


class Cumulative:
    """The cumulative distribution at the upper ends of the bins, and the lower ends."""

    def __init__(self, bins):
        self.above, self.upto, self.count = np.array(bins, float).T
        self.weight = self.count / self.count.sum()
        self.share = np.cumsum(self.count) / self.count.sum()

    def mean(self):
        return max(self.weight @ self.upto, 1e-9)

    def mean_square(self, curve):
        return self.weight @ (curve(self.upto) - self.share)**2

    def unlikelihood(self, curve):
        """Minus the logarithm of the likelihood, for each observation, which lies somewhere in its bin.

        A value in the first bin may have been anything up to the bin's end.
        """
        below = curve(self.above)
        below[0] = 0
        return minus_log_likelihood(self.weight, curve(self.upto) - below)


def minus_log_likelihood(weight, mass):
    return -(weight @ np.log(mass)) if (mass > 0).all() else np.inf


def coarser(bins):
    """Bins that are together wide enough to have little effect on the fit: it is quicker with fewer."""
    relative_width, coarse = 0.02, []
    for above, upto, count in bins:
        if len(coarse) > 1 and coarse[-1][1] == above and upto - coarse[-1][0] <= relative_width * upto:
            coarse[-1] = (coarse[-1][0], upto, coarse[-1][2] + count)
        else:
            coarse.append((above, upto, count))
    return coarse


def pareto_survival(x, k, sigma):
    x = np.maximum(x, 0)
    return np.exp(-x / sigma) if abs(k) < 1e-9 else np.maximum(1 + k * x / sigma, 0)**(-1 / k)


def fit_curve(data, family, start, curve):
    """A curve with parameters above 0, which are fitted as logarithms.

    The fit is by likelihood, or by least squares where some bin cannot be under any parameters that are tried. The
    standard error is that of the cumulative distribution.
    """
    logs = np.log(list(start.values()))

    def square(at):
        return data.mean_square(lambda x: curve(x, *np.exp(at)))

    def unlikelihood(at):
        return data.unlikelihood(lambda x: curve(x, *np.exp(at)))

    best = minimise(square, logs, np.full(len(logs), 0.5))
    # Least squares may end where nothing is likely, and so may a start that has too light a tail.
    heavier = np.eye(len(logs))[-1]
    likeliest = min([best, logs, logs - heavier, logs - 2 * heavier], key=unlikelihood)
    if np.isfinite(unlikelihood(likeliest)):
        best = minimise(unlikelihood, likeliest, np.full(len(logs), 0.1))
    return FamilyFit(family, dict(zip(start, np.exp(best))), np.sqrt(square(best)))


def fit_power(data):
    """a x^b, which ends where everything is below: the likelihood is highest if that is the largest value seen."""
    most = max(data.upto[-1], 1e-9)
    fit = fit_curve(data, 'power', {'b': 0.3}, lambda x, b: np.clip(x / most, 0, 1)**b)
    return fit._replace(parameters={'a': most**-fit.parameters['b'], **fit.parameters})


def fit_polynomial(data):
    scale = max(data.upto[-1], 1e-9)
    columns = [(data.upto / scale)**power for power in range(4)]
    factors = least_squares(columns, data.share, data.weight)
    if factors is None:
        return FamilyFit('polynomial', {}, np.inf)
    error = np.sqrt(data.weight @ (factors @ columns - data.share)**2)
    return FamilyFit('polynomial', {f'c{power}': factors[power] / scale**power for power in range(4)}, error)


def fit_distribution(bins):
    """The families, fitted to the bins by likelihood, the polynomial by least squares; the one that fits best first."""
    data = Cumulative(coarser(bins))
    mean = data.mean()
    return sorted([
        fit_power(data),
        fit_curve(data, 'exponential', {'mean': mean}, lambda x, mean: 1 - np.exp(-np.maximum(x, 0) / mean)),
        fit_polynomial(data),
        fit_curve(data, 'Weibull', {'scale': mean, 'shape': 1.0},
                  lambda x, scale, shape: 1 - np.exp(-(np.maximum(x, 0) / scale)**shape)),
        fit_curve(data, 'Pareto', {'k': 0.3, 'sigma': mean}, lambda x, k, sigma: 1 - pareto_survival(x, k, sigma)),
    ], key=lambda fit: fit.error)


def folded_mass(above, upto, fold, k, sigma):
    """The mass in (above, upto] after folding: all of the distribution that is so much above a multiple of "fold"."""
    exact_folds = 8
    mass = sum(pareto_survival(above + j * fold, k, sigma) - pareto_survival(upto + j * fold, k, sigma)
               for j in range(exact_folds + 1 if fold > 0 else 1))
    if fold <= 0:
        return mass
    # The rest is so flat that its sum is an integral.
    middle = (above + upto) / 2 + (exact_folds + 0.5) * fold
    return mass + (upto - above) / fold * pareto_survival(middle, k, sigma)


def fit_pareto(bins, fold):
    """(k, sigma) of a generalised Pareto with theta 0, S(x) = (1 + k x / sigma)^(-1/k), by maximum likelihood.

    fold: 0, or values of so much and more were folded back by a remainder before they were counted, as mixgraph does.
    A value in the first bin may have been anything up to the bin's end: mixgraph makes no value smaller than ten bytes.
    """
    data = Cumulative(coarser(bins))
    above = np.append(min(data.above[0], -1), data.above[1:])

    def unlikelihood(at):
        return minus_log_likelihood(data.count, folded_mass(above, data.upto, fold, at[0], np.exp(at[1])))

    mean = Cumulative(bins).mean()
    starts = [(k, np.log(scale)) for k in (0.1, 0.3, 1.0, 2.5) for scale in (mean, mean / (1 + k), mean / 10)]
    k, log_sigma = minimise(unlikelihood, min(starts, key=unlikelihood), (0.3, 0.5))
    return k, np.exp(log_sigma)


def fit_range_hotness(shares, accesses):
    """(a, b, c, d) of a e^(bx) + c e^(dx), x the rank from 1, and the standard error.

    shares: of the accesses, by range, any order. "accesses" weighs them: a share that rests on few is less certain.
    """
    shares = np.sort(shares)[::-1]
    x = np.arange(1, len(shares) + 1)
    weight = accesses / np.maximum(shares, 1 / max(accesses, 1))  # one over the variance of a count

    # For given exponents the factors follow from linear equations.
    def solve(exponents):
        columns = np.exp(np.outer(exponents, x))
        factors = least_squares(columns, shares, weight)
        return factors, np.inf if factors is None else weight @ (factors @ columns - shares)**2

    def square(exponents):
        return np.inf if max(exponents) > 1 or exponents[0] < -30 else solve(exponents)[1]

    founds = [minimise(square, start, (0.5, 0.05)) for start in ((-3, -0.1), (-1, -0.05), (-0.3, -0.01))]
    b, d = sorted(min(founds, key=square))
    factors, _ = solve((b, d))
    if factors is None:
        return (0, 0, 0, 0), 0
    a, c = factors
    return (a, b, c, d), np.sqrt(np.mean((a * np.exp(b * x) + c * np.exp(d * x) - shares)**2))


def fit_rate(per_second):
    per_second = np.asarray(per_second, float)
    seconds = len(per_second)
    t = np.arange(seconds) + 0.5  # the middle of each second

    def error_of(columns):
        factors = least_squares(columns, per_second)
        return np.inf if factors is None else np.sqrt(np.mean((factors @ columns - per_second)**2))

    def sine_columns(b):
        return np.array([np.sin(b * t), np.cos(b * t), np.ones(seconds)])

    # Every parameter takes some of the error away where there is nothing but chance.
    def explains(error, parameters=4):
        return error * np.sqrt(seconds / (seconds - parameters)) < 0.7 * constant_error

    mean, constant_error = np.mean(per_second), np.std(per_second)
    if seconds < LEAST_RATE_SECONDS:
        return RateFit(mean, constant_error, None, None, None)
    polynomial_error = error_of(np.array([(t / seconds)**power for power in range(4)]))
    # Periods from twice the trace down to four seconds; then the best is refined, not beyond those periods: a small
    # part of a large sine fits anything, and says nothing about what follows.
    cycles = [0.5]
    while cycles[-1] < seconds / 4:
        cycles.append(min(cycles[-1] + max(0.05, cycles[-1] * 0.002), seconds / 4))
    grid = 2 * np.pi * np.array(cycles) / seconds
    best = int(np.argmin([error_of(sine_columns(b)) for b in grid]))
    found = optimize.minimize_scalar(lambda b: error_of(sine_columns(b)), method='bounded',
                                     bounds=(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]),
                                     options={'xatol': 1e-9 * grid[best]})
    sine, cosine, d = least_squares(sine_columns(found.x), per_second)
    a = np.hypot(sine, cosine)
    # Half a wave and more goes no further than what was seen.
    has_sine = explains(found.fun) and a <= np.ptp(per_second)
    return RateFit(mean, constant_error, polynomial_error if explains(polynomial_error) else None,
                   (a, found.x, np.arctan2(cosine, sine), d) if has_sine else None, found.fun if has_sine else None)
