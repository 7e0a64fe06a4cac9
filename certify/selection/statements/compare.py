"""§5, Algorithms 4-5: CompareToThresholds is (ε,δ)-DP, on given sums and sequences of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from flint import fmpq

from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import Scalar, Undetermined, ball, logarithm, multiply
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Cases, ScalarCase
from certify.selection.laws.comparison import LEAST, MOST, Move
from certify.selection.problem import SelectionProblem
from certify.selection.statements.base import SelectionStatement

SHIFTS = (1, -1)
"""Neighbours at which the divergence is evaluated itself: all sums up, all sums down."""


class ComparisonPrivacyStatement(SelectionStatement):
    """An upper bound of the hockey-stick divergence over all neighbours proves; its value at one neighbour refutes."""

    id: ClassVar[str] = "alg-4.privacy"
    title: ClassVar[str] = "Privacy of CompareToThresholds"
    source: ClassVar[str] = "§5, Algorithms 4-5"
    claim: ClassVar[str] = "Σ max(0, P(o) - e^ε P'(o)) ≤ δ"

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        spec = problem.comparison
        if spec is None:
            return "the instance is no sequence of queries to CompareToThresholds"
        if not spec.check_gap:
            return None
        for number, query in enumerate(spec.queries, 1):
            decision = decide_le(lambda: gap(problem), _fixed(query.high - query.low), precision=64, max_precision=4096)
            if decision.verdict is Verdict.UNDECIDED:
                raise Undetermined(f"the gap of query {number}: {decision.reason}")
            if decision.verdict is Verdict.REFUTED:
                least = decision.lhs.decimals(6)["lower"]
                return (
                    f"query {number} is refused: its gap {query.high - query.low} is below {least} "
                    '("check_gap": false judges it all the same)'
                )
        return None

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        privacy, delta, level = evidence.comparisons, evidence.instance.delta, evidence.instance.level
        assert delta is not None

        def divergence(ours: Move, theirs: Move) -> Callable[[], Scalar]:
            return lambda: privacy.excess(privacy.laws(ours), privacy.laws(theirs), ball(level.factor(fmpq(1))))

        bounds: tuple[tuple[str, Move, Move], ...] = (
            ("P(sums) over P(neighbour), all neighbours", 0, LEAST),
            ("the other way", MOST, 0),
        )
        for quantity, ours, theirs in bounds:
            yield ScalarCase(divergence(ours, theirs), _fixed(delta), {"quantity": quantity}, auxiliary=True)
        for shift in SHIFTS:
            word = "up" if shift > 0 else "down"
            for here, there, way in ((0, shift, "P(sums) over P(neighbour)"), (shift, 0, "P(neighbour) over P(sums)")):
                witness = {"quantity": way, "neighbour": f"all sums {word} by 1", "outcomes": len(privacy.outcomes)}
                yield ScalarCase(divergence(here, there), _fixed(delta), witness)


def gap(problem: SelectionProblem) -> Scalar:
    """``(12/ε) (log(10/ε) + log(1/δ) + 1)``."""
    delta, ledger = problem.instance.delta, problem.ledger
    assert delta is not None
    logs = logarithm(ledger.rational("ctt-gap-argument") / problem.epsilon) + logarithm(1 / delta) + 1
    return multiply(ledger.rational("ctt-gap") / problem.epsilon, logs)


def _fixed(value: fmpq) -> Callable[[], Scalar]:
    return lambda: value
