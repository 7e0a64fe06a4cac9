"""What every statement of the selection paper shares."""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from certify.arithmetic.decide import decide_le
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Cases, ScalarCase, Statement, StructuralCase, Witness, Worst
from certify.selection.instance_model import StreamSpec
from certify.selection.neighbours_worst import Comparison, StreamPrivacy
from certify.selection.problem import SelectionProblem

TIE_BITS = 128
"""A comparison that is open at this precision is looked at as an identity of exponential sums."""


class SelectionStatement(Statement[SelectionProblem, SelectionProblem]):
    """A statement of §§3-6; the problem is its own evidence, evaluated at whatever precision is current."""


class StreamStatement(SelectionStatement):
    """A statement about streams of threshold queries."""

    def not_applicable(self, problem: SelectionProblem) -> str | None:
        return None if problem.stream is not None else "the instance is not a stream of threshold queries"


def the_stream(problem: SelectionProblem) -> StreamSpec:
    """The stream of a problem that has one."""
    assert problem.stream is not None
    return problem.stream


def exact_case(lhs: fmpq, rhs: fmpq, witness: Witness) -> Cases:
    """``lhs <= rhs`` for two rationals; where they are equal, a structural case, which leaves others to be shown."""
    if lhs == rhs:
        return StructuralCase(f"{witness['quantity']}: both sides are {lhs}", 1)
    return ScalarCase(lambda: lhs, lambda: rhs, witness)


def privacy_cases(problem: SelectionProblem, multiple: fmpq, proof: str | None = None) -> Iterator[Cases]:
    """``P(out) <= e^(multiple ε) P'(out)`` in both directions, for every outcome at its worst neighbours.

    ``proof`` names an argument that proves the claim for all sums; it stands in only where the laws are not known
    well enough to decide, never against what they show.
    """
    privacy = problem.privacy
    for comparison in privacy.comparisons:
        yield _privacy_case(problem, privacy, comparison, multiple, proof)


def _privacy_case(
    problem: SelectionProblem, privacy: StreamPrivacy, comparison: Comparison, multiple: fmpq, proof: str | None
) -> Cases:
    level = problem.instance.level

    def bound() -> Scalar:
        return level.factor(multiple)

    witness = privacy.witness(comparison)
    if privacy.is_infinite(comparison):
        probability = privacy.sides(comparison)[0]
        return ScalarCase(lambda: probability, lambda: fmpq(0), {**witness, "ratio": "infinity"})
    if privacy.is_impossible(comparison):
        return StructuralCase("an outcome that is impossible has ratio 0", 1)
    case = ScalarCase(lambda: privacy.ratio(comparison), bound, witness)
    if not _is_open(case):
        return case
    if privacy.is_exact_tie(comparison, level, multiple):
        shown = Enclosure.of(bound())
        return StructuralCase("the two sides are equal as sums of exponentials", 1, Worst(shown, shown, witness))
    if proof is not None and not privacy.precision_helps:
        measured = Worst(Enclosure.of(privacy.ratio(comparison)), Enclosure.of(bound()), witness)
        return StructuralCase(proof, 1, measured)
    return case


def _is_open(case: ScalarCase) -> bool:
    decision = decide_le(case.lhs, case.rhs, precision=64, max_precision=TIE_BITS)
    return decision.verdict is Verdict.UNDECIDED
