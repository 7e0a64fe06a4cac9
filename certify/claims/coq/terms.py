"""Expressions and relations as Coq terms over the reals."""

from __future__ import annotations

from certify.arithmetic.expression import Call, Expression, Name, Negation, Number, Operation
from certify.claims.normal_form import atom_expression, closed_value, normal_form, polynomial_expression
from certify.claims.polynomial import Polynomial
from certify.claims.relation import Relation
from certify.instance_file import printable

_FUNCTIONS = {
    "exp": "exp", "log": "ln", "sqrt": "sqrt", "abs": "Rabs", "min": "Rmin", "max": "Rmax",
    "ceil": "rceil", "floor": "rfloor",
}  # fmt: skip
_TAKEN = frozenset(
    [
        "exp",
        "ln",
        "sqrt",
        "Rabs",
        "Rmin",
        "Rmax",
        "rceil",
        "rfloor",
        "is_int",
        "up",
        "sin",
        "cos",
        "tan",
        "PI",
        "pow",
        "at",
        "in",
        "as",
        "end",
        "fun",
        "forall",
        "exists",
        "if",
        "then",
        "else",
        "let",
        "match",
        "with",
        "using",
        "where",
        "return",
        "Set",
        "Prop",
        "Type",
        "R",
        "Z",
        "N",
        "S",
        "O",
        "I",
        "E",
        "cofix",
        "fix",
        "for",
        "mod",
    ]
)


class NotInCoq(ValueError):
    """Something that the export cannot do; the message is the reason given in the file."""


def name_in_coq(name: str) -> str:
    """A variable's name, changed where Coq uses the word."""
    if name.startswith("_"):
        return f"x{name}"
    return f"{name}_" if name in _TAKEN or (name[0] in "HPQGFCDM" and name[1:].isdigit()) else name


def identifier(text: str) -> str:
    """A claim's id as the name of a lemma."""
    return "claim_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in text)


def in_comment(text: str) -> str:
    """Text that can stand in a Coq comment, on one line."""
    return printable(text).replace("(*", "( *").replace("*)", "* )").replace('"', "'")


def term(expression: Expression) -> str:
    """The expression, in brackets where needed. The arguments of functions are in their tidy form."""
    value = closed_value(expression)
    if value is not None:
        return number(str(value))
    match expression:
        case Number():
            return number(str(expression.rational))
        case Name():
            return name_in_coq(expression.identifier)
        case Negation():
            return f"(- {term(expression.operand)})"
        case Operation("^"):
            return _power(expression)
        case Operation():
            return f"({term(expression.left)} {expression.symbol} {term(expression.right)})"
        case Call():
            tidy = atom_expression(_atom(expression))
            if not isinstance(tidy, Call):
                return term(tidy)
            arguments = [term(argument) for argument in tidy.arguments]
            result = arguments[-1]
            if tidy.function not in ("min", "max"):
                return f"({_FUNCTIONS[tidy.function]} {result})"
            for argument in reversed(arguments[:-1]):
                result = f"({_FUNCTIONS[tidy.function]} {argument} {result})"
            return result
    raise NotInCoq(f"no Coq term for {expression.text()}")


def _atom(call: Call) -> str:
    return polynomial_expression(normal_form(call).numerator).text()


def _power(expression: Operation) -> str:
    exponent = closed_value(expression.right)
    base = term(expression.left)
    if exponent is None or exponent.q != 1:
        return f"(Rpower {base} {term(expression.right)})"
    if exponent >= 0:
        return f"({base} ^ {exponent.p})"
    return f"(/ ({base} ^ {-exponent.p}))"


def number(text: str) -> str:
    """A rational as a Coq real."""
    if "/" in text:
        numerator, denominator = text.split("/")
        return f"({numerator} / {denominator})"
    return f"({text})" if text.startswith("-") else text


def statement(relation: Relation) -> str:
    """The relation as a Coq proposition."""
    return f"{term(relation.lhs)} {relation.symbol} {term(relation.rhs)}"


def polynomial_term(polynomial: Polynomial) -> str:
    """The polynomial as a Coq term."""
    return term(polynomial_expression(polynomial))


def argument_in_coq(call: Expression) -> str:
    """The argument of a call in its tidy form."""
    whole = term(call)
    value = closed_value(call)
    if value is not None and isinstance(call, Call):
        return f"({term(call.arguments[0])})"
    return f"({whole[1:-1].split(' ', 1)[1]})"
