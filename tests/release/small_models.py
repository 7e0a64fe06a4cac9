"""The parts of the release model built straight from an instance of the brute-force reference."""

from __future__ import annotations

from collections import defaultdict

from flint import arb, ctx
from reference import SignedQuery, Tiny, Transcript, transcripts

from certify.arithmetic.positive import TABLE_PRECISION, BallArithmetic, PositiveArithmetic
from certify.release.domain import Domain
from certify.release.law import Law
from certify.release.pmw import StateGraph, build_state_graph, signed_answers
from certify.release.targets import TargetTable
from certify.release.transcripts import TranscriptSpace

BALL_PRECISION = 200


def domain_of(tiny: Tiny) -> Domain:
    """Elements d0, d1, ... and queries q0, q1, ..."""
    names = tuple(f"d{d}" for d in range(tiny.universe_size)), tuple(f"q{q}" for q in range(tiny.query_count))
    return Domain(*names, tiny.values, tiny.n)


def table_of(tiny: Tiny, lengths: tuple[int, ...] = (1, 2)) -> TargetTable:
    """Every dataset target and the code families of every centre."""
    domain = domain_of(tiny)
    centres = list(range(domain.histogram_count))
    return TargetTable(domain, centres, lengths, range(1, tiny.n + 1), with_codebooks=True)


def graph_of(tiny: Tiny) -> StateGraph:
    """The state graph of the instance."""
    return build_state_graph(domain_of(tiny), tiny.rounds)


def number(tiny: Tiny, s: SignedQuery) -> int:
    """The number of a signed query of the reference."""
    query, sign = s
    return query if sign > 0 else query + tiny.query_count


def walk(graph: StateGraph, queries: list[int]) -> tuple[int, int]:
    """The (position, state) after these selections, by the graph's edges."""
    position = place = 0
    for s in queries:
        position, place = int(graph.next_position[position, s]), int(graph.next_state[place, s])
    return position, place


def law_of(tiny: Tiny, arithmetic: PositiveArithmetic, *, lumped: bool = True, lengths: tuple[int, ...] = (1,)) -> Law:
    """The law of every target, float tables read off balls as a check does it, balls at 200 bits."""
    bits = BALL_PRECISION if isinstance(arithmetic, BallArithmetic) else TABLE_PRECISION
    graph = graph_of(tiny)
    with ctx.workprec(bits):
        return Law(
            TranscriptSpace(graph, lumped=lumped),
            table_of(tiny, lengths),
            arithmetic,
            eta=arb(tiny.eta),
            rate=arb(tiny.epsilon / 2),
            answers=signed_answers(domain_of(tiny), graph, tiny.gamma),
        )


def class_members(space: TranscriptSpace, tiny: Tiny) -> dict[tuple[int, int], list[Transcript]]:
    """The transcripts of the reference in every class pair, told by where the halves end and what states they visit."""
    graph, split = space.graph, space.split
    pairs = {}
    for block in space.blocks(100):
        for i, j in map(block.pair, range(block.size)):
            p, s = space.prefixes, space.suffixes
            first, second = tuple(p.visited[i].tolist()), tuple(s.visited[j].tolist())
            pairs[int(p.position[i]), first, int(s.position[j]), second] = i, j
    found = defaultdict(list)
    for word in transcripts(tiny):
        omega = [number(tiny, s) for s in word]
        first, place = [], 0
        for s in omega[:split]:
            first.append(place)
            place = int(graph.next_state[place, s])
        second, moved = [], 0
        for s in omega[split:]:
            second.append(place)
            moved, place = int(graph.next_position[moved, s]), int(graph.next_state[place, s])
        key = walk(graph, omega[:split])[0], tuple(sorted(first)), moved, tuple(sorted(second))
        found[pairs[key]].append(word)
    return found
