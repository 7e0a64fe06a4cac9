"""§4: pure privacy of the envelope, and its normaliser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from certify.arithmetic.scalar import Scalar
from certify.engine.statement import Cases, StructuralCase, Worst
from certify.release.measurements import AnswerLaw, EnvelopeMass, Measurement, PrivacyRatio
from certify.release.problem import Evidence, ReleaseProblem
from certify.release.statements.base import (
    ReleaseStatement,
    at_most,
    database_witness,
    enclose,
    measured_cases,
)

MAX_ANSWER_CLASSES = 100_000
"""Transcript classes up to which the law of the decoded answer is also formed."""

ONE_DATABASE = "T = 1: there are no neighbouring databases"


def privacy_measurement(problem: ReleaseProblem) -> PrivacyRatio:
    return PrivacyRatio(tuple(problem.neighbour_pairs))


def distances_change_by_at_most_one(problem: ReleaseProblem) -> bool:
    """``|d_H(x, y) - d_H(x', y)| <= 1`` for every pair of neighbouring points and every y, in integers."""
    domain = problem.domain
    for a, b in problem.neighbour_pairs:
        first = domain.distances_from(domain.histograms[problem.points[a]])
        second = domain.distances_from(domain.histograms[problem.points[b]])
        if int(np.abs(first - second).max()) > 1:
            return False
    return True


class _PrivacyStatement(ReleaseStatement):
    def _pair(self, problem: ReleaseProblem, pair: tuple[int, int]) -> dict[str, Any]:
        first, second = (problem.points[p] for p in pair)
        return {"database": database_witness(problem, first), "neighbour": database_witness(problem, second)}


class TranscriptPrivacy(_PrivacyStatement):
    """Proposition 4.1 for transcripts: the unnormalised envelopes and the normalisers of neighbours differ by a factor
    of at most ``e^{eps/2}``, the laws by at most ``e^eps``, on every transcript.

    The proof is exact: ``|d_H(x,y) - d_H(x',y)| <= 1`` in integers for every y gives the first two, their
    product the third. The measured ratios are shown; where a constant is too small for the proof they
    decide.
    """

    id: ClassVar[str] = "prop-4.1.transcript"
    title: ClassVar[str] = "Pure privacy of the transcript"
    source: ClassVar[str] = "§4, Proposition 4.1"
    claim: ClassVar[str] = "log p̃_x/p̃_x' and log Z_x/Z_x' ≤ ε/2; log p̂_x/p̂_x' ≤ ε"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(), privacy_measurement(problem)) if problem.neighbour_pairs else ()

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        pairs = problem.neighbour_pairs
        if not pairs:
            yield StructuralCase(ONE_DATABASE, 0)
            return
        epsilon, ledger = evidence.parameters.epsilon(), problem.ledger
        count = len(pairs) * problem.space.transcript_count
        integers = distances_change_by_at_most_one(problem)
        penalty = ledger.rational("envelope-penalty")
        measurement = privacy_measurement(problem)
        ratios = [evidence.log_ratio(measurement, "ratio", (i,)) for i in range(len(pairs))]
        logs = [evidence.normaliser(EnvelopeMass(), p).log() for p in range(len(problem.points))]
        normalisers = [logs[a] - logs[b] for a, b in pairs]
        released = [ratio - normaliser for ratio, normaliser in zip(ratios, normalisers, strict=True)]

        def at(i: int) -> dict[str, Any]:
            return {
                **self._pair(problem, pairs[i]),
                "transcript": evidence.transcript_at(measurement, "ratio", (i,)),
            }

        claims: list[tuple[str, list[arb], str, fmpq, Any]] = [
            ("p̃_x/p̃_x'", ratios, "envelope-ratio", penalty, at),
            ("Z_x/Z_x'", normalisers, "envelope-ratio", penalty, lambda i: self._pair(problem, pairs[i])),
            ("p̂_x/p̂_x'", released, "privacy", 2 * penalty, at),
        ]
        for quantity, values, constant, provable, witness in claims:
            bound = ledger.value(constant) * epsilon

            def describe(i: int, quantity: str = quantity, witness: Any = witness) -> dict[str, Any]:
                return {**witness(i), "quantity": quantity}

            if integers and isinstance(bound_factor := ledger.value(constant), fmpq) and provable <= bound_factor:
                top = int(np.argmax([float(value) for value in values]))
                shown = Worst(at_most(enclose(values[top]), enclose(bound)), enclose(bound), describe(top))
                reason = "integers: |d(x,y) - d(x',y)| ≤ 1 for neighbours x, x' and every y"
                yield StructuralCase(reason, count, shown)
            else:
                yield measured_cases(values, [bound] * len(values), describe, count)


class AnswerPrivacy(_PrivacyStatement):
    """Proposition 4.1 for the released answer: deterministic decoding of a private transcript.

    Each probability of an answer is a sum of transcript probabilities, so its ratio is at most their
    largest. Where the classes are few enough, the law grouped by equal decoded states is formed and
    measured too.
    """

    id: ClassVar[str] = "prop-4.1.answer"
    title: ClassVar[str] = "Pure privacy of the answer"
    source: ClassVar[str] = "§4, Proposition 4.1"
    claim: ClassVar[str] = "log P(M(x)=a)/P(M(x')=a) ≤ ε"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        if not problem.neighbour_pairs:
            return ()
        if problem.space.class_count > MAX_ANSWER_CLASSES:
            return (EnvelopeMass(), privacy_measurement(problem))
        return (EnvelopeMass(), AnswerLaw())

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        problem = evidence.problem
        pairs = problem.neighbour_pairs
        if not pairs:
            yield StructuralCase(ONE_DATABASE, 0)
            return
        factor = problem.ledger.value("privacy")
        bound = factor * evidence.parameters.epsilon()
        provable = 2 * problem.ledger.rational("envelope-penalty")
        worst = self._worst(evidence)
        count = len(pairs) * worst[2]
        if isinstance(factor, fmpq) and provable <= factor and distances_change_by_at_most_one(problem):
            reason = "post-processing of the transcript, whose law is private by integers"
            shown = Worst(at_most(enclose(worst[0]), enclose(bound)), enclose(bound), worst[1])
            yield StructuralCase(reason, count, shown)
        else:
            # the largest ratio over answers: at most the bound iff all are
            yield measured_cases([worst[0]], [bound], lambda _: worst[1], count)

    def _worst(self, evidence: Evidence) -> tuple[arb, dict[str, Any], int]:
        """The largest log ratio over pairs and answers, enclosed; where it is (a guide); answers per pair."""
        problem = evidence.problem
        pairs = problem.neighbour_pairs
        logs = [evidence.normaliser(EnvelopeMass(), p).log() for p in range(len(problem.points))]
        if AnswerLaw() not in evidence.results:
            measurement = privacy_measurement(problem)
            ratios = [
                evidence.log_ratio(measurement, "ratio", (i,)) - logs[a] + logs[b] for i, (a, b) in enumerate(pairs)
            ]
            top = int(np.argmax([float(r) for r in ratios]))
            largest = ratios[0]
            for ratio in ratios[1:]:
                largest = largest.max(ratio)
            witness = {**self._pair(problem, pairs[top]), "bound": "largest ratio over transcripts"}
            return largest, witness, problem.space.transcript_count
        groups = evidence.sweep.answer_groups
        masses = [
            [evidence.total(AnswerLaw(), "mass", (p, g)) for g in range(groups.count)]
            for p in range(len(problem.points))
        ]
        largest, place = arb("-inf"), (0, 0)
        for i, (a, b) in enumerate(pairs):
            peak, group = _largest_log_ratio(masses[a], masses[b])
            value = peak - logs[a] + logs[b]
            if i == 0 or value.mid() > largest.mid():
                place = (i, group)
            largest = value if i == 0 else largest.max(value)
        witness = {
            **self._pair(problem, pairs[place[0]]),
            "transcript": evidence.transcript_in_group(place[1]),
            "quantity": "all transcripts that decode from the same states",
        }
        return largest, witness, groups.count


def _largest_log_ratio(numerators: list[arb], denominators: list[arb]) -> tuple[arb, int]:
    """The largest ``log(a/b)``, enclosed, and a place where it is large (a guide)."""
    ratios = [(a / b).log() for a, b in zip(numerators, denominators, strict=True)]
    largest, place = ratios[0], 0
    for g, ratio in enumerate(ratios):
        largest = largest.max(ratio)
        if ratio.mid() > ratios[place].mid():
            place = g
    return largest, place


class Normaliser(ReleaseStatement):
    """``Z_x >= 1``: ``Z_x = 1 + sum (p~_x - p_x)``, and each term is at least 0 since the maximum contains y = x."""

    id: ClassVar[str] = "eq-4.normaliser"
    title: ClassVar[str] = "Normaliser at least one"
    source: ClassVar[str] = "§4"
    claim: ClassVar[str] = "1 ≤ Z_x"

    def measurements(self, problem: ReleaseProblem) -> tuple[Measurement, ...]:
        return (EnvelopeMass(),)

    def cases(self, evidence: Evidence) -> Iterator[Cases]:
        yield from normaliser_at_least(evidence)


def normaliser_at_least(evidence: Evidence) -> Iterator[Cases]:
    """``normaliser-least <= Z_x`` for every centre."""
    problem = evidence.problem
    least: Scalar = problem.ledger.value("normaliser-least")
    values = [evidence.normaliser(EnvelopeMass(), c) for c in range(len(problem.centres))]

    def witness(c: int) -> dict[str, Any]:
        return {"database": database_witness(problem, problem.centres[c])}

    if isinstance(least, fmpq) and least <= 1:
        smallest = int(np.argmin([float(value) for value in values]))
        excess = enclose(values[smallest])
        shown = Worst(enclose(least), type(excess)(_at_least_one(excess.lower), excess.upper), witness(smallest))
        yield StructuralCase("each term of Z_x - 1 is at least 0: the maximum contains y = x", len(values), shown)
    else:
        yield measured_cases([least] * len(values), values, witness, len(values))


def _at_least_one(lower: fmpq | None) -> fmpq:
    """Z_x >= 1 holds by structure; the rounding of a ball must not show less."""
    return fmpq(1) if lower is None or lower < 1 else lower
