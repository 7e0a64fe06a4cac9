"""Section 7: the growth condition, radial blocks, their weights, the normaliser and the error of the envelope."""

from __future__ import annotations

import pytest
from flint import arb, fmpq
from mutation import Mutation, Side, Witness, assert_refuted
from reference import Tiny, ball_maximum, dataset_target, envelope_mass, mass, normaliser, normaliser_excess
from reference_parameters import block_radius, block_width, code_logarithm, damping, kappa, theta
from witness_sides import LEFT, database, transcript

GROWTH = Tiny(((fmpq(1), fmpq(-1)),), 2, fmpq(1), 2, fmpq(1, 2048), fmpq(1, 2))
"""kappa L is below c_0 eps^2."""
LOUD = Tiny(GROWTH.values, 2, fmpq(1), 2, fmpq(4), fmpq(1, 2))
WIDE = Tiny(GROWTH.values, 2, fmpq(5, 2), 2, fmpq(4), fmpq(1, 2))
"""eps > 1: B = 2 and u_eps = e^-5/6."""
NARROW = Tiny(GROWTH.values, 2, fmpq(4), 2, fmpq(4), fmpq(1, 2))
"""B = 1: the last block is j = n - 1."""
LOG = Tiny(GROWTH.values, 2, fmpq(1), 2, fmpq(400), fmpq(1, 2))
"""Beyond the exponents of a double: measured in Arb."""
X = (0, 0)

Sides = tuple[Side, Side]
Number = int | fmpq
HALF, HUNDREDTH, THOUSANDTH, MILLIONTH = fmpq(1, 2), fmpq(1, 100), fmpq(1, 1000), fmpq(1, 10**6)
C_0 = fmpq(1, 2**20)


def e(multiple: Number) -> arb:
    return multiple * arb(1).exp()


def growth(five: Number = 5, c_0: fmpq = C_0, rate: fmpq = HUNDREDTH) -> Sides:
    """``5 sqrt(c_0) <= 1/100`` and ``5 sqrt(kappa L) <= eps/100``."""

    def left(tiny: Tiny, witness: Witness) -> arb:
        root = arb(c_0) if witness["quantity"] == "5√c₀" else kappa(tiny) * code_logarithm(tiny)
        return five * root.sqrt()

    def right(tiny: Tiny, witness: Witness) -> arb:
        return arb(rate if witness["quantity"] == "5√c₀" else rate * tiny.epsilon)

    return left, right


def index_below_rows(slack: int) -> Sides:
    """``j + slack < n``; in the paper the slack is 0."""
    return lambda tiny, witness: arb(witness["j"] + 1 + slack), lambda tiny, witness: arb(tiny.n)


def inner_distance(offset: int) -> Sides:
    """``jB + offset <= d_H``; in the paper the offset is 1."""

    def left(tiny: Tiny, witness: Witness) -> arb:
        assert witness["j"] == (witness["distance"] - 1) // block_width(tiny)
        return arb(witness["j"] * block_width(tiny) + offset)

    return left, lambda tiny, witness: arb(witness["distance"])


def block(offset: int) -> Sides:
    """Left over right of the pointwise bound, at the transcript of the witness."""

    def left(tiny: Tiny, witness: Witness) -> arb:
        x, omega = database(tiny, witness), transcript(tiny, witness)
        bound = mass(tiny, dataset_target(tiny, x), omega)
        for j in range(tiny.n):
            penalty = arb(-tiny.epsilon / 2 * (j * block_width(tiny) + offset)).exp()
            bound += penalty * ball_maximum(tiny, x, block_radius(tiny, j))[omega]
        return envelope_mass(tiny, x, omega) / bound

    return left, lambda tiny, witness: arb(1)


def summation(
    peak: Side, decay: fmpq, total: Side, weighted: Side, rate: fmpq = HUNDREDTH, offset: Number = 1
) -> Sides:
    """Lemma 7.1: the exponent of Phi_0 and its slope in j, and the two infinite sums."""

    def exponent(tiny: Tiny) -> arb:
        return arb(theta(tiny) * rate - tiny.epsilon / 2 * offset)

    def slope(tiny: Tiny) -> arb:
        return arb(theta(tiny) * (rate - HALF))

    def left(tiny: Tiny, witness: Witness) -> arb:
        ratio = slope(tiny).exp()
        values = {
            "exponent of Φ_0": exponent(tiny),
            "slope of the exponent in j": slope(tiny),
            "Σ Φ_j": exponent(tiny).exp() / (1 - ratio),
            "Σ (j+1)Φ_j": exponent(tiny).exp() / ((1 - ratio) * (1 - ratio)),
        }
        return values[witness["quantity"]]

    def right(tiny: Tiny, witness: Witness) -> arb:
        u = damping(tiny)
        values = {
            "exponent of Φ_0": (peak(tiny, witness) * u).log(),
            "slope of the exponent in j": arb(-decay * theta(tiny)),
            "Σ Φ_j": total(tiny, witness) * u,
            "Σ (j+1)Φ_j": weighted(tiny, witness) * u,
        }
        return values[witness["quantity"]]

    return left, right


def damped(one: fmpq, width: fmpq, least: int, small: fmpq, large: int) -> Sides:
    """``u <= 1``, ``eps B u <= 9``, ``3 <= theta``, and ``theta <= 4`` or ``theta <= 3 eps``."""

    def left(tiny: Tiny, witness: Witness) -> arb:
        values = {
            "u_ε": damping(tiny),
            "ε B u_ε": theta(tiny) * damping(tiny),
            "3 ≤ θ": arb(least),
            "θ": arb(theta(tiny)),
            "θ/ε": arb(block_width(tiny)),
        }
        return values[witness["quantity"]]

    def right(tiny: Tiny, witness: Witness) -> arb:
        bounds = {"u_ε": one, "ε B u_ε": width, "3 ≤ θ": theta(tiny), "θ": small, "θ/ε": fmpq(large)}
        return arb(bounds[witness["quantity"]])

    return left, right


def envelope_mass_bound(least: fmpq, total: Side) -> Sides:
    """``least <= Z_x`` and ``Z_x - 1 <= total u``; in the paper 1 and 2e."""

    def left(tiny: Tiny, witness: Witness) -> arb:
        return normaliser_excess(tiny, database(tiny, witness)) if "quantity" in witness else arb(least)

    def right(tiny: Tiny, witness: Witness) -> arb:
        if "quantity" in witness:
            return total(tiny, witness) * damping(tiny)
        return normaliser(tiny, database(tiny, witness))

    return left, right


def error(multiple: Number, linear: Number, total: Number, block_error: Number, base: Number) -> Sides:
    """The chain of bounds on the error, with alpha_0 from ``base`` in place of 2 and of 16."""

    def alpha_0(tiny: Tiny) -> arb:
        regret = arb(tiny.universe_size).log() / (tiny.gamma * tiny.rounds) + tiny.gamma / 2
        if base == 2:
            return 2 * regret + 16 * arb(4 * tiny.query_count).log() / tiny.eta
        return base * (regret + arb(4 * tiny.query_count).log() / tiny.eta)

    def middle(tiny: Tiny) -> arb:
        u = damping(tiny)
        return alpha_0(tiny) * (1 + e(total) * u) + e(block_error) * block_width(tiny) * u / tiny.n

    def left(tiny: Tiny, witness: Witness) -> arb:
        if witness["quantity"] == "α₀+2eu_ε α₀+32eBu_ε/n":
            return middle(tiny)
        return LEFT["eq-7.error"](tiny, witness)

    def right(tiny: Tiny, witness: Witness) -> arb:
        if "p̃" in witness["quantity"]:
            return middle(tiny)
        return e(multiple) * alpha_0(tiny) + e(linear) / (tiny.epsilon * tiny.n)

    return left, right


def constant(value: Number) -> Side:
    return lambda tiny, witness: arb(value)


def multiple_of_e(value: Number) -> Side:
    return lambda tiny, witness: e(value)


def mutation(name: str, changes: dict[str, str], sides: Sides, *displays: str, tiny: Tiny = GROWTH) -> Mutation:
    left, right = sides
    return Mutation(name, changes, tiny, X, right, left, displays=displays)


PEAK, TOTAL, WEIGHTED, THIRD = multiple_of_e(1), multiple_of_e(2), multiple_of_e(4), fmpq(1, 3)
ONE, NINE, FOUR = fmpq(1), fmpq(9), fmpq(4)
ANY_KAPPA = {"growth-hypothesis": "10^9"}
"""So that section 7 applies where the envelope is more than the base law."""
NO_ALPHA = {"base-regret": "1/10^6", "base-selection": "1/10^6"}
MIDDLE, SUM, ERROR = "α₀+2eu_ε α₀+32eBu_ε/n", "Σ p̃_x L_x", "E‖M(x)-F(x)‖_∞"

MUTATIONS = (
    mutation("eq-7.growth", {"growth-rate": "1/10^6"}, growth(rate=MILLIONTH), "5√c₀", "5√(A_R L)/R"),
    mutation("eq-7.growth", {"ball-growth": "20"}, growth(five=20), "5√c₀"),
    mutation("eq-7.growth", {"growth-hypothesis": "2^-10"}, growth(c_0=fmpq(1, 2**10)), "5√c₀"),
    mutation("eq-7.growth", ANY_KAPPA, growth(c_0=fmpq(10**9)), "5√c₀", "5√(A_R L)/R", tiny=LOUD),
    mutation("eq-7.block-index", {"block-count-slack": "1"}, index_below_rows(1), tiny=NARROW),
    mutation("eq-7.block-index", {"block-inner-offset": "2"}, inner_distance(2)),
    mutation("eq-7.block", {"block-inner-offset": "20"}, block(20), tiny=LOUD),
    mutation("eq-7.block", {"block-inner-offset": "20"}, block(20), tiny=LOG),
    mutation("lemma-7.1", {"block-peak": "1/2"}, summation(constant(HALF), THIRD, TOTAL, WEIGHTED), "exponent of Φ_0"),
    mutation("lemma-7.1", {"block-decay": "1/2"}, summation(PEAK, HALF, TOTAL, WEIGHTED), "slope of the exponent in j"),
    mutation("lemma-7.1", {"block-mass": "1/10"}, summation(PEAK, THIRD, constant(fmpq(1, 10)), WEIGHTED), "Σ Φ_j"),
    mutation(
        "lemma-7.1",
        {"block-weighted-mass": "1/10"},
        summation(PEAK, THIRD, TOTAL, constant(fmpq(1, 10))),
        "Σ (j+1)Φ_j",
        tiny=WIDE,
    ),
    mutation(
        "lemma-7.1",
        {"growth-rate": "2/5"},
        summation(PEAK, THIRD, TOTAL, WEIGHTED, rate=fmpq(2, 5)),
        "slope of the exponent in j",
    ),
    mutation(
        "lemma-7.1",
        {"block-inner-offset": "1/1000"},
        summation(PEAK, THIRD, TOTAL, WEIGHTED, offset=THOUSANDTH),
        "exponent of Φ_0",
        tiny=NARROW,
    ),
    mutation("eq-7.damping", {"damping-one": "1/3"}, damped(THIRD, NINE, 3, FOUR, 3), "u_ε"),
    mutation("eq-7.damping", {"damping-width": "1"}, damped(ONE, ONE, 3, FOUR, 3), "ε B u_ε", tiny=WIDE),
    mutation("eq-7.damping", {"theta-least": "6"}, damped(ONE, NINE, 6, FOUR, 3), "3 ≤ θ", tiny=WIDE),
    mutation("eq-7.damping", {"theta-small-epsilon": "5/2"}, damped(ONE, NINE, 3, fmpq(5, 2), 3), "θ"),
    mutation("eq-7.damping", {"theta-large-epsilon": "1"}, damped(ONE, NINE, 3, FOUR, 1), "θ/ε", tiny=WIDE),
    mutation("eq-7.normaliser", {"normaliser-least": "2"}, envelope_mass_bound(fmpq(2), TOTAL)),
    mutation(
        "eq-7.normaliser",
        {**ANY_KAPPA, "block-mass": "1/1000"},
        envelope_mass_bound(ONE, constant(THOUSANDTH)),
        "Z_x - 1",
        tiny=LOUD,
    ),
    mutation(
        "eq-7.error",
        {"regret-multiple": "exp(1)/1000", "linear-multiple": "exp(1)/1000"},
        error(THOUSANDTH, THOUSANDTH, 2, 32, 2),
        MIDDLE,
    ),
    mutation("eq-7.error", {"block-error": "10^9*exp(1)"}, error(3, 288, 2, 10**9, 2), MIDDLE),
    mutation("eq-7.error", {"block-mass": "10^9*exp(1)"}, error(3, 288, 10**9, 32, 2), MIDDLE),
    mutation(
        "eq-7.error",
        {**ANY_KAPPA, **NO_ALPHA, "block-error": "exp(1)/10^6"},
        error(3, 288, 2, MILLIONTH, MILLIONTH),
        SUM,
        tiny=LOUD,
    ),
    mutation(
        "eq-7.error",
        {**ANY_KAPPA, **NO_ALPHA, "linear-multiple": "exp(1)/10^6", "block-error": "exp(1)/10^9"},
        error(3, MILLIONTH, 2, fmpq(1, 10**9), MILLIONTH),
        SUM,
        ERROR,
        tiny=LOUD,
    ),
)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)
