"""§4 and Appendix A: the conversion from zCDP, and the constants of the lower bound. They hold of numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from flint import fmpq

from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import Scalar, add, divide, logarithm, multiply, square_root, subtract
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Cases, ScalarCase
from certify.selection.problem import SelectionProblem
from certify.selection.statements.base import SelectionStatement, exact_case

NO_DELTA = "the instance states no δ; §4 is about zCDP and approximate DP"


class FromZeroConcentrated(SelectionStatement):
    """``rho <= eps^2/(4 log(1/delta))`` for the rho with ``eps = rho + 2 sqrt(rho log(1/delta))``, eps <= 1."""

    id: ClassVar[str] = "zcdp-to-dp"
    title: ClassVar[str] = "From zCDP to approximate DP"
    source: ClassVar[str] = "§4, after Lemma 4.5"
    claim: ClassVar[str] = "ρ ≤ ε²/(4 log(1/δ)) where ε = ρ + 2√(ρ log(1/δ)), ε ≤ 1"

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        if problem.instance.delta is None:
            return NO_DELTA
        at_most_one = decide_le(problem.instance.level.value, lambda: fmpq(1), precision=64, max_precision=4096)
        return None if at_most_one.verdict is Verdict.PROVED else "the conversion is for ε ≤ 1"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        delta = evidence.instance.delta
        assert delta is not None
        ledger, epsilon = evidence.ledger, evidence.instance.level.value

        def exponent() -> Scalar:
            return logarithm(1 / delta)

        def rho() -> Scalar:
            """The root of ``t^2 + c t sqrt(log 1/delta) = eps``, squared."""
            half = multiply(ledger.value("zcdp-root") / 2, square_root(exponent()))
            root = subtract(square_root(add(multiply(half, half), epsilon())), half)
            return multiply(root, root)

        def bound() -> Scalar:
            return divide(multiply(epsilon(), epsilon()), multiply(ledger.value("zcdp-conversion"), exponent()))

        yield ScalarCase(rho, bound, {"quantity": "ρ", "delta": str(delta)})


class LowerBoundConstants(SelectionStatement):
    """The constants of Theorem 4.4 made explicit, rational numbers, with C the constant of Jayram's lemma.

    A distinguisher with advantage 1/3 has ``E h^2 >= 1/18``; the mixed information is at most 3/2 times that under
    Z = 2, so ``I(M;X|Z=2) >= C d/54``; half of it gives ``n >= sqrt(C d/(108 rho))``.
    """

    id: ClassVar[str] = "thm-4.4.chain"
    title: ClassVar[str] = "Constants of the lower bound"
    source: ClassVar[str] = "§4, Theorem 4.4 and Appendix A"
    claim: ClassVar[str] = "1/18 ≤ (1/3)²/2; 1 ≤ (3/2)(2/3); 1/54 ≤ (1/18)/(2·3/2); 1/108 ≤ (1/54)/2"

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        return None if problem.instance.delta is not None else NO_DELTA

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        def of(constant: str) -> fmpq:
            return evidence.ledger.rational(constant)

        gap, transfer, bound = of("hellinger-gap"), of("information-transfer"), of("information-bound")
        yield exact_case(gap, of("advantage") ** 2 / 2, {"quantity": "E h²"})
        yield exact_case(fmpq(1), transfer * of("input-domination"), {"quantity": "1 ≤ transfer · domination"})
        yield exact_case(bound, gap / (2 * transfer), {"quantity": "I(M;X|Z=2)/(C d)"})
        yield exact_case(of("sample-bound"), bound / 2, {"quantity": "n² ρ/(C d)"})
