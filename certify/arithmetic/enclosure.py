"""Closed intervals with exact rational ends, and their outward decimal form."""

from dataclasses import dataclass
from typing import Self

from flint import arb, ctx, fmpq, fmpz

MAX_MAGNITUDE_BITS = 2**22


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The real numbers between `lower` and `upper`, ends included; an end that is None is unbounded.

    An enclosure of a number contains it. `Enclosure(None, None)` says nothing, and stands for nan as well.
    Raises ValueError when lower > upper.
    """

    lower: fmpq | None
    upper: fmpq | None

    def __post_init__(self) -> None:
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError("an enclosure needs lower <= upper")

    @classmethod
    def of(cls, value: fmpq | arb | int) -> Self:
        """The enclosure of one number: exact for a rational or an int; for a ball, its two ends.

        The ends are rounded outward to 64 bits more than the midpoint has (and at least `flint.ctx.prec`
        has). Ends whose magnitude leaves 2^(±2^22) are moved outward, to that power of two, to 0 or to
        unbounded, so that no enclosure holds numbers of billions of digits.
        """
        if isinstance(value, arb):
            lower, upper = _ball_ends(value)
            return cls(lower, upper)
        if isinstance(value, bool) or not isinstance(value, int | fmpq):
            raise TypeError(f"an enclosure is of an fmpq, an arb or an int, not of {type(value).__name__}")
        exact = fmpq(value)
        return cls(exact, exact)

    @property
    def is_exact(self) -> bool:
        """Whether the enclosure is a single number."""
        return self.lower is not None and self.lower == self.upper

    def ball(self) -> arb:
        """A ball at `flint.ctx.prec` that contains the enclosure; all reals when an end is unbounded."""
        if self.lower is None or self.upper is None:
            return arb(0, "inf")
        if self.lower == self.upper:
            return arb(self.lower)
        return arb(self.lower).union(arb(self.upper))

    def hull(self, other: "Enclosure") -> "Enclosure":
        """The smallest enclosure that contains both."""
        lower = None if self.lower is None or other.lower is None else min(self.lower, other.lower)
        upper = None if self.upper is None or other.upper is None else max(self.upper, other.upper)
        return Enclosure(lower, upper)

    def overlaps(self, other: "Enclosure") -> bool:
        """Whether the two have a number in common (a shared end counts)."""
        return _at_most(self.lower, other.upper) and _at_most(other.lower, self.upper)

    def contains(self, value: fmpq) -> bool:
        """Whether `value` lies in the enclosure, decided exactly."""
        return _at_most(self.lower, value) and _at_most(value, self.upper)

    def width(self) -> fmpq | None:
        """upper - lower, or None when an end is unbounded."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    def decimals(self, digits: int = 12) -> dict[str, str]:
        """`{"lower": ..., "upper": ...}` as decimal text with about `digits` significant digits.

        The lower text is at most the lower end and the upper text at least the upper end. An exact number
        whose decimal expansion ends within 2 * digits significant digits is printed in full, the same on both
        sides. Unbounded ends are "-inf" and "inf".
        """
        if digits < 1:
            raise ValueError("at least one digit is needed")
        wanted = 2 * digits if self.is_exact and _has_short_decimal(self.lower, 2 * digits) else digits
        return {
            "lower": "-inf" if self.lower is None else _decimal_below(self.lower, wanted),
            "upper": "inf" if self.upper is None else _decimal_above(self.upper, wanted),
        }


def _at_most(lower: fmpq | None, upper: fmpq | None) -> bool:
    """lower <= upper, where None is unbounded on its own side."""
    return lower is None or upper is None or lower <= upper


def _ball_ends(value: arb) -> tuple[fmpq | None, fmpq | None]:
    if value.is_nan():
        return None, None
    # lower() and upper() round outward at ctx.prec; with room for the 30 bits of the radius little is lost.
    mantissa_bits = value.mid().man_exp()[0].bit_length() if value.mid().is_finite() else 0
    with ctx.workprec(max(ctx.prec, mantissa_bits) + 64):
        lower, upper = value.lower(), value.upper()
        above = _bound_above(-lower)
        return (None if above is None else -above), _bound_above(upper)


def _bound_above(end: arb) -> fmpq | None:
    """The exact ball `end`, moved up if its magnitude leaves 2^(±MAX_MAGNITUDE_BITS); None if unbounded."""
    if not end.is_finite():
        return None
    mantissa, exponent = end.man_exp()
    if mantissa == 0:
        return fmpq(0)
    magnitude = exponent + mantissa.bit_length()  # 2^(magnitude-1) <= |end| < 2^magnitude
    if magnitude > MAX_MAGNITUDE_BITS:
        return None if mantissa > 0 else -fmpq(fmpz(2) ** MAX_MAGNITUDE_BITS)
    if magnitude < -MAX_MAGNITUDE_BITS:
        return fmpq(1, fmpz(2) ** MAX_MAGNITUDE_BITS) if mantissa > 0 else fmpq(0)
    return end.fmpq()


def _has_short_decimal(value: fmpq | None, digits: int) -> bool:
    return value is not None and _decimal_below(value, digits) == _decimal_above(value, digits)


def _decimal_above(value: fmpq, digits: int) -> str:
    below = _decimal_below(-value, digits)
    if below == "0":
        return below
    return below[1:] if below.startswith("-") else f"-{below}"


def _decimal_below(value: fmpq, digits: int) -> str:
    """The largest decimal of `digits` significant digits that is at most `value`."""
    if value == 0:
        return "0"
    # floor(value * 10^scale) has at least `digits` digits; the excess goes by floor(floor(z)/m) = floor(z/m).
    magnitude = value.p.bit_length() - value.q.bit_length()
    scale = digits - _decimal_exponent_below(magnitude - 1)
    power = fmpz(10) ** abs(scale)
    units = (value.p * power) // value.q if scale >= 0 else value.p // (value.q * power)
    excess = len(str(abs(units))) - digits
    units, scale = units // fmpz(10) ** excess, scale - excess
    return _render(units, -scale)


def _decimal_exponent_below(bits: int) -> int:
    """An integer at most bits*log10(2), and within 2 of it for |bits| < 10^9."""
    return bits * 30102999566 // 10**11 - 1


def _render(units: fmpz, exponent: int) -> str:
    """The text of units * 10^exponent, positional when short, scientific otherwise."""
    sign, text = ("-", str(-units)) if units < 0 else ("", str(units))
    figures = text.rstrip("0")
    exponent += len(text) - len(figures)
    point = len(figures) + exponent  # the value is 0.figures * 10^point
    if not -3 <= point <= 21:
        fraction = f".{figures[1:]}" if len(figures) > 1 else ""
        return f"{sign}{figures[0]}{fraction}e{point - 1}"
    if exponent >= 0:
        return f"{sign}{figures}{'0' * exponent}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    return f"{sign}{figures[:point]}.{figures[point:]}"
