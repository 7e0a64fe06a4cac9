"""Admissible targets (§3): the answer vectors of datasets and of the code families V_{x,R,m}, exact and merged.

A target is stored as integers over one common ``scale``: ``a_q = numerator_q / scale``. Targets that are
equal as rational vectors are one row, so that equal likelihoods are equal by construction and not by
comparison.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import lcm

import numpy as np
from flint import fmpq

from certify.release.domain import Domain, Integers

Move = tuple[int, ...]

MAX_CODE_WORDS = 2_000_000
MAX_MOVES = 4_000_000
MAX_WORDS_TRIED = 8_000_000
"""Targets, moves and words with repeats up to which the code families of an instance are formed."""


@dataclass(frozen=True)
class Codebook:
    """V_{x,R,m} for one centre: its distinct targets, as rows of the target table."""

    centre: int
    radius: int
    code_length: int
    rows: Integers


class TargetTable:
    """Distinct targets of an instance.

    ``numerators[i]`` are the k integers of target i, ``of_histogram[h]`` its row for each histogram,
    ``codebooks`` the code families asked for, keyed by (centre histogram, R, m).
    """

    def __init__(
        self,
        domain: Domain,
        centres: list[int],
        code_lengths: tuple[int, ...],
        radii: range,
        *,
        with_codebooks: bool,
    ) -> None:
        self.domain = domain
        self.common_length = lcm(*code_lengths) if code_lengths else 1
        self.scale = domain.denominator * domain.rows * self.common_length
        self._rows: dict[Move, int] = {}
        self.numerators: list[Move] = []
        self.of_histogram = np.array([self._row(self._dataset(h)) for h in domain.histograms.tolist()], dtype=np.int64)
        self.dataset_count = len(self.numerators)
        self.codebooks: dict[tuple[int, int, int], Codebook] = {}
        if with_codebooks:
            self._add_codebooks(centres, code_lengths, radii)

    def __len__(self) -> int:
        return len(self.numerators)

    def row_of(self, numerators: Move) -> int:
        """The row of a target that the table has. Raises KeyError for one that it has not."""
        return self._rows[numerators]

    def answers(self, row: int) -> tuple[fmpq, ...]:
        """The target as exact rationals, one per query."""
        return tuple(fmpq(value, self.scale) for value in self.numerators[row])

    def distance(self, a: int, b: int) -> fmpq:
        """``d_*(a, b) = (n/2) max_s |a_s - b_s|``, exact (§3)."""
        gap = max(abs(x - y) for x, y in zip(self.numerators[a], self.numerators[b], strict=True))
        return fmpq(gap * self.domain.rows, 2 * self.scale)

    def largest_answer(self) -> fmpq:
        """``max |a_q|`` over every target of the table."""
        return fmpq(max((abs(v) for row in self.numerators for v in row), default=0), self.scale)

    def _row(self, numerators: Move) -> int:
        row = self._rows.get(numerators)
        if row is None:
            row = self._rows[numerators] = len(self.numerators)
            self.numerators.append(numerators)
        return row

    def _dataset(self, histogram: list[int]) -> Move:
        return tuple(
            self.common_length * sum(c * v for c, v in zip(histogram, values, strict=True))
            for values in self.domain.scaled_queries
        )

    def _add_codebooks(self, centres: list[int], code_lengths: tuple[int, ...], radii: range) -> None:
        moves = sorted(set(single_moves(self.domain)))
        for m in code_lengths:
            sums = sorted(move_sums(moves, m))
            factor = self.common_length // m
            for centre in centres:
                origin = self.numerators[self.of_histogram[centre]]
                for radius in radii:
                    step = radius * factor
                    rows = [self._row(tuple(a + step * w for a, w in zip(origin, s, strict=True))) for s in sums]
                    key = (centre, radius, m)
                    self.codebooks[key] = Codebook(centre, radius, m, np.array(rows, dtype=np.int64))


def code_word_count(domain: Domain, code_lengths: Collection[int], centres: int) -> int | None:
    """How many targets the families V_{x,R,m} have together at most, R = 1..n; None where they are too many to form."""
    kinds = set(zip(*domain.scaled_queries, strict=True))
    if len(kinds) ** 2 > MAX_MOVES:
        return None
    moves = sorted({tuple(b - a for a, b in zip(d, e, strict=True)) for d in kinds for e in kinds})
    if len(moves) ** max(code_lengths) > MAX_WORDS_TRIED:
        return None
    total = sum(len(move_sums(moves, m)) for m in code_lengths) * domain.rows * centres
    return total if total <= MAX_CODE_WORDS else None


def single_moves(domain: Domain) -> list[Move]:
    """``denominator * delta_c`` over the labels ``c in {0} + D x D`` (§5), repeats kept: ``T^2 + 1`` entries."""
    elements = range(domain.universe_size)
    moves = [tuple(q[e] - q[d] for q in domain.scaled_queries) for d in elements for e in elements]
    return [(0,) * domain.query_count, *moves]


def move_sums(moves: list[Move], count: int) -> set[Move]:
    """All sums of ``count`` moves, distinct."""
    sums: set[Move] = {(0,) * len(moves[0])}
    for _ in range(count):
        sums = {tuple(a + b for a, b in zip(s, move, strict=True)) for s in sums for move in moves}
    return sums
