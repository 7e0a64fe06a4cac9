"""The numbers a report shows of an instance: its law, the true worst log ratio, the failure probability."""

from __future__ import annotations

from functools import partial

from flint import fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undetermined, ball, divide, logarithm, maximum
from certify.engine.statement import ScalarCase
from certify.selection.instance_model import Against
from certify.selection.laws.comparison import LEAST, MOST
from certify.selection.laws.stream import outcome_label
from certify.selection.mechanism_privacy import (
    exponential_cases,
    geometric_probability,
    rounded_probability,
    sequence_probability,
    sequences,
)
from certify.selection.problem import SelectionProblem
from certify.selection.quantity_types import Quantities, law_row, tight
from certify.selection.search_quantities import selection_quantities

MAX_LAW_ROWS = 5_000


def quantities_of(problem: SelectionProblem, max_precision: int) -> Quantities:
    """Everything shown for the instance, each number with a relative width of at most 10^-9 where that is reached."""
    quantities: Quantities = {}
    try:
        quantities |= _of_kind(problem, max_precision)
    except Undetermined as error:
        quantities["law"] = f"not found: {error}"
    quantities["claimed_epsilon"] = tight(problem.instance.level.value, max_precision)
    return quantities


def _of_kind(problem: SelectionProblem, max_precision: int) -> Quantities:
    if problem.stream is not None:
        return _stream(problem, max_precision)
    if problem.exponential is not None:
        return _exponential(problem, max_precision)
    if problem.rounded is not None:
        return _rounded(problem, max_precision)
    if problem.comparison is not None:
        return _comparison(problem, max_precision)
    return selection_quantities(problem, max_precision)


def _stream(problem: SelectionProblem, max_precision: int) -> Quantities:
    spec, privacy = problem.stream, problem.privacy
    assert spec is not None
    rows = []
    for position, answers in enumerate(privacy.outcomes):
        value = tight(partial(privacy.probability, position), max_precision)
        rows.append(law_row(outcome_label(spec, answers), value))
    name = "density" if spec.release_value else "law"
    quantities: Quantities = {name: tuple(rows)}
    if any(privacy.is_infinite(c) for c in privacy.comparisons):
        quantities["epsilon"] = "infinity"
    else:
        possible = [c for c in privacy.comparisons if not privacy.is_impossible(c)]

        def worst() -> Scalar:
            return logarithm(maximum([privacy.ratio(c) for c in possible]))

        quantities["epsilon"] = tight(worst, max_precision)
    if problem.instance.beta is not None and not problem.departures:
        failure = problem.failure_at(problem.ledger.rational("svt-accuracy") / problem.epsilon)
        quantities["failure"] = Enclosure.of(0) if failure is None else tight(failure, max_precision)
        quantities["beta"] = Enclosure.of(problem.instance.beta)
    if spec.scores.clipped:
        quantities["clipped"] = spec.scores.clipped
    return quantities


def _exponential(problem: SelectionProblem, max_precision: int) -> Quantities:
    spec = problem.exponential
    assert spec is not None
    rows = []
    for drawn in sequences(spec):
        value = tight(partial(sequence_probability, spec, problem.epsilon, spec.scores, drawn), max_precision)
        rows.append(law_row([i + 1 for i in drawn] if spec.draws > 1 else drawn[0] + 1, value))
    level, ratios = problem.instance.level, []
    for case in exponential_cases(spec, level, fmpq(1)):
        if isinstance(case, ScalarCase) and not case.auxiliary:
            ratios.append(case.lhs)

    def worst() -> Scalar:
        return logarithm(maximum([ratio() for ratio in ratios]))

    name = "epsilon" if spec.draws == 1 or spec.repeat or isinstance(spec.neighbours, Against) else "epsilon_at_least"
    return {"law": tuple(rows[:MAX_LAW_ROWS]), name: tight(worst, max_precision)}


def _rounded(problem: SelectionProblem, max_precision: int) -> Quantities:
    spec = problem.rounded
    assert spec is not None
    shown = range(4)
    rows = [law_row(k, tight(partial(rounded_probability, spec, k), max_precision)) for k in shown]
    stated = [tight(partial(geometric_probability, spec, k), max_precision) for k in shown]
    apart = any(not row["probability"].overlaps(other) for row, other in zip(rows, stated, strict=True))
    quantities: Quantities = {"law": tuple(rows), "geometric_P(0)": stated[0]}
    if apart:
        quantities["law_mismatch"] = "this is not the two-sided geometric law of the same scale (no matter of privacy)"
    return quantities


def _comparison(problem: SelectionProblem, max_precision: int) -> Quantities:
    privacy, delta = problem.comparisons, problem.instance.delta
    assert delta is not None
    rows = []
    for position, outcome in enumerate(privacy.outcomes[:MAX_LAW_ROWS]):
        value = tight(partial(privacy.sequence, position), max_precision)
        rows.append({**law_row(outcome.label, value), "sequences": outcome.multiplicity})

    def worst() -> Scalar:
        ways = ((privacy.laws(0), privacy.laws(LEAST)), (privacy.laws(MOST), privacy.laws(0)))
        return logarithm(maximum([divide(p, q) for ours, theirs in ways for p, q in zip(ours, theirs, strict=True)]))

    def divergence() -> Scalar:
        factor = ball(problem.instance.level.factor(fmpq(1)))
        return maximum(
            [
                privacy.excess(privacy.laws(0), privacy.laws(LEAST), factor),
                privacy.excess(privacy.laws(MOST), privacy.laws(0), factor),
            ]
        )

    return {
        "law": tuple(rows),
        "epsilon": tight(worst, max_precision),
        "delta_upper": tight(divergence, max_precision, delta / 10**9),
        "delta": Enclosure.of(delta),
    }
