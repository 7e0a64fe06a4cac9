"""§5: privacy and accuracy of the stream (Theorems 5.1, 5.2), and of streams and mechanisms that depart from it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from flint import fmpq

from certify.arithmetic.scalar import Scalar, logarithm
from certify.engine.statement import Cases, ScalarCase, StructuralCase
from certify.selection.instance_model import LaplaceNoise
from certify.selection.laws.accuracy import worst_failure
from certify.selection.mechanism_privacy import exponential_cases, rounded_cases
from certify.selection.problem import SelectionProblem
from certify.selection.statements.base import SelectionStatement, StreamStatement, privacy_cases, the_stream

SHIFT = "by the shift argument, where the law is not known well enough: 1/2 + 2/4 ≤ 1"


class StreamPrivacyTheorem(StreamStatement):
    """Theorem 5.1: on the instance by the exact law at the worst neighbours, for all sums by shifting the noises."""

    id: ClassVar[str] = "thm-5.1"
    title: ClassVar[str] = "Privacy of the stream"
    source: ClassVar[str] = "§5, Theorem 5.1"
    claim: ClassVar[str] = "P(out) ≤ e^ε P'(out)"

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is None and problem.departures:
            return f"the stream is not that of Algorithms 1-3: {'; '.join(problem.departures)} (see thm-5.1.variants)"
        return reason

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        multiple = evidence.ledger.rational("svt-privacy")
        # Moving the threshold noise by 1 and the noise of the yes by 2 maps the event for f into that for f'.
        shift = 1 / evidence.ledger.rational("svt-threshold-scale") + 2 / evidence.ledger.rational("svt-query-scale")
        yield from privacy_cases(evidence, multiple, SHIFT if shift <= multiple else None)
        yield ScalarCase(
            lambda: shift,
            lambda: multiple,
            {"quantity": "1/2 + 2/4, the shift argument for all sums, in units of ε"},
            auxiliary=True,
        )


class VariantPrivacy(SelectionStatement):
    """A stream or mechanism that is not the paper's: is it ε-DP all the same, at these sums?"""

    id: ClassVar[str] = "thm-5.1.variants"
    title: ClassVar[str] = "Privacy of the described variant"
    source: ClassVar[str] = "§5, Theorem 5.1"
    claim: ClassVar[str] = "P(out) ≤ e^ε P'(out)"

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        if problem.stream is not None and not problem.departures:
            return "the stream is that of Algorithms 1-3 (see thm-5.1)"
        if problem.stream is None and problem.exponential is None and problem.rounded is None:
            return "the instance is neither a stream nor another mechanism of §5"
        return None

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        multiple = evidence.ledger.rational("svt-privacy")
        if evidence.exponential is not None:
            yield from exponential_cases(evidence.exponential, evidence.instance.level, multiple)
        elif evidence.rounded is not None:
            yield from rounded_cases(evidence.rounded, evidence.instance.level, multiple)
        else:
            yield from privacy_cases(evidence, multiple)


class _Accuracy(StreamStatement):
    """Theorem 5.2 with a constant c: ``α = (c/ε) log(2K/β)``."""

    @abstractmethod
    def factor(self, problem: SelectionProblem) -> fmpq:
        """c."""

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        reason = super().not_applicable(problem)
        if reason is not None:
            return reason
        if problem.departures:
            return f"the stream is not that of Algorithms 1-3: {'; '.join(problem.departures)}"
        return "the instance gives no β" if problem.instance.beta is None else None

    def cases(self, evidence: SelectionProblem) -> Iterator[Cases]:
        spec, beta = the_stream(evidence), evidence.instance.beta
        assert beta is not None and isinstance(spec.noise, LaplaceNoise)
        noise, count = spec.noise, len(spec.scores.sums)
        scaled = self.factor(evidence) / evidence.epsilon

        def log() -> Scalar:
            return logarithm(2 * count / beta)

        def worst() -> Scalar:
            return worst_failure(count, scaled, log(), noise.threshold, noise.query)

        yield ScalarCase(
            worst,
            lambda: beta,
            {
                "quantity": "P(an answer is inaccurate), worst sums",
                "K": count,
                "beta": beta,
                "epsilon": evidence.epsilon,
                "sums - thresholds": "+α" if count == 1 else f"-α ({count - 1} times), +α",
            },
        )
        given = evidence.failure_at(scaled)
        if given is None:
            yield StructuralCase("no answer to the given sums can be inaccurate", 1)
        else:
            yield ScalarCase(given, lambda: beta, {"quantity": "P(an answer is inaccurate), given sums"})


class Accuracy(_Accuracy):
    """Theorem 5.2 with the constant that §6 uses."""

    id: ClassVar[str] = "thm-5.2"
    title: ClassVar[str] = "Accuracy of the stream"
    source: ClassVar[str] = "§5, Theorem 5.2 with the constant of §6.3"
    claim: ClassVar[str] = "P(an answer is not α-accurate) ≤ β, α = (8/ε) log(2K/β)"

    def factor(self, problem: SelectionProblem) -> fmpq:
        return problem.ledger.rational("svt-accuracy")


class PrintedAccuracy(_Accuracy):
    """Theorem 5.2 as printed; false at K = 1 for every β < 32/169."""

    id: ClassVar[str] = "thm-5.2.printed"
    title: ClassVar[str] = "Accuracy of the stream, as printed"
    source: ClassVar[str] = "§5, Theorem 5.2"
    claim: ClassVar[str] = "P(an answer is not α-accurate) ≤ β, α = (2/ε) log(2K/β)"

    def factor(self, problem: SelectionProblem) -> fmpq:
        return problem.printed("svt-accuracy")
