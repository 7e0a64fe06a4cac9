"""Laplace comparisons in float64 where that is proved to suffice; what it does not decide is left to Arb.

A query is answered yes when its uniform number U is below p = Q((τ - f + γ)/scale), Q the standard Laplace tail.
The first 64 bits of U, and a float that is within 2^-41 of p, decide all but about 2^-39 of the queries.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, ldexp

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from certify.arithmetic.elementary import EXP_LIMIT, INVERSE_LN2, LN2_HIGH, LN2_LOW, Floats, exp_array
from certify.selection.bits import BitSource
from certify.selection.noise import GUARD_BITS, Laplace, ThresholdNoise

MARGIN = 2.0**-40
"""A uniform number that is further than this from the float probability is on that side of the true one."""

MAX_NOISE = 64
"""The lemma needs |γ|/scale at most so large,"""
MAX_RATE_EXPONENT = 900
"""1/scale between 2^-900 and 2^900, so that no underflow matters,"""
MAX_BATCH_RATE = 64
MAX_BATCH_THRESHOLD = 2**62
"""and, for a batch, 1/scale and the threshold at most so large."""

CHUNK = 8192

MAX_BITS = 1024
"""γ of which so many bits do not give a float within the lemma is left to Arb."""

_NOISE_ERROR = arb((1, -48))
_UNIT = 2.0**-53
_LEAST_RATE, _GREATEST_RATE = fmpq(1, 2**MAX_RATE_EXPONENT), fmpq(2**MAX_RATE_EXPONENT)
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (1.0 / factorial(j) for j in range(2, 14))


class Screen:
    """A stream's 1/scale and γ/scale as floats.

    Lemma. Write x = (τ - f)/scale, g = γ/scale, z = x + g, u = 2^-53, and suppose that the float of x is off by
    at most 6u|x| + 2^-45, that of g by at most 2^-48, and |g| <= 64. Then |x| <= |z| + 64, and the sum rounds
    once more: z is off by less than 7u|z| + 400u + 2^-45 + 2^-48 < 7u|z| + 2^-43. Q has slope at most e^-|z|/2
    times e^|error|, and |z| e^-|z| <= 1: for |z| <= 690 the float of Q(z) is off by less than 2^-43.9 on account of
    z, 2^-51 of the exponential (`exp_array`'s lemma) and 2^-53 of the last subtraction. Beyond |z| = 690 both Q
    and its float are within e^-680 of 0 or of 1. Together less than 2^-41.
    """

    __slots__ = ("noise", "rate")

    def __init__(self, rate: float, noise: float) -> None:
        self.rate = rate
        self.noise = noise

    @classmethod
    def of(cls, law: Laplace, noise: ThresholdNoise) -> Screen | None:
        """None when the lemma does not cover these numbers, so that every query has to go to Arb."""
        rate = 1 / law.scale
        if not _LEAST_RATE <= rate <= _GREATEST_RATE:
            return None
        scaled = _scaled_noise(law, noise)
        return None if scaled is None else cls(int(rate.p) / int(rate.q), scaled)

    def answer(self, shift: fmpq, word: int) -> bool | None:
        """The answer to a query with τ - f = `shift` whose U begins with these 64 bits, if they decide it.

        x is off by 4u|x| at most: the quotient, the rate and the product are correctly rounded, and where one
        of them underflows, the error is below 2^-100.
        """
        try:
            z = int(shift.p) / int(shift.q) * self.rate + self.noise
        except OverflowError:
            return None
        half = 0.5 * exp_float(max(-abs(z), -EXP_LIMIT))
        gap = (word >> 11) * _UNIT - (half if z >= 0 else 1.0 - half)
        if gap >= MARGIN:
            return False
        return True if gap < -MARGIN - _UNIT else None

    def probabilities(self, threshold: fmpq, sums: NDArray[np.int64]) -> Floats | None:
        """p for candidates with these sums, each at most 2^60 in size; None for what MAX_BATCH_… exclude.

        The integer part of τ - f is exact in int64; its conversion, the fraction, their sum, the rate and the
        product round once each: x is off by at most 6u|x| + 4u/scale <= 6u|x| + 2^-45.
        """
        base = threshold.floor()
        if self.rate > MAX_BATCH_RATE or abs(base) > MAX_BATCH_THRESHOLD:
            return None
        fraction = threshold - base
        shift = (int(base) - sums).astype(np.float64) + int(fraction.p) / int(fraction.q)
        z = shift * self.rate + self.noise
        half = 0.5 * exp_array(np.maximum(-np.abs(z), -EXP_LIMIT))
        return np.where(z >= 0, half, 1.0 - half)


def exp_float(x: float) -> float:
    """e^x for one float in [-700, 700]: `exp_array`'s operations in its order, so that its lemma applies."""
    k = round(x * INVERSE_LN2)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = _C13 * r + _C12
    p = ((((p * r + _C11) * r + _C10) * r + _C9) * r + _C8) * r + _C7
    p = (((((p * r + _C6) * r + _C5) * r + _C4) * r + _C3) * r + _C2) * r + 1.0
    return ldexp(p * r + 1.0, k)


def first_yes(
    screen: Screen,
    threshold: fmpq,
    sums: NDArray[np.int64],
    source: BitSource,
    settle: Callable[[int, int], bool],
) -> int | None:
    """The position of the first candidate whose query at `threshold` is answered yes, or None.

    Each query has a fresh uniform number; `settle(position, prefix)` answers those that its first 64 bits leave
    open, from that prefix on. The numbers behind the first yes are thrown away unused. The threshold has to be
    one that `probabilities` takes.
    """
    for start in range(0, len(sums), CHUNK):
        part = sums[start : start + CHUNK]
        probabilities = screen.probabilities(threshold, part)
        assert probabilities is not None
        words = source.words(len(part))
        # The first 53 bits, exactly: the true number is above this by at most 2^-53.
        gap = (words >> np.uint64(11)).astype(np.float64) * _UNIT - probabilities
        for position in np.flatnonzero(gap < MARGIN):
            if gap[position] < -MARGIN - _UNIT or settle(start + int(position), int(words[position])):
                return start + int(position)
    return None


def _scaled_noise(law: Laplace, noise: ThresholdNoise) -> float | None:
    """γ/scale within 2^-48, after as many refinements as that takes; None if it is larger than MAX_NOISE."""
    while True:
        precision = ctx.prec
        ctx.prec = noise.uniform.bits + GUARD_BITS
        try:
            low, high = noise.interval()
            if low is not None and high is not None:
                scaled = low.union(high) / law.scale
                middle = float(scaled)
                if (scaled - arb(middle)).abs_upper() < _NOISE_ERROR:
                    return middle if abs(middle) <= MAX_NOISE else None
        finally:
            ctx.prec = precision
        if noise.uniform.bits >= MAX_BITS:
            return None
        noise.uniform.refine()
