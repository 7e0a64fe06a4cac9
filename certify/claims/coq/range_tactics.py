"""Tactics for interval evaluation over the ranges that facts give to names."""

from __future__ import annotations

from dataclasses import dataclass

from flint import ctx, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import Name
from certify.claims.context import SIGN_BITS, Context
from certify.claims.coq.terms import NotInCoq, name_in_coq, term
from certify.claims.relation import Relation


@dataclass(frozen=True)
class Range:
    """A name between two closed bounds, and the facts that say so."""

    name: str
    lower: Relation
    upper: Relation

    def statement(self) -> str:
        """The range as a Coq proposition."""
        return f"{term(self.lower.rhs)} <= {name_in_coq(self.name)} <= {term(self.upper.rhs)}"


def ranges_and_definitions(context: Context, goal: Relation) -> tuple[list[Range], list[Relation]]:
    """Ranges of the names that have one, and the definitions, later ones first, that take the place of the others.

    Raises NotInCoq where a name has neither.
    """
    left, ranges, definitions = set(goal.names()), [], []
    for name in reversed(context.definitions):
        if name in left and _range(context, name) is None:
            definitions.append(Relation(Name(name), "=", context.definitions[name]))
            left = left - {name} | context.definitions[name].names()
    for name in sorted(left):
        known = _range(context, name)
        if known is None:
            raise NotInCoq(f"{name} is not bounded")
        ranges.append(known)
    return ranges, definitions


def _range(context: Context, name: str) -> Range | None:
    """The narrowest range that facts `name >= c` and `name <= c` with closed c give."""
    best: dict[str, tuple[fmpq, Relation]] = {}
    for fact in context.facts.values():
        if fact.lhs != Name(name) or fact.is_equation or fact.rhs.names():
            continue
        with ctx.workprec(SIGN_BITS):
            bound = Enclosure.of(fact.rhs.value({}))
        if bound.lower is None or bound.upper is None:
            continue
        side = fact.symbol[0]
        inner = bound.lower if side == ">" else -bound.upper
        if side not in best or inner > best[side][0]:
            best[side] = inner, fact
    return Range(name, best[">"][1], best["<"][1]) if len(best) == 2 else None
