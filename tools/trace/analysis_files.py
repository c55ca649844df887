"""Reads the files that trace_analyzer wrote.

A file that cannot be read, or a line that is not what it should be, raises Refused with the file, the line and the
reason. Refused is also raised for parameters that the files exclude. Its text begins with the kind of the error, as a
Status does.
"""

import re
from collections import namedtuple

# So many observations that lie in (above, upto].
Bin = namedtuple('Bin', 'above upto count')
# place: among all keys if the analysis had key_space_dir, else among those accessed; value_size: 0 with key_space_dir.
Key = namedtuple('Key', 'place end count value_size')

NUMBER = re.compile(rb'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?')
# The analyzer writes counts, sizes and seconds: no number is negative, and each is exact as a double.
MOST_NUMBER = 1e15


class Refused(Exception):
    """An error for the user."""


class Missing(Refused):
    """A file that the analysis was not asked for."""


def demand(condition):
    if not condition:
        raise ValueError


def parsed(path, parse):
    """The results of parse(line, results) for each line; parse raises ValueError or TypeError for a wrong line."""
    results = []
    try:
        with open(path, 'rb') as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b'\n'):  # The analyzer ends every line.
                    raise Refused(f'Corruption: {path}: line {number} has no end: it is cut short')
                try:
                    results.append(parse(line[:-1], results))
                except (ValueError, TypeError):
                    text = line[:-1][:60].decode(errors='surrogateescape')
                    raise Refused(f'Corruption: {path}: line {number}: {text}') from None
    except FileNotFoundError as error:
        raise Missing(f'NotFound: {path}: {error.strerror}') from None
    except OSError as error:
        raise Refused(f'IO error: {path}: {error.strerror}') from None
    return results


def number_of(word):
    demand(NUMBER.fullmatch(word))
    demand(0 <= float(word) <= MOST_NUMBER)
    return float(word)


def numbers(line):
    """The numbers of a line, words left out."""
    return [number_of(word) for word in line.split() if re.match(rb'[\d-]', word) or NUMBER.fullmatch(word)]


# Rows of the numbers of a line: a bin of the integers (value - 1, value] or (first - 1, last], a key.
def value_bin(value, count):
    return Bin(value - 1, value, count)


def bucket_bin(first, end, count):
    return Bin(first - 1, end - 1, count)


def whole_key(place, accesses):
    return Key(int(place), int(place) + 1, int(accesses), 0)


def accessed_key(_family, value_size, place, accesses, _successes):
    return Key(int(place), int(place) + 1, int(accesses), int(value_size))


class Analysis:
    """The figures of a column family. Figures that the analysis was not asked for are the Missing of their file."""

    def __init__(self, folder, prefix, family, access):
        self._start, self._family = f'{folder}/{prefix}-', str(family)
        composition = parsed(self._start + 'composition.csv', self._composition_row)[1:]
        self.queries = {kind: count for kind, of, count in composition if of == self._family and count > 0}  # by kind
        if not self.queries:
            raise Missing(f'NotFound: column family {family}: no accesses')
        if access and access not in self.queries:
            raise Refused(f'Invalid argument: --access={access}: the analysis has no accesses of this kind')
        self.access = access or max(sorted(self.queries), key=self.queries.get)
        self.value_sizes = self._rows('put', 'accessed_value_size_distribution', bucket_bin)
        self.scan_lengths = self._rows('iterator', 'scan_length_distribution', value_bin)
        self.key_sizes = self._rows(self.access, 'accessed_key_size_distribution', value_bin)
        self.access_counts = self._rows(self.access, 'accessed_key_count_distribution', value_bin)
        self.keys = self._rows(self.access, 'whole_key_stats', whole_key)
        self.is_whole = not isinstance(self.keys, Missing)
        if not self.is_whole:
            self.keys = self._rows(self.access, 'accessed_key_stats', accessed_key)
        self.rates = self._read('qps_stats', self._rates_row)  # by second; the last column is over all kinds
        self.written_keys = self._rows('put', 'accessed_key_stats', accessed_key)

    def _read(self, name, parse):
        try:
            return parsed(f'{self._start}{name}.txt', parse)
        except Missing as missing:
            return missing

    def _rows(self, access, name, make):
        """Each row belongs behind the others, and stands for something."""
        def parse(line, rows):
            row = make(*numbers(line))
            demand(row[1] > row[0] and row.count > 0 and (not rows or row[0] >= rows[-1][1]))
            return row

        return self._read(f'{access}-{self._family}-{name}', parse)

    @staticmethod
    def _composition_row(line, rows):
        if not rows:
            demand(line.startswith(b'type,cf,queries'))
            return None
        access, family, count = line.split(b',')[:3]
        return access.decode(errors='surrogateescape'), family.decode(errors='replace'), number_of(count)

    @staticmethod
    def _rates_row(line, rows):
        row = numbers(line)
        demand(len(row) == len(rows[0]) if rows else row)
        return row
