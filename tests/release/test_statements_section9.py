"""Sections 7 and 9: the sums over exact radii, and amplification by the median."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest
from flint import arb, fmpq
from instances import enclosing, explicit, histogram, instance, outcome
from mutation import Mutation, Side, Witness, assert_refuted
from reference import (
    Database,
    Tiny,
    Transcript,
    at_reference_precision,
    dataset_target,
    decode,
    losses,
    released_law,
    total,
)
from witness_sides import database

from certify.arithmetic.verdict import Verdict
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance

HALF, FIFTH, ONE = fmpq(1, 2), fmpq(1, 5), fmpq(1)
ONE_QUERY = Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(1), 2, fmpq(1), HALF)
TWO_QUERIES = Tiny(((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1))), 2, fmpq(1), 2, fmpq(2), HALF)
FAINT = Tiny(ONE_QUERY.values, 2, fmpq(1), 2, fmpq(1000), HALF)
"""Likelihoods that float64 counts as 0."""


# the sums over exact radii

CHANGED_RADII = {
    "ε Σ e^{-yR}, lower": ("radius-sum-lower", fmpq(21, 10)),
    "ε Σ e^{-yR}, upper": ("radius-sum-upper", fmpq(3, 2)),
    "ε² Σ R e^{-yR}, lower": ("radius-weighted-lower", fmpq(5)),
    "ε² Σ R e^{-yR}, upper": ("radius-weighted-upper", fmpq(4)),
}


def radius_sum(tiny: Tiny, witness: Witness) -> arb:
    """``eps sum_{R>=1} e^{-yR}`` or ``eps^2 sum R e^{-yR}``, y = 49 eps/100, as 400 terms and a bound of the rest."""
    y, weighted = fmpq(49, 100) * tiny.epsilon, witness["quantity"].startswith("ε²")
    head = total((radius if weighted else 1) * arb(-y * radius).exp() for radius in range(1, 401))
    # beyond, R <= e^{yR/4}, so that a term is at most e^{-3yR/4}
    assert arb(y * 100).exp() > 400
    rest = arb(-y * 300).exp() / (1 - arb(-3 * y / 4).exp())
    return (head + arb(0).union(rest)) * tiny.epsilon ** (2 if weighted else 1)


def radius_mutation(quantity: str) -> Mutation:
    constant_id, value = CHANGED_RADII[quantity]

    def constant(tiny: Tiny, witness: Witness) -> arb:
        assert witness["quantity"] == quantity
        return arb(value)

    left, right = (constant, radius_sum) if quantity.endswith("lower") else (radius_sum, constant)
    changes = {constant_id: str(value)}
    return Mutation("sec-9.radius-sum", changes, ONE_QUERY, (0, 1), right, left, displays=(quantity,))


# the median, by enumeration of every N-tuple of transcripts


def law_of_one_copy(tiny: Tiny, x: Database, copies: int) -> dict[Transcript, arb]:
    """The released law at eps/N."""
    return released_law(Tiny(tiny.values, tiny.n, tiny.epsilon / copies, tiny.rounds, tiny.eta, tiny.gamma), x)


@at_reference_precision
def failure_of_one_copy(tiny: Tiny, x: Database, copies: int, threshold: fmpq) -> arb:
    law = law_of_one_copy(tiny, x, copies)
    return total(law[omega] for omega, loss in losses(tiny, x).items() if exceeds(loss, threshold))


def exceeds(value: arb, threshold: fmpq) -> bool:
    assert value > threshold or value <= threshold, "the reference cannot tell the error from t"
    return bool(value > threshold)


@at_reference_precision
def failure_of_the_median(tiny: Tiny, x: Database, copies: int, threshold: fmpq) -> arb:
    """``P(||median - F||_inf > t)`` over every N-tuple of transcripts; the lower median for an even N."""
    law, truth = law_of_one_copy(tiny, x, copies), dataset_target(tiny, x)
    answers = {omega: decode(tiny, omega) for omega in law}
    failing = []
    for runs in product(law, repeat=copies):
        probability = arb(1)
        for omega in runs:
            probability *= law[omega]
        medians = [lower_median([answers[omega][q] for omega in runs]) for q in range(tiny.query_count)]
        if any(exceeds(abs(median - exact), threshold) for median, exact in zip(medians, truth, strict=True)):
            failing.append(probability)
    return total(failing)


def lower_median(values: list[arb]) -> arb:
    """Ties between answers of the same states are balls around one number: any of them is the median."""
    return sorted(values, key=lambda value: value.mid().fmpq())[(len(values) - 1) // 2]


def median_sides(copies: int, threshold: fmpq, majority: fmpq) -> tuple[Side, Side]:
    needed = int((majority * copies).ceil())

    def left(tiny: Tiny, witness: Witness) -> arb:
        return failure_of_the_median(tiny, database(tiny, witness), copies, threshold)

    def right(tiny: Tiny, witness: Witness) -> arb:
        p = failure_of_one_copy(tiny, database(tiny, witness), copies, threshold)
        return total(comb(copies, j) * p**j * (1 - p) ** (copies - j) for j in range(needed, copies + 1))

    return left, right


def amplified(tiny: Tiny, x: Database | None, copies: int, threshold: fmpq) -> ReleaseInstance:
    return instance(
        tiny.values,
        None if x is None else histogram(x, tiny.universe_size),
        tiny.epsilon,
        explicit(tiny.rounds, tiny.eta, tiny.gamma),
        n=tiny.n,
        amplify=(copies, threshold),
    )


def median_mutation(tiny: Tiny, x: Database | None, copies: int, threshold: fmpq, majority: fmpq) -> Mutation:
    left, right = median_sides(copies, threshold, majority)
    given = amplified(tiny, x, copies, threshold)
    return Mutation("sec-9.median", {"median-majority": str(majority)}, tiny, x, right, left, given=given)


MUTATIONS = (
    *(radius_mutation(quantity) for quantity in CHANGED_RADII),
    median_mutation(ONE_QUERY, (0, 0), 3, ONE, ONE),
    median_mutation(ONE_QUERY, None, 3, ONE, ONE),
    median_mutation(ONE_QUERY, (0, 0), 4, ONE, fmpq(3, 4)),
    median_mutation(TWO_QUERIES, (0, 1), 3, FIFTH, ONE),
)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("tiny", [ONE_QUERY, TWO_QUERIES, FAINT])
@pytest.mark.parametrize(("x", "threshold"), [((0, 0), ONE), ((0, 1), FIFTH), ((0, 1), HALF)])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_the_failure_of_the_median_is_the_one_by_enumeration(
    bits: int, tiny: Tiny, x: Database, threshold: fmpq, copies: int
) -> None:
    found = outcome(amplified(tiny, x, copies, threshold), "sec-9.median", None, CheckOptions(precision=bits))
    assert found.verdict is Verdict.PROVED and found.worst is not None
    left, right = median_sides(copies, threshold, HALF)
    assert found.worst.lhs.overlaps(enclosing(at_reference_precision(left)(tiny, found.worst.witness)))
    assert found.worst.rhs.overlaps(enclosing(at_reference_precision(right)(tiny, found.worst.witness)))


@pytest.mark.parametrize("bits", [53, 128])
def test_an_error_that_meets_the_threshold_is_not_taken_for_a_failure(bits: int) -> None:
    """One round: every answer is 0, F = -1/3 and t = 1/3, so that no copy errs by more than t."""
    tie = instance([[1, -1]], [1, 2], 1, explicit(1, 1, "1/2"), amplify=(3, "1/3"))
    found = outcome(tie, "sec-9.median", None, CheckOptions(precision=bits))
    assert found.verdict is Verdict.PROVED and found.worst is not None
    assert found.worst.lhs.contains(fmpq(0)) and found.worst.rhs.contains(fmpq(0))
    stricter = outcome(tie, "sec-9.median", {"median-majority": "1"}, CheckOptions(precision=bits, max_precision=256))
    assert stricter.verdict is Verdict.UNDECIDED


def test_too_many_copies_are_left_undecided() -> None:
    found = outcome(amplified(TWO_QUERIES, (0, 1), 40, HALF), "sec-9.median", None, CheckOptions(max_precision=128))
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None and found.reason.startswith("the law of the median of 40 copies")


def test_privacy_that_the_copies_do_not_have_is_left_open() -> None:
    found = outcome(amplified(ONE_QUERY, (0, 1), 3, HALF), "sec-9.median", {"privacy": "1/2"})
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, "a step of the argument does not close")
