"""Compares two expressions over declared variables: equal by normal form, different by certified values.

Equality is proved exactly or not at all. A difference is shown at a point: two balls that do not meet
there. Where neither succeeds the answer is undecided.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from flint import fmpq

from certify.arithmetic.decide import decide_lt
from certify.arithmetic.expression import Expression, ExpressionError
from certify.arithmetic.scalar import Scalar
from certify.arithmetic.verdict import Verdict
from lean_bridge.formula.normal_form import NormalForms, TooLargeError, Variable

_POINTS = 24
_PRECISION, _MAX_PRECISION = 64, 512
_INTEGERS = (2, 3, 5, 7, 1, 11, 4, 16)
_REALS = ("1/3", "7/5", "2", "1/100", "13", "1", "5/7", "100")


@dataclass(frozen=True, slots=True)
class Comparison:
    """`equal`, `different` (with the point where), or `undecided`."""

    verdict: str
    reason: str | None = None


def compare(left: Expression, right: Expression, variables: Mapping[str, Variable]) -> Comparison:
    """Whether the two expressions are equal for all values of the variables as declared."""
    unknown = sorted((left.names() | right.names()) - set(variables))
    if unknown:
        return Comparison("undecided", f"no symbol is declared for {', '.join(unknown)}")
    forms = NormalForms(variables)
    try:
        if forms.key(left) == forms.key(right):
            return Comparison("equal")
    except TooLargeError:
        pass
    names = sorted(left.names() | right.names())
    tried = 0
    for point in _points(names, variables):
        try:
            if _differ(left, right, point):
                at = ", ".join(f"{name}={point[name]}" for name in names)
                return Comparison("different", f"at {at}" if at else "as numbers")
            tried += 1
        except ExpressionError:
            continue
    return Comparison("undecided", f"no normal form shows equality, no difference at {tried} points")


def _differ(left: Expression, right: Expression, point: Mapping[str, Scalar]) -> bool:
    """Whether certified enclosures show that the values differ at the point."""
    for smaller, greater in ((left, right), (right, left)):
        decision = decide_lt(
            lambda a=smaller: a.value(point),  # type: ignore[misc]
            lambda b=greater: b.value(point),  # type: ignore[misc]
            precision=_PRECISION,
            max_precision=_MAX_PRECISION,
        )
        if decision.verdict is Verdict.PROVED:
            return True
        if decision.verdict is Verdict.UNDECIDED:
            return False
    return False


def _points(names: list[str], variables: Mapping[str, Variable]) -> Iterator[dict[str, Scalar]]:
    """Points that satisfy what is declared; each variable runs through its values at its own pace."""

    def all_points() -> Iterator[dict[str, Scalar]]:
        for i in range(_POINTS if names else 1):
            yield {
                name: _value(variables[name], i * (2 * position + 1) + position) for position, name in enumerate(names)
            }

    return islice(all_points(), _POINTS)


def _value(variable: Variable, index: int) -> fmpq:
    if variable.integral:
        value = fmpq(_INTEGERS[index % len(_INTEGERS)])
    else:
        fraction = Fraction(_REALS[index % len(_REALS)])
        value = fmpq(fraction.numerator, fraction.denominator)
    return value
