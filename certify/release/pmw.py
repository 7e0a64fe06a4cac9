"""Private multiplicative weights (§3): the synthetic distributions that transcripts can reach, shared.

``mu_t`` depends on a transcript only through the exact vector ``g = sum_{i<=t} s_i`` on D, up to an added
constant. So there are two graphs, both exact integers: *positions* g, reached in levels t = 0..J, and
*states*, the positions modulo constants, which carry the kernels. Equal or affinely dependent queries merge
by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from certify.release.domain import Domain, Integers

Vector = tuple[int, ...]


@dataclass(frozen=True)
class StateGraph:
    """Positions and states reachable in J rounds.

    ``next_position[p, s]`` and ``next_state[z, s]`` are the successors after the signed query s, -1 where
    the round limit is passed. ``state_of[p]`` is the state of a position. ``levels[t]`` lists the states of
    level t = 0..J (a state may be on several levels); position 0 and state 0 are the start (``mu_0``
    uniform). ``offsets[z]`` is the integer vector ``denominator * (g - g(d_0))`` of state z.
    """

    rounds: int
    next_position: Integers
    next_state: Integers
    state_of: Integers
    levels: tuple[Integers, ...]
    offsets: tuple[Vector, ...]
    denominator: int

    @property
    def state_count(self) -> int:
        return len(self.offsets)

    @property
    def selecting_states(self) -> Integers:
        """The states in which some round selects: those of levels 0..J-1."""
        return np.unique(np.concatenate(self.levels[:-1]))

    def distribution(self, state: int, gamma: fmpq | arb) -> list[arb]:
        """``mu`` of a state: ``mu(d)`` proportional to ``exp(gamma g(d))``, as balls at the current precision."""
        weights = [(arb(gamma) * fmpq(g, self.denominator)).exp() for g in self.offsets[state]]
        total = sum(weights, arb(0))
        return [weight / total for weight in weights]


def signed_answers(domain: Domain, graph: StateGraph, gamma: fmpq | arb) -> NDArray[np.object_]:
    """``s(mu_z)`` for every state z and signed query s, balls at the current precision, shape (states, 2k).

    A constant query has its exact value; in state 0 (uniform) and at T = 1 every answer is the exact mean.
    """
    k = domain.query_count
    answers = np.empty((graph.state_count, domain.signed_count), dtype=object)
    for z in range(graph.state_count):
        uniform = not any(graph.offsets[z])
        mu = [] if uniform else graph.distribution(z, gamma)
        for q, values in enumerate(domain.query_values):
            if uniform or domain.is_constant_query(q):
                answer = arb(sum(values, fmpq(0)) / domain.universe_size)
            else:
                answer = sum((m * v for m, v in zip(mu, values, strict=True)), arb(0))
            answers[z, q] = answer
            answers[z, q + k] = -answer
    return answers


def build_state_graph(domain: Domain, rounds: int) -> StateGraph:
    """Breadth-first over J levels; a position's successors are computed once, on the first level that reaches it."""
    signed = domain.scaled_signed_queries
    start = (0,) * domain.universe_size
    positions: dict[Vector, int] = {start: 0}
    states: dict[Vector, int] = {start: 0}
    state_of: list[int] = [0]
    next_position: list[list[int]] = []
    level = [0]
    levels = [[0]]
    unexplored = -1
    for _ in range(rounds):
        following: dict[int, None] = {}
        vectors = list(positions)
        for p in level:
            while len(next_position) <= p:
                next_position.append([unexplored] * len(signed))
            if next_position[p][0] == unexplored:
                for s, step in enumerate(signed):
                    g = tuple(a + b for a, b in zip(vectors[p], step, strict=True))
                    if g not in positions:
                        positions[g] = len(positions)
                        reduced = tuple(value - g[0] for value in g)
                        state_of.append(states.setdefault(reduced, len(states)))
                    next_position[p][s] = positions[g]
            following.update(dict.fromkeys(next_position[p]))
        level = list(following)
        levels.append(level)
    next_position.extend([unexplored] * len(signed) for _ in range(len(positions) - len(next_position)))
    transitions = np.array(next_position, dtype=np.int64)
    membership = np.array(state_of, dtype=np.int64)
    next_state = np.full((len(states), len(signed)), unexplored, dtype=np.int64)
    explored = np.flatnonzero(transitions[:, 0] >= 0)
    next_state[membership[explored]] = membership[transitions[explored]]
    return StateGraph(
        rounds=rounds,
        next_position=transitions,
        next_state=next_state,
        state_of=membership,
        levels=tuple(np.unique(membership[np.array(nodes, dtype=np.int64)]) for nodes in levels),
        offsets=tuple(states),
        denominator=domain.denominator,
    )
