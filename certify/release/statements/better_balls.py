"""BC-4: the sums over transcripts of the maximum over a ball of databases, near the centre and far from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from flint import arb, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undetermined, ball, divide, exponential, logarithm, multiply, square_root
from certify.engine.statement import Cases, ScalarCase
from certify.release.ball_growth import BallGrowth
from certify.release.measurements import BallLossBeyond, BallMass, Measurement
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import ReleaseStatement, database_witness, measured_cases


class _BallStatement(ReleaseStatement):
    """What bc-4.near and bc-4.far share: the sums of H_R, H_R L_x and H_R (L_x - t)_+, with ``t = regret + log K/eta``.

    The growth, L and the code are those of the instance's rung, and of the two-sided code where it has none.
    """

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and problem.domain.universe_size == 1:
            return "T = 1: there is one database"
        return reason

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (BallMass(), *self.losses(problem))

    def losses(self, problem: ReleaseProblem) -> tuple[BallLossBeyond, BallLossBeyond]:
        """L_x, and what of it is above t. Raises `Undetermined` where t has no finite enclosure."""
        threshold = problem.quantity(lambda: problem.parameters.regret() + _selection(problem))
        if threshold.width() is None:
            raise Undetermined("the threshold regret + log K/η has no finite enclosure")
        return BallLossBeyond(Enclosure.of(0)), BallLossBeyond(threshold)

    def sums(
        self,
        evidence: Evidence,
        centre: int,
        radii: range,
        exponents: list[tuple[str, list[Scalar]]],
        factors: Sequence[tuple[BallLossBeyond, Sequence[Scalar]]],
    ) -> Iterator[Cases]:
        """``log sum H_R <= exponent`` and ``sum H_R phi <= exp(exponent) factor`` for each exponent and each phi."""
        problem = evidence.problem
        count = len(radii) * problem.space.transcript_count
        database = database_witness(problem, problem.centres[centre])
        masses = [evidence.excess(BallMass(), (radius, centre)).log1p() for radius in radii]
        for name, exponent in exponents:

            def witness(quantity: str, name: str = name) -> Any:
                return lambda i: {"database": database, "R": radii[i], "quantity": quantity, "exponent": name}

            yield measured_cases(masses, exponent, witness("log Σ H_R"), count)
            for (loss, factor), quantity in zip(factors, ("Σ H_R L_x", "Σ H_R (L_x-t)₊"), strict=True):
                losses = [_ball_sum(evidence, loss, radius, centre) for radius in radii]
                limits = [ball(e).exp() * ball(f) for e, f in zip(exponent, factor, strict=True)]
                yield measured_cases(losses, limits, witness(quantity), count)


def _selection(problem: ReleaseProblem) -> Scalar:
    """``log K/eta``, K = 2k."""
    return divide(logarithm(fmpq(problem.domain.signed_count)), problem.parameters.eta())


def _ball_sum(evidence: Evidence, beyond: BallLossBeyond, radius: int, centre: int) -> arb:
    """``sum H_R phi``."""
    low, high = _ends(evidence, beyond, ("lower", "upper"), (radius, centre))
    return low.union(high)


def _norm(evidence: Evidence, beyond: BallLossBeyond, centre: int) -> arb:
    """``||phi||_{L2(P_x)}``."""
    low, high = _ends(evidence, beyond, ("square_lower", "square_upper"), (centre,))
    return low.sqrt().union(high.sqrt())


def _ends(
    evidence: Evidence, beyond: BallLossBeyond, names: tuple[str, str], index: tuple[int, ...]
) -> tuple[arb, arb]:
    """Ends at least 0 of a sum, both exactly 0 where phi vanishes.

    A product of a mass and a small value may underflow: it is then off by at most 2^-1074, which `_UNDERFLOW`
    covers for all classes.
    """
    zero = arb(0)
    if evidence.results[beyond]["possible"].value(index[-1:]) == 0:
        return zero, zero
    lower, upper = (evidence.total(beyond, name, index) for name in names)
    if evidence.precision.in_floats:
        lower, upper = lower - _UNDERFLOW, upper + _UNDERFLOW
    return lower.lower().max(zero), upper.upper().max(zero)


_UNDERFLOW = arb(2) ** -1000


def gap_ratio(problem: ReleaseProblem) -> Scalar:
    """``nu = (1 + K^{-1/2})/2``."""
    root = square_root(fmpq(problem.domain.signed_count))
    return multiply(problem.ledger.value("better-gap-moment"), divide(1 + root, root))


class NearGrowth(_BallStatement):
    """For every R with ``x = sqrt(A_R/L) <= far_from``, on any loss phi: ``sum H_R phi <= e^E ||phi||_{L2(P_x)}``.

    The order is ``r = max(2, ceil(1/x))`` and the exponent ``E = A/2 + L/r + A(r-1) <= 2 sqrt(A_R L)`` where the
    code is two-sided; see `BallGrowth` for the other rungs. phi is L_x, and what of it is above t.
    """

    id: ClassVar[str] = "bc-4.near"
    title: ClassVar[str] = "Balls near the centre"
    source: ClassVar[str] = "smaller constant, BC-4, near"
    claim: ClassVar[str] = (
        "ΣH_R ≤ e^E; ΣH_R φ ≤ e^E‖φ‖₂ for φ = L_x, (L_x-t)₊; E ≤ near √(A_R L) (two-sided: A/2+L/r+A(r-1) ≤ 2√(A_R L))"
    )

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and not BallGrowth.of(problem).near_radii:
            return "no radius is near, not even R = 1"
        return reason

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        growth = BallGrowth.of(problem)
        radii = growth.near_radii
        orders = {radius: growth.near_order(radius) for radius in radii}
        for radius in radii:
            yield ScalarCase(
                partial(growth.near_exponent, radius, orders[radius]),
                partial(growth.near_bound, radius),
                {"R": radius, "r": orders[radius], "quantity": growth.near_formula},
            )
        exponents = [
            (growth.near_formula, [growth.near_exponent(radius, orders[radius]) for radius in radii]),
            (growth.near_bound_formula, [growth.near_bound(radius) for radius in radii]),
        ]
        for c in range(len(problem.centres)):
            factors = [(loss, [_norm(evidence, loss, c)] * len(radii)) for loss in self.losses(problem)]
            yield from self.sums(evidence, c, radii, exponents, factors)


class FarGrowth(_BallStatement):
    """For every R with ``x > far_from``: ``sum H_R phi <= e^E max_v E_{P_v} phi``, v in the code of length m.

    ``m = floor(x)`` and ``E = A/(2m) + mL <= 1.5 sqrt(A_R L)`` where the code is two-sided. On every transcript
    ``L_x <= regret + 4R/n + Gbar^v``, so that E L_x is at most ``regret + log K/eta + 4R/n`` and E(L_x - t)_+ at most
    ``4R/n + (2/(e eta J)) nu^J`` (bc-5.softmax, bc-5.excess).
    """

    id: ClassVar[str] = "bc-4.far"
    title: ClassVar[str] = "Balls far from the centre"
    source: ClassVar[str] = "smaller constant, BC-4, far"
    claim: ClassVar[str] = (
        "ΣH_R ≤ e^E; ΣH_R L_x ≤ e^E(reg+log K/η+4R/n); ΣH_R (L_x-t)₊ ≤ e^E(4R/n+(2/(eηJ))ν^J); "
        "E ≤ far √(A_R L) (two-sided: A/(2m)+mL ≤ 3/2 √(A_R L))"
    )

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and not BallGrowth.of(problem).far_radii:
            return f"no radius is far up to R = n = {problem.instance.n}"
        return reason

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        growth = BallGrowth.of(problem)
        radii = growth.far_radii
        lengths = {radius: growth.far_length(radius) for radius in radii}
        for radius in radii:
            yield ScalarCase(
                partial(growth.far_exponent, radius, lengths[radius]),
                partial(growth.far_bound, radius),
                {"R": radius, "m": lengths[radius], "quantity": growth.far_formula},
            )
        exponents = [
            (growth.far_formula, [growth.far_exponent(radius, lengths[radius]) for radius in radii]),
            (growth.far_bound_formula, [growth.far_bound(radius) for radius in radii]),
        ]
        p = problem.parameters
        shifts = [p.constant("better-loss") * fmpq(radius, problem.instance.n) for radius in radii]
        mean = p.regret() + p.constant("better-gap-mean") * _selection(problem)
        tail = divide(p.constant("better-gap-excess"), exponential(fmpq(1)) * p.eta() * p.rounds)
        tail = multiply(tail, ball(gap_ratio(problem)) ** p.rounds)
        whole, above = self.losses(problem)
        factors = [(whole, [mean + shift for shift in shifts]), (above, [shift + tail for shift in shifts])]
        for c in range(len(problem.centres)):
            yield from self.sums(evidence, c, radii, exponents, factors)
