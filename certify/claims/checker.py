"""The checker of certificates: what "proved" and "refuted" rest on.

It knows rules and searches for nothing: every step of a certificate either is an instance of its rule or the
certificate is rejected. It shares with the prover what an expression, a polynomial and a context are, and
uses nothing of the prover.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from certify.arithmetic.exact import NumberError, parse_rational
from certify.arithmetic.expression import (
    Call,
    Expression,
    ExpressionError,
    Name,
    Number,
    Operation,
    Undetermined,
    parse_expression,
)
from certify.arithmetic.verdict import Verdict
from certify.claims.calculus import expanded, substituted_relation
from certify.claims.certificate import FORMAT, digest
from certify.claims.claim import Claim, obligations
from certify.claims.context import Context, halves, holds_by_mean_value, holds_on_box, holds_on_ranges
from certify.claims.definedness import require_defined
from certify.claims.elementary import RULES
from certify.claims.monotone import monotone_parts
from certify.claims.normal_form import atom_expression, normal_form
from certify.claims.point_check import require_point, require_refutation
from certify.claims.polynomial import Polynomial, product
from certify.claims.rejection import Rejected, require
from certify.claims.relation import Relation, parse_relation, positive

MAX_BITS = 4_096

Node = Mapping[str, Any]


def check(claim: Claim, certificate: Node, proved: Mapping[str, Claim] | None = None) -> Verdict:
    """PROVED or REFUTED, as the certificate shows for the claim; `proved` holds the claims it may cite.

    Raises Rejected when the certificate does not show it, whatever is wrong with it.
    """
    try:
        if certificate["format"] != FORMAT or certificate["digest"] != digest(certificate):
            raise Rejected("the certificate was altered")
        if certificate["statement"] != claim.statement():
            raise Rejected("the certificate is for another claim")
        if certificate["verdict"] == Verdict.REFUTED.value:
            require_refutation(claim, certificate["point"])
            return Verdict.REFUTED
        require(certificate["verdict"] == Verdict.PROVED.value, "a certificate shows proved or refuted")
        _Proof(proved or {}).claim(claim, certificate["proof"])
        return Verdict.PROVED
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise Rejected(f"the certificate is not well formed: {type(error).__name__}: {error}") from None
    except (Undetermined, ExpressionError, NumberError) as error:
        raise Rejected(str(error)) from None


class _Proof:
    """One certificate of a proof; `proved` are the claims that it may cite."""

    def __init__(self, proved: Mapping[str, Claim]) -> None:
        self._proved = proved
        self._rules: Mapping[str, Callable[[Node, Context, Relation], None]] = {
            "combination": self._combination,
            "evaluate": self._evaluate,
            "ranges": self._ranges,
            "mean value": self._mean_value,
            "cut": self._cut,
            "split": self._split,
            "have": self._have,
            "integer": self._integer,
            "monotone": self._monotone,
            "absurd": self._absurd,
            "cite": self._cite,
        }

    def claim(self, claim: Claim, proof: Node) -> None:
        """A claim with a point at which it says something."""
        require_point(claim, proof["example"])
        if claim.chain is None:
            self._plain(claim, proof)
            return
        for part in obligations(claim):
            self._plain(part, proof["parts"][part.id])

    def _plain(self, claim: Claim, proof: Node) -> None:
        context = Context.of(claim)
        self._steps(proof["defined"], context)
        for expression in (*claim.definitions.values(), *_sides(claim.conclusions)):
            require_defined(expression, context)
        nodes = proof["conclusions"]
        require(len(nodes) == len(claim.conclusions), "one proof for each conclusion is needed")
        for node, conclusion in zip(nodes, claim.conclusions, strict=True):
            self.node(node, context.child(), conclusion)

    def node(self, node: Node, context: Context, goal: Relation) -> None:
        """The goal holds for all values that the context allows."""
        name = node["rule"]
        if name in self._rules:
            self._rules[name](node, context, goal)
        else:
            require(RULES[name](goal, context), f"{goal.text()} is not an instance of {name!a}")

    def _steps(self, steps: Sequence[Node], context: Context) -> None:
        for step in steps:
            fact = parse_relation(step["fact"])
            self.node(step["by"], context.child(), fact)
            context.add(fact)

    def _have(self, node: Node, context: Context, goal: Relation) -> None:
        """Facts, each from those before it, then the goal."""
        self._steps(node["steps"], context)
        self.node(node["then"], context, goal)

    def _combination(self, node: Node, context: Context, goal: Relation) -> None:
        """scale * (product of positive facts) * goal = sum of coefficient * times * (product of facts).

        Coefficients are >= 0 and `times` is 1, unless an equation is among the facts. With scale 0 the sum
        shows that the facts contradict each other.
        """
        scale = parse_rational(node["scale"])
        multipliers = [context.facts[text] for text in node["multiplier"]]
        require(scale >= 0, "the scale is negative")
        require(all(fact.strict for fact in multipliers), "a multiplier is not positive")
        left = context.numerator(goal) if scale != 0 else Polynomial()
        left = (left * product(context.numerator(fact) for fact in multipliers)).scaled(scale)
        right, strict, only_equations = Polynomial(), False, True
        for term in node["terms"]:
            coefficient = parse_rational(term["coefficient"])
            facts = [context.facts[text] for text in term["facts"]]
            value = product(context.numerator(fact) for fact in facts).scaled(coefficient)
            if any(fact.is_equation for fact in facts):
                times = normal_form(parse_expression(term["times"]))
                require(not times.denominator, "a factor of an equation is not a polynomial")
                value = value * times.numerator
            else:
                require(coefficient >= 0, "a coefficient is negative")
                require("times" not in term, "only an equation is multiplied by any polynomial")
                strict |= coefficient > 0 and all(fact.strict for fact in facts)
                only_equations &= coefficient == 0
            right = right + value
        require(left == right, f"the identity for {goal.text()} does not hold")
        if scale == 0:
            require(strict, "the facts do not contradict each other")
        elif goal.is_equation:
            require(only_equations, "an equation follows from equations alone")
        else:
            require(strict or not goal.strict, "the combination is not strict")

    def _evaluate(self, node: Node, context: Context, goal: Relation) -> None:
        """Interval evaluation over the ranges."""
        require(holds_on_box(context, goal, _bits(node)), f"evaluation does not show {goal.text()}")

    def _ranges(self, node: Node, context: Context, goal: Relation) -> None:
        """Interval evaluation over the ranges that facts give to variables and defined names."""
        require(holds_on_ranges(context, goal, _bits(node)), f"the known ranges do not show {goal.text()}")

    def _mean_value(self, node: Node, context: Context, goal: Relation) -> None:
        """Interval evaluation of the mean value form over the ranges."""
        require(holds_by_mean_value(context, goal, _bits(node)), f"the slopes do not show {goal.text()}")

    def _cut(self, node: Node, context: Context, goal: Relation) -> None:
        """Both parts of the range of a variable. A part beyond the range's end has no values."""
        variable, at = context.variables[node["variable"]], parse_rational(node["at"])
        inside = (variable.lower is None or variable.lower <= at) and (variable.upper is None or at <= variable.upper)
        require(inside, "a cut is outside the range")
        for side, part in zip(("below", "above"), halves(variable, at), strict=True):
            if part.lower is None or part.upper is None or part.lower <= part.upper:
                self.node(node[side], context.narrowed(part), goal)

    def _split(self, node: Node, context: Context, goal: Relation) -> None:
        """The goal where a relation holds, and where its negation does."""
        relation = parse_relation(node["on"])
        for side, fact in (("then", relation), ("else", relation.negation())):
            branch = context.child()
            branch.add(fact)
            self.node(node[side], branch, goal)

    def _integer(self, node: Node, context: Context, goal: Relation) -> None:
        """p >= 0 from p > -1, for a p that takes integers only."""
        whole = takes_integers_only(goal.difference(), context)
        require(whole and goal.symbol in ("<=", ">="), f"{goal.text()} is not about integers")
        weaker = positive(Operation("+", goal.difference(), Number("1")))
        self.node(node["by"], context, weaker)

    def _monotone(self, node: Node, context: Context, goal: Relation) -> None:
        """The value at one end of a variable's range and the sign of the derivative: see MonotoneParts."""
        name = node["variable"]
        parts = monotone_parts(context, goal, name, low=node["end"] == "lower")
        self._steps(node["setup"], parts.inside)
        require_defined(parts.f, parts.inside, smooth_in=name)
        self.node(node["at end"], parts.outside, parts.at_end)
        self.node(node["derivative"], parts.interior(parts.inside), parts.slope())

    def _absurd(self, node: Node, context: Context, goal: Relation) -> None:
        """Any goal where the negation of a fact holds."""
        self.node(node["by"], context, context.facts[node["fact"]].negation())

    def _cite(self, node: Node, context: Context, goal: Relation) -> None:
        """A conclusion of a proved claim at values that satisfy its ranges and conditions."""
        require(node["claim"] in self._proved, f"{node['claim']!a} is not among the claims proved before")
        claim = self._proved[node["claim"]]
        require(claim.chain is None, "a claim about sums is not cited")
        values = {name: parse_expression(text) for name, text in node["values"].items()}
        require(set(values) == {v.name for v in claim.variables}, "a value for each variable is needed")
        whole = {name: expanded(Name(name), claim.definitions) for name in claim.definitions}

        def instance(relation: Relation) -> Relation:
            return substituted_relation(substituted_relation(relation, whole), values)

        for variable in claim.variables:
            value = values[variable.name]
            context.numerator(positive(value))  # raises where a denominator of the value may be 0
            integral = not variable.integer or takes_integers_only(value, context)
            require(integral, f"{variable.name} is not an integer")
        needed = [*(b for v in claim.variables for b in v.bounds()), *claim.conditions]
        for relation, by in zip(needed, node["conditions"], strict=True):
            self.node(by, context.child(), instance(relation))
        cited = _expanded(instance(claim.conclusions[node["conclusion"]]), context)
        wanted = _expanded(goal, context)
        agrees = cited.text() == wanted.text() or context.numerator(cited) == context.numerator(wanted)
        strong_enough = cited.is_equation if wanted.is_equation else cited.strict or not wanted.strict
        require(agrees and strong_enough, f"{node['claim']} does not say {goal.text()}")


def _expanded(relation: Relation, context: Context) -> Relation:
    sides = (expanded(side, context.definitions) for side in (relation.lhs, relation.rhs))
    lhs, rhs = sides
    return Relation(lhs, relation.symbol, rhs)


def _sides(relations: Sequence[Relation]) -> list[Expression]:
    return [side for relation in relations for side in (relation.lhs, relation.rhs)]


def _is_integer(atom: str, context: Context) -> bool:
    match atom_expression(atom):
        case Name(identifier):
            return identifier in context.variables and context.variables[identifier].integer
        case Call(function, _):
            return function in ("ceil", "floor")
    return False


def takes_integers_only(expression: Expression, context: Context) -> bool:
    """Whether it is a polynomial with integer coefficients in integer variables, ceilings and floors."""
    form = normal_form(expression)
    return not form.denominator and all(
        coefficient.q == 1 and all(_is_integer(atom, context) for atom, _ in monomial)
        for monomial, coefficient in form.numerator.terms.items()
    )


def _bits(node: Node) -> int:
    bits = node["bits"]
    require(isinstance(bits, int) and not isinstance(bits, bool) and 2 <= bits <= MAX_BITS, "bits")
    return int(bits)
