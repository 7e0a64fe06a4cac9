"""AboveThreshold with two-sided geometric noise ``P(k) = (1-r)/(1+r) r^|k|``: exact rationals for rational ratios.

The noise is an integer, so the law depends on ``f - τ`` only through the last integer of the threshold noise at
which the query says yes without noise: its floor, or for a strict comparison the integer below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from certify.selection.laws.exponential_sum import Point
from certify.selection.laws.segments import Factor, Law, Segment

_ZERO, _ONE = fmpq(0), fmpq(1)


@dataclass(frozen=True)
class Ratio:
    """A ratio r in [0, 1): the rational ``value``, or ``e^(-rate)`` for a rational rate > 0."""

    value: fmpq | None = None
    rate: fmpq | None = None

    @property
    def absent(self) -> bool:
        """Whether there is no noise, r = 0."""
        return self.value is not None and self.value == 0

    def power(self, exponent: int) -> fmpq | arb:
        """``r^exponent`` for any integer; exact for a rational ratio."""
        if self.value is not None:
            return self.value**exponent
        assert self.rate is not None
        return arb(-self.rate * exponent).exp() if exponent else _ONE


class GeometricLaw(Law):
    """The law for two ratios of one kind, both rational or both exponentials."""

    zero = _ZERO
    one = _ONE

    def __init__(self, threshold: Ratio, query: Ratio, *, strict: bool) -> None:
        if (threshold.value is None) != (query.value is None) and not (threshold.absent or query.absent):
            raise ValueError("the two ratios are of different kinds")
        self.threshold = threshold
        self.query = query
        self.strict = strict
        query_ratio = query.power(1)
        self.tail = 1 / (1 + query_ratio)
        """``P(noise >= 0)`` of the query noise."""

    def last_yes(self, point: Point) -> int:
        """The largest integer threshold noise at which the query says yes without noise of its own."""
        value = point.rational
        return int(value.ceil()) - 1 if self.strict else int(value.floor())

    def segments(self, points: Iterable[Point], cut: Point | None) -> list[Segment]:
        limit = None if cut is None else self.last_yes(cut)
        if self.threshold.absent:
            return [] if limit is not None and limit < 0 else [_Piece(self, 0, 0, fixed=True)]
        breaks = sorted({0, *(self.last_yes(point) + 1 for point in points)})
        pieces: list[Segment] = []
        for low, high in zip([None, *breaks], [*breaks, None], strict=True):
            last = None if high is None else high - 1
            if limit is not None and (last is None or last > limit):
                last = limit
            if low is None or last is None or low <= last:
                pieces.append(_Piece(self, low, last))
        return pieces

    def density(self, offset: Point) -> fmpq | arb:
        """``P(query noise = offset)``; 0 where it is no integer."""
        if offset.rational.q != 1:
            return _ZERO
        distance = abs(int(offset.rational.p))
        if self.query.absent:
            return _ONE if distance == 0 else _ZERO
        return self.query.power(distance) * (1 - self.query.power(1)) * self.tail


class _Piece(Segment):
    """The integers ``low..high`` of the threshold noise; None is without end. Z is ``query ratio ^ noise``."""

    def __init__(self, law: GeometricLaw, low: int | None, high: int | None, *, fixed: bool = False) -> None:
        self._law = law
        self._low = low
        self._high = high
        self._fixed = fixed

    def yes(self, point: Point) -> Factor:
        return self._factor(point, yes=True)

    def no(self, point: Point) -> Factor:
        return self._factor(point, yes=False)

    def _factor(self, point: Point, *, yes: bool) -> Factor:
        law = self._law
        last = law.last_yes(point)
        below = self._low is None or self._low <= last  # the whole piece is, as last + 1 is a breakpoint
        if law.query.absent:
            return Factor(_ONE if below is yes else None, None, 1)
        if below:  # no = r^(1 + last - noise)/(1 + r)
            coefficient, step = law.query.power(1 + last) * law.tail, -1
        else:  # yes = r^(noise - last)/(1 + r)
            coefficient, step = law.query.power(-last) * law.tail, 1
        return Factor(_ONE, -coefficient, step) if below is yes else Factor(None, coefficient, step)

    def moment(self, power: int) -> Any:
        law = self._law
        if self._fixed:
            return _ONE
        sign = -1 if self._high is not None and self._high < 0 else 1  # r^|noise| = r^(sign noise)
        weight = (1 - law.threshold.power(1)) / (1 + law.threshold.power(1))
        return weight * self._sum(sign, power)

    def _sum(self, sign: int, power: int) -> Any:
        """``sum of x^noise`` over the piece, x = threshold ratio^sign * query ratio^power."""

        def x(exponent: int) -> Any:
            query = _ONE if self._law.query.absent else self._law.query.power(power * exponent)
            return self._law.threshold.power(sign * exponent) * query

        if self._low is None:
            assert self._high is not None
            return x(self._high) / (1 - x(-1))
        if self._high is None:
            return x(self._low) / (1 - x(1))
        if self._is_one(sign, power):
            return fmpq(self._high - self._low + 1)
        return (x(self._low) - x(self._high + 1)) / (1 - x(1))

    def _is_one(self, sign: int, power: int) -> bool:
        threshold, query = self._law.threshold, self._law.query
        if query.absent:
            return False  # then x is the threshold ratio or its inverse
        if threshold.value is not None and query.value is not None:
            return bool(threshold.value**sign * query.value**power == 1)
        assert threshold.rate is not None and query.rate is not None
        return bool(sign * threshold.rate + power * query.rate == 0)
