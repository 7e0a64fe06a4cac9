"""§8: the parameter choices, and Theorem 1.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from flint import fmpq

from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import Scalar, Undetermined, divide, minimum, multiply
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Cases, ScalarCase, StructuralCase
from certify.release.measurements import EnvelopeMass, Measurement
from certify.release.mechanism import ResolvedMechanism
from certify.release.parameters import MAX_PRECISION
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import ReleaseStatement, database_witness, exact_case, measured_cases
from certify.release.statements.section4 import distances_change_by_at_most_one
from certify.release.statements.section7 import error_bound, expected_error


def alpha_of(problem: ReleaseProblem) -> Callable[[], Scalar]:
    mechanism = problem.mechanism
    assert isinstance(mechanism, ResolvedMechanism) and mechanism.alpha is not None
    return mechanism.alpha


class _FromAlpha(ReleaseStatement):
    """A statement about the choices (8.3)."""

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is not None:
            return reason
        mechanism = problem.mechanism
        if problem.is_tuned:
            return 'the mechanism is tuned; (8.3) speaks of {"alpha": …} or "theorem"'
        if isinstance(mechanism, ResolvedMechanism) and mechanism.alpha is None:
            return 'the mechanism is explicit; (8.3) speaks of {"alpha": …} or "theorem"'
        return None


class _UnderPremise(_FromAlpha):
    """A statement that also needs the sample premise (8.2)."""

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        return super().not_applicable(problem) or premise(problem)


def premise(problem: ReleaseProblem) -> str | None:
    """None where (8.2) ``2^21 L_D L_Q <= eps n alpha^2`` holds, else the hypothesis with its values."""
    p, alpha = problem.parameters, alpha_of(problem)

    def needed() -> Scalar:
        return multiply(p.constant("premise"), multiply(p.log_twice_universe(), p.log_twice_queries()))

    def given() -> Scalar:
        return p.epsilon() * p.rows * alpha() * alpha()

    decision = decide_le(needed, given, precision=64, max_precision=MAX_PRECISION)
    if decision.verdict is Verdict.UNDECIDED:
        raise Undetermined(f"(8.2) 2^21 L_D L_Q ≤ εnα²: {decision.reason}")
    if decision.verdict is Verdict.PROVED:
        return None
    low, high = decision.lhs.decimals(6)["lower"], decision.rhs.decimals(6)["upper"]
    return f"the premise (8.2) 2^21 L_D L_Q ≤ εnα² fails: 2^21 L_D L_Q ≥ {low}, εnα² ≤ {high}"


class ParameterChoice(_FromAlpha):
    """(8.3), (8.4): the two-sided bound on J, and ``alpha_0 <= alpha``."""

    id: ClassVar[str] = "eq-8.choice"
    title: ClassVar[str] = "Choice of J, η, γ"
    source: ClassVar[str] = "§8, (8.3)-(8.4)"
    claim: ClassVar[str] = "16L_D/α² ≤ J ≤ 32L_D/α²; α₀ ≤ α"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p, alpha = evidence.parameters, alpha_of(evidence.problem)

        def rounds(constant: str) -> Callable[[], Scalar]:
            return lambda: divide(multiply(p.constant(constant), p.log_twice_universe()), alpha() * alpha())

        yield ScalarCase(rounds("rounds-choice"), lambda: fmpq(p.rounds), {"quantity": "16L_D/α² ≤ J"})
        yield ScalarCase(lambda: fmpq(p.rounds), rounds("rounds-upper"), {"quantity": "J ≤ 32L_D/α²"})
        yield ScalarCase(
            p.alpha_0,
            lambda: multiply(p.constant("target-error"), alpha()),
            {"quantity": "α₀", "J": p.rounds},
        )


class GrowthFromPremise(_UnderPremise):
    """``kappa <= 2^20 L_D L_Q^2/(n^2 alpha^4)`` and the chain to ``2^20 kappa L <= eps^2``."""

    id: ClassVar[str] = "eq-8.growth"
    title: ClassVar[str] = "Growth condition from the premise"
    source: ClassVar[str] = "§8"
    claim: ClassVar[str] = "κ ≤ 2^20 L_D L_Q²/(n²α⁴); 2^20 κL ≤ 2^40 L_D L_Q² L/(n²α⁴) ≤ 2^41 L_D² L_Q²/(n²α⁴) ≤ ε²"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p, alpha = evidence.parameters, alpha_of(evidence.problem)

        def unit() -> Scalar:
            """``L_D L_Q^2 / (n^2 alpha^4)``."""
            a, l_q = alpha(), p.log_twice_queries()
            return divide(multiply(p.log_twice_universe(), multiply(l_q, l_q)), a * a * a * a * p.rows**2)

        def first() -> Scalar:
            return divide(multiply(p.kappa(), p.code_entropy()), p.constant("growth-hypothesis"))

        def second() -> Scalar:
            return multiply(p.constant("growth-middle"), multiply(unit(), p.code_entropy()))

        def third() -> Scalar:
            return multiply(p.constant("growth-last"), multiply(unit(), p.log_twice_universe()))

        yield ScalarCase(p.kappa, lambda: multiply(p.constant("growth-kappa"), unit()), {"quantity": "κ"})
        yield ScalarCase(first, second, {"quantity": "2^20 κL"})
        yield ScalarCase(second, third, {"quantity": "2^40 L_D L_Q² L/(n²α⁴)"})
        yield ScalarCase(third, lambda: p.epsilon() * p.epsilon(), {"quantity": "2^41 L_D² L_Q²/(n²α⁴) ≤ ε²"})
        yield ScalarCase(first, lambda: p.epsilon() * p.epsilon(), {"quantity": "2^20 κL ≤ ε²"})


class LinearTerm(_UnderPremise):
    """(8.6): ``1/(eps n) <= alpha``."""

    id: ClassVar[str] = "eq-8.6"
    title: ClassVar[str] = "Linear term"
    source: ClassVar[str] = "§8, (8.6)"
    claim: ClassVar[str] = "1/(εn) ≤ α"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p, alpha = evidence.parameters, alpha_of(evidence.problem)
        yield ScalarCase(lambda: divide(p.constant("linear-term"), p.epsilon() * p.rows), alpha, {"quantity": "1/(εn)"})


class FinalError(_UnderPremise):
    """(8.7): ``E ||M(x) - F(x)||_inf <= 3e alpha_0 + 288e/(eps n) <= 512e alpha``."""

    id: ClassVar[str] = "eq-8.7"
    title: ClassVar[str] = "Error in terms of α"
    source: ClassVar[str] = "§8, (8.7)"
    claim: ClassVar[str] = "E‖M(x)-F(x)‖_∞ ≤ 3eα₀+288e/(εn) ≤ 512eα"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p = evidence.problem, evidence.parameters
        alpha = alpha_of(problem)
        yield ScalarCase(
            lambda: error_bound(p),
            lambda: multiply(p.constant("final-error"), alpha()),
            {"quantity": "3eα₀+288e/(εn)"},
        )
        count = len(problem.centres)
        errors = [expected_error(evidence, c) for c in range(count)]
        yield measured_cases(errors, [error_bound(p)] * count, _at(problem), count)


def _at(problem: ReleaseProblem) -> Callable[[int], dict[str, Any]]:
    return lambda c: {
        "database": database_witness(problem, problem.centres[c]),
        "quantity": "E‖M(x)-F(x)‖_∞",
    }


class MainTheorem(ReleaseStatement):
    """Theorem 1.1 for the mechanism of its proof, on the databases of the instance: pure eps-DP and the error bound."""

    id: ClassVar[str] = "thm-1.1"
    title: ClassVar[str] = "Pure-DP query release"
    source: ClassVar[str] = "§1.1, Theorem 1.1"
    claim: ClassVar[str] = "M is ε-DP and E‖M(x)-F(x)‖_∞ ≤ 2^20 e · min{1, √(log 2T log 2k/(εn))}"
    about_transcripts = False

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        mechanism = problem.mechanism
        if problem.is_tuned or (isinstance(mechanism, ResolvedMechanism) and not mechanism.from_theorem):
            return 'the mechanism is not the one of the proof; write "mechanism": "theorem"'
        return None

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return () if problem.zero_output else (EnvelopeMass(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p = evidence.problem, evidence.parameters

        def bound() -> Scalar:
            return multiply(p.constant("theorem-constant"), minimum([fmpq(1), p.tau()]))

        if problem.zero_output:
            yield from zero_output_error(problem, bound)
            return
        yield from envelope_privacy(problem)
        centres = len(problem.centres)
        errors = [expected_error(evidence, c) for c in range(centres)]
        yield measured_cases(errors, [bound()] * centres, _at(problem), centres)


def envelope_privacy(problem: ReleaseProblem) -> Iterator[Cases]:
    """Pure eps-DP of the envelope, by Proposition 4.1."""
    privacy, provable = problem.ledger.rational("privacy"), 2 * problem.ledger.rational("envelope-penalty")
    count = len(problem.neighbour_pairs) * problem.space.transcript_count
    if distances_change_by_at_most_one(problem) and provable <= privacy:
        yield StructuralCase("privacy: Proposition 4.1, by integers", count)
    else:
        yield ScalarCase(lambda: provable, lambda: privacy, {"quantity": "privacy loss in units of ε"}, auxiliary=True)


def zero_output_error(problem: ReleaseProblem, bound: Callable[[], Scalar]) -> Iterator[Cases]:
    """The zero output: a one-point law is 0-DP, and the error is ``||F(x)||_inf``, exact, at most one."""
    yield StructuralCase("privacy: the output law is one point, the same for every database", 1)
    targets = problem.dataset_targets
    rows = [int(targets.of_histogram[c]) for c in problem.centres]
    sizes = [max(abs(v) for v in targets.numerators[row]) for row in rows]
    least = problem.ledger.rational("trivial-error")

    def witness(c: int) -> dict[str, Any]:
        return {"database": database_witness(problem, problem.centres[c]), "quantity": "‖F(x)‖_∞"}

    ones = [targets.scale] * len(sizes)
    yield exact_case(sizes, ones, targets.scale, least, witness, len(sizes))
    largest = max(range(len(sizes)), key=lambda c: sizes[c])
    worst = fmpq(sizes[largest], targets.scale)
    yield ScalarCase(lambda: worst, bound, witness(largest), count=len(sizes))
