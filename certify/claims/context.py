"""What is known at a place in a proof: the ranges of the variables, and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flint import ctx, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import Expression, ExpressionError, Name, Number, Undetermined
from certify.arithmetic.scalar import Scalar
from certify.arithmetic.verdict import Verdict, compare_le, compare_lt
from certify.claims.calculus import expanded
from certify.claims.claim import Claim, Variable
from certify.claims.normal_form import normal_form, polynomial_expression
from certify.claims.polynomial import Polynomial
from certify.claims.relation import Relation, positive

SIGN_BITS = 128

_ZERO = fmpq(0)


class SignUnknown(ValueError):
    """A denominator whose sign no fact gives; `expression` is the denominator."""

    def __init__(self, expression: Expression) -> None:
        self.expression = expression
        super().__init__(f"the sign of the denominator {expression.text()} is not known")


class Context:
    """Facts that hold for all values of the variables under consideration.

    Names, and atoms of polynomials, stand for real numbers. A function at a point where it has no value is
    taken as 0 there, so that every fact is about numbers; that a claim's own expressions have values is
    checked apart.
    """

    def __init__(self, variables: Mapping[str, Variable], definitions: Mapping[str, Expression]) -> None:
        self.variables = dict(variables)
        self.definitions = dict(definitions)
        self.facts: dict[str, Relation] = {}
        self._known: dict[Polynomial, bool] = {}  # a numerator that is >= 0: whether it is > 0
        for variable in variables.values():
            for bound in variable.bounds():
                self.add(bound)

    @classmethod
    def of(cls, claim: Claim) -> Context:
        """Ranges and conditions of a claim."""
        context = cls({v.name: v for v in claim.variables}, claim.definitions)
        for condition in claim.conditions:
            context.add(condition)
        return context

    def child(self) -> Context:
        """A copy, to which facts can be added that hold in one branch only."""
        copy = Context({}, {})
        copy.variables, copy.definitions = dict(self.variables), self.definitions
        copy.facts, copy._known = dict(self.facts), dict(self._known)
        return copy

    def add(self, relation: Relation) -> None:
        """Take the relation as a fact."""
        self.facts[relation.text()] = relation
        if relation.is_equation:
            return
        try:
            numerator = self.numerator(relation)
        except (SignUnknown, ExpressionError):  # its denominators may get their signs later
            return
        if not numerator.is_zero():
            key = _scaled(numerator)
            self._known[key] = self._known.get(key, False) or relation.strict

    def numerator(self, relation: Relation) -> Polynomial:
        """The polynomial that is >= 0 (> 0, = 0) exactly where the relation holds.

        It is the numerator of the difference of the sides, with the sign of the denominators, which are known
        not to be 0. Raises SignUnknown when they are not.
        """
        form = normal_form(relation.difference())
        sign = 1
        for factor, exponent in form.denominator.items():
            own = self.sign(factor)
            if own == 0:
                raise SignUnknown(polynomial_expression(factor))
            sign *= own**exponent
        return form.numerator if sign > 0 else -form.numerator

    def is_positive(self, expression: Expression) -> bool:
        """Whether facts give `expression > 0` at once."""
        try:
            return self.sign(self.numerator(positive(expression))) > 0
        except SignUnknown:
            return False

    def is_non_negative(self, expression: Expression) -> bool:
        """Whether facts give `expression >= 0` at once."""
        try:
            numerator = self.numerator(positive(expression))
        except SignUnknown:
            return False
        return numerator.is_zero() or _scaled(numerator) in self._known or self.sign(numerator) > 0

    def has_sign(self, expression: Expression) -> bool:
        """Whether facts give `expression > 0` or `expression < 0` at once."""
        try:
            return self.sign(self.numerator(positive(expression))) != 0
        except SignUnknown:
            return False

    def holds(self, relation: Relation) -> bool:
        """Whether the relation is a fact, or follows from one fact or from closed numbers at once."""
        if relation.text() in self.facts:
            return True
        if relation.is_equation:
            return False
        difference = relation.difference()
        return self.is_positive(difference) if relation.strict else self.is_non_negative(difference)

    def without(self, name: str, variable: Variable | None) -> Context:
        """The facts that do not depend on a variable, which gets another range or, with None, goes."""
        variables = {key: known for key, known in self.variables.items() if key != name}
        if variable is not None:
            variables[name] = variable
        result = Context(variables, self.definitions)
        for relation in self.facts.values():
            sides = (expanded(relation.lhs, self.definitions), expanded(relation.rhs, self.definitions))
            if not any(name in side.names() for side in sides):
                result.add(relation)
        return result

    def narrowed(self, variable: Variable) -> Context:
        """A child in which a variable has another range, inside its own."""
        result = self.child()
        result.variables[variable.name] = variable
        for bound in variable.bounds():
            result.add(bound)
        return result

    def value_on_box(self, expression: Expression) -> Scalar:
        """An enclosure of the expression over the ranges of its variables, at the current precision.

        Raises Undetermined or ExpressionError where there is none; that it is returned shows that the
        expression has a value at every point of the closed ranges.
        """
        whole = expanded(expression, self.definitions)
        return whole.value({name: self._range(name) for name in whole.names()})

    def _range(self, name: str) -> Scalar:
        variable = self.variables.get(name)
        if variable is None or variable.lower is None or variable.upper is None:
            raise Undetermined(f"{name} is not bounded")
        if variable.lower == variable.upper:
            return variable.lower
        return Enclosure(variable.lower, variable.upper).ball()

    def value_on_ranges(self, expression: Expression) -> Scalar:
        """An enclosure of the expression where each name has the range that facts give it.

        A defined name without a range in the facts is evaluated by its definition. Raises Undetermined where a
        name has neither.
        """
        values: dict[str, Scalar] = {}

        def value(part: Expression) -> Scalar:
            for name in part.names() - values.keys():
                known = self._known_range(name)
                if known is None and name in self.definitions:
                    known = value(self.definitions[name])
                if known is None:
                    raise Undetermined(f"{name} is not bounded")
                values[name] = known
            return part.value({name: values[name] for name in part.names()})

        return value(expression)

    def _known_range(self, name: str) -> Scalar | None:
        """The intersection of what facts `name <= c` and `name >= c` with closed c say, if it is bounded."""
        lower: fmpq | None = None
        upper: fmpq | None = None
        for fact in self.facts.values():
            if fact.lhs != Name(name) or fact.is_equation or fact.rhs.names():
                continue
            bound = Enclosure.of(fact.rhs.value({}))
            if fact.symbol in (">=", ">") and bound.lower is not None:
                lower = bound.lower if lower is None else max(lower, bound.lower)
            if fact.symbol in ("<=", "<") and bound.upper is not None:
                upper = bound.upper if upper is None else min(upper, bound.upper)
        if lower is None or upper is None or lower > upper:
            return None
        return lower if lower == upper else Enclosure(lower, upper).ball()

    def sign(self, polynomial: Polynomial) -> int:
        """1 or -1 when facts give the sign, else 0."""
        if polynomial.is_zero():
            return 0
        if self._known.get(_scaled(polynomial)):
            return 1
        if self._known.get(_scaled(-polynomial)):
            return -1
        _, monomial, rest = polynomial.split_content()
        sign = 1
        for atom, exponent in monomial:
            sign *= self._atom_sign(atom) ** exponent
        if sign == 0:
            return 0
        constant = rest.as_constant()
        if constant is not None:
            return sign if constant > 0 else -sign
        if not monomial:
            return _closed_sign(polynomial)
        return sign * self.sign(rest)

    def _atom_sign(self, atom: str) -> int:
        key = Polynomial.atom(atom)
        if self._known.get(key):
            return 1
        return -1 if self._known.get(-key) else _closed_sign(key)


def _scaled(polynomial: Polynomial) -> Polynomial:
    """The one among the positive multiples whose first coefficient is 1 or -1."""
    return polynomial.scaled(1 / abs(polynomial.terms[min(polynomial.terms)]))


def _closed_sign(polynomial: Polynomial) -> int:
    try:
        expression = polynomial_expression(polynomial)
        if expression.names():
            return 0
        with ctx.workprec(SIGN_BITS):
            value = expression.value({})
            if compare_lt(_ZERO, value) is Verdict.PROVED:
                return 1
            return -1 if compare_lt(value, _ZERO) is Verdict.PROVED else 0
    except (ExpressionError, Undetermined):
        return 0


def holds_on_box(context: Context, relation: Relation, bits: int) -> bool:
    """Whether interval evaluation at so many bits shows the relation for all values in the ranges."""
    try:
        with ctx.workprec(bits):
            return _shows(relation, context.value_on_box(relation.difference()))
    except (ExpressionError, Undetermined):
        return False


def holds_on_ranges(context: Context, relation: Relation, bits: int) -> bool:
    """Whether interval evaluation over the ranges that facts give to the names shows the relation."""
    try:
        with ctx.workprec(bits):
            return _shows(relation, context.value_on_ranges(relation.difference()))
    except (ExpressionError, Undetermined):
        return False


def holds_by_mean_value(context: Context, relation: Relation, bits: int) -> bool:
    """The same by the mean value form: f(box) lies in f(c) + sum of f_i(box) (box_i - c_i), c the middle."""
    from certify.arithmetic.scalar import add, multiply, subtract
    from certify.claims.calculus import NotSmooth, derivative, substituted

    whole = expanded(relation.difference(), context.definitions)
    try:
        with ctx.workprec(bits):
            middle: dict[str, Expression] = {}
            for name in whole.names():
                variable = context.variables[name]
                if variable.lower is None or variable.upper is None:
                    return False
                middle[name] = Number(str((variable.lower + variable.upper) / 2))
            context.value_on_box(whole)  # shows that it is defined on the whole box
            value = substituted(whole, middle).value({})
            for name, point in middle.items():
                slope = context.value_on_box(derivative(whole, name))
                distance = subtract(context.value_on_box(Name(name)), point.value({}))
                value = add(value, multiply(slope, distance))
            return _shows(relation, value)
    except (ExpressionError, Undetermined, NotSmooth, RecursionError):  # RecursionError: too long a derivative
        return False


def _shows(relation: Relation, value: Scalar) -> bool:
    if relation.is_equation:
        return isinstance(value, fmpq) and value == 0
    compare = compare_lt if relation.strict else compare_le
    return compare(_ZERO, value) is Verdict.PROVED


def halves(variable: Variable, at: fmpq) -> tuple[Variable, Variable]:
    """The ranges up to `at` and from `at` on; for an integer variable up to its floor and above it."""
    floor = fmpq(at.floor())
    below = replace(variable, upper=floor if variable.integer else at, upper_open=False)
    above = replace(variable, lower=floor + 1 if variable.integer else at, lower_open=False)
    return below, above
