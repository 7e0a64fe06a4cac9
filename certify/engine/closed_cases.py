"""The proved inequalities of a statement that are formulas in rational numbers, for a second opinion.

Whatever is measured (on a law, an array, a maximum over transcripts) has no such formula and is counted with the
reason.
"""

from __future__ import annotations

from dataclasses import replace

from flint import ctx

from certify.arithmetic.closed_form import closed_form
from certify.arithmetic.decide import decide_le, decide_lt
from certify.arithmetic.expression import Expression, ExpressionError
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Cases, ClosedCases, ClosedInequality, ScalarCase, StructuralCase

MAX_LISTED = 100
"""Different inequalities listed of one statement."""

MAX_LOOKED_AT = 500
"""Inequalities between numbers whose formulas are looked for, of one statement."""

MEASURED = "measured on the instance"
NO_FORMULA = "a side has no closed formula, or one that is too long to read back"
STRUCTURAL = "proved by a reason that needs no number"
NOT_PROVED = "not proved"
FORMULA_OPEN = "the formula by itself is not decided"
TOO_MANY = f"beyond the first {MAX_LISTED} different inequalities, or the first {MAX_LOOKED_AT} looked at"


class ClosedCaseCollector:
    """Looks at the cases of one statement one by one, each as soon as it is judged."""

    def __init__(self, max_precision: int) -> None:
        self._max_precision = max_precision
        self._looked_at = 0
        self._found: dict[tuple[str, str, bool], ClosedInequality] = {}
        self._left_out: dict[str, int] = {}

    def add(self, case: Cases, verdict: Verdict, bits: int) -> None:
        """Take up a case that was judged at ``bits`` bits."""
        if isinstance(case, StructuralCase):
            reason: str | None = STRUCTURAL
        elif verdict is not Verdict.PROVED:
            reason = NOT_PROVED
        elif isinstance(case, ScalarCase):
            reason = self._scalar(case, bits)
        else:
            reason = MEASURED
        if reason is not None and case.count:
            self._left_out[reason] = self._left_out.get(reason, 0) + case.count

    def result(self) -> ClosedCases:
        return ClosedCases(tuple(self._found.values()), dict(sorted(self._left_out.items())))

    def _scalar(self, case: ScalarCase, bits: int) -> str | None:
        """Why a proved case is not listed, or None where it is."""
        if self._looked_at == MAX_LOOKED_AT:
            return TOO_MANY
        self._looked_at += 1
        with ctx.workprec(bits):
            lhs, rhs = closed_form(case.lhs), closed_form(case.rhs)
        if lhs is None or rhs is None:
            return NO_FORMULA
        key = (lhs.text(), rhs.text(), case.strict)
        known = self._found.get(key)
        if known is not None:
            self._found[key] = replace(known, cases=known.cases + case.count)
            return None
        if len(self._found) == MAX_LISTED:
            return TOO_MANY
        if not self._holds(lhs, rhs, case.strict, bits):
            return FORMULA_OPEN
        self._found[key] = ClosedInequality(lhs, rhs, case.strict, case.witness, case.count)
        return None

    def _holds(self, lhs: Expression, rhs: Expression, strict: bool, bits: int) -> bool:
        decide = decide_lt if strict else decide_le
        most = max(bits, self._max_precision)
        try:
            decision = decide(lambda: lhs.value({}), lambda: rhs.value({}), precision=bits, max_precision=most)
        except ExpressionError:
            return False
        return decision.verdict is Verdict.PROVED
