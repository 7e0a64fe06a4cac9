"""Algorithm 8: binary search whose privacy budget grows geometrically over the rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from certify.selection.oracle import Meter, ThresholdOracle, Usage
from certify.selection.parameters import Exact, count, log2_ceiling, log_upper, positive, probability, rational, shown

GAMMA = fmpq(3, 4)
ALPHA_FACTOR = 32
"""The paper's constant in α_t. By Theorem 5.2 a round is accurate from 8 on; privacy does not depend on it."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a round fixes in advance: its budget ε_t and its accuracy α_t."""

    epsilon: fmpq
    alpha: fmpq


@dataclass(frozen=True, slots=True)
class State:
    """The witness j* and the interval [ℓ, u] at the beginning of a round."""

    index: int
    lower: fmpq
    upper: fmpq

    @property
    def threshold(self) -> fmpq:
        """m = (ℓ + u)/2."""
        return (self.lower + self.upper) / 2


@dataclass(frozen=True, slots=True)
class Step:
    """One round as it went: how it began, its parameters, and the candidate returned (None: no yes)."""

    state: State
    round: Round
    returned: int | None


@dataclass(frozen=True, slots=True)
class GeometricResult:
    """The output (index, [lower, upper]), the rounds, and what was used."""

    index: int
    lower: fmpq
    upper: fmpq
    steps: tuple[Step, ...]
    usage: Usage


def default_rounds(n: int) -> int:
    """T = max{1, ⌈log2 n⌉}, for the interval [0, n]."""
    return max(1, log2_ceiling(fmpq(count(n, "n"))))


def schedule(
    size: int, rounds: int, epsilon: Exact, beta: Exact, alpha_factor: Exact = ALPHA_FACTOR
) -> tuple[Round, ...]:
    """ε_t = (ε/Z) γ^(T-t) and α_t = (factor/ε_t) log(2|P|T/β) for t = 1, ..., T; the ε_t sum to ε exactly.

    The logarithm is rounded up by at most 2^-(T+63), so every α_t is rational and at least the paper's. The bound of
    Theorem 6.6 holds as printed all the same: Z Σ (2γ)^-k = 12 (1 - γ^T)(1 - (2γ)^-T) is smaller than 12 by more
    than the rounding adds, as γ^T > 2^-T.
    """
    size, rounds = count(size, "the number of candidates"), count(rounds, "the number of rounds")
    epsilon, beta = positive(epsilon, "epsilon"), probability(beta, "beta")
    factor = positive(alpha_factor, "alpha_factor")
    last = epsilon * (1 - GAMMA) / (1 - GAMMA**rounds)
    log = log_upper(lambda: fmpq(2 * size * rounds) / beta, bits=rounds + 64)
    budgets = [last * GAMMA ** (rounds - t) for t in range(1, rounds + 1)]
    return tuple(Round(each, factor * log / each) for each in budgets)


def advance(state: State, round_: Round, returned: int | None) -> State:
    """The state after a round that returned this candidate, or none."""
    middle = state.threshold
    if returned is None:
        return State(state.index, state.lower, min(state.upper, middle + round_.alpha))
    if middle - round_.alpha > state.lower:
        return State(returned, middle - round_.alpha, state.upper)
    return state


def geometric_search(
    oracle: ThresholdOracle,
    candidates: Sequence[int],
    interval: tuple[Exact, Exact],
    witness: int,
    rounds: int,
    epsilon: Exact,
    beta: Exact,
    alpha_factor: Exact = ALPHA_FACTOR,
) -> GeometricResult:
    """Algorithm 8 on the set P of `candidates`: T streams and at most |P| T queries, ε-DP over ε-DP streams.

    `interval` = (ℓ, u) with max_P s <= u and s(witness) >= ℓ. Except with probability β the same holds of what
    is returned, and u' - ℓ' <= (u - ℓ)/2^T + (12 factor/ε) log(2|P|T/β). Raises ValueError or TypeError for
    parameters out of range, u < ℓ included.
    """
    lower, upper = rational(interval[0], "the lower end"), rational(interval[1], "the upper end")
    if upper < lower:
        raise ValueError(f"the interval [{shown(lower)}, {shown(upper)}] is empty")
    meter = Meter(oracle)
    state, steps = State(count(witness, "the witness", least=0), lower, upper), []
    for each in schedule(len(candidates), rounds, epsilon, beta, alpha_factor):
        position = meter.open_stream(each.epsilon).first_yes(candidates, state.threshold)
        returned = None if position is None else candidates[position]
        steps.append(Step(state, each, returned))
        state = advance(state, each, returned)
    return GeometricResult(state.index, state.lower, state.upper, tuple(steps), meter.usage)


def select(
    oracle: ThresholdOracle,
    d: int,
    n: int,
    epsilon: Exact,
    beta: Exact,
    alpha_factor: Exact = ALPHA_FACTOR,
) -> GeometricResult:
    """Algorithm 8 on all candidates 0, ..., d-1 with scores in [0, n], from [0, n] in `default_rounds(n)` rounds."""
    candidates = range(count(d, "d"))
    return geometric_search(oracle, candidates, (0, n), 0, default_rounds(n), epsilon, beta, alpha_factor)
