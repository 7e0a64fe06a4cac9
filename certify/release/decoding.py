"""Public decoding (§3): ``Ans(omega) = (q(mu_bar))_q`` and the loss ``L_x(omega) = ||Ans(omega) - F(x)||_inf``.

The loss is a signed, bounded quantity: it carries one absolute bound per centre. Constant queries are left
out, since they are answered exactly; with one round, or none but constant queries, an exact zero stays an
exact zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from certify.arithmetic.arrays import ball_maximum
from certify.arithmetic.scalar import Undetermined
from certify.release.domain import Domain
from certify.release.targets import TargetTable
from certify.release.transcripts import Block, HalfTranscripts, TranscriptSpace

Raw = NDArray[Any]


class Decoder:
    """Losses of transcript classes.

    ``error[c]`` bounds ``|value - L_x|`` for centre c; 0 in Arb, where the ball itself is the bound.
    float64 lemma: a table entry is within ``2^-52`` of ``q(mu)``, ``|q(mu)| <= 1`` (`Undetermined` is raised
    where the tables do not know it that well, so that more precision may help); a sum of J entries is
    off by at most ``J 2^-52 + J^2 2^-53``; the division by J, the rounded F(x) and the difference add at
    most ``6 * 2^-53``; in all less than ``(J + 8) 2^-52``.
    """

    def __init__(
        self,
        domain: Domain,
        targets: TargetTable,
        space: TranscriptSpace,
        answers: NDArray[np.object_],
        centres: list[int],
        *,
        in_floats: bool,
    ) -> None:
        self.in_floats = in_floats
        self.rounds = space.graph.rounds
        self.queries = [q for q in range(domain.query_count) if not domain.is_constant_query(q)]
        table = answers[:, self.queries]
        exact_truths = [[targets.answers(int(targets.of_histogram[c]))[q] for q in self.queries] for c in centres]
        if in_floats:
            table = np.vectorize(_table_entry, otypes=[np.float64])(table) if table.size else table.astype(np.float64)
            self.truths: Raw = np.array([[float(arb(v)) for v in row] for row in exact_truths], dtype=np.float64)
        else:
            self.truths = np.array([[arb(v) for v in row] for row in exact_truths], dtype=object)
        self.truths = self.truths.reshape(len(centres), len(self.queries))
        self._prefix = _visited_sum(space.prefixes, table)
        self._suffix = _visited_sum(space.suffixes, table)
        bound = fmpq(self.rounds + 8, 2**52) if in_floats else fmpq(0)
        self.error = [bound if self.queries else fmpq(0)] * len(centres)
        self._is_zero = [not self.queries] * len(centres)
        if self.rounds == 1:
            uniform = [sum(domain.query_values[q], fmpq(0)) / domain.universe_size for q in self.queries]
            for c, truths in enumerate(exact_truths):
                if truths == uniform:
                    self._is_zero[c], self.error[c] = True, fmpq(0)

    def is_exactly_zero(self, centre: int) -> bool:
        """True when ``L_x`` vanishes identically, by exact arithmetic."""
        return self._is_zero[centre]

    def loss(self, block: Block, centre: int) -> Raw:
        """``L_x`` of the block's classes, nonnegative, shape (block.size,)."""
        if self._is_zero[centre]:
            return np.full(block.size, 0.0 if self.in_floats else arb(0), dtype=self._prefix.dtype)
        deviations = np.abs(self.deviations(block, centre))
        maximum = np.maximum if self.in_floats else ball_maximum
        return np.asarray(maximum.reduce(deviations, axis=0))

    def deviations(self, block: Block, centre: int) -> Raw:
        """``q(mu_bar) - F_q(x)`` per query that is not constant, shape (queries, block.size)."""
        out = np.empty((len(self.queries), block.size), dtype=self._prefix.dtype)
        for segment in block.segments:
            view = out[:, segment.offset : segment.offset + segment.size].reshape(len(out), *segment.shape)
            prefix = self._prefix[:, segment.first : segment.last]
            suffix = self._suffix[:, segment.suffix_first : segment.suffix_last]
            np.add(prefix[:, :, None], suffix[:, None, :], out=view)
        return np.asarray(out / self.rounds - self.truths[centre][:, None])


_ENTRY_RADIUS = arb(fmpq(1, 2**60))


def _table_entry(answer: arb) -> float:
    """The double nearest the midpoint of a ball in [-1, 1] of radius at most 2^-60: off by less than 2^-52."""
    if not answer.is_finite() or not answer.rad() <= _ENTRY_RADIUS:
        raise Undetermined(f"an answer q(mu) is not known to 2^-60 at {ctx.prec} bits")
    return float(answer)


def _visited_sum(half: HalfTranscripts, table: Raw) -> Raw:
    """``sum of q(mu)`` over the states a class visits, shape (queries, classes)."""
    total = np.zeros((table.shape[1], len(half)), dtype=table.dtype)
    if table.dtype == object:
        total[...] = arb(0)
    for column in half.visited.T:
        total = total + table[column].T
    return total
