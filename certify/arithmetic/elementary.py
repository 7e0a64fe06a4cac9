"""exp and log of float64 arrays with a proved error, since ``np.exp`` and ``np.log`` carry no guarantee.

Only ``+ - * /``, ``rint``, ``frexp`` and ``ldexp`` are used, under the model of `certify.arithmetic.rounding`
with ``u = 2^-53``. The constants below are doubles; their distance from the true ones enters the bounds.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RELATIVE_ERROR = 2.0**-50
"""8u: the proved relative error of `exp_array` and `log_near_one`."""

EXP_LIMIT = 700.0
"""`exp_array` takes arguments in [-EXP_LIMIT, EXP_LIMIT]; there every result is a normal double."""

CACHED = 8192
"""Arrays are worked through in pieces of this length, which stay in a core's cache."""

# log 2 = LN2_HIGH + LN2_LOW + rest with |rest| < 2^-96; LN2_HIGH has 40 bits, so k * LN2_HIGH is exact for |k| <= 2^11.
LN2_HIGH = float.fromhex("0x1.62e42fefa2000p-1")
LN2_LOW = float.fromhex("0x1.9ef35793c7673p-41")
INVERSE_LN2 = float.fromhex("0x1.71547652b82fep+0")

_EXP_COEFFICIENTS = [1.0 / factorial(j) for j in range(14)]
_ATANH_COEFFICIENTS = [1.0 / (2 * j + 1) for j in range(1, 12)]


def exp_array(x: Floats) -> Floats:
    """``exp(x)`` elementwise for ``|x| <= 700``, with relative error below ``8u = 2^-50``.

    Lemma. Put ``k = rint(x / log 2)`` and ``r = x - k log 2``; then ``|r| <= 0.3467``. ``k LN2_HIGH`` is
    exact, the two subtractions round by at most ``0.36u`` each and ``k LN2_LOW`` by less than ``2^-30 u``,
    so r is off by at most ``0.75u``. Degree-13 Taylor leaves ``r^14 e^0.35/14! < 0.04u``. In Horner's rule
    the error obeys ``err_j <= |r| err_{j+1} + u (|r p_{j+1}| + |p_j|)`` (and coefficient roundings of at
    most u/6 from j = 3 on), with ``|p_0| <= 1.42, |p_1| <= 1.21, |p_2| <= 0.57``: ``err_0 < 2.7u``.
    Together below ``2.7u + 0.04u + 0.75u * 1.42 < 4u``, relative to ``e^r >= 0.706`` below ``6u``.
    ``ldexp`` is exact in the normal range. Raises ValueError for an argument outside the range, nan
    included.
    """
    if not np.all(np.abs(x) <= EXP_LIMIT):
        raise ValueError("exp_array takes finite arguments of at most 700 in size")
    flat = np.ascontiguousarray(x).ravel()
    result = np.empty_like(flat)
    for start in range(0, len(flat), CACHED):
        part = flat[start : start + CACHED]
        k = np.rint(part * INVERSE_LN2)
        r = (part - k * LN2_HIGH) - k * LN2_LOW
        p = np.full_like(r, _EXP_COEFFICIENTS[-1])
        for coefficient in reversed(_EXP_COEFFICIENTS[:-1]):
            p *= r
            p += coefficient
        np.ldexp(p, k.astype(np.int32), out=result[start : start + CACHED])
    return result.reshape(np.shape(x))


def exp_bounds(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Arrays ``(a, b)`` with ``a <= exp(x) <= b`` whenever ``lower <= x <= upper`` elementwise; infinite ends allowed.

    Narrow intervals share one exponential: with ``m`` near the middle and ``|x - m| <= s <= 2^-10``,
    ``e^{x-m}`` lies in ``[1 - s, 1 + s (1 + 2^-10)]``; `exp_array` adds 8u, the products a few more, and
    2^-49 covers 16u. Wide ones take two. Beyond the range of `exp_array` the lower end is 0 below and
    ``exp(700)`` above, the upper end ``exp(-700)`` below and infinite above. A nan end gives the end that
    says nothing.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        middle = 0.5 * lower + 0.5 * upper
        spread = np.maximum(upper - middle, middle - lower) * (1.0 + 2.0**-50)
        narrow = bool(np.all((np.abs(middle) <= EXP_LIMIT - 1) & (spread <= 2.0**-10)))
    if narrow:
        value = exp_array(middle)
        margin = 2.0**-49 + spread * (1.0 + 2.0**-9)
        return value * (1.0 - margin), value * (1.0 + margin)
    clipped_low = np.clip(np.nan_to_num(lower, nan=-np.inf, posinf=np.inf, neginf=-np.inf), -EXP_LIMIT, EXP_LIMIT)
    clipped_high = np.clip(np.nan_to_num(upper, nan=np.inf, posinf=np.inf, neginf=-np.inf), -EXP_LIMIT, EXP_LIMIT)
    below = exp_array(clipped_low) * (1.0 - 2.0**-49)
    above = exp_array(clipped_high) * (1.0 + 2.0**-49)
    return (
        np.where(lower >= -EXP_LIMIT, below, 0.0),
        np.where(upper <= EXP_LIMIT, above, np.inf),
    )


def log_near_one(m: Floats) -> Floats:
    """``log(m)`` elementwise for ``0.70 <= m <= 1.42``, with relative error below ``8u = 2^-50`` (0 exactly at 1).

    Lemma. ``log m = 2 atanh(s)``, ``s = (m-1)/(m+1)``, ``|s| <= 0.1765``. ``m-1`` is exact (Sterbenz),
    ``m+1`` and the quotient round once each. With ``z = s^2 <= 0.0312``, ``atanh(s)/s = 1 + z Q(z)``, ``Q``
    a sum of positive terms computed with fewer than 90 roundings, and ``z Q <= 0.011``: an error below u.
    The tail ``z^12/25 < 2^-64``. The sum ``1 + zQ``, the product with s add one rounding each; together
    below ``5.5u``.
    """
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    q = np.full_like(z, _ATANH_COEFFICIENTS[-1])
    for coefficient in reversed(_ATANH_COEFFICIENTS[:-1]):
        q *= z
        q += coefficient
    result: Floats = 2.0 * (s * (1.0 + z * q))
    return result


def log_bounds(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Arrays ``(a, b)`` with ``a <= log(x) <= b`` for all ``x > 0`` with ``lower <= x <= upper`` elementwise.

    A lower end that is 0, negative, subnormal or nan gives ``-inf``; an upper end that is infinite or nan
    gives ``inf``; an upper end below the normal range gives the log of the smallest normal double. Each
    end: ``x = m 2^e``, ``log x = e log 2 + log m``; ``e LN2_HIGH`` is exact, ``e LN2_LOW`` and ``log m``
    are off by less than ``2^-83`` and ``8u |log m|``, and the two sums round once each: in all less than
    ``9u |log m| + 3u |log x|``, which is widened to ``2^-49 (|log m| + |log x|)``. For e = 0 the bound is
    relative.
    """
    tiny = np.finfo(np.float64).tiny
    low_known = np.isfinite(lower) & (lower >= tiny)
    high_known = np.isfinite(upper)
    below, below_error = _log_with_error(np.where(low_known, lower, 1.0))
    above, above_error = _log_with_error(np.where(high_known, np.maximum(upper, tiny), 1.0))
    low = np.where(low_known, below - below_error, -np.inf)
    low = np.where(np.isposinf(lower), 709.0, low)
    return low, np.where(high_known, above + above_error, np.inf)


def _log_with_error(x: Floats) -> tuple[Floats, Floats]:
    mantissa, exponent = np.frexp(x)
    small = mantissa < 0.7072
    mantissa = np.where(small, 2.0 * mantissa, mantissa)
    e = np.where(small, exponent - 1, exponent).astype(np.float64)
    log_mantissa = log_near_one(mantissa)
    value = e * LN2_HIGH + (e * LN2_LOW + log_mantissa)
    # One more step outward than the lemma asks, so that the rounding of value -+ error is covered.
    error = 2.0**-49 * (np.abs(log_mantissa) + np.abs(value))
    return value, error
