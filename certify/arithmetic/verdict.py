"""The three answers a certified comparison can give."""

from collections.abc import Iterable
from enum import Enum
from typing import NoReturn

from flint import arb, fmpq

from certify.arithmetic.scalar import Scalar, ball


class Verdict(Enum):
    """PROVED: the claim holds. REFUTED: its negation holds. UNDECIDED: neither was established.

    There is no truth value: UNDECIDED is neither true nor false, so `if verdict:` raises TypeError.
    """

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a Verdict has no truth value (UNDECIDED is neither); write `verdict is Verdict.PROVED` instead"
        )


def conjunction(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on "all of these claims hold"; PROVED for no claims at all.

    One refuted claim refutes the conjunction, whatever is undecided beside it.
    """
    result = Verdict.PROVED
    for verdict in verdicts:
        if verdict is Verdict.REFUTED:
            return Verdict.REFUTED
        if verdict is Verdict.UNDECIDED:
            result = Verdict.UNDECIDED
    return result


def compare_le(lhs: Scalar, rhs: Scalar) -> Verdict:
    """The verdict on `lhs <= rhs`.

    Two rationals are compared exactly. Otherwise both become balls (a rational is rounded outward at
    `flint.ctx.prec`): PROVED when the upper end of lhs is at most the lower end of rhs, REFUTED when the
    lower end of lhs exceeds the upper end of rhs. An operand that is nan or infinite, or a ball with an
    infinite radius, decides nothing: UNDECIDED.
    """
    if isinstance(lhs, fmpq) and isinstance(rhs, fmpq):
        return Verdict.PROVED if lhs <= rhs else Verdict.REFUTED
    left, right = ball(lhs), ball(rhs)
    if not _finite(left, right):
        return Verdict.UNDECIDED
    if left <= right:
        return Verdict.PROVED
    return Verdict.REFUTED if left > right else Verdict.UNDECIDED


def compare_lt(lhs: Scalar, rhs: Scalar) -> Verdict:
    """The verdict on `lhs < rhs`, by the rules of `compare_le` with the strictness exchanged."""
    if isinstance(lhs, fmpq) and isinstance(rhs, fmpq):
        return Verdict.PROVED if lhs < rhs else Verdict.REFUTED
    left, right = ball(lhs), ball(rhs)
    if not _finite(left, right):
        return Verdict.UNDECIDED
    if left < right:
        return Verdict.PROVED
    return Verdict.REFUTED if left >= right else Verdict.UNDECIDED


def _finite(left: arb, right: arb) -> bool:
    return left.is_finite() and right.is_finite()
