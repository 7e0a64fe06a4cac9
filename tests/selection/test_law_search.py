"""The trees of Algorithms 6 and 8 against the algorithms as they run: every branch is driven through the code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from flint import arb, ctx, fmpq

from certify.selection.binary_search import binary_search
from certify.selection.geometric_search import geometric_search
from certify.selection.instance_model import LaplaceNoise, Scores, SelectionSpec
from certify.selection.laws.exponential_sum import Point
from certify.selection.laws.search_privacy import listed_neighbours, loss_lower, loss_upper
from certify.selection.laws.stream import above_threshold_law
from certify.selection.linear_scan import linear_scan
from certify.selection.search_run import BisectionRun, GeometricRun, ScanRun
from constants.ledger import default_ledger

ROUNDED = arb(0, "1e-12")
"""The code rounds the logarithm in α up by less than 2^-64; a threshold moved by δ changes a law by at most δε/4."""


def spec(
    sums: Sequence[int], n: int, algorithm: str, factor: int | None = None, rounds: int | None = None
) -> SelectionSpec:
    scores = Scores(tuple(fmpq(s) for s in sums))
    return SelectionSpec(scores, n, algorithm, None if factor is None else fmpq(factor), rounds)


@dataclass
class _Driven:
    """An oracle that follows a prescribed path of answers, and multiplies their exact probabilities."""

    scores: Sequence[fmpq]
    path: list[int | None]
    probability: arb = field(default_factory=lambda: arb(1))
    choices: list[int] = field(default_factory=list)
    """How many outcomes each call had, the calls of the path and the first one after it."""

    def open_stream(self, epsilon: fmpq) -> "_DrivenStream":
        return _DrivenStream(self, epsilon)


class _NeedsAnswer(Exception):
    """The path has ended, and the algorithm asks on."""


@dataclass
class _DrivenStream:
    oracle: _Driven
    epsilon: fmpq

    def first_yes(self, candidates: Sequence[int], threshold: fmpq) -> int | None:
        oracle = self.oracle
        step = len(oracle.choices)
        oracle.choices.append(len(candidates) + 1)
        if step == len(oracle.path):
            raise _NeedsAnswer
        points = [Point(oracle.scores[j] - threshold) for j in candidates]
        law = above_threshold_law(LaplaceNoise(2 / self.epsilon, 4 / self.epsilon), points, points)
        answer = oracle.path[step]
        oracle.probability *= law[-1] if answer is None else law[answer]
        return answer

    def query(self, candidate: int, threshold: fmpq) -> bool:
        raise AssertionError("the algorithms ask for the first yes")


def driven_law(scores: Sequence[fmpq], run: Callable[[_Driven], int]) -> list[arb]:
    """The law of the returned index, by running the code on every path of answers."""
    found = [arb(0)] * len(scores)
    paths: list[list[int | None]] = [[]]
    while paths:
        path = paths.pop()
        oracle = _Driven(scores, path)
        try:
            found[run(oracle)] += oracle.probability
        except _NeedsAnswer:
            paths += [[*path, answer] for answer in (None, *range(oracle.choices[-1] - 1))]
    return found


@pytest.mark.parametrize(
    ("sums", "n", "factor", "rounds"),
    [((900, 400), 1024, 1, 3), ((512, 500, 20), 1024, 2, 3), ((1000,), 1024, 1, 4), ((3, 1), 16, 32, 4)],
)
def test_the_tree_of_algorithm_8_is_the_law_of_the_code(
    sums: tuple[int, ...], n: int, factor: int, rounds: int
) -> None:
    epsilon, beta = fmpq(2), fmpq(1, 2)
    run = GeometricRun(spec(sums, n, "geometric-binary-search", factor, rounds), epsilon, beta, default_ledger())
    with ctx.workprec(128):
        tree = run.tree()
        assert tree.pruned < fmpq(1, 10**15)

        def code(oracle: _Driven) -> int:
            return geometric_search(oracle, range(len(sums)), (0, n), 0, rounds, epsilon, beta, factor).index

        law = driven_law(run.scores, code)
        for j, driven in enumerate(law):
            assert tree.probability(lambda leaf, j=j: leaf.index == j).overlaps(driven + ROUNDED)  # type: ignore[misc]


def test_the_tree_of_algorithm_6_is_the_law_of_the_code() -> None:
    sums, n, epsilon, beta = (70_000, 60_000), 2**17, fmpq(1), fmpq(1, 2)
    run = BisectionRun(spec(sums, n, "binary-search"), epsilon, beta, default_ledger())
    with ctx.workprec(128):
        tree = run.tree()
        law = driven_law(run.scores, lambda oracle: binary_search(oracle, 2, n, epsilon, beta).index)
        for j, driven in enumerate(law):
            assert tree.probability(lambda leaf, j=j: leaf.index == j).overlaps(driven + ROUNDED)  # type: ignore[misc]


def test_the_law_of_algorithm_7_is_the_law_of_the_code() -> None:
    """One stream serves all thresholds, so the code's queries are one AboveThreshold, in its own order."""
    sums, n, epsilon = (fmpq(3), fmpq(4)), 4, fmpq(1)
    run = ScanRun(spec((3, 4), n, "linear-scan"), epsilon, fmpq(1, 2), default_ledger())
    asked: list[tuple[int, fmpq]] = []

    class Recorder:
        def open_stream(self, budget: fmpq) -> "Recorder":
            assert budget == epsilon
            return self

        def query(self, candidate: int, threshold: fmpq) -> bool:
            asked.append((candidate, fmpq(threshold)))
            return False

        def first_yes(self, candidates: Sequence[int], threshold: fmpq) -> int | None:
            return next((i for i, each in enumerate(candidates) if self.query(each, threshold)), None)

    assert linear_scan(Recorder(), 2, n, 0, epsilon).index == 0
    assert len(asked) == run.queries
    with ctx.workprec(128):
        points = [Point(sums[j] - threshold) for j, threshold in asked]
        law = above_threshold_law(LaplaceNoise(fmpq(2), fmpq(4)), points, points)
        for j, found in enumerate(run.law(sums, sums)):
            expected = law[-1] if j == 0 else arb(0)
            for (candidate, _), probability in zip(asked, law, strict=False):
                if candidate == j:
                    expected += probability
            assert found.overlaps(expected)


def test_a_tree_with_few_laws_says_what_it_left_out() -> None:
    run = GeometricRun(
        spec((900, 500, 480), 1024, "geometric-binary-search", 1, 6), fmpq(2), fmpq(1, 2), default_ledger()
    )
    with ctx.workprec(128):
        whole, part = run.search.tree(), run.search.tree(max_laws=12)
        assert part.laws < whole.laws and part.pruned > whole.pruned
        for j in range(3):
            event = [lambda leaf, j=j: leaf.index == j][0]  # type: ignore[misc]
            assert part.probability(event).overlaps(whole.probability(event))
        assert part.probability(lambda leaf: True).overlaps(arb(1))


def test_widths_do_not_depend_on_the_outcomes() -> None:
    run = GeometricRun(spec((900, 400), 1024, "geometric-binary-search", 2, 5), fmpq(2), fmpq(1, 2), default_ledger())
    with ctx.workprec(64):
        widths = {leaf.high.minus(leaf.low) for leaf in run.tree().leaves}
    assert widths == {run.search.final_width}


@pytest.mark.parametrize(("sums", "rounds"), [((20, 18), 3), ((100, 30, 31), 4)])
def test_the_loss_is_enclosed(sums: tuple[int, ...], rounds: int) -> None:
    """The lower end is a real pair of neighbours, and no pair that is tried exceeds the upper end."""
    epsilon = fmpq(4)
    run = GeometricRun(spec(sums, 128, "geometric-binary-search", 1, rounds), epsilon, fmpq(1, 2), default_ledger())
    with ctx.workprec(96):
        lower, upper = loss_lower(run.search), loss_upper(run.search, epsilon)
        assert arb(0) < lower.value and not arb(lower.value) > arb(upper.value) and upper.value <= epsilon
        base = run.search.tree()
        for _, neighbour in [
            *listed_neighbours(run.scores, 128),
            ("inside", tuple(s - fmpq(2, 5) for s in run.scores)),
        ]:
            other = {(leaf.low, leaf.high, leaf.index): leaf.probability for leaf in run.search.tree(neighbour).leaves}
            for leaf in base.leaves:
                ratio = abs((leaf.probability / other[leaf.low, leaf.high, leaf.index]).log())
                assert not ratio > arb(upper.value)
