"""Sections 2 and 3: the sensitivity, the transcript's Rényi bound, the utility chain and its norms."""

from __future__ import annotations

import pytest
from flint import arb, fmpq
from mutation import Mutation, Side, Witness, assert_refuted
from reference import Tiny, dataset_target, target_distance
from reference_witness import histogram_distance
from witness_sides import database, target

MILD = Tiny(((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1))), 2, fmpq(1), 2, fmpq(1, 8), fmpq(1, 2))
SHARP = Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(1), 2, fmpq(100), fmpq(1))
"""Selection without error, so that what is left is regret and robustness."""
BLUNT = Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(1), 3, fmpq(1, 2), fmpq(1))
"""Selection nearly at random."""

HALF, ONE, FOUR = fmpq(1, 2), fmpq(1), fmpq(4)
ALMOST_NOTHING = "1/1000"
NEARLY_ZERO = fmpq(1, 1000)


def half_distance(tiny: Tiny, witness: Witness) -> arb:
    return arb(fmpq(histogram_distance(database(tiny, witness), database(tiny, witness, "rival")), 2))


def renyi_budget(factor: fmpq) -> Side:
    """``factor r J eta^2 d_*(a, b)^2/n^2``; the paper's factor is 8."""

    def right(tiny: Tiny, witness: Witness) -> arb:
        distance = target_distance(tiny, target(tiny, witness), target(tiny, witness, "against"))
        order = int(witness["r"].split("..")[-1])
        return arb(factor * order * tiny.rounds * tiny.eta**2 * distance**2 / tiny.n**2)

    return right


def regret(tiny: Tiny, entropy: fmpq = ONE, step: fmpq = HALF) -> arb:
    """``entropy log T/(gamma J) + step gamma``."""
    return entropy * arb(tiny.universe_size).log() / (tiny.gamma * tiny.rounds) + step * tiny.gamma


def selection(tiny: Tiny, constant: fmpq) -> arb:
    """``constant log(4k)/eta``."""
    return constant * arb(4 * tiny.query_count).log() / tiny.eta


def gap(tiny: Tiny, witness: Witness) -> fmpq:
    """``d_*(a, a(x))/n``."""
    own = dataset_target(tiny, database(tiny, witness))
    return target_distance(tiny, target(tiny, witness), own) / tiny.n


def path(entropy: fmpq = ONE, step: fmpq = HALF, robustness: fmpq = ONE) -> Side:
    return lambda tiny, witness: regret(tiny, entropy, step) + 2 * robustness * gap(tiny, witness)


def utility(entropy: fmpq = ONE, step: fmpq = HALF, gap_constant: fmpq = FOUR, robustness: fmpq = FOUR) -> Side:
    """The right side of Proposition 3.2."""

    def right(tiny: Tiny, witness: Witness) -> arb:
        return regret(tiny, entropy, step) + selection(tiny, gap_constant) + robustness * gap(tiny, witness)

    return right


def base_error(multiple: fmpq, selecting: fmpq, robustness: fmpq) -> Side:
    """The right sides of (3.3); the first display is about a = a(x)."""

    def right(tiny: Tiny, witness: Witness) -> arb:
        return multiple * regret(tiny) + selection(tiny, selecting) + robustness * gap(tiny, witness)

    return right


MUTATIONS = (
    Mutation("eq-2.sensitivity", {"sensitivity": "1/2"}, MILD, (0, 1), half_distance),
    Mutation("eq-2.sensitivity", {"sensitivity": "1/2"}, MILD, None, half_distance),
    Mutation("prop-3.1", {"renyi": ALMOST_NOTHING}, MILD, (0, 1), renyi_budget(8 * NEARLY_ZERO)),
    Mutation("prop-3.1", {"rho": "1/10"}, MILD, None, renyi_budget(fmpq(1, 10))),
    Mutation("prop-3.2.path", {"hedge-entropy": ALMOST_NOTHING}, MILD, (0, 0), path(entropy=NEARLY_ZERO)),
    Mutation(
        "prop-3.2.path",
        {"hedge-entropy": "1/2", "hedge-step": ALMOST_NOTHING},
        BLUNT,
        (0, 0),
        path(entropy=fmpq(1, 2), step=NEARLY_ZERO),
    ),
    Mutation("prop-3.2.path", {"path-robustness": ALMOST_NOTHING}, MILD, (0, 1), path(robustness=NEARLY_ZERO)),
    Mutation("prop-3.2", {"robustness": ALMOST_NOTHING}, SHARP, (0, 0), utility(robustness=NEARLY_ZERO)),
    Mutation("prop-3.2", {"hedge-entropy": ALMOST_NOTHING}, SHARP, (0, 0), utility(entropy=NEARLY_ZERO)),
    Mutation(
        "prop-3.2",
        {"hedge-entropy": ALMOST_NOTHING, "hedge-step": ALMOST_NOTHING},
        SHARP,
        (0, 1),
        utility(entropy=NEARLY_ZERO, step=NEARLY_ZERO),
    ),
    Mutation("prop-3.2", {"softmax-gap": ALMOST_NOTHING}, BLUNT, (0, 0), utility(gap_constant=NEARLY_ZERO)),
    Mutation(
        "eq-3.3",
        {"base-regret": ALMOST_NOTHING, "base-selection": ALMOST_NOTHING},
        BLUNT,
        (0, 0),
        base_error(NEARLY_ZERO, NEARLY_ZERO, fmpq(4)),
        displays=("‖L_x‖_{L2(P_x)}", "E_{P_a} L_x"),
    ),
    Mutation(
        "eq-3.3",
        {"base-regret": "1/2", "robustness": ALMOST_NOTHING},
        SHARP,
        (0, 0),
        base_error(fmpq(1, 2), fmpq(16), NEARLY_ZERO),
        displays=("E_{P_a} L_x",),
    ),
)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)
