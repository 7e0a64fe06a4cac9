"""The law of a stream of threshold queries with all its switches: any noise, any cap, any resampling.

An outcome is the string of its answers, ``y`` or ``n`` for each query answered. Fresh threshold noise cuts the
answers into blocks that are independent of each other; within a block the noise is one number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from flint import ctx, fmpq

from certify.arithmetic.scalar import Undetermined
from certify.selection.instance_model import GeometricNoise, LaplaceNoise, StreamSpec, Vector
from certify.selection.laws.exponential_sum import BallRing, ExactRing, Point
from certify.selection.laws.geometric import GeometricLaw
from certify.selection.laws.laplace import LaplaceLaw
from certify.selection.laws.quadrature import OutOfRange, index_law
from certify.selection.laws.segments import Law

MAX_OUTCOMES = 4_096
CLOSED_FORM_QUERIES = 48
"""Beyond this many queries the float64 quadrature is tried first."""

QUADRATURE_BITS = 64
"""The precision up to which the quadrature is preferred to closed forms that are affordable."""

CLOSED_FORM_STEPS = 1_000_000
"""Closed forms take about (breakpoints) × (queries)² steps of some ten microseconds; this many are allowed."""

NEVER, AFTER_YES, PER_QUERY = "never", "after-yes", "per-query"


def noise_law(noise: LaplaceNoise | GeometricNoise, *, strict: bool, exact: bool = False) -> Law:
    """The closed forms of one threshold noise: balls at the current precision, or exponential sums when ``exact``."""
    if isinstance(noise, GeometricNoise):
        return GeometricLaw(noise.threshold, noise.query, strict=strict)
    ring = ExactRing() if exact else BallRing()
    return LaplaceLaw(ring, noise.threshold, noise.query, strict=strict)


def above_threshold_law(
    noise: LaplaceNoise | GeometricNoise, before: Sequence[Point], at: Sequence[Point], *, strict: bool = True
) -> list[Any]:
    """``P(no to before[:j], yes to at[j])`` for every j, and ``P(no to all)``; points are ``f - τ`` without a unit.

    Raises Undetermined where neither route reaches: too many queries for the closed form, and points or
    precision beyond the quadrature.
    """
    count = len(before)
    affordable = (len({*before, *at}) + 2) * count * count <= CLOSED_FORM_STEPS
    if isinstance(noise, LaplaceNoise) and noise.threshold > 0 and noise.query > 0 and count > CLOSED_FORM_QUERIES:
        if ctx.prec <= QUADRATURE_BITS or not affordable:
            try:
                return list(index_law(_rationals(before), _rationals(at), noise.threshold, noise.query))
            except OutOfRange as error:
                if not affordable:
                    raise Undetermined(f"{error}, and {count:,} queries are too many for the closed form") from None
    elif not affordable:
        raise Undetermined(f"{count:,} queries are too many for the closed form of this noise")
    with ctx.extraprec(2 * count + 16):  # the polynomials alternate: about 1.6 bits are lost a query
        return noise_law(noise, strict=strict).index_law(before, at)


def precision_helps(noise: LaplaceNoise | GeometricNoise, points: Sequence[Point]) -> bool:
    """Whether more precision gives a tighter index law: not where only the quadrature can be afforded."""
    count = len(points)
    corners = 2 * len(set(points)) + 2  # a sweep over corners has two points for each
    return not isinstance(noise, LaplaceNoise) or corners * count * count <= CLOSED_FORM_STEPS


def _rationals(points: Sequence[Point]) -> list[fmpq]:
    return [point.rational for point in points]


def block_lengths(answers: str, resample: str) -> list[int]:
    """How many answers each threshold noise serves."""
    if resample == PER_QUERY:
        return [1] * len(answers)
    if resample == NEVER:
        return [len(answers)]
    pieces = answers.split("y")
    lengths = [len(piece) + 1 for piece in pieces[:-1]]
    return [*lengths, len(pieces[-1])] if pieces[-1] else lengths


def is_index_law(spec: StreamSpec) -> bool:
    """Whether one threshold noise serves the whole stream, which ends at its first yes."""
    return spec.max_yes == 1 and spec.resample != PER_QUERY and not spec.release_value


def all_outcomes(spec: StreamSpec) -> list[str]:
    """Every outcome in order. Raises ValueError where there are more than `MAX_OUTCOMES`."""
    count = len(spec.scores.sums)
    if spec.max_yes == 1:
        return ["n" * j + "y" for j in range(count)] + ["n" * count]
    if 2**count > MAX_OUTCOMES and (spec.max_yes is None or spec.max_yes * count > MAX_OUTCOMES.bit_length()):
        raise ValueError(f"more than {MAX_OUTCOMES:,} outcomes")
    return sorted(_outcomes(count, spec.max_yes))


def _outcomes(count: int, max_yes: int | None) -> Iterator[str]:
    seen = set()
    for answers in product("yn", repeat=count):
        text, yes = "".join(answers), 0
        for length, answer in enumerate(text, 1):
            yes += answer == "y"
            if yes == max_yes:
                text = text[:length]
                break
        if text not in seen:
            seen.add(text)
            yield text


def outcome_label(spec: StreamSpec, answers: str) -> int | str:
    """An outcome as instances and reports write it: index from 1 or ``none`` for one yes, else the answers."""
    if spec.max_yes != 1:
        return answers
    return len(answers) if answers.endswith("y") else "none"


class StreamLaw:
    """Probabilities of a stream at the current precision, for any sums; exact rationals or sums where possible."""

    def __init__(self, spec: StreamSpec, *, exact: bool = False) -> None:
        self.spec = spec
        self.law = noise_law(spec.noise, strict=spec.strict, exact=exact)

    def points(self, sums: Vector) -> list[Point]:
        """``f - τ`` for every query."""
        return [Point(f - tau) for f, tau in zip(sums, self.spec.thresholds, strict=True)]

    def index_law(self, prefix: Vector, last: Vector) -> list[Any]:
        """``P(no to prefix[:j], yes to last[j])`` for every j, and ``P(no to all of prefix)``."""
        return above_threshold_law(self.spec.noise, self.points(prefix), self.points(last), strict=self.spec.strict)

    def probability(self, sums: Vector, answers: str) -> Any:
        """The probability of an outcome, or with a released value its density at that value."""
        points = self.points(sums)
        total: Any = None
        start = 0
        with ctx.extraprec(2 * len(answers) + 16):
            for length in block_lengths(answers, self.spec.resample):
                factor = self._block(points[start : start + length], answers[start : start + length], start)
                total = factor if total is None else total * factor
                start += length
        return total

    def _block(self, points: Sequence[Point], answers: str, start: int) -> Any:
        spec = self.spec
        if not spec.release_value:
            return self.law.answers_probability(points, answers)
        # The yes and its value: f + noise = value, which the query's threshold noise may not exceed.
        assert spec.value is not None and isinstance(self.law, LaplaceLaw | GeometricLaw)
        last = start + len(answers) - 1
        cut = Point(spec.value - spec.thresholds[last])
        offset = Point(cut.rational - points[-1].rational)
        silent = self.law.answers_probability(points[:-1], answers[:-1], cut)
        return silent * self.law.density(offset)
