"""What a claim says: an inequality for all values of its variables, or a bound on sums along a recurrence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from flint import fmpq

from certify.arithmetic.expression import Expression, Name, Number, Operation
from certify.claims.relation import Relation


@dataclass(frozen=True)
class Variable:
    """A real or integer variable with its range; an end that is None is unbounded."""

    name: str
    integer: bool
    lower: fmpq | None
    upper: fmpq | None
    lower_open: bool = False
    upper_open: bool = False

    def text(self) -> str:
        lower = "-inf" if self.lower is None else str(self.lower)
        upper = "inf" if self.upper is None else str(self.upper)
        left = "(" if self.lower_open or self.lower is None else "["
        right = ")" if self.upper_open or self.upper is None else "]"
        return f"{'integer' if self.integer else 'real'} {left}{lower}, {upper}{right}"

    def bounds(self) -> tuple[Relation, ...]:
        """The range as relations."""
        relations = []
        if self.lower is not None:
            symbol = ">" if self.lower_open else ">="
            relations.append(Relation(Name(self.name), symbol, Number(str(self.lower))))
        if self.upper is not None:
            symbol = "<" if self.upper_open else "<="
            relations.append(Relation(Name(self.name), symbol, Number(str(self.upper))))
        return tuple(relations)


@dataclass(frozen=True)
class Chain:
    """Sums along a recurrence.

    States t_0, ..., t_{k-1}, for any k >= 1, lie in the range of the variable `state`; neighbours (t, s) obey
    `step`, the first obeys `start`. The claim is `term(t_0) + ... + term(t_{k-1}) <= bound`, where the bound
    is at the first state or at the last one. `potential` is the function of the state that proves it.
    """

    state: str
    next_state: str
    start: tuple[Relation, ...]
    step: tuple[Relation, ...]
    term: Expression
    bound: Expression
    at_first: bool
    potential: Expression


@dataclass(frozen=True)
class Hints:
    """Help for the prover; what it finds is checked without them."""

    steps: tuple[Mapping[str, Any], ...] = ()
    split: tuple[Relation, ...] = ()
    cut: tuple[tuple[str, fmpq], ...] = ()
    using: tuple[Relation, ...] = ()
    degree: int = 2


@dataclass(frozen=True)
class Claim:
    """`for all variables in their ranges with all conditions: every conclusion`.

    Definitions name expressions in the variables and in earlier definitions. A value of the variables at which
    a condition is false or undefined is not meant. With a `chain`, the conclusions are empty. `abstract`, when
    not empty, says what the variables stand for: a counterexample then refutes the abstract form only.
    """

    id: str
    variables: tuple[Variable, ...]
    definitions: Mapping[str, Expression]
    conditions: tuple[Relation, ...]
    conclusions: tuple[Relation, ...]
    chain: Chain | None = None
    abstract: str = ""
    source: str = ""
    title: str = ""
    note: str = ""
    expect: str = "proved"
    example: Mapping[str, Expression] = field(default_factory=dict)
    counterexample: Mapping[str, Expression] = field(default_factory=dict)
    hints: Hints = field(default_factory=Hints)
    parts: Mapping[str, Hints] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    slack: Slack | None = None

    def statement(self) -> dict[str, Any]:
        """What is claimed, as plain data: what a certificate is for."""
        result: dict[str, Any] = {
            "id": self.id,
            "variables": {variable.name: variable.text() for variable in self.variables},
            "define": {name: expression.text() for name, expression in self.definitions.items()},
            "where": [condition.text() for condition in self.conditions],
            "claim": [conclusion.text() for conclusion in self.conclusions],
        }
        if self.chain is not None:
            result["chain"] = {
                "state": self.chain.state,
                "next": self.chain.next_state,
                "start": [relation.text() for relation in self.chain.start],
                "step": [relation.text() for relation in self.chain.step],
                "term": self.chain.term.text(),
                "bound": self.chain.bound.text(),
                "at": "first" if self.chain.at_first else "last",
            }
        return result

    def digest(self) -> str:
        """The SHA-256 of the statement."""
        return hashlib.sha256(json.dumps(self.statement()).encode()).hexdigest()

    def headline(self) -> str:
        """The claim in one line."""
        if self.chain is None:
            body = " and ".join(conclusion.text() for conclusion in self.conclusions)
        else:
            state = "first" if self.chain.at_first else "last"
            bound = f"{self.chain.bound.text()} at the {state} {self.chain.state}"
            body = f"sum of {self.chain.term.text()} over the {self.chain.state} <= {bound}"
        ranges = ", ".join(f"{v.name} in {v.text()}" for v in self.variables)
        where = f" with {', '.join(c.text() for c in self.conditions)}" if self.conditions else ""
        return f"for all {ranges}{where}: {body}" if ranges else body


@dataclass(frozen=True)
class Slack:
    """How much room a constant leaves: the claim holds with `proved` in its place and fails with `refuted`."""

    constant: str
    value: fmpq
    proved: Claim
    proved_value: fmpq
    refuted: Claim
    refuted_value: fmpq


def obligations(claim: Claim) -> tuple[Claim, ...]:
    """Plain claims that together imply a claim about sums along a recurrence, by induction.

    With P the potential and the bound at the first state: term(t) <= P(t); term(t) + P(s) <= P(t) for
    neighbours (t, s); P(t) <= bound(t) for first states t. Then the sum from t_j on is at most P(t_j), for
    j = k-1, ..., 0. With the bound at the last state: term(t) <= P(t) for first states; P(t) + term(s) <= P(s);
    P(t) <= bound(t). Then the sum up to t_j is at most P(t_j), for j = 0, ..., k-1.
    """
    chain = claim.chain
    if chain is None:
        raise ValueError(f"{claim.id} is not about sums")
    from certify.claims.calculus import substituted

    state = next(v for v in claim.variables if v.name == chain.state)
    successor = replace(state, name=chain.next_state)
    move = {chain.state: Name(chain.next_state)}
    here, there = chain.potential, substituted(chain.potential, move)
    first, second = claim.conditions + chain.start, claim.conditions + chain.step
    if chain.at_first:
        base = _part(claim, "base", claim.conditions, chain.term, here)
        step = _part(claim, "step", second, Operation("+", chain.term, there), here)
        end = _part(claim, "end", first, here, chain.bound)
    else:
        base = _part(claim, "base", first, chain.term, here)
        step = _part(claim, "step", second, Operation("+", here, substituted(chain.term, move)), there)
        end = _part(claim, "end", claim.conditions, here, chain.bound)
    return base, replace(step, variables=(*step.variables, successor)), end


def _part(claim: Claim, part: str, conditions: tuple[Relation, ...], lhs: Expression, rhs: Expression) -> Claim:
    return replace(
        claim,
        id=f"{claim.id}/{part}",
        conditions=conditions,
        conclusions=(Relation(lhs, "<=", rhs),),
        chain=None,
        example={},
        hints=claim.parts.get(part, Hints()),
        slack=None,
    )
