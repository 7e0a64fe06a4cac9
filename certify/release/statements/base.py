"""What every statement of the release paper shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import fmpq

from certify.arithmetic.arrays import BallArray
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, ball
from certify.engine.statement import ArrayCases, ScalarCase, Statement, Witness
from certify.release.domain import Integers
from certify.release.mechanism import ExactOutput, NoisyHistogram
from certify.release.problem import Evidence, ReleaseProblem

ZERO_BRANCH = "the zero-output branch of Theorem 1.1 runs, so there is no transcript"
EXACT_BRANCH = "T = 1: the exact answer is released, so there is no transcript"
HISTOGRAM_BRANCH = "the noisy histogram is released, so there is no transcript"


class ReleaseStatement(Statement[ReleaseProblem, Evidence]):
    """A statement of §§2-9; those about transcripts do not apply where the mechanism has none."""

    about_transcripts = True
    needs_codebooks = False
    """Whether the claim ranges over the code families V_{x,R,m}."""
    needs_outputs = False
    """Whether the claim ranges over every output of the noisy histogram."""

    def not_applicable(self, problem: ReleaseProblem) -> str | None:
        if not self.about_transcripts or problem.has_transcripts:
            return None
        match problem.mechanism:
            case ExactOutput():
                return EXACT_BRANCH
            case NoisyHistogram():
                return HISTOGRAM_BRANCH
        return ZERO_BRANCH


def measured_cases(
    lhs: Sequence[Scalar],
    rhs: Sequence[Scalar],
    witness: Callable[[int], Witness],
    count: int,
    *,
    strict: bool = False,
    auxiliary: bool = False,
) -> ArrayCases:
    """``lhs[i] <= rhs[i]`` for numbers already enclosed."""
    return ArrayCases(
        BallArray(object_array(lhs)),
        BallArray(object_array(rhs)),
        lambda i: witness(i[0]),
        count,
        strict,
        auxiliary,
    )


def same_witness(witness: Witness, _: int) -> Witness:
    """The witness of a family with one member."""
    return witness


def object_array(values: Sequence[Scalar]) -> Any:
    """An object array of balls, shape (len,)."""
    balls = np.empty(len(values), dtype=object)
    balls[:] = [ball(value) for value in values]
    return balls


def exact_case(
    lhs: Any, rhs: Any, denominator: int, factor: fmpq, witness: Callable[[int], Witness], count: int
) -> ScalarCase:
    """``lhs[i]/denominator <= factor * rhs[i]/denominator`` for integers, decided for all i by integers.

    The case shown is one that fails if any does, else the one with the largest ratio.
    """
    left = np.asarray(lhs, dtype=object) * int(factor.q)
    right = np.asarray(rhs, dtype=object) * int(factor.p)
    fails = np.asarray(left > right).astype(bool)
    if np.any(fails):
        index = int(np.argmax(fails))
    else:
        index = max(range(len(left)), key=lambda i: fmpq(int(left[i]), int(right[i])) if right[i] > 0 else fmpq(-1))
    left_value, right_value = fmpq(int(lhs[index]), denominator), factor * fmpq(int(rhs[index]), denominator)
    return ScalarCase(lambda: left_value, lambda: right_value, witness(index), count)


def enclose(value: Scalar) -> Enclosure:
    return Enclosure.of(value)


def at_most(measured: Enclosure, bound: Enclosure) -> Enclosure:
    """A measured number that a proof puts below a bound, for showing: its upper end cut to the bound's."""
    if bound.upper is None or (measured.upper is not None and measured.upper <= bound.upper):
        return measured
    lower = measured.lower if measured.lower is None or measured.lower <= bound.upper else bound.upper
    return Enclosure(lower, bound.upper)


def database_witness(problem: ReleaseProblem, histogram: int) -> dict[str, int]:
    return problem.domain.database(histogram)


def target_witness(problem: ReleaseProblem, row: int) -> dict[str, str]:
    """A target as the report shows it: query name to exact rational text."""
    answers = problem.targets.answers(row)
    return {name: str(value) for name, value in zip(problem.domain.query_names, answers, strict=True)}


def chunks(rows: Integers, size: int) -> list[Integers]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
