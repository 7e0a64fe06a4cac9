"""The combinatorial domain of §2: universe, queries, histograms of n rows, Hamming distances. Integers throughout.

Exchangeability: ``p_y`` depends on a database y only through its histogram, and the replacement Hamming
distance between the classes of two histograms is ``min d_H = n - sum_d min(h_d, h'_d)``. So maxima and
minima over ``D^n`` are maxima and minima over the ``C(n+T-1, T-1)`` histograms; the report says that this
was used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, lcm

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Domain:
    """Universe of T elements, k queries with exact values in [-1, 1], n rows.

    ``query_values[q][d]`` is q(d). Signed queries are numbered ``s = 0..2k-1``: s < k is ``(q_s, +1)``, s
    >= k is ``(q_{s-k}, -1)``.
    """

    universe: tuple[str, ...]
    query_names: tuple[str, ...]
    query_values: tuple[tuple[fmpq, ...], ...]
    rows: int

    @property
    def universe_size(self) -> int:
        return len(self.universe)

    @property
    def query_count(self) -> int:
        return len(self.query_names)

    @property
    def signed_count(self) -> int:
        return 2 * len(self.query_names)

    @cached_property
    def denominator(self) -> int:
        """The least common denominator of all query values."""
        return lcm(*(int(value.q) for values in self.query_values for value in values))

    @cached_property
    def scaled_queries(self) -> tuple[tuple[int, ...], ...]:
        """``denominator * q(d)`` as integers, indexed [query][element]."""
        return tuple(tuple(int((value * self.denominator).p) for value in values) for values in self.query_values)

    @cached_property
    def scaled_signed_queries(self) -> tuple[tuple[int, ...], ...]:
        """``denominator * s(d)``, indexed [signed query][element]."""
        return self.scaled_queries + tuple(tuple(-v for v in values) for values in self.scaled_queries)

    def signed_name(self, s: int) -> str:
        k = self.query_count
        return f"+{self.query_names[s]}" if s < k else f"-{self.query_names[s - k]}"

    def is_constant_query(self, q: int) -> bool:
        return len(set(self.scaled_queries[q])) == 1

    @property
    def histogram_count(self) -> int:
        return comb(self.rows + self.universe_size - 1, self.universe_size - 1)

    @cached_property
    def histograms(self) -> Integers:
        """Every histogram of n rows, shape (histogram_count, T), in lexicographic order."""
        return _compositions(self.rows, self.universe_size)

    @cached_property
    def histogram_index(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): i for i, row in enumerate(self.histograms.tolist())}

    def distances_from(self, histogram: Integers) -> Integers:
        """``min d_H`` between the class of one histogram and that of every histogram, shape (histogram_count,)."""
        return np.asarray(self.rows - np.minimum(self.histograms, histogram).sum(axis=1))

    def neighbours_of(self, index: int) -> list[int]:
        """The histograms at distance one: one row moved from d to another element."""
        row = self.histograms[index].tolist()
        found = []
        for source in range(self.universe_size):
            if row[source] == 0:
                continue
            for sink in range(self.universe_size):
                if sink != source:
                    moved = list(row)
                    moved[source] -= 1
                    moved[sink] += 1
                    found.append(self.histogram_index[tuple(moved)])
        return found

    def database(self, index: int) -> dict[str, int]:
        """A histogram as the report shows it: element name to count, zero counts left out."""
        counts = self.histograms[index].tolist()
        return {name: count for name, count in zip(self.universe, counts, strict=True) if count}


def _compositions(total: int, parts: int) -> Integers:
    """All vectors of ``parts`` nonnegative integers that add to ``total``, lexicographically."""
    if parts > total + 1:
        return _sparse_compositions(total, parts)
    table = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total], dtype=np.int64)
    for _ in range(parts - 1):
        parent = np.repeat(np.arange(len(left)), left + 1)
        first = np.concatenate([[0], np.cumsum(left + 1)[:-1]])
        value = np.arange(len(parent)) - first[parent]
        table = np.concatenate([table[parent], value[:, None]], axis=1)
        left = left[parent] - value
    return np.concatenate([table, left[:, None]], axis=1)


def _sparse_compositions(total: int, parts: int) -> Integers:
    """The same from the places of ``total`` units among many parts."""
    places = np.array(list(combinations_with_replacement(range(parts), total)), dtype=np.int64).reshape(-1, total)
    table = np.zeros((len(places), parts), dtype=np.int64)
    for column in places[::-1].T:
        table[np.arange(len(places)), column] += 1
    return table
