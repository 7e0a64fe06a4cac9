"""CompareToThresholds: Algorithms 4 and 5 (BetweenThresholds), answers low, high or close."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

from flint import arb, fmpq

from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import Scalar, logarithm
from certify.arithmetic.verdict import Verdict
from certify.selection.accountant import Accountant
from certify.selection.bits import BitSource, SystemBits
from certify.selection.noise import Bound, Laplace, ThresholdNoise, Uniform, decide
from certify.selection.oracle import StreamClosed
from certify.selection.parameters import Exact, probability, rational, shown
from certify.selection.scores import Scores

THRESHOLD_SCALE, QUERY_SCALE = 2, 6
GAP_FACTOR, GAP_NUMERATOR = 12, 10

_PRECISION, _MAX_PRECISION = 64, 4096

Query = TypeVar("Query")


class Answer(Enum):
    """Where a score lies relative to two thresholds."""

    LOW = "low"
    HIGH = "high"
    CLOSE = "close"


class NarrowGap(ValueError):
    """The two thresholds are closer to each other than the privacy proof allows."""


def gap(epsilon: Exact, delta: Exact) -> Scalar:
    """12/ε (log(10/ε) + log(1/δ) + 1), the least distance of the thresholds, at the current precision."""
    epsilon, delta = probability(epsilon, "epsilon"), probability(delta, "delta")
    return (logarithm(GAP_NUMERATOR / (epsilon * delta)) + 1) * (GAP_FACTOR / epsilon)


class ComparisonStream(Generic[Query]):
    """A stream of budget (ε, δ), both in (0,1); it answers until its first `close`. Raises BudgetExceeded."""

    def __init__(
        self,
        scores: Scores[Query],
        epsilon: Exact,
        delta: Exact,
        accountant: Accountant,
        bits: BitSource | None = None,
    ) -> None:
        self._epsilon, self._delta = probability(epsilon, "epsilon"), probability(delta, "delta")
        accountant.charge(self._epsilon, self._delta)
        self._scores = scores
        self._bits = bits or SystemBits()
        self._law = Laplace(QUERY_SCALE / self._epsilon)
        self._noise = ThresholdNoise(Laplace(THRESHOLD_SCALE / self._epsilon), self._bits)
        self._narrowest_accepted: fmpq | None = None
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the stream has answered `close`."""
        return self._closed

    def query(self, query: Query, low: Exact, high: Exact) -> Answer:
        """HIGH if f(x) + ν > high - γ, else LOW if f(x) + ν < low + γ, else CLOSE, which closes the stream.

        ν is fresh and the same in both tests; γ is the stream's. Raises StreamClosed, NarrowGap when high - low
        is less than `gap`, TypeError for thresholds that are not exact; all leave the stream as it was.
        """
        if self._closed:
            raise StreamClosed("the stream is closed by its answer close: open a new one")
        low, high = rational(low, "the low threshold"), rational(high, "the high threshold")
        self._check_gap(high - low)
        total = self._scores.total(query)
        to_low, to_high = low - total, high - total

        # ν is the quantile U of its upper tail Q: ν > z if U < Q(z), and ν < z if U > Q(z).
        def answer(least: arb, greatest: arb, noise: tuple[Bound, Bound]) -> Answer | arb:
            high_least, high_greatest = self._law.tails(to_high, *_negated(noise), strict=True)
            if greatest <= high_least:
                return Answer.HIGH
            if not least >= high_greatest:
                return high_greatest - high_least
            low_least, low_greatest = self._law.tails(to_low, *noise, strict=True)
            if least >= low_greatest:
                return Answer.LOW
            return Answer.CLOSE if greatest <= low_least else low_greatest - low_least

        result = decide(Uniform(self._bits), self._noise, answer)
        self._closed = result is Answer.CLOSE
        return result

    def _check_gap(self, width: fmpq) -> None:
        """The gap is irrational (10/(εδ) is a rational above 1), so it is always told from the width."""
        if self._narrowest_accepted is not None and width >= self._narrowest_accepted:
            return
        decision = decide_le(
            lambda: gap(self._epsilon, self._delta),
            lambda: width,
            precision=_PRECISION,
            max_precision=_MAX_PRECISION,
        )
        if decision.verdict is not Verdict.PROVED:
            least = decision.lhs.decimals(6)["upper"]
            raise NarrowGap(f"the thresholds are {shown(width)} apart: the privacy proof needs at least {least}")
        self._narrowest_accepted = width


def _negated(noise: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
    low, high = noise
    return (None if high is None else -high), (None if low is None else -low)
