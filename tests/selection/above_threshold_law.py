"""The law of AboveThreshold by a route of its own: for Laplace noise by exact integration of sums of exponentials,
for geometric noise by summing over the threshold noise in rationals."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from flint import arb, ctx, fmpq

Terms = dict[int, arb]
"""Σ terms[k] e^{kx}."""


def laplace_law(shifts: Sequence[fmpq], threshold_scale: fmpq, query_scale: fmpq, bits: int = 200) -> list[arb]:
    """P(first yes at j) for each j, then P(no yes): ν_j > shifts[j] + γ, threshold_scale = query_scale / ratio.

    The ratio query_scale/threshold_scale must be an integer. With x = γ/query_scale every factor is, between the
    breakpoints, a constant plus a multiple of e^x or of e^-x.
    """
    ratio = query_scale / threshold_scale
    assert ratio.q == 1
    with ctx.workprec(bits):
        scaled = [shift / query_scale for shift in shifts]
        points = sorted({fmpq(0), *(-each for each in scaled)})
        edges: list[fmpq | None] = [None, *points, None]
        law = [arb(0)] * (len(shifts) + 1)
        for low, high in pairwise(edges):
            sample = _inside(low, high)
            side = 1 if sample > 0 else -1
            product: Terms = {-side * int(ratio.p): arb(ratio) / 2}  # the density of x
            for j, each in enumerate(scaled):
                yes = _tail_terms(arb(each), above=sample + each > 0)
                law[j] += _integral(_times(product, yes), low, high)
                product = _times(product, _complement(yes))
            law[-1] += _integral(product, low, high)
        return law


def geometric_law(
    shifts: Sequence[int], threshold_ratio: Fraction, query_ratio: Fraction, *, strict: bool, cut: int = 80
) -> list[tuple[Fraction, Fraction]]:
    """Exact lower and upper bounds of the same for two-sided geometric noise; |γ| > cut has mass 2 r^cut at most."""
    law = [Fraction(0)] * (len(shifts) + 1)
    for gamma in range(-cut, cut + 1):
        left = (1 - threshold_ratio) / (1 + threshold_ratio) * threshold_ratio ** abs(gamma)
        for j, shift in enumerate(shifts):
            yes = _geometric_tail(shift + gamma + (1 if strict else 0), query_ratio)
            law[j] += left * yes
            left *= 1 - yes
        law[-1] += left
    rest = 2 * threshold_ratio**cut
    return [(each, each + rest) for each in law]


def _geometric_tail(m: int, r: Fraction) -> Fraction:
    """P(ν >= m)."""
    return r**m / (1 + r) if m >= 0 else 1 - r ** (1 - m) / (1 + r)


def _inside(low: fmpq | None, high: fmpq | None) -> fmpq:
    if low is None:
        assert high is not None
        return high - 1
    return low + 1 if high is None else (low + high) / 2


def _tail_terms(shift: arb, *, above: bool) -> Terms:
    """Q(x + shift) as a sum of exponentials in x, where x + shift is known to be above or below 0."""
    return {-1: (-shift).exp() / 2} if above else {0: arb(1), 1: -shift.exp() / 2}


def _complement(terms: Terms) -> Terms:
    return {0: arb(1) - terms.get(0, arb(0))} | {k: -value for k, value in terms.items() if k != 0}


def _times(left: Terms, right: Terms) -> Terms:
    result: Terms = {}
    for i, a in left.items():
        for j, b in right.items():
            result[i + j] = result.get(i + j, arb(0)) + a * b
    return result


def _integral(terms: Terms, low: fmpq | None, high: fmpq | None) -> arb:
    total = arb(0)
    for k, coefficient in terms.items():
        if coefficient.is_zero():
            continue
        if k == 0:
            assert low is not None and high is not None
            total += coefficient * (high - low)
        else:
            total += coefficient * (_power(k, high) - _power(k, low)) / k
    return total


def _power(k: int, x: fmpq | None) -> arb:
    """e^{kx}; 0 at the infinite end, where the integrand has to vanish."""
    return arb(0) if x is None else arb(k * x).exp()
