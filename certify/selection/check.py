"""Checking one instance of the selection paper: its cost, every statement decided, the exact law for the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from certify.engine.decide_statement import Precision, hypothesis_of, not_applicable, run_levels, undecided
from certify.engine.statement import Outcome
from certify.selection.instance_model import SelectionInstance
from certify.selection.problem import SelectionProblem
from certify.selection.quantities import quantities_of
from certify.selection.quantity_types import Quantities
from certify.selection.size import Plan
from certify.selection.statements import CATALOGUE
from certify.selection.statements.base import SelectionStatement
from constants.ledger import Ledger

Progress = Callable[[int, int], None]


class Options(Protocol):
    """What a check may be told: the statements (None is all of the instance's), where precision starts and ends."""

    @property
    def statements(self) -> tuple[str, ...] | None: ...
    @property
    def precision(self) -> int: ...
    @property
    def max_precision(self) -> int: ...


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
    outcomes: dict[str, Outcome] = {}
    applicable: list[SelectionStatement] = []
    for statement in chosen:
        fails, unknown = hypothesis_of(statement, problem)
        if fails is not None:
            outcomes[statement.id] = not_applicable(type(statement), fails)
        elif unknown is not None:
            outcomes[statement.id] = undecided(type(statement), unknown)
        else:
            applicable.append(statement)
    for done, statement in enumerate(applicable, 1):
        level = Precision(options.precision)
        # one level: every case is evaluated again at double the precision until it is decided
        outcomes |= run_levels(
            [statement], [level], lambda *_: problem, lambda *_: None, max_precision=options.max_precision
        )
        if progress is not None:
            progress(done, len(applicable) + 1)
    quantities = quantities_of(problem, options.max_precision)
    if progress is not None:
        progress(len(applicable) + 1, len(applicable) + 1)
    return CheckResult(quantities, [outcomes[s.id] for s in chosen])
