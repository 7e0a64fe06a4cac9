"""Every comparison that differential privacy asks of a stream, at the worst neighbours of each outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import arb, ctx, fmpq

from certify.arithmetic.scalar import Scalar, divide
from certify.engine.statement import Witness
from certify.selection.instance_model import LaplaceNoise, PrivacyLevel, StreamSpec, Vector
from certify.selection.laws.exponential_sum import ExactRing, ExponentialSum, Point
from certify.selection.laws.stream import StreamLaw, all_outcomes, is_index_law, outcome_label
from certify.selection.laws.stream import precision_helps as _more_is_tighter
from certify.selection.neighbours import SumBox, least_likely, most_likely, neighbour_boxes

EXACT_QUERIES = 12
"""Up to this many answers a tie is looked for among exponential sums."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``P_numerator(answers) <= e^ε P_denominator(answers)``: one of the two vectors is the instance's."""

    answers: str
    numerator: Vector
    denominator: Vector
    numerator_is_given: bool
    origin: str
    box: int
    position: int


class StreamPrivacy:
    """The laws at an instance's sums and at the worst neighbours, computed once for each precision."""

    def __init__(self, spec: StreamSpec) -> None:
        self.spec = spec
        self.boxes = neighbour_boxes(spec.neighbours, spec.scores, spec.n)
        self._laws: dict[tuple[int, str, int], Sequence[Any]] = {}

    @cached_property
    def outcomes(self) -> list[str]:
        """The outcomes to judge: the one that is fixed, or all."""
        return [self.spec.output] if self.spec.output is not None else all_outcomes(self.spec)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        given = self.spec.scores.sums
        found = []
        for number, box in enumerate(self.boxes):
            for position, answers in enumerate(self.outcomes):
                low = least_likely(box, answers, self.spec.value)
                high = most_likely(box, answers, self.spec.value)
                found.append(Comparison(answers, given, low, True, box.origin, number, position))
                found.append(Comparison(answers, high, given, False, box.origin, number, position))
        return found

    def probability(self, position: int) -> Scalar:
        """The probability of an outcome at the instance's sums, at the current precision."""
        value: Scalar = self._law("given", 0)[position]
        return value

    def sides(self, comparison: Comparison) -> tuple[Scalar, Scalar]:
        """Both probabilities, at the current precision."""
        given = self._law("given", 0)[comparison.position]
        if comparison.numerator_is_given:
            return given, self._law("low", comparison.box)[comparison.position]
        return self._law("high", comparison.box)[comparison.position], given

    def ratio(self, comparison: Comparison) -> Scalar:
        """``P_numerator/P_denominator``. Raises Undefined where the denominator is exactly 0."""
        return divide(*self.sides(comparison))

    def is_infinite(self, comparison: Comparison) -> bool:
        """Whether the outcome is impossible on one side and possible on the other."""
        numerator, denominator = self.sides(comparison)
        return _is_zero(denominator) and not _is_zero(numerator)

    def is_impossible(self, comparison: Comparison) -> bool:
        """Whether the outcome is impossible where the comparison needs it small."""
        return _is_zero(self.sides(comparison)[0])

    def witness(self, comparison: Comparison) -> Witness:
        """Neighbours and outcome, the instance's sums first."""
        given, other = comparison.numerator, comparison.denominator
        if not comparison.numerator_is_given:
            given, other = other, given
        way = "P(sums)/P(neighbour)" if comparison.numerator_is_given else "P(neighbour)/P(sums)"
        witness: Witness = {
            "quantity": way,
            "output": outcome_label(self.spec, comparison.answers),
            "sums": list(given),
            "neighbour": list(other),
        }
        if self.spec.value is not None:
            witness["value"] = self.spec.value
        return witness

    def is_exact_tie(self, comparison: Comparison, level: PrivacyLevel, multiple: fmpq) -> bool:
        """Whether ``P_numerator = e^(multiple ε) P_denominator`` holds identically, as sums of exponentials."""
        if not isinstance(self.spec.noise, LaplaceNoise) or len(comparison.answers) > EXACT_QUERIES:
            return False
        if level.epsilon is None and multiple != 1:
            return False
        law = StreamLaw(self.spec, exact=True)
        numerator = law.probability(comparison.numerator, comparison.answers)
        denominator = law.probability(comparison.denominator, comparison.answers)
        difference: ExponentialSum = numerator - denominator * _factor(level, multiple)
        return difference.is_certainly_zero

    @cached_property
    def precision_helps(self) -> bool:
        """Whether more precision tightens the laws."""
        points = StreamLaw(self.spec).points(self.spec.scores.sums)
        return not is_index_law(self.spec) or _more_is_tighter(self.spec.noise, points)

    def _law(self, which: str, box: int) -> Sequence[Any]:
        key = (ctx.prec if self.precision_helps else 0, which, box)
        if key not in self._laws:
            self._laws[key] = self._compute(which, box)
        return self._laws[key]

    def _compute(self, which: str, box: int) -> Sequence[Any]:
        law, given = StreamLaw(self.spec), self.spec.scores.sums
        if is_index_law(self.spec) and self.spec.output is None:
            prefix, last = self._sweep(which, self.boxes[box], given)
            return law.index_law(prefix, last)
        if which == "given":
            return [law.probability(given, answers) for answers in self.outcomes]
        worst = least_likely if which == "low" else most_likely
        return [law.probability(worst(self.boxes[box], a, self.spec.value), a) for a in self.outcomes]

    @staticmethod
    def _sweep(which: str, box: SumBox, given: Vector) -> tuple[Vector, Vector]:
        """Prefix and last sums that give the extreme of every outcome of the index law in one sweep."""
        if which == "given":
            return given, given
        return (box.upper, box.lower) if which == "low" else (box.lower, box.upper)


def _factor(level: PrivacyLevel, multiple: fmpq) -> ExponentialSum:
    ring = ExactRing()
    if level.epsilon is not None:
        return ring.exponential(Point(multiple * level.epsilon))
    assert level.exp_epsilon is not None
    return ring.constant(level.exp_epsilon)


def _is_zero(value: Scalar) -> bool:
    return bool(value.is_zero()) if isinstance(value, arb) else bool(value == 0)
