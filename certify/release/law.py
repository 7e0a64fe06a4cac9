"""The transcript law of every target of an instance (§3), as two tables whose outer products are the likelihoods.

``prefix[a, i]`` and ``suffix[a, j]`` are raw arrays of one `PositiveArithmetic`; the mass of the class pair
(i, j) under target a is ``combine(prefix[a, i], suffix[a, j])``. Everything that the float tables are read
from is an Arb ball.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from certify.arithmetic.positive import (
    TABLE_PRECISION,
    BallArithmetic,
    PositiveArithmetic,
    linear_range_is_safe,
)
from certify.arithmetic.rounding import ENTRY_ROUNDINGS
from certify.release.domain import Integers
from certify.release.pmw import StateGraph
from certify.release.targets import TargetTable
from certify.release.transcripts import Block, HalfTranscripts, TranscriptSpace

Raw = NDArray[Any]


def log_size_of_likelihoods(rounds: int, queries: int, eta: arb, largest_answer: fmpq, rate: arb, rows: int) -> arb:
    """A bound on ``|log|`` of every intermediate of the law: ``J (2 eta (A+1) + log 2k) + lambda n``.

    Lemma. Every intermediate is a product of at most J factors ``exp(eta a_s)``, J factors ``exp(-eta
    s(mu))`` (summed over at most ``(2k)^J`` runs), J factors ``1/N`` with ``2 <= N <= 2k exp(eta (A+1))``
    (N contains s and -s), and one penalty ``exp(-lambda d)``, d <= n. Here ``A = max |a_s|`` over all
    targets, the codebooks' included.
    """
    return rounds * (2 * eta * (largest_answer + 1) + arb(2 * queries).log()) + rate * rows


class Law:
    """Likelihoods of all targets in one arithmetic.

    ``penalties[d]`` is ``exp(-lambda d)`` for d = 0..n as a raw entry. The bound charged to the arithmetic
    covers a likelihood, a penalised one, and a maximum of such.
    """

    def __init__(
        self,
        space: TranscriptSpace,
        targets: TargetTable,
        arithmetic: PositiveArithmetic,
        *,
        eta: arb,
        rate: arb,
        answers: NDArray[np.object_],
    ) -> None:
        """``rate`` is lambda = eps/2, the envelope's penalty a row (§4); ``answers[z, s] = s(mu_z)``; all are balls.

        Float tables need a current precision of at least 96 bits.
        """
        if ctx.prec < TABLE_PRECISION and not isinstance(arithmetic, BallArithmetic):
            raise ValueError(f"float tables are read off balls of at least {TABLE_PRECISION} bits")
        self.space = space
        self.targets = targets
        self.arithmetic = arithmetic
        graph = space.graph
        logs = selection_logs(targets, eta)
        discounts = np.asarray(np.frompyfunc(lambda v: (-eta * v).exp(), 1, 1)(answers), dtype=object)
        selections = np.asarray(np.frompyfunc(lambda v: v.exp(), 1, 1)(logs), dtype=object)
        self._raw_selections = arithmetic.entries(logs)
        self._reciprocal, self._reciprocal_roundings = self._reciprocals(graph, selections, discounts)
        self.prefix = self._half(space.prefixes, 1, discounts)
        self.suffix = self._half(space.suffixes, len(space.middle_states), discounts)
        # the outer product of the two halves is no larger than both together
        arithmetic.charge(self.prefix, 1)
        arithmetic.charge(self.suffix, 1)
        self.rate = rate
        self.penalties = self.penalty_entries(fmpq(1))
        # a penalty for the distance, and for a neighbour's offset a quotient of two penalties
        arithmetic.charge_penalties(self.penalties, (ENTRY_ROUNDINGS + 1) + (2 * ENTRY_ROUNDINGS + 2))

    def allow_chained_penalties(self, count: int) -> None:
        """Charge for ``count`` successive multiplications by a penalty, as the directional sweeps make them."""
        self.arithmetic.charge_penalties(self.penalties, count * (ENTRY_ROUNDINGS + 1))

    def penalty_entries(self, fraction: fmpq) -> Raw:
        """``exp(-fraction lambda d)`` for d = 0..n as raw entries."""
        logs = [-self.rate * fraction * d for d in range(self.targets.domain.rows + 1)]
        return self.arithmetic.entries(np.array(logs, dtype=object))

    def _reciprocals(
        self, graph: StateGraph, selections: NDArray[np.object_], discounts: NDArray[np.object_]
    ) -> tuple[Raw, int]:
        """``1 / N_z(a)`` of every selecting state, shape (targets, states), zero columns elsewhere unused."""
        selecting = graph.selecting_states
        values, roundings = self.arithmetic.reciprocal_dot(selections, discounts[selecting])
        table = np.zeros((len(self.targets), graph.state_count), dtype=self.arithmetic.dtype)
        table[:, selecting] = values
        return table, roundings

    def _half(self, half: HalfTranscripts, seeds: int, discounts: NDArray[np.object_]) -> Raw:
        """``f(class; a)`` times the class weight, raw, shape (targets, classes)."""
        arithmetic = self.arithmetic
        current: Raw = np.broadcast_to(arithmetic.entries(np.array([arb(0)], dtype=object)), (len(self.targets), seeds))
        for step in half.steps:
            arithmetic.charge(self._raw_selections, ENTRY_ROUNDINGS)
            current = arithmetic.combine(current[:, step.parent], self._raw_selections[:, step.query])
            arithmetic.charge(current, 1)
            arithmetic.charge(self._reciprocal[:, self.space.graph.selecting_states], self._reciprocal_roundings)
            current = arithmetic.combine(current, self._reciprocal[:, step.state[step.parent]])
            arithmetic.charge(current, 1)
        log_weights = np.frompyfunc(lambda c: c.log(), 1, 1)(half.weights(discounts))
        weights = arithmetic.entries(np.asarray(log_weights, dtype=object))
        arithmetic.charge(weights, ENTRY_ROUNDINGS)
        result = np.asarray(arithmetic.combine(current, weights))
        arithmetic.charge(result, 1)
        return result

    def fill(self, block: Block, rows: Integers, out: Raw) -> Raw:
        """Masses of a block's classes under the given targets: ``out`` of shape (len(rows), block.size)."""
        for segment in block.segments:
            prefix = self.prefix[rows, segment.first : segment.last]
            suffix = self.suffix[rows, segment.suffix_first : segment.suffix_last]
            view = out[:, segment.offset : segment.offset + segment.size].reshape(len(rows), *segment.shape)
            self.arithmetic.combine(prefix[:, :, None], suffix[:, None, :], out=view)
        return out


def selection_logs(targets: TargetTable, eta: arb) -> NDArray[np.object_]:
    """``eta a_s`` for every target and signed query, balls, shape (targets, 2k)."""
    k = targets.domain.query_count
    cache: dict[int, arb] = {}

    def ball(numerator: int) -> arb:
        if numerator not in cache:
            cache[numerator] = eta * fmpq(numerator, targets.scale)
        return cache[numerator]

    logs = np.empty((len(targets), 2 * k), dtype=object)
    for row, numerators in enumerate(targets.numerators):
        for q, numerator in enumerate(numerators):
            logs[row, q] = ball(numerator)
            logs[row, q + k] = ball(-numerator)
    return logs


def fits_linear(rounds: int, queries: int, eta: arb, largest_answer: fmpq, rate: arb, rows: int) -> bool:
    """The exponent-range gate for `LinearArithmetic`."""
    return linear_range_is_safe(log_size_of_likelihoods(rounds, queries, eta, largest_answer, rate, rows))
