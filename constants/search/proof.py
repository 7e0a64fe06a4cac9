"""Proofs that are written out step by step: each step names the facts it rests on, and nothing is searched far for.

The claims about a rung have some thirty definitions each; the general prover would look through all products of
their facts. What comes out is an ordinary certificate of `certify.claims`, which its checker decides upon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from certify.arithmetic.expression import Name
from certify.claims.certificate import proof_certificate
from certify.claims.claim import Claim
from certify.claims.context import Context, halves, holds_on_box, holds_on_ranges
from certify.claims.elementary import RULES
from certify.claims.prover.combination import find_combination
from certify.claims.prover.refutation import find_example
from certify.claims.relation import Relation, parse_relation

BITS = (64, 128, 512)
MAX_CUTS = 40
MAX_BOXES = 5_000

Node = dict[str, Any]


class NoProof(Exception):
    """A step that does not go through; the message is the step."""


class Steps:
    """Facts in a context, each shown from those before it."""

    def __init__(self, context: Context) -> None:
        self.context = context.child()
        self.nodes: list[Node] = []

    def define(self, *names: str) -> None:
        """The definitions of the names as facts."""
        for name in names:
            self.add(Relation(Name(name), "=", self.context.definitions[name]), {"rule": "definition"})

    def have(self, text: str, *using: str, times: Sequence[str] = (), degree: int = 2) -> None:
        """A fact that is elementary, that the known ranges show, or that is a combination.

        A combination has products of at most `degree` of the facts in `using`, on the left the fact multiplied
        by what the strict facts in `times` say is positive. Raises NoProof.
        """
        fact = parse_relation(text)
        self.add(fact, self.shown(fact, using, times, degree))

    def shown(self, goal: Relation, using: Sequence[str], times: Sequence[str], degree: int) -> Node:
        """The proof of a goal, as for `have`."""
        if not using:
            for name, rule in RULES.items():
                if rule(goal, self.context):
                    return {"rule": name}
            for bits in BITS:
                if not goal.is_equation and holds_on_ranges(self.context, goal, bits):
                    return {"rule": "ranges", "bits": bits}
        facts = [parse_relation(text) for text in using]
        for fact in facts:
            if fact.text() not in self.context.facts:
                raise NoProof(f"{goal.text()} is to follow from {fact.text()}, which is not known")
        multiplied = [parse_relation(text) for text in times]
        for count in range(1, degree + 1):
            if using and (
                node := find_combination(self.context, goal, degree=count, using=facts, multiplied=multiplied)
            ):
                return node
        raise NoProof(goal.text())

    def cite(self, claim: Claim, conclusion: int = 0) -> None:
        """A conclusion of another claim, whose variables have the same names here."""
        values = {variable.name: variable.name for variable in claim.variables}
        needed = [*(bound for variable in claim.variables for bound in variable.bounds()), *claim.conditions]
        node = {
            "rule": "cite",
            "claim": claim.id,
            "conclusion": conclusion,
            "values": values,
            "conditions": [self.shown(relation, (), (), 1) for relation in needed],
        }
        self.add(claim.conclusions[conclusion], node)

    def add(self, fact: Relation, node: Node) -> None:
        """A fact with a proof of its own."""
        self.nodes.append({"fact": fact.text(), "by": node})
        self.context.add(fact)


def bisected(context: Context, goal: Relation, name: str) -> Node:
    """A proof over a bounded range of one variable by interval evaluation and cuts in the middle. Raises NoProof."""
    left = MAX_BOXES

    def part(inside: Context, level: int) -> Node:
        nonlocal left
        left -= 1
        if holds_on_box(inside, goal, BITS[0]):
            return {"rule": "evaluate", "bits": BITS[0]}
        variable = inside.variables[name]
        assert variable.lower is not None and variable.upper is not None
        if left < 0 or level > MAX_CUTS or variable.lower == variable.upper:
            raise NoProof(f"{goal.text()} for {name} in [{variable.lower}, {variable.upper}]")
        at = (variable.lower + variable.upper) / 2
        below, above = halves(variable, at)
        return {
            "rule": "cut",
            "variable": name,
            "at": str(at),
            "below": part(inside.narrowed(below), level + 1),
            "above": part(inside.narrowed(above), level + 1),
        }

    return part(context, 0)


def certified(claim: Claim, defined: Steps, conclusions: Sequence[Node]) -> dict[str, Any]:
    """The certificate of a claim from the steps after which its expressions have values and a node for each conclusion.

    Raises NoProof where no point satisfies the conditions.
    """
    example = find_example(claim)
    if example is None:
        raise NoProof(f"no point satisfies the conditions of {claim.id}")
    return proof_certificate(claim, {"example": example, "defined": defined.nodes, "conclusions": list(conclusions)})
