"""Brute-force reference: recompute the value at a witness of the report from names, counts and rationals.

Nothing here enumerates more than the statement at that one witness needs; only the envelope ranges over D^n.
Every function raises ValueError when the witness is not what the statement ranges over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import arb, fmpq
from reference import (
    Database,
    Target,
    Tiny,
    Transcript,
    at_reference_precision,
    dataset_target,
    envelope_mass,
    mass,
    normaliser,
)
from reference_codebook import distinct_codebook, jensen_gap, maurey_gap
from reference_statements import block_bound_sides


def transcript_from_names(names: Sequence[str], queries: Sequence[str]) -> Transcript:
    """Translate ["+name", "-name", ...] into pairs (query index, sign) (section 3)."""
    signs = {"+": 1, "-": -1}
    for name in names:
        if name[:1] not in signs or name[1:] not in queries:
            raise ValueError(f"{name!r} is not a signed query of {list(queries)}")
    return tuple((list(queries).index(name[1:]), signs[name[0]]) for name in names)


def database_from_counts(counts: Mapping[str, int], universe: Sequence[str]) -> Database:
    """Rows with the given histogram, in universe order; absent elements count zero (section 1)."""
    if not set(counts) <= set(universe) or any(count < 0 for count in counts.values()):
        raise ValueError(f"{dict(counts)} is not a histogram over {list(universe)}")
    return tuple(index for index, name in enumerate(universe) for _ in range(counts.get(name, 0)))


def target_from_texts(texts: Mapping[str, str], queries: Sequence[str]) -> Target:
    """Translate {"query": "rational text"} into the target's values on the positive copies (section 3)."""
    if set(texts) != set(queries):
        raise ValueError(f"a target names every query of {list(queries)} once, not {sorted(texts)}")
    return tuple(fmpq(*Fraction(texts[query]).as_integer_ratio()) for query in queries)


def histogram_distance(x: Database, y: Database) -> int:
    """min d_H over the orderings of the rows: n - sum_d min(h_d, h'_d) (catalogue, fact 1)."""
    if len(x) != len(y):
        raise ValueError(f"databases of {len(x)} and {len(y)} rows are not comparable")
    return len(x) - sum(min(x.count(d), y.count(d)) for d in set(x))


def maurey_witness(tiny: Tiny, x: Database, rival: Database, omega: Transcript, radius: int, length: int) -> arb:
    """log p_y(omega) - max_v log p_v(omega) at the witness, to be at most rho R^2/(4m) (Lemma 5.1)."""
    require_in_ball(tiny, x, rival, radius)
    return maurey_gap(tiny, x, rival, omega, radius, length)


def jensen_witness(tiny: Tiny, x: Database, rival: Database, omega: Transcript, radius: int, length: int) -> arb:
    """log p_y(omega) - E log p_V(omega) at the witness, to be at most rho R^2/(4m) (lemma-5.1.jensen)."""
    require_in_ball(tiny, x, rival, radius)
    return jensen_gap(tiny, x, rival, omega, radius, length)


@at_reference_precision
def target_log_ratio(tiny: Tiny, a: Target, b: Target, omega: Transcript) -> arb:
    """log p_a(omega) - log p_b(omega) at the witness, for any two admissible targets (Proposition 3.1)."""
    return (mass(tiny, a, omega) / mass(tiny, b, omega)).log()


@at_reference_precision
def best_code_targets(tiny: Tiny, x: Database, omega: Transcript, radius: int, length: int) -> list[Target]:
    """Every v in V_{x,R,m} whose p_v(omega) is not provably below another's: the maximisers of Lemma 5.1."""
    values = {v: mass(tiny, v, omega) for v in distinct_codebook(tiny, x, radius, length)}
    return [v for v, value in values.items() if not any(value < other for other in values.values())]


@at_reference_precision
def privacy_witness(tiny: Tiny, x: Database, neighbour: Database, omega: Transcript) -> tuple[arb, arb, arb]:
    """log of p~_x/p~_x' and p^_x/p^_x' at omega with log Z_x/Z_x' between them (Proposition 4.1).

    In order: envelope and normaliser, each to lie within epsilon/2, and released law, to lie within epsilon.
    """
    require_rows(tiny, x, neighbour)
    if histogram_distance(x, neighbour) != 1:
        raise ValueError("the two databases of the witness are not neighbours")
    envelopes = (envelope_mass(tiny, x, omega) / envelope_mass(tiny, neighbour, omega)).log()
    normalisers = (normaliser(tiny, x) / normaliser(tiny, neighbour)).log()
    return envelopes, normalisers, envelopes - normalisers


@at_reference_precision
def envelope_excess_witness(tiny: Tiny, x: Database, omega: Transcript) -> arb:
    """p~_x(omega) - p_x(omega) >= 0 at the witness (eq-4.normaliser)."""
    require_rows(tiny, x)
    return envelope_mass(tiny, x, omega) - mass(tiny, dataset_target(tiny, x), omega)


@at_reference_precision
def block_witness(tiny: Tiny, x: Database, omega: Transcript) -> arb:
    """log of left over right of the block bound at the witness, to be at most 0 (eq-7.block)."""
    require_rows(tiny, x)
    left, right = block_bound_sides(tiny, x)[omega]
    return (left / right).log()


def require_rows(tiny: Tiny, *witnesses: Database) -> None:
    """Refuse a database that has not n rows of the universe (section 1)."""
    for rows in witnesses:
        if len(rows) != tiny.n or any(not 0 <= d < tiny.universe_size for d in rows):
            raise ValueError(f"{rows} is not a database of {tiny.n} rows over {tiny.universe_size} elements")


def require_in_ball(tiny: Tiny, x: Database, rival: Database, radius: int) -> None:
    """Refuse a rival outside the ball of radius R around x (section 5)."""
    require_rows(tiny, x, rival)
    if histogram_distance(x, rival) > radius:
        raise ValueError(f"the rival is {histogram_distance(x, rival)} rows away, more than R = {radius}")
