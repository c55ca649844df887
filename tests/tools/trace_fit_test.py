#!/usr/bin/python3
"""The fits of tools/trace_fit find the parameters by which samples were drawn."""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools', 'trace'))
import fits  # noqa: E402
from key_hotness import Counted, HotnessModel, fit_key_hotness  # noqa: E402

NO_FOLD = 1 << 60


def uniform(seed, count):
    """Random numbers above 0, up to 1."""
    return 1 - np.random.default_rng(seed).random(count)


def sample(seed, count, quantile, fold=NO_FOLD, least=0):
    """Quantiles of random numbers, rounded up; what is fold or more is folded back, and none is less than least."""
    x = np.minimum(np.ceil(quantile(uniform(seed, count))), 9e17).astype(np.int64)
    sizes, times = np.unique(np.maximum(x % fold, least), return_counts=True)
    return list(zip(sizes - 1.0, sizes + 0.0, times + 0.0))


def pareto_sample(k, sigma, count, fold, least, seed):
    return sample(seed, count, lambda u: sigma * (u**-k - 1) / k, fold, least)


def scattered(ranks, seed, keys):
    """A key for each rank, always the same, all keys alike: by the steps of SplitMix64."""
    with np.errstate(over='ignore'):
        x = ranks.astype(np.uint64) + np.uint64(seed << 50)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            x = (x + np.uint64(0x9E3779B97F4A7C15)) ^ (x >> np.uint64(shift))
            x = x * np.uint64(factor)
        return (x ^ (x >> np.uint64(32))) % np.uint64(keys)


class FitTest(unittest.TestCase):
    def setUp(self):
        errors = np.errstate(all='ignore')
        errors.__enter__()
        self.addCleanup(errors.__exit__, None, None, None)

    def assert_near(self, found, truth, share=0.05):
        self.assertAlmostEqual(found, truth, delta=share * abs(truth))

    def assert_parameters(self, found, family, best=True, **truth):
        parameters = next(fit.parameters for fit in found if fit.family == family)
        if best:
            self.assertEqual(found[0].family, family)
        for name, value in truth.items():
            self.assert_near(parameters[name], value)


class Basics(FitTest):
    def test_minimise_finds_a_valley(self):
        found = fits.minimise(lambda p: 100 * (p[1] - p[0]**2)**2 + (1 - p[0])**2, (-1.2, 1), (0.5, 0.5))
        np.testing.assert_allclose(found, (1, 1), atol=1e-3)

    def test_minimise_keeps_its_start_where_nothing_is_defined(self):
        np.testing.assert_array_equal(fits.minimise(lambda p: np.inf, (3, 4), (1, 1)), (3, 4))
        np.testing.assert_array_equal(fits.minimise(lambda p: np.nan, (3, 4), (1, 1)), (3, 4))

    def test_least_squares_and_correlation(self):
        x, ones, y, flat = np.array([1, 2, 3, 4.0]), np.ones(4), np.array([3, 5, 7, 9.0]), np.full(4, 2.0)
        np.testing.assert_allclose(fits.least_squares([ones, x], y, ones), (1, 2), atol=1e-9)
        self.assertIsNone(fits.least_squares([ones, flat], y, ones))
        self.assertAlmostEqual(fits.pearson(x, y), 1, 12)
        self.assertEqual(fits.pearson(x, flat), 0)
        self.assertEqual(fits.pearson([], []), 0)


class Distributions(FitTest):
    def test_sizes_of_mixgraph_though_folded(self):
        # The study's values and scans first.
        for k, sigma, fold, least in ((0.2615, 25.45, 1024, 10), (2.517, 14.236, 1000, 0), (0.6, 100, 4096, 10),
                                      (1.2, 8, 500, 0), (0.35, 300, 100000, 10)):
            for seed in (11, 12, 13):
                with self.subTest(k=k, sigma=sigma, seed=seed):
                    found = fits.fit_pareto(pareto_sample(k, sigma, 100000, fold, least, seed), fold)
                    self.assert_near(found[0], k)
                    self.assert_near(found[1], sigma)

    def test_every_family_finds_its_parameters(self):
        """Each family finds the parameters of its own samples, and fits them best."""
        count = 60000
        for seed in (21, 22, 23):
            for factor in (1.0, 2.5):
                with self.subTest(seed=seed, factor=factor):
                    b, most, shape = 0.2 * factor, 5000 * factor, 0.6 * factor
                    found = fits.fit_distribution(sample(seed, count, lambda u: most * u**(1 / b)))
                    self.assert_parameters(found, 'power', b=b, a=most**-b)
                    found = fits.fit_distribution(sample(seed, count, lambda u: -50 * factor * np.log(u)))
                    self.assert_parameters(found, 'exponential', False, mean=50 * factor)
                    found = fits.fit_distribution(sample(seed, count, lambda u: 80 * (-np.log(u))**(1 / shape)))
                    self.assert_parameters(found, 'Weibull', scale=80, shape=shape)
                    found = fits.fit_distribution(pareto_sample(0.5 * factor, 30, count, NO_FOLD, 0, seed))
                    self.assert_parameters(found, 'Pareto', k=0.5 * factor, sigma=30)

    def test_a_steep_beginning(self):
        """With two thirds in the first bin least squares alone would end at a shape of 0."""
        found = fits.fit_distribution(sample(26, 60000, lambda u: 0.78 * (-np.log(u))**(1 / 0.315)))
        self.assert_parameters(found, 'Weibull', False, scale=0.78, shape=0.315)

    def test_a_cubic_without_noise(self):
        """The coefficients of a cubic are anything when the data has noise; the curve is not."""
        u = np.arange(201) / 200
        counts = 1e7 * np.diff(0.5 * u + 0.2 * u**2 + 0.3 * u**3)
        found = fits.fit_distribution([(x, x + 1, count) for x, count in enumerate(counts)])
        self.assert_parameters(found, 'polynomial', c1=0.5 / 200, c2=0.2 / 200**2, c3=0.3 / 200**3)


class Hotness(FitTest):
    def test_of_ranges(self):
        for a, b, c, d, ranges in ((14.18, -2.917, 0.0164, -0.08082, 30), (0.5, -0.7, 0.02, -0.03, 40)):
            for seed in (31, 32, 33):
                with self.subTest(a=a, seed=seed):
                    accesses, x = 1000000, np.arange(1, ranges + 1)
                    sums = np.cumsum(a * np.exp(b * x) + c * np.exp(d * x))
                    drawn = np.searchsorted(sums, uniform(seed, accesses) * sums[-1])
                    shares = np.bincount(drawn, minlength=ranges) / accesses
                    found, _ = fits.fit_range_hotness(shares[::-1], accesses)
                    for figure, truth in zip(found, (a / sums[-1], b, c / sums[-1], d)):
                        self.assert_near(figure, truth)

    def test_of_keys_though_ranks_share_keys(self):
        """From hundreds of accesses a key down to less than one."""
        for a, b, keys, accesses in ((0.002312, 0.3467, 33333, 2000000), (0.002312, 0.3467, 200000, 1000000),
                                     (0.002312, 0.3467, 1000000, 1000000), (0.05, 0.25, 60000, 300000),
                                     (0.01, 0.3, 10000, 1000000), (0.0005, 0.6, 50000, 2000000)):
            for seed in (41, 42):
                with self.subTest(a=a, keys=keys, seed=seed):
                    ranks = np.ceil((uniform(seed, accesses) / a)**(1 / b))
                    counts = np.unique(scattered(ranks, seed, keys), return_counts=True)[1]
                    found = fit_key_hotness(counts, keys)
                    self.assert_near(found.a, a)
                    self.assert_near(found.b, b)

    def test_counts_of_keys_without_a_hot_rank_are_a_compound_poisson_distribution(self):
        """The recursion gives chances that have the mean and the variance of what the ranks bring."""
        counted = Counted(np.array([30.0] * 20), 200)
        model = HotnessModel(0.03, 0.5, counted)
        n = np.arange(len(model.chances))
        self.assertAlmostEqual(model.chances.sum(), 1, 9)
        mean = model.chances @ n
        self.assertAlmostEqual(mean, model.rest_mean, 9)
        self.assertAlmostEqual(model.chances @ (n - mean)**2, model.rest_variance, 8)

    def test_none_where_none_is(self):
        self.assertEqual(fit_key_hotness([], 1000).keys_used, 0)
        self.assertEqual(fit_key_hotness([20] * 1000, 1000).keys_used, 0)
        self.assertEqual(fit_key_hotness([5, 5, 5], 2).keys_used, 0)


class Rates(FitTest):
    def test_that_follow_a_sine(self):
        for a, b, c, d, seconds in ((1000, 0.01047, 0.3, 4500, 600), (300, 0.2, -1.2, 800, 120),
                                    (50, 1.1, 2.5, 400, 60), (2000, 0.00105, 1.5, 9000, 6000)):
            for seed in (51, 52, 53):
                with self.subTest(b=b, seed=seed):
                    t = np.arange(seconds) + 0.5
                    found = fits.fit_rate(a * np.sin(b * t + c) + d + 0.1 * a * (uniform(seed, seconds) - 0.5))
                    self.assertIsNotNone(found.sine)
                    found_a, found_b, found_c, found_d = found.sine
                    self.assert_near(found_a, a)
                    self.assert_near(found_b, b)
                    self.assertAlmostEqual(np.remainder(found_c - c + np.pi, 2 * np.pi), np.pi, delta=0.05 * abs(c))
                    self.assert_near(found_d, d)
                    self.assertLess(found.sine_error, found.polynomial_error or found.constant_error)

    def test_that_follow_no_sine_give_none(self):
        """The model goes on for longer than the trace, so it asks for no rate that is far from all of them."""
        for name, curve in {'flat': lambda t: 50000 + 0 * t, 'rising': lambda t: 40000 + 20 * t,
                            'falling': lambda t: 90000 * np.exp(-t / 300) + 20000,
                            'bent': lambda t: 50000 - 0.03 * t**2,
                            'settling': lambda t: np.where(t < 5, 200000, 50000),
                            'ending': lambda t: np.where(t < 590, 50000, 10000)}.items():
            for seconds in (1, 16, 20, 100, 600):
                for seed in (61, 62, 63):
                    with self.subTest(name=name, seconds=seconds, seed=seed):
                        rates = curve(np.arange(seconds)) + 3000 * (uniform(seed, seconds) - 0.5)
                        found = fits.fit_rate(rates)
                        self.assertAlmostEqual(found.mean, np.mean(rates), delta=1)
                        if name == 'flat':
                            self.assertIsNone(found.sine)
                        if found.sine:
                            a, _, _, d = found.sine
                            self.assertLessEqual(d + a, np.max(rates) + np.ptp(rates))
                            self.assertGreaterEqual(d - a, np.min(rates) - np.ptp(rates))


if __name__ == '__main__':
    unittest.main()
