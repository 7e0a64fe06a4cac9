"""certify.release.pmw: the shared states against the distributions of every prefix of every transcript."""

import itertools

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from reference import PRECISION, expectation, prefixes, random_tiny, state, transcripts
from small_models import domain_of, graph_of, number, walk

from certify.release.domain import Domain
from certify.release.pmw import build_state_graph, signed_answers

SEEDS = range(14)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_prefix_leads_to_the_state_of_its_distribution(seed: int) -> None:
    tiny = random_tiny(seed)
    graph = graph_of(tiny)
    answers = signed_answers(domain_of(tiny), graph, tiny.gamma)
    with ctx.workprec(PRECISION):
        fine = signed_answers(domain_of(tiny), graph, tiny.gamma)
        for prefix in prefixes(tiny):
            position, z = walk(graph, [number(tiny, s) for s in prefix])
            assert graph.state_of[position] == z
            assert z in graph.levels[len(prefix)]
            mu = state(tiny, prefix)
            assert all(a.overlaps(b) for a, b in zip(graph.distribution(z, tiny.gamma), mu, strict=True))
            for s in itertools.product(range(tiny.query_count), (1, -1)):
                truth = expectation(tiny, s, mu)
                for table in (answers, fine):
                    assert table[z, number(tiny, s)].overlaps(truth)
                assert fine[z, number(tiny, s)].rad() < arb(2) ** -150


@pytest.mark.parametrize("seed", SEEDS)
def test_levels_are_exactly_what_the_prefixes_reach(seed: int) -> None:
    tiny = random_tiny(seed)
    graph = graph_of(tiny)
    assert len(graph.levels) == tiny.rounds + 1
    for length in range(tiny.rounds + 1):
        reached = {walk(graph, list(word))[1] for word in itertools.product(range(2 * tiny.query_count), repeat=length)}
        assert set(graph.levels[length].tolist()) == reached
    selecting = set(graph.selecting_states.tolist())
    assert selecting == set().union(*(level.tolist() for level in graph.levels[:-1]))
    assert (graph.next_state[graph.selecting_states] >= 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_states_are_merged_exactly_when_their_offsets_agree(seed: int) -> None:
    """Two selection sequences share a state iff their sums differ by a constant on D."""
    tiny = random_tiny(seed)
    graph = graph_of(tiny)
    seen: dict[tuple[fmpq, ...], int] = {}
    for omega in transcripts(tiny):
        sums = [sum(sign * tiny.values[q][d] for q, sign in omega) for d in range(tiny.universe_size)]
        offset = tuple(value - sums[0] for value in sums)
        z = walk(graph, [number(tiny, s) for s in omega])[1]
        assert seen.setdefault(offset, z) == z
        assert tuple(fmpq(g, graph.denominator) for g in graph.offsets[z]) == offset
    assert len(set(seen.values())) == len(seen)


def test_the_round_limit_is_marked() -> None:
    domain = Domain(("a", "b"), ("q",), ((fmpq(1), fmpq(0)),), 1)
    graph = build_state_graph(domain, 2)
    assert graph.state_count == 5 and graph.rounds == 2
    outermost = [z for z in range(5) if abs(graph.offsets[z][1]) == 2]
    assert len(outermost) == 2 and (graph.next_state[outermost] == -1).all()


def test_equal_negated_and_constant_queries_merge_states() -> None:
    plain = ((fmpq(1), fmpq(0), fmpq(-1)),)
    for extra in (plain[0], tuple(-v for v in plain[0]), (fmpq(1, 2),) * 3):
        domain = Domain(("a", "b", "c"), ("q", "r"), (*plain, extra), 1)
        merged = build_state_graph(domain, 3)
        assert merged.state_count == build_state_graph(Domain(("a", "b", "c"), ("q",), plain, 1), 3).state_count


def test_exact_answers_stay_exact() -> None:
    domain = Domain(("a", "b", "c"), ("q", "c"), ((fmpq(1), fmpq(1, 3), fmpq(-1)), (fmpq(1, 7),) * 3), 1)
    answers = signed_answers(domain, build_state_graph(domain, 2), fmpq(1, 2))
    assert answers[0, 0].contains(fmpq(1, 9)) and answers[0, 0].rad() < arb(2) ** -53
    for z in range(len(answers)):  # a constant query, and the sign of a signed one
        assert answers[z, 1].overlaps(arb(fmpq(1, 7))) and answers[z, 3].overlaps(arb(fmpq(-1, 7)))
        assert np.all([(answers[z, q] + answers[z, q + 2]).contains(0) for q in (0, 1)])
    single = Domain(("a",), ("q",), ((fmpq(1, 2),),), 3)
    assert signed_answers(single, build_state_graph(single, 2), fmpq(1))[0, 0] == arb(fmpq(1, 2))
