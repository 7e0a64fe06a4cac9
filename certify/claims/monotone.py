"""The parts of a proof by the sign of a derivative."""

from __future__ import annotations

from dataclasses import dataclass, replace

from certify.arithmetic.expression import Expression, Number, Operation
from certify.claims.calculus import derivative, expanded, substituted
from certify.claims.context import Context
from certify.claims.relation import Relation, non_negative, positive


@dataclass(frozen=True)
class MonotoneParts:
    """What shows `f >= 0` (`> 0`) for a variable between its ends, where f is the difference of the goal.

    `f` is to have a derivative in the variable wherever `inside` allows. `at_end`, the value at one end, is to
    hold in `outside`, where the variable is not known; `slope`, the sign of the derivative, for all values in
    the interior. What is known of the variable's own value is set aside, since the derivative's sign is
    needed for all values from the end up to it. A strict goal needs a strict value at the end, or, where the
    end is not in the range, a strict derivative.
    """

    f: Expression
    inside: Context
    outside: Context
    at_end: Relation
    _name: str
    _low: bool
    _strict_slope: bool

    def slope(self) -> Relation:
        """The sign that the derivative is to have. Raises NotSmooth."""
        slope = derivative(self.f, self._name)
        if not self._low:
            slope = Operation("-", Number("0"), slope)
        return positive(slope) if self._strict_slope else non_negative(slope)

    def interior(self, inside: Context) -> Context:
        """`inside`, with the facts added to it, for values strictly between the ends."""
        variable = inside.variables[self._name]
        lower_open, upper_open = variable.lower is not None, variable.upper is not None
        return inside.narrowed(replace(variable, lower_open=lower_open, upper_open=upper_open))


def monotone_parts(context: Context, goal: Relation, name: str, *, low: bool) -> MonotoneParts:
    """The parts for the lower or the upper end of a variable. Raises ValueError where that is unbounded."""
    variable = context.variables[name]
    end = variable.lower if low else variable.upper
    if end is None or goal.is_equation:
        raise ValueError("a finite end and an inequality are needed")
    f = expanded(goal.difference(), context.definitions)
    is_open = variable.lower_open if low else variable.upper_open
    reached = replace(
        variable,
        integer=False,
        lower_open=variable.lower_open and not low,
        upper_open=variable.upper_open and low,
    )
    at_end = substituted(f, {name: Number(str(end))})
    return MonotoneParts(
        f=f,
        inside=context.without(name, reached),
        outside=context.without(name, None),
        at_end=positive(at_end) if goal.strict and not is_open else non_negative(at_end),
        _name=name,
        _low=low,
        _strict_slope=goal.strict and is_open,
    )
