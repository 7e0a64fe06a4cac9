"""Algorithm 7: private linear scan down from the greatest possible score, with a single stream."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from certify.selection.oracle import Meter, ThresholdOracle, Usage
from certify.selection.parameters import Exact, count, log_upper, positive, probability

ACCURACY_FACTOR = 8


@dataclass(frozen=True, slots=True)
class LinearScanResult:
    """The chosen candidate, and the threshold at which it was returned (None: no answer was yes)."""

    index: int
    threshold: int | None
    usage: Usage


def accuracy(d: int, n: int, epsilon: Exact, beta: Exact) -> fmpq:
    """α = (8/ε) log(2d(n+1)/β), the logarithm rounded up: the error is at most 2α + 1, except with probability β."""
    d, n = count(d, "d"), count(n, "n")
    epsilon, beta = positive(epsilon, "epsilon"), probability(beta, "beta")
    return ACCURACY_FACTOR * log_upper(lambda: fmpq(2 * d * (n + 1)) / beta) / epsilon


def linear_scan(oracle: ThresholdOracle, d: int, upper: int, lower: int, epsilon: Exact) -> LinearScanResult:
    """Algorithm 7 on candidates 0, ..., d-1: thresholds upper, upper - 1, ..., lower, all on one stream of budget ε.

    At most d (upper - lower + 1) queries. An arbitrary candidate is candidate 0. Raises ValueError or TypeError
    for parameters out of range.
    """
    d, epsilon = count(d, "d"), positive(epsilon, "epsilon")
    lower = count(lower, "the lower limit", least=0)
    upper = count(upper, "the upper limit", least=lower)
    meter = Meter(oracle)
    stream = meter.open_stream(epsilon)
    candidates = range(d)
    for threshold in range(upper, lower - 1, -1):
        index = stream.first_yes(candidates, fmpq(threshold))
        if index is not None:
            return LinearScanResult(index, threshold, meter.usage)
    return LinearScanResult(0, None, meter.usage)
