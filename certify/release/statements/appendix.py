"""Appendix A: the four analytic lemmas, on the kernels and laws of the instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from certify.arithmetic.arrays import CertifiedArray
from certify.arithmetic.scalar import ball, exponential, logarithm
from certify.engine.statement import ArrayCases, Cases, StructuralCase
from certify.release.domain import Integers
from certify.release.measurements import CodebookMass, Measurement
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import (
    ReleaseStatement,
    chunks,
    database_witness,
    measured_cases,
    object_array,
    target_witness,
)
from certify.release.statements.section3 import CHUNK, MAX_ORDER_EXPONENT


class BoundedLikelihoodRatio(ReleaseStatement):
    """Lemma A.1 for every kernel: a centre against every target, both orders, with ``a = 2 eta max|a_s - b_s|``.

    ``KL <= a tanh(a/2) <= a^2/2`` and ``D_r <= r a^2/2`` for every real r > 1, on the grid 2, 4, 8, ...
    closed as in Proposition 3.1 by monotonicity in r and by ``D_inf``. The adaptive composition is
    Proposition 3.1.
    """

    id: ClassVar[str] = "lemma-a.1"
    title: ClassVar[str] = "Bounded likelihood ratio"
    source: ClassVar[str] = "App. A.1, Lemma A.1"
    claim: ClassVar[str] = "KL ≤ a·tanh(a/2) ≤ a²/2; D_r ≤ r a²/2 for every real r > 1"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        targets = problem.targets
        for centre in problem.centres:
            own = int(targets.of_histogram[centre])
            others = np.array([row for row in range(len(targets)) if row != own], dtype=np.int64)
            if not len(others):
                yield StructuralCase("all targets are equal, and KL(P‖P) = D_r(P‖P) = 0", 1)
            for rows in chunks(others, CHUNK):
                yield from self._chunk(evidence, centre, own, rows)
        yield StructuralCase("the adaptive composition over J rounds is Proposition 3.1, checked there", 0)

    def _chunk(self, evidence: Evidence, centre: int, own: int, rows: Integers) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        selecting = problem.graph.selecting_states
        log_a = kernels.log_kernels(rows)[selecting]
        log_x = kernels.log_kernels(np.array([own]))[selecting]
        n = problem.instance.n
        eta, half = ball(evidence.parameters.eta()), problem.ledger.value("likelihood-ratio-moment")
        ratios = [4 * eta * problem.targets.distance(int(row), own) / n for row in rows]
        squares = array.from_balls(object_array([half * ratio * ratio for ratio in ratios]))
        tanh = array.from_balls(object_array([ratio * (ratio / 2).tanh() for ratio in ratios]))
        count = len(rows) * len(selecting)

        def witness(order: str, quantity: str) -> Any:
            def describe(index: tuple[int, ...]) -> dict[str, Any]:
                target = target_witness(problem, int(rows[index[-1]]))
                return {
                    "database": database_witness(problem, centre),
                    "target": target,
                    "r": order,
                    "quantity": quantity,
                }

            return describe

        for first, second, name in ((log_a, log_x, "KL(P_a‖P_x)"), (log_x, log_a, "KL(P_x‖P_a)")):
            difference = first - second
            divergence = (first.exp() * difference).sum(1)
            yield ArrayCases(divergence.max(0), tanh, witness("1", name), count)
            yield from self._orders(evidence, first, second, squares, witness, name.replace("KL", "D_r"), count)
        yield ArrayCases(tanh, squares, witness("1", "a·tanh(a/2) ≤ a²/2"), len(rows))

    def _orders(
        self, evidence: Evidence, first: Any, second: Any, squares: Any, witness: Any, name: str, count: int
    ) -> Iterator[Cases]:
        array = evidence.array
        worst = (first - second).max(1).max(0)
        last = 1
        for exponent in range(1, MAX_ORDER_EXPONENT):
            order = 2**exponent
            r, shift = array.exact(order), array.exact(order - 1)
            divergence = (r * first - shift * second).log_sum_exp(1).max(0) / shift
            yield ArrayCases(divergence, r * squares, witness(str(order), name), count)
            bound = array.exact(order // 2) * squares
            yield ArrayCases(divergence, bound, witness(f"{order // 2}..{order}", name), 0, auxiliary=True)
            last = order
            limit = array.exact(last) * squares
            if not np.any(worst.midpoints() > limit.midpoints()):
                break
        yield ArrayCases(worst, array.exact(last) * squares, witness(f"{last} and more", name), 0, auxiliary=True)


class Hedge(ReleaseStatement):
    """Lemma A.2 on every transcript: the regret is linear in the comparator, so the vertices of the simplex decide."""

    id: ClassVar[str] = "lemma-a.2"
    title: ClassVar[str] = "Hedge regret"
    source: ClassVar[str] = "App. A.2, Lemma A.2"
    claim: ClassVar[str] = "Σ_t (s_t(μ*) - s_t(μ_{t-1})) ≤ log T/γ + γJ/2"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        domain = problem.domain
        values = np.array(
            [[arb(fmpq(v, domain.denominator)) for v in s] for s in domain.scaled_signed_queries],
            dtype=object,
        )
        scores = array.from_balls(values)[None] - kernels.answers[:, :, None]
        longest = kernels.longest_path(scores)
        limit = array.constant(ball(evidence.parameters.regret() * problem.rounds))

        def witness(index: tuple[int, ...]) -> dict[str, Any]:
            path = kernels.longest_transcript(scores, index[0])
            return {
                "comparator": domain.universe[index[0]],
                "transcript": [domain.signed_name(s) for s in path],
            }

        yield ArrayCases(longest, limit, witness, domain.universe_size * problem.space.transcript_count)


class SoftmaxGap(ReleaseStatement):
    """Lemma A.3 in every reachable state and for every target: ``P(G >= u) e^{eta u} <= K`` at every jump u of the tail
    (between jumps the left side is smaller), and ``E (eta G)^2 <= (4 log 2K)^2``.

    A gap that cannot be told from u counts as inside the tail for the upper end, as outside for the lower.
    """

    id: ClassVar[str] = "lemma-a.3"
    title: ClassVar[str] = "Softmax selection gap"
    source: ClassVar[str] = "App. A.3, Lemma A.3"
    claim: ClassVar[str] = "P(G ≥ u)e^{ηu} ≤ K for every u; E(ηG)² ≤ (4 log 2K)²"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        selecting = problem.graph.selecting_states
        size = problem.domain.signed_count
        constant = problem.ledger.value("softmax-gap") * logarithm(fmpq(2 * size))
        square = array.constant(ball(constant * constant))
        tail_limit = array.constant(ball(problem.ledger.value("softmax-tail") * size))
        for rows in chunks(np.arange(len(problem.targets)), CHUNK):
            logits = (kernels.eta * kernels.discrepancies(rows))[selecting]
            peak = logits.max(1)
            weights = [(logits[:, j] - peak).exp() for j in range(size)]
            total = weights[0]
            for weight in weights[1:]:
                total = total + weight

            def witness(quantity: str, rows: Integers = rows) -> Any:
                return lambda index: {
                    "state": selections_to(problem, int(selecting[index[0]])),
                    "target": target_witness(problem, int(rows[index[1]])),
                    "quantity": quantity,
                }

            count = len(rows) * len(selecting)
            for i in range(size):
                tail = self._tail(logits, i, size) / total
                yield ArrayCases(
                    tail, tail_limit, witness(f"P(G≥u)e^{{ηu}} at the gap of {self._name(problem, i)}"), count
                )
            gaps = [(peak - logits[:, j]).nonnegative().square() * weights[j] for j in range(size)]
            second = gaps[0]
            for gap in gaps[1:]:
                second = second + gap
            yield ArrayCases(second / total, square, witness("E(ηG)²"), count)

    def _name(self, problem: ReleaseProblem, s: int) -> str:
        return problem.domain.signed_name(s)

    def _tail(self, logits: Any, i: int, size: int) -> CertifiedArray:
        """``sum e^{z_j - z_i}`` over the j with ``z_j <= z_i``, i itself included."""
        low: Any = None
        high: Any = None
        for j in range(size):
            if j == i:
                term, inside, possible = (logits[:, i] - logits[:, i]).exp(), None, None
            else:
                inside = logits[:, j].proved_at_most(logits[:, i])
                possible = ~logits[:, j].proved_above(logits[:, i])
                term = (logits[:, j] - logits[:, i]).exp()
            below = term if inside is None else term.where(inside)
            above = term if possible is None else term.where(possible)
            low = below if low is None else low + below
            high = above if high is None else high + above
        result: CertifiedArray = low.hull(high)
        return result


def selections_to(problem: ReleaseProblem, state: int) -> list[str]:
    """One sequence of selections that leads to a state."""
    graph = problem.graph
    parents: dict[int, tuple[int, int]] = {0: (-1, -1)}
    frontier = [0]
    while state not in parents:
        following = []
        for z in frontier:
            for s, target in enumerate(graph.next_state[z].tolist()):
                if target >= 0 and target not in parents:
                    parents[target] = (z, s)
                    following.append(target)
        frontier = following
    path = []
    while state != 0:
        state, s = parents[state]
        path.append(problem.domain.signed_name(s))
    return path[::-1]


class RenyiMaximum(ReleaseStatement):
    """Lemma A.4 with ``a = r_R``, ``P_i`` the targets of V_{x,R,1} under their ``N = T^2 + 1`` labels, ``P_0 = P_x``,
    ``A`` a certified upper bound of ``max_i D_a(P_i || P_0)/a``, and G in {1, L_x}, for every near radius."""

    id: ClassVar[str] = "lemma-a.4"
    title: ClassVar[str] = "Rényi maximum"
    source: ClassVar[str] = "App. A.4, Lemma A.4"
    claim: ClassVar[str] = "Σ max_i p_i G ≤ exp(log N/a + (a-1)A)‖G‖_{L_b(P_0)}, b = a/(a-1)"
    needs_codebooks = True

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and not problem.parameters.near_radii:
            return "no radius is near (A_R > L already at R = 1), so no order a = r_R arises"
        return reason

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (self._measurement(problem),)

    def _measurement(self, problem: ReleaseProblem) -> CodebookMass:
        radii = tuple(problem.parameters.near_radii)
        return CodebookMass(radii, tuple(problem.parameters.near_order(radius) for radius in radii))

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        measurement = self._measurement(problem)
        label_entropy = ball(logarithm(evidence.parameters.code_size()))
        distinct = sorted(set(measurement.orders))
        for c, centre in enumerate(problem.centres):
            largest = self._largest_divergences(evidence, measurement, centre)
            masses, mass_limits, losses, loss_limits = [], [], [], []
            for i, order in enumerate(measurement.orders):
                exponent = label_entropy / order + (order - 1) * largest[i] / order
                factor = ball(problem.ledger.value("renyi-maximum")) * exponential(exponent)
                mass = evidence.total(measurement, "mass", (i, c))
                masses.append(mass)
                mass_limits.append(factor)
                losses.append(evidence.with_loss(measurement, "loss", (i, c), mass, c))
                loss_limits.append(factor * self._norm(evidence, measurement, distinct.index(order), order, c))

            count = len(masses) * problem.space.transcript_count
            yield measured_cases(masses, mass_limits, self._at(problem, measurement, centre, "G = 1"), count)
            yield measured_cases(losses, loss_limits, self._at(problem, measurement, centre, "G = L_x"), count)

    def _at(self, problem: ReleaseProblem, measurement: CodebookMass, centre: int, quantity: str) -> Any:
        return lambda index: {
            "database": database_witness(problem, centre),
            "R": measurement.radii[index],
            "a": measurement.orders[index],
            "quantity": quantity,
        }

    def _norm(self, evidence: Evidence, measurement: CodebookMass, index: int, order: int, centre: int) -> arb:
        """``||L_x||_{L_b(P_x)}``, ``b = r/(r-1)``."""
        if evidence.sweep.decoder.is_exactly_zero(centre):
            return arb(0)
        low = evidence.total(measurement, "power_lower", (index, centre))
        high = evidence.total(measurement, "power_upper", (index, centre))
        power = fmpq(order - 1, order)
        return (low.lower().nonnegative_part() ** arb(power)).union(high.upper().nonnegative_part() ** arb(power))

    def _largest_divergences(self, evidence: Evidence, measurement: CodebookMass, centre: int) -> list[arb]:
        """An upper bound of ``max_i D_a(P_i || P_x)``, at least 0, for every radius."""
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        own = int(problem.targets.of_histogram[centre])
        log_x = kernels.log_kernels(np.array([own]))
        result = []
        for radius, order in zip(measurement.radii, measurement.orders, strict=True):
            rows = problem.targets.codebooks[(centre, radius, 1)].rows
            r, shift = array.exact(order), array.exact(order - 1)
            moments = kernels.log_expectation(r * kernels.log_kernels(rows) - shift * log_x) / shift
            top = moments.max(0).enclosure(())
            upper = fmpq(0) if top.upper is not None and top.upper < 0 else top.upper
            result.append(arb("inf") if upper is None else arb(upper))
        return result
