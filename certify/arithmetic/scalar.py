"""Real arithmetic on exact rationals and Arb balls, with every domain checked.

A scalar is an exact `fmpq`, or a finite `arb` ball that contains the number meant. Results are rational
whenever the rules below give a rational; otherwise they are finite balls at `flint.ctx.prec`. Every function
raises `Undefined` when the operation certainly has no value for its operands (1/0, log(-1)) or an exact value
beyond `MAX_EXACT_BITS`, and `Undetermined` when a ball is too wide to tell or the result has no finite
enclosure, so that more precision may help.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from flint import arb, ctx, fmpq, fmpz

Scalar = fmpq | arb

MAX_EXACT_BITS = 2**19
"""Numerator and denominator of a rational result have together at most this many bits."""

MAX_BALL_POWER = 2**64
"""The largest integer exponent, in absolute value, of a ball."""

MAX_EXACT_ROOT = 64
"""Rational roots are looked for up to this degree."""

_ZERO, _ONE = fmpq(0), fmpq(1)


class Undefined(ArithmeticError):
    """The operation has no real value for these operands, or an exact value too large to compute."""


class Undetermined(ArithmeticError):
    """The enclosures are too wide to tell; the message says what could not be separated."""


class Recorder(Protocol):
    """What is told of the two steps that a ball cannot record itself: its making, and the choice of an operand."""

    def number(self, value: fmpq) -> arb:
        """A ball containing `value`."""

    def choice(self, function: str, values: Sequence[Scalar], chosen: Scalar) -> Scalar:
        """The value `chosen` of min or max at `values`."""


_recorder: Recorder | None = None


@contextmanager
def recorded(recorder: Recorder) -> Iterator[None]:
    """Evaluations inside the block tell `recorder`; the numbers are the same. For the whole process, as `flint.ctx`."""
    global _recorder
    before, _recorder = _recorder, recorder
    try:
        yield
    finally:
        _recorder = before


def ball(value: Scalar) -> arb:
    """A ball containing `value`: a rational is rounded outward at `flint.ctx.prec`, a ball is itself."""
    if isinstance(value, arb):
        return value
    return arb(value) if _recorder is None else _recorder.number(value)


def finite(value: arb) -> arb:
    """`value` itself; raises Undetermined when it is nan or unbounded."""
    if not value.is_finite():
        raise Undetermined(f"no finite enclosure at {ctx.prec} bits")
    return value


def negate(x: Scalar) -> Scalar:
    """-x."""
    return -x


def add(x: Scalar, y: Scalar) -> Scalar:
    """x + y."""
    if isinstance(x, fmpq) and isinstance(y, fmpq):
        _refuse_large(_bits(x) + _bits(y))
        return x + y
    return finite(ball(x) + ball(y))


def subtract(x: Scalar, y: Scalar) -> Scalar:
    """x - y."""
    return add(x, negate(y))


def multiply(x: Scalar, y: Scalar) -> Scalar:
    """x * y; exactly 0 when either factor is the rational 0."""
    if isinstance(x, fmpq) and isinstance(y, fmpq):
        _refuse_large(_bits(x) + _bits(y))
        return x * y
    product = finite(ball(x) * ball(y))
    return _ZERO if _is_exactly(x, _ZERO) or _is_exactly(y, _ZERO) else product


def divide(x: Scalar, y: Scalar) -> Scalar:
    """x / y. Undefined for y = 0; Undetermined when the ball y contains 0."""
    if isinstance(y, fmpq):
        if y == 0:
            raise Undefined("division by zero")
        return multiply(x, 1 / y) if isinstance(x, fmpq) else finite(x / y)
    if y.is_zero():
        raise Undefined("division by zero")
    if not (y > 0 or y < 0):
        raise Undetermined(f"the divisor cannot be separated from 0 at {ctx.prec} bits")
    quotient = finite(ball(x) / y)
    return _ZERO if _is_exactly(x, _ZERO) else quotient


def power(x: Scalar, y: Scalar) -> Scalar:
    """x to the power y.

    For an exact integer y the product of |y| factors or its inverse, so 0^0 = 1 and 0^-1 is Undefined.
    Otherwise x >= 0 is required and the value is exp(y log x), with 0^y = 0 for y > 0. Exact for rational x
    and integer y, and for rational y = a/b when x has a rational b-th root and b <= 64.
    """
    if isinstance(y, fmpq) and y.q == 1:
        return _integer_power(x, y.p)
    if isinstance(x, fmpq):
        if x == 0:
            return _power_of_zero(y)
        root = _exact_root(x, y.q) if x > 0 and isinstance(y, fmpq) else None
        if root is not None and isinstance(y, fmpq):
            return _integer_power(root, y.p)
    if x < 0:
        if isinstance(y, arb) and y.contains_integer():
            raise Undetermined(f"the power of a negative number cannot be told at {ctx.prec} bits")
        raise Undefined("a power of a negative number whose exponent is not an integer")
    if not x > 0:
        raise Undetermined(f"the base of a power cannot be separated from 0 at {ctx.prec} bits")
    return exponential(multiply(y, logarithm(x)))


def square_root(x: Scalar) -> Scalar:
    """The non-negative square root, exact for squares of rationals. Undefined for x < 0."""
    if x < 0:
        raise Undefined("the square root of a negative number")
    if isinstance(x, fmpq):
        root = _exact_root(x, fmpz(2))
        return finite(ball(x).sqrt()) if root is None else root
    if not x >= 0:
        raise Undetermined(f"the argument of sqrt cannot be separated from 0 at {ctx.prec} bits")
    return finite(x.sqrt())


def logarithm(x: Scalar) -> Scalar:
    """The natural logarithm; exactly 0 at the rational 1. Undefined for x <= 0."""
    if _is_exactly(x, _ONE):
        return _ZERO
    if x <= 0:
        raise Undefined("the logarithm of a number that is not positive")
    if not x > 0:
        raise Undetermined(f"the argument of log cannot be separated from 0 at {ctx.prec} bits")
    return finite(ball(x).log())


def exponential(x: Scalar) -> Scalar:
    """e^x; exactly 1 at the rational 0."""
    return _ONE if _is_exactly(x, _ZERO) else finite(ball(x).exp())


def absolute(x: Scalar) -> Scalar:
    """|x|."""
    if x >= 0:
        return x
    if x <= 0:
        return -x
    return finite(ball(x).union(-x).nonnegative_part())


def minimum(values: Sequence[Scalar]) -> Scalar:
    """The least of at least one scalar; the operand itself, exact if it is, when the order is certain."""
    least, *others = values
    for value in others:
        if _certainly_less(value, least):
            least = value
        elif not _certainly_at_most(least, value):
            least = finite(ball(least).min(ball(value)))
    return least if _recorder is None else _recorder.choice("min", values, least)


def maximum(values: Sequence[Scalar]) -> Scalar:
    """The greatest of at least one scalar; the operand itself, exact if it is, when the order is certain."""
    greatest, *others = values
    for value in others:
        if _certainly_less(greatest, value):
            greatest = value
        elif not _certainly_at_most(value, greatest):
            greatest = finite(ball(greatest).max(ball(value)))
    return greatest if _recorder is None else _recorder.choice("max", values, greatest)


def _certainly_less(x: Scalar, y: Scalar) -> bool:
    return x < y if isinstance(x, fmpq) and isinstance(y, fmpq) else ball(x) < ball(y)


def _certainly_at_most(x: Scalar, y: Scalar) -> bool:
    return x <= y if isinstance(x, fmpq) and isinstance(y, fmpq) else ball(x) <= ball(y)


def _is_exactly(x: Scalar, value: fmpq) -> bool:
    return isinstance(x, fmpq) and x == value


def _bits(x: fmpq) -> int:
    return x.p.bit_length() + x.q.bit_length()


def _refuse_large(bits: int) -> None:
    if bits > MAX_EXACT_BITS:
        raise Undefined(f"the exact value may need more than {MAX_EXACT_BITS} bits")


def _integer_power(x: Scalar, n: fmpz) -> Scalar:
    if isinstance(x, fmpq):
        if x == 0:
            return _power_of_zero(fmpq(n)) if n != 0 else _ONE
        if abs(x) == 1:
            return x ** (n % 2)
        # m <= 2^bitlength(m-1): each factor adds at most these many bits to p^n and q^n
        growth = (abs(x.p) - 1).bit_length() + (x.q - 1).bit_length()
        _refuse_large(growth * int(abs(n)))
        return x**n
    if n == 0:
        return _ONE
    if abs(n) > MAX_BALL_POWER:
        raise Undefined("the power of a number that is not rational, with an exponent beyond 2^64")
    result = finite(x)  # repeated multiplication: `arb ** int` gives nan for a ball centred at 0
    for bit in bin(int(abs(n)))[3:]:
        result = result * result
        if bit == "1":
            result = result * x
    if n % 2 == 0:
        result = result.nonnegative_part()
    return divide(_ONE, finite(result)) if n < 0 else finite(result)


def _power_of_zero(y: Scalar) -> fmpq:
    if y > 0:
        return _ZERO
    if y < 0:
        raise Undefined("division by zero")
    raise Undetermined(f"the exponent of a power of 0 cannot be separated from 0 at {ctx.prec} bits")


def _exact_root(x: fmpq, degree: fmpz) -> fmpq | None:
    """The rational root of x >= 0 of that degree, or None if there is none or it is not looked for."""
    if x == 0 or x == 1:
        return x
    if degree > MAX_EXACT_ROOT:
        return None
    p, q = x.p.root(int(degree)), x.q.root(int(degree))
    return fmpq(p, q) if p**degree == x.p and q**degree == x.q else None
