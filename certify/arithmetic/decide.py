"""Comparisons that double the precision until they are decided."""

from collections.abc import Callable
from dataclasses import dataclass

from flint import ctx

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.precision import doubling
from certify.arithmetic.scalar import Scalar, Undetermined
from certify.arithmetic.verdict import Verdict, compare_le, compare_lt


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with the enclosures of both sides at `precision_bits`, the last precision tried.

    A side that could not be evaluated there is unbounded. `reason` is empty unless the verdict is UNDECIDED.
    """

    verdict: Verdict
    lhs: Enclosure
    rhs: Enclosure
    precision_bits: int
    reason: str = ""


def decide_le(lhs: Callable[[], Scalar], rhs: Callable[[], Scalar], *, precision: int, max_precision: int) -> Decision:
    """The decision on `lhs() <= rhs()`.

    Both sides are evaluated at `precision` bits, doubled up to `max_precision`, until `compare_le` decides;
    two rationals are decided at once and exactly, ties included. A side that raises Undetermined leaves that
    precision undecided. Raises ValueError unless 2 <= precision <= max_precision.
    """
    return _decide(compare_le, lhs, rhs, precision, max_precision)


def decide_lt(lhs: Callable[[], Scalar], rhs: Callable[[], Scalar], *, precision: int, max_precision: int) -> Decision:
    """The decision on `lhs() < rhs()`, by the rules of `decide_le`."""
    return _decide(compare_lt, lhs, rhs, precision, max_precision)


def _decide(
    compare: Callable[[Scalar, Scalar], Verdict],
    lhs: Callable[[], Scalar],
    rhs: Callable[[], Scalar],
    precision: int,
    max_precision: int,
) -> Decision:
    for bits in doubling(precision, max_precision):
        with ctx.workprec(bits):
            left, right = _evaluate(lhs), _evaluate(rhs)
            if isinstance(left, Undetermined) or isinstance(right, Undetermined):
                verdict = Verdict.UNDECIDED
            else:
                verdict = compare(left, right)
            if verdict is not Verdict.UNDECIDED or bits == max_precision:
                reason = _reason(left, right) if verdict is Verdict.UNDECIDED else ""
                return Decision(verdict, _enclosure(left), _enclosure(right), bits, reason)
    raise AssertionError("the last precision always returns")


def _evaluate(side: Callable[[], Scalar]) -> Scalar | Undetermined:
    try:
        return side()
    except Undetermined as error:
        return error


def _enclosure(value: Scalar | Undetermined) -> Enclosure:
    return Enclosure(None, None) if isinstance(value, Undetermined) else Enclosure.of(value)


def _reason(left: Scalar | Undetermined, right: Scalar | Undetermined) -> str:
    undetermined = [str(side) for side in (left, right) if isinstance(side, Undetermined)]
    return "; ".join(undetermined) or f"the two sides cannot be separated at {ctx.prec} bits"
