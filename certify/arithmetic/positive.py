"""Arrays of positive numbers under one relative bound: the fast path of the likelihoods, and its two stand-ins.

A likelihood is a product and quotient of positive numbers, so one integer, the count of roundings n, bounds
every entry of an array at once. Three arithmetics answer to the same interface, so that the sweep over
transcripts is written once:

`LinearArithmetic`  float64 values; an entry v and its truth x obey ``v/F <= x <= vF`` with ``F = 1/(1 - n
2^-53)``. Valid only where no intermediate leaves the normal range (`linear_range_is_safe`). `LogArithmetic`
float64 logarithms; ``|v - log x| <= U 2^-53``, where U adds up, rounding by rounding, the sizes of what was
rounded. For parameters that pass the range of float64. `BallArithmetic`    Arb balls at the current
precision; no bound to carry. The authority, and slow.

Counting lemma (linear). If a, b > 0 carry m and n roundings, ``fl(ab)`` and ``fl(a/b)`` carry m + n + 1, a
float sum of positive terms that carry n each, in any order, n + (number of terms - 1), a maximum max(m, n):
each operation multiplies by one factor in ``[(1-u), (1-u)^-1]``, and a sum of positive terms inherits the
extreme factor of its terms. (log.) Multiplication is addition of logarithms: the errors add, and rounding a
sum adds at most 2^-53 times its size; a maximum keeps the larger error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from certify.arithmetic.arrays import ball_maximum
from certify.arithmetic.elementary import EXP_LIMIT, exp_array
from certify.arithmetic.rounding import ENTRY_ROUNDINGS, UNIT, growth_factor, nearest_float
from certify.arithmetic.scalar import Undetermined

Floats = NDArray[np.float64]
Raw = NDArray[Any]

EXP_ROUNDINGS = 9
"""Roundings that `exp_array` adds (relative error below 8u)."""

TABLE_PRECISION = 96
"""Bits at which the balls behind the float tables are computed."""

LINEAR_LIMIT = 690
"""Natural logarithm of the largest and smallest size that linear intermediates may have."""


def linear_range_is_safe(log_size: arb) -> bool:
    """The gate: True when every intermediate provably stays within ``exp(-+690)``, inside the normal range."""
    return bool(log_size < LINEAR_LIMIT)


@dataclass(frozen=True)
class RelativeBound:
    """``v/factor <= x <= v factor + absolute`` for a float64 value v >= 0 and its truth x."""

    factor: fmpq
    absolute: fmpq = field(default_factory=fmpq)

    def after(self, roundings: int, terms: int = 1) -> RelativeBound:
        """The bound of a sum of ``terms`` such values that took ``roundings`` further roundings."""
        return RelativeBound(self.factor * growth_factor(roundings), self.absolute * terms)


class PositiveArithmetic(ABC):
    """Operations on raw arrays (values, logarithms or balls) that stand for positive numbers.

    ``combine`` multiplies, ``maximum`` takes maxima: numpy ufuncs on raw arrays, with ``out=``. Whoever
    builds the law's tables charges each step with `charge`; after that every likelihood obeys the bound.
    """

    name: str
    combine: np.ufunc
    maximum: np.ufunc
    dtype: np.dtype[Any]
    nothing: Any
    """A raw value below every positive number's: the maximum over nothing."""

    @abstractmethod
    def entries(self, logs: NDArray[np.object_]) -> Raw:
        """Raw table entries for numbers given by balls of their logarithms (computed at `TABLE_PRECISION` or more)."""

    @abstractmethod
    def reciprocal_dot(self, a: NDArray[np.object_], b: NDArray[np.object_]) -> tuple[Raw, int]:
        """``1 / sum_s a[i, s] b[j, s]`` for positive balls a (I, K), b (J, K): raw entries (I, J), their roundings."""

    @abstractmethod
    def charge(self, raw: Raw, roundings: int) -> None:
        """Every likelihood goes through values no larger than these, rounded that many times.

        Raises Undetermined where such a value cannot stand for a positive number in this arithmetic.
        """

    @abstractmethod
    def charge_penalties(self, penalties: Raw, roundings: int) -> None:
        """A likelihood may then be multiplied by penalties no larger than these, with that many roundings in all."""

    @abstractmethod
    def spread(self) -> arb:
        """A ball ``[-e, e]``: the logarithm of a penalised entry's truth is its own logarithm plus at most this."""

    @abstractmethod
    def log_ratio(self, raw: Any) -> arb:
        """The logarithm of a quotient of two entries, from its raw value."""

    @abstractmethod
    def ratio(self, a: Raw, b: Raw) -> Raw:
        """Raw quotients, one further rounding."""

    @abstractmethod
    def surely_below(self, a: Raw, b: Raw) -> NDArray[np.bool_]:
        """True only where the truth of a is proved to be below that of b."""

    @abstractmethod
    def masses(self, raw: Raw) -> Raw:
        """The numbers themselves: float64 values under `mass_bound`, or balls."""

    @abstractmethod
    def mass_bound(self) -> RelativeBound:
        """The bound of one entry of `masses`."""

    def guides(self, raw: Raw) -> Floats:
        """Float64 guides in the order of the numbers, for choosing what to show; never for a verdict."""
        return np.asarray(raw, dtype=np.float64)


class LinearArithmetic(PositiveArithmetic):
    """float64 values. See the module docstring for the bound."""

    name = "float64 with one relative bound"
    combine = np.multiply
    maximum = np.maximum
    dtype = np.dtype(np.float64)
    nothing = 0.0

    def __init__(self) -> None:
        self.roundings = 0

    def entries(self, logs: NDArray[np.object_]) -> Raw:
        return _nearest_floats(_exp(logs))

    def reciprocal_dot(self, a: NDArray[np.object_], b: NDArray[np.object_]) -> tuple[Raw, int]:
        left, right = _nearest_floats(a), _nearest_floats(b)
        total = np.multiply.outer(left[:, 0], right[:, 0])
        for s in range(1, left.shape[1]):
            total += np.multiply.outer(left[:, s], right[:, s])
        self.charge(total, 0)
        # an entry each, their product, the sum of K terms, the reciprocal
        return 1.0 / total, 2 * ENTRY_ROUNDINGS + 1 + (left.shape[1] - 1) + 1

    def charge(self, raw: Raw, roundings: int) -> None:
        if not (np.all(raw > np.finfo(np.float64).tiny) and np.all(raw < np.inf)):
            raise Undetermined("a likelihood leaves the range of float64")
        self.roundings += roundings

    def charge_penalties(self, penalties: Raw, roundings: int) -> None:
        self.charge(penalties, roundings)

    def spread(self) -> arb:
        return arb(0, (arb(growth_factor(self.roundings + 1))).log().upper())

    def log_ratio(self, raw: Any) -> arb:
        return arb(float(raw)).log() + 2 * self.spread()

    def ratio(self, a: Raw, b: Raw) -> Raw:
        quotient: Raw = np.divide(a, b)
        return quotient

    def surely_below(self, a: Raw, b: Raw) -> NDArray[np.bool_]:
        # a F < b / F; two more roundings make room for that of the product.
        return np.asarray(a * _float_above(growth_factor(self.roundings + 2) ** 2) < b)

    def masses(self, raw: Raw) -> Raw:
        return raw

    def mass_bound(self) -> RelativeBound:
        return RelativeBound(growth_factor(self.roundings))


class LogArithmetic(PositiveArithmetic):
    """float64 logarithms. See the module docstring for the bound.

    ``units`` is U of a likelihood, ``penalty_units`` what penalties add to it. Where a mass is taken (an
    entry above -700) the penalty in it is at most 700 plus the likelihood's size, so that less is added
    there.
    """

    name = "float64 logarithms with one absolute bound"
    combine = np.add
    maximum = np.maximum
    dtype = np.dtype(np.float64)
    nothing = -np.inf

    def __init__(self) -> None:
        self.units = 4
        self.size = 1
        self.penalty_units = 0
        self.penalty_roundings = 0

    def entries(self, logs: NDArray[np.object_]) -> Raw:
        flat = [_log_entry(log) for log in logs.ravel()]
        return np.array(flat, dtype=np.float64).reshape(logs.shape)

    def reciprocal_dot(self, a: NDArray[np.object_], b: NDArray[np.object_]) -> tuple[Raw, int]:
        return self.entries(-_log(_dot(a, b))), ENTRY_ROUNDINGS

    def charge(self, raw: Raw, roundings: int) -> None:
        size = _size(raw)
        self.size = max(self.size, size)
        self.units += roundings * size

    def charge_penalties(self, penalties: Raw, roundings: int) -> None:
        self.penalty_roundings += roundings
        self.penalty_units += roundings * (_size(penalties) + 2 * self.size)

    def error(self) -> fmpq:
        """The bound for penalised likelihoods, with room for a last difference."""
        return (self.units + 2 * self.penalty_units) * UNIT

    def mass_error(self) -> fmpq:
        """The bound for penalised likelihoods above -700: the penalties in them are at most 700 + size."""
        within = self.penalty_roundings * (int(EXP_LIMIT) + 4 * self.size)
        return (self.units + min(2 * self.penalty_units, within)) * UNIT

    def spread(self) -> arb:
        return arb(0, arb(self.error()).upper())

    def log_ratio(self, raw: Any) -> arb:
        return arb(float(raw)) + 2 * self.spread()

    def ratio(self, a: Raw, b: Raw) -> Raw:
        difference: Raw = np.subtract(a, b)
        return difference

    def surely_below(self, a: Raw, b: Raw) -> NDArray[np.bool_]:
        return np.asarray(b - a > _float_above(3 * self.error()))

    def masses(self, raw: Raw) -> Raw:
        values = exp_array(np.maximum(raw, -EXP_LIMIT))
        return np.where(raw >= -EXP_LIMIT, values, 0.0)

    def mass_bound(self) -> RelativeBound:
        # exp(e) <= 1 + 2e for 0 <= e <= 1. An entry below -700 counts as 0: with errors of at most 1 (checked for the
        # penalised bound too) its truth is below exp(-699) < 2^-1000.
        if self.error() > 1:
            raise Undetermined("the log-likelihoods are too large for sums in float64")
        return RelativeBound((1 + 2 * self.mass_error()) * growth_factor(EXP_ROUNDINGS), fmpq(1, 2**1000))


def _size(raw: Raw) -> int:
    """An integer at least 1 and at least every ``|entry|``; raises Undetermined beyond 2^40."""
    largest = float(np.max(np.abs(raw), initial=0.0))
    if not largest < 2.0**40:
        raise Undetermined("log-likelihoods beyond 2^40 carry no useful bound in float64")
    return max(1, ceil(largest))


class BallArithmetic(PositiveArithmetic):
    """Arb balls at the current precision."""

    name = "Arb"
    combine = np.multiply
    maximum = ball_maximum
    dtype = np.dtype(object)
    nothing = arb(0)

    def entries(self, logs: NDArray[np.object_]) -> Raw:
        return _exp(logs)

    def reciprocal_dot(self, a: NDArray[np.object_], b: NDArray[np.object_]) -> tuple[Raw, int]:
        return np.asarray(1 / _dot(a, b), dtype=object), 0

    def charge(self, raw: Raw, roundings: int) -> None:
        """Balls carry their own error."""

    def charge_penalties(self, penalties: Raw, roundings: int) -> None:
        """Balls carry their own error."""

    def spread(self) -> arb:
        return arb(0)

    def log_ratio(self, raw: Any) -> arb:
        return arb(raw).log()

    def ratio(self, a: Raw, b: Raw) -> Raw:
        return np.asarray(a / b, dtype=object)

    def surely_below(self, a: Raw, b: Raw) -> NDArray[np.bool_]:
        return np.asarray(_below(a, b)).astype(bool)

    def masses(self, raw: Raw) -> Raw:
        return raw

    def mass_bound(self) -> RelativeBound:
        return RelativeBound(fmpq(1))

    def guides(self, raw: Raw) -> Floats:
        # logarithms: the numbers themselves may be too small for a double
        return np.asarray(_midpoint(_log(raw))).astype(np.float64)


_exp_ufunc = np.frompyfunc(lambda x: x.exp(), 1, 1)
_log_ufunc = np.frompyfunc(lambda x: x.log(), 1, 1)
_below = np.frompyfunc(lambda a, b: a < b, 2, 1)
_midpoint = np.frompyfunc(float, 1, 1)


def _exp(logs: NDArray[np.object_]) -> NDArray[np.object_]:
    return np.asarray(_exp_ufunc(logs), dtype=object)


def _log(balls: NDArray[np.object_]) -> NDArray[np.object_]:
    return np.asarray(_log_ufunc(balls), dtype=object)


def _dot(a: NDArray[np.object_], b: NDArray[np.object_]) -> NDArray[np.object_]:
    """``sum_s a[i, s] b[j, s]`` in balls, shape (I, J)."""
    total = np.multiply.outer(a[:, 0], b[:, 0])
    for s in range(1, a.shape[1]):
        total = total + np.multiply.outer(a[:, s], b[:, s])
    return np.asarray(total, dtype=object)


def _nearest_floats(balls: NDArray[np.object_]) -> Floats:
    return np.array([nearest_float(ball) for ball in balls.ravel()], dtype=np.float64).reshape(balls.shape)


_ENTRY_RADIUS = arb(fmpq(1, 2**60))


def _log_entry(ball: arb) -> float:
    """The double nearest a ball's midpoint v: off by at most ``2^-52 |v| + 2^-60 (1 + |v|) < 4 max(|v|, 1) 2^-53``."""
    if not ball.is_finite() or not ball.rad() < _ENTRY_RADIUS * (1 + abs(ball)):
        raise Undetermined(f"a table entry is not known to 2^-60 at {ctx.prec} bits")
    return float(ball)


def _float_above(value: fmpq) -> float:
    """A double at least a nonnegative rational."""
    return float(np.nextafter(float(arb(value).upper()), np.inf))
