"""Exact real expressions: read from text, kept as a tree, evaluated to a rational or to a ball."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from flint import arb, ctx, fmpq

from certify.arithmetic import scalar
from certify.arithmetic.ceiling import certified_ceiling, certified_floor
from certify.arithmetic.exact import NUMBER, NumberError, parse_rational, shown
from certify.arithmetic.scalar import Scalar, Undefined, Undetermined

__all__ = [
    "FUNCTIONS",
    "Call",
    "Expression",
    "ExpressionError",
    "Name",
    "Negation",
    "Number",
    "Operation",
    "Undetermined",
    "parse_expression",
]

MAX_TEXT_LENGTH = 5_000
MAX_DEPTH = 100
MAX_ROUNDING_PRECISION = 4_096
MAX_EXACT_WORK = 2**21

_OPERATIONS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "+": scalar.add,
    "-": scalar.subtract,
    "*": scalar.multiply,
    "/": scalar.divide,
    "^": scalar.power,
}
_UNARY: dict[str, Callable[[Scalar], Scalar]] = {
    "sqrt": scalar.square_root,
    "log": scalar.logarithm,
    "exp": scalar.exponential,
    "abs": scalar.absolute,
}
_VARIADIC: dict[str, Callable[[Sequence[Scalar]], Scalar]] = {"min": scalar.minimum, "max": scalar.maximum}
_ROUNDING = {"ceil": certified_ceiling, "floor": certified_floor}
FUNCTIONS = (*_UNARY, *_VARIADIC, *_ROUNDING)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Precedence of the outermost operation, loosest first: the rules of expression.lark.
_SUM, _PRODUCT, _SIGNED, _POWER, _ATOM = range(5)
_OPERAND_PRECEDENCE = {  # symbol: its own, its left operand's, its right operand's
    "+": (_SUM, _SUM, _PRODUCT),
    "-": (_SUM, _SUM, _PRODUCT),
    "*": (_PRODUCT, _PRODUCT, _SIGNED),
    "/": (_PRODUCT, _PRODUCT, _SIGNED),
    "^": (_POWER, _ATOM, _SIGNED),
}


class ExpressionError(ValueError):
    """The text is not an expression of the grammar, or it has no value for the given names."""


@dataclass(frozen=True, slots=True)
class Expression(ABC):
    """An immutable real expression whose variables are names."""

    @property
    @abstractmethod
    def children(self) -> tuple["Expression", ...]:
        """The operands, left to right."""

    @abstractmethod
    def _render(self) -> tuple[str, int]:
        """The text, and the precedence of its outermost operation."""

    def names(self) -> frozenset[str]:
        """The names that occur; `value` needs each of them."""
        return frozenset(node.identifier for node, _ in _nodes(self) if isinstance(node, Name))

    def value(self, environment: Mapping[str, Scalar]) -> Scalar:
        """The value where each name stands for its scalar in `environment`.

        An exact rational whenever the rules of `certify.arithmetic.scalar` give one, otherwise a ball at
        `flint.ctx.prec` that contains the value. The argument of ceil and floor is evaluated at doubled
        precision, up to 4,096 bits, until the integer is certain. Raises ExpressionError for a missing name,
        an operation that is certainly undefined, and exact values too large to compute; Undetermined when a
        ball is too wide to tell; TypeError for an environment value that is no scalar.
        """
        return _Evaluation(environment).value(self)

    def text(self) -> str:
        """The expression as text that `parse_expression` reads back to an expression of the same value."""
        return self._render()[0]

    def _operand(self, precedence: int) -> str:
        text, own = self._render()
        return text if own >= precedence else f"({text})"


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """A rational constant as written; raises NumberError when `literal` is not a number."""

    literal: str

    def __post_init__(self) -> None:
        parse_rational(self.literal)

    @property
    def rational(self) -> fmpq:
        """The number that the literal denotes."""
        return parse_rational(self.literal)

    @property
    def children(self) -> tuple[Expression, ...]:
        return ()

    def _render(self) -> tuple[str, int]:
        if "/" in self.literal:
            return self.literal, _PRODUCT
        return self.literal, _SIGNED if self.literal.startswith("-") else _ATOM


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable."""

    identifier: str

    @property
    def children(self) -> tuple[Expression, ...]:
        return ()

    def _render(self) -> tuple[str, int]:
        return self.identifier, _ATOM


@dataclass(frozen=True, slots=True)
class Negation(Expression):
    """Minus the operand."""

    operand: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)

    def _render(self) -> tuple[str, int]:
        return f"-{self.operand._operand(_SIGNED)}", _SIGNED


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """`left symbol right`, where symbol is one of + - * / ^."""

    symbol: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        if self.symbol not in _OPERATIONS:
            raise ExpressionError(f"unknown operation {shown(self.symbol)}; the operations are {' '.join(_OPERATIONS)}")

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.left, self.right

    def _render(self) -> tuple[str, int]:
        own, left, right = _OPERAND_PRECEDENCE[self.symbol]
        symbol = f" {self.symbol} " if own == _SUM else self.symbol
        return f"{self.left._operand(left)}{symbol}{self.right._operand(right)}", own


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function of `FUNCTIONS` at its arguments: one, or for min and max at least one."""

    function: str
    arguments: tuple[Expression, ...]

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise ExpressionError(f"unknown function {shown(self.function)}; the functions are {', '.join(FUNCTIONS)}")
        if self.function not in _VARIADIC and len(self.arguments) != 1:
            raise ExpressionError(f"{self.function} takes one argument, not {len(self.arguments)}")
        if not self.arguments:
            raise ExpressionError(f"{self.function} needs an argument")

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    def _render(self) -> tuple[str, int]:
        return f"{self.function}({', '.join(argument.text() for argument in self.arguments)})", _ATOM


def parse_expression(text: str) -> Expression:
    """The expression that `text` denotes.

    Numbers (`12`, `0.1`, `1e-9`), names, `+ - * / ^`, unary minus, brackets, and the functions sqrt, log,
    exp, abs, ceil, floor (one argument), min, max (one or more). `^` is right-associative and binds tighter
    than unary minus: -2^2 is -4, and 2^-12 is allowed. At most 5,000 characters, and operations at most 100
    deep (a chain of n operators is n deep). Raises ExpressionError, naming the column of a syntax error.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise ExpressionError(f"an expression of {len(text)} characters is too long; use at most {MAX_TEXT_LENGTH}")
    bare = text.strip(" \t")
    if NUMBER.fullmatch(bare):  # the usual input, spared the import of the parser
        with suppress(NumberError):  # which the parser reports with its column
            return Number(bare)
    if _NAME.fullmatch(bare) and bare not in FUNCTIONS:
        return Name(bare)

    from certify.arithmetic.expression_parser import parse_tree

    expression = parse_tree(text)
    if any(depth > MAX_DEPTH for _, depth in _nodes(expression)):
        raise ExpressionError(f"operations are more than {MAX_DEPTH} deep; write a simpler expression")
    return expression


def _nodes(expression: Expression) -> Iterator[tuple[Expression, int]]:
    """Every node with its depth, without recursion."""
    pending = [(expression, 1)]
    while pending:
        node, depth = pending.pop()
        yield node, depth
        pending.extend((child, depth + 1) for child in node.children)


class _Located(Undetermined):
    """Undetermined, with the subexpression already named in the message."""


class _Evaluation:
    """One evaluation of a tree. Nodes found rational are remembered: they do not depend on the precision."""

    def __init__(self, environment: Mapping[str, Scalar]) -> None:
        self._environment = environment
        self._exact: dict[int, fmpq] = {}
        self._failed: dict[int, _Located] = {}
        self._exact_work = 0

    def value(self, node: Expression) -> Scalar:
        known = self._exact.get(id(node))
        if known is not None:
            return known
        result = self._compute(node)
        if isinstance(result, fmpq):
            self._exact_work += result.p.bit_length() + result.q.bit_length()
            if self._exact_work > MAX_EXACT_WORK:
                raise ExpressionError(f"the exact values together need more than {MAX_EXACT_WORK} bits")
            self._exact[id(node)] = result
        return result

    def _compute(self, node: Expression) -> Scalar:
        if isinstance(node, Number):
            return node.rational
        if isinstance(node, Name):
            return self._lookup(node.identifier)
        if isinstance(node, Call) and node.function in _ROUNDING:
            return self._rounded(node)
        operands = [self.value(child) for child in node.children]
        try:
            return _apply(node, operands)
        except Undefined as error:
            raise ExpressionError(f"{error}, in {shown(node.text())}") from None
        except Undetermined as error:
            raise _Located(f"{error}, in {shown(node.text())}") from None

    def _lookup(self, identifier: str) -> Scalar:
        if identifier not in self._environment:
            known = ", ".join(sorted(self._environment)) or "none"
            raise ExpressionError(f"unknown name {shown(identifier)}; the names are: {known}")
        result = self._environment[identifier]
        if not isinstance(result, fmpq | arb):
            raise TypeError(f"the value of {identifier} is a {type(result).__name__}, not an fmpq or an arb")
        return result if isinstance(result, fmpq) else scalar.finite(result)

    def _rounded(self, node: Call) -> fmpq:
        # A failure is final: it happened at the greatest precision, so it is not tried again from outside.
        if id(node) in self._failed:
            raise self._failed[id(node)]
        (argument,) = node.arguments
        least = max(64, ctx.prec)
        greatest = max(least, MAX_ROUNDING_PRECISION)
        rounding = _ROUNDING[node.function]
        try:
            return fmpq(rounding(lambda: self.value(argument), precision=least, max_precision=greatest))
        except Undetermined as error:
            located = error if isinstance(error, _Located) else _Located(f"{error}, in {shown(node.text())}")
            self._failed[id(node)] = located
            raise located from None


def _apply(node: Expression, operands: Sequence[Scalar]) -> Scalar:
    match node:
        case Negation():
            return scalar.negate(*operands)
        case Operation():
            return _OPERATIONS[node.symbol](*operands)
        case Call() if node.function in _VARIADIC:
            return _VARIADIC[node.function](operands)
        case Call():
            return _UNARY[node.function](*operands)
    raise TypeError(f"{type(node).__name__} is not an operation")
