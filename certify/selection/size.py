"""What checking an instance evaluates, known before work begins."""

from __future__ import annotations

from dataclasses import dataclass

from certify.selection.instance_model import (
    Box,
    ComparisonSpec,
    GeometricNoise,
    LaplaceNoise,
    SelectionSpec,
    StreamSpec,
)
from certify.selection.laws.comparison import comparison_outcomes
from certify.selection.laws.search import most_laws
from certify.selection.laws.stream import (
    CLOSED_FORM_QUERIES,
    CLOSED_FORM_STEPS,
    MAX_OUTCOMES,
    all_outcomes,
    is_index_law,
)
from certify.selection.problem import SelectionProblem
from constants.ledger import Ledger

STEPS_PER_SECOND = 500_000
MAX_SECONDS = 3_600
MAX_EXACT_POWER_BITS = 200_000
MAX_SCAN = 2_000
MAX_EXPONENT = 1_000
EXPONENTS = ("final-rounds", "phase-power", "filter-stop-power", "run-count-power", "alpha-power")
"""Constants of Algorithm 9 that stand in exponents; a changed ledger may make them so large that no number fits."""


@dataclass(frozen=True)
class Plan:
    """``text`` says what is evaluated, ``seconds`` is an estimate; ``refusal`` is None, or why it is too much."""

    text: str
    seconds: float
    refusal: str | None

    @classmethod
    def of(cls, problem: SelectionProblem) -> Plan:
        if problem.stream is not None:
            return _stream_plan(problem.stream)
        if problem.selection is not None:
            return _selection_plan(problem.selection, problem.ledger)
        if problem.comparison is not None:
            return _comparison_plan(problem.comparison)
        return cls("closed forms", 0.1, None)


def _selection_plan(spec: SelectionSpec, ledger: Ledger) -> Plan:
    count = len(spec.scores.sums)
    if spec.algorithm == "sampling-filtering":
        for constant_id in EXPONENTS:
            if ledger.rational(constant_id) > MAX_EXPONENT:
                return Plan("", 0.0, f"the constant {constant_id} is an exponent beyond {MAX_EXPONENT:,}: lower it")
        return Plan("parameters of every phase, and runs against four adversaries", 1.0, None)
    if spec.algorithm == "linear-scan":
        queries = count * (spec.n + 1)
        if queries > MAX_SCAN:
            refusal = f"a scan of {queries:,} queries; its law is computed for at most {MAX_SCAN:,}: take a smaller n"
            return Plan("", 0.0, refusal)
        return Plan(f"{2 * count + 1:,} laws of {queries:,} queries", (2 * count + 1) * queries / 500, None)
    laws = most_laws(count)
    return Plan(f"a tree of at most {laws:,} laws of {count:,} candidates", laws * count * count / 10_000, None)


def _comparison_plan(spec: ComparisonSpec) -> Plan:
    try:
        outcomes = len(comparison_outcomes(spec))
    except ValueError as error:
        return Plan("", 0.0, f"{error}: fix the output to judge, or ask fewer queries")
    return Plan(f"{outcomes:,} outcomes at 5 vectors of sums", outcomes * 0.02, None)


def _stream_plan(spec: StreamSpec) -> Plan:
    count = len(spec.scores.sums)
    boxes = 1 if isinstance(spec.neighbours, Box) or spec.scores.records is None else len(set(spec.scores.records))
    try:
        outcomes = 1 if spec.output is not None else len(all_outcomes(spec))
    except ValueError:
        refusal = (
            f"{count:,} queries with several yes answers have more than {MAX_OUTCOMES:,} outcomes: "
            "fix the output to judge, or take fewer queries"
        )
        return Plan("", 0.0, refusal)
    if _power_bits(spec) > MAX_EXACT_POWER_BITS:
        refusal = "a sum is so far from its threshold that exact powers of the ratios are too long: give scales instead"
        return Plan("", 0.0, refusal)
    breaks = len({f - tau for f, tau in zip(spec.scores.sums, spec.thresholds, strict=True)}) + 2
    sweeps = 1 + 2 * boxes
    per_sweep = breaks * count * count
    if is_index_law(spec):
        smooth = isinstance(spec.noise, LaplaceNoise) and spec.noise.threshold > 0 and spec.noise.query > 0
        if per_sweep > CLOSED_FORM_STEPS and not smooth:
            refusal = (
                f"{count:,} queries with {breaks - 2:,} distinct f - τ are too many for the closed form: take fewer"
            )
            return Plan("", 0.0, refusal)
        seconds = 1 + 2e-6 * count**2 if smooth and count > CLOSED_FORM_QUERIES else per_sweep / STEPS_PER_SECOND
    else:
        seconds = outcomes * per_sweep / STEPS_PER_SECOND / max(count, 1)
    seconds *= sweeps
    if seconds > MAX_SECONDS:
        return Plan("", seconds, f"about {seconds / 60:,.0f} minutes: take fewer queries, outcomes or records")
    return Plan(f"{outcomes:,} outcomes at {sweeps:,} vectors of {count:,} sums", seconds, None)


def _power_bits(spec: StreamSpec) -> int:
    """About how many bits the longest power of a rational ratio has."""
    if not isinstance(spec.noise, GeometricNoise):
        return 0
    ratios = [ratio.value for ratio in (spec.noise.threshold, spec.noise.query) if ratio.value is not None]
    bits = max((int(ratio.q.bit_length()) for ratio in ratios), default=0)
    farthest = max(abs(f - tau) for f, tau in zip(spec.scores.sums, spec.thresholds, strict=True))
    return bits * int(farthest.ceil()) * min(len(spec.thresholds), 10)
