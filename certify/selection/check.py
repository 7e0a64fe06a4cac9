"""Checking one instance of the selection paper: its cost, every statement decided, the exact law for the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from certify.engine.decide_statement import Precision, applicable, run_levels
from certify.engine.statement import Outcome
from certify.selection.instance_model import SelectionInstance
from certify.selection.problem import SelectionProblem
from certify.selection.quantities import quantities_of
from certify.selection.quantity_types import Quantities
from certify.selection.size import Plan
from certify.selection.statements import CATALOGUE
from constants.ledger import Ledger

Progress = Callable[[int, int], None]


class Options(Protocol):
    """What a check may be told: the statements (None is all of the instance's), where precision starts and ends,
    whether closed formulas are wanted."""

    @property
    def statements(self) -> tuple[str, ...] | None: ...
    @property
    def precision(self) -> int: ...
    @property
    def max_precision(self) -> int: ...
    @property
    def closed_forms(self) -> bool: ...


@dataclass(frozen=True)
class CheckResult:
    """Quantities by name and one outcome a statement."""

    quantities: Quantities
    outcomes: Sequence[Outcome]


def prepare(instance: SelectionInstance, ledger: Ledger) -> SelectionProblem:
    """The instance with the ledger its claims come from."""
    return SelectionProblem(instance, ledger)


def plan(problem: SelectionProblem, options: Options) -> Plan:
    """What checking the problem evaluates, and a refusal where that is too much."""
    return Plan.of(problem)


def check(problem: SelectionProblem, options: Options, progress: Progress | None = None) -> CheckResult:
    """Every requested statement decided, in the order of the catalogue."""
    wanted = options.statements or problem.instance.statements
    chosen = [s for s in CATALOGUE if wanted is None or s.id in wanted]
    remaining, outcomes = applicable(chosen, problem)
    for done, statement in enumerate(remaining, 1):
        level = Precision(options.precision)
        # one level: every case is evaluated again at double the precision until it is decided
        outcomes |= run_levels(
            [statement],
            [level],
            lambda *_: problem,
            lambda *_: None,
            max_precision=options.max_precision,
            closed_forms=options.closed_forms,
        )
        if progress is not None:
            progress(done, len(remaining) + 1)
    quantities = quantities_of(problem, options.max_precision)
    if progress is not None:
        progress(len(remaining) + 1, len(remaining) + 1)
    return CheckResult(quantities, [outcomes[s.id] for s in chosen])
