"""Whether an expression has a value everywhere: the checker's part that looks it up in the facts."""

from __future__ import annotations

from certify.arithmetic.expression import Call, Expression, Operation
from certify.claims.context import Context
from certify.claims.normal_form import closed_value
from certify.claims.rejection import require


def require_defined(expression: Expression, context: Context, *, smooth_in: str = "") -> None:
    """The expression has a value for all values that the context allows, and is differentiable in `smooth_in` if given.

    Raises Rejected naming the part for which no fact shows it.
    """
    if not expression.names():
        expression.value({})
        return
    smooth = smooth_in in expression.names()
    match expression:
        case Operation("/", _, divisor):
            require(context.has_sign(divisor), f"the denominator {divisor.text()} may be 0")
        case Operation("^", base, power):
            exponent = closed_value(power)
            if exponent is None or exponent.q != 1:
                require(context.is_positive(base), f"the base {base.text()} may not be positive")
            elif exponent < 0:
                require(context.has_sign(base), f"the denominator {base.text()} may be 0")
        case Call("log", (argument,)):
            require(context.is_positive(argument), f"log({argument.text()}) may have no value")
        case Call("sqrt", (argument,)):
            smooth = smooth_in in argument.names()
            inside = context.is_positive(argument) if smooth else context.is_non_negative(argument)
            require(inside, f"sqrt({argument.text()}) may have no value")
        case Call(function, _):
            require(function == "exp" or not smooth, f"{function} has no derivative everywhere")
    for child in expression.children:
        require_defined(child, context, smooth_in=smooth_in)
