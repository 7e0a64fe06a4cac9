"""Brute-force reference for sections 2-4 of the release paper: the PMW law, its envelope and its error.

Every sum and maximum runs over rows in D^n and transcripts in S^J exactly as printed: no histograms, no
merging of states, no shortcuts. Rationals stay exact; everything else is a python-flint ball at 200 bits, and
a maximum of balls encloses the maximum. Slow by design: meant for T, k <= 3, n <= 4, J <= 4.

A database is a tuple of n universe indices, a transcript a tuple of J pairs (query index, sign), a target the
tuple of its k values on the positive copies (antisymmetry gives the rest).
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from flint import arb, ctx, fmpq

PRECISION = 200
ONE = fmpq(1)

Database = tuple[int, ...]
SignedQuery = tuple[int, int]
Transcript = tuple[SignedQuery, ...]
Target = tuple[fmpq, ...]
State = tuple[arb, ...]

P = ParamSpec("P")
R = TypeVar("R")


def at_reference_precision(function: Callable[P, R]) -> Callable[P, R]:
    """Run the function at 200 bits whatever the caller's precision."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with ctx.workprec(PRECISION):
            return function(*args, **kwargs)

    return run


@dataclass(frozen=True)
class Tiny:
    """A release instance small enough for brute force (section 3); `values[query][element]` is in [-1, 1]."""

    values: tuple[tuple[fmpq, ...], ...]
    n: int
    epsilon: fmpq
    rounds: int
    eta: fmpq
    gamma: fmpq

    def __post_init__(self) -> None:
        """Refuse what section 3 refuses: T, k, n, J >= 1, |q| <= 1, epsilon, eta > 0, 0 < gamma <= 1."""
        widths = {len(row) for row in self.values}
        if len(widths) != 1 or 0 in widths or self.n < 1 or self.rounds < 1:
            raise ValueError("an instance needs T, k, n, J >= 1 and one value per query and element")
        if any(abs(value) > 1 for row in self.values for value in row):
            raise ValueError("query values must lie in [-1, 1]")
        if self.epsilon <= 0 or self.eta <= 0 or not 0 < self.gamma <= 1:
            raise ValueError("epsilon and eta must be positive and gamma must lie in (0, 1]")

    def __hash__(self) -> int:
        """Hash once: every cache is keyed by the instance, and hashing rationals is slow."""
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.values, self.n, self.epsilon, self.rounds, self.eta, self.gamma))

    @property
    def universe_size(self) -> int:
        """T = |D|."""
        return len(self.values[0])

    @property
    def query_count(self) -> int:
        """k = |Q|."""
        return len(self.values)


def two_points(n: int, rounds: int, epsilon: fmpq = ONE, eta: fmpq = ONE) -> Tiny:
    """D = {0, 1} with the single query q = (1, -1) and gamma = 1/2: small enough for hand calculation."""
    return Tiny(((fmpq(1), fmpq(-1)),), n, epsilon, rounds, eta, fmpq(1, 2))


def random_tiny(seed: int) -> Tiny:
    """A varied instance with T <= 3, k <= 2, n <= 3, J <= 3, hence |D^n x S^J| <= 27 * 64 = 1728.

    Queries are sometimes constant, duplicated or negated; at least about one instance in four meets the
    growth condition of section 7.
    """
    rng = random.Random(seed)
    size, queries, n, rounds = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 3)

    def some_query() -> tuple[fmpq, ...]:
        if rng.random() < 0.15:
            return (fmpq(rng.randint(-4, 4), 4),) * size
        denominator = rng.choice([1, 2, 3, 7])
        return tuple(fmpq(rng.randint(-denominator, denominator), denominator) for _ in range(size))

    values = [some_query()]
    while len(values) < queries:
        draw = rng.random()
        if draw < 0.15:
            values.append(values[0])
        elif draw < 0.3:
            values.append(tuple(-value for value in values[0]))
        else:
            values.append(some_query())
    epsilon = rng.choice([fmpq(1, 10), fmpq(1, 2), fmpq(1), fmpq(4, 3), fmpq(3), fmpq(7), fmpq(20)])
    eta = rng.choice([fmpq(1, 64), fmpq(1, 5), fmpq(1, 2), fmpq(1), fmpq(5, 2), fmpq(9), fmpq(40)])
    if rng.random() < 0.25:
        # kappa L = 2J (eta/n)^2 L <= 6 log(10) 2^-24 epsilon^2 < 2^-20 epsilon^2
        eta = epsilon * n / 4096
    gamma = rng.choice([fmpq(1, 16), fmpq(1, 4), fmpq(2, 3), fmpq(1)])
    return Tiny(tuple(values), n, epsilon, rounds, eta, gamma)


@at_reference_precision
def largest(values: Iterable[arb]) -> arb:
    """An enclosure of the maximum of a nonempty family of reals (Python's max is wrong on balls)."""
    return functools.reduce(lambda left, right: left.max(right), values)


@at_reference_precision
def total(values: Iterable[arb]) -> arb:
    """An enclosure of the sum of a family of reals."""
    return sum(values, arb(0))


@at_reference_precision
def nonnegative_power(base: arb, exponent: fmpq) -> arb:
    """base^exponent for a base known to be nonnegative although its ball may straddle zero; exponent > 0."""
    if base > 0:
        return base ** arb(exponent)
    top = base.upper()
    return arb(0).union(top ** arb(exponent)) if top > 0 else arb(0)


@at_reference_precision
def same(value: arb, expected: arb | fmpq | int) -> bool:
    """Whether two narrow enclosures (radius below 2^-150) of what should be one real number meet."""
    other = arb(expected)
    narrow = value.rad() < arb(2) ** -150 and other.rad() < arb(2) ** -150
    return bool(narrow and value.overlaps(other))


def databases(tiny: Tiny) -> list[Database]:
    """All of D^n (section 1)."""
    return list(itertools.product(range(tiny.universe_size), repeat=tiny.n))


def hamming(x: Database, y: Database) -> int:
    """d_H(x, y), the number of rows that differ (section 2)."""
    return sum(left != right for left, right in zip(x, y, strict=True))


def ball(tiny: Tiny, x: Database, radius: int) -> list[Database]:
    """All y with d_H(x, y) <= R (sections 5 and 6)."""
    return [y for y in databases(tiny) if hamming(x, y) <= radius]


def neighbours(tiny: Tiny) -> list[tuple[Database, Database]]:
    """All ordered pairs of adjacent databases (section 1.1); empty when T = 1."""
    return [(x, y) for x in databases(tiny) for y in databases(tiny) if hamming(x, y) == 1]


def signed_queries(tiny: Tiny) -> list[SignedQuery]:
    """S = Q x {+1, -1} (section 3)."""
    return [(query, sign) for query in range(tiny.query_count) for sign in (1, -1)]


def transcripts(tiny: Tiny) -> list[Transcript]:
    """Omega = S^J (section 3)."""
    return list(itertools.product(signed_queries(tiny), repeat=tiny.rounds))


def prefixes(tiny: Tiny) -> list[Transcript]:
    """All s_<t for t = 1..J: what fixes mu_{t-1} when a selection is made (section 3)."""
    return [
        prefix for length in range(tiny.rounds) for prefix in itertools.product(signed_queries(tiny), repeat=length)
    ]


def signed_value(tiny: Tiny, s: SignedQuery, element: int) -> fmpq:
    """s(d) = sigma q(d) (section 3)."""
    query, sign = s
    return sign * tiny.values[query][element]


def signed_answer(a: Target, s: SignedQuery) -> fmpq:
    """a_s, by antisymmetry a_{-s} = -a_s (section 3)."""
    query, sign = s
    return sign * a[query]


def dataset_target(tiny: Tiny, x: Database) -> Target:
    """a(x)_s = (1/n) sum_i s(x_i), on the positive copies; equal to F(x) (section 3)."""
    return tuple(sum((row[element] for element in x), fmpq(0)) / tiny.n for row in tiny.values)


def target_difference(a: Target, b: Target) -> fmpq:
    """Delta = max_s |a_s - b_s| (proof of Proposition 3.1)."""
    return max(abs(left - right) for left, right in zip(a, b, strict=True))


def target_distance(tiny: Tiny, a: Target, b: Target) -> fmpq:
    """d_*(a, b) = (n/2) max_s |a_s - b_s| (section 3)."""
    return fmpq(tiny.n, 2) * target_difference(a, b)


@functools.lru_cache(maxsize=20_000)
@at_reference_precision
def state(tiny: Tiny, prefix: Transcript) -> State:
    """mu_t after the selections of the prefix, from uniform mu_0 (section 3, the Hedge update)."""
    if not prefix:
        return (arb(1) / tiny.universe_size,) * tiny.universe_size
    before = state(tiny, prefix[:-1])
    weights = [
        mass_before * (arb(tiny.gamma) * signed_value(tiny, prefix[-1], element)).exp()
        for element, mass_before in enumerate(before)
    ]
    normaliser = total(weights)
    return tuple(weight / normaliser for weight in weights)


@at_reference_precision
def expectation(tiny: Tiny, s: SignedQuery, mu: State) -> arb:
    """s(mu) = sum_d mu(d) s(d) (section 2)."""
    return total(weight * signed_value(tiny, s, element) for element, weight in enumerate(mu))


@functools.lru_cache(maxsize=50_000)
@at_reference_precision
def discrepancy(tiny: Tiny, a: Target, s: SignedQuery, prefix: Transcript) -> arb:
    """D_t(s) = a_s - s(mu_{t-1}) (section 3.2)."""
    return signed_answer(a, s) - expectation(tiny, s, state(tiny, prefix))


@functools.lru_cache(maxsize=20_000)
@at_reference_precision
def kernel(tiny: Tiny, a: Target, prefix: Transcript) -> dict[SignedQuery, arb]:
    """P_a(s_t = s | s_<t), the softmax of eta D_t(s) (section 3); do not change the cached dictionary."""
    weights = {s: (tiny.eta * discrepancy(tiny, a, s, prefix)).exp() for s in signed_queries(tiny)}
    normaliser = total(weights.values())
    return {s: weight / normaliser for s, weight in weights.items()}


@at_reference_precision
def mass(tiny: Tiny, a: Target, omega: Transcript) -> arb:
    """p_a(omega), the product of the kernels along the transcript (section 3)."""
    product = arb(1)
    for t, s in enumerate(omega):
        product *= kernel(tiny, a, omega[:t])[s]
    return product


@functools.lru_cache(maxsize=2_000)
def masses(tiny: Tiny, a: Target) -> dict[Transcript, arb]:
    """The law P_a as transcript -> p_a(omega) (section 3); do not change the cached dictionary."""
    return {omega: mass(tiny, a, omega) for omega in transcripts(tiny)}


@at_reference_precision
def log_masses(tiny: Tiny, a: Target) -> dict[Transcript, arb]:
    """log p_a(omega) for every transcript (section 5, -g_omega(a))."""
    return {omega: value.log() for omega, value in masses(tiny, a).items()}


@at_reference_precision
def average_state(tiny: Tiny, omega: Transcript) -> State:
    """mu-bar(omega) = (1/J) sum_{t<J} mu_t, the average before updates (section 3)."""
    visited = [state(tiny, omega[:t]) for t in range(len(omega))]
    return tuple(total(mu[element] for mu in visited) / len(omega) for element in range(tiny.universe_size))


@at_reference_precision
def decode(tiny: Tiny, omega: Transcript) -> tuple[arb, ...]:
    """Ans(omega) = (q(mu-bar))_q (section 3)."""
    mu = average_state(tiny, omega)
    return tuple(expectation(tiny, (query, 1), mu) for query in range(tiny.query_count))


@at_reference_precision
def loss(tiny: Tiny, x: Database, omega: Transcript) -> arb:
    """L_x(omega) = ||Ans(omega) - F(x)||_inf (Proposition 3.2)."""
    exact = dataset_target(tiny, x)
    return largest(abs(answer - truth) for answer, truth in zip(decode(tiny, omega), exact, strict=True))


@functools.lru_cache(maxsize=2_000)
def losses(tiny: Tiny, x: Database) -> dict[Transcript, arb]:
    """L_x for every transcript (Proposition 3.2); do not change the cached dictionary."""
    return {omega: loss(tiny, x, omega) for omega in transcripts(tiny)}


@at_reference_precision
def envelope_mass(tiny: Tiny, x: Database, omega: Transcript) -> arb:
    """p~_x(omega) = max_{y in D^n} e^{-(epsilon/2) d_H(x,y)} p_y(omega) (section 4)."""
    return largest(
        (arb(-tiny.epsilon / 2) * hamming(x, y)).exp() * mass(tiny, dataset_target(tiny, y), omega)
        for y in databases(tiny)
    )


@functools.lru_cache(maxsize=2_000)
@at_reference_precision
def envelope(tiny: Tiny, x: Database) -> dict[Transcript, arb]:
    """p~_x for every transcript (section 4); do not change the cached dictionary."""
    laws = [
        ((arb(-tiny.epsilon / 2) * hamming(x, y)).exp(), masses(tiny, dataset_target(tiny, y))) for y in databases(tiny)
    ]
    return {omega: largest(penalty * law[omega] for penalty, law in laws) for omega in transcripts(tiny)}


@at_reference_precision
def normaliser(tiny: Tiny, x: Database) -> arb:
    """Z_x = sum_omega p~_x(omega) (section 4)."""
    return total(envelope(tiny, x).values())


@at_reference_precision
def normaliser_excess(tiny: Tiny, x: Database) -> arb:
    """Z_x - 1 = sum_omega max_{y != x} (e^{-(epsilon/2) d_H} p_y - p_x)^+ (eq-4.normaliser)."""
    own = masses(tiny, dataset_target(tiny, x))
    rivals = [
        ((arb(-tiny.epsilon / 2) * hamming(x, y)).exp(), masses(tiny, dataset_target(tiny, y)))
        for y in databases(tiny)
        if y != x
    ]
    return total(
        largest([arb(0), *(penalty * law[omega] - own[omega] for penalty, law in rivals)])
        for omega in transcripts(tiny)
    )


@at_reference_precision
def released_law(tiny: Tiny, x: Database) -> dict[Transcript, arb]:
    """p^_x = p~_x / Z_x for every transcript (section 4)."""
    normalising = normaliser(tiny, x)
    return {omega: weight / normalising for omega, weight in envelope(tiny, x).items()}


@at_reference_precision
def envelope_error(tiny: Tiny, x: Database) -> arb:
    """sum_omega p~_x L_x, the left side of eq-7.error (section 7)."""
    error = losses(tiny, x)
    return total(weight * error[omega] for omega, weight in envelope(tiny, x).items())


@at_reference_precision
def expected_error(tiny: Tiny, x: Database) -> arb:
    """E ||M(x) - F(x)||_inf = (1/Z_x) sum_omega p~_x L_x (sections 1.2 and 7)."""
    return envelope_error(tiny, x) / normaliser(tiny, x)


@at_reference_precision
def worst_expected_error(tiny: Tiny) -> arb:
    """sup_x E ||M(x) - F(x)||_inf of the envelope mechanism (Theorem 1.1)."""
    return largest(expected_error(tiny, x) for x in databases(tiny))


@at_reference_precision
def error_tail(tiny: Tiny, x: Database, threshold: fmpq) -> arb:
    """P(||M(x) - F(x)||_inf > t) (section 9); a loss whose ball meets t widens the answer by its mass."""
    law = released_law(tiny, x)
    tail = arb(0)
    for omega, value in losses(tiny, x).items():
        if value > threshold:
            tail += law[omega]
        elif not value <= threshold:
            tail += arb(0).union(law[omega])
    return tail


@at_reference_precision
def ball_maximum(tiny: Tiny, x: Database, radius: int) -> dict[Transcript, arb]:
    """H_R(omega) = max_{d_H(x,y) <= R} p_y(omega) for every transcript (section 6)."""
    laws = [masses(tiny, dataset_target(tiny, y)) for y in ball(tiny, x, radius)]
    return {omega: largest(law[omega] for law in laws) for omega in transcripts(tiny)}


@at_reference_precision
def ball_sums(tiny: Tiny, x: Database, radius: int) -> tuple[arb, arb]:
    """(sum_omega H_R, sum_omega H_R L_x), the left sides of eq-6.2."""
    error = losses(tiny, x)
    maxima = ball_maximum(tiny, x, radius)
    return total(maxima.values()), total(value * error[omega] for omega, value in maxima.items())
