"""Ceilings and floors that are certain."""

from collections.abc import Callable

from flint import ctx, fmpq, fmpz

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.precision import doubling
from certify.arithmetic.scalar import Scalar, Undetermined


def certified_ceiling(value: Callable[[], Scalar], *, precision: int = 64, max_precision: int = 4096) -> int:
    """The least integer that is at least `value()`.

    Exact for a rational. Otherwise `value` is evaluated at `precision` bits, doubled up to `max_precision`,
    until both ends of the ball have the same ceiling. Raises Undetermined with the reason when they never do
    (the number may be an integer), and ValueError unless 2 <= precision <= max_precision.
    """
    return _certified(fmpq.ceil, value, precision, max_precision)


def certified_floor(value: Callable[[], Scalar], *, precision: int = 64, max_precision: int = 4096) -> int:
    """The greatest integer that is at most `value()`, by the rules of `certified_ceiling`."""
    return _certified(fmpq.floor, value, precision, max_precision)


def _certified(
    rounding: Callable[[fmpq], fmpz], value: Callable[[], Scalar], precision: int, max_precision: int
) -> int:
    failure = Undetermined()
    for bits in doubling(precision, max_precision):
        try:
            with ctx.workprec(bits):
                enclosure = Enclosure.of(value())
        except Undetermined as error:
            failure = error
            continue
        if enclosure.lower is None or enclosure.upper is None:
            failure = Undetermined(f"the number has no finite enclosure at {bits} bits")
            continue
        low, high = rounding(enclosure.lower), rounding(enclosure.upper)
        if low == high:
            return int(low)
        failure = Undetermined(f"the number cannot be separated from {_candidate(enclosure)} at {bits} bits")
    raise failure


def _candidate(enclosure: Enclosure) -> str:
    """The integer inside the enclosure if there is only one, and it is short."""
    assert enclosure.lower is not None and enclosure.upper is not None
    least, greatest = enclosure.lower.ceil(), enclosure.upper.floor()
    return f"the integer {least}" if least == greatest and abs(least) < 10**30 else "an integer"
