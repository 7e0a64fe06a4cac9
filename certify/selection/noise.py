"""Exact noise: numbers whose random bits are drawn only as far as a comparison needs them.

A noise is given by its upper tail Q(z) = P(ν > z). The threshold noise γ is drawn as a quantile: V is uniform on (0,1)
and γ = Q_γ^{-1}(V). A query noise ν exceeds z exactly when a second uniform number U lies below Q_ν(z). Of U and V
only finitely many bits are ever known: they say that U and V lie in dyadic intervals, Arb turns those into an
enclosure of Q_ν(c + γ), and if U's interval is not clear of it, more bits are drawn. What has been decided is
therefore true of the real numbers U and V, so the law is exactly the stated one; that no number of bits decides has
probability 0. How long a comparison takes depends on the bits: as in the paper, timing is outside the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

from flint import arb, ctx, fmpq, fmpz

from certify.selection.bits import BitSource
from certify.selection.parameters import positive

GUARD_BITS = 32
"""Arb works with so many bits more than have been drawn."""

_ZERO, _HALF, _ONE = arb(0), arb((1, -1)), arb(1)

Bound = arb | None
"""One end of the threshold noise; None where it is not bounded."""

T = TypeVar("T")


class Uniform:
    """A uniform number on (0,1) of which `bits` binary places are known: it lies in [prefix, prefix + 1] / 2^bits."""

    __slots__ = ("_source", "bits", "prefix")

    def __init__(self, source: BitSource, bits: int = 0, prefix: int = 0) -> None:
        self._source = source
        self.bits = bits
        self.prefix = prefix

    def refine(self) -> None:
        """Draw the next block of bits."""
        block = self._source.block
        self.prefix = self.prefix << block | self._source.take(block)
        self.bits += block

    def ends(self) -> tuple[arb, arb]:
        """Both ends, exact where the precision is at least `bits`."""
        unit = _unit(self.bits)
        return arb(self.prefix) * unit, arb(self.prefix + 1) * unit


@lru_cache(maxsize=64)
def _unit(bits: int) -> arb:
    return arb((1, -bits))


class Noise(Protocol):
    """The law of a symmetric noise ν."""

    def tails(self, shift: fmpq, low: Bound, high: Bound, *, strict: bool) -> tuple[arb, arb]:
        """Balls around P(ν > shift + high) and P(ν > shift + low), >= for > unless `strict`: 0 and 1 without bound."""
        ...

    def quantile(self, uniform: Uniform) -> tuple[Bound, Bound]:
        """Balls around (or beyond) the least and the greatest noise whose upper tail can be the uniform number.

        The noise is at least the lower end of the first ball and at most the upper end of the second.
        """
        ...


@dataclass(frozen=True, slots=True)
class Laplace:
    """The Laplace law with density e^{-|z|/scale} / (2 scale). Strictness makes no difference."""

    scale: fmpq

    def __post_init__(self) -> None:
        positive(self.scale, "the scale")

    def tails(self, shift: fmpq, low: Bound, high: Bound, *, strict: bool) -> tuple[arb, arb]:
        """See `Noise.tails`."""
        exact, scale = arb(shift), arb(self.scale)
        return (
            _ZERO if high is None else self.tail((exact + high) / scale),
            _ONE if low is None else self.tail((exact + low) / scale),
        )

    @staticmethod
    def tail(x: arb) -> arb:
        """A ball around P(ν > x scale): e^{-x}/2 for x >= 0, and 1 - e^x/2 for x < 0."""
        if x >= 0:
            return (-x).exp() * _HALF
        if x < 0:
            return 1 - x.exp() * _HALF
        if not x.is_finite():
            return arb(0).union(arb(1))
        return ((-x.upper()).exp() * _HALF).union(1 - x.lower().exp() * _HALF)  # x straddles 0

    def quantile(self, uniform: Uniform) -> tuple[Bound, Bound]:
        """-scale log(2V) for V <= 1/2 and scale log(2(1-V)) above, at both ends of V's interval."""
        bits, v = uniform.bits, uniform.prefix
        return self._at(v + 1, bits), self._at(v, bits)

    def _at(self, v: int, bits: int) -> Bound:
        """The noise whose upper tail is v / 2^bits."""
        if 2 * v <= 1 << bits:
            return -arb((v, 1 - bits)).log() * self.scale if v else None
        rest = (1 << bits) - v
        return arb((rest, 1 - bits)).log() * self.scale if rest else None


@dataclass(frozen=True, slots=True)
class InverseExponential:
    """The number e^-exponent, exponent > 0."""

    exponent: fmpq

    def __post_init__(self) -> None:
        positive(self.exponent, "the exponent")


@dataclass(frozen=True, slots=True)
class Geometric:
    """The two-sided geometric law P(k) = (1-r)/(1+r) r^|k| on the integers, 0 < r < 1."""

    ratio: fmpq | InverseExponential

    def __post_init__(self) -> None:
        if isinstance(self.ratio, fmpq) and not 0 < self.ratio < 1:
            raise ValueError(f"the ratio is {self.ratio}: it must lie between 0 and 1")

    def tails(self, shift: fmpq, low: Bound, high: Bound, *, strict: bool) -> tuple[arb, arb]:
        """See `Noise.tails`; ν > shift + γ says that ν is at least the first integer above."""
        first = arb(shift.floor() + 1 if strict else shift.ceil())
        return (
            _ZERO if high is None else self.tail(first + high),
            _ONE if low is None else self.tail(first + low),
        )

    def tail(self, m: arb) -> arb:
        """A ball around P(ν >= m) for an integer m: r^m/(1+r) for m >= 0, and 1 - r^(1-m)/(1+r) for m <= 1."""
        ratio, log_ratio = self._ratio()
        if not m.is_finite():
            return arb(0).union(arb(1))
        if m >= 0:
            return (m * log_ratio).exp() / (1 + ratio)
        if m <= 1:
            return 1 - ((1 - m) * log_ratio).exp() / (1 + ratio)
        return arb(0).union(arb(1))

    def quantile(self, uniform: Uniform) -> tuple[Bound, Bound]:
        """The greatest k with P(ν >= k) > V, at both ends of V's interval."""
        bits, v = uniform.bits, uniform.prefix
        least = [_integer(x.lower(), fmpq.floor) for x in self._at(v + 1, bits)]
        greatest = [_integer(x.upper(), fmpq.ceil) - 1 for x in self._at(v, bits)]
        return _extreme(least, arb.min), _extreme(greatest, arb.max)

    def _at(self, v: int, bits: int) -> list[arb]:
        """The real m with P(ν >= m) = v / 2^bits, by each formula that may apply; none for v = 0 and 2^bits."""
        rest = (1 << bits) - v
        if v == 0 or rest == 0:
            return []
        ratio, log_ratio = self._ratio()
        below = arb((v, -bits)) * (1 + ratio)
        above = arb((rest, -bits)) * (1 + ratio)
        by_first = below.log() / log_ratio
        by_second = 1 - above.log() / log_ratio
        if below <= 1:
            return [by_first]
        return [by_second] if below > 1 else [by_first, by_second]

    def _ratio(self) -> tuple[arb, arb]:
        """Balls around r and log r."""
        if isinstance(self.ratio, InverseExponential):
            exponent = arb(-self.ratio.exponent)
            return exponent.exp(), exponent
        ratio = arb(self.ratio)
        return ratio, ratio.log()


def _integer(x: arb, rounding: Callable[[fmpq], fmpz]) -> arb:
    return arb(rounding(x.fmpq())) if x.is_finite() else x


def _extreme(ends: list[arb], choose: Callable[[arb, arb], arb]) -> Bound:
    if not ends or not all(end.is_finite() for end in ends):
        return None
    return ends[0] if len(ends) == 1 else choose(ends[0], ends[1])


class ThresholdNoise:
    """One number, known ever more closely and never drawn again: all that is decided with it holds for that number."""

    __slots__ = ("_interval", "_key", "_law", "uniform")

    def __init__(self, law: Noise, source: BitSource) -> None:
        self._law = law
        self.uniform = Uniform(source)
        self.uniform.refine()
        self._key: tuple[int, int] | None = None
        self._interval: tuple[Bound, Bound] = (None, None)

    def interval(self) -> tuple[Bound, Bound]:
        """The noise lies between these two; balls at the current precision."""
        key = (self.uniform.bits, ctx.prec)
        if key != self._key:
            self._interval = self._law.quantile(self.uniform)
            self._key = key
        return self._interval


def decide(
    uniform: Uniform, threshold: ThresholdNoise, answer: Callable[[arb, arb, tuple[Bound, Bound]], T | arb]
) -> T:
    """What `answer` says once the bits suffice.

    `answer(lower, upper, interval)` gets the ends of the uniform number and the interval of the threshold noise.
    While they leave the answer open, it returns how far apart the ends of the probability are, and whichever is
    known less well is refined: the threshold noise when that exceeds the width of the uniform number's interval.
    """
    quantile = threshold.uniform
    if uniform.bits == 0:
        uniform.refine()
    while True:
        precision = ctx.prec  # set and restored by hand: `workprec` costs as much as the two exponentials
        ctx.prec = max(uniform.bits, quantile.bits) + GUARD_BITS
        try:
            result = answer(*uniform.ends(), threshold.interval())
        finally:
            ctx.prec = precision
        if not isinstance(result, arb):
            return result
        if result > _unit(uniform.bits):
            quantile.refine()
        else:
            uniform.refine()


def exceeds(
    law: Noise,
    threshold: ThresholdNoise,
    shift: fmpq,
    source: BitSource,
    *,
    strict: bool = True,
    uniform: Uniform | None = None,
) -> bool:
    """Whether ν > shift + γ (ν >= shift + γ unless `strict`) for a fresh ν of this law.

    `uniform` continues a number whose first bits were drawn elsewhere.
    """

    def answer(lower: arb, upper: arb, interval: tuple[Bound, Bound]) -> bool | arb:
        least, greatest = law.tails(shift, *interval, strict=strict)
        if upper <= least:
            return True
        return False if lower >= greatest else greatest - least

    return decide(uniform or Uniform(source), threshold, answer)
