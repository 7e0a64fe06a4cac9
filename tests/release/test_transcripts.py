"""certify.release.transcripts: classes cover every transcript once, and blocks cover every class once."""

import itertools
from collections import Counter

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from reference import random_tiny, transcripts
from small_models import graph_of, number, walk

from certify.release.domain import Domain
from certify.release.pmw import StateGraph, build_state_graph
from certify.release.transcripts import AnswerGroups, TranscriptSpace

SEEDS = range(14)
ClassKey = tuple[int, int, tuple[int, ...], tuple[int, ...]]


def symmetric(rounds: int) -> StateGraph:
    """Two elements, two queries of which the second merges with the first: many transcripts a class."""
    domain = Domain(("a", "b"), ("q", "r"), ((fmpq(1), fmpq(0)), (fmpq(1), fmpq(0))), 1)
    return build_state_graph(domain, rounds)


def visits(graph: StateGraph, omega: list[int]) -> tuple[tuple[int, ...], int]:
    """(the states in which the rounds select, sorted; the last position)."""
    seen, position, place = [], 0, 0
    for s in omega:
        seen.append(place)
        position, place = int(graph.next_position[position, s]), int(graph.next_state[place, s])
    return tuple(sorted(seen)), position


def class_pairs(space: TranscriptSpace, size: int) -> list[tuple[int, int]]:
    return [block.pair(index) for block in space.blocks(size) for index in range(block.size)]


def key_of(space: TranscriptSpace, omega: list[int]) -> ClassKey:
    """What a transcript's class pair is told by: where its halves end and which states each visits."""
    graph, split = space.graph, space.split
    first, position = visits(graph, omega[:split])
    middle = walk(graph, omega[:split])[1]
    place, moved, second = middle, 0, []
    for s in omega[split:]:
        second.append(place)
        moved, place = int(graph.next_position[moved, s]), int(graph.next_state[place, s])
    return position, moved, first, tuple(sorted(second))


def key_of_pair(space: TranscriptSpace, prefix: int, suffix: int) -> ClassKey:
    p, s = space.prefixes, space.suffixes
    return (
        int(p.position[prefix]),
        int(s.position[suffix]),
        tuple(p.visited[prefix].tolist()),
        tuple(s.visited[suffix].tolist()),
    )


GRAPHS = [*(graph_of(random_tiny(seed)) for seed in SEEDS), symmetric(1), symmetric(2), symmetric(4)]


@pytest.mark.parametrize("graph", GRAPHS)
def test_multiplicities_add_up_to_all_transcripts_and_count_them_exactly(graph: StateGraph) -> None:
    queries = graph.next_position.shape[1]
    space = TranscriptSpace(graph)
    everything = [list(w) for w in itertools.product(range(queries), repeat=graph.rounds)]
    members = Counter(key_of(space, omega) for omega in everything)
    pairs = class_pairs(space, 1000)
    found = {key_of_pair(space, *pair): space.multiplicity(*pair) for pair in pairs}
    assert len(found) == len(pairs) == space.class_count  # no class twice
    assert found == members
    assert sum(found.values()) == space.transcript_count == queries**graph.rounds


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_example_of_a_class_is_in_it(graph: StateGraph) -> None:
    space = TranscriptSpace(graph)
    for pair in class_pairs(space, 100):
        omega = space.transcript(*pair)
        assert len(omega) == graph.rounds and key_of(space, omega) == key_of_pair(space, *pair)
        assert space.suffixes.seed[pair[1]] == np.searchsorted(space.middle_states, space.prefixes.state[pair[0]])


@pytest.mark.parametrize("graph", GRAPHS)
def test_without_lumping_every_transcript_is_its_own_class(graph: StateGraph) -> None:
    space = TranscriptSpace(graph, lumped=False)
    found = [tuple(space.transcript(*pair)) for pair in class_pairs(space, 64)]
    queries = graph.next_position.shape[1]
    assert sorted(found) == sorted(itertools.product(range(queries), repeat=graph.rounds))
    assert all(space.multiplicity(*pair) == 1 for pair in class_pairs(space, 64))
    assert TranscriptSpace(graph).class_count <= space.class_count == space.transcript_count


def test_lumping_lumps() -> None:
    space = TranscriptSpace(symmetric(6))
    assert space.transcript_count == 4**6 and space.class_count < 200


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_of_a_class_are_the_sum_over_its_runs(seed: int) -> None:
    """``sum of c`` over the runs of each half, with random factors, by an independent loop."""
    tiny = random_tiny(seed)
    graph = graph_of(tiny)
    space = TranscriptSpace(graph)
    rng = np.random.default_rng(seed)
    shape = (graph.state_count, 2 * tiny.query_count)
    factors = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        factors[index] = arb(fmpq(int(rng.integers(1, 1000)), 997))
    with ctx.workprec(128):
        prefix, suffix = space.prefixes.weights(factors), space.suffixes.weights(factors)
        expected: dict[ClassKey, arb] = {}
        for word in transcripts(tiny):
            omega = [number(tiny, s) for s in word]
            product, place = arb(1), 0
            for s in omega:
                product *= factors[place, s]
                place = int(graph.next_state[place, s])
            key = key_of(space, omega)
            expected[key] = expected.get(key, arb(0)) + product
        for pair in class_pairs(space, 512):
            assert (prefix[pair[0]] * suffix[pair[1]]).overlaps(expected[key_of_pair(space, *pair)])


@pytest.mark.parametrize("graph", [GRAPHS[3], GRAPHS[7], symmetric(4), symmetric(5)])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 16, 100, 10**6])
def test_blocks_are_a_partition_and_none_is_larger_than_asked(graph: StateGraph, size: int) -> None:
    """The bounds of sums over a block count its size, so that not even a wide group of suffixes may pass it."""
    for space in (TranscriptSpace(graph), TranscriptSpace(graph, lumped=False)):
        blocks = list(space.blocks(size))
        assert all(1 <= block.size <= size for block in blocks)
        assert sum(block.size for block in blocks) == space.class_count
        for block in blocks:
            assert block.size == sum(segment.size for segment in block.segments)
            offsets = [segment.offset for segment in block.segments]
            assert offsets == [0, *np.cumsum([segment.size for segment in block.segments])[:-1].tolist()]
        pairs = class_pairs(space, size)
        assert len(set(pairs)) == len(pairs)
        assert [b.size for b in space.blocks(size)] == [b.size for b in blocks]


def test_a_place_outside_a_block_is_an_error() -> None:
    block = next(iter(TranscriptSpace(symmetric(3)).blocks(4)))
    with pytest.raises(IndexError):
        block.pair(block.size)


@pytest.mark.parametrize("graph", [*GRAPHS[:6], symmetric(4)])
@pytest.mark.parametrize("size", [3, 1000])
def test_answer_groups_collect_equal_multisets_of_states(graph: StateGraph, size: int) -> None:
    space = TranscriptSpace(graph)
    groups = AnswerGroups(space, size)
    multisets: dict[int, tuple[int, ...]] = {}
    for number_of_block, block in enumerate(space.blocks(size)):
        found = groups.of_block(number_of_block)
        assert len(found) == block.size
        for index, group in enumerate(found.tolist()):
            i, j = block.pair(index)
            states = tuple(sorted([*space.prefixes.visited[i].tolist(), *space.suffixes.visited[j].tolist()]))
            assert multisets.setdefault(group, states) == states
    assert len(set(multisets.values())) == len(multisets) == groups.count
