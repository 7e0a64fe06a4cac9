"""Proofs by interval evaluation, bisection, and the sign of derivatives at points where both sides touch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flint import fmpq

from certify.arithmetic.expression import ExpressionError, Number
from certify.claims.calculus import NotSmooth, expanded, substituted
from certify.claims.context import Context, halves, holds_by_mean_value, holds_on_box
from certify.claims.definedness import require_defined
from certify.claims.monotone import monotone_parts
from certify.claims.normal_form import closed_value
from certify.claims.prover.premises import domain
from certify.claims.rejection import Rejected
from certify.claims.relation import Relation

if TYPE_CHECKING:
    from certify.claims.prover.prover import Prover

BITS = (64, 192)
MAX_BOXES = 1_500
PLAIN_BOXES = 500
"""Boxes that are tried with evaluation alone: derivatives of a long expression cost more than many boxes."""
MAX_ORDER = 6
MAX_CUTS = 40
MAX_VARIABLES = 2
SIMPLE_POINTS = ("0", "1", "-1", "1/2")

Node = dict[str, Any]


def prove_by_analysis(prover: Prover, context: Context, goal: Relation, depth: int) -> Node | None:
    """A proof for a goal whose difference has one real variable, or several with bounded ranges."""
    if goal.is_equation:
        return None
    try:
        return _Analysis(prover, depth).prove(context, goal, 0)
    except (ExpressionError, NotSmooth, RecursionError):  # RecursionError: a derivative too long to evaluate
        return None


class _Analysis:
    def __init__(self, prover: Prover, depth: int) -> None:
        self._prover = prover
        self._depth = depth
        self._boxes = MAX_BOXES

    def prove(self, context: Context, goal: Relation, order: int) -> Node | None:
        whole = expanded(goal.difference(), context.definitions)
        names = sorted(whole.names())
        if not names:
            return self._on_box(context, goal)
        if len(names) > MAX_VARIABLES or any(name not in context.variables for name in names):
            return None
        unbounded = [n for n in names if context.variables[n].lower is None or context.variables[n].upper is None]
        if not unbounded:
            node = self._evaluated(context, goal, names) or self._bisect(context, goal, names, order, 0)
            return node or (self._at_simple_points(context, goal, names[0], order) if len(names) == 1 else None)
        if len(names) > 1:
            return self._monotone_in_one(context, goal, unbounded, order)
        return self._unbounded(context, goal, names[0], order)

    def _on_box(self, context: Context, goal: Relation) -> Node | None:
        for bits in BITS:
            if holds_on_box(context, goal, bits):
                return {"rule": "evaluate", "bits": bits}
        return None

    def _evaluated(self, context: Context, goal: Relation, names: list[str]) -> Node | None:
        """A bisection with evaluation alone."""
        left = PLAIN_BOXES

        def part(context: Context, level: int = 0) -> Node | None:
            nonlocal left
            left -= 1
            if left < 0 or level > MAX_CUTS:  # where the sides touch, no box is small enough
                left = 0
                return None
            if holds_on_box(context, goal, BITS[0]):
                return {"rule": "evaluate", "bits": BITS[0]}
            name = max(names, key=lambda n: _width(context, n))
            if _width(context, name) == 0 or _fails_in_the_middle(context, goal, names):
                left = 0
                return None
            return _halved(context, name, lambda half: part(half, level + 1))

        return part(context)

    def _bisect(self, context: Context, goal: Relation, names: list[str], order: int, level: int) -> Node | None:
        self._boxes -= 1
        if self._boxes < 0 or level > MAX_CUTS:
            return None
        if holds_on_box(context, goal, BITS[0]):
            return {"rule": "evaluate", "bits": BITS[0]}
        if holds_by_mean_value(context, goal, BITS[0]):
            return {"rule": "mean value", "bits": BITS[0]}
        if _fails_in_the_middle(context, goal, names):
            return None
        if len(names) == 1:
            node = self._at_touching_ends(context, goal, names[0], order)
            if node is not None:
                return node
        name = max(names, key=lambda n: _width(context, n))
        variable = context.variables[name]
        assert variable.lower is not None and variable.upper is not None
        if variable.lower == variable.upper:
            return None
        return _halved(context, name, lambda half: self._bisect(half, goal, names, order, level + 1))

    def _at_touching_ends(self, context: Context, goal: Relation, name: str, order: int) -> Node | None:
        """From an end at which the two sides are exactly equal."""
        whole = expanded(goal.difference(), context.definitions)
        variable = context.variables[name]
        for low, end in ((True, variable.lower), (False, variable.upper)):
            if end is not None and closed_value(substituted(whole, {name: Number(str(end))})) == 0:
                node = self._monotone(context, goal, name, order, low=low)
                if node is not None:
                    return node
        return None

    def _at_simple_points(self, context: Context, goal: Relation, name: str, order: int) -> Node | None:
        """The two sides may touch inside the range: cut there, and start afresh on both sides."""
        whole = expanded(goal.difference(), context.definitions)
        variable = context.variables[name]
        for text in SIMPLE_POINTS:
            at = closed_value(Number(text))
            if at is None or variable.lower is None or variable.upper is None:
                continue
            inside = variable.lower < at < variable.upper
            if inside and closed_value(substituted(whole, {name: Number(text)})) == 0:
                return self._cut(context, goal, name, at, order)
        return None

    def _cut(self, context: Context, goal: Relation, name: str, at: fmpq, order: int) -> Node | None:
        node: Node = {"rule": "cut", "variable": name, "at": str(at)}
        self._boxes = MAX_BOXES
        for side, part in zip(("below", "above"), halves(context.variables[name], at), strict=True):
            proof = self.prove(context.narrowed(part), goal, order)
            if proof is None:
                return None
            node[side] = proof
        return node

    def _unbounded(self, context: Context, goal: Relation, name: str, order: int) -> Node | None:
        """A monotone tail; before it a bounded part."""
        variable = context.variables[name]
        if variable.lower is None and variable.upper is None:
            return self._cut(context, goal, name, fmpq(0), order)
        low = variable.lower is not None
        node = self._monotone(context, goal, name, order, low=low)
        if node is not None or order > 0:
            return node
        end = variable.lower if low else variable.upper
        assert end is not None
        for distance in (1, 4, 16, 64):
            at = end + distance if low else end - distance
            below, above = halves(variable, at)
            tail = above if low else below
            proof = self._monotone(context.narrowed(tail), goal, name, order, low=low)
            if proof is not None:
                rest = self.prove(context.narrowed(below if low else above), goal, order)
                if rest is None:
                    return None
                sides = {"above": proof, "below": rest} if low else {"below": proof, "above": rest}
                return {"rule": "cut", "variable": name, "at": str(at), **sides}
        return None

    def _monotone_in_one(self, context: Context, goal: Relation, names: list[str], order: int) -> Node | None:
        if order > 1:
            return None
        for name in names:
            low = context.variables[name].lower is not None
            node = self._monotone(context, goal, name, order, low=low)
            if node is not None:
                return node
        return None

    def _monotone(self, context: Context, goal: Relation, name: str, order: int, *, low: bool) -> Node | None:
        if order >= MAX_ORDER:
            return None
        try:
            parts = monotone_parts(context, goal, name, low=low)
            slope = parts.slope()
        except (ValueError, ExpressionError):
            return None
        setup: list[Node] = []
        inside = parts.inside
        for needed in domain(parts.f):
            self._prover.fact(inside, needed, setup)
        try:
            require_defined(parts.f, inside, smooth_in=name)
        except (Rejected, ExpressionError):
            return None
        at_end = self._prover.prove(parts.outside, parts.at_end, depth=self._depth + 1)
        if at_end is None:
            return None
        interior = parts.interior(inside)
        proof = self._prover.quickly(interior, slope) or self.prove(interior, slope, order + 1)
        if proof is None:
            return None
        end = "lower" if low else "upper"
        return {
            "rule": "monotone", "variable": name, "end": end, "setup": setup, "at end": at_end, "derivative": proof,
        }  # fmt: skip


def _halved(context: Context, name: str, prove: Callable[[Context], Node | None]) -> Node | None:
    """A cut in the middle of a bounded range, with the proofs of both halves."""
    variable = context.variables[name]
    assert variable.lower is not None and variable.upper is not None
    at = (variable.lower + variable.upper) / 2
    node: Node = {"rule": "cut", "variable": name, "at": str(at)}
    for side, half in zip(("below", "above"), halves(variable, at), strict=True):
        assert half.lower is not None and half.upper is not None
        if half.lower <= half.upper:
            proof = prove(context.narrowed(half))
            if proof is None:
                return None
            node[side] = proof
    return node


def _width(context: Context, name: str) -> fmpq:
    variable = context.variables[name]
    if variable.lower is None or variable.upper is None:
        return fmpq(0)
    return variable.upper - variable.lower


def _fails_in_the_middle(context: Context, goal: Relation, names: list[str]) -> bool:
    point = context
    for name in names:
        variable = context.variables[name]
        assert variable.lower is not None and variable.upper is not None
        middle = (variable.lower + variable.upper) / 2
        if variable.integer:
            middle = fmpq(middle.floor())
        point = point.narrowed(replace(variable, lower=middle, upper=middle, lower_open=False, upper_open=False))
    return holds_on_box(point, goal.negation(), BITS[0])
