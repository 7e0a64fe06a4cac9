"""BC-10: the noisy histogram for small universes, its privacy and its error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from flint import arb, fmpq

from certify.arithmetic.scalar import Scalar, Undetermined, ball, divide, multiply
from certify.engine.statement import Cases, ScalarCase, StructuralCase, Worst
from certify.release.histogram import Counts, HistogramLaw, mean_noise
from certify.release.mechanism import NoisyHistogram
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import ReleaseStatement, at_most, enclose, exact_case, measured_cases

MEASURED_OUTPUTS = 256
"""Clamped counts of one element up to which the ratio of probabilities is measured at every one of them."""

MAX_OUTPUTS = 10**8
"""Database-output pairs up to which the theorem asks for the law where the bound without it is not enough."""

NOT_HISTOGRAM = 'the mechanism is not the noisy histogram of a small universe; write "mechanism": {"tuned": "9"}'

Pair = tuple[Counts, Counts]


def neighbour_pairs(problem: ReleaseProblem) -> list[Pair]:
    """Ordered pairs of neighbouring histograms that contain a database whose claims are checked."""
    pairs: list[Pair] = []
    for counts in problem.centre_counts:
        for other in _neighbours(counts):
            pairs.append((counts, other))
            if not problem.all_databases:
                pairs.append((other, counts))
    return pairs


def _neighbours(counts: Counts) -> Iterator[Counts]:
    for source, available in enumerate(counts):
        for sink in range(len(counts)):
            if available and sink != source:
                yield tuple(count + (d == sink) - (d == source) for d, count in enumerate(counts))


def largest_exponent(count: int, other: int, rows: int) -> int:
    """``max_v (|v - c'| - |v - c|)`` over v in 0..n: ``log P_c(v)/P_c'(v)`` is r times this difference.

    The normalising factor depends on v alone, so it cancels, at the ends too; the difference is piecewise
    linear in v and breaks at c and c', so it is largest there or at an end.
    """
    return max(abs(output - other) - abs(output - count) for output in (0, count, other, rows))


def privacy_loss(problem: ReleaseProblem) -> fmpq:
    """The largest log-ratio of the laws of two neighbours, in units of eps; exact.

    The counts are independent, so the largest ratio over all outputs is the product over the elements.
    """
    rows, rate = problem.domain.rows, problem.ledger.rational("better-histogram-noise-rate")
    exponents = {sum(largest_exponent(c, o, rows) for c, o in _changes(pair)) for pair in neighbour_pairs(problem)}
    return rate * max(exponents)


def histogram_theorem(evidence: Evidence, bound: Callable[[], Scalar]) -> Iterator[Cases]:
    """The theorem of a rung where the histogram runs: pure eps-DP by `privacy_loss`, and the expected error of every
    database at most ``bound``.

    `HistogramLaw.error_bound` proves the second, without the law. Only where it does not, the law decides; raises
    `Undetermined` where that ranges over more than `MAX_OUTPUTS`.
    """
    problem = evidence.problem
    loss = privacy_loss(problem)
    yield ScalarCase(
        lambda: loss,
        lambda: problem.ledger.rational("better-histogram-privacy"),
        {"quantity": "privacy loss in units of ε"},
        count=len(neighbour_pairs(problem)),
    )
    counts, most = problem.centre_counts, ball(bound())
    without_law = [ball(problem.histogram_law.error_bound(each)) for each in counts]
    if all(value <= most for value in without_law):
        errors, quantity = without_law, "Σ_d max_q |q(d)| E|ĉ_d-c_d|/n"
    else:
        outputs = problem.histogram_law.output_count * len(counts)
        if outputs > MAX_OUTPUTS:
            raise Undetermined(f"the error needs the law, which ranges over {outputs:,} database-output pairs")
        errors, quantity = [error.ball() for error in evidence.histogram_errors], "E‖M(x)-F(x)‖_∞"
    yield measured_cases(errors, [most] * len(counts), _at(problem, counts, quantity), len(counts))


def _changes(pair: Pair) -> list[tuple[int, int]]:
    """The counts (c, c') of the elements where two histograms differ."""
    return [(count, other) for count, other in zip(*pair, strict=True) if count != other]


def _named(problem: ReleaseProblem, counts: Counts) -> dict[str, int]:
    return {name: count for name, count in zip(problem.domain.universe, counts, strict=True) if count}


def _at(problem: ReleaseProblem, counts: list[Counts], quantity: str) -> Callable[[int], dict[str, Any]]:
    return lambda i: {"database": _named(problem, counts[i]), "quantity": quantity}


class HistogramStatement(ReleaseStatement):
    """A statement about the noisy histogram."""

    about_transcripts = False

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        if not isinstance(problem.mechanism, NoisyHistogram):
            return NOT_HISTOGRAM
        return None


class HistogramPrivacy(HistogramStatement):
    """The noisy counts are eps-DP: a changed row moves two counts by one, each by at most a factor ``e^{eps/2}``.

    The proof is exact, by `largest_exponent`; answers are made from the clamped counts. The ratio of the
    probabilities of the law is measured beside it, and decides where the noise is too weak for the proof.
    """

    id: ClassVar[str] = "bc-10.privacy"
    title: ClassVar[str] = "Privacy of the noisy histogram"
    source: ClassVar[str] = "smaller constant, BC-10"
    claim: ClassVar[str] = "‖c-c'‖₁ ≤ 2; Σ_d max_v log P(ĉ_d=v)/P(ĉ'_d=v) ≤ ε"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        pairs = neighbour_pairs(problem)
        moved = [sum(abs(count - other) for count, other in _changes(pair)) for pair in pairs]
        sensitivity = problem.ledger.rational("better-histogram-sensitivity")

        def named(i: int) -> dict[str, Any]:
            return {"database": _named(problem, pairs[i][0]), "neighbour": _named(problem, pairs[i][1])}

        yield exact_case(
            moved, [1] * len(pairs), 1, sensitivity, lambda i: {**named(i), "quantity": "‖c-c'‖₁"}, len(pairs)
        )
        largest = _LargestRatio(problem.histogram_law)
        ratios = [sum((largest.of(c, o)[0] for c, o in _changes(pair)), arb(0)) for pair in pairs]
        privacy = problem.ledger.rational("better-histogram-privacy")
        bound = ball(evidence.parameters.epsilon() * privacy)
        count = len(pairs) * 2 * (problem.domain.rows + 1)

        def witness(i: int) -> dict[str, Any]:
            outputs = {
                name: largest.of(count, other)[1]
                for name, count, other in zip(problem.domain.universe, *pairs[i], strict=True)
                if count != other
            }
            return {**named(i), "output": outputs, "quantity": "P(ĉ)/P(ĉ')"}

        if privacy_loss(problem) <= privacy and not any(ratio > bound for ratio in ratios):
            top = max(range(len(pairs)), key=lambda i: float(ratios[i]))
            shown = Worst(at_most(enclose(ratios[top]), enclose(bound)), enclose(bound), witness(top))
            reason = "integers: the exponents |v - c| and |v - c'| of two neighbouring counts differ by at most one"
            yield StructuralCase(reason, count, shown)
        else:
            yield measured_cases(ratios, [bound] * len(pairs), witness, count)


class _LargestRatio:
    """The largest ``log P(ĉ = v)/P(ĉ' = v)`` over v, enclosed, and a v where it is large; each pair (c, c') once."""

    def __init__(self, law: HistogramLaw) -> None:
        self._law = law
        self._found: dict[tuple[int, int], tuple[arb, int]] = {}

    def of(self, count: int, other: int) -> tuple[arb, int]:
        key = (count, other)
        if key not in self._found:
            rows = self._law.domain.rows
            outputs = range(rows + 1) if rows < MEASURED_OUTPUTS else sorted({0, count, other, rows})
            ratios = {output: self._law.log_ratio(count, other, output) for output in outputs}
            largest = ratios[0]
            for ratio in ratios.values():
                largest = largest.max(ratio)
            self._found[key] = largest, max(ratios, key=lambda output: float(ratios[output]))
        return self._found[key]


class NoiseMean(HistogramStatement):
    """``E|N| = 1/sinh(eps/2) <= 2/eps``, as ``sinh t >= t``."""

    id: ClassVar[str] = "bc-10.noise"
    title: ClassVar[str] = "Mean size of the noise on a count"
    source: ClassVar[str] = "smaller constant, BC-10"
    claim: ClassVar[str] = "E|N| = 1/sinh(ε/2) ≤ 2/ε"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        p, law = evidence.parameters, evidence.problem.histogram_law
        yield ScalarCase(
            lambda: mean_noise(law.rate()),
            lambda: divide(p.constant("better-histogram-noise-mean"), p.epsilon()),
            {"quantity": "E|N|"},
        )


class HistogramError(HistogramStatement):
    """The expected error, a sum over all clamped histograms, is at most ``T E|N|/n`` and at most ``C tau``.

    The first holds by structure: ``|q(d)| <= 1``, and clamping brings a count no farther from c in [0, n]. The
    measured error is shown beside it and refutes where it is certainly above.
    """

    id: ClassVar[str] = "bc-10.error"
    title: ClassVar[str] = "Error of the noisy histogram"
    source: ClassVar[str] = "smaller constant, BC-10"
    claim: ClassVar[str] = "E max_q |F̂_q-F_q(x)| ≤ T E|N|/n, and ≤ Cτ"
    needs_outputs = True

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        domain, counts, errors = problem.domain, problem.centre_counts, evidence.histogram_errors
        limit = multiply(fmpq(domain.universe_size, domain.rows), mean_noise(problem.histogram_law.rate()))
        witness = _at(problem, counts, "E max_q |F̂_q-F_q(x)|")
        most = enclose(limit)
        bounded = all(abs(value) <= 1 for values in domain.query_values for value in values)
        if bounded and not any(_certainly_above(error.lower, most.upper) for error in errors):
            top = max(range(len(errors)), key=lambda i: _guide(errors[i].upper))
            reason = "|q(d)| ≤ 1, and a clamped count is no farther from c than c + N"
            yield StructuralCase(reason, len(counts), Worst(at_most(errors[top], most), most, witness(top)))
        else:
            yield measured_cases([error.ball() for error in errors], [limit] * len(errors), witness, len(counts))
        yield measured_cases(
            [error.ball() for error in errors], [_target(problem)()] * len(errors), witness, len(counts)
        )


def _certainly_above(lower: fmpq | None, upper: fmpq | None) -> bool:
    return lower is not None and upper is not None and bool(lower > upper)


def _guide(value: fmpq | None) -> float:
    return float("inf") if value is None else float(arb(value))


def _target(problem: ReleaseProblem) -> Callable[[], Scalar]:
    """``C tau``, for the constant of the rung."""
    assert isinstance(problem.mechanism, NoisyHistogram)
    tuned = problem.mechanism.tuned
    return lambda: multiply(problem.ledger.value("better-histogram-error"), multiply(tuned.constant, tuned.tau()))


class HistogramBound(HistogramStatement):
    """The bounds of the error that need no law: ``sum_d max_q |q(d)| E|ĉ_d - c_d|/n <= T 2/(eps n) <= C tau``."""

    id: ClassVar[str] = "bc-10"
    title: ClassVar[str] = "The noisy histogram meets the bound"
    source: ClassVar[str] = "smaller constant, BC-10"
    claim: ClassVar[str] = "Σ_d max_q |q(d)| E|ĉ_d-c_d|/n ≤ T E|N|/n ≤ 2T/(εn) ≤ Cτ"

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem, p = evidence.problem, evidence.parameters
        law, counts, size = problem.histogram_law, problem.centre_counts, problem.domain.universe_size

        def noise() -> Scalar:
            return multiply(fmpq(size, problem.domain.rows), mean_noise(law.rate()))

        def linear() -> Scalar:
            mean = multiply(p.constant("better-histogram-noise-mean"), fmpq(size))
            return divide(mean, p.epsilon() * problem.domain.rows)

        yield measured_cases(
            [law.error_bound(each) for each in counts],
            [linear()] * len(counts),
            _at(problem, counts, "Σ_d max_q |q(d)| E|ĉ_d-c_d|/n"),
            len(counts),
        )
        yield ScalarCase(noise, linear, {"quantity": "T E|N|/n"})
        yield ScalarCase(linear, _target(problem), {"quantity": "2T/(εn)"})
