"""Proofs of claims: hints first, then elementary facts, combinations, and analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flint import fmpq

from certify.arithmetic.expression import (
    Call,
    Expression,
    ExpressionError,
    Name,
    Number,
    Operation,
    Undetermined,
)
from certify.claims.calculus import expanded, substituted_relation
from certify.claims.checker import takes_integers_only
from certify.claims.claim import Claim, Hints
from certify.claims.context import Context, halves, holds_on_box
from certify.claims.definedness import require_defined
from certify.claims.elementary import RULES
from certify.claims.prover.analysis import prove_by_analysis
from certify.claims.prover.combination import find_combination, find_positive_coefficients
from certify.claims.prover.premises import calls, domain, facts_about, order_of, premises
from certify.claims.rejection import Rejected
from certify.claims.relation import Relation, positive

CLOSED_BITS = (64, 256, 1_024)
MAX_DEPTH = 6

Node = dict[str, Any]
_NO_HINTS = Hints()


class Prover:
    """Builds proofs for one claim. `missing` collects the steps that could not be proved."""

    def __init__(self, proved: Mapping[str, Claim]) -> None:
        self._proved = proved
        self.missing: list[str] = []
        self._tried: set[str] = set()  # facts that were searched for in vain, once each

    def plain(self, claim: Claim) -> Node | None:
        """The proof of a claim without a chain, its example apart, or None."""
        context = Context.of(claim)
        defined = self._defined(claim, context)
        nodes = []
        for conclusion in claim.conclusions:
            node = self.prove(
                context.child(),
                conclusion,
                Hints(split=claim.hints.split, cut=claim.hints.cut, using=claim.hints.using, degree=claim.hints.degree),
            )
            if node is None:
                self.missing.append(f"not proved: {conclusion.text()}")
                return None
            nodes.append(node)
        return {"defined": defined, "conclusions": nodes}

    def undefined(self, claim: Claim) -> str:
        """Why an expression of the claim may have no value somewhere; empty when it was shown to have one."""
        context = Context.of(claim)
        self._defined(claim, context)
        try:
            for expression in _expressions(claim):
                require_defined(expression, context)
        except (Rejected, ExpressionError, Undetermined) as error:
            return str(error)
        return ""

    def _defined(self, claim: Claim, context: Context) -> list[Node]:
        """Steps after which all expressions of the claim have values, if that was found."""
        steps: list[Node] = []
        expressions = _expressions(claim)
        self._enrich(context, steps, expressions)
        self._hinted(context, claim.hints, steps)
        for expression in expressions:
            for needed in domain(expression):
                if not self._quick_fact(context, needed, steps) and needed.rhs == Number("0"):
                    node = prove_by_analysis(self, context, needed, MAX_DEPTH)
                    if node is not None:
                        steps.append({"fact": needed.text(), "by": node})
                        context.add(needed)
        return steps

    def contradiction(self, claim: Claim) -> bool:
        """Whether the ranges and conditions were found to contradict each other."""
        context = Context.of(claim)
        self._enrich(context, [], claim.definitions.values())
        return self.prove(context, Relation(Number("0"), ">", Number("1"))) is not None

    def prove(self, context: Context, goal: Relation, hints: Hints = _NO_HINTS, depth: int = 0) -> Node | None:
        """A node that shows the goal in the context, or None."""
        if depth > MAX_DEPTH:
            return None
        steps: list[Node] = []
        context = context.child()
        self._hinted(context, hints, steps)
        if hints.split:
            node = self._split(context, goal, hints, depth)
        else:
            self._enrich(context, steps, (goal.lhs, goal.rhs))
            node = self._directly(context, goal, hints, depth)
        if node is None:
            return None
        return {"rule": "have", "steps": steps, "then": node} if steps else node

    def _hinted(self, context: Context, hints: Hints, steps: list[Node]) -> None:
        for step in hints.steps:
            fact: Relation = step["have"]
            if fact.text() in context.facts:
                continue
            node = self._cited(context, fact) or self.prove(context, fact, step["hints"])
            if node is None:
                self.missing.append(f"step not proved: {fact.text()}")
                continue
            steps.append({"fact": fact.text(), "by": node})
            context.add(fact)
            for side in (fact.lhs, fact.rhs):
                if isinstance(side, Name | Call) and fact.strict:
                    self._quick_fact(context, positive(side), steps)

    def _split(self, context: Context, goal: Relation, hints: Hints, depth: int) -> Node | None:
        first, *others = hints.split
        rest = Hints(split=tuple(others), cut=hints.cut, using=hints.using, degree=hints.degree)
        sides = {}
        for side, fact in (("then", first), ("else", first.negation())):
            branch = context.child()
            branch.add(fact)
            if hints.using:
                rest = Hints(rest.steps, rest.split, rest.cut, (*hints.using, fact), rest.degree)
            node = self.prove(branch, goal, rest, depth + 1)
            if node is None:
                return None
            sides[side] = node
        return {"rule": "split", "on": first.text(), **sides}

    def _directly(self, context: Context, goal: Relation, hints: Hints, depth: int) -> Node | None:
        node = self._quick(context, goal)
        if node is None:
            node = self._with_premises(context, goal, depth)
        if node is None and hints.cut:
            return self._cut(context, goal, hints, depth)
        if node is None:
            node = self._integer(context, goal)
        for degree in range(2, hints.degree + 1):
            if node is None:
                node = find_combination(context, goal, degree=degree, using=hints.using)
        if node is None:
            node = prove_by_analysis(self, context, goal, depth) or self._by_contradiction(context, goal)
        return node or self._by_cases(context, goal, depth)

    def _by_cases(self, context: Context, goal: Relation, depth: int) -> Node | None:
        """The goal in both cases of the first min, max or abs in it that is not settled."""
        for call in calls((goal.lhs, goal.rhs)):
            order = order_of(call)
            if order is None or context.holds(order) or context.holds(order.negation()):
                continue
            node: Node = {"rule": "split", "on": order.text()}
            for side, fact in (("then", order), ("else", order.negation())):
                branch = context.child()
                branch.add(fact)
                proof = self.prove(branch, goal, depth=depth + 1)
                if proof is None:
                    return None
                node[side] = proof
            return node
        return None

    def _by_contradiction(self, context: Context, goal: Relation) -> Node | None:
        """The goal, since its negation contradicts the facts."""
        if goal.is_equation:
            return None
        branch = context.child()
        branch.add(goal.negation())
        node = find_combination(branch, Relation(Number("0"), ">", Number("0")), degree=2)
        if node is None:
            return None
        return {"rule": "split", "on": goal.text(), "then": {"rule": "known"}, "else": node}

    def _cut(self, context: Context, goal: Relation, hints: Hints, depth: int) -> Node | None:
        (name, at), *others = hints.cut
        rest = Hints(cut=tuple(others), using=hints.using, degree=hints.degree)
        return self.cut_at(context, goal, name, at, rest, depth)

    def cut_at(self, context: Context, goal: Relation, name: str, at: fmpq, hints: Hints, depth: int) -> Node | None:
        """A proof on both sides of a point of a variable's range."""
        node: Node = {"rule": "cut", "variable": name, "at": str(at)}
        for side, part in zip(("below", "above"), halves(context.variables[name], at), strict=True):
            if part.lower is None or part.upper is None or part.lower <= part.upper:
                proof = self.prove(context.narrowed(part), goal, hints, depth + 1)
                if proof is None:
                    return None
                node[side] = proof
        return node

    def _quick(self, context: Context, goal: Relation) -> Node | None:
        """An elementary fact, a number, or a combination of degree 1."""
        for name, rule in RULES.items():
            if rule(goal, context):
                return {"rule": name}
        if not goal.names():
            for bits in CLOSED_BITS:
                if holds_on_box(context, goal, bits):
                    return {"rule": "evaluate", "bits": bits}
        return find_positive_coefficients(context, goal) or find_combination(context, goal, degree=1)

    def _with_premises(self, context: Context, goal: Relation, depth: int) -> Node | None:
        """An elementary fact after its premises."""
        needed = list(premises(goal))
        if not needed or depth >= MAX_DEPTH:
            return None
        steps: list[Node] = []
        inner = context.child()
        for premise in needed:
            if inner.holds(premise):
                continue
            node = self.prove(inner, premise, depth=depth + 2)
            if node is None:
                return None
            steps.append({"fact": premise.text(), "by": node})
            inner.add(premise)
        for name, rule in RULES.items():
            if rule(goal, inner):
                return {"rule": "have", "steps": steps, "then": {"rule": name}}
        return None

    def _integer(self, context: Context, goal: Relation) -> Node | None:
        if goal.symbol not in ("<=", ">=") or not takes_integers_only(goal.difference(), context):
            return None
        weaker = positive(Operation("+", goal.difference(), Number("1")))
        node = find_combination(context, weaker, degree=1) or find_combination(context, weaker, degree=2)
        return None if node is None else {"rule": "integer", "by": node}

    def fact(self, context: Context, fact: Relation, steps: list[Node]) -> bool:
        """Add a fact to the context and its proof to the steps, if it is proved with little effort."""
        return self._quick_fact(context, fact, steps)

    def quickly(self, context: Context, goal: Relation) -> Node | None:
        """A proof by what is generally known of the functions and a combination, without analysis."""
        steps: list[Node] = []
        inner = context.child()
        self._enrich(inner, steps, (goal.lhs, goal.rhs))
        node = self._quick(inner, goal) or find_combination(inner, goal, degree=2)
        if node is None:
            return None
        return {"rule": "have", "steps": steps, "then": node} if steps else node

    def _quick_fact(self, context: Context, fact: Relation, steps: list[Node]) -> bool:
        """Add a fact that is proved with little effort."""
        if fact.text() in context.facts:
            return True
        try:
            node = self._quick(context, fact) or self._integer(context, fact)
            if node is None:
                node = self._cheap_premises(context, fact)
            if node is None and not fact.is_equation and fact.text() not in self._tried:
                node = find_combination(context, fact, degree=2)
                if node is None:
                    self._tried.add(fact.text())
        except ExpressionError:
            return False
        if node is None:
            return False
        steps.append({"fact": fact.text(), "by": node})
        context.add(fact)
        return True

    def _cheap_premises(self, context: Context, goal: Relation) -> Node | None:
        steps: list[Node] = []
        inner = context.child()
        for premise in premises(goal):
            if inner.holds(premise):
                continue
            node = self._quick(inner, premise)
            if node is None:
                return None
            steps.append({"fact": premise.text(), "by": node})
            inner.add(premise)
        for name, rule in RULES.items():
            if rule(goal, inner):
                return {"rule": "have", "steps": steps, "then": {"rule": name}}
        return None

    def _enrich(self, context: Context, steps: list[Node], expressions: Iterable[Expression]) -> None:
        """Add what is generally known of the functions and the defined names in the expressions."""
        pending = [*expressions]
        for fact in list(context.facts.values()):
            pending += [fact.lhs, fact.rhs]
        used = {name for expression in pending for name in expression.names()}
        for name, definition in context.definitions.items():
            if name in used or definition.names() & used:
                equation = Relation(Name(name), "=", definition)
                pending.append(definition)
                if equation.text() not in context.facts:
                    steps.append({"fact": equation.text(), "by": {"rule": "definition"}})
                    context.add(equation)
        for expression in pending:
            try:
                for needed in domain(expression):
                    self._quick_fact(context, needed, steps)
                for call in calls([expression]):
                    for fact in facts_about(call, context):
                        self._quick_fact(context, fact, steps)
                        for inner in calls([fact.rhs]):
                            for further in facts_about(inner, context):
                                self._quick_fact(context, further, steps)
            except ExpressionError:
                continue

    def _cited(self, context: Context, fact: Relation) -> Node | None:
        """The fact as a conclusion of a proved claim with the same names."""
        known = {*context.variables, *context.definitions}
        wanted = _expanded(fact, context.definitions)
        for claim in self._proved.values():
            values = {v.name: Name(v.name) for v in claim.variables}
            if claim.chain is not None or not set(values) <= known:
                continue
            for index, conclusion in enumerate(claim.conclusions):
                instance = _expanded(_expanded(conclusion, claim.definitions), context.definitions)
                if instance == wanted and (node := self.cite(context, claim, index, values)):
                    return node
        return None

    def cite(self, context: Context, claim: Claim, conclusion: int, values: Mapping[str, Expression]) -> Node | None:
        """A conclusion of a proved claim at the given values."""
        conditions = []
        for relation in (*(b for v in claim.variables for b in v.bounds()), *claim.conditions):
            needed = substituted_relation(_expanded(relation, claim.definitions), values)
            node = self.prove(context, needed, depth=MAX_DEPTH - 2)
            if node is None:
                return None
            conditions.append(node)
        return {
            "rule": "cite",
            "claim": claim.id,
            "conclusion": conclusion,
            "values": {name: value.text() for name, value in values.items()},
            "conditions": conditions,
        }


def _expressions(claim: Claim) -> list[Expression]:
    sides = [side for relation in claim.conclusions for side in (relation.lhs, relation.rhs)]
    return [*claim.definitions.values(), *sides]


def _expanded(relation: Relation, definitions: Mapping[str, Expression]) -> Relation:
    return Relation(expanded(relation.lhs, definitions), relation.symbol, expanded(relation.rhs, definitions))
