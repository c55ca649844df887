"""What trace_fit prints: the fits to the figures of an analysis, and a command line that generates such a workload."""

import numpy as np

import fits
from analysis_files import Missing, Refused
from key_hotness import fit_key_hotness


class Report:
    """The text, and the flags of the command line at its end."""

    def __init__(self, analysis, options):
        self.analysis, self.options = analysis, options
        self.text = self.flags = ''

    def write(self):
        with np.errstate(all='ignore'):
            self._mix()
            for figures, step, *names in (
                    (self.analysis.value_sizes, self._pareto, 'Value sizes', 'value', 'mix_max_value_size'),
                    (self.analysis.scan_lengths, self._pareto, 'Scan lengths', 'iter', 'mix_max_scan_len'),
                    (self.analysis.key_sizes, self._key_sizes), (self.analysis.keys, self._keys),
                    (self.analysis.rates, self._rates), (self.analysis.written_keys, self._written_keys)):
                # Figures that the analysis was not asked for are left out of the model.
                if isinstance(figures, Missing):
                    self.text += f'\nleft out: {figures}\n'
                else:
                    step(figures, *names)
        self.text += f'\nA workload like this:\n\ndb_bench --benchmarks=mixgraph --use_existing_db=true{self.flags}\n'
        return self.text

    def _add(self, **flags):
        for name, value in flags.items():
            self.flags += f' --{name}={value}' if isinstance(value, int) else f' --{name}={value:.6g}'

    def _mix(self):
        gets, puts, seeks = (sum(self.analysis.queries.get(kind, 0) for kind in kinds) for kinds in (
            ('get', 'multiget'), ('put', 'merge', 'delete', 'single_delete', 'range_delete'),
            ('iterator_Seek', 'iterator_SeekForPrev')))
        queries = gets + puts + seeks
        gets, puts, seeks = np.array([gets, puts, seeks]) / queries
        self.text += 'Mix: gets %.4f, writes %.4f, scans %.4f of %.0f queries\n' % (gets, puts, seeks, queries)
        self._add(reads=int(queries), mix_get_ratio=gets, mix_put_ratio=puts, mix_seek_ratio=seeks)

    def _distribution(self, what, bins):
        """Describes bins: what, how many, average and standard deviation; then every family, best first."""
        above, upto, count = np.array(bins).T
        middle = (above + 1 + upto) / 2
        mean = count @ middle / count.sum()
        deviation = np.sqrt(max(count @ middle**2 / count.sum() - mean * mean, 0))
        self.text += '\n%s: %.0f, mean %.3f, standard deviation %.3f\n' % (what, count.sum(), mean, deviation)
        if len(bins) < 3:
            self.text += '  too few different values to fit a curve\n'
            return
        for fit in fits.fit_distribution(bins):
            parameters = ''.join(' %s=%.6g' % parameter for parameter in fit.parameters.items())
            self.text += '  %-12s fit error %.6f %s\n' % (fit.family, fit.error, parameters)

    def _pareto(self, bins, what, name, fold_flag):
        """Pareto parameters and where to fold, as flags."""
        if not bins:
            return
        self._distribution(what, bins)
        fold = getattr(self.options, fold_flag)
        if 0 < fold <= bins[-1].above:
            raise Refused('Invalid argument: --%s=%d: the files show %.0f' % (fold_flag, fold, bins[-1].above + 1))
        k, sigma = fits.fit_pareto(bins, fold)
        self.text += '  mixgraph: Pareto by likelihood  k=%.6g sigma=%.6g\n' % (k, sigma)
        self._add(**{name + '_k': k, name + '_sigma': sigma, fold_flag: fold or max(int(bins[-1].upto), 10)})

    def _key_sizes(self, bins):
        if bins:
            self._distribution('Key sizes', bins)
            _, upto, count = np.array(bins).T
            self._add(key_size=int(upto @ count / count.sum() + 0.5))

    def _keys(self, keys):
        counts = self.analysis.access_counts
        if counts and not isinstance(counts, Missing):
            self._distribution(f'Accesses of each key ({self.analysis.access})', counts)
        if not keys:
            return
        seen = keys[-1].place + 1
        num = self.options.num or seen
        if num < seen:
            raise Refused(f'Invalid argument: --num={num}: the files show {seen} keys')
        self._add(num=num)
        if not self.analysis.is_whole:
            self.text += ('\nwarning: without key_space_dir the places of keys are known only among accessed ones; '
                          'ranges are not fitted\n')
        self._ranges(np.array(keys), num, min(self.options.keyrange_num, num) if self.analysis.is_whole else 1)

    def _ranges(self, keys, num, ranges):
        (places, _, accesses, _), range_keys = keys.T, num // ranges
        sums = np.bincount(np.minimum(places // range_keys, ranges - 1), accesses, ranges)
        shares = sums / sums.sum()
        hottest = int(np.argmax(shares))
        # Chance alone spreads the ranges a little; twice the average is no chance.
        has_ranges = ranges > 1 and shares[hottest] > 2 / ranges
        self._add(keyrange_num=ranges if has_ranges else 1)
        if has_ranges:
            (a, b, c, d), error = fits.fit_range_hotness(shares, sums.sum())
            self.text += ('\nRange hotness: %d ranges of %d keys, the hottest has %.4f of the accesses\n'
                          '  mixgraph: two exponentials  a=%.6g b=%.6g c=%.6g d=%.6g fit error %.6f\n'
                          % (ranges, range_keys, shares[hottest], a, b, c, d, error))
            self._add(keyrange_dist_a=a, keyrange_dist_b=b, keyrange_dist_c=c, keyrange_dist_d=d)
        elif ranges > 1:
            self.text += '\nRange hotness: no range has twice its share; one range is assumed\n'
        # Within the hottest range counts are highest, so they say most about the hotness of keys.
        counts = accesses[places // range_keys == hottest] if has_ranges else accesses
        power = fit_key_hotness(counts, range_keys if has_ranges else num)
        self.text += '\nKey hotness: from %d keys with enough accesses\n' % power.keys_used
        if power.keys_used < 10:
            self.text += '  too few to fit: keys of a range count as alike\n'
            return
        self.text += '  mixgraph: power law  a=%.6g b=%.6g fit error %.6f\n' % power[:3]
        self._add(key_dist_a=power.a, key_dist_b=power.b)

    def _rates(self, seconds):
        if not seconds:
            return
        rates = np.array(seconds[:-1])  # The last second is not a whole one.
        if len(rates) == 0:
            self.text += '\nRate: the trace is shorter than a second, so nothing is known of it\n'
            return
        fit = fits.fit_rate(rates[:, -1])
        self.text += ('\nRate: %d seconds\n  constant     fit error %.3f  d=%.6g\n'
                      % (len(rates), fit.constant_error, fit.mean))
        self._curves(len(rates), fit)
        a, b, c, d = fit.sine or (0, 0, 0, fit.mean)
        self._add(sine_a=a, sine_b=b, sine_c=c, sine_d=d, sine_mix_rate_interval_milliseconds=1000)
        self.text += '\nPearson correlations of rates by second:\n'
        columns = {'get': 0, 'iterator_Seek': 6, 'put': 1}
        for first, second in (('get', 'iterator_Seek'), ('get', 'put'), ('iterator_Seek', 'put')):
            if max(columns[first], columns[second]) < rates.shape[1]:
                correlation = fits.pearson(rates[:, columns[first]], rates[:, columns[second]])
                self.text += '  %s and %s: %.4f\n' % (first, second, correlation)

    def _curves(self, seconds, fit):
        """A curve that explains no more than the average is noise, and is only named."""
        if seconds < fits.LEAST_RATE_SECONDS:
            self.text += '  too short for a sine or a polynomial: %d seconds at least\n' % fits.LEAST_RATE_SECONDS
            return
        polynomial = sine = 'explains no more than the constant'
        if fit.polynomial_error is not None:
            polynomial = 'fit error %.3f' % fit.polynomial_error
        if fit.sine:
            sine = 'fit error %.3f  a=%.6g b=%.6g c=%.6g d=%.6g' % (fit.sine_error, *fit.sine)
        self.text += f'  polynomial   {polynomial}\n  sine         {sine}\n'

    def _written_keys(self, keys):
        places, _, accesses, sizes = np.array(keys or np.empty((0, 4))).T
        self.text += ('\nPearson correlations over the keys of puts:\n  value size and accesses: %.4f\n'
                      '  value size and place: %.4f\n  accesses and place: %.4f\n'
                      % (fits.pearson(sizes, accesses), fits.pearson(sizes, places), fits.pearson(accesses, places)))
