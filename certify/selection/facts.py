"""What a check of a selection instance is about to do, as label and value, for the heading of its report."""

from __future__ import annotations

from certify.selection.instance_model import (
    Against,
    Box,
    ComparisonSpec,
    ExponentialSpec,
    GeometricNoise,
    Neighbours,
    RoundedLaplaceSpec,
    SelectionSpec,
    StreamSpec,
)
from certify.selection.laws.geometric import Ratio
from certify.selection.problem import SelectionProblem
from certify.selection.size import Plan


def selection_facts(problem: SelectionProblem, plan: Plan) -> list[tuple[str, str]]:
    """The claim, the mechanism, and what is evaluated for it."""
    instance = problem.instance
    facts = [("shows", instance.description)] if instance.description else []
    claim = [f"ε = {instance.level.text}"]
    claim += [f"{name} = {value}" for name, value in (("δ", instance.delta), ("β", instance.beta)) if value is not None]
    return [
        *facts,
        ("claim", ", ".join(claim)),
        ("mechanism", _mechanism(problem)),
        ("evaluates", f"{plan.text}, about {plan.seconds:.0f} s" if plan.seconds >= 1 else plan.text),
        ("arithmetic", "exact rationals and Arb; float64 with proved bounds for many queries"),
    ]


def _mechanism(problem: SelectionProblem) -> str:
    match problem.instance.kind:
        case StreamSpec() as spec:
            departures = "; ".join(problem.departures) or "that of Algorithms 1-3"
            around = _neighbours(spec.neighbours)
            return f"stream of {len(spec.scores.sums):,} queries, {_noise(spec)}, {around}: {departures}"
        case SelectionSpec() as spec:
            return f"{spec.algorithm} on {len(spec.scores.sums):,} candidates, n = {_users(spec.n)}"
        case ExponentialSpec() as spec:
            return f"exponential mechanism, {spec.draws} of {len(spec.scores):,} scores, {_neighbours(spec.neighbours)}"
        case RoundedLaplaceSpec() as spec:
            return f"rounded Laplace noise of scale {spec.scale}"
        case ComparisonSpec() as spec:
            return f"CompareToThresholds, {sum(query.count for query in spec.queries):,} queries"


def _noise(spec: StreamSpec) -> str:
    if isinstance(spec.noise, GeometricNoise):
        return f"geometric noise {_ratio(spec.noise.threshold)} and {_ratio(spec.noise.query)}"
    return f"Laplace noise of scales {spec.noise.threshold} and {spec.noise.query}"


def _ratio(ratio: Ratio) -> str:
    return f"e^-{ratio.rate}" if ratio.value is None else str(ratio.value)


def _neighbours(neighbours: Neighbours) -> str:
    if isinstance(neighbours, Against):
        return "against one vector"
    return "all neighbours within 1" if isinstance(neighbours, Box) else "any record replaced"


def _users(n: int) -> str:
    return f"2^{n.bit_length() - 1}" if n > 10**9 and n & (n - 1) == 0 else f"{n:,}"
