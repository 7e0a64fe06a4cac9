"""The search for exact points: one at which a claim says something, one at which it fails.

Floats choose where to look next. Only exact points come out, and the checker decides what they show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from flint import fmpq

from certify.arithmetic.exact import parse_rational
from certify.arithmetic.expression import Expression, ExpressionError, Number, Undetermined
from certify.arithmetic.scalar import ball
from certify.claims.calculus import expanded, substituted
from certify.claims.claim import Claim, Variable
from certify.claims.normal_form import closed_value
from certify.claims.point_check import require_point, require_refutation
from certify.claims.rejection import Rejected

MAX_POINTS = 3_000
DESCENTS = 4
MAX_STEPS = 120
STATES = (1, 2, 3, 5, 20)

Point = dict[str, str]


def find_example(claim: Claim) -> Point | None:
    """A point of the ranges at which the conditions hold, or None."""
    for point in _candidates(claim, claim.example):
        if _is_example(claim, point):
            return point
    return None


def find_refutation(claim: Claim) -> dict[str, Any] | None:
    """A point at which the claim fails, in the form of a certificate, or None."""
    if claim.chain is not None:
        return _failing_sum(claim)
    scored: list[tuple[float, Point, int]] = []
    for point in _candidates(claim, claim.counterexample):
        for index, score in _scores(claim, point):
            if score < 0 and (found := _shown(claim, {"variables": point, "conclusion": index})):
                return found
            scored.append((score, point, index))
    scored.sort(key=lambda entry: entry[0])
    for score, point, index in scored[:DESCENTS]:
        found = _descend(claim, point, index, score)
        if found is not None:
            return found
    return None


def _shown(claim: Claim, point: dict[str, Any]) -> dict[str, Any] | None:
    try:
        require_refutation(claim, point)
    except (Rejected, ExpressionError, Undetermined):
        return None
    return point


def _is_example(claim: Claim, point: Point) -> bool:
    try:
        require_point(claim, point)
    except (Rejected, ExpressionError, Undetermined):
        return False
    return True


def _candidates(claim: Claim, given: Mapping[str, Expression]) -> Iterator[Point]:
    """The given point first, then the simple points of the ranges with what is given kept."""
    exact = {name: closed_value(value) for name, value in given.items()}
    fixed = {name: str(value) for name, value in exact.items() if value is not None}
    lists = [[fixed[v.name]] if v.name in fixed else list(_values(v)) for v in claim.variables]
    names = [v.name for v in claim.variables]
    # the simplest values of all variables before the remote ones of any
    order = sorted(
        islice(product(*(range(len(values)) for values in lists)), 40 * MAX_POINTS), key=lambda ix: (sum(ix), ix)
    )
    for indices in order[:MAX_POINTS]:
        yield {name: values[i] for name, values, i in zip(names, lists, indices, strict=True)}


def _values(variable: Variable) -> Iterator[str]:
    """Some numbers of a range, simple ones and ends first."""
    seen = set()
    for value in _raw_values(variable):
        if variable.integer:
            value = fmpq(value.floor())
        if value not in seen and _in_range(variable, value):
            seen.add(value)
            yield str(value)


def _raw_values(variable: Variable) -> Iterator[fmpq]:
    lower, upper = variable.lower, variable.upper
    if lower is not None and upper is not None:
        width = upper - lower
        yield from (lower, upper, (lower + upper) / 2)
        for k in (10, 100, 10**4, 10**9, 10**15):
            yield from (upper - width / k, lower + width / k)
        yield from (lower + width * fmpq(k, 20) for k in range(20))
    elif lower is not None or upper is not None:
        end, sign = (lower, 1) if lower is not None else (upper, -1)
        assert end is not None
        for text in ("0", "1", "2", "1/2", "1/100", "10", "100", "1/1000000000"):
            yield end + sign * parse_rational(text)
        for far in (3, 5, 36, 1000, 10**6, 2**30, 2**64, 2**100, 10**50):
            yield end + sign * fmpq(far)
    else:
        for about in (0, 1, -1, 2, -2, 10, -10, 1000, -1000, 10**9, -(10**9)):
            yield from (fmpq(about), fmpq(about, 7))


def _in_range(variable: Variable, value: fmpq) -> bool:
    above = variable.lower is None or value > variable.lower or (value == variable.lower and not variable.lower_open)
    below = variable.upper is None or value < variable.upper or (value == variable.upper and not variable.upper_open)
    return above and below


def _scores(claim: Claim, point: Point) -> Iterator[tuple[int, float]]:
    """For each conclusion the room that it leaves at the point, in floats; negative where it seems to fail."""
    if not _is_example(claim, point):
        return
    values = {name: Number(text) for name, text in point.items()}
    for index, conclusion in enumerate(claim.conclusions):
        difference = substituted(expanded(conclusion.difference(), claim.definitions), values)
        try:
            room = float(ball(difference.value({})).mid())
        except (ExpressionError, Undetermined):
            continue
        if room <= 0 and conclusion.strict:
            room = min(room, -1e-300)
        yield index, room


def _descend(claim: Claim, point: Point, index: int, score: float) -> dict[str, Any] | None:
    """Move one variable at a time while that leaves less room, by steps that shrink."""
    variables = {v.name: v for v in claim.variables}
    steps = {name: _first_step(variable) for name, variable in variables.items()}
    for _ in range(MAX_STEPS):
        improved = False
        for name, variable in variables.items():
            for sign in (1, -1):
                value = parse_rational(point[name]) + sign * steps[name]
                moved = {**point, name: str(value)}
                rooms = dict(_scores(claim, moved)) if _in_range(variable, value) else {}
                if index in rooms and rooms[index] < score:
                    point, score, improved = moved, rooms[index], True
                    if score < 0 and (found := _shown(claim, {"variables": point, "conclusion": index})):
                        return found
        if not improved:
            steps = {
                name: max(fmpq(1), fmpq((step / 2).floor())) if variables[name].integer else step / 2
                for name, step in steps.items()
            }
    return None


def _first_step(variable: Variable) -> fmpq:
    if variable.lower is not None and variable.upper is not None and not variable.integer:
        return (variable.upper - variable.lower) / 8
    return fmpq(1)


def _failing_sum(claim: Claim) -> dict[str, Any] | None:
    """States from the first one by the recurrence's own equation, if it has one."""
    chain = claim.chain
    assert chain is not None
    for point in islice(_candidates(claim, claim.counterexample), MAX_POINTS // 10):
        variables = {name: text for name, text in point.items() if name != chain.state}
        states = [point[chain.state]]
        for count in range(1, max(STATES) + 1):
            if count in STATES and (found := _shown(claim, {"variables": variables, "states": list(states)})):
                return found
            following = _next_state(claim, variables, states[-1])
            if following is None:
                break
            states.append(following)
    return None


def _next_state(claim: Claim, variables: Point, state: str) -> str | None:
    chain = claim.chain
    assert chain is not None
    values = {name: Number(text) for name, text in {**variables, chain.state: state}.items()}
    for relation in chain.step:
        if relation.lhs.text() == chain.next_state:
            value = closed_value(substituted(expanded(relation.rhs, claim.definitions), values))
            integer = next(v for v in claim.variables if v.name == chain.state).integer
            if value is not None:
                return str(fmpq(value.floor()) if integer else value)
    return None
