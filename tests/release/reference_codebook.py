"""Brute-force reference: sections 5 and 6 of the release paper, the codebook V_{x,R,m} and the random V.

Gaps are logarithms of left over right without the printed constant: the claim is "at most" that constant.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from flint import arb, fmpq
from reference import (
    Database,
    Target,
    Tiny,
    Transcript,
    at_reference_precision,
    ball,
    dataset_target,
    largest,
    mass,
    masses,
    total,
    transcripts,
)

Move = tuple[int, int] | None
Plan = Callable[[Tiny, Database, Database], list[tuple[int, int]]]


# Section 5


def moves(tiny: Tiny) -> list[Move]:
    """{0} disjoint union D x D: the T^2 + 1 labels of one code letter, None for the zero move (section 5)."""
    elements = range(tiny.universe_size)
    return [None, *((old, new) for old in elements for new in elements)]


def move_vector(tiny: Tiny, move: Move) -> Target:
    """delta_{(d,d')}(h) = h(d') - h(d), and delta_0 = 0, on the positive copies (section 5)."""
    if move is None:
        return (fmpq(0),) * tiny.query_count
    old, new = move
    return tuple(row[new] - row[old] for row in tiny.values)


def shifted_target(tiny: Tiny, x: Database, radius: int, letters: Sequence[Move]) -> Target:
    """a(x) + (R/(mn)) sum_{i<=m} delta_{c_i} for one code word of m letters (section 5)."""
    centre = dataset_target(tiny, x)
    vectors = [move_vector(tiny, letter) for letter in letters]
    scale = fmpq(radius, len(letters) * tiny.n)
    return tuple(
        centre[query] + scale * sum((vector[query] for vector in vectors), fmpq(0)) for query in range(tiny.query_count)
    )


def codebook(tiny: Tiny, x: Database, radius: int, length: int) -> list[Target]:
    """V_{x,R,m} with multiplicity: one target per label, (T^2+1)^m in label order (section 5)."""
    return [shifted_target(tiny, x, radius, word) for word in itertools.product(moves(tiny), repeat=length)]


def distinct_codebook(tiny: Tiny, x: Database, radius: int, length: int) -> set[Target]:
    """V_{x,R,m} as a set of targets (section 5)."""
    return set(codebook(tiny, x, radius, length))


def universe_order_plan(tiny: Tiny, x: Database, y: Database) -> list[tuple[int, int]]:
    """A minimum-distance plan that depends on the histograms alone (Lemma 5.1, the catalogue's V).

    List every surplus row of x over y by element, in universe order with multiplicity, and every deficit row
    likewise; the i-th surplus element moves to the i-th deficit element. Its length is half the L1 distance.
    """
    surplus, deficit = [], []
    for d in range(tiny.universe_size):
        excess = x.count(d) - y.count(d)
        surplus += [d] * excess
        deficit += [d] * -excess
    return list(zip(surplus, deficit, strict=True))


def row_plan(tiny: Tiny, x: Database, y: Database) -> list[tuple[int, int]]:
    """The plan printed in the proof of Lemma 5.1: the move (x_i, y_i) for every row with x_i != y_i."""
    return [(old, new) for old, new in zip(x, y, strict=True) if old != new]


def surrogates(
    tiny: Tiny, x: Database, y: Database, radius: int, length: int, plan: Plan = universe_order_plan
) -> list[Target]:
    """The R^m equally likely values of V in the proof of Lemma 5.1, for the given plan of row moves."""
    rows: list[Move] = [*plan(tiny, x, y)]
    if len(rows) > radius:
        raise ValueError(f"the plan has {len(rows)} moves, more than the radius {radius}")
    rows += [None] * (radius - len(rows))
    return [shifted_target(tiny, x, radius, word) for word in itertools.product(rows, repeat=length)]


def surrogate_mean(
    tiny: Tiny, x: Database, y: Database, radius: int, length: int, plan: Plan = universe_order_plan
) -> Target:
    """E V, exact, to equal a(y) (lemma-5.1.mean)."""
    values = surrogates(tiny, x, y, radius, length, plan)
    return tuple(sum((v[query] for v in values), fmpq(0)) / len(values) for query in range(tiny.query_count))


@at_reference_precision
def jensen_gap(
    tiny: Tiny,
    x: Database,
    y: Database,
    omega: Transcript,
    radius: int,
    length: int,
    plan: Plan = universe_order_plan,
) -> arb:
    """log p_y(omega) - E log p_V(omega), to be at most rho R^2/(4m) (lemma-5.1.jensen)."""
    values = surrogates(tiny, x, y, radius, length, plan)
    mean = total(mass(tiny, v, omega).log() for v in values) / len(values)
    return mass(tiny, dataset_target(tiny, y), omega).log() - mean


@at_reference_precision
def worst_jensen_gap(tiny: Tiny, x: Database, radius: int, length: int, plan: Plan = universe_order_plan) -> arb:
    """max over omega and y in the ball of the gap of lemma-5.1.jensen."""
    return largest(
        jensen_gap(tiny, x, y, omega, radius, length, plan)
        for y in ball(tiny, x, radius)
        for omega in transcripts(tiny)
    )


@at_reference_precision
def maurey_gap(tiny: Tiny, x: Database, y: Database, omega: Transcript, radius: int, length: int) -> arb:
    """log p_y(omega) - max_{v in V_{x,R,m}} log p_v(omega), to be at most rho R^2/(4m) (Lemma 5.1)."""
    best = largest(mass(tiny, v, omega) for v in distinct_codebook(tiny, x, radius, length))
    return (mass(tiny, dataset_target(tiny, y), omega) / best).log()


@at_reference_precision
def worst_maurey_gap(tiny: Tiny, x: Database, radius: int, length: int) -> arb:
    """max over omega and y in the ball of the gap of Lemma 5.1."""
    laws = [masses(tiny, v) for v in distinct_codebook(tiny, x, radius, length)]
    rivals = [masses(tiny, dataset_target(tiny, y)) for y in ball(tiny, x, radius)]
    return largest(
        (rival[omega] / largest(law[omega] for law in laws)).log() for omega in transcripts(tiny) for rival in rivals
    )


# Section 6


@at_reference_precision
def log_moment(tiny: Tiny, x: Database, v: Target, order: int) -> arb:
    """log sum_omega p_x (p_v/p_x)^r, to be at most A_R r^2 for integer r >= 1 (Lemma 6.1)."""
    own, other = masses(tiny, dataset_target(tiny, x)), masses(tiny, v)
    moment = total(own[omega] * (other[omega] / own[omega]) ** arb(order) for omega in transcripts(tiny))
    return moment.log()


@at_reference_precision
def codebook_log_moment(tiny: Tiny, x: Database, radius: int, order: int) -> arb:
    """log sum over distinct v in V_{x,R,1} of E_{P_x} Lambda_v^r, to be at most L + A_R r^2 (section 6.1)."""
    return total(log_moment(tiny, x, v, order).exp() for v in distinct_codebook(tiny, x, radius, 1)).log()
