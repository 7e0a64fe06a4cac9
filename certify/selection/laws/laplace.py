"""AboveThreshold with Laplace noise in closed form: ``f + Lap(query scale) > τ + Lap(threshold scale)``.

A scale of 0 is no noise; then a tie ``f - τ = noise`` is a yes exactly if the comparison is not strict.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key
from typing import Any

from flint import fmpq

from certify.selection.laws.exponential_sum import ORIGIN, ExactRing, Point, Ring
from certify.selection.laws.segments import Factor, Law, Segment

_HALF = fmpq(1, 2)


class LaplaceLaw(Law):
    """Closed forms over a ring. ``scales`` are those of threshold and query noise, rational and at least 0."""

    def __init__(self, ring: Ring, threshold_scale: fmpq, query_scale: fmpq, *, strict: bool) -> None:
        self.ring = ring
        self.threshold_rate = None if threshold_scale == 0 else 1 / threshold_scale
        self.query_rate = None if query_scale == 0 else 1 / query_scale
        self.strict = strict
        self.zero: Any = ring.constant(fmpq(0))
        self.one: Any = ring.constant(fmpq(1))

    def segments(self, points: Iterable[Point], cut: Point | None) -> list[Segment]:
        if self.threshold_rate is None:
            return [] if cut is not None and self.ring.sign(cut) < 0 else [_AtZero(self)]
        breaks = self._ordered({ORIGIN, *points, *([] if cut is None else [cut])})
        pieces: list[Segment] = []
        for position in range(len(breaks) + 1):
            if cut is not None and position > breaks.index(cut):
                break
            pieces.append(_Piece(self, self.threshold_rate, breaks, position))
        return pieces

    def _ordered(self, points: set[Point]) -> list[Point]:
        def order(a: Point, b: Point) -> int:
            return self.ring.sign(a.minus(b))

        return sorted(points, key=cmp_to_key(order))

    def density(self, offset: Point) -> Any:
        """The density of the query noise at ``offset``. Raises ValueError where there is no noise."""
        if self.query_rate is None:
            raise ValueError("a released value without noise has no density")
        distance = offset if self.ring.sign(offset) >= 0 else offset.times(fmpq(-1))
        return self.ring.exponential(distance.times(-self.query_rate)) * (self.query_rate * _HALF)


def exact_laplace(threshold_scale: fmpq, query_scale: fmpq, *, strict: bool) -> LaplaceLaw:
    """The law as exponential sums, for points without a unit."""
    return LaplaceLaw(ExactRing(), threshold_scale, query_scale, strict=strict)


class _Piece(Segment):
    """The threshold noise between two neighbouring breakpoints; Z is ``e^(noise * query rate)``."""

    def __init__(self, law: LaplaceLaw, rate: fmpq, breaks: list[Point], position: int) -> None:
        self._law = law
        self._low = breaks[position - 1] if position else None
        self._high = breaks[position] if position < len(breaks) else None
        self._above = frozenset(breaks[position:])
        # The density of the threshold noise falls away from 0, which is a breakpoint.
        self._slope = rate if ORIGIN in self._above else -rate
        self._weight = rate * _HALF

    def yes(self, point: Point) -> Factor:
        law = self._law
        above = point in self._above
        if law.query_rate is None:
            return Factor(law.one if above else None, None, 1)
        if above:
            return Factor(law.one, law.ring.exponential(point.times(-law.query_rate)) * -_HALF, 1)
        return Factor(None, law.ring.exponential(point.times(law.query_rate)) * _HALF, -1)

    def no(self, point: Point) -> Factor:
        law = self._law
        above = point in self._above
        if law.query_rate is None:
            return Factor(None if above else law.one, None, 1)
        if above:
            return Factor(None, law.ring.exponential(point.times(-law.query_rate)) * _HALF, 1)
        return Factor(law.one, law.ring.exponential(point.times(law.query_rate)) * -_HALF, -1)

    def moment(self, power: int) -> Any:
        query_rate = self._law.query_rate or fmpq(0)
        return self._law.ring.integral(self._slope + power * query_rate, self._low, self._high) * self._weight


class _AtZero(Segment):
    """No threshold noise: all of its mass at 0."""

    def __init__(self, law: LaplaceLaw) -> None:
        self._law = law

    def yes(self, point: Point) -> Factor:
        return self._factor(point, yes=True)

    def no(self, point: Point) -> Factor:
        return self._factor(point, yes=False)

    def _factor(self, point: Point, *, yes: bool) -> Factor:
        law = self._law
        sign = law.ring.sign(point)
        if law.query_rate is None:
            said = sign > 0 or (sign == 0 and not law.strict)
            return Factor(law.one if said is yes else None, None, 1)
        tail = law.ring.exponential(point.times(law.query_rate * (-1 if sign > 0 else 1))) * _HALF
        return Factor(law.one - tail if (sign > 0) is yes else tail, None, 1)

    def moment(self, power: int) -> Any:
        return self._law.one
