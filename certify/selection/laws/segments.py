"""Products of yes and no probabilities, integrated over the threshold noise piece by piece.

On a piece of the noise's range every probability is ``u + w Z^(+-1)`` in one variable Z (an exponential of the
noise), so that a product of K of them is a Laurent polynomial, and the integral is a sum of K+1 moments of Z.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import comb
from typing import Any, NamedTuple

from flint import fmpq

from certify.selection.laws.exponential_sum import Point


class Factor(NamedTuple):
    """``constant + coefficient * Z^step`` with step 1 or -1; None is exactly 0."""

    constant: Any
    coefficient: Any
    step: int


class Segment(ABC):
    """One piece of the range of the threshold noise. A point is ``f - τ``; without noise of its own f > τ + noise."""

    @abstractmethod
    def yes(self, point: Point) -> Factor:
        """The probability of yes given the threshold noise."""

    @abstractmethod
    def no(self, point: Point) -> Factor:
        """Its complement."""

    @abstractmethod
    def moment(self, power: int) -> Any:
        """``E[Z^power; noise in the segment]``."""


class Law(ABC):
    """The segments that a set of points asks for, and the ring of the results."""

    zero: Any
    one: Any

    @abstractmethod
    def segments(self, points: Iterable[Point], cut: Point | None) -> list[Segment]:
        """The pieces between the points, up to ``cut`` where it is given (the noise is at most that)."""

    def index_law(self, prefix: Sequence[Point], last: Sequence[Point]) -> list[Any]:
        """``P(no to prefix[:j], yes to last[j])`` for every j, then ``P(no to all of prefix)``; shape (K+1,)."""
        totals = [self.zero] * (len(prefix) + 1)
        for segment in self.segments([*prefix, *last], None):
            product, moments = _Product(0, [self.one]), _Moments(segment)
            for j, (before, at) in enumerate(zip(prefix, last, strict=True)):
                totals[j] = _plus(totals[j], product.times(segment.yes(at)).against(moments))
                product = product.times(segment.no(before))
                if not product.coefficients:
                    break
            totals[-1] = _plus(totals[-1], product.against(moments))
        return totals

    def answers_probability(self, points: Sequence[Point], answers: str, cut: Point | None = None) -> Any:
        """The probability of the answers ``y`` and ``n``, with the threshold noise at most ``cut``."""
        total = self.zero
        for segment in self.segments(points, cut):
            product = _Product(0, [self.one])
            for (point, answer), run in groupby(zip(points, answers, strict=True)):
                factor = segment.yes(point) if answer == "y" else segment.no(point)
                product = product.times_power(factor, sum(1 for _ in run))
                if not product.coefficients:
                    break
            total = _plus(total, product.against(_Moments(segment)))
        return total


class _Moments:
    """The moments of a segment, each computed once."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._known: dict[int, Any] = {}

    def __getitem__(self, power: int) -> Any:
        if power not in self._known:
            self._known[power] = self._segment.moment(power)
        return self._known[power]


class _Product:
    """A Laurent polynomial ``sum coefficients[i] Z^(low + i)``; None is a zero, no coefficients at all is 0."""

    __slots__ = ("coefficients", "low")

    def __init__(self, low: int, coefficients: list[Any]) -> None:
        self.low = low
        self.coefficients = coefficients

    def times(self, factor: Factor) -> _Product:
        constant, coefficient, step = factor
        if constant is None and coefficient is None:
            return _Product(0, [])
        if coefficient is None:
            return _Product(self.low, [_scaled(c, constant) for c in self.coefficients])
        shifted = [_scaled(c, coefficient) for c in self.coefficients]
        if constant is None:
            return _Product(self.low + step, shifted)
        kept = [_scaled(c, constant) for c in self.coefficients]
        first, second = ([*kept, None], [None, *shifted]) if step > 0 else ([None, *kept], [*shifted, None])
        return _Product(self.low + min(step, 0), [_plus(a, b) for a, b in zip(first, second, strict=True)])

    def times_power(self, factor: Factor, exponent: int) -> _Product:
        """The product with ``factor^exponent``, by the binomial theorem."""
        constant, coefficient, step = factor
        if exponent == 1 or (constant is None and coefficient is None):
            return self.times(factor)
        if constant is None or coefficient is None:
            base = coefficient if constant is None else constant
            scaled = [_scaled(c, _power(base, exponent)) for c in self.coefficients]
            return _Product(self.low + (0 if coefficient is None else step * exponent), scaled)
        constants, coefficients = _powers(constant, exponent), _powers(coefficient, exponent)
        terms = [constants[exponent - k] * coefficients[k] * fmpq(comb(exponent, k)) for k in range(exponent + 1)]
        low = self.low
        if step < 0:
            terms.reverse()
            low -= exponent
        result: list[Any] = [None] * (len(self.coefficients) + exponent)
        for i, c in enumerate(self.coefficients):
            if c is not None:
                for k, term in enumerate(terms):
                    result[i + k] = _plus(result[i + k], c * term)
        return _Product(low, result)

    def against(self, moments: _Moments) -> Any:
        total = None
        for i, coefficient in enumerate(self.coefficients):
            if coefficient is not None:
                total = _plus(total, coefficient * moments[self.low + i])
        return total


def _scaled(value: Any, factor: Any) -> Any:
    return None if value is None else value * factor


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _powers(base: Any, most: int) -> list[Any]:
    """``base^0 .. base^most`` for most >= 1, the first as the rational 1."""
    powers = [fmpq(1), base]
    while len(powers) <= most:
        powers.append(powers[-1] * base)
    return powers


def _power(base: Any, exponent: int) -> Any:
    return _powers(base, exponent)[exponent]
