"""Facts about elementary functions that need no proof but their premises.

Each rule takes the goal and the context, and says whether the goal is an instance of the rule whose premises
are facts. Premises are looked up, never searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from certify.arithmetic.expression import Call, Expression, Name, Number, Operation
from certify.claims.context import Context, SignUnknown
from certify.claims.normal_form import atom_expression, normal_form, polynomial_expression
from certify.claims.polynomial import Polynomial
from certify.claims.relation import Relation

_ONE = Number("1")


def _known(goal: Relation, context: Context) -> bool:
    """What one fact says, or the known signs of the factors of a product."""
    return context.holds(goal)


def _definition(goal: Relation, context: Context) -> bool:
    """name = its definition."""
    if not isinstance(goal.lhs, Name):
        return False
    definition = context.definitions.get(goal.lhs.identifier)
    return definition is not None and definition.text() == goal.rhs.text() and goal.is_equation


def _exp_positive(goal: Relation, context: Context) -> bool:
    """exp(u) > 0."""
    return _is_call(goal.lhs, "exp") and goal.symbol in (">", ">=") and goal.rhs == Number("0")


def _tangent(goal: Relation, context: Context) -> bool:
    """exp(u) >= 1 + u; log(u) <= u - 1 for u > 0."""
    match goal.lhs:
        case Call("exp", (u,)):
            return goal.symbol == ">=" and _same(goal.rhs, Operation("+", _ONE, u), context)
        case Call("log", (u,)):
            line = Operation("-", u, _ONE)
            return goal.symbol == "<=" and context.is_positive(u) and _same(goal.rhs, line, context)
    return False


def _square_root(goal: Relation, context: Context) -> bool:
    """sqrt(u) >= 0 and sqrt(u)^2 = u for u >= 0; sqrt(u) > 0 for u > 0."""
    match goal.lhs:
        case Call("sqrt", (u,)):
            if goal.rhs != Number("0"):
                return False
            if goal.symbol == ">":
                return context.is_positive(u)
            return goal.symbol == ">=" and context.is_non_negative(u)
        case Operation("^", Call("sqrt", (u,)), exponent):
            is_square = exponent == Number("2") and goal.is_equation
            return is_square and context.is_non_negative(u) and _same(goal.rhs, u, context)
    return False


def _rounding(goal: Relation, context: Context) -> bool:
    """ceil(u) >= u, ceil(u) < u + 1, floor(u) <= u, floor(u) > u - 1."""
    match goal.lhs:
        case Call("ceil", (u,)):
            far, symbols = Operation("+", u, _ONE), (">=", "<")
        case Call("floor", (u,)):
            far, symbols = Operation("-", u, _ONE), ("<=", ">")
        case _:
            return False
    if not _defined_here(u, context):
        return False
    near_holds = goal.symbol == symbols[0] and _same(goal.rhs, u, context)
    return near_holds or (goal.symbol == symbols[1] and _same(goal.rhs, far, context))


def _increasing(goal: Relation, context: Context) -> bool:
    """f(a) <= f(b) for a <= b, and f(a) < f(b) for a < b, where f is exp, log (a > 0) or sqrt (a >= 0)."""
    goal = goal.upward()
    if goal.is_equation:
        return False
    match goal.lhs, goal.rhs:
        case Call(f, (a,)), Call(g, (b,)) if f == g and f in ("exp", "log", "sqrt"):
            in_domain = f == "exp" or (context.is_positive(a) if f == "log" else context.is_non_negative(a))
            return in_domain and context.holds(Relation(a, goal.symbol, b))
    return False


def _selection(goal: Relation, context: Context) -> bool:
    """min, max and abs where the order is known: min(a, b) = a for a <= b, abs(u) = -u for u <= 0, ..."""
    if not goal.is_equation or not isinstance(goal.lhs, Call):
        return False
    arguments, chosen = goal.lhs.arguments, goal.rhs
    match goal.lhs.function:
        case "min":
            return _among(chosen, arguments) and all(
                context.holds(Relation(chosen, "<=", other)) for other in _others(chosen, arguments)
            )
        case "max":
            return _among(chosen, arguments) and all(
                context.holds(Relation(other, "<=", chosen)) for other in _others(chosen, arguments)
            )
        case "abs":
            (u,) = arguments
            minus = Operation("-", Number("0"), u)
            if _same(chosen, u, context):
                return context.is_non_negative(u)
            return _same(chosen, minus, context) and context.is_non_negative(minus)
    return False


def _logarithm(goal: Relation, context: Context) -> bool:
    """log(A) = k_1 log(B_1) + ... for integers k_i, if A = B_1^k_1 ... and every B_i > 0."""
    match goal.lhs, goal.symbol:
        case Call("log", (argument,)), "=":
            right = normal_form(goal.rhs)
            product = _product_of_logarithms(right.numerator, context)
            rest = None if product is None else product[1]
            return (
                product is not None
                and not right.denominator
                and rest is not None
                and rest.is_zero()
                and _same(argument, product[0], context)
            )
    return False


def _exponential(goal: Relation, context: Context) -> bool:
    """Products of exponentials: exp(a) exp(b) = exp(a + b), and exp(k log(u)) = u^k for integers k, u > 0.

    Each side is a quotient times exponentials; with the logarithms taken out of the exponents, the remaining
    exponents and the remaining factors agree.
    """
    if not goal.is_equation:
        return False
    left, right = _without_exponentials(goal.lhs, context), _without_exponentials(goal.rhs, context)
    if left is None or right is None:
        return False
    return left[1] == right[1] and _same(left[0], right[0], context)


RULES: Mapping[str, Callable[[Relation, Context], bool]] = MappingProxyType(
    {
        "known": _known,
        "definition": _definition,
        "exp positive": _exp_positive,
        "tangent": _tangent,
        "square root": _square_root,
        "rounding": _rounding,
        "increasing": _increasing,
        "selection": _selection,
        "logarithm": _logarithm,
        "exponential": _exponential,
    }
)


def _is_call(expression: Expression, function: str) -> bool:
    return isinstance(expression, Call) and expression.function == function


def _among(chosen: Expression, arguments: tuple[Expression, ...]) -> bool:
    return any(chosen.text() == argument.text() for argument in arguments)


def _others(chosen: Expression, arguments: tuple[Expression, ...]) -> list[Expression]:
    return [argument for argument in arguments if argument.text() != chosen.text()]


def _same(left: Expression, right: Expression, context: Context) -> bool:
    """Whether the two are equal as quotients of polynomials, with denominators known not to be 0."""
    try:
        return context.numerator(Relation(left, "=", right)).is_zero()
    except SignUnknown:
        return False


def _defined_here(expression: Expression, context: Context) -> bool:
    try:
        context.numerator(Relation(expression, "=", Number("0")))
    except SignUnknown:
        return False
    return True


def _without_exponentials(expression: Expression, context: Context) -> tuple[Expression, Polynomial] | None:
    """(c, e) such that the expression is c exp(e), for a quotient of polynomials without exp; else None."""
    form = normal_form(expression)
    if len(form.numerator.terms) != 1:
        return None
    ((monomial, coefficient),) = form.numerator.terms.items()
    factor: Expression = Number(str(coefficient))
    exponent = Polynomial()
    powers = list(monomial)
    for divisor, count in form.denominator.items():
        atoms = list(divisor.terms.items())
        if len(atoms) == 1 and atoms[0][1] == 1:
            powers += [(atom, -own * count) for atom, own in atoms[0][0]]
        else:
            power = Operation("^", polynomial_expression(divisor), Number(str(count)))
            factor = Operation("/", factor, power)
    for atom, count in powers:
        base = atom_expression(atom)
        if isinstance(base, Call) and base.function == "exp":
            argument = normal_form(base.arguments[0])
            if argument.denominator:
                return None
            exponent = exponent + argument.numerator * Polynomial.constant(count)
        else:
            factor = Operation("*", factor, Operation("^", base, Number(str(count))))
    split = _product_of_logarithms(exponent, context)
    return None if split is None else (Operation("*", factor, split[0]), split[1])


def _product_of_logarithms(exponent: Polynomial, context: Context) -> tuple[Expression, Polynomial] | None:
    """(product of u^k, the rest) where k log(u) are the terms of the exponent with an integer k.

    None when such a u is not known to be positive.
    """
    factor: Expression = _ONE
    rest = dict(exponent.terms)
    for monomial, coefficient in exponent.terms.items():
        if len(monomial) != 1 or monomial[0][1] != 1 or coefficient.q != 1:
            continue
        base = atom_expression(monomial[0][0])
        if not (isinstance(base, Call) and base.function == "log"):
            continue
        if not context.is_positive(base.arguments[0]):
            return None
        power = Operation("^", base.arguments[0], Number(str(coefficient)))
        factor = Operation("*", factor, power)
        del rest[monomial]
    return factor, Polynomial(rest)
