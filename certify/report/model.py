"""One report on one instance, as every format writes it.

The model holds enclosures, not text: how many digits are shown is the writer's choice, never a matter of
rounding here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import ClosedCases, Outcome, Worst
from certify.report.environment import Environment

EXHAUSTIVE = "exhaustive"
"""The coverage of a verdict that rests on every case; the engine has no other way to reach one."""

LawRow = Mapping[str, Any]
Quantity = Enclosure | int | str | tuple[LawRow, ...]


class StatementVerdict(Enum):
    """What a report says of one statement, or of all: a verdict, or that no hypothesis it needs holds."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class InstanceIdentity:
    """Which file was checked: its path as given, the hash of its bytes, and the paper it belongs to."""

    path: str
    sha256: str
    theory: str


@dataclass(frozen=True, slots=True)
class StatementReport:
    """One statement on one instance.

    ``coverage`` and ``precision_bits`` are None where no case was looked at: not applicable, or given up
    beforehand. ``reason`` says which hypothesis fails or why it stayed undecided; ``notes`` name the routes
    by which cases were proved without a number; ``seconds`` is the time that deciding took, without the
    shared passes. ``closed`` holds the proved inequalities between closed formulas, where they were asked for.
    """

    id: str
    title: str
    source: str
    claim: str
    verdict: StatementVerdict
    coverage: str | None
    cases: int
    budget_used: Enclosure | None
    worst: Worst | None
    precision_bits: int | None
    seconds: float
    reason: str | None
    notes: tuple[str, ...]
    closed: ClosedCases | None


@dataclass(frozen=True, slots=True)
class Summary:
    """How many statements got which verdict."""

    proved: int
    refuted: int
    undecided: int
    not_applicable: int

    @property
    def verdict(self) -> StatementVerdict:
        """Refuted if anything is; else undecided if anything is; else proved, unless nothing applied."""
        if self.refuted:
            return StatementVerdict.REFUTED
        if self.undecided:
            return StatementVerdict.UNDECIDED
        return StatementVerdict.PROVED if self.proved else StatementVerdict.NOT_APPLICABLE


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was found on one instance; ``statements`` in the order of the paper."""

    instance: InstanceIdentity
    environment: Environment
    quantities: Mapping[str, Quantity]
    statements: tuple[StatementReport, ...]

    @property
    def summary(self) -> Summary:
        verdicts = [statement.verdict for statement in self.statements]
        return Summary(
            verdicts.count(StatementVerdict.PROVED),
            verdicts.count(StatementVerdict.REFUTED),
            verdicts.count(StatementVerdict.UNDECIDED),
            verdicts.count(StatementVerdict.NOT_APPLICABLE),
        )


def report_on(
    instance: InstanceIdentity,
    environment: Environment,
    quantities: Mapping[str, Quantity],
    outcomes: Sequence[Outcome],
) -> Report:
    """The report that the engine's outcomes make, in their order."""
    return Report(instance, environment, quantities, tuple(_statement(outcome) for outcome in outcomes))


def _statement(outcome: Outcome) -> StatementReport:
    verdict = _VERDICTS[outcome.verdict]
    looked_at = verdict in (StatementVerdict.PROVED, StatementVerdict.REFUTED) or outcome.worst is not None
    return StatementReport(
        id=outcome.statement.id,
        title=outcome.statement.title,
        source=outcome.statement.source,
        claim=outcome.statement.claim,
        verdict=verdict,
        coverage=EXHAUSTIVE if looked_at else None,
        cases=outcome.cases,
        budget_used=outcome.budget_used,
        worst=outcome.worst,
        precision_bits=outcome.precision_bits if looked_at else None,
        seconds=outcome.seconds,
        reason=outcome.reason,
        notes=outcome.notes,
        closed=outcome.closed,
    )


_VERDICTS = {
    Verdict.PROVED: StatementVerdict.PROVED,
    Verdict.REFUTED: StatementVerdict.REFUTED,
    Verdict.UNDECIDED: StatementVerdict.UNDECIDED,
    None: StatementVerdict.NOT_APPLICABLE,
}
