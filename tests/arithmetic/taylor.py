"""Rational bounds for e^x from Taylor's theorem alone: a second route that shares nothing with Arb."""

from flint import fmpq, fmpz


def exp_bounds(x: fmpq, bits: int = 120) -> tuple[fmpq, fmpq]:
    """(a, b) with a <= e^x <= b and b - a about 2^-bits * e^x.

    With y = x / 2^k, |y| <= 1/2, the remainder after the terms y^i/i!, i < n, is at most 2 |y|^n / n!: each
    further term is at most half the one before. Then k squarings of positive bounds, cut to 4 * bits bits.
    """
    halvings = max(0, int(abs(x).ceil()).bit_length() + 1)
    y = x / fmpq(fmpz(2) ** halvings)
    total, term, n = fmpq(0), fmpq(1), 0
    while 2 * abs(term) > fmpq(1, fmpz(2) ** (bits + 2 * halvings)):
        total, n = total + term, n + 1
        term = term * y / n
    low, high = total - 2 * abs(term), total + 2 * abs(term)
    for _ in range(halvings):
        low, high = _cut(low * low, 4 * bits, up=False), _cut(high * high, 4 * bits, up=True)
    return low, high


def _cut(x: fmpq, bits: int, *, up: bool) -> fmpq:
    """x > 0 rounded to about that many significant bits, down or up."""
    shift = bits - (x.p.bit_length() - x.q.bit_length())
    scale = fmpq(2) ** shift
    return ((x * scale).ceil() if up else (x * scale).floor()) / scale
