"""Exact points: at one a claim says something, at another it is refuted. Part of the checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from flint import fmpq

from certify.arithmetic.decide import decide_le, decide_lt
from certify.arithmetic.exact import parse_rational
from certify.arithmetic.expression import Expression, Number, Operation
from certify.arithmetic.verdict import Verdict
from certify.claims.calculus import expanded, substituted
from certify.claims.claim import Claim
from certify.claims.normal_form import closed_value
from certify.claims.rejection import require
from certify.claims.relation import Relation

POINT_BITS = 64
MAX_BITS = 4_096
MAX_STATES = 1_000


def require_point(claim: Claim, point: Mapping[str, Any]) -> dict[str, fmpq]:
    """The values of a point of the ranges at which the conditions hold. Raises Rejected when it is not one.

    Exact rationals are decided exactly; other numbers at up to 4,096 bits.
    """
    require(set(point) == {v.name for v in claim.variables}, "a value for each variable is needed")
    exact = {name: parse_rational(text) for name, text in point.items()}
    for variable in claim.variables:
        integral = not variable.integer or exact[variable.name].q == 1
        require(integral, f"{variable.name} = {point[variable.name]} is not an integer")
    conditions = [*(b for v in claim.variables for b in v.bounds()), *claim.conditions]
    if claim.chain is not None:
        conditions += claim.chain.start
    for condition in conditions:
        shown = holds_at(condition, claim.definitions, exact)
        require(shown, f"{condition.text()} is not shown at the point")
    return exact


def holds_at(relation: Relation, definitions: Mapping[str, Expression], point: Mapping[str, fmpq]) -> bool:
    """Whether certified arithmetic shows the relation at a point. An equation needs rational sides."""
    values = {name: Number(str(value)) for name, value in point.items()}
    lhs = substituted(expanded(relation.lhs, definitions), values)
    rhs = substituted(expanded(relation.rhs, definitions), values)
    if relation.symbol in (">=", ">"):
        lhs, rhs = rhs, lhs
    if relation.is_equation:
        left, right = closed_value(lhs), closed_value(rhs)
        return left is not None and left == right
    decide = decide_lt if relation.strict else decide_le
    decision = decide(lambda: lhs.value({}), lambda: rhs.value({}), precision=POINT_BITS, max_precision=MAX_BITS)
    return decision.verdict is Verdict.PROVED


def require_refutation(claim: Claim, point: Mapping[str, Any]) -> None:
    """The ranges and conditions hold at the point and a conclusion fails, or a sum exceeds its bound."""
    require(not claim.abstract, "a point of the abstract form refutes nothing")
    exact = {name: parse_rational(text) for name, text in point["variables"].items()}
    chain = claim.chain
    if chain is None:
        require_point(claim, point["variables"])
        failing = claim.conclusions[point["conclusion"]].negation()
    else:
        states = [parse_rational(text) for text in point["states"]]
        require(0 < len(states) <= MAX_STATES, "the number of states")
        require_point(claim, {**point["variables"], chain.state: str(states[0])})
        state = next(v for v in claim.variables if v.name == chain.state)
        total: Expression = Number("0")
        for here, there in pairwise(states):
            pair = {**exact, chain.state: here, chain.next_state: there}
            bounds = replace(state, name=chain.next_state).bounds()
            require(not state.integer or there.q == 1, "a state is not an integer")
            for relation in (*bounds, *chain.step):
                require(holds_at(relation, claim.definitions, pair), f"{relation.text()} is not shown")
        for here in states:
            term = substituted(chain.term, {chain.state: Number(str(here))})
            total = Operation("+", total, term)
        exact[chain.state] = states[0] if chain.at_first else states[-1]
        failing = Relation(total, ">", chain.bound)
    require(holds_at(failing, claim.definitions, exact), f"{failing.text()} is not shown at the point")
