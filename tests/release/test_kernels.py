"""certify.release.kernels: passes over the state graph against enumeration of all transcripts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from reference import PRECISION, Tiny, kernel, largest, prefixes, random_tiny, two_points
from reference_statements import renyi
from small_models import BALL_PRECISION, domain_of, graph_of, number, table_of, walk

from certify.arithmetic.arrays import BallArray, CertifiedArray, IntervalArray
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.positive import TABLE_PRECISION
from certify.release import kernels as kernels_module
from certify.release.kernels import Kernels
from certify.release.pmw import StateGraph, signed_answers

SEEDS = range(14)
KINDS: list[type[CertifiedArray]] = [IntervalArray, BallArray]


def kernels_of(tiny: Tiny, kind: type[CertifiedArray]) -> Kernels[Any]:
    graph = graph_of(tiny)
    with ctx.workprec(TABLE_PRECISION if kind is IntervalArray else BALL_PRECISION):
        answers = signed_answers(domain_of(tiny), graph, tiny.gamma)
        return Kernels(kind, graph, table_of(tiny, (1,)), arb(tiny.eta), answers)


def random_scores(graph: StateGraph, queries: int, rows: int, seed: int) -> np.ndarray[Any, Any]:
    """Exact scores of shape (states, 2k, rows), some of them equal."""
    rng = np.random.default_rng(seed)
    table = np.empty((graph.state_count, queries, rows), dtype=object)
    for index in np.ndindex(table.shape):
        table[index] = arb(fmpq(int(rng.integers(-6, 7)), 5))
    return table


def paths(graph: StateGraph, queries: int) -> list[list[tuple[int, int]]]:
    """Every transcript as its (state, selection) pairs."""
    found = []
    for word in itertools.product(range(queries), repeat=graph.rounds):
        place, steps = 0, []
        for s in word:
            steps.append((place, s))
            place = int(graph.next_state[place, s])
        found.append(steps)
    return found


def holds(result: CertifiedArray, index: tuple[int, ...], truth: arb, width: fmpq) -> bool:
    enclosure = result.enclosure(index)
    found = enclosure.width()
    return enclosure.overlaps(Enclosure.of(truth)) and found is not None and found <= width


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_longest_path_is_the_largest_sum_over_all_transcripts(seed: int, kind: type[CertifiedArray]) -> None:
    tiny = random_tiny(seed)
    kernels = kernels_of(tiny, kind)
    graph, queries = kernels.graph, kernels.signed_count
    scores = random_scores(graph, queries, 3, seed)
    with ctx.workprec(BALL_PRECISION):
        array = kind.from_balls(scores)
        longest = kernels.longest_path(array)
        assert longest.shape == (3,)
        for row in range(3):
            sums = [sum((scores[z, s, row] for z, s in path), arb(0)) for path in paths(graph, queries)]
            best = largest(sums)
            assert holds(longest, (row,), best, fmpq(1, 2**40))
            chosen = kernels.longest_transcript(array, row)
            place, total = 0, arb(0)
            for s in chosen:
                total, place = total + scores[place, s, row], int(graph.next_state[place, s])
            assert len(chosen) == tiny.rounds and total.overlaps(best)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_log_expectation_is_the_log_of_the_sum_over_all_transcripts(seed: int, kind: type[CertifiedArray]) -> None:
    tiny = random_tiny(seed)
    kernels = kernels_of(tiny, kind)
    graph, queries = kernels.graph, kernels.signed_count
    terms = random_scores(graph, queries, 2, seed + 100) * arb(fmpq(7, 3))
    with ctx.workprec(BALL_PRECISION):
        found = kernels.log_expectation(kind.from_balls(terms))
        for row in range(2):
            truth = sum(
                (sum((terms[z, s, row] for z, s in path), arb(0)).exp() for path in paths(graph, queries)), arb(0)
            ).log()
            assert holds(found, (row,), truth, fmpq(1, 2**40))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_kernels_are_the_softmax_of_the_definition(seed: int, kind: type[CertifiedArray]) -> None:
    tiny = random_tiny(seed)
    kernels = kernels_of(tiny, kind)
    rows = np.arange(len(kernels.targets))[:: max(1, len(kernels.targets) // 4)]
    with ctx.workprec(BALL_PRECISION):
        logs, normalisers = kernels.log_kernels(rows), kernels.log_normalisers(rows)
        discrepancies = kernels.discrepancies(rows)
    width = fmpq(1, 2**30) * (1 + tiny.eta)
    for prefix in prefixes(tiny):
        z = walk(kernels.graph, [number(tiny, s) for s in prefix])[1]
        for i, row in enumerate(rows.tolist()):
            exact = kernel(tiny, kernels.targets.answers(row), prefix)
            with ctx.workprec(PRECISION):
                for s, probability in exact.items():
                    assert holds(logs, (z, number(tiny, s), i), probability.log(), width)
                # P(s) = e^{eta D(s)} / N
                s = (0, 1)
                gap = discrepancies.enclosure((z, number(tiny, s), i))
                assert gap.lower is not None and gap.upper is not None
                normaliser = (tiny.eta * gap.ball()) - exact[s].log()
                assert holds(normalisers, (z, i), normaliser, width)
                lower = normalisers.enclosure((z, i)).lower
                assert lower is not None and lower > fmpq(69, 100)  # s and -s are in it: at least log 2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_law_has_mass_one_and_its_divergences_are_those_of_brute_force(
    seed: int, kind: type[CertifiedArray]
) -> None:
    tiny = random_tiny(seed)
    kernels = kernels_of(tiny, kind)
    rows = np.array([0, len(kernels.targets) - 1])
    a, b = (kernels.targets.answers(int(row)) for row in rows)
    with ctx.workprec(BALL_PRECISION):
        logs = kernels.log_kernels(rows)
        mass = kernels.log_expectation(logs)
        moment = kernels.log_expectation(
            kind.exact(2) * logs[:, :, np.array([0])] - kind.exact(1) * logs[:, :, np.array([1])]
        )
    width = fmpq(1, 2**28) * (1 + tiny.eta)
    assert holds(mass, (0,), arb(0), width) and holds(mass, (1,), arb(0), width)
    with ctx.workprec(PRECISION):
        assert holds(moment, (0,), renyi(tiny, a, b, fmpq(2)), width)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_kept_and_tables_computed_again_are_the_same(
    kind: type[CertifiedArray], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = random_tiny(8)
    kept = kernels_of(tiny, kind)
    rows = np.arange(len(kept.targets))[::-1]
    with ctx.workprec(BALL_PRECISION):
        first = kept.log_kernels(rows), kept.log_normalisers(rows)
        monkeypatch.setattr(kernels_module, "TABLE_ENTRIES", 0)
        again = kernels_of(tiny, kind)
        second = again.log_kernels(rows), again.log_normalisers(rows)
        for one, two in zip(first, second, strict=True):
            assert one.shape == two.shape
            assert all(one.enclosure(i) == two.enclosure(i) for i in np.ndindex(one.shape))


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_that_is_unknown_makes_the_path_unknown(kind: type[CertifiedArray]) -> None:
    """An unknown score may be the largest: no path may then be said to be short. It is not made up from midpoints."""
    kernels = kernels_of(two_points(1, 2), kind)
    scores = random_scores(kernels.graph, kernels.signed_count, 1, 3)
    scores[0, 1, 0] = arb("nan")
    array = kind.from_balls(scores)
    for result in (kernels.longest_path(array), kernels.log_expectation(array)):
        assert not result.proved_at_most(kind.constant(10**6)).any()
        assert result.enclosure((0,)).upper is None


@pytest.mark.parametrize("eta", [fmpq(10) ** 6, fmpq(1, 10**6)])
def test_extreme_rates_neither_overflow_nor_lose_the_kernel(eta: fmpq) -> None:
    tiny = two_points(2, 2, eta=eta)
    kernels = kernels_of(tiny, IntervalArray)
    rows = np.arange(len(kernels.targets))
    logs = kernels.log_kernels(rows)
    for prefix in prefixes(tiny):
        z = walk(kernels.graph, [number(tiny, s) for s in prefix])[1]
        for row in rows.tolist():
            for s, probability in kernel(tiny, kernels.targets.answers(row), prefix).items():
                with ctx.workprec(PRECISION):
                    assert holds(logs, (z, number(tiny, s), row), probability.log(), (1 + eta) * fmpq(1, 2**40))
