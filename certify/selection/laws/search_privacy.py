"""The true privacy loss of Algorithm 8 on an instance, enclosed: its output law is no product that two corners bound.

The output is (j*, ℓ, u), which tells for every active round whether there was a yes, and the index of the last
one. Lower end: the largest log ratio over listed neighbours. Upper end: along every path the sum of what each
round can contribute, which is the largest log ratio, over the neighbours of that round's scores, of no yes, of some
yes, or of the last yes's index; each of these is monotone in every score, so two corners bound it, in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from flint import arb, fmpq

from certify.arithmetic.scalar import Scalar, divide, logarithm, maximum
from certify.selection.laws.exponential_sum import Point
from certify.selection.laws.search import GeometricTree, Tree

MAX_NODES = 128
"""Beyond so many intervals the upper end is the sum of the budgets."""

MAX_NEIGHBOUR_LAWS = 400
"""Laws evaluated for the tree of one neighbour."""

MAX_MOVED = 2
"""How many single candidates are set against the others."""

BUDGETS, PATHS = "the sum of the budgets", "the worst path of per-round corners"


class LossEnd(NamedTuple):
    """One end of the enclosure, and where it comes from."""

    value: Scalar
    source: str


def listed_neighbours(scores: Sequence[fmpq], n: int) -> Iterator[tuple[str, tuple[fmpq, ...]]]:
    """Neighbours by name: all scores moved, and each one against all the others; cut to [0, n]."""

    def cut(value: fmpq) -> fmpq:
        return min(max(value, fmpq(0)), fmpq(n))

    yield "all scores up", tuple(cut(s + 1) for s in scores)
    yield "all scores down", tuple(cut(s - 1) for s in scores)
    for j in range(min(len(scores), MAX_MOVED)):
        for sign, word in ((1, "up"), (-1, "down")):
            moved = tuple(cut(s + (sign if i == j else -sign)) for i, s in enumerate(scores))
            yield f"score {j + 1} {word}, the others the other way", moved


def loss_lower(tree: GeometricTree) -> LossEnd:
    """The largest certain log ratio over the listed neighbours, in both directions, at the current precision.

    With branches left out, an output has at least the probability that was found, and at most that and all of
    what was left out.
    """
    base = tree.tree(max_laws=MAX_NEIGHBOUR_LAWS)
    masses = _by_output(base)
    best = LossEnd(fmpq(0), "a loss is at least 0")
    for source, neighbour in listed_neighbours(tree.scores, tree.n):
        other = tree.tree(neighbour, max_laws=MAX_NEIGHBOUR_LAWS)
        others = _by_output(other)
        for output, mass in masses.items():
            there = others.get(output, arb(0))
            best = _larger(best, source, ((mass, there + other.pruned), (there, mass + base.pruned)))
    return best


def index_loss_lower(tree: Callable[[Sequence[fmpq]], Tree], scores: Sequence[fmpq], n: int) -> LossEnd:
    """The same for an algorithm whose output is the index alone."""
    base, best = tree(scores), LossEnd(fmpq(0), "a loss is at least 0")
    for source, neighbour in listed_neighbours(scores, n):
        other = tree(neighbour)
        for j in range(len(scores)):
            here, there = (_index_mass(each, j) for each in (base, other))
            best = _larger(best, source, ((here, there + other.pruned), (there, here + base.pruned)))
    return best


def _index_mass(tree: Tree, index: int) -> arb:
    total = arb(0)
    for leaf in tree.leaves:
        if leaf.index == index:
            total += leaf.probability
    return total


def _larger(best: LossEnd, source: str, pairs: Iterable[tuple[arb, arb]]) -> LossEnd:
    for numerator, denominator in pairs:
        if numerator > 0 and denominator > 0:
            ratio = (numerator / denominator).log()
            if ratio.lower() > arb(best.value).lower():
                best = LossEnd(ratio, source)
    return best


def loss_upper(tree: GeometricTree, total: fmpq) -> LossEnd:
    """The bound over all neighbours in the box, at most the sum of the budgets, at the current precision."""
    if 2**tree.active_rounds > MAX_NODES:
        return LossEnd(total, BUDGETS)
    value = _Paths(tree).bound()
    if arb(value) < arb(total):
        return LossEnd(value, PATHS)
    return LossEnd(total, BUDGETS)


def _by_output(tree: Tree) -> dict[tuple[Point, Point, int], arb]:
    return {(leaf.low, leaf.high, leaf.index): leaf.probability for leaf in tree.leaves}


class _Paths:
    """The recursion over the tree: the worst rest of a path with no further yes, and with at least one."""

    def __init__(self, tree: GeometricTree) -> None:
        self._tree = tree
        self._active = [r for r in tree.rounds if r.active]
        self._up = tuple(min(s + 1, fmpq(tree.n)) for s in tree.scores)
        self._down = tuple(max(s - 1, fmpq(0)) for s in tree.scores)

    def bound(self) -> Scalar:
        none, some = self._rest(0, Point(fmpq(0)), Point(fmpq(self._tree.n)))
        return none if some is None else maximum([none, some])

    def _rest(self, depth: int, low: Point, high: Point) -> tuple[Scalar, Scalar | None]:
        if depth == len(self._active):
            return fmpq(0), None
        round_ = self._active[depth]
        middle, after_no, after_yes = self._tree.children(low, high, round_)
        no, some, last = self._contributions(middle, round_.epsilon)
        no_none, no_some = self._rest(depth + 1, *after_no)
        yes_none, yes_some = self._rest(depth + 1, *after_yes)
        with_yes = [last + yes_none]
        if no_some is not None:
            with_yes.append(no + no_some)
        if yes_some is not None:
            with_yes.append(some + yes_some)
        return no + no_none, maximum(with_yes)

    def _contributions(self, middle: Point, epsilon: fmpq) -> tuple[Scalar, Scalar, Scalar]:
        tree = self._tree
        base = tree.law(tree.scores, middle, epsilon)
        up, down = tree.law(self._up, middle, epsilon), tree.law(self._down, middle, epsilon)
        least = tree.corner_law(self._up, self._down, middle, epsilon)
        most = tree.corner_law(self._down, self._up, middle, epsilon)
        no = maximum([_log_ratio(base[-1], up[-1]), _log_ratio(down[-1], base[-1])])
        yes = [_total(law[:-1]) for law in (base, up, down)]
        some = maximum([_log_ratio(yes[0], yes[2]), _log_ratio(yes[1], yes[0])])
        count = len(tree.scores)
        last = maximum(
            [_log_ratio(base[j], least[j]) for j in range(count)] + [_log_ratio(most[j], base[j]) for j in range(count)]
        )
        return no, some, last


def _log_ratio(numerator: Scalar, denominator: Scalar) -> Scalar:
    return logarithm(divide(numerator, denominator))


def _total(values: Sequence[Scalar]) -> Scalar:
    total: Scalar = fmpq(0)
    for value in values:
        total = total + value
    return total
