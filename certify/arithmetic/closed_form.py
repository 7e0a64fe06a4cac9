"""The formula behind a number: which operations on which rationals gave it.

The code that computes a number is run once more with balls that remember how they were made, so that there is
no second text of a formula that could differ from the first. The result of an operation that is not recorded,
or that a ball from elsewhere takes part in (one measured on a law, say), is an ordinary ball without a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq, fmpz

from certify.arithmetic.exact import NumberError
from certify.arithmetic.expression import MAX_DEPTH, MAX_TEXT_LENGTH, Call, Expression, Negation, Number, Operation
from certify.arithmetic.scalar import Scalar, Undetermined, recorded

_BRACKETS = 8
"""More characters than a node adds to the text of each operand."""

_MAX_POWER = 1_000
"""Products of a number with itself are written as powers up to this exponent."""


def closed_form(side: Callable[[], Scalar]) -> Expression | None:
    """An expression without names for the number `side()`, or None.

    It has `+ - * / ^ sqrt log exp min max` and rational numbers; ceilings and floors, and results that are
    rational, stand as the number that they are. None where the number does not come from rationals by these
    alone, or the expression would be longer or deeper than `parse_expression` reads, or `side` raises
    Undetermined.
    """
    with recorded(_Recorder()):
        try:
            value = side()
        except Undetermined:
            return None
    form = _form_of(value)
    return None if form is None else form.expression


@dataclass(frozen=True, slots=True)
class _Form:
    """An expression with bounds on the length of its text and on its depth once it is read back."""

    expression: Expression
    length: int
    depth: int


class _RecordedBall(arb):
    """A ball with the form of the number that it contains. Operations not defined here give a plain ball."""

    __slots__ = ("form",)
    form: _Form

    def __neg__(self) -> Any:
        return _with_form(super().__neg__(), _made(lambda x: Negation(x), [self.form]))

    def __add__(self, other: Any) -> Any:
        return _operation("+", super().__add__(other), self, other)

    def __radd__(self, other: Any) -> Any:
        return _operation("+", super().__radd__(other), other, self)

    def __sub__(self, other: Any) -> Any:
        return _operation("-", super().__sub__(other), self, other)

    def __rsub__(self, other: Any) -> Any:
        return _operation("-", super().__rsub__(other), other, self)

    def __mul__(self, other: Any) -> Any:
        return _operation("*", super().__mul__(other), self, other)

    def __rmul__(self, other: Any) -> Any:
        return _operation("*", super().__rmul__(other), other, self)

    def __truediv__(self, other: Any) -> Any:
        return _operation("/", super().__truediv__(other), self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _operation("/", super().__rtruediv__(other), other, self)

    def sqrt(self) -> arb:
        return _with_form(super().sqrt(), self._under("sqrt"))

    def log(self) -> arb:
        return _with_form(super().log(), self._under("log"))

    def exp(self) -> arb:
        return _with_form(super().exp(), self._under("exp"))

    def expm1(self) -> arb:
        power = self._under("exp")
        form = None if power is None else _made(lambda x: Operation("-", x, Number("1")), [power])
        return _with_form(super().expm1(), form)

    def nonnegative_part(self) -> arb:
        # where the sign is not certain the number may differ from its non-negative part
        return _with_form(super().nonnegative_part(), self.form if self >= 0 else None)

    def _under(self, function: str) -> _Form | None:
        return _made(lambda x: Call(function, (x,)), [self.form])


class _Recorder:
    """Makes balls that remember, and remembers what min and max chose from."""

    def number(self, value: fmpq) -> arb:
        return _with_form(arb(value), _form_of(value))

    def choice(self, function: str, values: Sequence[Scalar], chosen: Scalar) -> Scalar:
        if all(isinstance(value, fmpq) for value in values):
            return chosen
        forms = [_form_of(value) for value in values]
        known = [form for form in forms if form is not None]
        form = _made(lambda *x: Call(function, x), known) if len(known) == len(forms) else None
        return _with_form(arb(chosen), form)  # not the operand's own form, which would hide the choice


def _operation(symbol: str, result: Any, left: Any, right: Any) -> Any:
    if not isinstance(result, arb):  # NotImplemented
        return result
    a, b = _form_of(left), _form_of(right)
    if a is None or b is None:
        return result
    return _with_form(result, _simplified(symbol, a, b))


def _simplified(symbol: str, a: _Form, b: _Form) -> _Form | None:
    """`a symbol b`, without terms 0 and factors 1, with `x - y` for `x + -y`, and powers for repeated factors."""
    left, right = a.expression, b.expression
    if symbol in "+-" and right == _ZERO:
        return a
    if symbol in "*/" and right == _ONE:
        return a
    if (symbol == "+" and left == _ZERO) or (symbol == "*" and left == _ONE):
        return b
    subtrahend = _negated(right) if symbol == "+" else None
    if subtrahend is not None:
        return _made(lambda x, _: Operation("-", x, subtrahend), [a, b])
    if symbol == "*":
        (base, m), (other, n) = _as_power(left), _as_power(right)
        if m + n <= _MAX_POWER and base == other:
            smaller = a if a.length <= b.length else b
            return _made(lambda _: Operation("^", base, Number(str(m + n))), [smaller])
    return _made(lambda x, y: Operation(symbol, x, y), [a, b])


_ZERO, _ONE = Number("0"), Number("1")


def _negated(expression: Expression) -> Expression | None:
    """The expression whose negation it is written as."""
    match expression:
        case Negation(operand):
            return operand
        case Number(literal) if literal.startswith("-"):
            return Number(literal[1:])
    return None


def _as_power(expression: Expression) -> tuple[Expression, int]:
    match expression:
        case Operation("^", base, Number(literal)):
            return base, int(literal)
    return expression, 1


def _form_of(value: Any) -> _Form | None:
    """The form of a recorded ball or of an exact number; None for any other ball."""
    if isinstance(value, _RecordedBall):
        return value.form
    if isinstance(value, arb):
        return None
    if not isinstance(value, int | fmpz | fmpq):
        return None
    try:
        number = Number(str(fmpq(value)))
    except (NumberError, ValueError):  # more digits than are read back
        return None
    return _within_limits(_Form(number, len(number.literal), 3))  # read back as a negated quotient


def _made(build: Callable[..., Expression], operands: Sequence[_Form]) -> _Form | None:
    length = sum(form.length + _BRACKETS for form in operands)
    depth = 1 + max(form.depth for form in operands)
    return _within_limits(_Form(build(*(form.expression for form in operands)), length, depth))


def _within_limits(form: _Form) -> _Form | None:
    return form if form.length <= MAX_TEXT_LENGTH and form.depth <= MAX_DEPTH else None


def _with_form(contents: arb, form: _Form | None) -> arb:
    if form is None:
        return contents
    result = _RecordedBall(contents)
    result.form = form
    return result
