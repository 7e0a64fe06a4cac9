"""Expressions as quotients of exact polynomials in atoms.

An atom is a name, or the text of a function call (or of a power whose exponent is not an integer) that has no
exact value. An identity between polynomials holds whatever the atoms are, so it holds for the expressions.
Nothing is cancelled: the denominators are all those that the expression has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from flint import fmpq

from certify.arithmetic.expression import (
    Call,
    Expression,
    ExpressionError,
    Name,
    Negation,
    Number,
    Operation,
    Undetermined,
    parse_expression,
)
from certify.claims.polynomial import Monomial, Polynomial

MAX_EXPONENT = 64

_ONE = Polynomial.constant(1)


@dataclass(frozen=True)
class Fraction:
    """`numerator / product(factor ** exponent for factor, exponent in denominator.items())`."""

    numerator: Polynomial
    denominator: Mapping[Polynomial, int]

    def over(self, denominator: Mapping[Polynomial, int]) -> Polynomial:
        """The numerator over a common denominator, which has each factor at least as often."""
        result = self.numerator
        for factor, exponent in denominator.items():
            result = result * factor ** (exponent - self.denominator.get(factor, 0))
        return result


@lru_cache(maxsize=20_000)
def normal_form(expression: Expression) -> Fraction:
    """The quotient of polynomials. Raises ExpressionError for a division by a constant 0."""
    match expression:
        case Number():
            return Fraction(Polynomial.constant(expression.rational), {})
        case Name():
            return Fraction(Polynomial.atom(expression.identifier), {})
        case Negation():
            inner = normal_form(expression.operand)
            return Fraction(-inner.numerator, inner.denominator)
        case Operation("^"):
            return _power(expression)
        case Operation():
            return _operation(expression.symbol, normal_form(expression.left), normal_form(expression.right))
    return _atom(expression)


def polynomial_expression(polynomial: Polynomial) -> Expression:
    """The polynomial as an expression: a sum of monomials in a fixed order."""
    if polynomial.is_zero():
        return Number("0")
    terms = [_term(monomial, polynomial.terms[monomial]) for monomial in sorted(polynomial.terms)]
    result = terms[0]
    for term in terms[1:]:
        result = Operation("+", result, term)
    return result


def expression_of(fraction: Fraction) -> Expression:
    """The quotient as an expression."""
    result = polynomial_expression(fraction.numerator)
    for factor, exponent in sorted(fraction.denominator.items(), key=lambda item: sorted(item[0].terms)):
        divisor = polynomial_expression(factor)
        if exponent != 1:
            divisor = Operation("^", divisor, Number(str(exponent)))
        result = Operation("/", result, divisor)
    return result


def closed_value(expression: Expression) -> fmpq | None:
    """The value of an expression without names when it is found to be rational, else None."""
    if expression.names():
        return None
    try:
        value = expression.value({})
    except (ExpressionError, Undetermined):
        return None
    return value if isinstance(value, fmpq) else None


@lru_cache(maxsize=20_000)
def atom_expression(atom: str) -> Expression:
    """The expression that an atom stands for."""
    return parse_expression(atom)


def _term(monomial: Monomial, coefficient: fmpq) -> Expression:
    factors: list[Expression] = [] if coefficient == 1 and monomial else [Number(str(coefficient))]
    for atom, exponent in monomial:
        base = atom_expression(atom)
        factors.append(base if exponent == 1 else Operation("^", base, Number(str(exponent))))
    result = factors[0]
    for factor in factors[1:]:
        result = Operation("*", result, factor)
    return result


def _operation(symbol: str, left: Fraction, right: Fraction) -> Fraction:
    match symbol:
        case "*":
            return Fraction(left.numerator * right.numerator, _merged(left.denominator, right.denominator, sum_up=True))
        case "/":
            inverse = _inverse(right)
            return _operation("*", left, inverse)
    common = _merged(left.denominator, right.denominator, sum_up=False)
    a, b = left.over(common), right.over(common)
    return Fraction(a + b if symbol == "+" else a - b, common)


def _inverse(fraction: Fraction) -> Fraction:
    """1 / fraction, the numerator split into its atoms and the rest."""
    if fraction.numerator.is_zero():
        raise ExpressionError("division by zero")
    scale, monomial, rest = fraction.numerator.split_content()
    denominator = {Polynomial.atom(atom): exponent for atom, exponent in monomial}
    constant = rest.as_constant()
    if constant is not None:
        scale *= constant
    else:
        denominator[rest] = denominator.get(rest, 0) + 1
    numerator = Polynomial.constant(1 / scale)
    for factor, exponent in fraction.denominator.items():
        numerator = numerator * factor**exponent
    return Fraction(numerator, denominator)


def _merged(left: Mapping[Polynomial, int], right: Mapping[Polynomial, int], *, sum_up: bool) -> dict[Polynomial, int]:
    result = dict(left)
    for factor, exponent in right.items():
        known = result.get(factor, 0)
        result[factor] = known + exponent if sum_up else max(known, exponent)
    return result


def _power(expression: Operation) -> Fraction:
    exponent = closed_value(expression.right)
    if exponent is None or exponent.q != 1 or abs(exponent.p) > MAX_EXPONENT:
        return _atom(expression)
    count = int(exponent.p)
    base = normal_form(expression.left)
    if count < 0:
        base, count = _inverse(base), -count
    return Fraction(base.numerator**count, {f: e * count for f, e in base.denominator.items() if count})


def _atom(expression: Expression) -> Fraction:
    value = closed_value(expression)
    if value is not None:
        return Fraction(Polynomial.constant(value), {})
    if isinstance(expression, Call):
        expression = Call(expression.function, tuple(_tidy(argument) for argument in expression.arguments))
    return Fraction(Polynomial.atom(expression.text()), {})


def _tidy(argument: Expression) -> Expression:
    """One form for all ways to write a polynomial; an argument with a denominator stays as written.

    There, two forms could differ where the denominator is 0, and no atom may stand for both.
    """
    form = normal_form(argument)
    return argument if form.denominator else polynomial_expression(form.numerator)
