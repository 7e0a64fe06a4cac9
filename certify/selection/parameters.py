"""Exact parameters of streams and algorithms: what is accepted, and logarithms rounded up to rationals."""

from collections.abc import Callable
from fractions import Fraction

from flint import ctx, fmpq, fmpz

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undetermined, logarithm

Exact = int | fmpz | fmpq | Fraction

LOG_BITS = 128
"""Default number of binary places of a logarithm that is rounded up."""

GUARD_BITS = 128
"""Numbers are rounded up from an enclosure that has so many bits more."""

MAX_SHOWN_BITS = 200


def rational(value: Exact, name: str) -> fmpq:
    """`value` as a rational. Raises TypeError for a bool, a float, a ball or anything else that is not exact.

    A float is refused even when it is a small integer: 0.1 is not 1/10, and at n = 2^80 neighbouring floats
    lie further apart than the errors that the algorithms guarantee.
    """
    if isinstance(value, fmpq):
        return value
    if isinstance(value, int | fmpz) and not isinstance(value, bool):
        return fmpq(value)
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    raise TypeError(f"{name} is a {type(value).__name__}: give an int, a fractions.Fraction or a flint.fmpq")


def positive(value: Exact, name: str) -> fmpq:
    """`value` as a rational; raises ValueError unless it is positive."""
    exact = rational(value, name)
    if exact.p <= 0:
        raise ValueError(f"{name} is {shown(exact)}: it must be positive")
    return exact


def probability(value: Exact, name: str) -> fmpq:
    """`value` as a rational; raises ValueError unless it lies strictly between 0 and 1."""
    exact = positive(value, name)
    if exact >= 1:
        raise ValueError(f"{name} is {shown(exact)}: it must be less than 1")
    return exact


def count(value: int, name: str, least: int = 1) -> int:
    """`value` itself; raises TypeError unless it is an int, and ValueError below `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a {type(value).__name__}: give an int")
    if value < least:
        raise ValueError(f"{name} is {shown(fmpq(value))}: the least is {shown(fmpq(least))}")
    return value


def shown(value: fmpq) -> str:
    """A rational for a message: in full if it is short, else six digits of it."""
    if value.p.bit_length() + value.q.bit_length() <= MAX_SHOWN_BITS:
        return str(value)
    return f"about {Enclosure.of(value).decimals(6)['lower']}"


def rounded_up(value: Callable[[], Scalar], bits: int) -> fmpq:
    """A multiple of 2^-bits that is at least value(), and exceeds it by at most 2 · 2^-bits for values below 2^64.

    It is the least one above the upper end of an enclosure, so that numbers very close to a multiple do no harm.
    Raises Undetermined when the value has no finite enclosure.
    """
    with ctx.workprec(bits + GUARD_BITS):
        upper = Enclosure.of(value()).upper
    if upper is None:
        raise Undetermined(f"the number has no finite enclosure at {bits + GUARD_BITS} bits")
    scale = fmpz(2) ** bits
    return fmpq((upper * scale).ceil(), scale)


def log_upper(argument: Callable[[], Scalar], bits: int = LOG_BITS) -> fmpq:
    """log(argument()) by the rules of `rounded_up`."""
    return rounded_up(lambda: logarithm(argument()), bits)


def log2_ceiling(value: fmpq) -> int:
    """The least integer t with value <= 2^t, exactly. Raises ValueError unless value > 0."""
    if value <= 0:
        raise ValueError("log2 needs a positive number")
    t = int(value.p.bit_length()) - int(value.q.bit_length())  # 2^(t-1) < value < 2^(t+1)
    return t if value <= fmpq(2) ** t else t + 1


def log2_of_power(value: int) -> int | None:
    """log2(value) when `value` is a power of two, otherwise None (and then log2(value) is irrational)."""
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None
