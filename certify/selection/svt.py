"""The SVT primitive: Algorithms 1 and 2 (a stream), and Algorithm 3 (a batch)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from certify.selection.accountant import Accountant
from certify.selection.bits import WORD, BitSource, SystemBits
from certify.selection.noise import Geometric, InverseExponential, Laplace, Noise, ThresholdNoise, Uniform, exceeds
from certify.selection.oracle import StreamClosed
from certify.selection.parameters import Exact, positive, rational
from certify.selection.scores import Scores, ScoreTable
from certify.selection.screen import Screen, first_yes

THRESHOLD_SCALE, QUERY_SCALE = 2, 4

MIN_BATCH = 32
"""Shorter batches are asked one by one."""

Query = TypeVar("Query")


@dataclass(frozen=True, slots=True)
class SvtNoise:
    """The two laws of a stream: the threshold's, drawn once, and the queries'."""

    threshold: Noise
    query: Noise

    @classmethod
    def laplace(cls, epsilon: Exact) -> SvtNoise:
        """Lap(2/ε) and Lap(4/ε): Algorithms 1 and 2."""
        return _laplace(positive(epsilon, "epsilon"))

    @classmethod
    def geometric(cls, epsilon: Exact) -> SvtNoise:
        """The integer noises of the same privacy, P(k) ∝ e^(-ε|k|/2) and e^(-ε|k|/4), for integer sums."""
        epsilon = positive(epsilon, "epsilon")
        return cls(
            Geometric(InverseExponential(epsilon / THRESHOLD_SCALE)),
            Geometric(InverseExponential(epsilon / QUERY_SCALE)),
        )


@lru_cache(maxsize=256)
def _laplace(epsilon: fmpq) -> SvtNoise:
    return SvtNoise(Laplace(THRESHOLD_SCALE / epsilon), Laplace(QUERY_SCALE / epsilon))


class SvtStream(Generic[Query]):
    """A stream of budget ε on private scores: Theorem 5.1 says that it is ε-DP however many noes it answers.

    The accountant is charged before any noise is drawn. `strict` is Algorithm 2's `>`; Algorithm 3 prints `>=`,
    the same law for Laplace noise and another one for geometric noise. A stream belongs to one thread. Raises
    BudgetExceeded.
    """

    def __init__(
        self,
        scores: Scores[Query],
        epsilon: Exact,
        accountant: Accountant,
        bits: BitSource | None = None,
        *,
        noise: SvtNoise | None = None,
        strict: bool = True,
    ) -> None:
        epsilon = positive(epsilon, "epsilon")
        noise = noise or SvtNoise.laplace(epsilon)
        accountant.charge(epsilon)
        self._scores = scores
        self._bits = bits or SystemBits()
        self._law = noise.query
        self._threshold_noise = ThresholdNoise(noise.threshold, self._bits)
        self._strict = strict
        self._closed = False
        self._screened = False
        self._found_screen: Screen | None = None

    @property
    def closed(self) -> bool:
        """Whether the stream has answered yes."""
        return self._closed

    def query(self, query: Query, threshold: Exact) -> bool:
        """Whether f(x) + ν > τ + γ, with a fresh ν and the stream's γ, for f = `query` and τ = `threshold`.

        A yes closes the stream. Raises StreamClosed when it is closed, TypeError for a threshold that is not
        exact. Both leave the stream as it was.
        """
        self._refuse_when_closed()
        shift = rational(threshold, "the threshold") - self._scores.total(query)
        self._closed = self._answer(shift)
        return self._closed

    def first_yes(self, queries: Sequence[Query], threshold: Exact) -> int | None:
        """The position of the first of `queries` that `query` answers yes at this threshold, or None."""
        self._refuse_when_closed()
        exact = rational(threshold, "the threshold")
        sums, screen = self._vector(queries), self._screen()
        if sums is None or screen is None or screen.probabilities(exact, sums[:1]) is None:
            return next((i for i, each in enumerate(queries) if self.query(each, exact)), None)

        def settle(position: int, prefix: int) -> bool:
            return self._settle(exact - int(sums[position]), prefix)

        position = first_yes(screen, exact, sums, self._bits, settle)
        self._closed = position is not None
        return position

    def _answer(self, shift: fmpq) -> bool:
        screen = self._screen()
        if screen is None:
            return exceeds(self._law, self._threshold_noise, shift, self._bits, strict=self._strict)
        word = self._bits.take(WORD)
        answer = screen.answer(shift, word)
        return self._settle(shift, word) if answer is None else answer

    def _settle(self, shift: fmpq, prefix: int) -> bool:
        """The answer when the uniform number begins with these 64 bits."""
        uniform = Uniform(self._bits, WORD, prefix)
        return exceeds(self._law, self._threshold_noise, shift, self._bits, strict=self._strict, uniform=uniform)

    def _screen(self) -> Screen | None:
        if not self._screened:
            self._screened = True
            if isinstance(self._law, Laplace) and self._bits.block == WORD:
                self._found_screen = Screen.of(self._law, self._threshold_noise)
        return self._found_screen

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StreamClosed("the stream is closed by its yes: open a new one")

    def _vector(self, queries: Sequence[Query]) -> NDArray[np.int64] | None:
        """The sums of the queries as int64, if the scores have them and it is worth while."""
        if len(queries) < MIN_BATCH or self._bits.block != WORD or not isinstance(self._scores, ScoreTable):
            return None
        integers = self._scores.integers
        if integers is None:
            return None
        if isinstance(queries, range) and queries.step == 1 and queries.start >= 0 and queries.stop <= len(integers):
            return integers[queries.start : queries.stop]
        positions = np.asarray(queries)
        if positions.min() < 0 or positions.max() >= len(integers):
            return None  # one by one, up to the candidate that does not exist
        return integers[positions]


class SvtOracle:
    """Streams on a table of scores, all charged to one accountant."""

    def __init__(self, scores: ScoreTable, accountant: Accountant, bits: BitSource | None = None) -> None:
        self._scores = scores
        self._accountant = accountant
        self._bits = bits or SystemBits()

    def open_stream(self, epsilon: fmpq) -> SvtStream[int]:
        """A new stream. Raises BudgetExceeded."""
        return SvtStream(self._scores, epsilon, self._accountant, self._bits)


def above_threshold(
    scores: Scores[Query],
    queries: Sequence[Query],
    thresholds: Sequence[Exact],
    epsilon: Exact,
    accountant: Accountant,
    bits: BitSource | None = None,
    *,
    noise: SvtNoise | None = None,
    strict: bool = False,
) -> int | None:
    """Algorithm 3: the position of the first query that reaches its threshold, or None for ⊥.

    One threshold per query; Algorithm 3 compares with `>=`, hence `strict=False`. Raises ValueError when the
    numbers of queries and thresholds differ, BudgetExceeded, and TypeError for a threshold that is not exact; all
    before any noise is drawn.
    """
    if len(queries) != len(thresholds):
        raise ValueError(f"{len(queries)} queries with {len(thresholds)} thresholds: give one for each")
    exact = [rational(each, f"threshold {i}") for i, each in enumerate(thresholds)]
    stream = SvtStream(scores, epsilon, accountant, bits, noise=noise, strict=strict)
    return next((i for i, (f, tau) in enumerate(zip(queries, exact, strict=True)) if stream.query(f, tau)), None)
