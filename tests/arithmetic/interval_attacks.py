"""What attacks on arrays of intervals and balls share: making them, and deciding exactly what they contain."""

import math
from collections.abc import Iterable

import numpy as np
from flint import ctx, fmpq
from float_truth import PRECISION
from numpy.typing import NDArray

from certify.arithmetic.arrays import BallArray, CertifiedArray, IntervalArray

INF = math.inf

Interval = tuple[float, float]


def interval(*pairs: Interval) -> IntervalArray:
    lower, upper = zip(*pairs, strict=True)
    return IntervalArray(np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64))


def scalar(pair: Interval) -> IntervalArray:
    return IntervalArray(np.array(pair[0]), np.array(pair[1]))


def objects(values: Iterable[object], shape: tuple[int, ...] | None = None) -> NDArray[np.object_]:
    values = list(values)
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result if shape is None else result.reshape(shape)


def sound(array: IntervalArray) -> None:
    """No end is nan, none is infinite on the wrong side, none has passed the other."""
    lower, upper = np.asarray(array.lower), np.asarray(array.upper)
    assert np.all(lower <= upper) and np.all(lower < INF) and np.all(upper > -INF)


def encloses(array: CertifiedArray, values: Iterable[fmpq]) -> bool:
    """Whether every entry contains its rational, decided exactly."""
    places = np.ndindex(array.shape)
    return all(array.enclosure(index).contains(value) for index, value in zip(places, values, strict=True))


def points(count: int, low: float, high: float, seed: int) -> list[fmpq]:
    rng = np.random.default_rng(seed)
    return [fmpq(*float(v).as_integer_ratio()) for v in rng.uniform(low, high, count)]


def agree(interval_result: IntervalArray, ball_result: BallArray, precision: int = PRECISION) -> None:
    """Every pair of entries has a number in common."""
    assert interval_result.shape == ball_result.shape
    sound(interval_result)
    with ctx.workprec(precision):
        for index in np.ndindex(ball_result.shape):
            assert interval_result.enclosure(index).overlaps(ball_result.enclosure(index)), index
