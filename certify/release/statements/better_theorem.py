"""A smaller constant in Theorem 1.1 by the same construction: BC-1, BC-6, BC-7, BC-8 and the theorem.

The statements are about instances whose mechanism is tuned; `constants/BETTER_CONSTANT.md` has the proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from certify.arithmetic.ceiling import certified_floor
from certify.arithmetic.scalar import Scalar, Undetermined, add, divide, exponential, minimum, multiply, power
from certify.engine.statement import ArrayCases, Cases, ScalarCase, StructuralCase
from certify.release.measurements import EnvelopeMass, LossBeyond, Measurement
from certify.release.mechanism import ExactOutput, NoisyHistogram, ResolvedMechanism
from certify.release.parameters import MAX_PRECISION
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import (
    ReleaseStatement,
    database_witness,
    measured_cases,
    object_array,
)
from certify.release.statements.better_histogram import histogram_theorem
from certify.release.statements.section7 import expected_error
from certify.release.statements.section8 import envelope_privacy, zero_output_error
from certify.release.tuning import TunedEnvelope

NOT_TUNED = 'the mechanism is not tuned; write "mechanism": {"tuned": "8"}'


def tuned_envelope(problem: ReleaseProblem) -> TunedEnvelope:
    """The tuning of an instance in the envelope branch."""
    mechanism = problem.mechanism
    assert isinstance(mechanism, ResolvedMechanism) and mechanism.tuned is not None
    return mechanism.tuned


class TunedStatement(ReleaseStatement):
    """A step of the proof of a smaller constant; it needs a tuned mechanism, and the envelope branch of it."""

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        return super().not_applicable(problem) if problem.is_tuned else NOT_TUNED


class ThresholdStep(TunedStatement):
    """``E L_x <= t + sum p~_x (L_x - t)_+`` with the rung's t, and ``L_x - Gbar <= reg`` on every transcript.

    The second, with ``t = reg + s``, makes the excess at most ``(Gbar - s)_+``: ``J L_x <= sum D*_t``, and
    ``sum D*_t - sum G_t = sum D_t(s_t)``, whose largest value over all transcripts is a longest path.
    """

    id: ClassVar[str] = "bc-1"
    title: ClassVar[str] = "Threshold step"
    source: ClassVar[str] = "smaller constant, BC-1"
    claim: ClassVar[str] = "E L_x ≤ t + Σ p̃_x (L_x-t)_+; L_x - Ḡ ≤ reg on every transcript"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(), _loss_beyond(problem))

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p, tuned = evidence.problem, evidence.parameters, tuned_envelope(evidence.problem)
        threshold = multiply(p.constant("better-threshold"), tuned.threshold())
        centres = range(len(problem.centres))
        errors = [expected_error(evidence, c) for c in centres]
        bounds = [add(threshold, _mean_beyond(evidence, c)) for c in centres]
        yield measured_cases(errors, bounds, _at(problem, "E L_x"), len(errors))
        yield from self._paths(evidence, multiply(p.constant("better-regret"), tuned.evaluate("regret_J")))
        count = problem.space.transcript_count * len(problem.centres)
        yield StructuralCase("J L_x ≤ ΣD*_t, since D*_t is the largest of the D_t(s)", count)

    def _paths(self, evidence: Evidence, regret: Scalar) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        own = problem.targets.of_histogram[np.array(problem.centres)]
        scores = kernels.discrepancies(own)
        longest = kernels.longest_path(scores) / array.exact(problem.rounds)

        def witness(index: tuple[int, ...]) -> dict[str, Any]:
            path = kernels.longest_transcript(scores, index[0])
            return {
                **_at(problem, "(1/J)ΣD_t(s_t)")(index[0]),
                "transcript": [problem.domain.signed_name(s) for s in path],
            }

        count = problem.space.transcript_count * len(own)
        yield ArrayCases(longest, array.from_balls(object_array([regret] * len(own))), witness, count)


def _loss_beyond(problem: ReleaseProblem) -> LossBeyond:
    return LossBeyond(tuned_envelope(problem).threshold)


def _mean_beyond(evidence: Evidence, centre: int) -> arb:
    """``sum p~_x (L_x - t)_+``."""
    measurement = _loss_beyond(evidence.problem)
    lower = evidence.total(measurement, "lower", (centre,)).nonnegative_part()
    return lower.union(evidence.total(measurement, "upper", (centre,)))


class BetterBlockSums(TunedStatement):
    """The sums over all blocks j >= 0 of ``w_j = e^{-(eps/2)(jB+1)}`` times the growth of the ball ``R_j = (j+1)B``.

    At the near rate over all blocks at most S; at the far rate over those with ``eps R_j > X`` at most ``S_f``, and
    times ``eps R_j`` at most F. The terms are geometric in j, so the infinite sums have closed forms; those up to any
    number of rows are at most these.
    """

    id: ClassVar[str] = "bc-6"
    title: ClassVar[str] = "Block sums"
    source: ClassVar[str] = "smaller constant, BC-6"
    claim: ClassVar[str] = "Σ w_j e^{gεR_j} ≤ S; Σ_far w_j e^{g_f εR_j} ≤ S_f; Σ_far εR_j w_j e^{g_f εR_j} ≤ F"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p, tuned = evidence.parameters, tuned_envelope(evidence.problem)
        first_far = 1 + certified_floor(lambda: divide(tuned.evaluate("X"), tuned.theta()), max_precision=MAX_PRECISION)
        width = {"B": tuned.block_width}

        def decay() -> Scalar:
            """``e^{-p_f theta}``."""
            return exponential(-multiply(tuned.evaluate("1/2 - far_rate"), tuned.theta()))

        def tail(weighted: bool) -> Scalar:
            """The sum of ``q^i``, or ``i q^i``, from the first far block on, times ``e^{(theta - eps)/2}``."""
            q = decay()
            geometric = divide(power(q, fmpq(first_far)), 1 - q)
            if weighted:
                geometric = multiply(geometric, add(fmpq(first_far), divide(q, 1 - q)))
            return multiply(exponential((tuned.theta() - tuned.epsilon()) / 2), geometric)

        def bound(constant: str, name: str) -> Callable[[], Scalar]:
            return lambda: multiply(p.constant(constant), tuned.evaluate(name))

        if tuned.choices.g >= fmpq(1, 2):
            raise Undetermined("the sum over all blocks is infinite for g of at least 1/2")
        half = fmpq(1, 2)
        yield ScalarCase(lambda: tuned.evaluate("far_rate"), lambda: half, strict=True, auxiliary=True)
        near = {**width, "quantity": "Σ w_j e^{gεR_j}"}
        yield ScalarCase(lambda: _all_blocks(tuned), bound("better-near-sum", "S"), near)
        far = {**width, "first j": first_far - 1}
        yield ScalarCase(
            lambda: tail(False), bound("better-far-sum", "S_f"), {**far, "quantity": "Σ_far w_j e^{g_f εR_j}"}
        )
        yield ScalarCase(
            lambda: multiply(tuned.theta(), tail(True)),
            bound("better-far-weighted-sum", "F"),
            {**far, "quantity": "Σ_far εR_j w_j e^{g_f εR_j}"},
        )


def _all_blocks(tuned: TunedEnvelope) -> Scalar:
    """The sum at the near rate: ``e^{g theta - eps/2}/(1 - e^{-(1/2 - g) theta})``, for ``g < 1/2``."""
    g, theta = tuned.choices.g, tuned.theta()
    return divide(exponential(g * theta - tuned.epsilon() / 2), 1 - exponential((g - fmpq(1, 2)) * theta))


class BetterError(TunedStatement):
    """The exact expected error is at most ``regret_factor reg + gap_factor log K/eta + 4F/W``."""

    id: ClassVar[str] = "bc-7"
    title: ClassVar[str] = "Error of the tuned envelope"
    source: ClassVar[str] = "smaller constant, BC-7"
    claim: ClassVar[str] = "E‖M(x)-F(x)‖_∞ ≤ a·reg + c·log(2k)/η + 4F/(εn), a and c of the rung"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, tuned = evidence.problem, tuned_envelope(evidence.problem)
        errors = [expected_error(evidence, c) for c in range(len(problem.centres))]
        bound = multiply(evidence.parameters.constant("better-error"), tuned.evaluate("error"))
        yield measured_cases(errors, [bound] * len(errors), _at(problem, "E‖M(x)-F(x)‖_∞"), len(errors))


class BetterChoice(TunedStatement):
    """With ``C tau <= 1``: the bound of BC-7 is at most ``C tau``, ``J >= j C^2 L_D``, ``gamma <= 1``, and balls grow
    at the rate g: ``near sqrt(A_R L) = g eps R``.

    The last is an equality, by an identity of rational functions in g, eps, n, J and L.
    """

    id: ClassVar[str] = "bc-8"
    title: ClassVar[str] = "Choice of J, η, γ for the smaller constant"
    source: ClassVar[str] = "smaller constant, BC-0 and BC-8"
    claim: ClassVar[str] = "a·reg + c·log(2k)/η + 4F/(εn) ≤ Cτ; J ≥ j C² L_D; γ ≤ 1; near·√(A_R L) = gεR"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p, tuned = evidence.problem, evidence.parameters, tuned_envelope(evidence.problem)
        rounds = fmpq(tuned.rounds)

        def scaled_tau() -> Scalar:
            return multiply(p.constant("better-final"), multiply(tuned.constant, p.tau()))

        yield ScalarCase(lambda: tuned.evaluate("error"), scaled_tau, {"quantity": "bound of BC-7", "J": tuned.rounds})
        yield ScalarCase(
            lambda: multiply(p.constant("better-rounds"), tuned.evaluate("j*C^2*L_D")),
            lambda: rounds,
            {"quantity": "j C² L_D ≤ J"},
        )
        yield ScalarCase(tuned.gamma, lambda: p.constant("better-rate"), {"quantity": "γ"})
        scale = p.constant("better-moment-scale")
        if isinstance(scale, fmpq) and tuned.grows_at_rate(scale):
            yield StructuralCase("near√(A_R L) = gεR, an identity in g, ε, n, J and L", problem.instance.n)
        else:
            # both sides are linear in R
            yield ScalarCase(
                lambda: multiply(
                    tuned.evaluate("near"),
                    multiply(power(scale, fmpq(1, 2)), tuned.evaluate(f"sqrt(J*L)*eta/{problem.instance.n}")),
                ),
                lambda: tuned.evaluate("g*epsilon"),
                {"quantity": "near√(A_R L)/R"},
                count=problem.instance.n,
            )


class BetterTheorem(TunedStatement):
    """Theorem 1.1 with the smaller constant, for the mechanism of its proof: pure eps-DP and the error bound."""

    id: ClassVar[str] = "bc-thm"
    title: ClassVar[str] = "Pure-DP query release with a smaller constant"
    source: ClassVar[str] = "smaller constant, theorem"
    claim: ClassVar[str] = "M is ε-DP and E‖M(x)-F(x)‖_∞ ≤ C · min{1, √(log 2T log 2k/(εn))}"
    about_transcripts = False

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(),) if problem.has_transcripts else ()

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p, tuned = evidence.problem, evidence.parameters, evidence.problem.mechanism.tuned
        assert tuned is not None

        def bound() -> Scalar:
            return multiply(p.constant("better-theorem") * tuned.constant, minimum([fmpq(1), p.tau()]))

        count = len(problem.centres)
        if problem.zero_output:
            yield from zero_output_error(problem, bound)
        elif isinstance(problem.mechanism, ExactOutput):
            yield StructuralCase("privacy: there is one answer, the same for every database", 1)
            yield ScalarCase(lambda: fmpq(0), bound, {"quantity": "E‖M(x)-F(x)‖_∞"}, count=count)
        elif isinstance(problem.mechanism, NoisyHistogram):
            yield from histogram_theorem(evidence, bound)
        else:
            yield from envelope_privacy(problem)
            errors = [expected_error(evidence, c) for c in range(count)]
            yield measured_cases(errors, [bound()] * count, _at(problem, "E‖M(x)-F(x)‖_∞"), count)


def _at(problem: ReleaseProblem, quantity: str) -> Callable[[int], dict[str, Any]]:
    return lambda c: {"database": database_witness(problem, problem.centres[c]), "quantity": quantity}
