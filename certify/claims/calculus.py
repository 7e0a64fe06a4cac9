"""Substitution and symbolic derivatives of expressions."""

from __future__ import annotations

from collections.abc import Mapping

from certify.arithmetic.expression import Call, Expression, Name, Negation, Number, Operation
from certify.claims.normal_form import closed_value, expression_of, normal_form
from certify.claims.relation import Relation

_ZERO, _ONE, _TWO = Number("0"), Number("1"), Number("2")


class NotSmooth(ValueError):
    """The expression is not built of functions with derivatives in the variable."""


def substituted(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with each name of `values` replaced, all at once."""
    match expression:
        case Number():
            return expression
        case Name():
            return values.get(expression.identifier, expression)
        case Negation():
            return Negation(substituted(expression.operand, values))
        case Operation():
            left, right = substituted(expression.left, values), substituted(expression.right, values)
            return Operation(expression.symbol, left, right)
        case Call():
            arguments = tuple(substituted(argument, values) for argument in expression.arguments)
            return Call(expression.function, arguments)
    raise TypeError(f"{type(expression).__name__} is no expression")


def substituted_relation(relation: Relation, values: Mapping[str, Expression]) -> Relation:
    """The relation with each name of `values` replaced, all at once."""
    return Relation(substituted(relation.lhs, values), relation.symbol, substituted(relation.rhs, values))


def expanded(expression: Expression, definitions: Mapping[str, Expression]) -> Expression:
    """The expression with every defined name replaced by its definition, those inside definitions too.

    A definition uses only names defined before it.
    """
    whole: dict[str, Expression] = {}
    for name, definition in definitions.items():
        whole[name] = substituted(definition, whole)
    return substituted(expression, whole)


def derivative(expression: Expression, name: str) -> Expression:
    """The derivative by `name`, collected into a quotient of polynomials.

    It is the derivative wherever the expression is defined, logarithms and square roots at positive
    arguments. Raises NotSmooth where `name` stands inside abs, min, max, ceil or floor.
    """
    return expression_of(normal_form(_derivative(expression, name)))


def _derivative(expression: Expression, name: str) -> Expression:
    if name not in expression.names():
        return _ZERO
    match expression:
        case Name():
            return _ONE
        case Negation():
            return Negation(_derivative(expression.operand, name))
        case Operation("+" | "-"):
            left, right = _derivative(expression.left, name), _derivative(expression.right, name)
            return Operation(expression.symbol, left, right)
        case Operation("*"):
            left = Operation("*", _derivative(expression.left, name), expression.right)
            return Operation("+", left, Operation("*", expression.left, _derivative(expression.right, name)))
        case Operation("/"):
            quotient = Operation("/", _derivative(expression.left, name), expression.right)
            if name not in expression.right.names():
                return quotient
            inner = Operation("*", expression.left, _derivative(expression.right, name))
            return Operation("-", quotient, Operation("/", inner, Operation("^", expression.right, _TWO)))
        case Operation("^"):
            return _power(expression, name)
        case Call("exp", (argument,)):
            return Operation("*", _derivative(argument, name), expression)
        case Call("log", (argument,)):
            return Operation("/", _derivative(argument, name), argument)
        case Call("sqrt", (argument,)):
            return Operation("/", _derivative(argument, name), Operation("*", _TWO, expression))
    raise NotSmooth(f"{expression.text()} has no derivative rule in {name}")


def _power(expression: Operation, name: str) -> Expression:
    exponent = closed_value(expression.right)
    if exponent is None:  # b^e = exp(e log b), for b > 0
        logarithm = Operation("*", expression.right, Call("log", (expression.left,)))
        return Operation("*", _derivative(logarithm, name), expression)
    lowered = Operation("^", expression.left, Number(str(exponent - 1)))
    scaled = Operation("*", Number(str(exponent)), lowered)
    return Operation("*", scaled, _derivative(expression.left, name))
