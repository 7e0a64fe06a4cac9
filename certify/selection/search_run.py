"""Algorithms 6-8 and the sum estimate on an instance: parameters from the ledger, laws, what can fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from flint import ctx, fmpq

from certify.arithmetic.ceiling import certified_ceiling
from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import Scalar, Undetermined, divide, logarithm, maximum, multiply
from certify.arithmetic.verdict import Verdict
from certify.selection.instance_model import LaplaceNoise, SelectionSpec, Vector
from certify.selection.laws.exponential_sum import Point
from certify.selection.laws.search import BisectionTree, GeometricTree, Leaf, Tree
from certify.selection.laws.stream import above_threshold_law
from constants.ledger import Ledger

TREE_BITS = 256


class SearchRun:
    """What the algorithms share: d candidates with scores in [0, n], the best score S*, ε and β."""

    def __init__(self, spec: SelectionSpec, epsilon: fmpq, beta: fmpq, ledger: Ledger) -> None:
        self.spec, self.epsilon, self.beta, self.ledger = spec, epsilon, beta, ledger
        self.scores = spec.scores.sums
        self.d, self.n = len(self.scores), spec.n
        self.best = max(self.scores)
        self._trees: dict[int, Tree] = {}
        self._laws: dict[tuple[int, Vector, Vector], list[Any]] = {}

    def _at_precision(self, evaluate: Callable[[], Tree]) -> Tree:
        """A tree at the current precision, at most `TREE_BITS`: what is left out matters more from there on."""
        bits = min(ctx.prec, TREE_BITS)
        if bits not in self._trees:
            with ctx.workprec(bits):
                self._trees[bits] = evaluate()
        return self._trees[bits]

    def constant(self, constant_id: str) -> fmpq:
        """A rational constant of the ledger."""
        return self.ledger.rational(constant_id)

    def log_2n(self) -> Scalar:
        """``log2(2n)``, exact for a power of two."""
        if self.n & (self.n - 1) == 0:
            return fmpq(self.n.bit_length())
        return divide(logarithm(fmpq(2 * self.n)), logarithm(fmpq(2)))

    def scale_multiples(self) -> tuple[fmpq, fmpq]:
        """Scales of threshold and query noise, in units of 1/ε."""
        return self.constant("svt-threshold-scale"), self.constant("svt-query-scale")

    def short_of_best(self, index: int) -> fmpq:
        """``S* - s_index``."""
        return self.best - self.scores[index]


class GeometricRun(SearchRun):
    """Algorithm 8 on all candidates from [0, n] with the first as witness, and the sum estimate (one candidate)."""

    @property
    def rounds(self) -> int:
        """T: ``max{1, ⌈log2 n⌉}`` unless the instance says otherwise."""
        return self.spec.rounds or max(1, (self.n - 1).bit_length())

    @property
    def alpha_factor(self) -> fmpq:
        """32, unless the instance says otherwise."""
        given = self.spec.alpha_factor
        return self.constant("search-accuracy") if given is None else given

    @cached_property
    def normaliser(self) -> fmpq:
        """``Z = (1 - γ^T)/(1 - γ)``."""
        decay = self.constant("search-decay")
        return (1 - decay**self.rounds) / (1 - decay)

    @cached_property
    def budgets(self) -> list[fmpq]:
        """``ε_t = (ε/Z) γ^(T-t)``."""
        decay = self.constant("search-decay")
        return [self.epsilon / self.normaliser * decay ** (self.rounds - t) for t in range(1, self.rounds + 1)]

    def log(self) -> Scalar:
        """``log(2|P|T/β)``."""
        return logarithm(2 * self.d * self.rounds / self.beta)

    @cached_property
    def search(self) -> GeometricTree:
        return GeometricTree(self.scores, self.n, self.budgets, self.alpha_factor, self.log, *self.scale_multiples())

    def tree(self) -> Tree:
        """The law at the current precision."""
        return self._at_precision(self.search.tree)

    def fails(self, leaf: Leaf) -> bool:
        """Whether the output misses ``s_{j*} >= ℓ'`` or ``S* <= u'``."""
        search = self.search
        below = search.sign(Point(self.scores[leaf.index]).minus(leaf.low)) < 0
        return below or search.sign(leaf.high.minus(Point(self.best))) < 0

    def failure(self) -> Scalar:
        """The probability of that."""
        return self.tree().probability(self.fails)

    def length_bound(self) -> Scalar:
        """``W/2^T + (384/ε) log(2|P|T/β)``."""
        halved: Scalar = fmpq(self.n, 2**self.rounds)
        return halved + self.error_term(self.log())

    def error_term(self, log: Scalar) -> Scalar:
        """``(384/ε) log``."""
        return multiply(self.constant("search-error") / self.epsilon, log)

    def selection_bound(self) -> Scalar:
        """``1 + (384/ε) log(2d(1 + log2 n)/β)``."""
        return 1 + self.error_term(logarithm(2 * self.d * self.log_2n() / self.beta))

    def selection_failure(self) -> Callable[[], Scalar] | None:
        """The probability of an error above that; None where no candidate is that far from the best."""
        return self._failure_beyond(self.selection_bound, self.tree)

    def _failure_beyond(self, bound: Callable[[], Scalar], tree: Callable[[], Tree]) -> Callable[[], Scalar] | None:
        bad = [exceeds(self.short_of_best(j), bound) for j in range(self.d)]
        if not any(bad):
            return None
        return lambda: tree().probability(lambda leaf: bad[leaf.index])


class BisectionRun(GeometricRun):
    """Algorithm 6 with ``R = ⌈log2(2n)⌉ + 1``, budget ε/(2R) a stream, ``α = (16R/ε) log(4dR/β)``."""

    @property
    def rounds(self) -> int:
        return certified_ceiling(self.log_2n) + 1

    @property
    def stream_epsilon(self) -> fmpq:
        return self.constant("binary-search-share") * self.epsilon / self.rounds

    def log(self) -> Scalar:
        """``log(2d/β')``, β' = β/(2R) for each stream."""
        return logarithm(2 * self.d * self.rounds / (self.constant("binary-search-share") * self.beta))

    @property
    def alpha_multiple(self) -> fmpq:
        """α in units of the logarithm."""
        return self.constant("svt-accuracy") / self.stream_epsilon

    def alpha(self) -> Scalar:
        return multiply(self.alpha_multiple, self.log())

    @cached_property
    def bisection(self) -> BisectionTree:
        return BisectionTree(
            self.scores,
            self.n,
            self.stream_epsilon,
            Point(fmpq(0), self.alpha_multiple),
            self.log,
            *self.scale_multiples(),
            self.constant("binary-search-stop"),
        )

    def tree(self) -> Tree:
        return self._at_precision(self.bisection.tree)

    def error_bound(self) -> Scalar:
        """``3α``."""
        return multiply(self.constant("binary-search-error"), self.alpha())

    def selection_failure(self) -> Callable[[], Scalar] | None:
        return self._failure_beyond(self.error_bound, self.tree)


class ScanRun(SearchRun):
    """Algorithm 7 on [0, n]: one stream, thresholds n, …, 0, all candidates at each; the first if none is returned."""

    @property
    def queries(self) -> int:
        return self.d * (self.n + 1)

    def alpha(self) -> Scalar:
        """``(8/ε) log(2d(n+1)/β)``, Theorem 5.2 for all queries."""
        log = logarithm(2 * self.queries / self.beta)
        return multiply(self.constant("svt-accuracy") / self.epsilon, log)

    def error_bound(self) -> Scalar:
        """``2α + 1``."""
        return multiply(self.constant("linear-scan-error"), self.alpha()) + self.constant("linear-scan-step")

    def law(self, prefix: Vector, last: Vector) -> list[Any]:
        """``P(j is returned)`` for every candidate, with the sums ``last[j]`` at its yes and ``prefix`` before it."""
        key = (ctx.prec, prefix, last)
        if key not in self._laws:
            self._laws[key] = self._law(prefix, last)
        return self._laws[key]

    def _law(self, prefix: Vector, last: Vector) -> list[Any]:
        before = [Point(s - level) for level in range(self.n, -1, -1) for s in prefix]
        at = [Point(s - level) for level in range(self.n, -1, -1) for s in last]
        threshold, query = self.scale_multiples()
        law = above_threshold_law(LaplaceNoise(threshold / self.epsilon, query / self.epsilon), before, at)
        found = [law[j] for j in range(self.d)]
        for position, p in enumerate(law[self.d : -1]):
            found[position % self.d] = found[position % self.d] + p
        found[0] = found[0] + law[-1]
        return found

    def returned(self, index: int, scores: Vector) -> Scalar:
        """``P(index is returned)`` at some scores."""
        value: Scalar = self.law(scores, scores)[index]
        return value

    def ratios(self) -> list[tuple[int, Vector, Callable[[], Scalar]]]:
        """Index, neighbour and probability ratio for every worst case over the box cut to [0, n], both directions.

        P(j) rises in s_j and falls in every other score, also where none is returned and j is the first.
        """
        found: list[tuple[int, Vector, Callable[[], Scalar]]] = []
        for j in range(self.d):
            for sign in (-1, 1):
                moved = tuple(
                    min(max(s + (sign if i == j else -sign), fmpq(0)), fmpq(self.n)) for i, s in enumerate(self.scores)
                )
                larger, smaller = (self.scores, moved) if sign < 0 else (moved, self.scores)
                found.append((j, moved, partial(self._ratio, j, larger, smaller)))
        return found

    def _ratio(self, j: int, larger: Vector, smaller: Vector) -> Scalar:
        return divide(self.returned(j, larger), self.returned(j, smaller))

    def loss(self) -> Scalar:
        """The largest log ratio over the box of neighbours."""
        return logarithm(maximum([ratio() for _, _, ratio in self.ratios()]))

    def failure(self) -> Callable[[], Scalar] | None:
        """The probability of an error above the bound; None where no candidate is that far from the best."""
        bad = [exceeds(self.short_of_best(j), self.error_bound) for j in range(self.d)]
        if not any(bad):
            return None

        def value() -> Scalar:
            total: Scalar = fmpq(0)
            for p, wrong in zip(self.law(self.scores, self.scores), bad, strict=True):
                if wrong:
                    total = total + p
            return total

        return value


def exceeds(value: fmpq, bound: Callable[[], Scalar]) -> bool:
    """Whether a rational exceeds a bound, certified. Raises Undetermined where they cannot be told apart."""
    decision = decide_le(lambda: value, bound, precision=64, max_precision=4096)
    if decision.verdict is Verdict.UNDECIDED:
        raise Undetermined(f"an error cannot be told from its bound: {decision.reason}")
    return decision.verdict is Verdict.REFUTED
