"""Which mechanism an instance runs: explicit (J, eta, gamma), the choices (8.3) for an alpha, the proof's own, or that
of the proof of a smaller constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from certify.arithmetic.ceiling import certified_ceiling
from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import Scalar, Undetermined, divide, logarithm, multiply, square_root
from certify.arithmetic.verdict import Verdict
from certify.release.instance import AlphaMechanism, ExplicitMechanism, ReleaseInstance, TunedMechanism
from certify.release.tuning import TunedEnvelope, TunedInstance, tuning_named
from constants.ledger import Ledger
from constants.search.rung import Histogram

MAX_PRECISION = 4096


@dataclass(frozen=True)
class ResolvedMechanism:
    """J, eta, gamma at any precision; ``alpha`` where (8.3) made them; ``from_theorem`` for the proof's own branch;
    ``tuned`` where the tuning of a rung made them.
    """

    rounds: int
    eta: Callable[[], Scalar]
    gamma: Callable[[], Scalar]
    alpha: Callable[[], Scalar] | None = None
    from_theorem: bool = False
    tuned: TunedEnvelope | None = None


@dataclass(frozen=True)
class ZeroOutput:
    """The deterministic zero-output mechanism of the trivial branch (§8); ``tuned`` where it is that of a rung."""

    tuned: TunedInstance | None = None


@dataclass(frozen=True)
class ExactOutput:
    """The exact answer, for a universe of one element: it is the same for every database."""

    tuned: TunedInstance


@dataclass(frozen=True)
class NoisyHistogram:
    """The counts with two-sided geometric noise, for small universes (BC-10)."""

    tuned: TunedInstance


AnyMechanism = ResolvedMechanism | ZeroOutput | ExactOutput | NoisyHistogram


def resolve_mechanism(instance: ReleaseInstance, ledger: Ledger) -> AnyMechanism:
    """The mechanism of an instance. Raises `Undetermined` where a ceiling or the branch cannot be decided."""
    mechanism = instance.mechanism
    if isinstance(mechanism, TunedMechanism):
        return _tuned(instance, mechanism.rung)
    if isinstance(mechanism, ExplicitMechanism):
        return ResolvedMechanism(mechanism.rounds, mechanism.eta.value, mechanism.gamma.value)
    if isinstance(mechanism, AlphaMechanism):
        return _choices(instance, ledger, mechanism.alpha.value, from_theorem=False)

    def alpha() -> Scalar:
        product = multiply(logarithm(fmpq(2 * len(instance.universe))), logarithm(fmpq(2 * len(instance.query_names))))
        tau = square_root(divide(product, instance.epsilon.value() * instance.n))
        return multiply(ledger.value("theorem-threshold"), tau)

    branch = decide_le(alpha, lambda: fmpq(1), precision=64, max_precision=MAX_PRECISION)
    if branch.verdict is Verdict.UNDECIDED:
        raise Undetermined(f"the branch of Theorem 1.1 (2048 tau <= 1) cannot be decided: {branch.reason}")
    if branch.verdict is Verdict.REFUTED:
        return ZeroOutput()
    return _choices(instance, ledger, alpha, from_theorem=True)


def _choices(
    instance: ReleaseInstance, ledger: Ledger, alpha: Callable[[], Scalar], *, from_theorem: bool
) -> ResolvedMechanism:
    """(8.3): ``J = ceil(16 L_D/alpha^2)``, ``eta = 128 L_Q/alpha``, ``gamma = alpha/4``."""

    def rounds() -> Scalar:
        a = alpha()
        return divide(multiply(ledger.value("rounds-choice"), logarithm(fmpq(2 * len(instance.universe)))), a * a)

    def eta() -> Scalar:
        return divide(
            multiply(ledger.value("selection-choice"), logarithm(fmpq(2 * len(instance.query_names)))),
            alpha(),
        )

    def gamma() -> Scalar:
        return multiply(ledger.value("update-choice"), alpha())

    return ResolvedMechanism(
        certified_ceiling(rounds, max_precision=MAX_PRECISION), eta, gamma, alpha, from_theorem=from_theorem
    )


def _tuned(instance: ReleaseInstance, rung: str) -> AnyMechanism:
    """The branch of a rung: exact for T = 1, zero for ``C tau > 1``, else what its tuning has for this T."""
    tuning = tuning_named(rung)
    size = len(instance.universe)
    given = (tuning, size, len(instance.query_names), instance.n, instance.epsilon.value)
    tuned = TunedInstance(*given)
    if size == 1:
        return ExactOutput(tuned)
    if not tuned.is_beyond_zero:
        return ZeroOutput(tuned)
    choices = tuning.range_of(size)
    if isinstance(choices, Histogram):
        return NoisyHistogram(tuned)
    envelope = TunedEnvelope(*given, choices)
    return ResolvedMechanism(envelope.rounds, envelope.eta, envelope.gamma, tuned=envelope)
