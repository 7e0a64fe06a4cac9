"""Appendix A: the four analytic lemmas."""

from __future__ import annotations

import pytest
from flint import arb, fmpq
from mutation import Mutation, Side, Witness, assert_refuted
from reference import Tiny, dataset_target
from reference_statements import kernel_log_ratio_bound, renyi_maximum
from witness_sides import database, target

MILD = Tiny(((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1))), 2, fmpq(1), 2, fmpq(1, 8), fmpq(1, 2))
SHARP = Tiny(((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1))), 2, fmpq(1), 2, fmpq(4), fmpq(1, 2))
ALMOST_NOTHING = "1/1000"
NEARLY_ZERO = fmpq(1, 1000)


def ratio_moment(factor: fmpq) -> Side:
    """``factor r a^2`` (in the paper 1/2); the two bounds of KL have r = 1."""

    def right(tiny: Tiny, witness: Witness) -> arb:
        own, other = dataset_target(tiny, database(tiny, witness)), target(tiny, witness)
        order = int(witness["r"].split("..")[-1])
        return arb(factor * order * kernel_log_ratio_bound(tiny, own, other) ** 2)

    return right


def hedge(entropy: fmpq, step: fmpq) -> Side:
    return lambda tiny, _: entropy * arb(tiny.universe_size).log() / tiny.gamma + step * tiny.gamma * tiny.rounds


def softmax(tail: fmpq, gap: fmpq) -> Side:
    """``tail K`` and ``(gap log 2K)^2``; in the paper 1 and 4."""

    def right(tiny: Tiny, witness: Witness) -> arb:
        size = 2 * tiny.query_count
        if witness["quantity"] != "E(ηG)²":
            return arb(tail * size)
        root = gap * arb(2 * size).log()
        return root * root

    return right


def maximum(factor: fmpq) -> Side:
    """The right side with the divergence itself; the tool takes an upper bound A of it, larger by next to nothing."""

    def right(tiny: Tiny, witness: Witness) -> arb:
        weighted = witness["quantity"] == "G = L_x"
        exact = renyi_maximum(tiny, database(tiny, witness), witness["R"], witness["a"], weighted)[1]
        return factor * exact.union(exact * (1 + fmpq(1, 10**12)))

    return right


TANH = "a·tanh(a/2) ≤ a²/2"
MUTATIONS = (
    Mutation(
        "lemma-a.1",
        {"likelihood-ratio-moment": ALMOST_NOTHING},
        MILD,
        (0, 1),
        ratio_moment(NEARLY_ZERO),
        displays=(TANH, "D_r(P_a‖P_x)", "D_r(P_x‖P_a)"),
    ),
    Mutation("lemma-a.1", {"likelihood-ratio-moment": "1/3"}, MILD, None, ratio_moment(fmpq(1, 3)), displays=(TANH,)),
    Mutation("lemma-a.2", {"hedge-entropy": ALMOST_NOTHING}, MILD, (0, 1), hedge(NEARLY_ZERO, fmpq(1, 2))),
    Mutation(
        "lemma-a.2",
        {"hedge-entropy": "1/4", "hedge-step": ALMOST_NOTHING},
        MILD,
        (0, 1),
        hedge(fmpq(1, 4), NEARLY_ZERO),
    ),
    Mutation("lemma-a.3", {"softmax-tail": "1/8"}, SHARP, (0, 1), softmax(fmpq(1, 8), fmpq(4))),
    Mutation(
        "lemma-a.3",
        {"softmax-gap": ALMOST_NOTHING},
        SHARP,
        (0, 1),
        softmax(fmpq(1), NEARLY_ZERO),
        displays=("E(ηG)²",),
    ),
    Mutation(
        "lemma-a.4",
        {"renyi-maximum": "1/10"},
        MILD,
        (0, 1),
        maximum(fmpq(1, 10)),
        displays=("G = L_x", "G = 1"),
    ),
    Mutation("lemma-a.4", {"renyi-maximum": "1/10"}, MILD, None, maximum(fmpq(1, 10))),
)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)
