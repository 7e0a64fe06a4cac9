"""§5: likelihood-level Maurey domination of a Hamming ball."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from certify.arithmetic.scalar import Scalar, Undetermined, ball
from certify.engine.statement import ArrayCases, Cases, ScalarCase, StructuralCase, Witness
from certify.release.domain import Integers
from certify.release.measurements import MaureyRatio, Measurement
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import (
    ReleaseStatement,
    database_witness,
    exact_case,
    measured_cases,
    object_array,
)
from certify.release.targets import Move, move_sums, single_moves


class Plan:
    """A minimum-distance plan from one centre to every histogram: rows matched in universe order (§5).

    ``counts[h, j]`` is how many rows of histogram h make the move ``moves[j]``; the plan moves
    ``distances[h]`` rows of ``origin``, the centre. The surplus elements of the centre, in universe order, are
    matched with the deficits, in universe order.
    """

    def __init__(self, problem: ReleaseProblem, centre: int) -> None:
        domain = problem.domain
        size = domain.universe_size
        origin = domain.histograms[centre]
        self.origin = origin
        self.distances = domain.distances_from(origin)
        zero = (0,) * domain.query_count
        self.moves: list[Move] = [zero, *sorted(set(single_moves(domain)) - {zero})]
        index = {move: j for j, move in enumerate(self.moves)}
        surplus = np.maximum(origin - domain.histograms, 0)
        deficit = np.maximum(domain.histograms - origin, 0)
        self.counts = np.zeros((len(domain.histograms), len(self.moves)), dtype=np.int64)
        for d in range(size):
            for e in range(size):
                if d == e:
                    continue
                moved = np.minimum(surplus[:, d], deficit[:, e])
                surplus[:, d] -= moved
                deficit[:, e] -= moved
                move = tuple(q[e] - q[d] for q in domain.scaled_queries)
                self.counts[:, index[move]] += moved


class SurrogateMean(ReleaseStatement):
    """``E V = a(y)`` for the V of the proof, ``d_*(v, a(x)) <= R`` on V_{x,R,m}, ``|V_{x,R,m}| <= (T^2+1)^m``; exact.

    ``E V = a(x) + (1/n) (sum of the moves)`` does not depend on R or m, so the first part is one identity
    for each y.
    """

    id: ClassVar[str] = "lemma-5.1.mean"
    title: ClassVar[str] = "Mean and reach of the surrogates"
    source: ClassVar[str] = "§5, proof of Lemma 5.1"
    claim: ClassVar[str] = "E V = a(y); d_*(v,a(x)) ≤ R; |V_{x,R,m}| ≤ (T²+1)^m"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, parameters = evidence.problem, evidence.parameters
        domain, targets = problem.domain, problem.targets
        lengths, rows = problem.instance.code_lengths, problem.instance.n
        table = np.array(targets.numerators, dtype=object)[targets.of_histogram]
        for centre in problem.centres:
            plan = Plan(problem, centre)
            moved = plan.counts.astype(object) @ np.array(plan.moves, dtype=object)
            error = np.abs(table - table[centre] - moved * targets.common_length).max(axis=1)
            zeros = np.zeros(len(error), dtype=object)
            witness = partial(_rival, problem, centre)
            yield exact_case(error, zeros, targets.scale, fmpq(1), witness, len(error) * len(lengths))
        reach = problem.ledger.rational("codebook-radius")
        for m in lengths:
            sums = move_sums(plan.moves, m)
            # d_*(v, a(x)) = (n/2) (R/(mn)) |w| with w a sum of m moves, so R cancels
            share = fmpq(max(abs(v) for s in sums for v in s), 2 * m * domain.denominator)
            count, size = rows * len(problem.centres), fmpq(len(sums))
            named = {"m": m, "R": f"1..{rows}"}
            yield _constant_case(share, reach, {**named, "quantity": "d_*(v,a(x))/R"}, count * len(sums))
            yield _constant_case(size, parameters.code_size() ** m, {**named, "quantity": "|V_{x,R,m}|"}, count)


def _rival(problem: ReleaseProblem, centre: int, histogram: int) -> Witness:
    return {"database": database_witness(problem, centre), "rival": database_witness(problem, histogram)}


def _constant_case(lhs: fmpq, rhs: fmpq, witness: Witness, count: int) -> ScalarCase:
    return ScalarCase(lambda: lhs, lambda: rhs, witness, count)


class JensenStep(ReleaseStatement):
    """``log p_y <= E log p_V + rho R^2/(4m)`` on every transcript, for the V of the proof.

    The linear terms cancel, and what is left is a sum over rounds of ``E log N_z(V) - log N_z(a(y))``, N
    the normaliser of the kernel in state z: its largest value over all transcripts is a longest path. J
    times the largest term bounds it, which settles most y at once; the rest, and the worst, get their
    longest path.
    """

    id: ClassVar[str] = "lemma-5.1.jensen"
    title: ClassVar[str] = "Jensen step on log likelihoods"
    source: ClassVar[str] = "§5, proof of Lemma 5.1"
    claim: ClassVar[str] = "log p_y - E log p_V ≤ ρR²/(4m)"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        for centre in problem.centres:
            plan = Plan(problem, centre)
            for m in problem.instance.code_lengths:
                yield from self._code_length(evidence, centre, plan, m)

    def _code_length(self, evidence: Evidence, centre: int, plan: Plan, m: int) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        targets, n = problem.targets, problem.instance.n
        selecting = problem.graph.selecting_states
        cost = self.cost(evidence) / m
        sums = sorted(move_sums(plan.moves, m))
        own = targets.numerators[int(targets.of_histogram[centre])]
        nearest_first = np.argsort(plan.distances, kind="stable")
        dataset = kernels.log_normalisers(targets.of_histogram[nearest_first])[selecting]
        transcripts = problem.space.transcript_count
        limits, chosen_gaps, where = [], [], []
        settled_count = 0
        for radius in range(1, n + 1):
            size = int((plan.distances <= radius).sum())
            codes = _code_rows(problem, own, radius * (targets.common_length // m), sums)
            code = kernels.log_normalisers(codes)[selecting]
            one = self.one_draw(problem, plan, nearest_first[:size], radius)
            total = self.draws(radius) ** m
            if total > np.iinfo(np.int64).max:
                raise Undetermined(f"the {total} draws of a surrogate are too many to count in 64 bits")
            counts = _draw_counts(plan, one, m, sums)
            limit = ball(cost * fmpq(radius**2))
            crude = code.largest_average_gap(counts, total, dataset[:, :size]) * array.exact(problem.rounds)
            open_cases = np.flatnonzero(~crude.proved_at_most(array.constant(limit)))
            chosen = np.unique(np.append(open_cases, int(np.argmax(crude.upper_guides()))))
            settled_count += size - len(chosen)
            chosen_gaps.append(code.averaged(counts[chosen], total) - dataset[:, chosen])
            limits += [limit] * len(chosen)
            where += [(radius, int(nearest_first[h])) for h in chosen]
        if settled_count:
            reason = "J times the largest one-round gap is within the bound"
            yield StructuralCase(reason, settled_count * transcripts)
        gaps = array.concatenate(chosen_gaps, axis=1)
        scores = _spread_over_queries(gaps, problem.graph.state_count, selecting, kernels.signed_count)
        longest = kernels.longest_path(scores)

        def witness(index: tuple[int, ...]) -> dict[str, Any]:
            radius, histogram = where[index[0]]
            path = kernels.longest_transcript(scores, index[0])
            return {
                "database": database_witness(problem, centre),
                "rival": database_witness(problem, histogram),
                "R": radius,
                "m": m,
                "transcript": [problem.domain.signed_name(q) for q in path],
            }

        bound = array.from_balls(object_array(limits))
        yield ArrayCases(longest, bound, witness, len(where) * transcripts)

    def cost(self, evidence: Evidence) -> Scalar:
        """What ``R^2/m`` is multiplied by."""
        return evidence.problem.ledger.value("maurey") * evidence.parameters.rho()

    def draws(self, radius: int) -> int:
        """How many equally likely moves one term of the surrogate has."""
        return radius

    def one_draw(self, problem: ReleaseProblem, plan: Plan, inside: Integers, radius: int) -> Integers:
        """How many of those are ``plan.moves[j]``, for the histograms given: the plan's moves, then zeros."""
        one = plan.counts[inside].copy()
        one[:, 0] += radius - one.sum(axis=1)
        return one


def _code_rows(problem: ReleaseProblem, own: Move, step: int, sums: list[Move]) -> Integers:
    return np.array(
        [problem.targets.row_of(tuple(a + step * w for a, w in zip(own, s, strict=True))) for s in sums],
        dtype=np.int64,
    )


def _draw_counts(plan: Plan, one: Integers, m: int, sums: list[Move]) -> Integers:
    """How many of the ways to draw m moves add to ``sums[j]``, shape (histograms, sums).

    ``one[h, j]`` is how many of the ways to draw one move give ``plan.moves[j]``; all ways together fit in 64 bits.
    """
    index = {move: j for j, move in enumerate(sums)}
    partial: dict[Move, NDArray[Any]] = {plan.moves[0]: np.ones(len(one), dtype=np.int64)}
    for _ in range(m):
        following: dict[Move, NDArray[Any]] = {}
        for move, weight in partial.items():
            for j, extra in enumerate(plan.moves):
                total = tuple(a + b for a, b in zip(move, extra, strict=True))
                following[total] = following.get(total, 0) + weight * one[:, j]
        partial = following
    counts = np.zeros((len(one), len(sums)), dtype=np.int64)
    for move, weight in partial.items():
        counts[:, index[move]] = weight
    return counts


def _spread_over_queries(gaps: Any, states: int, selecting: Integers, queries: int) -> Any:
    """Per-state terms as scores of shape (states, 2k, rows), the same for every selected query."""
    place = np.zeros(states, dtype=np.int64)
    place[selecting] = np.arange(len(selecting))
    return gaps[place][:, None, :][:, np.zeros(queries, dtype=np.int64), :]


class MaureyBound(ReleaseStatement):
    """``p_y(omega) <= exp(rho R^2/(4m)) max_v p_v(omega)`` for every R, m, y with d_H(x,y) <= R, and omega."""

    id: ClassVar[str] = "lemma-5.1"
    title: ClassVar[str] = "Likelihood Maurey bound"
    source: ClassVar[str] = "§5, Lemma 5.1"
    claim: ClassVar[str] = "log p_y(ω) - log max_v p_v(ω) ≤ ρR²/(4m)"
    needs_codebooks = True

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (MaureyRatio(problem.instance.code_lengths),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        measurement = MaureyRatio(problem.instance.code_lengths)
        cost = self.cost(evidence)
        for c, centre in enumerate(problem.centres):
            distances = problem.domain.distances_from(problem.domain.histograms[centre])
            for i, m in enumerate(problem.instance.code_lengths):
                radii = range(1, problem.instance.n + 1)
                lhs = [evidence.log_ratio(measurement, "ratio", (i, radius - 1, c)) for radius in radii]
                rhs = [cost * fmpq(radius**2, m) for radius in radii]

                def witness(j: int, i: int = i, m: int = m, c: int = c, d: Any = distances) -> dict[str, Any]:
                    return {
                        "database": database_witness(problem, problem.centres[c]),
                        **evidence.maurey_witness(measurement, (i, j, c), d, j + 1),
                        "R": j + 1,
                        "m": m,
                    }

                count = sum(int((distances <= radius).sum()) for radius in radii) * problem.space.transcript_count
                yield measured_cases(lhs, rhs, witness, count)

    def cost(self, evidence: Evidence) -> Scalar:
        """What ``R^2/m`` is multiplied by."""
        return evidence.problem.ledger.value("maurey") * evidence.parameters.rho()
