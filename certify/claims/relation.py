"""Inequalities and equations between expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from certify.arithmetic.exact import shown
from certify.arithmetic.expression import Expression, ExpressionError, Number, Operation, parse_expression

_SYMBOL = re.compile(r"<=|>=|<|>|=")
_OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}


@dataclass(frozen=True, slots=True)
class Relation:
    """`lhs symbol rhs`, where symbol is one of <= < >= > =."""

    lhs: Expression
    symbol: str
    rhs: Expression

    @property
    def strict(self) -> bool:
        return self.symbol in "<>"

    @property
    def is_equation(self) -> bool:
        return self.symbol == "="

    def text(self) -> str:
        """The relation as text that `parse_relation` reads back."""
        return f"{self.lhs.text()} {self.symbol} {self.rhs.text()}"

    def difference(self) -> Expression:
        """The expression that the relation says is >= 0 (> 0 if strict, = 0 for an equation)."""
        larger, smaller = (self.lhs, self.rhs) if self.symbol in (">=", ">") else (self.rhs, self.lhs)
        if smaller == Number("0"):
            return larger
        return Operation("-", larger, smaller)

    def negation(self) -> Relation:
        """The opposite inequality. Raises ValueError for an equation, whose negation is none."""
        if self.is_equation:
            raise ValueError("the negation of an equation is not a relation")
        return Relation(self.lhs, _OPPOSITE[self.symbol], self.rhs)

    def upward(self) -> Relation:
        """The same relation with < or <= for > or >=."""
        if self.symbol in (">=", ">"):
            return Relation(self.rhs, "<=" if self.symbol == ">=" else "<", self.lhs)
        return self

    def names(self) -> frozenset[str]:
        return self.lhs.names() | self.rhs.names()


def parse_chain(text: str) -> tuple[Relation, ...]:
    """The relations of `a <= b < c`: each between neighbours. Raises ExpressionError."""
    symbols = _SYMBOL.findall(text)
    sides = _SYMBOL.split(text)
    if not symbols:
        raise ExpressionError(f"{shown(text)} has no <=, <, >=, > or =")
    expressions = [parse_expression(side) for side in sides]
    pairs = zip(expressions, symbols, expressions[1:], strict=False)
    return tuple(Relation(lhs, symbol, rhs) for lhs, symbol, rhs in pairs)


def parse_relation(text: str) -> Relation:
    """The one relation that `text` denotes. Raises ExpressionError."""
    relations = parse_chain(text)
    if len(relations) != 1:
        raise ExpressionError(f"{shown(text)} is a chain; one relation is wanted here")
    return relations[0]


def positive(expression: Expression) -> Relation:
    """`expression > 0`."""
    return Relation(expression, ">", Number("0"))


def non_negative(expression: Expression) -> Relation:
    """`expression >= 0`."""
    return Relation(expression, ">=", Number("0"))
