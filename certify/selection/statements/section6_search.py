"""§§6-6.2: binary search, linear scan, geometric binary search, sum estimate (Theorem 6.1 to Corollary 6.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from flint import fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar
from certify.engine.statement import Cases, ScalarCase, StructuralCase, Witness, Worst
from certify.selection.laws.exponential_sum import Point
from certify.selection.laws.search import GeometricTree
from certify.selection.problem import SelectionProblem
from certify.selection.search_run import BisectionRun, GeometricRun, ScanRun, exceeds
from certify.selection.statements.base import SelectionStatement, exact_case

MAX_SEQUENCES = 512
"""So many intervals of Algorithm 8 are visited to check Lemma 6.4; beyond, its induction step alone is shown."""

GEOMETRIC = ("geometric-binary-search", "sum-estimate")


class SearchStatement(SelectionStatement):
    """A statement about one of the algorithms, `algorithms` by their names in instances."""

    algorithms: ClassVar[tuple[str, ...]]

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        spec = problem.selection
        if spec is None or spec.algorithm not in self.algorithms:
            return f"the instance is no run of {' or '.join(self.algorithms)}"
        return None


def failure_case(failure: Callable[[], Scalar] | None, beta: fmpq, quantity: str, vacuous: bool) -> Cases:
    """``failure <= β``; None is exactly 0. ``vacuous`` says that the bound exceeds every possible error."""
    witness: Witness = {"quantity": quantity}
    if vacuous:
        witness["vacuous"] = "the bound is at least n, so no output can exceed it"
    if failure is None:
        shown = Worst(Enclosure.of(0), Enclosure.of(beta), witness)
        return StructuralCase("no candidate is farther from the best than the bound", 1, shown)
    return ScalarCase(failure, lambda: beta, witness)


class BinarySearch(SearchStatement):
    """Theorem 6.1 with ``α = (16R/ε) log(4dR/β)``: budgets, rounds, error by the exact law of all branches, queries."""

    id: ClassVar[str] = "thm-6.1"
    title: ClassVar[str] = "Private binary search"
    source: ClassVar[str] = "§6, Theorem 6.1, Algorithm 6"
    claim: ClassVar[str] = "2R·ε/(2R) ≤ ε; rounds ≤ R; P(S*-s_j > 3α) ≤ β; ≤ dR queries, α = (16R/ε) log(4dR/β)"
    algorithms: ClassVar[tuple[str, ...]] = ("binary-search",)

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        return super().not_applicable(problem) or above_one(problem)

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.search
        assert isinstance(run, BisectionRun)
        spent = 2 * run.rounds * run.stream_epsilon
        allowed = evidence.ledger.rational("svt-privacy") * evidence.epsilon
        yield exact_case(spent, allowed, {"quantity": "budget of 2R streams", "R": run.rounds})
        rounds = run.bisection.round_count
        yield ScalarCase(lambda: fmpq(rounds), lambda: fmpq(run.rounds), {"quantity": "rounds of the longest run"})
        queries = rounds * run.d
        yield ScalarCase(
            lambda: fmpq(queries), lambda: fmpq(run.d * run.rounds), {"quantity": "queries, at most d a round"}
        )
        vacuous = not exceeds(fmpq(run.n), run.error_bound)
        yield failure_case(run.selection_failure(), run.beta, "P(S* - s_j > 3α)", vacuous)


class LinearScan(SearchStatement):
    """Theorem 6.3 with ``α = (8/ε) log(2d(n+1)/β)``: privacy and error by the exact law of the returned index."""

    id: ClassVar[str] = "thm-6.3"
    title: ClassVar[str] = "Private linear scan"
    source: ClassVar[str] = "§6.1, Theorem 6.3, Algorithm 7"
    claim: ClassVar[str] = "P(j) ≤ e^ε P'(j); P(S*-s_j > 2α+1) ≤ β; ≤ d(n+1) queries, α = (8/ε) log(2d(n+1)/β)"
    algorithms: ClassVar[tuple[str, ...]] = ("linear-scan",)

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.search
        assert isinstance(run, ScanRun)
        level, multiple = evidence.instance.level, evidence.ledger.rational("svt-privacy")

        def bound() -> Scalar:
            return level.factor(multiple)

        for j, moved, ratio in run.ratios():
            witness: Witness = {
                "quantity": "P(j) over P'(j), at the worst neighbour of j",
                "output": j + 1,
                "scores": list(run.scores),
                "neighbour": list(moved),
            }
            yield ScalarCase(ratio, bound, witness)
        yield exact_case(
            fmpq(run.queries),
            fmpq(run.d * (run.n + 1)),
            {"quantity": "queries of a scan without yes", "d": run.d, "n": run.n},
        )
        vacuous = not exceeds(fmpq(run.n), run.error_bound)
        yield failure_case(run.failure(), run.beta, "P(S* - s_j > 2α + 1)", vacuous)


class _Geometric(SearchStatement):
    algorithms: ClassVar[tuple[str, ...]] = GEOMETRIC

    def run(self, evidence: SelectionProblem) -> GeometricRun:
        run = evidence.search
        assert isinstance(run, GeometricRun)
        return run


class IntervalInvariant(_Geometric):
    """Lemma 6.4: after every sequence of accurate answers, ``s_{j*} >= ℓ_t`` and ``S* <= u_t``."""

    id: ClassVar[str] = "lemma-6.4"
    title: ClassVar[str] = "The interval holds the maximum"
    source: ClassVar[str] = "§6.2, Lemma 6.4"
    claim: ClassVar[str] = "s_{j*} ≥ ℓ_t and S* ≤ u_t, all answers accurate"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = self.run(evidence)
        stream, allowed = (evidence.ledger.rational(name) for name in ("svt-accuracy", "search-accuracy"))
        yield exact_case(
            stream,
            allowed,
            {"quantity": "accuracy of a stream of |P| queries at β/T, in units of log(2|P|T/β)/ε_t, against α_t"},
        )
        nodes, complete = _accurate_nodes(run)
        search = run.search
        for low, high, index in nodes:
            score = run.scores[index]
            yield _ordered(search, low, Point(score), {"quantity": "ℓ_t ≤ s_{j*}", "j": index + 1})
            yield _ordered(search, Point(run.best), high, {"quantity": "S* ≤ u_t"})
        if not complete:
            yield StructuralCase(
                f"beyond {MAX_SEQUENCES} intervals by induction: u becomes m + α_t ≥ S* after an accurate no, "
                "ℓ becomes m - α_t ≤ s_j after an accurate yes of j",
                1,
            )


def _accurate_nodes(run: GeometricRun) -> tuple[list[tuple[Point, Point, int]], bool]:
    """Every (ℓ, u, j*) that accurate answers lead to, up to a number; whether these are all."""
    search = run.search
    nodes = {(Point(fmpq(0)), Point(fmpq(run.n)), 0)}
    seen = set(nodes)
    for round_ in search.rounds:
        if not round_.active:
            continue
        following = set()
        for low, high, index in nodes:
            middle, after_no, after_yes = search.children(low, high, round_)
            if search.sign(middle.plus(round_.alpha).minus(Point(run.best))) >= 0:
                following.add((*after_no, index))
            for j, score in enumerate(run.scores):
                if search.sign(Point(score).minus(middle.minus(round_.alpha))) >= 0:
                    following.add((*after_yes, j))
        seen |= following
        if len(seen) > MAX_SEQUENCES:
            return sorted(seen)[:MAX_SEQUENCES], False
        nodes = following
    return sorted(seen), True


def _ordered(search: GeometricTree, low: Point, high: Point, witness: Witness) -> Cases:
    """``low <= high``, by structure where they are one and the same point."""
    if low == high:
        return StructuralCase("the two sides are the same expression", 1)
    return ScalarCase(lambda: search.value(low), lambda: search.value(high), witness)


class IntervalLength(_Geometric):
    """Lemma 6.5, whatever the outcomes: both make the same width."""

    id: ClassVar[str] = "lemma-6.5"
    title: ClassVar[str] = "The interval shrinks"
    source: ClassVar[str] = "§6.2, Lemma 6.5"
    claim: ClassVar[str] = "W_{t+1} ≤ W_t/2 + α_t"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        search = self.run(evidence).search
        halving = evidence.ledger.rational("search-halving")
        widths = [r.width for r in search.rounds[1:]] + [search.final_width]
        for t, (round_, after) in enumerate(zip(search.rounds, widths, strict=True), 1):
            bound = round_.width.times(halving).plus(round_.alpha)
            yield _ordered(search, after, bound, {"quantity": "W_{t+1}", "t": t, "active": str(round_.active).lower()})


class GeometricSearch(_Geometric):
    """Theorem 6.6: budgets, the constant 384, the interval's length, and the exact failure probability against β."""

    id: ClassVar[str] = "thm-6.6"
    title: ClassVar[str] = "Geometric binary search"
    source: ClassVar[str] = "§6.2, Theorem 6.6, Algorithm 8"
    claim: ClassVar[str] = (
        "Σε_t ≤ ε; u'-ℓ' ≤ W/2^T + (384/ε) log(2|P|T/β); P(s_{j*} < ℓ' or S* > u') ≤ β; ≤ |P|T queries"
    )

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run, ledger = self.run(evidence), evidence.ledger
        spent = sum(run.budgets, fmpq(0))
        allowed = ledger.rational("svt-privacy") * run.epsilon
        yield exact_case(spent, allowed, {"quantity": "Σ ε_t", "T": run.rounds})
        decay = ledger.rational("search-decay")
        series = sum((1 / (2 * decay) ** k for k in range(run.rounds)), fmpq(0))
        normaliser, total = ledger.rational("search-normaliser"), ledger.rational("search-sum")
        yield ScalarCase(lambda: run.normaliser, lambda: normaliser, {"quantity": "Z"})
        yield ScalarCase(lambda: series, lambda: total, {"quantity": "Σ (2γ)^-k"})
        product, error = run.alpha_factor * normaliser * total, ledger.rational("search-error")
        yield ScalarCase(lambda: product, lambda: error, {"quantity": "32 · 4 · 3"}, auxiliary=True)
        search = run.search
        yield ScalarCase(
            lambda: search.value(search.final_width),
            run.length_bound,
            {"quantity": "u' - ℓ'", "active rounds": search.active_rounds, "T": run.rounds},
        )
        yield ScalarCase(
            run.failure,
            lambda: run.beta,
            {"quantity": "P(s_{j*} < ℓ' or S* > u')", "active rounds": search.active_rounds, "T": run.rounds},
        )
        if run.spec.rounds is None:
            vacuous = not exceeds(fmpq(run.n), run.selection_bound)
            yield failure_case(run.selection_failure(), run.beta, "P(S* - s_{j*} > 1 + (384/ε) log …)", vacuous)


class SearchQueries(_Geometric):
    """Corollary 6.7 with its constant: ``dT <= d(1 + log2 n)`` queries."""

    id: ClassVar[str] = "cor-6.7"
    title: ClassVar[str] = "Queries of the search"
    source: ClassVar[str] = "§6.2, Corollary 6.7"
    claim: ClassVar[str] = "dT ≤ d(1 + log2 n) queries; the error term is at most (384/ε) log(2d(1+log2 n)/β)"
    algorithms: ClassVar[tuple[str, ...]] = ("geometric-binary-search",)

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and problem.selection is not None and problem.selection.rounds is not None:
            return "the number of rounds is not max{1, ⌈log2 n⌉}"
        return reason

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = self.run(evidence)
        yield ScalarCase(
            lambda: fmpq(run.d * run.rounds),
            lambda: run.d * run.log_2n(),
            {"quantity": "queries", "d": run.d, "T": run.rounds},
        )
        yield ScalarCase(
            lambda: search_width(run),
            run.selection_bound,
            {"quantity": "u' - ℓ' against 1 + (384/ε) log(2d(1+log2 n)/β)"},
        )


def search_width(run: GeometricRun) -> Scalar:
    """The width that Algorithm 8 ends with."""
    return run.search.value(run.search.final_width)


class SumEstimate(_Geometric):
    """Corollary 6.8: an interval of length at most ``1 + (384/ε) log(2T/β)``, wrong with probability at most β."""

    id: ClassVar[str] = "cor-6.8"
    title: ClassVar[str] = "Sum estimate"
    source: ClassVar[str] = "§6.2, Corollary 6.8"
    claim: ClassVar[str] = "u'-ℓ' ≤ 1 + (384/ε) log(2T/β); P(the sum is not in [ℓ', u']) ≤ β; T queries"
    algorithms: ClassVar[tuple[str, ...]] = ("sum-estimate",)

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and problem.selection is not None and problem.selection.rounds is not None:
            return "the number of rounds is not max{1, ⌈log2 n⌉}"
        return reason

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = self.run(evidence)
        vacuous = not exceeds(fmpq(run.n), lambda: 1 + run.error_term(run.log()))
        witness: Witness = {"quantity": "u' - ℓ'", "T": run.rounds}
        if vacuous:
            witness["vacuous"] = "the bound is at least n"
        yield ScalarCase(lambda: search_width(run), lambda: 1 + run.error_term(run.log()), witness)
        yield ScalarCase(run.failure, lambda: run.beta, {"quantity": "P(the sum is not in [ℓ', u'])"})
        yield ScalarCase(lambda: fmpq(run.n), lambda: fmpq(2) ** run.rounds, {"quantity": "n ≤ 2^T", "T": run.rounds})


def above_one(problem: SelectionProblem) -> str | None:
    """The hypothesis ``ε <= 1`` where it fails."""
    return f"the theorem asks for ε ≤ 1, and ε = {problem.epsilon}" if problem.epsilon > 1 else None
