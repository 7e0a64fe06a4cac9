"""The float64 model that every array bound rests on, and the count of roundings that carries it.

Model (IEEE 754, round to nearest): for ``+ - * /`` on finite doubles whose exact result lies in the normal
range, ``fl(x) = x (1 + e)`` with ``|e| <= u = 2^-53``; below it results are off by at most ``2^-1075`` (gradual
underflow). `check_rounding` refuses to start in any other mode.
"""

from __future__ import annotations

import numpy as np
from flint import arb, ctx, fmpq

from certify.arithmetic.scalar import Undetermined

UNIT_EXPONENT = -53
UNIT = fmpq(1, 2**53)

ENTRY_ROUNDINGS = 4
"""Roundings charged to a table entry read off an Arb ball by `nearest_float` (or to its logarithm)."""


class RoundingModeError(RuntimeError):
    """The processor does not compute as the model says, so no float64 bound of this package holds."""


def check_rounding() -> None:
    """Raise `RoundingModeError` unless float64 addition rounds to nearest, ties to even, in numpy and in Python,
    and subnormal numbers are neither flushed to zero nor read as zero.

    ``1 + 2^-53`` is a tie that goes down to 1, ``(1 + 2^-52) + 2^-53`` one that goes up; upward, downward and
    truncating modes each get at least one of the four sums wrong. A library built for speed may switch the
    processor to flushing when it is loaded.
    """
    half = 2.0**-53
    step = 2.0**-52
    sums = np.add(np.array([1.0, 1.0 + step, -1.0, -1.0 - step]), np.array([half, half, -half, -half]))
    expected = [1.0, 1.0 + 2 * step, -1.0, -1.0 - 2 * step]
    scalars = [1.0 + half, (1.0 + step) + half, -1.0 - half, (-1.0 - step) - half]
    if sums.tolist() != expected or scalars != expected:
        raise RoundingModeError("float64 arithmetic does not round to nearest; start without a changed rounding mode")
    least, subnormal = np.array([2.0**-1022]), np.array([2.0**-1023])
    if (0.5 * least).tolist() != [2.0**-1023] or (subnormal + subnormal).tolist() != [2.0**-1022]:
        raise RoundingModeError("float64 arithmetic flushes subnormal numbers to zero; start without that mode")


def growth_factor(roundings: int) -> fmpq:
    """A rational ``F >= 1`` with ``(1-u)^-n <= F``: a value with n roundings v and its truth x obey ``v/F <= x <= vF``.

    Lemma (Bernoulli): ``(1-u)^n >= 1 - nu``, so ``F = 1/(1 - nu)`` for ``nu < 1``. And ``1+u <= (1-u)^-1``,
    so a factor ``1+e`` with ``|e| <= u``, multiplied or divided, stays inside ``[(1-u), (1-u)^-1]``. Raises
    ValueError when ``n u >= 1/2``: a bound that loose says nothing.
    """
    if roundings < 0 or 2 * roundings >= 2**53:
        raise ValueError(f"{roundings} roundings carry no bound")
    return 1 / (1 - roundings * UNIT)


def nearest_float(ball: arb) -> float:
    """The double nearest the midpoint of a ball of relative radius at most 2^-60, as `ENTRY_ROUNDINGS` roundings.

    Whatever the direction in which the midpoint is converted, its error is at most ``2u`` relative to it;
    the radius adds less than ``2^-59``; together below ``2.1u < 1 - (1-u)^4``, so that four roundings cover
    both sides. Raises Undetermined when the ball is wider, is not finite, or leaves the normal range of a
    double.
    """
    if not ball.is_finite() or ball.rel_accuracy_bits() < 61:
        raise Undetermined(f"a table entry is not known to 61 good bits at {ctx.prec} bits")
    value = float(ball)
    if not 2.3e-308 < abs(value) < 1.7e308:
        raise Undetermined("a table entry leaves the range of float64")
    return value
