"""Arrays of certified numbers: `IntervalArray` (float64 ends, fast) and `BallArray` (Arb, any precision).

Both hold one real number per entry and obey one rule: if every entry of the operands encloses its true
value, so does every entry of the result. Code written against `CertifiedArray` runs on either, so that a
question float64 cannot decide is asked again in Arb without a second formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from certify.arithmetic.elementary import exp_bounds, log_bounds
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict, compare_le

Floats = NDArray[np.float64]
Index = Any
Exact = int | fmpq


class CertifiedArray(ABC):
    """An array of real numbers, each known by an enclosure. Shapes broadcast as in numpy."""

    @classmethod
    @abstractmethod
    def from_balls(cls, balls: NDArray[np.object_]) -> Self:
        """An array that encloses the given balls (an object array of arb)."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def __mul__(self, other: Self) -> Self: ...

    @abstractmethod
    def __truediv__(self, other: Self) -> Self: ...

    @abstractmethod
    def exp(self) -> Self: ...

    @abstractmethod
    def log(self) -> Self:
        """Elementwise log of positive numbers."""

    @abstractmethod
    def maximum(self, other: Self) -> Self: ...

    @abstractmethod
    def nonnegative(self) -> Self:
        """The same numbers, known to be at least 0 by an argument of the caller."""

    @abstractmethod
    def where(self, keep: NDArray[np.bool_]) -> Self:
        """The same numbers where ``keep``, exactly 0 elsewhere."""

    @abstractmethod
    def hull(self, other: Self) -> Self:
        """Enclosures that contain those of both."""

    @abstractmethod
    def __getitem__(self, index: Index) -> Self: ...

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @abstractmethod
    def proved_at_most(self, other: Self) -> NDArray[np.bool_]:
        """True where every number enclosed by self is at most every number enclosed by other."""

    @abstractmethod
    def proved_above(self, other: Self) -> NDArray[np.bool_]:
        """True where every number enclosed by self exceeds every number enclosed by other."""

    @abstractmethod
    def enclosure(self, index: tuple[int, ...]) -> Enclosure:
        """The enclosure of one entry."""

    @abstractmethod
    def midpoints(self) -> Floats:
        """Float64 guides for choosing a worst case to show; never for a verdict."""

    @classmethod
    @abstractmethod
    def concatenate(cls, parts: Sequence[Self], axis: int = 0) -> Self: ...

    @classmethod
    def exact(cls, values: Exact | Sequence[Exact]) -> Self:
        """An array of rationals: a number gives shape (), a sequence shape (len,)."""
        if isinstance(values, int | fmpq):
            return cls.constant(values)
        balls = np.empty(len(values), dtype=object)
        balls[:] = [arb(value) for value in values]
        return cls.from_balls(balls)

    @classmethod
    def constant(cls, value: arb | fmpq | int) -> Self:
        """A scalar (shape ()) that encloses the number."""
        balls = np.empty((), dtype=object)
        balls[()] = arb(value)
        return cls.from_balls(balls)

    @abstractmethod
    def largest_average_gap(self, counts: NDArray[np.int64], total: int, base: Self) -> Self:
        """``max_z (sum_j counts[h, j]/total * self[z, j] - base[z, h])`` for each h, bounded from above.

        ``self`` (states, J) and ``base`` (states, H) are nonnegative, ``counts`` (H, J) nonnegative
        integers. The upper ends of the result (H,) are bounds; the lower ends may say nothing.
        """

    @abstractmethod
    def averaged(self, counts: NDArray[np.int64], total: int) -> Self:
        """``sum_j counts[h, j]/total * self[z, j]`` for nonnegative self (states, J); shape (states, H)."""

    @abstractmethod
    def upper_guides(self) -> Floats:
        """Float64 guides to the upper ends; never for a verdict."""

    def square(self) -> Self:
        """``x^2``, known to be nonnegative."""
        return (self * self).nonnegative()

    def sum(self, axis: int) -> Self:
        """The sum along one axis, written out term by term."""
        return self._fold(axis, lambda a, b: a + b)

    def max(self, axis: int) -> Self:
        """The largest entry along one axis (at least one entry)."""
        return self._fold(axis, lambda a, b: a.maximum(b))

    def log_sum_exp(self, axis: int) -> Self:
        """``log sum_i exp(x_i)`` along one axis, shifted by the maximum so that nothing overflows."""
        peak = self.max(axis)
        parts = [(self._slice(axis, i) - peak).exp() for i in range(self.shape[axis])]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return peak + total.log()

    def _slice(self, axis: int, i: int) -> Self:
        return self[(slice(None),) * (axis % len(self.shape)) + (i,)]

    def _fold(self, axis: int, combine: Callable[[Self, Self], Self]) -> Self:
        result = self._slice(axis, 0)
        for i in range(1, self.shape[axis]):
            result = combine(result, self._slice(axis, i))
        return result


_STEP = 2.0**-51
_LEAST = 2.0**-1070


class IntervalArray(CertifiedArray):
    """Entries in ``[lower, upper]``; every operation is rounded to nearest, then its ends are moved outward.

    Lemma: ``|fl(x) - x| <= u |fl(x)| + 2^-1075``, u = 2^-53. Subtracting ``4u |fl(x)| + 2^-1070`` in floats
    rounds by at most ``u (1 + 4u) |fl(x)| + 2^-1074`` once more, so the result is below x; likewise above.
    Overflow gives an infinite end, which is outward; an end that is nan (inf - inf, 0 * inf) or moved past
    the other makes both infinite: such an entry says nothing. A comparison is proved by finite ends alone.
    """

    __slots__ = ("lower", "upper")

    def __init__(self, lower: Floats, upper: Floats) -> None:
        self.lower = lower
        self.upper = upper

    @classmethod
    def from_balls(cls, balls: NDArray[np.object_]) -> Self:
        flat = balls.ravel()
        lower = np.array([_float_below(ball) for ball in flat], dtype=np.float64).reshape(balls.shape)
        upper = np.array([-_float_below(-ball) for ball in flat], dtype=np.float64).reshape(balls.shape)
        return cls(lower, upper)

    def __add__(self, other: Self) -> Self:
        with np.errstate(invalid="ignore", over="ignore"):
            return self._outward(np.asarray(self.lower + other.lower), np.asarray(self.upper + other.upper), least=0.0)

    def __sub__(self, other: Self) -> Self:
        with np.errstate(invalid="ignore", over="ignore"):
            return self._outward(np.asarray(self.lower - other.upper), np.asarray(self.upper - other.lower), least=0.0)

    def __mul__(self, other: Self) -> Self:
        for a, b in ((self, other), (other, self)):
            if b.lower.shape == () and b.lower == b.upper and b.lower >= 0 and np.isfinite(b.lower):
                with np.errstate(invalid="ignore", over="ignore"):
                    return self._outward(np.asarray(a.lower * b.lower), np.asarray(a.upper * b.lower))
        with np.errstate(invalid="ignore", over="ignore"):
            products = (
                self.lower * other.lower,
                self.lower * other.upper,
                self.upper * other.lower,
                self.upper * other.upper,
            )
        low = np.minimum(np.minimum(products[0], products[1]), np.minimum(products[2], products[3]))
        high = np.maximum(np.maximum(products[0], products[1]), np.maximum(products[2], products[3]))
        return self._outward(low, high)

    def __truediv__(self, other: Self) -> Self:
        with np.errstate(all="ignore"):
            quotients = (
                self.lower / other.lower,
                self.lower / other.upper,
                self.upper / other.lower,
                self.upper / other.upper,
            )
        low = np.minimum(np.minimum(quotients[0], quotients[1]), np.minimum(quotients[2], quotients[3]))
        high = np.maximum(np.maximum(quotients[0], quotients[1]), np.maximum(quotients[2], quotients[3]))
        straddles = ~((other.lower > 0) | (other.upper < 0))
        return self._outward(np.where(straddles, -np.inf, low), np.where(straddles, np.inf, high))

    def exp(self) -> Self:
        return type(self)(*exp_bounds(self.lower, self.upper))

    def log(self) -> Self:
        return type(self)(*log_bounds(self.lower, self.upper))

    def maximum(self, other: Self) -> Self:
        return type(self)(np.maximum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def nonnegative(self) -> Self:
        return type(self)(np.maximum(self.lower, 0.0), self.upper)

    def where(self, keep: NDArray[np.bool_]) -> Self:
        return type(self)(np.where(keep, self.lower, 0.0), np.where(keep, self.upper, 0.0))

    def hull(self, other: Self) -> Self:
        return type(self)(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def __getitem__(self, index: Index) -> Self:
        return type(self)(np.asarray(self.lower[index]), np.asarray(self.upper[index]))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.lower.shape

    def proved_at_most(self, other: Self) -> NDArray[np.bool_]:
        return np.asarray((self.upper <= other.lower) & np.isfinite(self.upper) & np.isfinite(other.lower))

    def proved_above(self, other: Self) -> NDArray[np.bool_]:
        return np.asarray((self.lower > other.upper) & np.isfinite(self.lower) & np.isfinite(other.upper))

    def enclosure(self, index: tuple[int, ...]) -> Enclosure:
        return Enclosure(_exact_end(float(self.lower[index])), _exact_end(float(self.upper[index])))

    def midpoints(self) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.asarray(0.5 * self.lower + 0.5 * self.upper)

    def averaged(self, counts: NDArray[np.int64], total: int) -> Self:
        slack = _dot_slack(counts)
        weights = counts.T.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            low = (self.lower @ weights) / total * (1.0 - slack)
            high = (self.upper @ weights) / total * (1.0 + slack)
        return self._outward(low, high)

    def largest_average_gap(self, counts: NDArray[np.int64], total: int, base: Self) -> Self:
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = self.upper @ counts.T.astype(np.float64)
            gaps *= (1.0 + _dot_slack(counts)) / total
            gaps -= base.lower
        peak = gaps.max(axis=0)
        # one rounding for the difference, relative to what was subtracted
        room = 2.0**-50 * (np.abs(peak) + base.upper.max(axis=0))
        return type(self)(np.full_like(peak, -np.inf), peak + room)

    def upper_guides(self) -> Floats:
        return self.upper

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int = 0) -> Self:
        lower = np.concatenate([part.lower for part in parts], axis=axis)
        return cls(lower, np.concatenate([part.upper for part in parts], axis=axis))

    @classmethod
    def _outward(cls, low: Floats, high: Floats, least: float = _LEAST) -> Self:
        """Move freshly computed ends outward by ``2^-51 |end| + least``, in place.

        Sums and differences need no ``least``: where they are subnormal they are exact, so an exact 0 stays one.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            low -= np.abs(low) * _STEP + least
            high += np.abs(high) * _STEP + least
        sound = low <= high
        if not np.all(sound):
            low, high = np.where(sound, low, -np.inf), np.where(sound, high, np.inf)
        return cls(low, high)


def _dot_slack(counts: NDArray[np.int64]) -> float:
    """A count as a double, J products of nonnegative numbers and their sum carry J + 1 roundings, a quotient and a last
    product two more; each 2^-52 covers two."""
    return float((counts.shape[1] + 6) * 2.0**-52)


def _elementwise_max(a: arb, b: arb) -> arb:
    return a.max(b)


ball_maximum: np.ufunc = np.frompyfunc(_elementwise_max, 2, 1)
"""Elementwise ``arb.max`` on object arrays, with ``.reduce``; ``np.maximum`` would compare balls and be wrong."""

_ball_exp: np.ufunc = np.frompyfunc(lambda x: x.exp(), 1, 1)
_ball_log: np.ufunc = np.frompyfunc(lambda x: x.log(), 1, 1)
_ball_nonnegative: np.ufunc = np.frompyfunc(lambda x: x.nonnegative_part(), 1, 1)
_ball_union: np.ufunc = np.frompyfunc(lambda a, b: a.union(b), 2, 1)
_ball_midpoint: np.ufunc = np.frompyfunc(lambda x: float(x), 1, 1)
_ball_at_most: np.ufunc = np.frompyfunc(lambda a, b: compare_le(a, b) is Verdict.PROVED, 2, 1)
_ball_above: np.ufunc = np.frompyfunc(lambda a, b: compare_le(a, b) is Verdict.REFUTED, 2, 1)


class BallArray(CertifiedArray):
    """An object array of Arb balls; operations run at the current ``flint.ctx.prec``. A ball that is not finite says
    nothing."""

    __slots__ = ("balls",)

    def __init__(self, balls: NDArray[np.object_]) -> None:
        self.balls = balls

    @classmethod
    def from_balls(cls, balls: NDArray[np.object_]) -> Self:
        return cls(balls)

    def __add__(self, other: Self) -> Self:
        return self._of(self.balls + other.balls)

    def __sub__(self, other: Self) -> Self:
        return self._of(self.balls - other.balls)

    def __mul__(self, other: Self) -> Self:
        return self._of(self.balls * other.balls)

    def __truediv__(self, other: Self) -> Self:
        return self._of(self.balls / other.balls)

    def exp(self) -> Self:
        return self._of(_ball_exp(self.balls))

    def log(self) -> Self:
        return self._of(_ball_log(self.balls))

    def maximum(self, other: Self) -> Self:
        return self._of(ball_maximum(self.balls, other.balls))

    def nonnegative(self) -> Self:
        return self._of(_ball_nonnegative(self.balls))

    def where(self, keep: NDArray[np.bool_]) -> Self:
        kept = self.balls.copy()
        kept[~keep] = arb(0)
        return self._of(kept)

    def hull(self, other: Self) -> Self:
        return self._of(_ball_union(self.balls, other.balls))

    def __getitem__(self, index: Index) -> Self:
        return self._of(self.balls[index])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.balls.shape

    def proved_at_most(self, other: Self) -> NDArray[np.bool_]:
        return np.asarray(_ball_at_most(self.balls, other.balls)).astype(bool)

    def proved_above(self, other: Self) -> NDArray[np.bool_]:
        return np.asarray(_ball_above(self.balls, other.balls)).astype(bool)

    def enclosure(self, index: tuple[int, ...]) -> Enclosure:
        return Enclosure.of(self.balls[index])

    def midpoints(self) -> Floats:
        return np.asarray(_ball_midpoint(self.balls)).astype(np.float64)

    def averaged(self, counts: NDArray[np.int64], total: int) -> Self:
        weights = np.frompyfunc(lambda c: arb(int(c)), 1, 1)(counts.T)
        return self._of(np.asarray(self.balls @ weights / total, dtype=object))

    def largest_average_gap(self, counts: NDArray[np.int64], total: int, base: Self) -> Self:
        return (self.averaged(counts, total) - base).max(0)

    def upper_guides(self) -> Floats:
        return self.midpoints()

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int = 0) -> Self:
        return cls(np.concatenate([part.balls for part in parts], axis=axis))

    @classmethod
    def _of(cls, balls: Any) -> Self:
        if isinstance(balls, np.ndarray):
            return cls(balls)
        scalar = np.empty((), dtype=object)
        scalar[()] = balls
        return cls(scalar)


def _float_below(ball: arb) -> float:
    """A double at most every number of the ball, within two steps of the largest such (``-inf`` for nan or inf)."""
    if not ball.is_finite():
        return -np.inf
    with ctx.workprec(64):
        end = ball.lower()
    value = float(end)
    return float(np.nextafter(value, -np.inf)) if not _double_is_exactly(value, end) else value


def _double_is_exactly(value: float, ball: arb) -> bool:
    return bool(np.isfinite(value)) and bool(arb(value) == ball)


def _exact_end(value: float) -> fmpq | None:
    if not np.isfinite(value):
        return None
    numerator, denominator = value.as_integer_ratio()
    return fmpq(numerator, denominator)
