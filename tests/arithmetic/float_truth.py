"""Exact sides for attacks on float64 bounds: doubles as rationals, functions at 200 bits as rational ends."""

from collections.abc import Callable, Iterable

import numpy as np
from flint import arb, ctx, fmpq

from certify.arithmetic.enclosure import Enclosure

PRECISION = 200
UNIT = fmpq(1, 2**53)


def rational(value: float) -> fmpq:
    """A finite double as the rational that it is."""
    return fmpq(*float(value).as_integer_ratio())


def ends(value: arb) -> tuple[fmpq, fmpq]:
    """The ends of a finite ball."""
    enclosure = Enclosure.of(value)
    assert enclosure.lower is not None and enclosure.upper is not None
    return enclosure.lower, enclosure.upper


def truth(function: Callable[[arb], arb], x: float | fmpq) -> tuple[fmpq, fmpq]:
    """f(x) between two rationals, from Arb at 200 bits."""
    with ctx.workprec(PRECISION):
        return ends(function(arb(x)))


def relative_error(value: float, lower: fmpq, upper: fmpq) -> fmpq:
    """The largest ``|value - x| / |x|`` in units of 2^-53 over the nonzero x in [lower, upper]."""
    exact = rational(value)
    return max(abs(exact - x) for x in (lower, upper)) / min(abs(lower), abs(upper)) / UNIT


def worst_error(
    function: Callable[[arb], arb], inputs: Iterable[float], outputs: Iterable[float]
) -> tuple[fmpq, float]:
    """The largest relative error of the outputs in units of 2^-53, and the input where it is met."""
    return max((relative_error(y, *truth(function, x)), x) for x, y in zip(inputs, outputs, strict=True))


def steps(value: float, count: int) -> float:
    """The double ``count`` steps above a finite double (below it for a negative count)."""
    for _ in range(abs(count)):
        value = float(np.nextafter(value, np.inf if count > 0 else -np.inf))
    return value
