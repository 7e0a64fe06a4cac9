"""Section 5: the surrogates, the Jensen step, the likelihood Maurey bound."""

from __future__ import annotations

import pytest
from flint import arb, fmpq
from mutation import Mutation, Side, Witness, assert_refuted
from reference import Tiny

LOUD = Tiny(((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1))), 2, fmpq(1), 2, fmpq(2), fmpq(1, 2))
EXTREME = Tiny(((fmpq(1), fmpq(0), fmpq(-1)),), 2, fmpq(1), 2, fmpq(400), fmpq(1, 2))
"""Likelihoods down to e^-2000, of which a double sees nothing."""


def smoothing(factor: fmpq) -> Side:
    """``factor rho R^2/m`` (in the paper 1/4)."""

    def right(tiny: Tiny, witness: Witness) -> arb:
        rho = 8 * tiny.rounds * tiny.eta**2 / tiny.n**2
        return arb(factor * rho * witness["R"] ** 2 / witness["m"])

    return right


def reach(factor: fmpq) -> Side:
    """In units of R."""
    return lambda tiny, witness: arb(factor)


def size(label: int) -> Side:
    return lambda tiny, witness: arb(tiny.universe_size**2 + label) ** int(witness["m"])


THOUSANDTH = fmpq(1, 1000)
MUTATIONS = (
    Mutation(
        "lemma-5.1.mean",
        {"codebook-radius": "1/2"},
        LOUD,
        (0, 1),
        reach(fmpq(1, 2)),
        displays=("d_*(v,a(x))/R",),
    ),
    Mutation("lemma-5.1.mean", {"codebook-label": "-2"}, LOUD, (0, 1), size(-2), displays=("|V_{x,R,m}|",)),
    Mutation("lemma-5.1.jensen", {"maurey": "1/1000"}, LOUD, (0, 1), smoothing(THOUSANDTH)),
    Mutation("lemma-5.1.jensen", {"maurey": "1/1000"}, LOUD, None, smoothing(THOUSANDTH)),
    Mutation("lemma-5.1", {"maurey": "1/1000"}, LOUD, (0, 1), smoothing(THOUSANDTH)),
    Mutation("lemma-5.1", {"maurey": "1/1000"}, LOUD, None, smoothing(THOUSANDTH)),
    Mutation("lemma-5.1", {"rho": "1/1000"}, LOUD, (0, 0), smoothing(THOUSANDTH / 32)),
    Mutation("lemma-5.1", {"maurey": "1/10^6"}, EXTREME, (0, 1), smoothing(fmpq(1, 10**6))),
    Mutation("lemma-5.1.jensen", {"maurey": "1/10^6"}, EXTREME, (0, 1), smoothing(fmpq(1, 10**6))),
)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)
