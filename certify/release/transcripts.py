"""Transcripts in two halves, lumped exactly, and the blocks in which they are swept.

``p_a(omega)`` is a product over rounds of ``exp(eta a_s) exp(-eta s(mu)) / N_mu(a)``: it depends on omega
through the last position ``g``, the multiset of visited states, and the factor ``c = exp(-eta sum_t
s_t(mu_{t-1}))``. Transcripts that agree in the first two form a class; a class has the mass ``(sum of c) *
f(class; a)``, and the loss ``L_x``, which depends on the multiset alone, is one number. The envelope and
ball maxima act on f, so a class behaves as one transcript, and its ``multiplicity`` says how many it
covers.

The product structure is kept: a prefix class of the first ``m`` rounds is combined with every suffix class
that starts in the prefix's state. So nothing of the size of ``S^J`` is ever stored; a block is an outer
product of two tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from certify.release.domain import Integers
from certify.release.pmw import StateGraph


@dataclass(frozen=True)
class Step:
    """How the classes of one level arise: representative parent and signed query, and every edge for the weights.

    ``parent[i]``, ``query[i]``: one way into class i. ``edge_parent``, ``edge_query``, ``edge_child``: all
    ways. ``state[j]`` is the state in which parent class j selects.
    """

    parent: Integers
    query: Integers
    state: Integers
    edge_parent: Integers
    edge_query: Integers
    edge_child: Integers


@dataclass(frozen=True)
class HalfTranscripts:
    """Classes of runs of ``rounds`` rounds from given seeds.

    ``seed[i]`` names the start of class i, ``position[i]`` what was added to g, ``state[i]`` the state it
    ends in, ``visited[i]`` the sorted states in which its rounds selected, ``multiplicity[i]`` the number
    of runs. Classes are sorted by (state of the end for prefixes, seed for suffixes) by the caller.
    """

    seed: Integers
    position: Integers
    state: Integers
    visited: Integers
    multiplicity: NDArray[np.object_]
    steps: tuple[Step, ...]

    def __len__(self) -> int:
        return len(self.seed)

    def example(self, index: int) -> list[int]:
        """The signed queries of one run of a class."""
        queries = []
        for step in reversed(self.steps):
            queries.append(int(step.query[index]))
            index = int(step.parent[index])
        return queries[::-1]

    def weights(self, factors: NDArray[np.object_]) -> NDArray[np.object_]:
        """``sum of c`` per class from ``factors[z, s] = exp(-eta s(mu_z))``, balls at the current precision."""
        current: NDArray[np.object_] = np.full(_class_count(self), arb(1), dtype=object)
        for step in self.steps:
            terms = current[step.edge_parent] * factors[step.state[step.edge_parent], step.edge_query]
            current = np.full(len(step.parent), arb(0), dtype=object)
            np.add.at(current, step.edge_child, terms)
        return current


def _class_count(half: HalfTranscripts) -> int:
    return len(half.steps[0].state) if half.steps else len(half)


def enumerate_half(
    graph: StateGraph, seed_states: Integers, rounds: int, *, lumped: bool = True, sort_by_state: bool
) -> HalfTranscripts:
    """All runs of ``rounds`` rounds from each seed state, lumped into classes (or left apart, one class a run)."""
    seed = np.arange(len(seed_states), dtype=np.int64)
    position = np.zeros(len(seed), dtype=np.int64)
    state = np.array(seed_states, dtype=np.int64)
    visited = np.empty((len(seed), 0), dtype=np.int64)
    multiplicity: NDArray[np.object_] = np.full(len(seed), 1, dtype=object)
    steps: list[Step] = []
    queries = graph.next_position.shape[1]
    for done in range(rounds):
        count = len(seed)
        edge_parent = np.repeat(np.arange(count, dtype=np.int64), queries)
        edge_query = np.tile(np.arange(queries, dtype=np.int64), count)
        new_position = graph.next_position[position[edge_parent], edge_query]
        new_visited = np.sort(np.concatenate([visited, state[:, None]], axis=1), axis=1)[edge_parent]
        new_state = graph.next_state[state[edge_parent], edge_query]
        order_by = new_state if sort_by_state and done == rounds - 1 else np.zeros_like(new_state)
        columns = [order_by, seed[edge_parent], new_position, *new_visited.T]
        if not lumped:
            columns.append(np.arange(len(edge_parent), dtype=np.int64))
        first, child = _group(columns)
        steps.append(Step(edge_parent[first], edge_query[first], state, edge_parent, edge_query, child))
        summed: NDArray[np.object_] = np.full(len(first), 0, dtype=object)
        np.add.at(summed, child, multiplicity[edge_parent])
        seed, position, visited = seed[edge_parent][first], new_position[first], new_visited[first]
        state, multiplicity = new_state[first], summed
    return HalfTranscripts(seed, position, state, visited, multiplicity, tuple(steps))


def _group(columns: list[Integers]) -> tuple[Integers, Integers]:
    """Groups equal rows, ordered by the columns from the first on: (first row of each group, group of each row)."""
    packed = _packed(columns)
    order = np.lexsort(packed[::-1])
    changed = np.zeros(len(order), dtype=bool)
    changed[:1] = True
    for column in packed:
        ordered = column[order]
        changed[1:] |= ordered[1:] != ordered[:-1]
    group_of_ordered = np.cumsum(changed) - 1
    child = np.empty(len(order), dtype=np.int64)
    child[order] = group_of_ordered
    return order[changed], child


def _packed(columns: list[Integers]) -> list[NDArray[np.uint64]]:
    """The columns (nonnegative integers) packed into as few 63-bit words as they need, order kept."""
    words: list[NDArray[np.uint64]] = []
    used = 64
    for column in columns:
        bits = max(1, int(column.max(initial=0)).bit_length())
        values = column.astype(np.uint64)
        if used + bits > 63:
            words.append(values)
            used = bits
        else:
            words[-1] = (words[-1] << np.uint64(bits)) | values
            used += bits
    return words


@dataclass(frozen=True)
class Segment:
    """Prefix classes ``[first, last)`` times suffix classes ``[suffix_first, suffix_last)``, laid at ``offset``."""

    first: int
    last: int
    suffix_first: int
    suffix_last: int
    offset: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.last - self.first, self.suffix_last - self.suffix_first

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]


@dataclass(frozen=True)
class Block:
    """Transcript classes swept together: segments laid end to end, ``size`` in all."""

    segments: tuple[Segment, ...]
    size: int

    def pair(self, index: int) -> tuple[int, int]:
        """(prefix class, suffix class) of one entry."""
        for segment in self.segments:
            if index < segment.offset + segment.size:
                i, j = divmod(index - segment.offset, segment.shape[1])
                return segment.first + i, segment.suffix_first + j
        raise IndexError(index)


class TranscriptSpace:
    """All of ``Omega = S^J`` as prefix classes times suffix classes."""

    def __init__(self, graph: StateGraph, *, lumped: bool = True) -> None:
        self.graph = graph
        self.split = graph.rounds // 2
        self.prefixes = enumerate_half(
            graph, np.zeros(1, dtype=np.int64), self.split, lumped=lumped, sort_by_state=True
        )
        self.middle_states = np.unique(self.prefixes.state)
        self.suffixes = enumerate_half(
            graph, self.middle_states, graph.rounds - self.split, lumped=lumped, sort_by_state=False
        )
        self._prefix_bounds = np.searchsorted(self.prefixes.state, self.middle_states, side="left")
        self._prefix_ends = np.searchsorted(self.prefixes.state, self.middle_states, side="right")
        seeds = np.arange(len(self.middle_states))
        self._suffix_bounds = np.searchsorted(self.suffixes.seed, seeds, side="left")
        self._suffix_ends = np.searchsorted(self.suffixes.seed, seeds, side="right")

    @property
    def class_count(self) -> int:
        """The number of transcript classes swept."""
        prefix = self._prefix_ends - self._prefix_bounds
        return int(prefix @ (self._suffix_ends - self._suffix_bounds))

    @property
    def transcript_count(self) -> int:
        return _power(int(self.graph.next_position.shape[1]), self.graph.rounds)

    def blocks(self, size: int) -> Iterator[Block]:
        """A partition of the classes into blocks of at most ``size``; it depends on nothing else.

        That no block is larger is what the bounds of sums over a block rest on.
        """
        segments: list[Segment] = []
        filled = 0
        for first, last, low, high in self._rectangles(size):
            width = high - low
            while first < last:
                if filled + width > size:
                    yield Block(tuple(segments), filled)
                    segments, filled = [], 0
                take = min(last - first, (size - filled) // width)
                segments.append(Segment(first, first + take, low, high, filled))
                filled += take * width
                first += take
        if segments:
            yield Block(tuple(segments), filled)

    def _rectangles(self, size: int) -> Iterator[tuple[int, int, int, int]]:
        """Prefix classes ``[first, last)`` and at most ``size`` of the suffix classes that go on from their state."""
        for group in range(len(self.middle_states)):
            first, last = int(self._prefix_bounds[group]), int(self._prefix_ends[group])
            bound, end = int(self._suffix_bounds[group]), int(self._suffix_ends[group])
            for low in range(bound, end, size):
                yield first, last, low, min(low + size, end)

    def transcript(self, prefix: int, suffix: int) -> list[int]:
        """One transcript of a class pair, as signed query numbers."""
        return [*self.prefixes.example(prefix), *self.suffixes.example(suffix)]

    def multiplicity(self, prefix: int, suffix: int) -> int:
        return int(self.prefixes.multiplicity[prefix] * self.suffixes.multiplicity[suffix])


def _power(base: int, exponent: int) -> int:
    """An integer power for a nonnegative exponent."""
    result: int = base**exponent
    return result


class AnswerGroups:
    """Classes grouped by the multiset of states they visit: equal multisets decode to equal answers."""

    def __init__(self, space: TranscriptSpace, block_size: int) -> None:
        visited = []
        self._starts = [0]
        for block in space.blocks(block_size):
            for segment in block.segments:
                left = space.prefixes.visited[segment.first : segment.last]
                right = space.suffixes.visited[segment.suffix_first : segment.suffix_last]
                rows, columns = segment.shape
                visited.append(np.concatenate([np.repeat(left, columns, axis=0), np.tile(right, (rows, 1))], axis=1))
            self._starts.append(self._starts[-1] + block.size)
        table = np.sort(np.concatenate(visited, axis=0), axis=1)
        first, self._group = _group(list(table.T))
        self.count = len(first)

    def of_block(self, number: int) -> Integers:
        """The group of every class of one block."""
        return self._group[self._starts[number] : self._starts[number + 1]]
