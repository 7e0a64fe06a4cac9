"""The noisy histogram of BC-10: counts with two-sided geometric noise, clamped, and the exact law of its error.

The count ``c_d`` of each element gets independent noise N, ``P(N = k) = (1-a)/(1+a) a^|k|`` with ``a = e^-r``,
and is clamped to ``[0, n]``; the answer of a query is ``(1/n) sum_d q(d) ĉ_d``. As ``P(N >= k) = a^k/(1+a)`` for
k >= 0, a clamped count v has probability

    ``a^|v - c| (1-a)/(1+a)`` for 0 < v < n,    ``a^|v - c|/(1+a)`` for v = 0 and for v = n,

which includes c = 0 and c = n. The noise is unbounded, but the clamped counts are finitely many, so privacy and
error are sums and maxima over ``(n+1)^T`` outputs and not limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.rounding import ENTRY_ROUNDINGS, growth_factor, nearest_float
from certify.arithmetic.scalar import Scalar, Undetermined, add, ball, divide, exponential, multiply, negate, subtract
from certify.release.domain import Domain

Counts = tuple[int, ...]
"""A histogram: how many of the n rows each of the T elements has."""

GRID = 2**17
"""Outputs whose losses are held at once."""

ENTRY_BITS = 96
"""Bits at which the balls behind a table of floats are computed."""

LOG_LEAST = 1000
"""Products of one entry per element that are not left out are at least ``2^-1000``."""


def mean_noise(rate: Scalar) -> Scalar:
    """``E|N| = 2a/(1 - a^2) = 1/sinh(r)`` of the noise with ``a = e^-r``, r > 0."""
    return divide(
        multiply(fmpq(2), exponential(negate(rate))), subtract(fmpq(1), exponential(multiply(fmpq(-2), rate)))
    )


class HistogramLaw:
    """The law of the clamped counts for the noise of rate r > 0, and the expected error of the answers.

    Balls are at the precision of the call. Methods raise `Undetermined` where r cannot be separated from 0 or a
    number has no finite ball.
    """

    def __init__(self, domain: Domain, rate: Callable[[], Scalar]) -> None:
        self.domain = domain
        self.rate = rate

    @property
    def output_count(self) -> int:
        """``(n+1)^T``, the clamped histograms of one database."""
        outputs: int = (self.domain.rows + 1) ** self.domain.universe_size
        return outputs

    def probability(self, count: int, output: int) -> arb:
        """``P(ĉ = output)`` of an element that has ``count`` rows; both in 0..n."""
        return _Noise(self.rate()).probability(count, output, self.domain.rows)

    def log_ratio(self, count: int, other: int, output: int) -> arb:
        """``log P(ĉ = output)/P(ĉ' = output)`` of elements that have ``count`` and ``other`` rows."""
        noise, rows = _Noise(self.rate()), self.domain.rows
        return (noise.probability(count, output, rows) / noise.probability(other, output, rows)).log()

    def expected_move(self, count: int) -> Scalar:
        """``E|ĉ - c| = E|N| ((1 - a^c) + (1 - a^(n-c)))/2`` for c = ``count``.

        ``E|ĉ - c|`` adds ``P(N >= k)`` for k up to n - c to ``P(N <= -k)`` for k up to c.
        """
        rate = self.rate()

        def reached(rows: int) -> Scalar:
            return subtract(fmpq(1), exponential(multiply(fmpq(-rows), rate)))

        both = add(reached(count), reached(self.domain.rows - count))
        return divide(multiply(mean_noise(rate), both), fmpq(2))

    def error_bound(self, counts: Counts) -> Scalar:
        """``sum_d max_q |q(d)| E|ĉ_d - c_d|/n``, at least the expected error: for universes with too many outputs."""
        total: Scalar = fmpq(0)
        for values, count in zip(zip(*self.domain.query_values, strict=True), counts, strict=True):
            weight = max(abs(value) for value in values) / self.domain.rows
            total = add(total, multiply(weight, self.expected_move(count)))
        return total

    def expected_error(self, counts: Counts, *, in_floats: bool) -> Enclosure:
        """``E max_q |(1/n) sum_d q(d) (ĉ_d - c_d)|`` over every output, with exact losses.

        In float64 the relative width is about ``T n 2^-52``. Every term is a product of positive numbers: the
        probabilities carry `ENTRY_ROUNDINGS` each, the loss, an integer over a common denominator, one, a product
        one, and a sum over n + 1 terms n, which makes ``1 + T (n + 5)``. A probability below ``2^-(1000/T)`` counts
        as 0, and no other product leaves the normal range. What that leaves out has at most the sum of these
        probabilities as its mass, and a loss of at most T. Raises `Undetermined` for losses beyond 2^62.
        """
        if in_floats:
            return self._error_in_floats(counts)
        everywhere = np.arange(self.domain.rows + 1).astype(object)
        moves = [everywhere - count for count in counts]
        tables = [self._balls(count) for count in counts]
        return Enclosure.of(_Expectation(self.domain, moves, tables).value() / self._scale)

    @cached_property
    def _scale(self) -> int:
        """The common denominator of all losses."""
        return self.domain.denominator * self.domain.rows

    def _error_in_floats(self, counts: Counts) -> Enclosure:
        size, rows = self.domain.universe_size, self.domain.rows
        if size * self._scale >= 2**62:
            raise Undetermined("the losses have a common denominator that is too large for float64")
        moves, tables, left_out, least = [], [], 0, fmpq(1, 2 ** (LOG_LEAST // size))
        for count in counts:
            table = self._floats(count, least)
            outputs = np.flatnonzero(table)
            moves.append(outputs - count)
            tables.append(table[outputs])
            left_out += len(table) - len(outputs)
        total = float(_Expectation(self.domain, moves, tables).value())
        value, factor = fmpq(*total.as_integer_ratio()), growth_factor(1 + size * (ENTRY_ROUNDINGS + 1 + rows))
        return Enclosure(value / factor / self._scale, value * factor / self._scale + left_out * least * size)

    def _balls(self, count: int) -> Any:
        noise, rows = _Noise(self.rate()), self.domain.rows
        table = np.empty(rows + 1, dtype=object)
        table[:] = [noise.probability(count, output, rows) for output in range(rows + 1)]
        return table

    def _floats(self, count: int, least: fmpq) -> Any:
        """The probabilities of one clamped count, 0 for those that are certainly below ``least``."""
        with ctx.workprec(ENTRY_BITS):
            below = arb(least)
            return np.array([0.0 if p < below else nearest_float(p) for p in self._balls(count)])


class _Noise:
    """The noise of one rate, at the precision of its making."""

    def __init__(self, rate: Scalar) -> None:
        if not rate > 0:
            raise Undetermined(f"the rate of the noise cannot be separated from 0 at {ctx.prec} bits")
        self._rate = ball(rate)
        upper = 1 / (1 + (-self._rate).exp())
        self._end, self._inside = upper, -(-self._rate).expm1() * upper

    def probability(self, count: int, output: int, rows: int) -> arb:
        weight = self._end if output in (0, rows) else self._inside
        return weight * (-self._rate * abs(output - count)).exp()


class _Expectation:
    """``sum over outputs of P(output) max_q |sum_d scaled q(d) (ĉ_d - c_d)|``.

    ``moves[d]`` are the values of ``ĉ_d - c_d``, ``tables[d]`` their probabilities: int64 and float64, or Python's
    integers and balls.
    """

    def __init__(self, domain: Domain, moves: Sequence[Any], tables: Sequence[Any]) -> None:
        self._tables = tables
        columns = zip(*domain.scaled_queries, strict=True)
        self._steps = [[value * move for value in column] for column, move in zip(columns, moves, strict=True)]
        """By element and query: what each output of the element adds to the answer."""

    def value(self) -> Any:
        return self._from(0, [0] * len(self._steps[0]))

    def _from(self, element: int, sums: list[Any]) -> Any:
        """The mean over the elements from this one on, where those before it have added ``sums``."""
        rest = self._tables[element:]
        if len(rest) == 1 or prod(len(table) for table in rest) <= GRID:
            return self._on_grid(element, sums)
        total: Any = 0
        for i, weight in enumerate(self._tables[element]):
            added = [start + steps[i] for start, steps in zip(sums, self._steps[element], strict=True)]
            total = total + weight * self._from(element + 1, added)
        return total

    def _on_grid(self, element: int, sums: list[Any]) -> Any:
        loss: Any = None
        for q, start in enumerate(sums):
            moved = start + self._steps[element][q]
            for steps in self._steps[element + 1 :]:
                moved = np.add.outer(moved, steps[q])
            loss = abs(moved) if loss is None else np.maximum(loss, abs(moved))
        if loss.dtype == np.int64:
            loss = loss.astype(np.float64)
        for table in reversed(self._tables[element:]):
            loss = loss @ table
        return loss
