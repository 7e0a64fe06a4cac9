"""From the cases of a statement to its verdict: the one place where an inequality becomes proved or refuted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from flint import ctx

from certify.arithmetic.decide import decide_le, decide_lt
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Undetermined
from certify.arithmetic.verdict import Verdict
from certify.engine.closed_cases import ClosedCaseCollector
from certify.engine.statement import (
    ArrayCases,
    Cases,
    Outcome,
    ScalarCase,
    Statement,
    StructuralCase,
    Worst,
    share,
)

FLOAT_BITS = 53
"""The precision that the float64 route reports."""

SCALAR_START = 64

StatementT = TypeVar("StatementT", bound=Statement[Any, Any])


@dataclass(frozen=True)
class Precision:
    """One level of evidence. ``bits == FLOAT_BITS`` is the float64 route; anything above is Arb at that precision."""

    bits: int

    @property
    def in_floats(self) -> bool:
        return self.bits <= FLOAT_BITS


@dataclass(frozen=True)
class _Judged:
    verdict: Verdict
    count: int
    worst: Worst | None
    bits: int
    reason: str = ""
    note: str = ""


def decide_statement(
    statement: Statement[Any, Any],
    evidence: Any,
    precision: Precision,
    *,
    max_precision: int,
    closed_forms: bool = False,
) -> Outcome:
    """The outcome of one statement on one level of evidence; it may be undecided where a higher level is not.

    ``closed_forms`` asks for the proved inequalities between closed formulas as well.
    """
    start = perf_counter()
    collector = ClosedCaseCollector(max_precision) if closed_forms else None
    judged = []
    try:
        with ctx.workprec(max(precision.bits, SCALAR_START)):
            for case in statement.cases(evidence):
                judged.append(_judge(case, precision, max_precision))
                if collector is not None:
                    collector.add(case, judged[-1].verdict, judged[-1].bits)
    except Undetermined as error:
        return undecided(type(statement), str(error), precision.bits)
    if not judged:
        return undecided(type(statement), "it yields no case here, and no case proves nothing", precision.bits)
    outcome = _combine(type(statement), judged, precision)
    closed = None if collector is None else collector.result()
    return replace(outcome, seconds=perf_counter() - start, closed=closed)


def not_applicable(statement: type[Statement[Any, Any]], reason: str) -> Outcome:
    return Outcome(statement, None, 0, None, FLOAT_BITS, 0.0, reason)


def undecided(statement: type[Statement[Any, Any]], reason: str, bits: int = FLOAT_BITS) -> Outcome:
    return Outcome(statement, Verdict.UNDECIDED, 0, None, bits, 0.0, reason)


def applicable(statements: Iterable[StatementT], problem: Any) -> tuple[list[StatementT], dict[str, Outcome]]:
    """The statements to decide on a problem, and the outcomes of the others: not applicable, or that is undecided."""
    remaining: list[StatementT] = []
    outcomes: dict[str, Outcome] = {}
    for statement in statements:
        outcome = _ruled_out(statement, problem)
        if outcome is None:
            remaining.append(statement)
        else:
            outcomes[statement.id] = outcome
    return remaining, outcomes


def _ruled_out(statement: Statement[Any, Any], problem: Any) -> Outcome | None:
    """Why a statement is not decided on a problem: it does not apply, or that or what it measures is undecided."""
    kind = type(statement)
    try:
        reason = statement.not_applicable(problem)
    except Undetermined as error:
        return undecided(kind, f"its hypothesis cannot be decided: {error}")
    if reason is not None:
        return not_applicable(kind, reason)
    try:
        statement.measurements(problem)
    except Undetermined as error:
        return undecided(kind, f"what it measures cannot be decided: {error}")
    return None


def _judge(case: Cases, precision: Precision, max_precision: int) -> _Judged:
    if isinstance(case, StructuralCase):
        return _Judged(Verdict.PROVED, case.count, case.shown, precision.bits, note=case.reason)
    judged = _judge_scalar(case, max_precision) if isinstance(case, ScalarCase) else _judge_array(case, precision)
    return _as_step(judged) if case.auxiliary else judged


def _as_step(judged: _Judged) -> _Judged:
    if judged.verdict is Verdict.PROVED:
        return replace(judged, worst=None)
    return replace(judged, verdict=Verdict.UNDECIDED, reason=judged.reason or "a step of the argument does not close")


def _judge_scalar(case: ScalarCase, max_precision: int) -> _Judged:
    decide = decide_lt if case.strict else decide_le
    decision = decide(case.lhs, case.rhs, precision=min(SCALAR_START, max_precision), max_precision=max_precision)
    worst = Worst(decision.lhs, decision.rhs, case.witness)
    return _Judged(decision.verdict, case.count, worst, decision.precision_bits, decision.reason)


def _judge_array(case: ArrayCases, precision: Precision) -> _Judged:
    shape = np.broadcast_shapes(case.lhs.shape, case.rhs.shape)
    if 0 in shape:
        return _Judged(Verdict.PROVED, case.count, None, precision.bits)
    if case.strict:
        proved, refuted = case.rhs.proved_above(case.lhs), case.rhs.proved_at_most(case.lhs)
    else:
        proved, refuted = case.lhs.proved_at_most(case.rhs), case.lhs.proved_above(case.rhs)
    proved, refuted = np.broadcast_to(proved, shape), np.broadcast_to(refuted, shape)
    undecided_entries = ~(proved | refuted)
    if np.any(refuted):
        verdict, chosen = Verdict.REFUTED, refuted
    elif np.any(undecided_entries):
        verdict, chosen = Verdict.UNDECIDED, undecided_entries
    else:
        verdict, chosen = Verdict.PROVED, proved
    guides = case.lhs.midpoints() if verdict is Verdict.REFUTED else case.lhs.upper_guides()
    index = _nearest_to_failing(guides, case.rhs.midpoints(), shape, chosen)
    worst = Worst(
        case.lhs.enclosure(_within(index, case.lhs.shape)),
        case.rhs.enclosure(_within(index, case.rhs.shape)),
        case.witness(index),
    )
    reason = ""
    if verdict is Verdict.UNDECIDED:
        reason = f"{int(undecided_entries.sum())} of {undecided_entries.size} comparisons cannot be separated"
    return _Judged(verdict, case.count, worst, precision.bits, reason)


def _nearest_to_failing(lhs: Any, rhs: Any, shape: tuple[int, ...], among: Any) -> tuple[int, ...]:
    """A guide only: the entry among the given ones with the largest share, or the largest excess where rhs <= 0."""
    lhs, rhs = np.broadcast_to(lhs, shape), np.broadcast_to(rhs, shape)
    with np.errstate(all="ignore"):
        key = np.where(rhs > 0, lhs / rhs, np.where(lhs > rhs, np.inf, -np.inf))
    key = np.where(np.isnan(key), np.inf, key)
    key = np.where(among, key, -np.inf)
    best = int(np.argmax(key))
    if not among.ravel()[best]:
        best = int(np.argmax(among))
    return tuple(int(i) for i in np.unravel_index(best, shape))


def _within(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """An index of the broadcast shape, as an index of an operand of the given shape."""
    tail = index[len(index) - len(shape) :]
    return tuple(0 if extent == 1 else i for i, extent in zip(tail, shape, strict=True))


def _combine(statement: type[Statement[Any, Any]], judged: list[_Judged], precision: Precision) -> Outcome:
    verdict, shown = Verdict.PROVED, [j for j in judged if j.worst is not None]
    for kind in (Verdict.REFUTED, Verdict.UNDECIDED):
        failing = [j for j in judged if j.verdict is kind]
        if failing:
            verdict, shown = kind, failing
            break
    worst = max(shown, key=_severity, default=None)
    reason = worst.reason if worst is not None and verdict is Verdict.UNDECIDED else None
    notes = tuple(dict.fromkeys(j.note for j in judged if j.note)) if verdict is not Verdict.REFUTED else ()
    bits = worst.bits if worst is not None else precision.bits
    count = sum(j.count for j in judged)
    return Outcome(statement, verdict, count, worst.worst if worst else None, bits, 0.0, reason, notes)


def _severity(judged: _Judged) -> float:
    assert judged.worst is not None
    used = share(judged.worst.lhs, judged.worst.rhs)
    if used is None or used.upper is None:
        return _exceeds(judged.worst.lhs, judged.worst.rhs)
    return _as_float(used)


def _exceeds(lhs: Enclosure, rhs: Enclosure) -> float:
    if lhs.upper is None or rhs.lower is None or lhs.upper > rhs.lower:
        return float("inf")
    return float("-inf")


def _as_float(used: Enclosure) -> float:
    """A guide for choosing the case to show."""
    upper = used.upper
    assert upper is not None
    try:
        return int(upper.p) / int(upper.q)
    except OverflowError:
        return float("inf") if upper > 0 else float("-inf")


def run_levels(
    statements: Iterable[Statement[Any, Any]],
    levels: Iterable[Precision],
    evidence_at: Callable[[Precision, list[Statement[Any, Any]]], Any],
    out_of_reach: Callable[[Precision, Statement[Any, Any]], str | None],
    *,
    max_precision: int,
    closed_forms: bool = False,
) -> dict[str, Outcome]:
    """Decide every statement on the first level; ask the undecided ones again on the next, until none is left.

    ``evidence_at(level, statements)`` measures what the statements need; where it raises `Undetermined`, the
    level decides none of them. ``out_of_reach(level, statement)`` is None, or the reason why a level is not
    tried for a statement, which then joins the reason of an undecided one.
    """
    open_statements = list(statements)
    outcomes: dict[str, Outcome] = {}
    for level in levels:
        reachable = []
        for statement in open_statements:
            reason = out_of_reach(level, statement)
            if reason is None:
                reachable.append(statement)
            else:
                outcomes[statement.id] = _with_reason(outcomes, statement, reason)
        if not reachable:
            break
        try:
            evidence = evidence_at(level, reachable)
        except Undetermined as error:
            outcomes |= {s.id: undecided(type(s), str(error), level.bits) for s in reachable}
            open_statements = reachable
            continue
        for statement in reachable:
            outcomes[statement.id] = decide_statement(
                statement, evidence, level, max_precision=max_precision, closed_forms=closed_forms
            )
        open_statements = [s for s in reachable if outcomes[s.id].verdict is Verdict.UNDECIDED]
    return outcomes


def _with_reason(outcomes: dict[str, Outcome], statement: Statement[Any, Any], reason: str) -> Outcome:
    known = outcomes.get(statement.id)
    if known is None:
        return undecided(type(statement), reason)
    return replace(known, reason=f"{known.reason}; {reason}" if known.reason else reason)
