"""Which facts the prover should have about the functions in an expression, and what they need first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flint import ctx, fmpq, fmpz

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import (
    Call,
    Expression,
    ExpressionError,
    Name,
    Number,
    Operation,
    Undetermined,
)
from certify.claims.context import Context
from certify.claims.normal_form import normal_form, polynomial_expression
from certify.claims.relation import Relation, non_negative, positive

BOUND_BITS = 64
DIGITS = 9
LARGEST_PRIME = 1_000

_ZERO, _ONE, _TWO = Number("0"), Number("1"), Number("2")


def calls(expressions: Iterable[Expression]) -> Iterator[Call]:
    """The function calls in the expressions, inner ones first, each once, in their tidy form."""
    seen: set[Expression] = set()
    for expression in expressions:
        for call in _calls(expression):
            tidy = polynomial_expression(normal_form(call).numerator)
            if isinstance(tidy, Call) and tidy not in seen:
                seen.add(tidy)
                yield tidy


def _calls(expression: Expression) -> Iterator[Call]:
    for child in expression.children:
        yield from _calls(child)
    if isinstance(expression, Call):
        yield expression


def facts_about(call: Call, context: Context) -> Iterator[Relation]:
    """Relations worth having about a call. Those that need premises hold only if these can be proved."""
    if not call.names():
        yield from _decimal_bounds(call)
    u = call.arguments[0]
    match call.function:
        case "exp":
            yield positive(call)
            if call.names():
                yield Relation(call, ">=", Operation("+", _ONE, u))
        case "log":
            yield from _logarithm_facts(call, context)
        case "sqrt":
            yield positive(call)
            yield non_negative(call)
            yield Relation(Operation("^", call, _TWO), "=", u)
        case "ceil":
            yield Relation(call, ">=", u)
            yield Relation(call, "<", Operation("+", u, _ONE))
        case "floor":
            yield Relation(call, "<=", u)
            yield Relation(call, ">", Operation("-", u, _ONE))
        case "min" | "max":
            for chosen in call.arguments:
                yield Relation(call, "=", chosen)
        case "abs":
            yield Relation(call, "=", u)
            yield Relation(call, "=", Operation("-", _ZERO, u))


def premises(goal: Relation) -> Iterator[Relation]:
    """What an elementary rule needs to give the goal."""
    upward = goal.upward()
    match upward.lhs, upward.symbol, upward.rhs:
        case Call("exp", (a,)), "<=" | "<", Call("exp", (b,)):
            yield Relation(a, upward.symbol, b)
            return
        case Call("log", (a,)), "<=" | "<", Call("log", (b,)):
            yield positive(a)
            yield Relation(a, upward.symbol, b)
            return
        case Call("sqrt", (a,)), "<=" | "<", Call("sqrt", (b,)):
            yield non_negative(a)
            yield Relation(a, upward.symbol, b)
            return
    match goal.lhs, goal.symbol, goal.rhs:
        case Call("log", (u,)), "<=", _:
            yield positive(u)
        case Call("sqrt", (u,)), ">", _:
            yield positive(u)
        case Call("sqrt", (u,)), ">=", _:
            yield non_negative(u)
        case Operation("^", Call("sqrt", (u,)), _), "=", _:
            yield non_negative(u)
        case Call("min" | "max" as function, arguments), "=", chosen:
            for other in arguments:
                if other != chosen:
                    sides = (chosen, other) if function == "min" else (other, chosen)
                    yield Relation(sides[0], "<=", sides[1])
        case Call("abs", (u,)), "=", chosen:
            yield non_negative(chosen if chosen == u else Operation("-", _ZERO, u))
    if goal.is_equation:
        for side in (goal.lhs, goal.rhs):
            for call in _calls(side):
                if call.function == "log":
                    yield positive(call.arguments[0])


def order_of(call: Call) -> Relation | None:
    """The relation on which it depends which argument a min, max or abs is; None for other functions."""
    match call:
        case Call("min" | "max", (a, b)):
            return Relation(a, "<=", b)
        case Call("abs", (u,)):
            return non_negative(u)
    return None


def domain(expression: Expression) -> Iterator[Relation]:
    """What must hold for the expression to have a value, inner parts first, for a name anywhere in it."""
    for child in expression.children:
        yield from domain(child)
    if not expression.names():
        return
    match expression:
        case Operation("/", _, divisor) if divisor.names():
            yield from _factors(divisor)
        case Operation("^", base, power):
            if power.names() or not isinstance(power, Number):
                yield positive(base)
        case Call("log", (u,)):
            yield positive(u)
        case Call("sqrt", (u,)):
            yield positive(u)
            yield non_negative(u)


def _factors(divisor: Expression) -> Iterator[Relation]:
    form = normal_form(divisor)
    if form.numerator.is_zero():
        return
    _, monomial, rest = form.numerator.split_content()
    for atom, _ in monomial:
        yield positive(polynomial_expression(type(rest).atom(atom)))
    if rest.as_constant() is None:
        yield positive(polynomial_expression(rest))
        yield positive(polynomial_expression(-rest))


def _logarithm_facts(call: Call, context: Context) -> Iterator[Relation]:
    (u,) = call.arguments
    expansion = _expanded_logarithm(u)
    if expansion is not None and expansion != call:
        yield Relation(call, "=", expansion)
    if isinstance(u, Name):
        variable = context.variables.get(u.identifier)
        if variable is not None and variable.lower is not None and variable.lower > 0:
            yield Relation(Call("log", (Number(str(variable.lower)),)), "<=", call)
        if variable is not None and variable.upper is not None and variable.upper > 0:
            yield Relation(call, "<=", Call("log", (Number(str(variable.upper)),)))


def _expanded_logarithm(u: Expression) -> Expression | None:
    """log of c x^a y^b as a sum of logarithms of primes and of the factors, if it is more than one."""
    form = normal_form(u)
    if form.numerator.is_zero():
        return None
    scale, monomial, rest = form.numerator.split_content()
    pieces: list[tuple[Expression, int]] = []
    primes = _prime_powers(scale)
    if primes is None:
        return None
    pieces += [(Number(str(prime)), exponent) for prime, exponent in primes]
    pieces += [(polynomial_expression(type(rest).atom(atom)), exponent) for atom, exponent in monomial]
    constant = rest.as_constant()
    if constant is None:
        pieces.append((polynomial_expression(rest), 1))
    elif constant < 0:
        return None
    pieces += [(polynomial_expression(factor), -count) for factor, count in form.denominator.items()]
    result: Expression | None = None
    for base, exponent in pieces:
        logarithm: Expression = Call("log", (base,))
        if exponent != 1:
            logarithm = Operation("*", Number(str(exponent)), logarithm)
        result = logarithm if result is None else Operation("+", result, logarithm)
    return result


def _prime_powers(scale: fmpq) -> list[tuple[int, int]] | None:
    powers: dict[int, int] = {}
    for part, sign in ((fmpz(scale.p), 1), (fmpz(scale.q), -1)):
        for prime, exponent in part.factor() if part.bit_length() <= BOUND_BITS else ():
            powers[int(prime)] = powers.get(int(prime), 0) + sign * int(exponent)
        if part.bit_length() > BOUND_BITS:
            power = part.bit_length() - 1
            if part != fmpz(2) ** power:
                return None
            powers[2] = powers.get(2, 0) + sign * power
    return sorted((prime, exponent) for prime, exponent in powers.items() if exponent)


def _decimal_bounds(call: Call) -> Iterator[Relation]:
    try:
        with ctx.workprec(BOUND_BITS):
            bounds = Enclosure.of(call.value({})).decimals(DIGITS)
    except (ExpressionError, Undetermined):
        return
    if "inf" not in bounds["upper"] and "inf" not in bounds["lower"]:
        yield positive(call)
        yield Relation(call, ">=", Number(bounds["lower"]))
        yield Relation(call, "<=", Number(bounds["upper"]))
