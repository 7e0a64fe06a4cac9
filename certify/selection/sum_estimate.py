"""Corollary 6.8: an interval for one sum, by Algorithm 8 on a single candidate."""

from certify.selection.geometric_search import (
    ALPHA_FACTOR,
    GeometricResult,
    default_rounds,
    geometric_search,
)
from certify.selection.oracle import ThresholdOracle
from certify.selection.parameters import Exact


def sum_estimate(
    oracle: ThresholdOracle,
    candidate: int,
    n: int,
    epsilon: Exact,
    beta: Exact,
    alpha_factor: Exact = ALPHA_FACTOR,
) -> GeometricResult:
    """An interval [lower, upper] that contains the candidate's sum, which lies in [0, n], except with probability β.

    T = max{1, ⌈log2 n⌉} queries; the length is at most 1 + (384/ε) log(2T/β) with the paper's factor 32. ε-DP
    over ε-DP streams. Raises ValueError or TypeError for parameters out of range.
    """
    rounds = default_rounds(n)
    return geometric_search(oracle, (candidate,), (0, n), candidate, rounds, epsilon, beta, alpha_factor)
