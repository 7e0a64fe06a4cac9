"""Numbers ``sum (a + b u) e^(r + s u)`` with rational a, b, r, s and one real unit u: the values of closed-form laws.

Two rings do the same arithmetic. `BallRing` evaluates as it goes, at the current precision. `ExactRing` keeps
the sum itself: for ``u`` absent its numbers vanish only if every coefficient does (Lindemann-Weierstrass: the
exponentials of distinct rationals are linearly independent over the rationals), which settles ties.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flint import arb, ctx, fmpq

from certify.arithmetic.scalar import Undetermined, finite

_ZERO, _ONE = fmpq(0), fmpq(1)


class Point(NamedTuple):
    """The real number ``rational + multiple * u``."""

    rational: fmpq
    multiple: fmpq = _ZERO

    def plus(self, other: Point) -> Point:
        return Point(self.rational + other.rational, self.multiple + other.multiple)

    def times(self, factor: fmpq) -> Point:
        return Point(self.rational * factor, self.multiple * factor)

    def minus(self, other: Point) -> Point:
        return self.plus(other.times(fmpq(-1)))


ORIGIN = Point(_ZERO)


class BallRing:
    """Balls at the current precision. ``unit`` encloses u at that precision; None where u does not occur."""

    def __init__(self, unit: arb | None = None) -> None:
        self._unit = unit

    def number(self, point: Point) -> arb:
        """The number itself."""
        if point.multiple == 0:
            return arb(point.rational)
        if self._unit is None:
            raise ValueError("the unit of the points is not known")
        return arb(point.rational) + arb(point.multiple) * self._unit

    def constant(self, value: fmpq) -> arb:
        return arb(value)

    def exponential(self, point: Point) -> arb:
        """``e^point``."""
        return self.number(point).exp()

    def sign(self, point: Point) -> int:
        """-1, 0 or 1. Raises Undetermined where the precision does not separate an irrational number from 0."""
        if point.multiple == 0:
            return int(point.rational > 0) - int(point.rational < 0)
        value = self.number(point)
        if value > 0:
            return 1
        if value < 0:
            return -1
        raise Undetermined(f"the order of two breakpoints cannot be told at {ctx.prec} bits")

    def integral(self, rate: fmpq, low: Point | None, high: Point | None) -> arb:
        """``int_low^high e^(rate x) dx``; None is minus or plus infinity, where the integral must converge."""
        if low is None or high is None:
            tail: arb = _tail(self, rate, low, high)
            return tail
        if rate == 0:
            return self.number(high.minus(low))
        length = self.number(high.minus(low).times(rate))
        return self.exponential(low.times(rate)) * length.expm1() / rate


class ExponentialSum:
    """An element of `ExactRing`: coefficients ``(a, b)`` by exponent ``(r, s)``, none of them (0, 0)."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Point, tuple[fmpq, fmpq]]) -> None:
        self.terms = {exponent: c for exponent, c in terms.items() if c[0] != 0 or c[1] != 0}

    def __add__(self, other: ExponentialSum) -> ExponentialSum:
        terms = dict(self.terms)
        for exponent, (a, b) in other.terms.items():
            old = terms.get(exponent, (_ZERO, _ZERO))
            terms[exponent] = (old[0] + a, old[1] + b)
        return ExponentialSum(terms)

    def __sub__(self, other: ExponentialSum) -> ExponentialSum:
        return self + other * fmpq(-1)

    def __mul__(self, other: ExponentialSum | fmpq) -> ExponentialSum:
        if isinstance(other, fmpq):
            return ExponentialSum({e: (a * other, b * other) for e, (a, b) in self.terms.items()})
        terms: dict[Point, tuple[fmpq, fmpq]] = {}
        for e, (a, b) in self.terms.items():
            for f, (c, d) in other.terms.items():
                if b * d != 0:
                    raise ValueError("a product of degree two in the unit")
                key = e.plus(f)
                old = terms.get(key, (_ZERO, _ZERO))
                terms[key] = (old[0] + a * c, old[1] + a * d + b * c)
        return ExponentialSum(terms)

    __rmul__ = __mul__

    def __truediv__(self, other: fmpq) -> ExponentialSum:
        return self * (1 / other)

    @property
    def is_certainly_zero(self) -> bool:
        """Whether the number is 0 because no term is left."""
        return not self.terms

    def value(self, unit: arb | None = None) -> arb:
        """A ball at the current precision."""
        ring = BallRing(unit)
        total = arb(0)
        for exponent, (a, b) in self.terms.items():
            total += ring.number(Point(a, b)) * ring.exponential(exponent)
        return finite(total)


class ExactRing:
    """Exponential sums; ``unit`` only decides the order of breakpoints."""

    def __init__(self, unit: arb | None = None) -> None:
        self._balls = BallRing(unit)

    def number(self, point: Point) -> ExponentialSum:
        return ExponentialSum({ORIGIN: (point.rational, point.multiple)})

    def constant(self, value: fmpq) -> ExponentialSum:
        return ExponentialSum({ORIGIN: (value, _ZERO)})

    def exponential(self, point: Point) -> ExponentialSum:
        return ExponentialSum({point: (_ONE, _ZERO)})

    def sign(self, point: Point) -> int:
        return self._balls.sign(point)

    def integral(self, rate: fmpq, low: Point | None, high: Point | None) -> ExponentialSum:
        if low is None or high is None:
            tail: ExponentialSum = _tail(self, rate, low, high)
            return tail
        if rate == 0:
            return self.number(high.minus(low))
        return (self.exponential(high.times(rate)) - self.exponential(low.times(rate))) / rate


Ring = BallRing | ExactRing


def _tail(ring: Ring, rate: fmpq, low: Point | None, high: Point | None) -> Any:
    if high is None and low is not None and rate < 0:
        return ring.exponential(low.times(rate)) / -rate
    if low is None and high is not None and rate > 0:
        return ring.exponential(high.times(rate)) / rate
    raise ValueError("the integral does not converge")
