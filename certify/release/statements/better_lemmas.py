"""The sharper lemmas of the smaller constant (BC-2, BC-3, BC-5), on the laws of the instance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from flint import fmpq

from certify.arithmetic.scalar import Scalar, ball, divide, exponential, logarithm, multiply, square_root
from certify.engine.statement import ArrayCases, Cases, ScalarCase, StructuralCase
from certify.release.domain import Integers
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.appendix import selections_to
from certify.release.statements.base import (
    ReleaseStatement,
    chunks,
    database_witness,
    exact_case,
    object_array,
    target_witness,
)
from certify.release.statements.better_balls import FarGrowth, NearGrowth, gap_ratio
from certify.release.statements.section3 import CHUNK
from certify.release.statements.section5 import JensenStep, MaureyBound, Plan
from certify.release.targets import move_sums, single_moves


def two_sided_lists(plan: Plan, problem: ReleaseProblem, inside: Integers, radius: int) -> tuple[Integers, Integers]:
    """The lists U and U' of the two-sided surrogate as histograms, each of R elements, for the histograms given.

    U has the h rows of y that differ from those of x and R - h copies of the first element, U' the h rows of x
    and as many copies. With m elements drawn from each, all 2m independently, ``V = a(x) + R/(mn) sum_{i<=m}
    (s(d_i) - s(d'_i))`` has mean a(y).
    """
    histograms = problem.domain.histograms[inside]
    new, old = np.maximum(histograms - plan.origin, 0), np.maximum(plan.origin - histograms, 0)
    for side in (new, old):
        side[:, 0] += radius - side.sum(axis=1)
    return new, old


class TwoSidedMean(ReleaseStatement):
    """``E V = a(y)`` for the two-sided V, ``d_*(v, a(x)) <= R`` on V', ``|V'| <= T^{2m}``; exact.

    ``s(d_i) - s(d'_i)`` is a move of the paper, the zero move being that of ``d_i = d'_i``: so V' is the set
    V_{x,R,m} of §5, with T^2 labels a move for T^2 + 1. E V does not depend on R or m, since the copies of the
    first element cancel: one identity for each y, at R = n.
    """

    id: ClassVar[str] = "bc-2.mean"
    title: ClassVar[str] = "Mean and reach of the two-sided surrogates"
    source: ClassVar[str] = "smaller constant, BC-2, proof"
    claim: ClassVar[str] = "E V = a(y); d_*(v,a(x)) ≤ R on V'; |V'| ≤ T^{2m}"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        domain, targets = problem.domain, problem.targets
        lengths, rows = problem.instance.code_lengths, problem.instance.n
        everyone = np.arange(domain.histogram_count)
        table = np.array(targets.numerators, dtype=object)[targets.of_histogram]
        queries = np.array(domain.scaled_queries, dtype=object).T
        for centre in problem.centres:
            new, old = two_sided_lists(Plan(problem, centre), problem, everyone, rows)
            moved = (new - old).astype(object) @ queries
            error = np.abs(table - table[centre] - moved * targets.common_length).max(axis=1)
            zeros = np.zeros(len(error), dtype=object)
            witness = partial(self._rival, problem, centre)
            yield exact_case(error, zeros, targets.scale, fmpq(1), witness, len(error) * len(lengths))
        reach = problem.ledger.rational("better-reach")
        moves = sorted(set(single_moves(domain)))
        for m in lengths:
            sums = move_sums(moves, m)
            # d_*(v, a(x)) = (n/2) (R/(mn)) |w| with w a sum of m moves, so R cancels
            share = fmpq(max(abs(v) for s in sums for v in s), 2 * m * domain.denominator)
            labels = problem.ledger.rational("better-label") * domain.universe_size**2
            count, named = rows * len(problem.centres), {"m": m, "R": f"1..{rows}"}
            yield _exact(share, reach, {**named, "quantity": "d_*(v,a(x))/R"}, count * len(sums))
            yield _exact(fmpq(len(sums)), labels**m, {**named, "quantity": "|V'|"}, count)

    def _rival(self, problem: ReleaseProblem, centre: int, histogram: int) -> dict[str, Any]:
        return {"database": database_witness(problem, centre), "rival": database_witness(problem, histogram)}


def _exact(lhs: fmpq, rhs: fmpq, witness: dict[str, Any], count: int) -> ScalarCase:
    return ScalarCase(lambda: lhs, lambda: rhs, witness, count)


def two_sided_cost(evidence: Evidence) -> Scalar:
    """``kappa/2``: the two-sided code costs ``A_R/(2m)``, which is this times ``R^2/m``."""
    return evidence.problem.ledger.value("better-maurey") * evidence.parameters.kappa()


class TwoSidedJensen(JensenStep):
    """``log p_y <= E log p_V + A_R/(2m)`` on every transcript, for the two-sided V: Lemma 5.1's step with this V."""

    id: ClassVar[str] = "bc-2.jensen"
    title: ClassVar[str] = "Jensen step for the two-sided surrogates"
    source: ClassVar[str] = "smaller constant, BC-2, proof"
    claim: ClassVar[str] = "log p_y - E log p_V ≤ A_R/(2m)"

    def cost(self, evidence: Evidence) -> Scalar:
        return two_sided_cost(evidence)

    def draws(self, radius: int) -> int:
        return radius**2

    def one_draw(self, problem: ReleaseProblem, plan: Plan, inside: Integers, radius: int) -> Integers:
        new, old = two_sided_lists(plan, problem, inside, radius)
        index = {move: j for j, move in enumerate(plan.moves)}
        counts = np.zeros((len(inside), len(plan.moves)), dtype=np.int64)
        elements = range(problem.domain.universe_size)
        for d in elements:
            for e in elements:
                move = tuple(q[d] - q[e] for q in problem.domain.scaled_queries)
                counts[:, index[move]] += new[:, d] * old[:, e]
        return counts


class TwoSidedMaurey(MaureyBound):
    """``p_y(omega) <= exp(A_R/(2m)) max_{v in V'} p_v(omega)`` for every R, m, y with d_H(x,y) <= R, and omega.

    V' and V_{x,R,m} are the same targets (see bc-2.mean); only the exponent is halved.
    """

    id: ClassVar[str] = "bc-2"
    title: ClassVar[str] = "Two-sided likelihood Maurey bound"
    source: ClassVar[str] = "smaller constant, BC-2"
    claim: ClassVar[str] = "log p_y(ω) - log max_{v∈V'} p_v(ω) ≤ A_R/(2m)"

    def cost(self, evidence: Evidence) -> Scalar:
        return two_sided_cost(evidence)


ORDERS = tuple(fmpq(*order) for order in ((5, 4), (3, 2), (2, 1), (3, 1), (4, 1), (6, 1), (8, 1), (12, 1), (16, 1)))
"""Orders at which the sharp moment is measured; all others by the second derivative."""


class SharpMoment(ReleaseStatement):
    """``sum p_x (p_v/p_x)^r <= e^{A_R r(r-1)}`` for every real r >= 1 and ``R >= d_*(v, a(x))``.

    v ranges over the databases' targets and V_{x,R,m}; it is enough that ``R = d_*(v, a(x))``. All r at once: with
    ``delta = v - a(x)`` and ``psi(t) = log E_{pi_x} e^{t eta delta}``, one round gives ``psi(r) - r psi(1) = int_0^1
    (r-1) u psi''(u) du + int_1^r (r-u) psi''(u) du``, and ``psi'' <= (eta D)^2``, ``D = max|delta|``, since delta
    lies in [-D, D] (Popoviciu). J rounds give ``J eta^2 D^2 r(r-1)/2``, and ``D = 2 d_*/n``. At r = 1 both sides
    are 0.
    """

    id: ClassVar[str] = "bc-3"
    title: ClassVar[str] = "Sharp likelihood-ratio moment"
    source: ClassVar[str] = "smaller constant, BC-3"
    claim: ClassVar[str] = "log Σ p_x (p_v/p_x)^r ≤ A_R r(r-1), R = d_*(v,a(x)), for every real r ≥ 1"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        targets = problem.targets
        for centre in problem.centres:
            own = int(targets.of_histogram[centre])
            families = [book.rows for (x, _, _), book in targets.codebooks.items() if x == centre]
            rows = np.unique(np.concatenate([np.arange(targets.dataset_count), *families]))
            yield StructuralCase("v = a(x) has moment 1, and so has every v at r = 1", len(rows))
            for part in chunks(rows[rows != own], CHUNK):
                yield from self._chunk(evidence, centre, own, part)
        scale = problem.ledger.value("better-moment") * problem.ledger.value("kappa")
        # both times J eta^2 max|delta|^2 r(r-1), as A_R = kappa R^2 with R = n max|delta|/2
        witness = {"quantity": "ψ'' ≤ (η max|δ|)²", "r": "every real r ≥ 1"}
        yield ScalarCase(lambda: fmpq(1, 2), lambda: scale / 4, witness, 0, auxiliary=True)

    def _chunk(self, evidence: Evidence, centre: int, own: int, rows: Integers) -> Iterator[Cases]:
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        log_v, log_x = kernels.log_kernels(rows), kernels.log_kernels(np.array([own]))
        scale = problem.ledger.value("better-moment") * evidence.parameters.kappa()
        reach = [problem.targets.distance(row, own) for row in rows.tolist()]
        limit = array.from_balls(object_array([scale * distance**2 for distance in reach]))
        for order in ORDERS:

            def witness(index: tuple[int, ...], order: fmpq = order) -> dict[str, Any]:
                return {
                    "database": database_witness(problem, centre),
                    "target": target_witness(problem, int(rows[index[0]])),
                    "R": str(reach[index[0]]),
                    "r": str(order),
                }

            moment = kernels.log_expectation(array.exact(order) * log_v - array.exact(order - 1) * log_x)
            yield ArrayCases(moment, array.exact(order * (order - 1)) * limit, witness, len(rows))


class _GapStatement(ReleaseStatement):
    """What the statements on one selection share: ``z = -eta G`` in every selecting state and for every target."""

    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, kernels = evidence.problem, evidence.kernels
        selecting = problem.graph.selecting_states
        for rows in chunks(np.arange(len(kernels.targets)), CHUNK):
            logits = (kernels.eta * kernels.discrepancies(rows))[selecting]
            gaps = logits - logits.max(1)[:, None]

            def witness(quantity: str, rows: Integers = rows) -> Any:
                return lambda index: {
                    "state": selections_to(problem, int(selecting[index[0]])),
                    "target": target_witness(problem, int(rows[index[1]])),
                    "quantity": quantity,
                }

            yield from self.selections(evidence, gaps, witness, len(rows) * len(selecting))

    @abstractmethod
    def selections(self, evidence: Evidence, gaps: Any, witness: Any, count: int) -> Iterator[Cases]:
        """The cases of one chunk; ``gaps`` (states, 2k, rows) are the ``-eta G``, at most 0."""


class GapMoments(_GapStatement):
    """``E eta G <= log K`` and ``E (eta G)^2 <= (1.0028 log K)^2`` for every selection, K = 2k."""

    id: ClassVar[str] = "bc-5.softmax"
    title: ClassVar[str] = "Sharp softmax gap"
    source: ClassVar[str] = "smaller constant, BC-5, rung 5"
    claim: ClassVar[str] = "E ηG ≤ log K; E(ηG)² ≤ (1.0028 log K)²"

    def selections(self, evidence: Evidence, gaps: Any, witness: Any, count: int) -> Iterator[Cases]:
        array, ledger = evidence.array, evidence.problem.ledger
        entropy = logarithm(fmpq(evidence.problem.domain.signed_count))
        mean, norm = (ledger.value(name) * entropy for name in ("better-gap-mean", "better-gap-norm"))
        weights = gaps.exp()
        total = weights.sum(1)
        gap = (array.exact(0) - gaps).nonnegative()
        yield ArrayCases((weights * gap).sum(1) / total, array.constant(ball(mean)), witness("E ηG"), count)
        square = array.constant(ball(norm * norm))
        yield ArrayCases((weights * gap.square()).sum(1) / total, square, witness("E(ηG)²"), count)


class GapExponential(_GapStatement):
    """``E e^{eta G/2} <= (1 + sqrt K)/2`` for every selection, ``E_{P_a} e^{(eta/2) sum G}`` at most its power J."""

    id: ClassVar[str] = "bc-5.moment"
    title: ClassVar[str] = "Exponential moment of the softmax gap"
    source: ClassVar[str] = "smaller constant, BC-5"
    claim: ClassVar[str] = "E e^{ηG/2} ≤ (1+√K)/2; E_{P_a} e^{(η/2)ΣG} ≤ ((1+√K)/2)^J"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        yield from super().cases(evidence)
        problem, array = evidence.problem, evidence.array
        limit = problem.rounds * logarithm(gap_moment(problem))
        for rows in chunks(np.arange(len(evidence.kernels.targets)), CHUNK):
            witness = _of_target(problem, rows, "log E e^{(η/2)ΣG}")
            yield ArrayCases(path_moment(evidence, rows), array.constant(ball(limit)), witness, len(rows))

    def selections(self, evidence: Evidence, gaps: Any, witness: Any, count: int) -> Iterator[Cases]:
        array = evidence.array
        moment = (gaps / array.exact(2)).exp().sum(1) / gaps.exp().sum(1)
        yield ArrayCases(moment, array.constant(ball(gap_moment(evidence.problem))), witness("E e^{ηG/2}"), count)


def gap_moment(problem: ReleaseProblem) -> Scalar:
    """``(1 + sqrt K)/2``."""
    root = square_root(fmpq(problem.domain.signed_count))
    return multiply(problem.ledger.value("better-gap-moment"), 1 + root)


def _of_target(problem: ReleaseProblem, rows: Integers, quantity: str) -> Any:
    return lambda index: {"target": target_witness(problem, int(rows[index[0]])), "quantity": quantity}


def path_moment(evidence: Evidence, rows: Integers) -> Any:
    """``log E_{P_a} e^{(eta/2) sum G}`` for the targets given: with ``z = eta D`` and N the sum of the ``e^z``, one
    selection has ``sum_s e^{(z_s + max z)/2}/N``.
    """
    kernels = evidence.kernels
    logits = kernels.eta * kernels.discrepancies(rows)
    middle = (logits + logits.max(1)[:, None]) / evidence.array.exact(2)
    return kernels.log_expectation(middle - kernels.log_normalisers(rows)[:, None])


ENUMERATED = 300_000
"""(transcript, target) pairs up to which the gap's excess is summed over all transcripts."""


class GapExcess(ReleaseStatement):
    """``E(Gbar - s)_+ <= (2/(e eta J)) nu^J`` and ``||(Gbar - s)_+||_{L2(P_a)} <= (4/(e eta J)) nu^{J/2}`` for every
    target, with ``Gbar = (1/J) sum G``, ``s = log K/eta``, ``nu = (1 + K^{-1/2})/2``.

    Summed over the transcripts where they are few; elsewhere by ``z_+ <= e^{lambda z}/(e lambda)``, lambda = eta J/2
    and eta J/4, from the moment ``E e^{(eta/2) sum G}``, which is measured.
    """

    id: ClassVar[str] = "bc-5.excess"
    title: ClassVar[str] = "Mean gap beyond log K/η"
    source: ClassVar[str] = "smaller constant, BC-5"
    claim: ClassVar[str] = "E_{P_a}(Ḡ-s)₊ ≤ (2/(eηJ))ν^J; ‖(Ḡ-s)₊‖_{L2(P_a)} ≤ (4/(eηJ))ν^{J/2}"
    needs_codebooks = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        targets = np.arange(len(evidence.kernels.targets))
        if problem.space.transcript_count * len(targets) <= ENUMERATED:
            yield from self._summed(evidence, targets)
            return
        for rows in chunks(targets, CHUNK):
            yield from self._from_moment(evidence, rows)

    def _summed(self, evidence: Evidence, rows: Integers) -> Iterator[Cases]:
        problem, array = evidence.problem, evidence.array
        mass, excess = self._transcripts(evidence, rows)
        moments = (_sum_over_transcripts(mass * excess), _sum_over_transcripts(mass * excess.square()))
        p, nu = problem.parameters, gap_ratio(problem)
        unit = exponential(fmpq(1)) * p.rounds
        first = p.constant("better-gap-excess") / unit * nu**p.rounds
        second = (p.constant("better-gap-excess-norm") / unit) ** 2 * nu**p.rounds
        for name, moment, limit in zip(("E η(Ḡ-s)₊", "E(η(Ḡ-s)₊)²"), moments, (first, second), strict=True):
            yield ArrayCases(moment, array.constant(ball(limit)), _of_target(problem, rows, name), len(rows))

    def _transcripts(self, evidence: Evidence, rows: Integers) -> tuple[Any, Any]:
        """``p_a`` and ``eta (Gbar - s)_+`` of every transcript, shape (transcripts, rows)."""
        problem, kernels, array = evidence.problem, evidence.kernels, evidence.array
        logits = kernels.eta * kernels.discrepancies(rows)
        gaps, logs = logits.max(1)[:, None] - logits, kernels.log_kernels(rows)
        size = problem.domain.signed_count
        state, log_mass, total = np.zeros(1, dtype=np.int64), None, None
        for _ in range(problem.rounds):
            parent, query = np.repeat(np.arange(len(state)), size), np.tile(np.arange(size), len(state))
            log, gap = logs[state[parent], query], gaps[state[parent], query]
            log_mass = log if log_mass is None else log_mass[parent] + log
            total = gap if total is None else total[parent] + gap
            state = problem.graph.next_state[state[parent], query]
        assert log_mass is not None and total is not None
        beyond = total / array.exact(problem.rounds) - array.exact(size).log()
        return log_mass.exp(), beyond.maximum(array.exact(0))

    def _from_moment(self, evidence: Evidence, rows: Integers) -> Iterator[Cases]:
        """With M the moment, ``E eta (Gbar-s)_+ <= (2/(eJ)) K^{-J/2} M`` and ``E(eta (Gbar-s)_+)^2 <= (4/(eJ))^2
        K^{-J/2} M``: in logarithms, without the factors that both sides share.
        """
        problem, array = evidence.problem, evidence.array
        p, size = problem.parameters, fmpq(problem.domain.signed_count)
        scaled = path_moment(evidence, rows) - array.constant(ball(p.rounds * logarithm(size) / 2))
        beyond = p.rounds * logarithm(gap_ratio(problem))
        first, second = (p.constant(name) for name in ("better-gap-excess", "better-gap-excess-norm"))
        ratios = (divide(first, fmpq(2)), divide(second * second, fmpq(16)))
        for name, ratio in zip(("E η(Ḡ-s)₊", "E(η(Ḡ-s)₊)²"), ratios, strict=True):
            limit = array.constant(ball(beyond + logarithm(ratio)))
            witness = _of_target(problem, rows, f"{name} from the moment")
            yield ArrayCases(scaled, limit, witness, len(rows), auxiliary=True)
        yield StructuralCase("z₊ ≤ e^{λz}/(eλ) and the exponential moment, which is measured", 0)


def _sum_over_transcripts(values: Any) -> Any:
    """The sum along the first axis, halves added to halves while its length is even."""
    while values.shape[0] % 2 == 0:
        half = values.shape[0] // 2
        values = values[:half] + values[half:]
    return values.sum(0)


BETTER_LEMMAS: tuple[ReleaseStatement, ...] = (
    TwoSidedMean(),
    TwoSidedJensen(),
    TwoSidedMaurey(),
    SharpMoment(),
    NearGrowth(),
    FarGrowth(),
    GapMoments(),
    GapExponential(),
    GapExcess(),
)
"""The lemmas in the order of the chain."""
