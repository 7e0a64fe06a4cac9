"""Algorithm 6: private binary search for the candidate with the greatest score."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from certify.selection.oracle import Meter, ThresholdOracle, Usage
from certify.selection.parameters import Exact, count, log2_ceiling, log_upper, positive, probability

STREAMS_PER_ROUND = 2
ACCURACY_FACTOR = 8
"""A stream of budget ε answers K queries within (8/ε) log(2K/β), except with probability β (Theorem 5.2)."""
STOP_FACTOR = 3


@dataclass(frozen=True, slots=True)
class BinarySearchParameters:
    """What Algorithm 6 fixes in advance: R, each stream's budget ε/(2R), and α."""

    rounds: int
    stream_epsilon: fmpq
    alpha: fmpq


@dataclass(frozen=True, slots=True)
class BinarySearchRound:
    """One round: the interval it began with, its threshold, and the one or two candidates returned."""

    lower: fmpq
    upper: fmpq
    threshold: fmpq
    returned: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BinarySearchResult:
    """The chosen candidate; except with probability β its score is within 3 alpha of the greatest."""

    index: int
    rounds: tuple[BinarySearchRound, ...]
    parameters: BinarySearchParameters
    usage: Usage


def parameters(d: int, n: int, epsilon: Exact, beta: Exact) -> BinarySearchParameters:
    """R = ⌈log2(2n)⌉ + 1 rounds of two streams with ε/(2R) each, α = max(1, (16R/ε) log(4dR/β)).

    The logarithm is rounded up to a rational. α >= 1 is the algorithm's own requirement: with it R rounds
    always suffice, since the interval is then at most n/2^(R-1) + 2α <= 3α long.
    """
    d, n = count(d, "d"), count(n, "n")
    epsilon, beta = positive(epsilon, "epsilon"), probability(beta, "beta")
    rounds = log2_ceiling(fmpq(2 * n)) + 1
    stream_epsilon = epsilon / (STREAMS_PER_ROUND * rounds)
    log = log_upper(lambda: fmpq(2 * d * STREAMS_PER_ROUND * rounds) / beta)
    return BinarySearchParameters(rounds, stream_epsilon, max(fmpq(1), ACCURACY_FACTOR * log / stream_epsilon))


def binary_search(oracle: ThresholdOracle, d: int, n: int, epsilon: Exact, beta: Exact) -> BinarySearchResult:
    """Algorithm 6 on candidates 0, ..., d-1 with scores in [0, n]: ε-DP over an ε-DP stream primitive.

    At most R rounds, 2R streams and dR queries. An arbitrary candidate is candidate 0. Raises ValueError or
    TypeError for parameters out of range.
    """
    fixed = parameters(d, n, epsilon, beta)
    alpha = fixed.alpha
    meter = Meter(oracle)
    lower, upper = fmpq(0), fmpq(n)
    last, rounds = 0, []
    while True:
        middle = (lower + upper) / 2
        returned = _round(meter, d, middle, fixed.stream_epsilon)
        rounds.append(BinarySearchRound(lower, upper, middle, returned))
        if returned:
            last = returned[-1]
        if len(returned) == 1:
            break
        if returned:
            lower = middle - alpha
        else:
            upper = middle + alpha
        if not upper - lower > STOP_FACTOR * alpha:
            break
    return BinarySearchResult(last, tuple(rounds), fixed, meter.usage)


def _round(meter: Meter, d: int, threshold: fmpq, epsilon: fmpq) -> tuple[int, ...]:
    """The candidates returned by up to two scans."""
    first = meter.open_stream(epsilon).first_yes(range(d), threshold)
    if first is None:
        return ()
    if first == d - 1:
        return (first,)
    second = meter.open_stream(epsilon).first_yes(range(first + 1, d), threshold)
    return (first,) if second is None else (first, first + 1 + second)
