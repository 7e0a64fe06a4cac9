"""Mergeable results of a sweep: exact sums and maxima with witness. Plain integers and floats, or Arb balls.

Merging is associative and commutative, so a report does not depend on how the blocks were spread over
workers: float sums are added as exact integers, and ties between witnesses go to the one that comes first
in the order of blocks.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from flint import arb, fmpq, fmpz
from numpy.typing import NDArray

Raw = NDArray[Any]
Plain = dict[str, Any]

# The least positive double is 2^-1074; float.as_integer_ratio never needs a smaller unit.
_UNIT_SHIFT = 1126

_NOWHERE = np.iinfo(np.int64).max
"""After every place: nothing was offered yet."""


class ExactSum:
    """Entrywise sums of float64 arrays without any rounding (as integers times ``2^-1126``), or of Arb balls."""

    def __init__(self, shape: tuple[int, ...], *, balls: bool) -> None:
        self.balls = balls
        self._total: NDArray[np.object_] = np.full(shape, arb(0) if balls else 0, dtype=object)

    def add(self, values: Raw, index: Any = ...) -> None:
        """Add an array to the entries at ``index``. Raises ValueError for a value that is not finite."""
        if self.balls:
            self._total[index] = self._total[index] + values
            return
        values = np.asarray(values, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            raise ValueError("a block sum is not finite")
        mantissa, exponent = np.frexp(values)
        units = np.asarray(mantissa * 2.0**53).astype(np.int64).astype(object)
        shifts = (np.asarray(exponent).astype(np.int64) - 53 + _UNIT_SHIFT).astype(object)
        self._total[index] = self._total[index] + units * (1 << shifts if np.ndim(shifts) == 0 else _powers(shifts))

    def merge(self, other: Self) -> None:
        self._total = np.asarray(self._total + other._total, dtype=object)

    def value(self, index: tuple[int, ...]) -> fmpq | arb:
        """One total: exact for floats, a ball otherwise."""
        total = self._total[index]
        return total if self.balls else fmpq(fmpz(total), fmpz(1) << _UNIT_SHIFT)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._total.shape

    def to_plain(self) -> Plain:
        entries = [_plain_ball(v) if self.balls else hex(v) for v in self._total.ravel()]
        return {"shape": list(self.shape), "balls": self.balls, "entries": entries}

    @classmethod
    def from_plain(cls, plain: Plain) -> Self:
        result = cls(tuple(plain["shape"]), balls=plain["balls"])
        entries = [_ball_of(v) if plain["balls"] else int(v, 16) for v in plain["entries"]]
        result._total = np.array(entries, dtype=object).reshape(result.shape)
        return result


def _powers(shifts: NDArray[np.object_]) -> NDArray[np.object_]:
    return np.asarray(np.frompyfunc(lambda e: 1 << e, 1, 1)(shifts), dtype=object)


class Largest:
    """Entrywise maxima of raw float64 values, or of Arb balls, each with the place where it was met.

    For balls the value is the ball of the maximum (``arb.max``) and the place a guide to one that is large.
    """

    def __init__(self, shape: tuple[int, ...], *, balls: bool) -> None:
        self.balls = balls
        self._value: Raw = np.full(shape, None if balls else -np.inf, dtype=object if balls else np.float64)
        self._guide = np.full(shape, -np.inf)
        self._place = np.full((*shape, 2), _NOWHERE, dtype=np.int64)

    def add(self, values: Raw, block: int, index: Any = ...) -> None:
        """Offer ``values`` of shape (entries..., B), B the classes of block number ``block``.

        A value that is nan stays: it is met first, and the largest is nan from then on.
        """
        guide = _guides(values) if self.balls else np.asarray(values)
        position = np.asarray(np.argmax(guide, axis=-1))
        best = np.take_along_axis(guide, position[..., None], axis=-1)[..., 0]
        peak = _ball_max.reduce(values, axis=-1) if self.balls else best
        place = np.stack([np.full_like(position, block), position], axis=-1)
        self._offer(peak, np.where(np.isnan(best), np.inf, best), place, index)

    def merge(self, other: Self) -> None:
        self._offer(other._value, other._guide, other._place, ...)

    def _offer(self, value: Raw, guide: NDArray[np.float64], place: NDArray[np.int64], index: Any) -> None:
        self._value[index] = (_ball_max if self.balls else np.maximum)(self._value[index], value)
        known, known_place = self._guide[index], self._place[index]
        better = (guide > known) | ((guide == known) & _precedes(place, known_place))
        self._guide[index] = np.where(better, guide, known)
        self._place[index] = np.where(better[..., None], place, known_place)

    def value(self, index: tuple[int, ...]) -> Any:
        """The largest raw value."""
        return self._value[index]

    def place(self, index: tuple[int, ...]) -> tuple[int, int]:
        """(block number, class in the block) where it was met."""
        block, position = self._place[index].tolist()
        return block, position

    @property
    def shape(self) -> tuple[int, ...]:
        return self._guide.shape

    def guides(self) -> NDArray[np.float64]:
        """Float64 guides to the values, for choosing what to show."""
        return self._guide

    def to_plain(self) -> Plain:
        values = [_plain_ball(v) if self.balls else float(v).hex() for v in self._value.ravel()]
        guides = [float(v).hex() for v in self._guide.ravel()]
        return {
            "shape": list(self.shape),
            "balls": self.balls,
            "values": values,
            "guides": guides,
            "places": self._place.reshape(-1, 2).tolist(),
        }

    @classmethod
    def from_plain(cls, plain: Plain) -> Self:
        result = cls(tuple(plain["shape"]), balls=plain["balls"])
        values = [_ball_of(v) if plain["balls"] else float.fromhex(v) for v in plain["values"]]
        result._value = np.array(values, dtype=object if plain["balls"] else np.float64).reshape(result.shape)
        result._guide = np.array([float.fromhex(v) for v in plain["guides"]]).reshape(result.shape)
        result._place = np.array(plain["places"], dtype=np.int64).reshape((*result.shape, 2))
        return result


def _max_or_first(a: arb | None, b: arb | None) -> arb | None:
    if a is None or b is None:
        return b if a is None else a
    return a.max(b)


_ball_max: np.ufunc = np.frompyfunc(_max_or_first, 2, 1)


def _guides(balls: Raw) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a nan is compared
        return np.asarray(np.frompyfunc(_guide, 1, 1)(balls)).astype(np.float64)


def _guide(ball: arb) -> float:
    """The midpoint, its logarithm plus one above 1: keeps the order where a double would be infinite."""
    value = float(ball)
    return 1.0 + float(ball.mid().log()) if value > 1.0 else value


def _precedes(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((a[..., 0] < b[..., 0]) | ((a[..., 0] == b[..., 0]) & (a[..., 1] < b[..., 1])))


def _plain_ball(ball: arb | None) -> list[str] | None:
    if ball is None:
        return None
    if not ball.is_finite():
        return ["nan"]
    return [hex(int(part)) for part in (*ball.mid().man_exp(), *ball.rad().man_exp())]


def _ball_of(plain: list[str] | None) -> arb | None:
    if plain is None:
        return None
    if plain == ["nan"]:
        return arb("nan")
    mid, mid_exp, rad, rad_exp = (int(part, 16) for part in plain)
    # arb rounds a radius up by one unit of its 30 bits, so one just below gives the one meant
    ball = arb((mid, mid_exp), ((rad << 60) - 1 if rad else 0, rad_exp - 60))
    return ball if _plain_ball(ball) == plain else arb((mid, mid_exp), (rad, rad_exp))
