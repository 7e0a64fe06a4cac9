"""Brute-force reference: the lemmas of the smaller constant (BC-2 to BC-5) on a tiny instance, as they are stated.

Nothing is taken from §§5-6 but the law: the two-sided code is formed from its 2m draws, its surrogates from their
lists, sums run over S^J. Gaps are logarithms of left over right without the constant that is claimed.
"""

from __future__ import annotations

import itertools

from flint import arb, fmpq
from reference import (
    Database,
    Target,
    Tiny,
    Transcript,
    at_reference_precision,
    ball,
    ball_maximum,
    dataset_target,
    hamming,
    kernel,
    largest,
    losses,
    mass,
    masses,
    nonnegative_power,
    total,
    transcripts,
)
from reference_statements import softmax_gaps

# BC-2


def difference_target(tiny: Tiny, x: Database, radius: int, new: tuple[int, ...], old: tuple[int, ...]) -> Target:
    """a(x) + (R/(mn)) sum_{i<=m} (s(d_i) - s(d'_i)) on the positive copies, for the draws d and d'."""
    centre, scale = dataset_target(tiny, x), fmpq(radius, len(new) * tiny.n)
    return tuple(
        centre[query] + scale * (sum((row[d] for d in new), fmpq(0)) - sum((row[d] for d in old), fmpq(0)))
        for query, row in enumerate(tiny.values)
    )


def two_sided_code(tiny: Tiny, x: Database, radius: int, length: int) -> list[Target]:
    """V' with multiplicity: one target for each of the T^{2m} labels."""
    words = list(itertools.product(range(tiny.universe_size), repeat=length))
    return [difference_target(tiny, x, radius, new, old) for new in words for old in words]


def two_sided_lists(x: Database, y: Database, radius: int, spare: int = 0) -> tuple[list[int], list[int]]:
    """U and U': the rows of y, and of x, where the two differ, and R - h copies of one element each."""
    differ = [i for i in range(len(x)) if x[i] != y[i]]
    if len(differ) > radius:
        raise ValueError(f"the databases differ in {len(differ)} rows, more than the radius {radius}")
    copies = [spare] * (radius - len(differ))
    return [y[i] for i in differ] + copies, [x[i] for i in differ] + copies


def two_sided_surrogates(
    tiny: Tiny, x: Database, y: Database, radius: int, length: int, spare: int = 0
) -> list[Target]:
    """The R^{2m} equally likely values of V, all 2m draws independent."""
    new, old = two_sided_lists(x, y, radius, spare)
    return [
        difference_target(tiny, x, radius, first, second)
        for first in itertools.product(new, repeat=length)
        for second in itertools.product(old, repeat=length)
    ]


@at_reference_precision
def two_sided_jensen_gap(tiny: Tiny, x: Database, y: Database, omega: Transcript, radius: int, length: int) -> arb:
    """log p_y(omega) - E log p_V(omega), to be at most A_R/(2m).

    x and y are first put in the order in which they differ least, as the sum depends on their histograms alone.
    """
    values = two_sided_surrogates(tiny, *nearest_orders(x, y), radius, length)
    logs = {v: mass(tiny, v, omega).log() for v in set(values)}
    return mass(tiny, dataset_target(tiny, y), omega).log() - total(logs[v] for v in values) / len(values)


def nearest_orders(x: Database, y: Database) -> tuple[Database, Database]:
    """x, and an order of the rows of y with the fewest differences."""
    return x, min(set(itertools.permutations(y)), key=lambda rows: (hamming(x, rows), rows))


@at_reference_precision
def two_sided_maurey_gap(tiny: Tiny, x: Database, y: Database, omega: Transcript, radius: int, length: int) -> arb:
    """log p_y(omega) - max_{v in V'} log p_v(omega), to be at most A_R/(2m)."""
    best = largest(mass(tiny, v, omega) for v in set(two_sided_code(tiny, x, radius, length)))
    return (mass(tiny, dataset_target(tiny, y), omega) / best).log()


@at_reference_precision
def worst_two_sided_maurey_gap(tiny: Tiny, x: Database, radius: int, length: int) -> arb:
    """The largest gap over omega and y in the ball."""
    laws = [masses(tiny, v) for v in set(two_sided_code(tiny, x, radius, length))]
    rivals = [masses(tiny, dataset_target(tiny, y)) for y in ball(tiny, x, radius)]
    return largest(
        (rival[omega] / largest(law[omega] for law in laws)).log() for omega in transcripts(tiny) for rival in rivals
    )


# BC-3


@at_reference_precision
def real_log_moment(tiny: Tiny, x: Database, v: Target, order: fmpq) -> arb:
    """log sum_omega p_x (p_v/p_x)^r, real r >= 1, to be at most A_R r(r-1)."""
    own, other = masses(tiny, dataset_target(tiny, x)), masses(tiny, v)
    return total(own[omega] * (other[omega] / own[omega]) ** arb(order) for omega in own).log()


# BC-4


@at_reference_precision
def threshold(tiny: Tiny) -> arb:
    """t = log T/(gamma J) + gamma/2 + log(2k)/eta: Hedge's regret and the gap."""
    regret = arb(tiny.universe_size).log() / (tiny.gamma * tiny.rounds) + tiny.gamma / 2
    return regret + arb(2 * tiny.query_count).log() / tiny.eta


@at_reference_precision
def loss_beyond(tiny: Tiny, x: Database, omega: Transcript, *, above: bool) -> arb:
    """(L_x - t)_+, or L_x itself."""
    value = losses(tiny, x)[omega]
    return (value - threshold(tiny)).max(arb(0)) if above else value


@at_reference_precision
def ball_loss(tiny: Tiny, x: Database, radius: int, *, above: bool) -> arb:
    """sum_omega H_R phi."""
    maxima = ball_maximum(tiny, x, radius)
    return total(value * loss_beyond(tiny, x, omega, above=above) for omega, value in maxima.items())


@at_reference_precision
def own_norm(tiny: Tiny, x: Database, *, above: bool) -> arb:
    """||phi||_{L2(P_x)}."""
    squares = []
    for omega, value in masses(tiny, dataset_target(tiny, x)).items():
        phi = loss_beyond(tiny, x, omega, above=above)
        squares.append(value * phi * phi)
    return nonnegative_power(total(squares), fmpq(1, 2))


# BC-5


@at_reference_precision
def gap_mean(tiny: Tiny, a: Target, prefix: Transcript) -> arb:
    """E eta G of one selection, to be at most log K."""
    gaps, law = softmax_gaps(tiny, a, prefix), kernel(tiny, a, prefix)
    return tiny.eta * total(law[s] * gap for s, gap in gaps.items())


@at_reference_precision
def gap_exponential(tiny: Tiny, a: Target, prefix: Transcript) -> arb:
    """E e^{eta G/2} of one selection, to be at most (1 + sqrt K)/2."""
    gaps, law = softmax_gaps(tiny, a, prefix), kernel(tiny, a, prefix)
    return total(law[s] * (tiny.eta * gap / 2).exp() for s, gap in gaps.items())


@at_reference_precision
def path_gap(tiny: Tiny, a: Target, omega: Transcript) -> arb:
    """sum_t G_t."""
    return total(softmax_gaps(tiny, a, omega[:t])[s] for t, s in enumerate(omega))


@at_reference_precision
def path_exponential(tiny: Tiny, a: Target) -> arb:
    """E_{P_a} e^{(eta/2) sum G}, to be at most ((1 + sqrt K)/2)^J."""
    return total(value * (tiny.eta * path_gap(tiny, a, omega) / 2).exp() for omega, value in masses(tiny, a).items())


@at_reference_precision
def gap_beyond(tiny: Tiny, a: Target, power: int) -> arb:
    """E_{P_a} (eta (Gbar - log K/eta)_+)^power for power 1 and 2."""
    terms = []
    for omega, value in masses(tiny, a).items():
        beyond = tiny.eta * path_gap(tiny, a, omega) / tiny.rounds - arb(2 * tiny.query_count).log()
        excess = beyond.max(arb(0))
        terms.append(value * (excess if power == 1 else excess * excess))
    return total(terms)
