"""§6.3: Algorithm 9, selection by sampling and filtering (equation (1), Lemmas 6.9-6.11, Theorem 6.12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from flint import fmpq

from certify.arithmetic.ceiling import certified_ceiling
from certify.arithmetic.scalar import Scalar, divide, exponential, logarithm, multiply
from certify.engine.statement import Cases, ScalarCase, StructuralCase, Witness
from certify.selection.problem import SelectionProblem
from certify.selection.sampling_filtering import sampling_filtering
from certify.selection.sampling_run import (
    ORACLES,
    AdversarialOracle,
    PhaseNumbers,
    SamplingRun,
    log2,
    stream_accuracy,
)
from certify.selection.statements.base import exact_case
from certify.selection.statements.section6_search import SearchStatement, above_one

OWN_N, OWN_D = 2**100, 1000
"""Where no phase of the instance runs, printed claims about phases are judged at these, with ε = 1 and β = 1/d."""

NO_PHASE = "no phase runs, since n/α < 2^64: Algorithm 9 is one call of Algorithm 8 with 64 rounds"


class SamplingStatement(SearchStatement):
    """A statement about Algorithm 9, for ε ≤ 1."""

    algorithms = ("sampling-filtering",)
    needs_phases: ClassVar[bool] = False
    needs_small_beta: ClassVar[bool] = False

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        reason = super().not_applicable(problem) or above_one(problem)
        if reason is not None:
            return reason
        run = problem.sampling
        if run.n < 2:
            return "Algorithm 9 asks for n ≥ 2"
        if self.needs_small_beta and run.beta * run.d > 1:
            return f"it asks for β ≤ 1/d, and β = {run.beta} with d = {run.d}"
        return NO_PHASE if self.needs_phases and not run.phases else None


def with_phases(run: SamplingRun) -> SamplingRun:
    """The run itself where a phase runs, else the tool's own witness."""
    if run.phases:
        return run
    return SamplingRun(OWN_D, OWN_N, fmpq(1), fmpq(1, OWN_D), run.ledger)


def parameters(run: SamplingRun) -> Witness:
    """The parameters a claim was judged at."""
    return {"log2 n": _exponent(run.n), "d": run.d, "epsilon": run.epsilon, "beta": run.beta}


def _exponent(n: int) -> str:
    return str(n.bit_length() - 1) if n & (n - 1) == 0 else f"between {n.bit_length() - 1} and {n.bit_length()}"


class PhaseLengths(SamplingStatement):
    """Equation (1) and the display before it, phase by phase."""

    id: ClassVar[str] = "eq-6.(1)"
    title: ClassVar[str] = "Phases shrink"
    source: ClassVar[str] = "§6.3, (1)"
    claim: ClassVar[str] = "t_{i+1} ≤ 7+3log2 t_i ≤ t_i/2; Σ 1/t_i ≤ 2/t_{k-1} ≤ 1/32"
    needs_phases = True

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.sampling
        offset, degree = run.constant("phase-offset"), run.constant("phase-power")
        least = run.constant("final-rounds")
        for i, phase in enumerate(run.phases):
            t = fmpq(phase.t)
            following = fmpq(certified_log2_ceiling(phase))

            def middle(t: fmpq = t) -> Scalar:
                return offset + multiply(degree, log2(t))

            witness = {"phase": i, "t": phase.t}
            yield exact_case(least, t, {"quantity": "64 ≤ t_i", **witness})
            yield ScalarCase(_fixed(following), middle, {"quantity": "t_{i+1}", **witness})
            yield ScalarCase(middle, _fixed(t / 2), {"quantity": "7+3log2 t_i ≤ t_i/2", **witness})
        last = run.constant("reciprocal-sum") / run.phases[-1].t
        yield exact_case(_reciprocals(run), last, {"quantity": "Σ 1/t_i"})
        yield exact_case(last, run.constant("reciprocal-bound"), {"quantity": "2/t_{k-1}"})


def certified_log2_ceiling(phase: PhaseNumbers) -> int:
    """``⌈log2(64 t³)⌉``."""
    value = int(phase.next_x.ceil())
    return (value - 1).bit_length()


def _fixed(value: fmpq) -> Callable[[], Scalar]:
    """A side of a comparison that is known exactly."""
    return lambda: value


def _reciprocals(run: SamplingRun) -> fmpq:
    return sum((fmpq(1, phase.t) for phase in run.phases), fmpq(0))


def _streams(run: SamplingRun, phase: PhaseNumbers) -> fmpq:
    """Streams of the filtering pass and the two runs: ``t² + 2``."""
    return fmpq(phase.t) ** int(run.constant("filter-stop-power").p) + 2


class RunCount(SamplingStatement):
    """The number of runs and streams against the corrected N."""

    id: ClassVar[str] = "alg-9.count"
    title: ClassVar[str] = "Count of runs"
    source: ClassVar[str] = "§6.3, Algorithm 9, line 1, with the square"
    claim: ClassVar[str] = "1 + Σ(t_i²+2) ≤ N = 3 log2²(2n)"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.sampling
        total = 1 + sum((_streams(run, phase) for phase in run.phases), fmpq(0))
        yield ScalarCase(_fixed(total), run.runs, {"quantity": "runs and streams", "phases": len(run.phases)})


class PrintedRunCount(SamplingStatement):
    """The same with the printed N; false as soon as a phase runs, judged at the tool's own witness where none does."""

    id: ClassVar[str] = "alg-9.count.printed"
    title: ClassVar[str] = "Count of runs, as printed"
    source: ClassVar[str] = "§6.3, Algorithm 9, line 1"
    claim: ClassVar[str] = "1 + Σ(t_i²+2) ≤ N = 3 log2(2n)"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = with_phases(evidence.sampling)
        total = 1 + sum((_streams(run, phase) for phase in run.phases), fmpq(0))
        exponent = evidence.printed("run-count-power")
        yield ScalarCase(
            _fixed(total),
            lambda: run.count(exponent),
            {"quantity": "runs and streams", "phases": len(run.phases), **parameters(run)},
        )


class PrintedStop(SamplingStatement):
    """The stop at ``|Y| = t``: the sample misses the t best with probability ``(1-1/t)^t``, which exceeds ``e^-t``."""

    id: ClassVar[str] = "alg-9.stop.printed"
    title: ClassVar[str] = "Early stop, as printed"
    source: ClassVar[str] = "§6.3, Algorithm 9, lines 11-12"
    claim: ClassVar[str] = "(1-1/t)^t ≤ e^{-t}, what Lemma 6.11 needs of a stop at |Y| = t"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = with_phases(evidence.sampling)
        exponent = int(evidence.printed("filter-stop-power").p)
        for i, phase in enumerate(run.phases):
            yield _missed(phase.t, exponent, {"phase": i, **parameters(run)})


def _missed(t: int, exponent: int, witness: Witness) -> ScalarCase:
    def probability() -> Scalar:
        return exponential(multiply(fmpq(t**exponent), logarithm(1 - fmpq(1, t))))

    return ScalarCase(
        probability,
        lambda: exponential(fmpq(-t)),
        {"quantity": f"P(the sample misses the {t}^{exponent} best)", "t": t, **witness},
    )


class PhaseBudget(SamplingStatement):
    """Lemma 6.9: the budgets of all phases and of the final run, in exact rationals."""

    id: ClassVar[str] = "lemma-6.9"
    title: ClassVar[str] = "Budget of Algorithm 9"
    source: ClassVar[str] = "§6.3, Lemma 6.9"
    claim: ClassVar[str] = "Σ (t_i²+2)/t_i³ ≤ Σ 2/t_i ≤ 1/16; with the final 1/2 at most 1 (in units of ε)"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.sampling
        spent, doubled = fmpq(0), fmpq(0)
        for i, phase in enumerate(run.phases):
            cube = fmpq(phase.t) ** int(run.constant("phase-power").p)
            share, bound = _streams(run, phase) / cube, run.constant("phase-budget") / phase.t
            yield exact_case(share, bound, {"quantity": "(t²+2)/t³", "phase": i, "t": phase.t})
            spent, doubled = spent + share, doubled + bound
        yield exact_case(doubled, run.constant("phases-budget"), {"quantity": "Σ 2/t_i"})
        whole = spent + run.constant("final-budget")
        yield exact_case(whole, run.constant("svt-privacy"), {"quantity": "phases and final run"})


class PhaseInvariants(SamplingStatement):
    """Lemma 6.10: the arithmetic of a phase, and its invariants in exact runs against four adversarial oracles."""

    id: ClassVar[str] = "lemma-6.10"
    title: ClassVar[str] = "Invariants of a phase"
    source: ClassVar[str] = "§6.3, Lemma 6.10"
    claim: ClassVar[str] = "S* ≤ u, s_{j_w} ≥ ℓ, u-ℓ ≤ x_i α; early stop only with t_i² scores above max_P"
    needs_phases = True

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.sampling
        yield from self._chain(run)
        for manner in ORACLES:
            yield from self._run(evidence, run, manner)

    def _chain(self, run: SamplingRun) -> Iterator[Cases]:
        inner, threshold = run.constant("filter-inner"), run.constant("filter-threshold")
        length, of_run = run.constant("interval-length"), run.constant("phase-run")

        def streams() -> Scalar:
            return multiply(run.constant("svt-accuracy"), logarithm(multiply(2 * run.d / run.beta, run.runs())))

        def alpha() -> Scalar:
            return run.epsilon * run.alpha()

        yield ScalarCase(streams, alpha, {"quantity": "accuracy of a filtering stream, in units of t³/ε"})
        for i, phase in enumerate(run.phases):
            witness = {"phase": i, "t": phase.t}

            def search(t: int = phase.t) -> Scalar:
                log = logarithm(multiply(2 * run.d * t / run.beta, run.runs()))
                return multiply(run.constant("search-error"), log)

            yield ScalarCase(search, lambda: multiply(of_run, alpha()), {"quantity": "(384/ε')log … ≤ 48a", **witness})
            cube = fmpq(phase.t) ** int(run.constant("phase-power").p)

            def after(phase: PhaseNumbers = phase, cube: fmpq = cube) -> Scalar:
                return divide(phase.x(), fmpq(2) ** phase.t) + of_run * cube

            yield ScalarCase(after, _fixed(inner * cube), {"quantity": "x/2^t + 48t³ ≤ 49t³", **witness})
            yield exact_case(length * cube, phase.next_x, {"quantity": "51t³ ≤ x_{i+1}", **witness})
        yield exact_case(inner + 1, threshold, {"quantity": "49a + a ≤ 50a"})
        yield exact_case(threshold + 1, length, {"quantity": "50a + a ≤ 51a"})

    def _run(self, evidence: SelectionProblem, run: SamplingRun, manner: str) -> Iterator[Cases]:
        assert evidence.selection is not None
        scores = evidence.selection.scores.sums
        best = max(scores)
        runs = certified_ceiling(run.runs)
        oracle = AdversarialOracle(scores, stream_accuracy(run, runs), manner)
        result = sampling_filtering(
            oracle,
            run.d,
            run.n,
            run.epsilon,
            run.beta,
            sampler=lambda d, t: [j for j in range(d) if oracle.draw() % t == 0],
        )
        alpha = result.schedule.alpha
        for i, phase in enumerate(result.phases):
            witness: Witness = {"oracle": manner, "phase": i}
            yield exact_case(best, phase.new_upper, {"quantity": "S* ≤ u", **witness})
            low, held = phase.searched.lower, scores[phase.searched.index]
            yield exact_case(low, held, {"quantity": "ℓ ≤ s_{j_w}", **witness})
            t = phase.parameters.t
            allowed = run.constant("phase-multiple") * fmpq(t) ** int(run.constant("phase-power").p) * alpha
            yield exact_case(phase.new_upper - low, allowed, {"quantity": "u - ℓ", **witness})
            if phase.stopped:
                sampled = max(scores[j] for j in phase.sample)
                above = sum(1 for s in scores if s > sampled)
                yield exact_case(fmpq(phase.parameters.stop), fmpq(above), {"quantity": "early stop", **witness})
        error = best - scores[result.index]
        allowed = run.constant("final-accuracy") * alpha
        yield exact_case(error, allowed, {"quantity": "S* - s_j, all answers accurate", "oracle": manner})


class QueryCount(SamplingStatement):
    """Lemma 6.11: the chain of expected queries."""

    id: ClassVar[str] = "lemma-6.11"
    title: ClassVar[str] = "Expected queries"
    source: ClassVar[str] = "§6.3, Lemma 6.11"
    claim: ClassVar[str] = "(1-1/t)^{t²} ≤ e^{-t}; (1+d/t)t+d+t³+(β+e^{-t})dt ≤ 3d+t³+2t; total ≤ 3dk+2log2³(2n)+64d"
    needs_small_beta = True

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.sampling
        d, per_phase, cube = fmpq(run.d), run.constant("query-phases"), run.constant("query-cube")
        final = run.constant("final-rounds") * d
        total = final
        for i, phase in enumerate(run.phases):
            t = fmpq(phase.t)

            def expected(t: fmpq = t) -> Scalar:
                missed = run.beta + exponential(-t)
                return (1 + d / t) * t + d + t**3 + multiply(missed, d * t)

            yield _missed(phase.t, int(run.constant("filter-stop-power").p), {"phase": i})
            bound = per_phase * d + t**3 + 2 * t
            yield ScalarCase(
                expected, _fixed(bound), {"quantity": "expected queries of a phase", "phase": i, "t": phase.t}
            )
            total = total + bound

        def allowed() -> Scalar:
            length = run.log_2n()
            return per_phase * d * len(run.phases) + multiply(cube, length * length * length) + final

        yield ScalarCase(_fixed(total), allowed, {"quantity": "expected queries", "phases": len(run.phases)})


class SamplingTheorem(SamplingStatement):
    """Theorem 6.12: the constants 97 and 776, and the accuracy of the final run."""

    id: ClassVar[str] = "thm-6.12"
    title: ClassVar[str] = "Selection by sampling and filtering"
    source: ClassVar[str] = "§6.3, Theorem 6.12"
    claim: ClassVar[str] = "S*-s_j ≤ 97α ≤ (776/ε) log(384 d log2³(2n)/β)"
    needs_small_beta = True

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.sampling
        final, of_run = run.constant("final-accuracy"), run.constant("final-run")
        rounds = run.constant("final-rounds")

        def last_run() -> Scalar:
            log = logarithm(multiply(2 * run.d * rounds / run.beta, run.runs()))
            return multiply(run.constant("search-error") / (run.constant("final-budget") * run.epsilon), log)

        yield ScalarCase(last_run, lambda: multiply(of_run, run.alpha()), {"quantity": "(384/(ε/2)) log … ≤ 96α"})
        yield ScalarCase(lambda: divide(run.final_x(), run.limit), _fixed(fmpq(1)), {"quantity": "x_k/2^64"})
        yield exact_case(1 + of_run, final, {"quantity": "1 + 96 ≤ 97"})
        product, error = final * run.constant("svt-accuracy"), run.constant("selection-error")
        yield exact_case(product, error, {"quantity": "97 · 8 ≤ 776"})
        total = 1 + sum((_streams(run, phase) for phase in run.phases), fmpq(0))
        yield ScalarCase(_fixed(total), run.runs, {"quantity": "runs and streams ≤ N, each failing with β/N"})


class Reach(SamplingStatement):
    """Whether a phase runs at all; users must know."""

    id: ClassVar[str] = "alg-9.reach"
    title: ClassVar[str] = "Reach of Algorithm 9"
    source: ClassVar[str] = "§6.3, Algorithm 9, line 3"
    claim: ClassVar[str] = "phases run exactly where n/α ≥ 2^64; otherwise Algorithm 9 is Algorithm 8 with 64 rounds"

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        run = evidence.sampling
        if run.phases:
            lengths = ", ".join(str(phase.t) for phase in run.phases)
            yield StructuralCase(f"n/α ≥ 2^64: {len(run.phases)} phase(s), t = {lengths}", 1)
            yield ScalarCase(_fixed(run.limit), run.first_x, {"quantity": "2^64 ≤ n/α"})
        else:
            yield StructuralCase(NO_PHASE, 1)
            yield ScalarCase(run.first_x, _fixed(run.limit), {"quantity": "n/α < 2^64"}, strict=True)
