"""§7: radial blocking and the utility of the envelope."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from certify.arithmetic.decide import decide_le
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.rounding import growth_factor
from certify.arithmetic.scalar import (
    Scalar,
    Undetermined,
    divide,
    exponential,
    logarithm,
    multiply,
    square_root,
)
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Cases, ScalarCase, StructuralCase, Worst
from certify.release.measurements import BlockRatio, BlockTerm, EnvelopeMass, Measurement
from certify.release.parameters import MAX_PRECISION, Parameters
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import (
    ReleaseStatement,
    at_most,
    database_witness,
    exact_case,
    measured_cases,
)
from certify.release.statements.section4 import normaliser_at_least


def growth_hypothesis(problem: ReleaseProblem) -> str | None:
    """None where ``kappa <= c_0 eps^2 / L`` holds, else the hypothesis with its measured values.

    Raises `Undetermined` where the two cannot be separated.
    """
    parameters = problem.parameters

    def allowed() -> Scalar:
        epsilon = parameters.epsilon()
        return divide(parameters.constant("growth-hypothesis") * epsilon * epsilon, parameters.code_entropy())

    decision = decide_le(parameters.kappa, allowed, precision=64, max_precision=MAX_PRECISION)
    if decision.verdict is Verdict.UNDECIDED:
        raise Undetermined(f"κ ≤ c₀ε²/L: {decision.reason}")
    if decision.verdict is Verdict.PROVED:
        return None
    return f"the hypothesis κ ≤ c₀ε²/L fails: κ ≥ {_low(decision.lhs)}, c₀ε²/L ≤ {_high(decision.rhs)}"


def _low(value: Enclosure) -> str:
    return value.decimals(6)["lower"]


def _high(value: Enclosure) -> str:
    return value.decimals(6)["upper"]


class _UnderGrowth(ReleaseStatement):
    """A statement that needs the envelope-growth condition (7)."""

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        return super().not_applicable(problem) or growth_hypothesis(problem)


class GrowthCondition(_UnderGrowth):
    """``5 sqrt(c_0) <= 1/100``, and so ``5 sqrt(A_R L) <= eps R/100`` for every R, where ``kappa <= c_0 eps^2/L``."""

    id: ClassVar[str] = "eq-7.growth"
    title: ClassVar[str] = "Envelope-growth condition"
    source: ClassVar[str] = "§7"
    claim: ClassVar[str] = "5√c₀ ≤ 1/100; κ ≤ c₀ε²/L ⇒ 5√(A_R L) ≤ εR/100"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p = evidence.parameters
        five, rate = p.constant("ball-growth"), p.constant("growth-rate")
        yield ScalarCase(
            lambda: five * square_root(p.constant("growth-hypothesis")), lambda: rate, {"quantity": "5√c₀"}
        )
        # both sides are linear in R
        yield ScalarCase(
            lambda: five * p.root_growth(1),
            lambda: rate * p.epsilon(),
            {"quantity": "5√(A_R L)/R"},
            count=evidence.problem.instance.n,
        )


class BlockIndex(ReleaseStatement):
    """``j = floor((d_H - 1)/B) < n`` and ``jB + 1 <= d_H <= (j+1) B`` for every distance 1..n, in integers."""

    id: ClassVar[str] = "eq-7.block-index"
    title: ClassVar[str] = "Block of a distance"
    source: ClassVar[str] = "§7"
    claim: ClassVar[str] = "j = ⌊(d_H-1)/B⌋ < n, jB+1 ≤ d_H ≤ (j+1)B"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, width = evidence.problem, evidence.parameters.block_width
        n = problem.instance.n
        distances = np.arange(1, n + 1, dtype=object)
        index = (distances - 1) // width
        offset = problem.ledger.rational("block-inner-offset")
        slack = problem.ledger.rational("block-count-slack")
        one = fmpq(1)

        def witness(i: int) -> dict[str, Any]:
            return {"distance": i + 1, "j": int(index[i]), "B": width}

        rows = np.full(n, n, dtype=object)
        yield exact_case((index + 1) * int(slack.q) + int(slack.p), rows * int(slack.q), int(slack.q), one, witness, n)
        inner = index * width * int(offset.q) + int(offset.p)
        yield exact_case(inner, distances * int(offset.q), int(offset.q), one, witness, n)
        yield exact_case(distances, (index + 1) * width, 1, one, witness, n)


def block_terms(problem: ReleaseProblem) -> tuple[BlockTerm, ...]:
    """The right side of the block bound: one term a block, those beyond n summed in closed form."""
    width, n = problem.parameters.block_width, problem.instance.n
    offset = problem.ledger.rational("block-inner-offset")
    full = min(n, -(-n // width))
    terms = [BlockTerm(j * width + offset, fmpq(width), 1, min(n, (j + 1) * width)) for j in range(full)]
    if full < n:
        terms.append(BlockTerm(full * width + offset, fmpq(width), n - full, n))
    return tuple(terms)


class BlockBound(ReleaseStatement):
    """``p~_x <= p_x + sum_{j<n} e^{-(eps/2)(jB+1)} H_{R_j}`` on every transcript.

    Term by term, in integers: y at distance d >= 1 lies in block ``j = floor((d-1)/B) < n`` with ``jB + 1
    <= d <= R_j``, so its own term stands on the right.
    """

    id: ClassVar[str] = "eq-7.block"
    title: ClassVar[str] = "Pointwise block bound"
    source: ClassVar[str] = "§7"
    claim: ClassVar[str] = "p̃_x(ω) ≤ p_x(ω) + Σ_{j<n} e^{-(ε/2)(jB+1)} H_{R_j}(ω)"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(), BlockRatio(block_terms(problem)))

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        measurement = BlockRatio(block_terms(problem))
        count = problem.space.transcript_count * len(problem.centres)
        holds = self._holds_in_integers(problem)
        if evidence.arithmetic.combine is not np.multiply:
            if holds:
                yield StructuralCase("term by term: each y's own term stands on the right", count)
                return
            raise Undetermined("the block ratio is not measured in logarithms; use --precision 128")
        room = arb(0)
        if evidence.precision.in_floats:
            room = arb(0, arb(growth_factor(measurement.roundings)).log().upper())
        lhs = [(evidence.log_ratio(measurement, "ratio", (c,)) + room).exp() for c in range(len(problem.centres))]

        def witness(c: int) -> dict[str, Any]:
            return {
                "database": database_witness(problem, problem.centres[c]),
                "transcript": evidence.transcript_at(measurement, "ratio", (c,)),
                "quantity": "left side over right side",
            }

        if holds:
            top = int(np.argmax([float(value) for value in lhs]))
            one = Enclosure.of(1)
            shown = Worst(at_most(Enclosure.of(lhs[top]), one), one, witness(top))
            yield StructuralCase("term by term: each y's own term stands on the right", count, shown)
        else:
            yield measured_cases(lhs, [fmpq(1)] * len(lhs), witness, count)

    def _holds_in_integers(self, problem: ReleaseProblem) -> bool:
        width, n = problem.parameters.block_width, problem.instance.n
        offset = problem.ledger.rational("block-inner-offset")
        return all(
            (d - 1) // width < n and ((d - 1) // width) * width + offset <= d <= ((d - 1) // width + 1) * width
            for d in range(1, n + 1)
        )


class BlockSummation(ReleaseStatement):
    """Lemma 7.1 for every j >= 0 and every N >= 0.

    The exponent of ``Phi_j / (e u_eps e^{-j theta/3})`` is linear in j, so its value at j = 0 and its slope
    decide. The finite sums are at most the infinite ones, which are geometric: ``Phi_0/(1-s)`` and
    ``Phi_0/(1-s)^2``.
    """

    id: ClassVar[str] = "lemma-7.1"
    title: ClassVar[str] = "Blocked-radius summation"
    source: ClassVar[str] = "§7, Lemma 7.1"
    claim: ClassVar[str] = "Φ_j ≤ e u_ε e^{-jθ/3}; Σ_{j<N} Φ_j ≤ 2e u_ε; Σ_{j<N} (j+1)Φ_j ≤ 4e u_ε"
    about_transcripts = False

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p = evidence.parameters
        width, theta = {"B": p.block_width}, p.theta

        def first() -> Scalar:
            """The exponent of Phi_0."""
            inner = -p.penalty_rate() * p.constant("block-inner-offset")
            return inner + theta() * p.constant("growth-rate")

        def slope() -> Scalar:
            return theta() * (p.constant("growth-rate") - p.constant("envelope-penalty"))

        def peak() -> Scalar:
            return logarithm(p.constant("block-peak")) + logarithm(p.damping())

        def tail() -> Scalar:
            return 1 - exponential(slope())

        def total(power: int) -> Callable[[], Scalar]:
            return lambda: divide(exponential(first()), tail() if power == 1 else tail() * tail())

        yield ScalarCase(first, peak, {**width, "j": 0, "quantity": "exponent of Φ_0"})
        yield ScalarCase(
            slope,
            lambda: -theta() * p.constant("block-decay"),
            {**width, "quantity": "slope of the exponent in j"},
        )
        yield ScalarCase(
            total(1), lambda: p.constant("block-mass") * p.damping(), {**width, "N": "∞", "quantity": "Σ Φ_j"}
        )
        yield ScalarCase(
            total(2),
            lambda: p.constant("block-weighted-mass") * p.damping(),
            {**width, "N": "∞", "quantity": "Σ (j+1)Φ_j"},
        )


class Damping(ReleaseStatement):
    """``u_eps <= 1``, ``B u_eps <= 9/eps``, ``theta >= 3``, ``theta <= 4`` if eps <= 1, else ``theta <= 3 eps``.

    The last is the integer comparison ``B <= 3``, since both sides have the factor eps.
    """

    id: ClassVar[str] = "eq-7.damping"
    title: ClassVar[str] = "Block width and damping"
    source: ClassVar[str] = "§7"
    claim: ClassVar[str] = "u_ε ≤ 1; B u_ε ≤ 9/ε; 3 ≤ θ; θ ≤ 4 if ε ≤ 1; θ ≤ 3ε if ε > 1"
    about_transcripts = False

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p = evidence.parameters
        width = p.block_width
        named = {"B": width}
        yield ScalarCase(p.damping, lambda: p.constant("damping-one"), {**named, "quantity": "u_ε"})
        yield ScalarCase(
            lambda: multiply(p.theta(), p.damping()),
            lambda: p.constant("damping-width"),
            {**named, "quantity": "ε B u_ε"},
        )
        yield ScalarCase(lambda: p.constant("theta-least"), p.theta, {**named, "quantity": "3 ≤ θ"})
        if p.epsilon_at_most_one:
            yield ScalarCase(p.theta, lambda: p.constant("theta-small-epsilon"), {**named, "quantity": "θ"})
        else:
            yield ScalarCase(
                lambda: fmpq(width), lambda: p.constant("theta-large-epsilon"), {**named, "quantity": "θ/ε"}
            )


class EnvelopeNormaliser(_UnderGrowth):
    """``1 <= Z_x <= 1 + 2e u_eps <= 1 + 2e`` for every centre."""

    id: ClassVar[str] = "eq-7.normaliser"
    title: ClassVar[str] = "Normaliser bound"
    source: ClassVar[str] = "§7"
    claim: ClassVar[str] = "1 ≤ Z_x ≤ 1 + 2e u_ε ≤ 1 + 2e"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p = evidence.problem, evidence.parameters
        yield from normaliser_at_least(evidence)
        mass = p.constant("block-mass")
        excesses = [evidence.excess(EnvelopeMass(), (c,)) for c in range(len(problem.centres))]

        def witness(c: int) -> dict[str, Any]:
            return {"database": database_witness(problem, problem.centres[c]), "quantity": "Z_x - 1"}

        yield measured_cases(excesses, [mass * p.damping()] * len(excesses), witness, len(excesses))
        yield ScalarCase(p.damping, lambda: fmpq(1), {"quantity": "u_ε, both sides divided by 2e"})


class EnvelopeError(_UnderGrowth):
    """``sum p~_x L_x <= alpha_0 + 2e u alpha_0 + 32e B u/n <= 3e alpha_0 + 288e/(eps n)``, and the same for E."""

    id: ClassVar[str] = "eq-7.error"
    title: ClassVar[str] = "Envelope error"
    source: ClassVar[str] = "§7"
    claim: ClassVar[str] = "E‖M(x)-F(x)‖_∞ ≤ Σp̃_x L_x ≤ α₀+2eu_ε α₀+32eBu_ε/n ≤ 3eα₀+288e/(εn)"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p = evidence.problem, evidence.parameters

        def middle() -> Scalar:
            spread = p.constant("block-mass") * p.damping() * p.alpha_0()
            return p.alpha_0() + spread + p.constant("block-error") * p.block_width * p.damping() / problem.instance.n

        yield ScalarCase(middle, lambda: error_bound(p), {"quantity": "α₀+2eu_ε α₀+32eBu_ε/n"})
        centres = range(len(problem.centres))
        sums = [weighted_loss(evidence, c) for c in centres]

        def witness(quantity: str) -> Callable[[int], dict[str, Any]]:
            return lambda c: {"database": database_witness(problem, problem.centres[c]), "quantity": quantity}

        count = len(problem.centres)
        yield measured_cases(sums, [middle()] * count, witness("Σ p̃_x L_x"), count)
        errors = [expected_error(evidence, c) for c in centres]
        yield measured_cases(errors, [error_bound(p)] * count, witness("E‖M(x)-F(x)‖_∞"), count)


def error_bound(parameters: Parameters) -> Scalar:
    """``3e alpha_0 + 288e/(eps n)``."""
    linear = divide(parameters.constant("linear-multiple"), parameters.epsilon() * parameters.rows)
    return parameters.constant("regret-multiple") * parameters.alpha_0() + linear


def weighted_loss(evidence: Evidence, centre: int) -> arb:
    """``sum p~_x L_x``."""
    mass = evidence.normaliser(EnvelopeMass(), centre)
    return evidence.with_loss(EnvelopeMass(), "loss", (centre,), mass, centre)


def expected_error(evidence: Evidence, centre: int) -> arb:
    """``E ||M(x) - F(x)||_inf = sum p~_x L_x / Z_x``."""
    return weighted_loss(evidence, centre) / evidence.normaliser(EnvelopeMass(), centre)
