"""§6: likelihood-ratio moments, the near and far ball estimates, the boxed bound (6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from certify.arithmetic.scalar import Scalar, ball, multiply
from certify.engine.statement import ArrayCases, Cases, ScalarCase, StructuralCase, Witness
from certify.release.domain import Integers
from certify.release.measurements import BallMass, Measurement, TargetMoments
from certify.release.parameters import Parameters
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import (
    ReleaseStatement,
    chunks,
    database_witness,
    measured_cases,
    object_array,
    target_witness,
)
from certify.release.statements.section3 import CHUNK, second_moment
from certify.release.targets import single_moves

ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
"""Integer orders at which Lemma 6.1 is measured; between them convexity, beyond them Hoeffding."""


class IntegerMoment(ReleaseStatement):
    """``sum p_x (p_v/p_x)^r <= e^{A_R r^2}`` for every v of V_{x,R,m} and every integer r >= 1.

    ``r -> log E (p_v/p_x)^r`` is convex: between two measured orders it is at most its chord. Beyond the
    last, Hoeffding with the exact oscillation of ``delta = v - a(x)`` gives ``J r^2 eta^2 max|delta|^2 /
    2``, which is at most ``A_R r^2`` for all r as soon as ``max|delta|^2/2 <= 2 R^2/n^2``, rational
    numbers.
    """

    id: ClassVar[str] = "lemma-6.1"
    title: ClassVar[str] = "Integer likelihood-ratio moment"
    source: ClassVar[str] = "§6, Lemma 6.1"
    claim: ClassVar[str] = "log Σ p_x (p_v/p_x)^r ≤ A_R r² for every integer r ≥ 1"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        targets = problem.targets
        for centre in problem.centres:
            own = int(targets.of_histogram[centre])
            least: dict[int, int] = {}
            members = 0
            for (x, radius, _), book in targets.codebooks.items():
                if x == centre:
                    members += len(book.rows)
                    for row in book.rows.tolist():
                        least[row] = min(radius, least.get(row, radius))
            del least[own]
            yield StructuralCase("v = a(x) has moment 1; a larger R only adds room", max(0, members - len(least)))
            rows = np.array(sorted(least), dtype=np.int64)
            for part in chunks(rows, CHUNK):
                yield from self._chunk(evidence, centre, own, part, [least[row] for row in part.tolist()])

    def _chunk(self, evidence: Evidence, centre: int, own: int, rows: Integers, radii: list[int]) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        log_v = kernels.log_kernels(rows)
        log_x = kernels.log_kernels(np.array([own]))
        scale = problem.ledger.value("moment") * evidence.parameters.kappa()
        limit = array.from_balls(object_array([scale * fmpq(radius**2) for radius in radii]))

        def witness(order: str) -> Any:
            return lambda index: {
                "database": database_witness(problem, centre),
                "target": target_witness(problem, int(rows[index[0]])),
                "R": radii[index[0]],
                "r": order,
            }

        moments: dict[int, Any] = {}
        for order in ORDERS:
            r, shift = array.exact(order), array.exact(order - 1)
            moments[order] = kernels.log_expectation(r * log_v - shift * log_x)
            yield ArrayCases(moments[order], array.exact(order**2) * limit, witness(str(order)), len(rows))
        for low, high in pairwise(ORDERS):
            for order in range(low + 1, high):
                chord = (
                    array.exact(high - order) * moments[low] + array.exact(order - low) * moments[high]
                ) / array.exact(high - low)
                bound = array.exact(order**2) * limit
                yield ArrayCases(chord, bound, witness(f"{order} (chord)"), len(rows), auxiliary=True)
        slope = problem.ledger.value("moment") * problem.ledger.value("kappa")
        last = witness(f"every order beyond {ORDERS[-1]} (Hoeffding)")
        for i, row in enumerate(rows.tolist()):
            gap = 2 * problem.targets.distance(row, own) / problem.instance.n
            yield _hoeffding(gap * gap / 2, slope * fmpq(radii[i] ** 2, problem.instance.n**2), last((i,)))


def _hoeffding(lhs: fmpq, rhs: Scalar, witness: Witness) -> ScalarCase:
    return ScalarCase(lambda: lhs, lambda: rhs, witness, auxiliary=True)


class _BallStatement(ReleaseStatement):
    """What the near, far and boxed estimates share: the two sums over transcripts at each radius."""

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (BallMass(),)

    def ball_mass(self, evidence: Evidence, radius: int, centre: int) -> arb:
        """``log sum H_R`` from the excess over one."""
        return evidence.excess(BallMass(), (radius, centre)).log1p()

    def ball_loss(self, evidence: Evidence, radius: int, centre: int) -> arb:
        """``sum H_R L_x``."""
        mass = 1 + evidence.excess(BallMass(), (radius, centre))
        return evidence.with_loss(BallMass(), "loss", (radius, centre), mass, centre)

    def at_radii(self, evidence: Evidence, radii: range, centre: int, **quantity: str) -> Any:
        return lambda i: {
            "database": database_witness(evidence.problem, evidence.problem.centres[centre]),
            "R": radii[i],
            **quantity,
        }

    def sums(
        self, evidence: Evidence, radii: range, exponents: list[Scalar], factors: list[Scalar], centre: int, name: str
    ) -> Iterator[Cases]:
        """``log sum H_R <= exponent`` and ``sum H_R L_x <= exp(exponent) factor`` at each radius.

        ``name`` is the formula of the exponent.
        """
        count = len(radii) * evidence.problem.space.transcript_count
        masses = [self.ball_mass(evidence, radius, centre) for radius in radii]
        at_mass = self.at_radii(evidence, radii, centre, quantity="log Σ H_R", exponent=name)
        yield measured_cases(masses, exponents, at_mass, count)
        losses = [self.ball_loss(evidence, radius, centre) for radius in radii]
        limits = [ball(e).exp() * ball(f) for e, f in zip(exponents, factors, strict=True)]
        at_loss = self.at_radii(evidence, radii, centre, quantity="Σ H_R L_x", exponent=name)
        yield measured_cases(losses, limits, at_loss, count)


class NearBalls(_BallStatement):
    """§6.1, for every R with ``A_R <= L``: the order r_R, the exponent, the moment of the maximum, Hölder.

    ``(sum_v E Lambda_v^r)^{1/r} <= exp(L/r + A_R r)`` is the moment bound averaged over the ``T^2 + 1``
    labels.
    """

    id: ClassVar[str] = "eq-6.near"
    title: ClassVar[str] = "Nearby databases"
    source: ClassVar[str] = "§6.1"
    claim: ClassVar[str] = "A_R ≤ L: L/r+A_R r ≤ 4√(A_R L); ΣH_R φ ≤ e^{A_R+L/r+A_R r}‖φ‖₂ ≤ e^{5√(A_R L)}‖φ‖₂"
    needs_codebooks = True

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and not problem.parameters.near_radii:
            return "no radius is near: A_R > L already at R = 1"
        return reason

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (*super().measurements(problem), TargetMoments())

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, parameters = evidence.problem, evidence.parameters
        radii = parameters.near_radii
        orders = {radius: parameters.near_order(radius) for radius in radii}
        for radius in radii:
            yield from self._order(parameters, radius, orders[radius])
        for c, centre in enumerate(problem.centres):
            yield self._moments(evidence, centre, radii, orders)
            exponents = [
                parameters.moment_scale(radius) + self._exponent(parameters, radius, orders[radius]) for radius in radii
            ]
            own = int(evidence.targets.of_histogram[centre])
            norm = second_moment(evidence, c, own).sqrt()
            yield from self.sums(evidence, radii, exponents, [norm] * len(radii), c, "A_R+L/r+A_R r")
            growth = [parameters.constant("ball-growth") * parameters.root_growth(radius) for radius in radii]
            yield from self.sums(evidence, radii, growth, [parameters.alpha_0()] * len(radii), c, "5√(A_R L)")

    def _exponent(self, parameters: Parameters, radius: int, order: int) -> Scalar:
        """``L/r + A_R r``."""
        return parameters.code_entropy() / order + parameters.moment_scale(radius) * order

    def _order(self, p: Parameters, radius: int, order: int) -> Iterator[Cases]:
        witness = {"R": radius, "r": order}
        slack = p.constant("near-order-slack")
        near, five = p.constant("near-growth"), p.constant("ball-growth")
        yield ScalarCase(lambda: p.ratio_root(radius), lambda: fmpq(order), {**witness, "quantity": "√(L/A_R) ≤ r"})
        yield ScalarCase(
            lambda: fmpq(order),
            lambda: p.ratio_root(radius) + slack,
            {**witness, "quantity": "r < √(L/A_R) + 2"},
            strict=True,
        )
        yield ScalarCase(lambda: fmpq(2), lambda: fmpq(order), {**witness, "quantity": "2 ≤ r"})
        yield ScalarCase(
            lambda: self._exponent(p, radius, order),
            lambda: near * p.root_growth(radius),
            {**witness, "quantity": "L/r + A_R r"},
        )
        yield ScalarCase(
            lambda: p.moment_scale(radius) + near * p.root_growth(radius),
            lambda: five * p.root_growth(radius),
            {**witness, "quantity": "A_R + 4√(A_R L) ≤ 5√(A_R L)"},
        )

    def _moments(self, evidence: Evidence, centre: int, radii: range, orders: dict[int, int]) -> Cases:
        """``log((1/(T^2+1)) sum_v E Lambda_v^r) <= A_R r^2``, v over the labels of V_{x,R,1}."""
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        targets = problem.targets
        own = int(targets.of_histogram[centre])
        moves = single_moves(problem.domain)
        origin = targets.numerators[own]
        width = targets.common_length
        rows = np.array(
            [
                [targets.row_of(tuple(a + r * width * w for a, w in zip(origin, move, strict=True))) for move in moves]
                for r in radii
            ],
            dtype=np.int64,
        )
        parts = []
        per_chunk = max(1, CHUNK // len(moves))
        for part in chunks(np.arange(len(radii)), per_chunk):
            flat = rows[part].reshape(-1)
            order = array.exact([fmpq(orders[radii[int(i)]]) for i in part for _ in moves])
            one = array.exact(1)
            log_v, log_x = kernels.log_kernels(flat), kernels.log_kernels(np.array([own]))
            moments = kernels.log_expectation(order * log_v - (order - one) * log_x)
            grid = moments[np.arange(len(flat)).reshape(len(part), len(moves))]
            parts.append(grid.log_sum_exp(1) - array.exact(fmpq(len(moves))).log())
        lhs = array.concatenate(parts)
        factor = problem.ledger.value("moment")
        limits = [factor * evidence.parameters.moment_scale(r) * orders[r] ** 2 for r in radii]
        witness = self.at_radii(evidence, radii, problem.centres.index(centre), quantity="log average of E Λ_v^r")
        bound = array.from_balls(object_array(limits))
        return ArrayCases(lhs, bound, lambda i: witness(i[0]), len(radii) * len(moves))


class FarBalls(_BallStatement):
    """§6.2, for every R with ``A_R > L``: the code length m_R, the exponent, and the two sums.

    The sums are also checked with ``alpha_0 + 8R/n`` as printed; what the argument gives is ``4R/n``.
    """

    id: ClassVar[str] = "eq-6.far"
    title: ClassVar[str] = "Distant databases"
    source: ClassVar[str] = "§6.2"
    claim: ClassVar[str] = "A_R > L: A_R/m+mL ≤ 2√(A_R L)+L ≤ 3√(A_R L); ΣH_R ≤ e^{A_R/m+mL}; ΣH_R L_x ≤ …(α₀+8R/n)"

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and not problem.parameters.far_radii:
            return f"no radius is far: A_R ≤ L up to R = n = {problem.instance.n}"
        return reason

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p = evidence.problem, evidence.parameters
        radii = p.far_radii
        eight = p.constant("ball-loss")
        lengths = {radius: p.far_length(radius) for radius in radii}
        for radius in radii:
            yield from self._length(p, radius, lengths[radius])
        exponents = [self._exponent(p, radius, lengths[radius]) for radius in radii]
        factors = [p.alpha_0() + eight * fmpq(radius, problem.instance.n) for radius in radii]
        for c in range(len(problem.centres)):
            yield from self.sums(evidence, radii, exponents, factors, c, "A_R/m+mL")

    def _length(self, p: Parameters, radius: int, length: int) -> Iterator[Cases]:
        """``A_R/m + mL <= 2 sqrt(A_R L) + L <= 3 sqrt(A_R L)``."""
        two, three = p.constant("far-growth-ceiling"), p.constant("far-growth")

        def middle() -> Scalar:
            return two * p.root_growth(radius) + p.code_entropy()

        witness = {"R": radius, "m": length}
        yield ScalarCase(lambda: self._exponent(p, radius, length), middle, {**witness, "quantity": "A_R/m + mL"})
        yield ScalarCase(
            middle, lambda: three * p.root_growth(radius), {**witness, "quantity": "2√(A_R L) + L ≤ 3√(A_R L)"}
        )

    def _exponent(self, parameters: Parameters, radius: int, length: int) -> Scalar:
        """``A_R/m + mL``."""
        return parameters.moment_scale(radius) / length + multiply(fmpq(length), parameters.code_entropy())


class BallBound(_BallStatement):
    """(6.2): ``sum H_R <= e^{5 sqrt(A_R L)}``, ``sum H_R L_x <= e^{5 sqrt(A_R L)} (alpha_0 + 8R/n)`` for R = 1..n."""

    id: ClassVar[str] = "eq-6.2"
    title: ClassVar[str] = "Uniform ball estimate"
    source: ClassVar[str] = "§6, (6.2)"
    claim: ClassVar[str] = "log ΣH_R ≤ 5√(A_R L); ΣH_R L_x ≤ e^{5√(A_R L)}(α₀+8R/n)"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p = evidence.problem, evidence.parameters
        radii = range(1, problem.instance.n + 1)
        growth = [p.constant("ball-growth") * p.root_growth(radius) for radius in radii]
        factors = [p.alpha_0() + p.constant("ball-loss") * fmpq(radius, problem.instance.n) for radius in radii]
        for c in range(len(problem.centres)):
            yield from self.sums(evidence, radii, growth, factors, c, "5√(A_R L)")
