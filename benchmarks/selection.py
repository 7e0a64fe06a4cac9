"""Exact sparse-vector streams and Algorithm 9 against textbook float noise, in one interleaved run.

Figures are medians of wall seconds over interleaved rounds, and their ratios; run ``python benchmarks/selection.py``
(about a minute). The textbook streams draw their noise with numpy's `laplace`: they are not private (Mironov 2012), and
serve as the roof.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
from collections.abc import Callable
from time import perf_counter

import numpy as np
from flint import arb, fmpq

from certify.selection.accountant import Accountant
from certify.selection.bits import SystemBits
from certify.selection.noise import ThresholdNoise, exceeds
from certify.selection.sampling_filtering import sampling_filtering
from certify.selection.scores import ScoreTable
from certify.selection.svt import SvtNoise, SvtOracle, SvtStream

REPEATS = 15
STREAMS = 300
QUERIES = 3
ABOVE = 10**6
"""A threshold out of reach, so that all queries of a stream are answered."""

CANDIDATES, USERS, BETA = 10**5, 10**6, fmpq(1, 10**5)
TABLE = ScoreTable((0, 1, 2))
MANY = ScoreTable((-(10**15),) * CANDIDATES)
"""Far below every threshold and its noise, so that every round of Algorithm 9 asks all candidates."""

GENERATOR = np.random.default_rng()


def exact_stream() -> float:
    """Seconds of a stream of three queries: init with its charge, and three answers of the float screen or of Arb."""
    accountant = Accountant(STREAMS)
    start = perf_counter()
    for _ in range(STREAMS):
        stream = SvtStream(TABLE, 1, accountant)
        for candidate in range(QUERIES):
            stream.query(candidate, ABOVE)
    return (perf_counter() - start) / STREAMS


def exact_stream_without_screen() -> float:
    """The same comparisons with every one of them decided by Arb."""
    noise, bits = SvtNoise.laplace(1), SystemBits()
    accountant = Accountant(STREAMS)
    start = perf_counter()
    for _ in range(STREAMS):
        accountant.charge(1)
        gamma = ThresholdNoise(noise.threshold, bits)
        for candidate in range(QUERIES):
            exceeds(noise.query, gamma, ABOVE - TABLE.total(candidate), bits)
    return (perf_counter() - start) / STREAMS


def float_stream() -> float:
    """Three comparisons with textbook float noise."""
    start = perf_counter()
    for _ in range(STREAMS):
        gamma = GENERATOR.laplace(0.0, 2.0)
        for candidate in range(QUERIES):
            bool(candidate + GENERATOR.laplace(0.0, 4.0) > ABOVE + gamma)
    return (perf_counter() - start) / STREAMS


def one_exponential() -> float:
    """An Arb exponential at 53 bits, the unit of what a comparison costs."""
    x = arb(1) / 3
    start = perf_counter()
    for _ in range(STREAMS):
        x.exp()
    return (perf_counter() - start) / STREAMS


def exact_selection() -> float:
    """Algorithm 9 on 10^5 candidates: seconds of 6.4 million exact queries."""
    oracle = SvtOracle(MANY, Accountant(1))
    start = perf_counter()
    result = sampling_filtering(oracle, CANDIDATES, USERS, 1, BETA)
    seconds = perf_counter() - start
    assert result.usage.queries == 64 * CANDIDATES, result.usage
    return seconds


def float_selection() -> float:
    """64 rounds of 10^5 textbook float comparisons."""
    sums = np.zeros(CANDIDATES)
    start = perf_counter()
    for _ in range(64):
        gamma = GENERATOR.laplace(0.0, 2.0)
        bool(np.any(sums + GENERATOR.laplace(0.0, 4.0, CANDIDATES) > ABOVE + gamma))
    return perf_counter() - start


SMALL: dict[str, Callable[[], float]] = {
    "exact stream, 3 queries": exact_stream,
    "the same, Arb alone": exact_stream_without_screen,
    "float stream, 3 queries": float_stream,
    "one Arb exponential": one_exponential,
}
LARGE: dict[str, Callable[[], float]] = {
    "Algorithm 9, 6.4 million queries": exact_selection,
    "the same with float noise": float_selection,
}


def medians(cases: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, measure in cases.items():
            seconds[name].append(measure())
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    for cases, repeats, unit, scale in ((SMALL, REPEATS, "µs", 1e6), (LARGE, 3, "s", 1.0)):
        result = medians(cases, repeats)
        base = next(iter(result.values()))
        for name, seconds in result.items():
            print(f"{name:<34} {seconds * scale:9.3f} {unit}   ratio {base / seconds:8.2f}")


if __name__ == "__main__":
    main()
