"""Algorithms 6 and 8 as finite trees of AboveThreshold laws, with the paper's own thresholds.

Every threshold is ``a + b u`` with rational a, b and ``u`` the logarithm in α, so the order of scores and thresholds
is certified, and how wide the interval is does not depend on the outcomes. A round of Algorithm 8 is active if
``α_t < W_t/2``; otherwise neither outcome changes anything (m - α_t ≤ ℓ and m + α_t ≥ u).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from flint import arb, ctx, fmpq

from certify.arithmetic.scalar import Scalar, Undetermined, ball
from certify.selection.laws.exponential_sum import BallRing, Point
from certify.selection.laws.laplace import LaplaceLaw

MAX_LAWS = 2_000
"""How many AboveThreshold laws one tree may evaluate, in equal parts for its rounds; lighter branches are left out."""

MAX_TREE_WORK = 60_000
"""A law of d candidates takes about d² steps: with many candidates, fewer laws are evaluated."""

MAX_TREE_CANDIDATES = 40
MAX_BISECTIONS = 2_000
"""Rounds of Algorithm 6; the largest n that an instance may have takes about 1,000."""
PRUNED_MASS = fmpq(1, 2**70)
"""A branch of at most this probability is not followed; its mass is added to the upper ends."""

ORDER_BITS = 512
"""Points are ordered at this precision, whatever that of the probabilities."""

_HALF = fmpq(1, 2)


def most_laws(candidates: int, wanted: int = MAX_LAWS) -> int:
    """How many laws a tree of so many candidates may evaluate."""
    return max(20, min(wanted, MAX_TREE_WORK // candidates**2))


class Round(NamedTuple):
    """One round of Algorithm 8: its budget, its α_t, the interval's width before it, and whether it is active."""

    epsilon: fmpq
    alpha: Point
    width: Point
    active: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """An end of the tree: the interval, the index from 0, and its probability."""

    low: Point
    high: Point
    index: int
    probability: arb


@dataclass(frozen=True)
class Tree:
    """The law of a run. ``pruned`` is the probability that was not followed, ``laws`` how many were evaluated."""

    leaves: tuple[Leaf, ...]
    pruned: arb
    laws: int

    def probability(self, event: Callable[[Leaf], bool]) -> arb:
        """A ball around the probability of an event of the leaves."""
        total = arb(0)
        for leaf in self.leaves:
            if event(leaf):
                total += leaf.probability
        return total if self.pruned.is_zero() else total + self.pruned * arb(_HALF, _HALF)


class SearchTree:
    """What Algorithms 6 and 8 share: scores, noise scales as multiples of 1/ε, the unit, and the order of points."""

    def __init__(self, unit: Callable[[], Scalar], threshold_multiple: fmpq, query_multiple: fmpq) -> None:
        self._unit = unit
        self._multiples = threshold_multiple, query_multiple
        with ctx.workprec(ORDER_BITS):
            self._order = BallRing(ball(unit()))

    def sign(self, point: Point) -> int:
        """The sign of a point, certified. Raises Undetermined for an irrational one too near 0."""
        with ctx.workprec(ORDER_BITS):
            return self._order.sign(point)

    def value(self, point: Point) -> Scalar:
        """The number, at the current precision; exact where it is rational."""
        return point.rational if point.multiple == 0 else BallRing(ball(self._unit())).number(point)

    def law(self, scores: Sequence[fmpq], threshold: Point, epsilon: fmpq) -> list[Any]:
        """``P(the first yes is j)`` for every candidate, and ``P(none)``, at the current precision."""
        return self.corner_law(scores, scores, threshold, epsilon)

    def corner_law(self, prefix: Sequence[fmpq], last: Sequence[fmpq], threshold: Point, epsilon: fmpq) -> list[Any]:
        """``P(no to prefix[:j], yes to last[j])`` for every j, and ``P(no to all of prefix)``."""
        with ctx.extraprec(2 * len(prefix) + 16):
            scales = [multiple / epsilon for multiple in self._multiples]
            points = [[Point(score).minus(threshold) for score in scores] for scores in (prefix, last)]
            return LaplaceLaw(_Ordered(ball(self._unit()), self), *scales, strict=True).index_law(*points)


class _Ordered(BallRing):
    """Balls at the current precision whose breakpoints are ordered at `ORDER_BITS`."""

    def __init__(self, unit: arb, tree: SearchTree) -> None:
        super().__init__(unit)
        self._tree = tree

    def sign(self, point: Point) -> int:
        return self._tree.sign(point)


class GeometricTree(SearchTree):
    """Algorithm 8 on all candidates, from [0, n] with the first candidate as witness."""

    def __init__(
        self,
        scores: Sequence[fmpq],
        n: int,
        budgets: Sequence[fmpq],
        alpha_factor: fmpq,
        unit: Callable[[], Scalar],
        threshold_multiple: fmpq,
        query_multiple: fmpq,
    ) -> None:
        super().__init__(unit, threshold_multiple, query_multiple)
        self.scores = tuple(scores)
        self.n = n
        self.rounds: list[Round] = []
        width = Point(fmpq(n))
        for epsilon in budgets:
            alpha = Point(fmpq(0), alpha_factor / epsilon)
            active = self.sign(alpha.minus(width.times(_HALF))) < 0
            self.rounds.append(Round(epsilon, alpha, width, active))
            if active:
                width = width.times(_HALF).plus(alpha)
        self.final_width = width

    @property
    def active_rounds(self) -> int:
        return sum(1 for r in self.rounds if r.active)

    def children(
        self, low: Point, high: Point, round_: Round
    ) -> tuple[Point, tuple[Point, Point], tuple[Point, Point]]:
        """The threshold of an active round, the interval after no, and after a yes."""
        middle = low.plus(high).times(_HALF)
        return middle, (low, middle.plus(round_.alpha)), (middle.minus(round_.alpha), high)

    def tree(self, scores: Sequence[fmpq] | None = None, max_laws: int = MAX_LAWS) -> Tree:
        """The law at the current precision, for the instance's scores or a neighbour's."""
        scores = self.scores if scores is None else scores
        if len(scores) > MAX_TREE_CANDIDATES:
            raise Undetermined(f"the tree is followed for at most {MAX_TREE_CANDIDATES} candidates")
        first = [arb(1), *[arb(0)] * (len(scores) - 1)]
        nodes: dict[tuple[Point, Point], list[arb]] = {(Point(fmpq(0)), Point(fmpq(self.n))): first}
        pruned, laws = arb(0), 0
        for round_ in self.rounds:
            if not round_.active:
                continue
            kept, lost = _heaviest(nodes, max(1, most_laws(len(scores), max_laws) // self.active_rounds))
            pruned += lost
            nodes = {}
            for (low, high), masses in kept:
                middle, after_no, after_yes = self.children(low, high, round_)
                law = self.law(scores, middle, round_.epsilon)
                laws += 1
                total = _sum(masses)
                _add(nodes, after_no, [mass * law[-1] for mass in masses])
                _add(nodes, after_yes, [total * p for p in law[:-1]])
        leaves = [
            Leaf(low, high, index, mass)
            for (low, high), masses in nodes.items()
            for index, mass in enumerate(masses)
            if not mass.is_zero()
        ]
        return Tree(tuple(leaves), pruned, laws)


class BisectionTree(SearchTree):
    """Algorithm 6 on all candidates from [0, n]: each round two streams at ``stream_epsilon``."""

    def __init__(
        self,
        scores: Sequence[fmpq],
        n: int,
        stream_epsilon: fmpq,
        alpha: Point,
        unit: Callable[[], Scalar],
        threshold_multiple: fmpq,
        query_multiple: fmpq,
        stop: fmpq,
    ) -> None:
        super().__init__(unit, threshold_multiple, query_multiple)
        self.scores, self.n, self.stream_epsilon, self.alpha = tuple(scores), n, stream_epsilon, alpha
        self.stop = stop
        self.round_count = self._count_rounds()

    def _count_rounds(self) -> int:
        """How many rounds the longest run takes: widths do not depend on the outcomes.

        Raises Undetermined where they are too many: with a stop of at most 2α a run never ends.
        """
        width = Point(fmpq(self.n))
        for rounds in range(1, MAX_BISECTIONS + 1):
            width = width.times(_HALF).plus(self.alpha)
            if self.sign(width.minus(self.alpha.times(self.stop))) <= 0:
                return rounds
        raise Undetermined(f"Algorithm 6 does not end within {MAX_BISECTIONS:,} rounds")

    def tree(self, scores: Sequence[fmpq] | None = None) -> Tree:
        """The law at the current precision; a leaf's interval is the one it ends with, its index the one returned."""
        scores = self.scores if scores is None else scores
        if len(scores) > MAX_TREE_CANDIDATES:
            raise Undetermined(f"the tree is followed for at most {MAX_TREE_CANDIDATES} candidates")
        nodes = {(Point(fmpq(0)), Point(fmpq(self.n))): [arb(1), *[arb(0)] * (len(scores) - 1)]}
        leaves: list[Leaf] = []
        pruned, laws = arb(0), 0
        for _ in range(self.round_count):
            kept, lost = _heaviest(nodes, max(1, most_laws(len(scores)) // (self.round_count * len(scores))))
            pruned += lost
            nodes = {}
            for (low, high), masses in kept:
                middle = low.plus(high).times(_HALF)
                total = _sum(masses)
                first = self.law(scores, middle, self.stream_epsilon)
                laws += len(scores)
                seconds = [arb(0)] * len(scores)
                for j, p in enumerate(first[:-1]):
                    rest = scores[j + 1 :]
                    second = self.law(rest, middle, self.stream_epsilon) if rest else [arb(1)]
                    leaves.append(Leaf(low, high, j, total * p * second[-1]))
                    for k, q in enumerate(second[:-1], j + 1):
                        seconds[k] += total * p * q
                _add(nodes, (low, middle.plus(self.alpha)), [mass * first[-1] for mass in masses])
                _add(nodes, (middle.minus(self.alpha), high), seconds)
        leaves += [
            Leaf(low, high, j, mass)
            for (low, high), masses in nodes.items()
            for j, mass in enumerate(masses)
            if not mass.is_zero()
        ]
        return Tree(tuple(leaves), pruned, laws)


_Nodes = dict[tuple[Point, Point], list[arb]]


def _heaviest(nodes: _Nodes, most: int) -> tuple[list[tuple[tuple[Point, Point], list[arb]]], arb]:
    """The branches to follow, in order of the intervals, and the mass of the others."""
    ranked = sorted(nodes.items(), key=lambda item: (-float(_sum(item[1])), item[0]))
    kept, lost = [], arb(0)
    for position, item in enumerate(ranked):
        mass = _sum(item[1])
        if position >= most or mass <= PRUNED_MASS:
            lost += mass
        else:
            kept.append(item)
    return kept, lost


def _add(nodes: _Nodes, interval: tuple[Point, Point], masses: list[arb]) -> None:
    old = nodes.get(interval)
    nodes[interval] = masses if old is None else [a + b for a, b in zip(old, masses, strict=True)]


def _sum(values: Sequence[arb]) -> arb:
    total = arb(0)
    for value in values:
        total += value
    return total
