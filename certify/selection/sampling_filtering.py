"""Algorithm 9: private selection by sampling and filtering, in O(d log* n + log³ n) queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from flint import fmpq

from certify.arithmetic.scalar import Scalar, ball, logarithm
from certify.arithmetic.scalar import power as power_of
from certify.selection.bits import BitSource, SystemBits
from certify.selection.geometric_search import GeometricResult, geometric_search
from certify.selection.oracle import Meter, ThresholdOracle, Usage
from certify.selection.parameters import (
    Exact,
    count,
    log2_ceiling,
    log2_of_power,
    log_upper,
    positive,
    probability,
    rounded_up,
    shown,
)

COUNT_FACTOR = 3
ACCURACY_FACTOR, LOG_CONSTANT = 8, 384
PHASE_LIMIT = 2**64
THRESHOLD_SLACK = 50
LENGTH_FACTOR = 64
FINAL_ROUNDS = 64
FINAL_SHARE = 2

Form = Literal["corrected", "printed"]


@dataclass(frozen=True, slots=True)
class Variant:
    """Which form of the three places of Algorithm 9 that are wrong or loose as printed.

    `count`: N = 3 log2²(2n), printed 3 log2(2n), which is too few as soon as a phase runs. `stop`: the filtering
    pass stops at |Y| = t², printed |Y| = t, with which the bound on the queries fails. `logarithm`: of the log³(2n)
    in α, binary as in Theorem 6.12, or natural as the bare "log" reads. The budget holds for each of them.
    """

    count: Form = "corrected"
    stop: Form = "corrected"
    logarithm: Literal["binary", "natural"] = "binary"


@dataclass(frozen=True, slots=True)
class PhaseParameters:
    """What a phase fixes in advance: x, t = ⌈log2 x⌉, ε' = ε/t³, a = t³ α, and the |Y| at which filtering stops."""

    x: fmpq
    t: int
    epsilon: fmpq
    a: fmpq
    stop: int

    @property
    def budget(self) -> fmpq:
        """The most that the phase can charge: `stop` streams of the filtering pass and two runs of Algorithm 8."""
        return (self.stop + 2) * self.epsilon


@dataclass(frozen=True, slots=True)
class Schedule:
    """What Algorithm 9 fixes in advance; it depends on n, d, ε, β alone.

    `runs` is N rounded up to an integer, `run_beta` = β/N. `final_x` is x after the last phase, below 2^64.
    """

    runs: int
    run_beta: fmpq
    alpha: fmpq
    phases: tuple[PhaseParameters, ...]
    final_x: fmpq
    final_epsilon: fmpq

    @property
    def budget(self) -> fmpq:
        """The most that all streams together can charge."""
        return sum((each.budget for each in self.phases), start=self.final_epsilon)


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase as it went.

    It began with `witness` and [lower, upper]; `sample` is P, `sampled` the run of Algorithm 8 on it; `yes` is Y;
    `stopped` whether the filtering pass stopped early; `candidates` is C and `searched` the run on it; it ended
    with `searched.index` and [searched.lower, new_upper].
    """

    parameters: PhaseParameters
    witness: int
    lower: fmpq
    upper: fmpq
    sample: tuple[int, ...]
    sampled: GeometricResult
    threshold: fmpq
    yes: tuple[int, ...]
    stopped: bool
    candidates: Sequence[int]
    searched: GeometricResult
    new_upper: fmpq


@dataclass(frozen=True, slots=True)
class SamplingFilteringResult:
    """The chosen candidate, the phases, the final run of Algorithm 8, and what was used in all."""

    index: int
    schedule: Schedule
    phases: tuple[Phase, ...]
    final: GeometricResult
    usage: Usage


Sampler = Callable[[int, int], Sequence[int]]
"""(d, t) -> the sampled candidates, each of 0, ..., d-1 independently with probability 1/t."""


def bernoulli_sampler(bits: BitSource | None = None) -> Sampler:
    """The sampler that decides every candidate by an exact uniform integer below t."""
    source = bits or SystemBits()
    return lambda d, t: [j for j in range(d) if source.below(t) == 0]


def schedule(d: int, n: int, epsilon: Exact, beta: Exact, variant: Variant | None = None) -> Schedule:
    """N, β' = β/N, α = (8/ε) log(384 d log2³(2n)/β) and the phases, for n >= 2, 0 < ε <= 1 and 0 < β < 1.

    N is rounded up to an integer and the logarithm in α to a rational, so that all is exact; both only make the
    union bound and the accuracy safer: the proofs need N <= 3 log2³(2n), which 3 log2²(2n) + 2 satisfies for n >= 2.
    """
    d, n = count(d, "d"), count(n, "n", least=2)
    epsilon, beta = positive(epsilon, "epsilon"), probability(beta, "beta")
    if epsilon > 1:
        raise ValueError(f"epsilon is {shown(epsilon)}: Algorithm 9 needs at most 1")
    form = variant or Variant()
    runs = _runs(n, 1 if form.count == "printed" else 2)
    cube = _log2_doubled if form.logarithm == "binary" else _log_doubled
    alpha = ACCURACY_FACTOR * log_upper(lambda: _scaled_cube(cube(n), fmpq(LOG_CONSTANT * d) / beta)) / epsilon
    x, phases = n / alpha, []
    while x >= PHASE_LIMIT:
        t = log2_ceiling(x)
        stop = t if form.stop == "printed" else t**2
        phases.append(PhaseParameters(x, t, epsilon / t**3, t**3 * alpha, stop))
        x = fmpq(LENGTH_FACTOR * t**3)
    return Schedule(runs, beta / runs, alpha, tuple(phases), x, epsilon / FINAL_SHARE)


def sampling_filtering(
    oracle: ThresholdOracle,
    d: int,
    n: int,
    epsilon: Exact,
    beta: Exact,
    sampler: Sampler | None = None,
    variant: Variant | None = None,
) -> SamplingFilteringResult:
    """Algorithm 9 on candidates 0, ..., d-1 with scores in [0, n]: ε-DP over ε-DP streams (Lemma 6.9).

    Except with probability β the chosen score is within 97 α <= (776/ε) log(384 d log2³(2n)/β) of the greatest
    (Theorem 6.12). For n/α < 2^64 no phase runs, and this is Algorithm 8 with 64 rounds and budget ε/2. The stream
    that line 11 would open behind the last candidate is not opened. Raises ValueError or TypeError for
    parameters out of range.
    """
    fixed = schedule(d, n, epsilon, beta, variant)
    draw = sampler or bernoulli_sampler()
    meter = Meter(oracle)
    witness, lower, upper, phases = 0, fmpq(0), fmpq(n), []
    for parameters in fixed.phases:
        phase = _phase(meter, d, parameters, fixed.run_beta, witness, lower, upper, draw)
        phases.append(phase)
        witness, lower, upper = phase.searched.index, phase.searched.lower, phase.new_upper
    final = geometric_search(
        meter, range(d), (lower, upper), witness, FINAL_ROUNDS, fixed.final_epsilon, fixed.run_beta
    )
    return SamplingFilteringResult(final.index, fixed, tuple(phases), final, meter.usage)


def _phase(
    meter: Meter,
    d: int,
    fixed: PhaseParameters,
    beta: fmpq,
    witness: int,
    lower: fmpq,
    upper: fmpq,
    draw: Sampler,
) -> Phase:
    """Lines 4-14."""
    sample = tuple(sorted({witness, *draw(d, fixed.t)}))
    sampled = geometric_search(meter, sample, (lower, upper), witness, fixed.t, fixed.epsilon, beta)
    threshold = sampled.lower + THRESHOLD_SLACK * fixed.a
    yes = _filter(meter, d, threshold, fixed)
    stopped = len(yes) == fixed.stop
    candidates = range(d) if stopped else tuple(sorted({sampled.index, *yes}))
    searched = geometric_search(meter, candidates, (sampled.lower, upper), sampled.index, fixed.t, fixed.epsilon, beta)
    new_upper = min(upper, max(searched.upper, threshold + fixed.a))
    return Phase(
        fixed, witness, lower, upper, sample, sampled, threshold, yes, stopped, candidates, searched, new_upper
    )


def _filter(meter: Meter, d: int, threshold: fmpq, fixed: PhaseParameters) -> tuple[int, ...]:
    """Lines 7-11: the candidates that answer yes, at most `stop` of them; every yes costs a stream."""
    yes: list[int] = []
    start = 0
    while start < d and len(yes) < fixed.stop:
        position = meter.open_stream(fixed.epsilon).first_yes(range(start, d), threshold)
        if position is None:
            break
        yes.append(start + position)
        start += position + 1
    return tuple(yes)


def _runs(n: int, power: int) -> int:
    """3 log2(2n)^power, rounded up to an integer."""
    return int(rounded_up(lambda: COUNT_FACTOR * power_of(_log2_doubled(n), fmpq(power)), bits=0).p)


def _log2_doubled(n: int) -> Scalar:
    """log2(2n)."""
    exact = log2_of_power(2 * n)
    return ball(logarithm(fmpq(2 * n))) / ball(logarithm(fmpq(2))) if exact is None else fmpq(exact)


def _log_doubled(n: int) -> Scalar:
    """log(2n)."""
    return logarithm(fmpq(2 * n))


def _scaled_cube(x: Scalar, factor: fmpq) -> Scalar:
    return x * x * x * factor
