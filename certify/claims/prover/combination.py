"""Finding a sum of products of facts that shows a goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

from flint import fmpq

from certify.arithmetic.expression import ExpressionError
from certify.claims.context import Context, SignUnknown
from certify.claims.normal_form import normal_form, polynomial_expression
from certify.claims.polynomial import Monomial, Polynomial, product
from certify.claims.prover.linear_programme import solve
from certify.claims.relation import Relation

MAX_COLUMNS = 500
MAX_MULTIPLIERS = 3
MAX_WHOLE = 8
MAX_SHIFTED_DEGREE = 24
EQUATION_ROUNDS = 4

_NORMALISER: Monomial = (("", 1),)
"""The key of the row in which the positive terms add up to 1."""


@dataclass(frozen=True)
class _Column:
    """A product of facts, for an equation with a further factor."""

    facts: tuple[str, ...]
    value: Polynomial
    strict: bool
    times: Polynomial | None = None


@dataclass(frozen=True)
class _Equation:
    """An equation as `value = 0`, used to replace its leading terms by the others."""

    text: str
    value: Polynomial
    leading: tuple[Monomial, ...]


def find_combination(
    context: Context,
    goal: Relation,
    *,
    degree: int,
    using: Sequence[Relation] = (),
    multiplied: Sequence[Relation] = (),
) -> dict[str, Any] | None:
    """A combination node with products of at most `degree` facts (of `using`, if given), or None.

    With a degree above 1 the goal is also tried multiplied by denominators of itself and of equations; with
    `multiplied`, strict facts, it is tried multiplied by what they say is positive, and not otherwise.
    """
    try:
        wanted = context.numerator(goal)
    except (SignUnknown, ExpressionError):
        return None
    multiples: list[tuple[tuple[str, Polynomial], ...]] = [()]
    if multiplied:
        multiples = [tuple((fact.text(), context.numerator(fact)) for fact in multiplied)]
    elif degree > 1 and not goal.is_equation:
        factors = list(_multipliers(context, goal))
        whole = tuple((text, value) for text, value, exponent in factors for _ in range(exponent))
        single = [(text, value) for text, value, _ in factors[:MAX_MULTIPLIERS]]
        if 2 < len(whole) <= MAX_WHOLE:
            multiples.append(whole)
        multiples += [(m,) for m in single] + list(combinations_with_replacement(single, 2))
    for count in range(1, degree + 1):
        for chosen in multiples:
            multiple = wanted * product(value for _, value in chosen)
            columns = list(_columns(context, multiple, count, using))
            node = _solved(columns, goal, multiple, tuple(text for text, _ in chosen))
            if node is not None:
                return node
    return None


def find_positive_coefficients(context: Context, goal: Relation) -> dict[str, Any] | None:
    """A combination node where each atom has a lower bound, and the coefficients over these are >= 0."""
    try:
        wanted = context.numerator(goal)
    except (SignUnknown, ExpressionError):
        return None
    bounds: dict[str, tuple[str, fmpq, bool]] = {}
    for text, fact in context.facts.items():
        if fact.is_equation:
            continue
        try:
            numerator = context.numerator(fact)
        except (SignUnknown, ExpressionError):
            continue
        atoms = numerator.atoms()
        (atom,) = atoms if len(atoms) == 1 else ("",)
        if not atom or numerator.terms.get(((atom, 1),)) != 1 or numerator.degree() != 1:
            continue
        bound = -numerator.terms.get((), fmpq(0))
        known = bounds.get(atom)
        if known is None or bound > known[1] or (bound == known[1] and fact.strict):
            bounds[atom] = (text, bound, fact.strict)
    if wanted.is_zero() or not wanted.atoms() <= set(bounds) or wanted.degree() > MAX_SHIFTED_DEGREE:
        return None
    shifted = Polynomial()
    for monomial, coefficient in wanted.terms.items():
        factors = [
            (Polynomial.atom(atom) + Polynomial.constant(bounds[atom][1])) ** exponent for atom, exponent in monomial
        ]
        shifted = shifted + product(factors).scaled(coefficient)
    if any(coefficient < 0 for coefficient in shifted.terms.values()):
        return None
    strict = any(all(bounds[atom][2] for atom, _ in monomial) for monomial in shifted.terms)
    if goal.is_equation or (goal.strict and not strict):
        return None
    terms = [
        {
            "coefficient": str(shifted.terms[monomial]),
            "facts": [bounds[atom][0] for atom, exponent in monomial for _ in range(exponent)],
        }
        for monomial in sorted(shifted.terms)
    ]
    return {"rule": "combination", "scale": "1", "multiplier": [], "terms": terms}


def _solved(
    columns: Sequence[_Column], goal: Relation, wanted: Polynomial, multiplier: tuple[str, ...]
) -> dict[str, Any] | None:
    if goal.is_equation:
        columns = [column for column in columns if column.times is not None]
    free = [j for j, column in enumerate(columns) if column.times is not None]
    vectors = [_row(column.value) for column in columns]
    if not goal.strict:
        found = solve(vectors, _row(wanted), free)
        if found is not None:
            return _node(columns, found, fmpq(1), multiplier)
        if goal.is_equation or multiplier:
            return None
    for vector, column in zip(vectors, columns, strict=True):
        if column.strict:
            vector[_NORMALISER] = fmpq(1)
    if goal.strict:
        vectors.append(_row(-wanted))
    found = solve(vectors, {_NORMALISER: fmpq(1)}, free)
    if found is None:
        return None
    return _node(columns, found[: len(columns)], found[-1] if goal.strict else fmpq(0), multiplier)


def _multipliers(context: Context, goal: Relation) -> list[tuple[str, Polynomial, int]]:
    """The facts which say that a denominator is positive, with its exponent in equations."""
    exponents: dict[Polynomial, int] = {}
    strict: dict[Polynomial, str] = {}
    for text, fact in context.facts.items():
        if fact.strict:
            try:
                strict.setdefault(context.numerator(fact), text)
            except (SignUnknown, ExpressionError):
                continue
    equations = [fact for fact in context.facts.values() if fact.is_equation]
    others = [fact for fact in context.facts.values() if not fact.is_equation]
    reached = goal.names()
    for relation in (goal, *reversed(equations), *others):
        if relation.is_equation:
            if not relation.lhs.names() & reached:
                continue
            reached |= relation.names()
        try:
            denominator = normal_form(relation.difference()).denominator
        except ExpressionError:
            continue
        for factor, exponent in denominator.items():
            own = exponent if relation.is_equation else 0
            exponents[factor] = max(own, exponents.get(factor, 0))
    return [(strict[factor], factor, exponent) for factor, exponent in exponents.items() if factor in strict]


def _columns(context: Context, wanted: Polynomial, degree: int, using: Sequence[Relation]) -> Iterator[_Column]:
    found: dict[Polynomial, tuple[str, bool]] = {}
    equations: list[_Equation] = []
    allowed = {relation.text() for relation in using}
    for text, fact in context.facts.items():
        if allowed and text not in allowed:
            continue
        try:
            numerator = context.numerator(fact)
        except (SignUnknown, ExpressionError):
            continue
        if fact.is_equation:
            equations.append(_Equation(text, numerator, _leading_terms(fact, numerator)))
        elif numerator.as_constant() is None and not found.get(numerator, ("", False))[1]:
            found[numerator] = (text, fact.strict)
    inequalities = [(text, value, strict) for value, (text, strict) in found.items()]
    seen = set(found)
    if not allowed:
        inequalities = _related(inequalities, equations, wanted)
    yield _Column((), Polynomial.constant(1), True)
    names = {text: (value, strict) for text, value, strict in inequalities}
    made = 1
    reached = set(wanted.terms)
    for size in range(1, degree + 1):
        for chosen in combinations_with_replacement([text for text, _, _ in inequalities], size):
            value = product(names[text][0] for text in chosen)
            if size > 1 and value in seen:
                continue
            seen.add(value)
            reached |= set(value.terms)
            made += 1
            if made > MAX_COLUMNS:
                break
            yield _Column(chosen, value, all(names[text][1] for text in chosen))
    yield from _equation_columns(equations, reached)


def _equation_columns(equations: Sequence[_Equation], reached: set[Monomial]) -> Iterator[_Column]:
    """Each equation times what turns a leading term into a term that occurs, and so on."""
    made: set[tuple[str, Monomial]] = set()
    for _ in range(EQUATION_ROUNDS):
        grown: set[Monomial] = set()
        for equation in equations:
            text, value = equation.text, equation.value
            for term in equation.leading:
                for occurring in sorted(reached):
                    factor = _quotient(occurring, term)
                    if factor is None or (text, factor) in made:
                        continue
                    if len(made) >= MAX_COLUMNS:
                        return
                    made.add((text, factor))
                    times = Polynomial({factor: fmpq(1)})
                    multiple = value * times
                    grown |= set(multiple.terms)
                    yield _Column((text,), multiple, False, times)
        reached = grown - reached


def _leading_terms(equation: Relation, numerator: Polynomial) -> tuple[Monomial, ...]:
    """The terms that hold the left side, if that is one term; else all."""
    left = normal_form(equation.lhs).numerator
    if len(left.terms) != 1:
        return tuple(numerator.terms)
    (monomial,) = left.terms
    return tuple(term for term in numerator.terms if _quotient(term, monomial) is not None)


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """monomial / divisor, or None when it is none; for the divisor 1 only 1 itself."""
    if not divisor:
        return None if monomial else ()
    exponents = dict(monomial)
    for atom, exponent in divisor:
        exponents[atom] = exponents.get(atom, 0) - exponent
    if min(exponents.values()) < 0:
        return None
    return tuple(sorted((atom, exponent) for atom, exponent in exponents.items() if exponent))


def _related(
    inequalities: list[tuple[str, Polynomial, bool]],
    equations: list[_Equation],
    wanted: Polynomial,
) -> list[tuple[str, Polynomial, bool]]:
    """The facts that share atoms with the goal, directly or through other facts."""
    reached = set(wanted.atoms())
    if not reached:
        return inequalities
    values = [value for _, value, _ in inequalities] + [equation.value for equation in equations]
    grown = True
    while grown:
        grown = False
        for value in values:
            atoms = value.atoms()
            if atoms & reached and not atoms <= reached:
                reached |= atoms
                grown = True
    return [each for each in inequalities if each[1].atoms() & reached]


def _row(polynomial: Polynomial) -> dict[Monomial, fmpq]:
    return dict(polynomial.terms)


def _node(
    columns: Sequence[_Column], found: Sequence[fmpq], scale: fmpq, multiplier: tuple[str, ...]
) -> dict[str, Any]:
    terms = []
    for column, coefficient in zip(columns, found, strict=True):
        if coefficient != 0:
            term: dict[str, Any] = {"coefficient": str(coefficient), "facts": list(column.facts)}
            if column.times is not None:
                term["times"] = polynomial_expression(column.times).text()
            terms.append(term)
    return {"rule": "combination", "scale": str(scale), "multiplier": list(multiplier), "terms": terms}
