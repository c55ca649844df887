"""The fit of the hotness of keys: of a power law over ranks that were thrown at the keys at random.

A trace shows how often each key was accessed, not its rank. The order by counts is not the order of hotness, so a fit
to sorted counts would be biased. Instead the counts are compared with the expectations of the law:

  hot keys    the sums of the counts of the most accessed key, of the next ones, of ever larger groups. The expected sum
              of the k largest of many independent counts is the least of k c + E[sum of what exceeds c] over c.
  other keys  how many keys have how many accesses. Most keys have many ranks, so their counts are a compound Poisson
              distribution, which Panjer's recursion gives.

The two are taken as Poisson numbers, and the likelihood of a and b together is maximised.
"""

from collections import namedtuple

import numpy as np
from scipy.special import ndtr

from fits import minimise

# Share of accesses to the x hottest keys: a x^b. error: root of the mean squared residual of the cumulative share, over
# the keys used, which are those with enough accesses to say something. keys_used 0: nothing stands out.
PowerFit = namedtuple('PowerFit', 'a b error keys_used')

# With more accesses for each key than this, keys are hot only if they stand out of a normal distribution.
MOST_COUNTS_BY_RECURSION = 300

STEP = 0.02  # of ranks and counts that are taken together
FAR = 7  # standard deviations
HOT_MARGIN = 2
TAIL = 4  # times hot_count: keys without a hot rank hardly ever have more


def rank_borders():
    borders = [0.0]
    while borders[-1] < 1e300:
        borders.append(borders[-1] + max(1, borders[-1] * STEP // 1))
    return np.array(borders)


# Between two of them lie ranks that are taken as alike.
RANK_BORDERS = rank_borders()


class HotnessModel:
    """A power law as it is for so many accesses to so many keys."""

    def __init__(self, a, b, counted):
        self.counted = counted
        all_ranks = a**(-1 / b)  # the rank at which the shares are complete
        borders = np.minimum(RANK_BORDERS[:np.searchsorted(RANK_BORDERS, all_ranks) + 1], np.ceil(all_ranks))
        count = np.diff(borders)
        mean = counted.accesses * np.diff(np.minimum(a * borders**b, 1)) / count  # accesses to each rank
        # Ranks of which even many on one key would not be hot are part of the rest. They are the last ones.
        hot = int(np.sum(mean * HOT_MARGIN >= counted.hot_count))
        # The accesses that come to a key from the rest.
        self.rest_mean = count[hot:] @ mean[hot:] / counted.keys
        self.rest_variance = count[hot:] @ (mean[hot:] * (1 + mean[hot:])) / counted.keys
        self.cold_keys = counted.keys * np.exp(-borders[hot] / counted.keys)
        # Keys that have such a rank and no hotter one; their mean: other ranks bring them their part; their spread.
        self.hot_keys = count[:hot] * np.exp(-(borders[:hot] + count[:hot] / 2 - 0.5) / counted.keys)
        self.hot_mean = mean[:hot] + self.rest_mean
        self.hot_spread = np.sqrt(mean[:hot] + self.rest_variance)
        self.chances = None
        if counted.hot_count <= MOST_COUNTS_BY_RECURSION:
            self._recurse(count[hot:], mean[hot:])

    def _recurse(self, count, mean):
        """Panjer's recursion for the counts of keys without a hot rank."""
        keys, most = self.counted.keys, int(self.counted.hot_count) * TAIL
        jumps = np.zeros(most)  # how many ranks a key has with so many accesses, times that number
        term = np.exp(-mean) * count / keys
        none = np.sum(count / keys - term)
        top = np.max(mean, initial=0)
        for j in range(1, most):
            term *= mean / j
            jumps[j] = j * term.sum()
            if j > top and np.max(term, initial=0) < 1e-18:
                break
        self.chances = np.zeros(most)
        self.chances[0] = np.exp(-none)
        for n in range(1, most):
            self.chances[n] = jumps[1:n + 1] @ self.chances[n - 1::-1] / n
        # The chances of more than each count, and how much more in the mean, summed from the last count down.
        self.above = np.append(np.cumsum(self.chances[:0:-1])[::-1], 0)
        self.excess = np.cumsum(self.above[::-1])[::-1]

    def expected_keys(self):
        """How many keys are expected to have each count below hot_count; None if that is too many counts."""
        if self.chances is None:
            return None
        upto = np.arange(int(self.counted.hot_count)) + 0.5
        z = (upto - self.hot_mean[:, None]) / self.hot_spread[:, None]
        hot_or_less = self.hot_keys @ np.where(z < -FAR, 0, ndtr(z))
        return self.cold_keys * self.chances[:len(upto)] + np.diff(hot_or_less, prepend=0)

    def expected_sums(self):
        """The expected sums of the counts of the sizes[0] most accessed keys, of the next sizes[1], and so on."""
        levels = self.counted.levels
        sums, keys = self._exceeding(levels)
        # The least of k c + sum(c), of which the slope is k - keys(c), between two levels.
        wanted = np.cumsum(self.counted.sizes)
        i = np.clip(np.searchsorted(keys, wanted) - 1, 0, len(levels) - 1)
        below = np.minimum(i + 1, len(levels) - 1)
        width, more = levels[i] - levels[below], keys[below] - keys[i]
        t = np.where(more > 0, np.clip((wanted - keys[i]) / more, 0, 1), 0)
        # The integral of the number of keys from the least place to the upper level, that number taken as linear.
        tops = wanted * (levels[i] - t * width) + sums[i] + t * width * (keys[i] + t * more / 2)
        return np.maximum(np.diff(tops, prepend=0), 1e-9)

    def _exceeding(self, levels):
        """For each level the expected sum over all keys of what exceeds it, and the expected number of such keys."""
        means, spreads, weights = self.hot_mean, self.hot_spread, self.hot_keys
        if self.chances is None:
            means, spreads = np.append(means, self.rest_mean), np.append(spreads, np.sqrt(self.rest_variance))
            weights = np.append(weights, self.cold_keys)
        off = means - levels[:, None]
        z = np.clip(off / spreads, -40, 40)
        above = np.where(z < -FAR, 0, np.where(z > FAR, 1, ndtr(z)))
        density = np.where(abs(z) > FAR, 0, np.exp(-z * z / 2) / np.sqrt(2 * np.pi))
        sums, keys = (off * above + spreads * density) @ weights, above @ weights
        if self.chances is not None:
            # Their number does not change between two counts.
            count = levels.astype(int)
            reached = count < len(self.chances)
            count = np.where(reached, count, 0)
            sums += reached * self.cold_keys * (self.excess[count] - (levels - count) * self.above[count])
            keys += reached * self.cold_keys * self.above[count]
        return sums, keys


class Counted:
    """The counts, highest first, in the form that the model needs."""

    def __init__(self, counts, keys):
        self.accesses, self.keys, self.most_count = counts.sum(), float(keys), counts[0]
        average = self.accesses / keys
        # Keys that have this count or more are hot, in expectation as in what was seen.
        self.hot_count = np.ceil(max(40.0, average + 8 * np.sqrt(average)))
        hot, others = counts[counts >= self.hot_count], counts[counts < self.hot_count]
        # Groups of hot keys: where each begins, their sizes, the sums of their counts.
        begins = [0] if len(hot) else []
        for place in range(1, len(hot)):
            if place - begins[-1] >= max(1, int(place * 0.15)):
                begins.append(place)
        self.sizes = np.diff(begins, append=len(hot)) if begins else []
        self.sums = np.add.reduceat(hot, begins) if begins else []
        self.histogram = np.bincount(others.astype(int), minlength=int(self.hot_count))  # of the other keys
        self.histogram[0] = keys - len(counts)
        # From high counts down to the rest.
        levels, least = [self.most_count * 1.5 + 20], max(self.hot_count * 0.5, 1)
        while levels[-1] > least:
            levels.append(levels[-1] - max(0.5, levels[-1] * STEP))
        self.levels = np.array(levels[:-1])

    def loss(self, a, b):
        """Minus the logarithm of the likelihood of the parameters, but for a constant."""
        if not 0 < a <= 1 or not 0.01 <= b <= 1:
            return np.inf
        model = HotnessModel(a, b, self)
        loss = poisson_loss(model.expected_sums(), self.sums) if len(self.sizes) else 0
        keys = model.expected_keys()
        return loss if keys is None else loss + poisson_loss(keys, self.histogram)


def poisson_loss(expected, seen):
    return np.sum(expected - seen * np.log(np.maximum(expected, 1e-9)))


def fit_key_hotness(counts, keys):
    """counts: accesses of each accessed key, any order."""
    counts = np.sort(np.asarray(counts, float))[::-1]
    counts = counts[counts > 0]
    if len(counts) < 10 or len(counts) > keys:
        return PowerFit(0, 0, 0, 0)
    counted = Counted(counts, keys)
    average = counted.accesses / keys
    # Keys that chance alone does not lift so high.
    used = int(np.sum(counts >= max(8, np.ceil(average + 5 * np.sqrt(average)))))
    if used < 10:
        return PowerFit(0, 0, 0, used)

    def loss(at):
        return counted.loss(np.exp(at[0]), at[1])

    # Starts go through the share that the keys have together that stand out.
    shares = np.cumsum(counts[:used]) / counted.accesses
    starts = [(np.log(a), b) for b in np.arange(1, 10) / 10 for a in (shares[0], shares[-1] / used**b)]
    log_a, b = minimise(loss, min(starts, key=loss), (0.1, 0.03))
    a = np.exp(log_a)
    off = np.minimum(a * np.arange(1, used + 1)**b, 1) - shares
    return PowerFit(a, b, np.sqrt(np.mean(off**2)), used)
