"""A parameter of an instance: an exact expression and what its names stand for."""

from collections.abc import Mapping
from dataclasses import dataclass

from flint import fmpq

from certify.arithmetic.expression import Expression
from certify.arithmetic.scalar import Scalar, Undetermined


@dataclass(frozen=True, slots=True)
class Quantity:
    """The real number that `expression` denotes where each of its names is a quantity of `environment`."""

    expression: Expression
    environment: Mapping[str, "Quantity"]

    def value(self) -> Scalar:
        """The number: a rational when the expression gives one, else a ball at `flint.ctx.prec` around it.

        Raises ExpressionError where the number is not defined, and Undetermined when that cannot be told at
        this precision.
        """
        names = self.expression.names()
        return self.expression.value({name: self.environment[name].value() for name in names})

    def exact(self) -> fmpq | None:
        """The number if the rules of arithmetic give it as a rational, otherwise None."""
        try:
            value = self.value()
        except Undetermined:
            return None
        return value if isinstance(value, fmpq) else None

    @property
    def text(self) -> str:
        """The expression as text; its names are those of `environment`."""
        return self.expression.text()
