"""Selection kernels over the state graph, and sums and extremes over all transcripts that need no enumeration.

A quantity that is a sum of per-round terms depending on (state, selected query) has its extreme over all
transcripts on a longest path, and an expectation of a product of such terms is a backward pass; both take J
steps over the states. Arrays are `CertifiedArray`s of shape (states, 2k, rows), where a row is a target or
a pair of targets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from certify.arithmetic.arrays import CertifiedArray
from certify.release.domain import Integers
from certify.release.pmw import StateGraph
from certify.release.targets import TargetTable

TABLE_ENTRIES = 6_000_000
"""(state, signed query, target) entries up to which kernels are kept for all statements (about 100 MB in float64)."""

ArrayT = TypeVar("ArrayT", bound=CertifiedArray)


class Kernels(Generic[ArrayT]):
    """Tables of signed answers and targets, and the passes over the state graph, in one array arithmetic."""

    def __init__(
        self,
        array: type[ArrayT],
        graph: StateGraph,
        targets: TargetTable,
        eta: arb,
        answers: NDArray[np.object_],
    ) -> None:
        self.array = array
        self.graph = graph
        self.targets = targets
        self.eta: ArrayT = array.constant(eta)
        self.answers = array.from_balls(answers)
        self._positions = [{int(state): i for i, state in enumerate(level)} for level in graph.levels]

    @property
    def signed_count(self) -> int:
        return 2 * self.targets.domain.query_count

    def discrepancies(self, rows: Integers) -> ArrayT:
        """``D(s) = a_s - s(mu_z)`` (§3.2), shape (states, 2k, rows)."""
        return self._target_answers[:, rows][None] - self.answers[:, :, None]

    def log_kernels(self, rows: Integers) -> ArrayT:
        """``log P_a(s | state)``, shape (states, 2k, rows)."""
        if self._fits:
            return self._log_kernel_table[:, :, rows]
        return self._log_kernels(rows)

    def log_normalisers(self, rows: Integers) -> ArrayT:
        """``log N_z(a) = log sum_s exp(eta D(s))``, shape (states, rows); at least log 2, since s and -s are in it."""
        if self._fits:
            return self._log_normaliser_table[:, rows]
        return self._log_normalisers(rows)

    @property
    def _fits(self) -> bool:
        """Whether the kernels of every target are kept, or computed again for each chunk."""
        return self.graph.state_count * self.signed_count * len(self.targets) <= TABLE_ENTRIES

    @cached_property
    def _target_answers(self) -> ArrayT:
        """``a_s`` of every target, shape (2k, targets)."""
        scale = self.targets.scale
        cache: dict[int, arb] = {}
        k = self.targets.domain.query_count
        balls = np.empty((2 * k, len(self.targets)), dtype=object)
        for j, numerators in enumerate(self.targets.numerators):
            for q, numerator in enumerate(numerators):
                for row, value in ((q, numerator), (q + k, -numerator)):
                    if value not in cache:
                        cache[value] = arb(fmpq(value, scale))
                    balls[row, j] = cache[value]
        return self.array.from_balls(balls)

    @cached_property
    def _log_kernel_table(self) -> ArrayT:
        return self._in_chunks(self._log_kernels, axis=2)

    @cached_property
    def _log_normaliser_table(self) -> ArrayT:
        return self._in_chunks(self._log_normalisers, axis=1)

    def _in_chunks(self, compute: Callable[[Integers], ArrayT], axis: int) -> ArrayT:
        rows = np.arange(len(self.targets))
        parts = [compute(rows[start : start + 256]) for start in range(0, len(rows), 256)]
        return self.array.concatenate(parts, axis=axis)

    def _log_kernels(self, rows: Integers) -> ArrayT:
        logits = self.eta * self.discrepancies(rows)
        return logits - logits.log_sum_exp(1)[:, None]

    def _log_normalisers(self, rows: Integers) -> ArrayT:
        return (self.eta * self.discrepancies(rows)).log_sum_exp(1).nonnegative()

    def longest_path(self, scores: ArrayT) -> ArrayT:
        """``max over omega of sum_t score(state_{t-1}, s_t)`` for scores of shape (states, 2k, rows); shape (rows,)."""
        return self._backward(scores, logarithmic=False)

    def log_expectation(self, log_terms: ArrayT) -> ArrayT:
        """``log sum over omega of prod_t exp(log_term(state_{t-1}, s_t))``, shape (rows,)."""
        return self._backward(log_terms, logarithmic=True)

    def longest_transcript(self, scores: ArrayT, row: int) -> list[int]:
        """Signed queries of a path that is longest by the midpoints: a guide for a witness, not a claim."""
        guides = scores[:, :, row].midpoints()
        best: list[NDArray[np.int64]] = []
        value = np.zeros(len(self.graph.levels[-1]))
        for t in range(self.graph.rounds - 1, -1, -1):
            level = self.graph.levels[t]
            candidates = guides[level] + value[self._successors(t)]
            best.append(candidates.argmax(axis=1))
            value = candidates.max(axis=1)
        transcript, position = [], 0
        for t in range(self.graph.rounds):
            choice = int(best[self.graph.rounds - 1 - t][position])
            transcript.append(choice)
            position = int(self._successors(t)[position, choice])
        return transcript

    def _backward(self, terms: ArrayT, *, logarithmic: bool) -> ArrayT:
        rounds = self.graph.rounds
        value: ArrayT | None = None
        for t in range(rounds - 1, -1, -1):
            candidates = terms[self.graph.levels[t]]
            if value is not None:
                candidates = candidates + value[self._successors(t)]
            value = candidates.log_sum_exp(1) if logarithmic else candidates.max(1)
        assert value is not None
        return value[0]

    def _successors(self, t: int) -> Integers:
        """For level t: where each (state, signed query) lands in level t + 1, shape (states of t, 2k)."""
        landing = self.graph.next_state[self.graph.levels[t]]
        position = self._positions[t + 1]
        found: Integers = np.vectorize(lambda z: position[int(z)], otypes=[np.int64])(landing)
        return found
