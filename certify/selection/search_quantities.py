"""The numbers a report shows of a selection run: its law, failure beside β, active rounds, privacy loss, phases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flint import ctx, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undetermined
from certify.selection.laws.search import Leaf
from certify.selection.laws.search_privacy import BUDGETS, index_loss_lower, loss_lower, loss_upper
from certify.selection.problem import SelectionProblem
from certify.selection.quantity_types import FIRST_BITS, Quantities, law_row, tight
from certify.selection.sampling_run import SamplingRun
from certify.selection.search_run import BisectionRun, GeometricRun, ScanRun


def selection_quantities(problem: SelectionProblem, max_precision: int) -> Quantities:
    """What is shown of a run of Algorithm 6-9."""
    assert problem.selection is not None
    quantities: Quantities = {"beta": Enclosure.of(problem.instance.beta or fmpq(0))}
    if problem.selection.algorithm == "sampling-filtering":
        quantities |= _sampling(problem.sampling, max_precision)
    elif isinstance(problem.search, ScanRun):
        quantities |= _scan(problem.search, max_precision)
    else:
        assert isinstance(problem.search, GeometricRun)
        try:
            quantities |= _tree(problem.search, max_precision)
        except Undetermined as error:
            quantities["law"] = f"not found: {error}"
    if problem.selection.scores.clipped:
        quantities["clipped"] = problem.selection.scores.clipped
    return quantities


def _scan(run: ScanRun, max_precision: int) -> Quantities:
    rows = []
    for j in range(run.d):
        rows.append(law_row(j + 1, tight(partial(run.returned, j, run.scores), max_precision)))
    failure = run.failure()
    return {
        "law": tuple(rows),
        "epsilon": tight(run.loss, max_precision),
        "failure": Enclosure.of(0) if failure is None else tight(failure, max_precision),
        "alpha": tight(run.alpha, max_precision),
        **_bound(run.error_bound, run.n, max_precision),
    }


def _bound(bound: Callable[[], Scalar], n: int, max_precision: int) -> Quantities:
    """The error bound, and whether it says anything: no error exceeds n."""
    value = tight(bound, max_precision)
    quantities: Quantities = {"error_bound": value}
    if value.lower is not None and value.lower >= n:
        quantities["vacuous"] = "the error bound is at least n, which no error exceeds"
    return quantities


def _tree(run: GeometricRun, max_precision: int) -> Quantities:
    with ctx.workprec(min(FIRST_BITS, max_precision)):
        tree = run.tree()
        rows = [law_row(j + 1, _probability(tree.probability(partial(_ends_in, j)))) for j in range(run.d)]
        quantities: Quantities = {"law": tuple(rows), "rounds": run.rounds}
        if isinstance(run, BisectionRun):
            failure = run.selection_failure()
            quantities["failure"] = Enclosure.of(0) if failure is None else _probability(failure())
            quantities["alpha"] = tight(run.alpha, max_precision)
            quantities |= _bound(run.error_bound, run.n, max_precision)
            lower = index_loss_lower(run.bisection.tree, run.scores, run.n)
            quantities["epsilon"] = Enclosure(Enclosure.of(lower.value).lower, run.epsilon)
            quantities["epsilon_lower_from"], quantities["epsilon_upper_from"] = lower.source, BUDGETS
        else:
            quantities["failure"] = _probability(run.failure())
            quantities["active_rounds"] = run.search.active_rounds
            quantities |= _bound(run.length_bound, run.n, max_precision)
            quantities |= _loss(run)
        quantities["tree_laws"] = tree.laws
        quantities["tree_pruned"] = Enclosure.of(tree.pruned)
    return quantities


def _ends_in(index: int, leaf: Leaf) -> bool:
    return leaf.index == index


def _probability(value: Scalar) -> Enclosure:
    """The enclosure of a probability, cut to [0, 1]."""
    enclosure = Enclosure.of(value)
    if enclosure.lower is None or enclosure.upper is None:
        return Enclosure(fmpq(0), fmpq(1))
    return Enclosure(max(enclosure.lower, fmpq(0)), min(enclosure.upper, fmpq(1)))


def _loss(run: GeometricRun) -> Quantities:
    lower, upper = loss_lower(run.search), loss_upper(run.search, run.epsilon)
    low, high = Enclosure.of(lower.value).lower, Enclosure.of(upper.value).upper
    return {
        "epsilon": Enclosure(low, None if high is None else min(high, run.epsilon)),
        "epsilon_lower_from": lower.source,
        "epsilon_upper_from": upper.source,
    }


def _sampling(run: SamplingRun, max_precision: int) -> Quantities:
    lengths = ", ".join(str(phase.t) for phase in run.phases)
    return {
        "alpha": tight(run.alpha, max_precision),
        "N": tight(run.runs, max_precision),
        "phases": len(run.phases),
        "phase_lengths": lengths or "none: Algorithm 9 is one call of Algorithm 8 with 64 rounds",
    }
