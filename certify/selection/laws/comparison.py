"""The law of CompareToThresholds (Algorithms 4-5): High, Low or Close for each query, until the first Close.

With the threshold noise n fixed, ``High`` is ``u > τH - n - f`` and ``Low`` is ``u < τL + n - f``; both can hold for
``n > (τH-τL)/2``, and the test that comes first decides. On a piece of n each probability is ``a + b Z + c/Z`` with
``Z = e^(n/scale)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import comb

from flint import arb, ctx, fmpq

from certify.selection.instance_model import ComparisonQuery, ComparisonSpec
from certify.selection.laws.exponential_sum import BallRing, Point

_HALF = fmpq(1, 2)
MAX_OUTCOMES = 5_000

Move = tuple[int, int, int] | int
"""How far all sums are moved, or those at High, Low and Close answers."""

Polynomial = dict[int, arb]
"""Coefficients by the power of Z."""


@dataclass(frozen=True, slots=True)
class ComparisonOutcome:
    """Per group of equal queries how many were High and how many Low; ``close`` says that the last answer was Close.

    ``multiplicity`` counts the sequences of answers that this stands for, all equally likely.
    """

    counts: tuple[tuple[int, int], ...]
    close: bool
    multiplicity: int

    @property
    def label(self) -> str:
        """``H×20 C``: the answers with the High ones of each group first."""
        parts = [f"{letter}×{n}" for high, low in self.counts for letter, n in (("H", high), ("L", low)) if n]
        return " ".join([*parts, *(["C"] if self.close else [])])


def comparison_outcomes(spec: ComparisonSpec) -> list[ComparisonOutcome]:
    """Every outcome, or the fixed one. Raises ValueError where there are more than `MAX_OUTCOMES`."""
    if spec.output is not None:
        return [_fixed_outcome(spec, spec.output)]
    found = []
    for groups in range(1, len(spec.queries) + 1):
        full = [[(h, q.count - h) for h in range(q.count + 1)] for q in spec.queries[: groups - 1]]
        last = spec.queries[groups - 1].count
        ended = [((h, asked - h), True) for asked in range(last) for h in range(asked + 1)]
        if groups == len(spec.queries):
            ended += [((h, last - h), False) for h in range(last + 1)]
        for before in product(*full):
            for counts, close in ended:
                found.append(_outcome((*before, counts), close))
        if len(found) > MAX_OUTCOMES:
            raise ValueError(f"more than {MAX_OUTCOMES:,} outcomes")
    return found


def _outcome(counts: tuple[tuple[int, int], ...], close: bool) -> ComparisonOutcome:
    multiplicity = 1
    for high, low in counts:
        multiplicity *= comb(high + low, high)
    return ComparisonOutcome(counts, close, multiplicity)


def _fixed_outcome(spec: ComparisonSpec, output: str) -> ComparisonOutcome:
    counts, position = [], 0
    answers = output.rstrip("C")
    for query in spec.queries:
        part = answers[position : position + query.count]
        counts.append((part.count("H"), part.count("L")))
        position += query.count
        if len(part) < query.count:
            break
    return ComparisonOutcome(tuple(counts), output.endswith("C"), 1)


class ComparisonLaw:
    """Probabilities of outcomes at the current precision; sums can be moved by kind of answer."""

    def __init__(self, spec: ComparisonSpec) -> None:
        self.spec = spec
        self.rate = 1 / spec.query_scale

    def probability(self, outcome: ComparisonOutcome, shifts: tuple[int, int, int]) -> arb:
        """The probability of one sequence of the outcome, the sums moved by ``shifts`` at High, Low and Close answers.

        A Close answer moved by 1 or -1 goes away from the middle of its thresholds or towards it, not beyond.
        """
        factors: list[tuple[ComparisonQuery, fmpq, str, int]] = []
        for query, (high, low) in zip(self.spec.queries, outcome.counts, strict=False):
            factors.append((query, query.sum + shifts[0], "H", high))
            factors.append((query, query.sum + shifts[1], "L", low))
        if outcome.close:
            query = self.spec.queries[self._closing(outcome)]
            factors.append((query, _moved_close(query, shifts[2]), "C", 1))
        with ctx.extraprec(4 * sum(count for *_, count in factors) + 32):
            return self._integral([factor for factor in factors if factor[3]])

    def at(self, outcome: ComparisonOutcome, shift: int) -> arb:
        """The probability of one sequence with every sum moved by ``shift``."""
        moved = ComparisonSpec(
            tuple(ComparisonQuery(q.sum + shift, q.low, q.high, q.count) for q in self.spec.queries),
            self.spec.threshold_scale,
            self.spec.query_scale,
            self.spec.high_first,
            self.spec.check_gap,
            self.spec.output,
        )
        return ComparisonLaw(moved).probability(outcome, (0, 0, 0))

    def _closing(self, outcome: ComparisonOutcome) -> int:
        last = len(outcome.counts) - 1
        full = sum(outcome.counts[last]) == self.spec.queries[last].count
        return last + 1 if full else last

    def _integral(self, factors: Sequence[tuple[ComparisonQuery, fmpq, str, int]]) -> arb:
        ring = BallRing()
        breaks = {fmpq(0)}
        for query, total, _, _ in factors:
            breaks |= {query.high - total, total - query.low, (query.high - query.low) / 2}
        ends = sorted(breaks)
        result = arb(0)
        for low, high in zip([None, *ends], [*ends, None], strict=True):
            polynomial: Polynomial = {0: arb(1)}
            for query, total, answer, count in factors:
                factor = self._factor(query, total, answer, high)
                for _ in range(count):
                    polynomial = _times(polynomial, factor)
                    if not polynomial:
                        break
            sign = -1 if high is None or high > 0 else 1
            slope = sign / self.spec.threshold_scale
            for power, coefficient in polynomial.items():
                below, above = (None if end is None else Point(end) for end in (low, high))
                moment = ring.integral(slope + power * self.rate, below, above)
                result += coefficient * moment
        return result / (2 * self.spec.threshold_scale)

    def _factor(self, query: ComparisonQuery, total: fmpq, answer: str, end: fmpq | None) -> Polynomial:
        """The probability of an answer on the piece of n that ends at ``end``; all breakpoints are ends."""
        crossed = end is None or end > (query.high - query.low) / 2
        high = self._tail(query.high - total, end)
        low = self._tail(total - query.low, end)
        if crossed:
            if self.spec.high_first:
                low = _complement(high)
            else:
                high = _complement(low)
        if answer == "H":
            return high
        if answer == "L":
            return low
        return {} if crossed else _complement(_plus(high, low))

    def _tail(self, point: fmpq, end: fmpq | None) -> Polynomial:
        """``P(u > point - n)``, which is ``e^(n - point)/2`` below the point in units of the scale."""
        if end is not None and end <= point:
            return {1: arb(-point * self.rate).exp() * _HALF}
        return {0: arb(1), -1: arb(point * self.rate).exp() * -_HALF}


def _moved_close(query: ComparisonQuery, shift: int) -> fmpq:
    """The sum moved by at most 1, away from the middle of the thresholds (1) or towards it (-1)."""
    middle = (query.low + query.high) / 2
    excess = query.sum - middle
    if shift > 0:
        return query.sum + (1 if excess >= 0 else -1)
    if shift < 0:
        return middle if abs(excess) <= 1 else query.sum - (1 if excess > 0 else -1)
    return query.sum


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for i, x in a.items():
        for j, y in b.items():
            result[i + j] = result[i + j] + x * y if i + j in result else x * y
    return result


def _plus(a: Polynomial, b: Polynomial) -> Polynomial:
    result = dict(a)
    for power, value in b.items():
        result[power] = result[power] + value if power in result else value
    return result


def _complement(a: Polynomial) -> Polynomial:
    return _plus({0: arb(1)}, {power: -value for power, value in a.items()})


LEAST: Move = (-1, 1, 1)
MOST: Move = (1, -1, -1)
"""Moves that make every outcome least and most likely; Close is least likely at the end farther from the middle."""


class ComparisonPrivacy:
    """Bounds of the hockey-stick divergence ``sum max(0, P(o) - e^ε P'(o))`` over the box of neighbours."""

    def __init__(self, spec: ComparisonSpec) -> None:
        self.spec = spec
        self.law = ComparisonLaw(spec)
        self._known: dict[tuple[int, Move], list[arb]] = {}

    @cached_property
    def outcomes(self) -> list[ComparisonOutcome]:
        return comparison_outcomes(self.spec)

    def laws(self, move: Move) -> list[arb]:
        """The probability of one sequence of every outcome: all sums moved by an integer, or by kind of answer."""
        key = (ctx.prec, move)
        if key not in self._known:
            if isinstance(move, int):
                self._known[key] = [self.law.at(outcome, move) for outcome in self.outcomes]
            else:
                self._known[key] = [self.law.probability(outcome, move) for outcome in self.outcomes]
        return self._known[key]

    def sequence(self, position: int) -> arb:
        """The probability of one sequence of an outcome at the instance's sums."""
        return self.laws(0)[position]

    def excess(self, ours: Sequence[arb], theirs: Sequence[arb], factor: arb) -> arb:
        """``sum multiplicity max(0, ours - factor theirs)``."""
        total = arb(0)
        for outcome, p, q in zip(self.outcomes, ours, theirs, strict=True):
            difference = p - factor * q
            if not difference <= 0:
                total += outcome.multiplicity * difference.nonnegative_part()
        return total
