"""§3: the transcript's Rényi bound, the robust utility of PMW, the base error."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from certify.arithmetic.scalar import Scalar, logarithm
from certify.engine.statement import ArrayCases, Cases, StructuralCase
from certify.release.domain import Integers
from certify.release.measurements import Measurement, TargetMoments
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import (
    ReleaseStatement,
    chunks,
    database_witness,
    measured_cases,
    object_array,
    same_witness,
    target_witness,
)

CHUNK = 256
"""Rows (targets or pairs) that a pass over the state graph takes at a time."""

MAX_ORDER_EXPONENT = 400
"""The grid r = 2, 4, 8, ... of Proposition 3.1 ends here at the latest."""


def ordered_pairs(problem: ReleaseProblem) -> Integers:
    """Rows (a, b) of distinct targets: every pair of datasets (with the centre in it, for one centre), and the centre
    against its code families, both orders. Shape (pairs, 2)."""
    targets = problem.targets
    pairs: dict[tuple[int, int], None] = {}
    for centre in problem.centres:
        own = int(targets.of_histogram[centre])
        rows = set(range(targets.dataset_count))
        for (x, _, _), book in targets.codebooks.items():
            if x == centre:
                rows.update(book.rows.tolist())
        for row in sorted(rows - {own}):
            pairs[(row, own)] = None
            pairs[(own, row)] = None
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)


class TranscriptRenyi(ReleaseStatement):
    """``D_r(P_a || P_b) <= r rho d_*(a, b)^2`` for every real r > 1.

    ``D_r`` does not decrease in r. On the grid 2, 4, 8, ..., ``D_{2r} <= r rho d_*^2`` settles the orders
    in [r, 2r], ``D_2 <= rho d_*^2`` those in (1, 2]; beyond the last order R of the grid ``D_inf <= R rho
    d_*^2`` does.
    """

    id: ClassVar[str] = "prop-3.1"
    title: ClassVar[str] = "Transcript Rényi bound"
    source: ClassVar[str] = "§3.1, Proposition 3.1"
    claim: ClassVar[str] = "D_r(P_a‖P_b) ≤ r ρ d_*(a,b)² for every real r > 1"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        pairs = ordered_pairs(problem)
        if not len(pairs):
            yield StructuralCase("all targets are equal, and D_r(P‖P) = 0", 1)
        for part in chunks(pairs, CHUNK):
            yield from self._chunk(evidence, part)

    def _chunk(self, evidence: Evidence, pairs: Integers) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        targets = problem.targets
        rows, inverse = np.unique(pairs, return_inverse=True)
        inverse = inverse.reshape(pairs.shape)
        logs = kernels.log_kernels(rows)
        log_a, log_b = logs[:, :, inverse[:, 0]], logs[:, :, inverse[:, 1]]
        factor = evidence.parameters.constant("renyi") * evidence.parameters.rho()
        squares = [targets.distance(int(a), int(b)) ** 2 for a, b in pairs]
        bound = array.from_balls(object_array([factor * square for square in squares]))
        worst = kernels.longest_path(log_a - log_b)

        def witness(order: str) -> Any:
            def describe(index: tuple[int, ...]) -> dict[str, Any]:
                a, b = pairs[index[0]]
                return {
                    "target": target_witness(problem, int(a)),
                    "against": target_witness(problem, int(b)),
                    "r": order,
                }

            return describe

        last = 1
        for exponent in range(1, MAX_ORDER_EXPONENT):
            order = 2**exponent
            r, shift = array.exact(order), array.exact(order - 1)
            divergence = kernels.log_expectation(r * log_a - shift * log_b) / shift
            yield ArrayCases(divergence, r * bound, witness(str(order)), len(pairs))
            half = array.exact(order // 2)
            yield ArrayCases(divergence, half * bound, witness(f"{order // 2}..{order}"), 0, auxiliary=True)
            last = order
            limit = array.exact(last) * bound
            if bool(np.all(worst.proved_at_most(limit))) or not np.any(worst.midpoints() > limit.midpoints()):
                break
        yield ArrayCases(worst, array.exact(last) * bound, witness(f"{last} and more"), 0, auxiliary=True)


class UtilityPath(ReleaseStatement):
    """The pointwise chain in the proof of Proposition 3.2, on every transcript and for every target.

    ``sum D*_t - sum G_t = sum D_t(s_t)`` by the definition of the gap, so the first two displays are one
    inequality, whose left side is a longest path. The third holds since ``D*_t`` is the largest ``D_t(s)``.
    """

    id: ClassVar[str] = "prop-3.2.path"
    title: ClassVar[str] = "Pointwise utility chain"
    source: ClassVar[str] = "§3.2, proof of Proposition 3.2"
    claim: ClassVar[str] = "(1/J)ΣD_t(s_t) ≤ L₀/(γJ)+γ/2+Δ; (1/J)ΣD*_t ≤ …+(1/J)ΣG_t; a_s - s(μ̄) ≤ (1/J)ΣD*_t"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        targets, transcripts = problem.targets, problem.space.transcript_count
        regret = evidence.parameters.regret()
        robustness = evidence.parameters.constant("path-robustness")
        for centre in problem.centres:
            own = int(targets.of_histogram[centre])
            for rows in chunks(np.arange(len(targets)), CHUNK):
                scores = kernels.discrepancies(rows)
                longest = kernels.longest_path(scores) / array.exact(problem.rounds)
                gaps = [2 * targets.distance(int(row), own) / problem.instance.n for row in rows]
                limit = array.from_balls(object_array([regret + robustness * gap for gap in gaps]))

                def witness(index: tuple[int, ...], scores: Any = scores, rows: Any = rows, x: int = centre) -> Any:
                    path = kernels.longest_transcript(scores, index[0])
                    return {
                        "database": database_witness(problem, x),
                        "target": target_witness(problem, int(rows[index[0]])),
                        "transcript": [problem.domain.signed_name(s) for s in path],
                    }

                yield ArrayCases(longest, limit, witness, 2 * len(rows) * transcripts)
        count = len(targets) * transcripts * problem.domain.signed_count
        yield StructuralCase(
            "third display: D*_t is the largest of the D_t(s), so its average is at least theirs", count
        )


class RobustUtility(ReleaseStatement):
    """``||L_x||_{L2(P_a)} <= L_0/(gamma J) + gamma/2 + 4 L_S/eta + 4 d_*(a, a(x))/n`` for every target a."""

    id: ClassVar[str] = "prop-3.2"
    title: ClassVar[str] = "Robust PMW utility"
    source: ClassVar[str] = "§3.2, Proposition 3.2"
    claim: ClassVar[str] = "‖L_x‖_{L2(P_a)} ≤ L₀/(γJ) + γ/2 + 4L_S/η + 4d_*(a,a(x))/n"
    needs_codebooks = True

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (TargetMoments(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, parameters = evidence.problem, evidence.parameters
        targets = evidence.targets
        selection = parameters.constant("softmax-gap") * logarithm(fmpq(4 * problem.domain.query_count))
        base = parameters.regret() + selection / parameters.eta()
        slope = parameters.constant("robustness") / problem.instance.n
        for c, centre in enumerate(problem.centres):
            own = int(targets.of_histogram[centre])
            lhs = [second_moment(evidence, c, row).sqrt() for row in range(len(targets))]
            rhs: list[Scalar] = [base + slope * targets.distance(row, own) for row in range(len(targets))]
            yield measured_cases(lhs, rhs, _target_of(problem, evidence, centre), len(targets))


class BaseError(ReleaseStatement):
    """(3.3): ``||L_x||_{L2(P_x)} <= alpha_0`` and ``E_{P_a} L_x <= alpha_0 + 4 d_*(a, a(x))/n`` for every target a."""

    id: ClassVar[str] = "eq-3.3"
    title: ClassVar[str] = "Base error bound"
    source: ClassVar[str] = "§3.3, (3.3)"
    claim: ClassVar[str] = "‖L_x‖_{L2(P_x)} ≤ α₀ and E_{P_a} L_x ≤ α₀ + 4d_*(a,a(x))/n"
    needs_codebooks = True

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (TargetMoments(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, parameters = evidence.problem, evidence.parameters
        targets = evidence.targets
        alpha_0 = parameters.alpha_0()
        slope = parameters.constant("robustness") / problem.instance.n
        for c, centre in enumerate(problem.centres):
            own = int(targets.of_histogram[centre])
            witness = _target_of(problem, evidence, centre)
            base = second_moment(evidence, c, own).sqrt()
            norm = {**witness(own), "quantity": "‖L_x‖_{L2(P_x)}"}
            yield measured_cases([base], [alpha_0], partial(same_witness, norm), 1)
            lhs = [first_moment(evidence, c, row) for row in range(len(targets))]
            rhs: list[Scalar] = [alpha_0 + slope * targets.distance(row, own) for row in range(len(targets))]

            def mean(row: int, witness: Any = witness) -> dict[str, Any]:
                return {**witness(row), "quantity": "E_{P_a} L_x"}

            yield measured_cases(lhs, rhs, mean, len(targets))


def _target_of(problem: ReleaseProblem, evidence: Evidence, centre: int) -> Any:
    def witness(row: int) -> dict[str, Any]:
        answers = evidence.targets.answers(row)
        names = problem.domain.query_names
        return {
            "database": database_witness(problem, centre),
            "target": {name: str(value) for name, value in zip(names, answers, strict=True)},
        }

    return witness


def first_moment(evidence: Evidence, centre: int, row: int) -> arb:
    """``E_{P_a} L_x`` (the law has mass one)."""
    return evidence.with_loss(TargetMoments(), "first", (centre, row), arb(1), centre)


def second_moment(evidence: Evidence, centre: int, row: int) -> arb:
    """``E_{P_a} L_x^2`` from the moments of values within ``error`` of L_x: off by at most ``2 e E v + e^2``."""
    if evidence.sweep.decoder.is_exactly_zero(centre):
        return arb(0)
    error = evidence.sweep.decoder.error[centre]
    second = evidence.total(TargetMoments(), "second", (centre, row))
    if error == 0:
        return second.nonnegative_part()
    first = evidence.total(TargetMoments(), "first", (centre, row))
    spread = 2 * arb(error) * first + arb(error * error)
    return (second + arb(0, 1) * spread).nonnegative_part()
