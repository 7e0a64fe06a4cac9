"""Section 6: likelihood-ratio moments, nearby and distant databases, the boxed ball estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from flint import arb, fmpq
from mutation import Mutation, Witness, assert_refuted
from reference import Database, Tiny, dataset_target, total
from reference_codebook import codebook, log_moment
from reference_statements import l2_error
from witness_sides import LEFT, database

NEAR = Tiny(((fmpq(1), fmpq(-1)), (fmpq(1, 3), fmpq(-1))), 2, fmpq(1), 2, fmpq(1, 8), fmpq(1, 2))
"""A_1 = 1/64 and A_2 = 1/16 are below L = log 5."""
FAR = Tiny(NEAR.values, 2, fmpq(1), 2, fmpq(4), fmpq(1, 2))
"""A_1 = 16 and A_2 = 64 are above."""
X: Database = (0, 1)


Number = int | fmpq


@dataclass(frozen=True)
class Section6:
    """The numbers of section 6 as the paper has them, and its formulas with them."""

    kappa: Number = 2
    label: Number = 1
    offset: int = 1
    slack: Number = 2
    near: Number = 4
    ceiling: Number = 2
    far: Number = 3
    growth: Number = 5
    loss: Number = 8
    moment: Number = 1
    regret: Number = 2
    selection: Number = 16

    def entropy(self, tiny: Tiny) -> arb:
        """L."""
        return arb(tiny.universe_size**2 + self.label).log()

    def scale(self, tiny: Tiny, radius: int) -> arb:
        """A_R."""
        return arb(self.kappa * tiny.rounds * tiny.eta**2 * radius**2 / tiny.n**2)

    def root(self, tiny: Tiny, radius: int) -> arb:
        return (self.scale(tiny, radius) * self.entropy(tiny)).sqrt()

    def quotient(self, tiny: Tiny, radius: int) -> arb:
        return (self.entropy(tiny) / self.scale(tiny, radius)).sqrt()

    def order(self, tiny: Tiny, radius: int) -> int:
        """r_R; raises TypeError where the ceiling is not certain."""
        return int(self.quotient(tiny, radius).ceil().unique_fmpz()) + self.offset

    def length(self, tiny: Tiny, radius: int) -> int:
        """m_R; raises TypeError where the ceiling is not certain."""
        return max(1, int((1 / self.quotient(tiny, radius)).ceil().unique_fmpz()))

    def alpha_0(self, tiny: Tiny) -> arb:
        regret = arb(tiny.universe_size).log() / (tiny.gamma * tiny.rounds) + tiny.gamma / 2
        return self.regret * regret + self.selection * arb(4 * tiny.query_count).log() / tiny.eta

    def exponent(self, tiny: Tiny, name: str, radius: int) -> arb:
        """The exponent that a sum over a ball is compared with."""
        scale, entropy = self.scale(tiny, radius), self.entropy(tiny)
        if name == "5√(A_R L)":
            return self.growth * self.root(tiny, radius)
        if name == "A_R/m+mL":
            length = self.length(tiny, radius)
            return scale / length + length * entropy
        assert name == "A_R+L/r+A_R r"
        order = self.order(tiny, radius)
        return scale + entropy / order + scale * order

    def ball(self, tiny: Tiny, witness: Witness, far_factor: bool) -> arb:
        """The bound of ``log sum H_R`` or of ``sum H_R L_x``."""
        radius, name = witness["R"], witness["exponent"]
        exponent = self.exponent(tiny, name, radius)
        if witness["quantity"] == "log Σ H_R":
            return exponent
        if name == "A_R+L/r+A_R r":
            x = database(tiny, witness)
            return exponent.exp() * l2_error(tiny, x, dataset_target(tiny, x))
        extra = fmpq(self.loss) * radius / tiny.n if far_factor else fmpq(0)
        return exponent.exp() * (self.alpha_0(tiny) + extra)

    # right sides, and the left sides that the changed constants change too

    def moments(self, tiny: Tiny, witness: Witness) -> arb:
        order = witness["r"].split()[0]
        return self.moment * self.scale(tiny, witness["R"]) * int(order) ** 2

    def boxed(self, tiny: Tiny, witness: Witness) -> arb:
        return self.ball(tiny, witness, far_factor=True)

    def near_right(self, tiny: Tiny, witness: Witness) -> arb:
        radius, quantity = witness["R"], witness["quantity"]
        root, scale = self.root(tiny, radius), self.scale(tiny, radius)
        order = self.order(tiny, radius)
        values: dict[str, Callable[[], arb]] = {
            "√(L/A_R) ≤ r": lambda: arb(order),
            "r < √(L/A_R) + 2": lambda: self.quotient(tiny, radius) + self.slack,
            "2 ≤ r": lambda: arb(order),
            "L/r + A_R r": lambda: self.near * root,
            "A_R + 4√(A_R L) ≤ 5√(A_R L)": lambda: self.growth * root,
            "log average of E Λ_v^r": lambda: self.moment * scale * order**2,
        }
        return values[quantity]() if quantity in values else self.ball(tiny, witness, far_factor=False)

    def near_left(self, tiny: Tiny, witness: Witness) -> arb:
        radius, quantity = witness["R"], witness["quantity"]
        order = self.order(tiny, radius)
        values: dict[str, Callable[[], arb]] = {
            "√(L/A_R) ≤ r": lambda: self.quotient(tiny, radius),
            "r < √(L/A_R) + 2": lambda: arb(order),
            "2 ≤ r": lambda: arb(2),
            "L/r + A_R r": lambda: self.entropy(tiny) / order + self.scale(tiny, radius) * order,
            "A_R + 4√(A_R L) ≤ 5√(A_R L)": lambda: self.scale(tiny, radius) + self.near * self.root(tiny, radius),
            "log average of E Λ_v^r": lambda: self.average_moment(tiny, database(tiny, witness), radius),
        }
        return values[quantity]() if quantity in values else LEFT["eq-6.near"](tiny, witness)

    def average_moment(self, tiny: Tiny, x: Database, radius: int) -> arb:
        labels = codebook(tiny, x, radius, 1)
        moments = {v: log_moment(tiny, x, v, self.order(tiny, radius)).exp() for v in set(labels)}
        return (total(moments[v] for v in labels) / len(labels)).log()

    def far_right(self, tiny: Tiny, witness: Witness) -> arb:
        radius, quantity = witness["R"], witness["quantity"]
        if quantity == "A_R/m + mL":
            return self.ceiling * self.root(tiny, radius) + self.entropy(tiny)
        if quantity == "2√(A_R L) + L ≤ 3√(A_R L)":
            return self.far * self.root(tiny, radius)
        return self.ball(tiny, witness, far_factor=True)

    def far_left(self, tiny: Tiny, witness: Witness) -> arb:
        radius, quantity = witness["R"], witness["quantity"]
        if quantity == "A_R/m + mL":
            return self.exponent(tiny, "A_R/m+mL", radius)
        if quantity == "2√(A_R L) + L ≤ 3√(A_R L)":
            return self.ceiling * self.root(tiny, radius) + self.entropy(tiny)
        return LEFT["eq-6.far"](tiny, witness)


TINY = fmpq(1, 10**6)


def near(changes: dict[str, str], changed: Section6, *displays: str, strict: bool = False) -> Mutation:
    right, left = changed.near_right, changed.near_left
    return Mutation("eq-6.near", changes, NEAR, X, right, left, displays=displays, strict=strict)


def far(changes: dict[str, str], changed: Section6, *displays: str, tiny: Tiny = FAR) -> Mutation:
    return Mutation("eq-6.far", changes, tiny, X, changed.far_right, changed.far_left, displays=displays)


def boxed(changes: dict[str, str], changed: Section6, *displays: str, x: Database | None = X) -> Mutation:
    return Mutation("eq-6.2", changes, NEAR, x, changed.boxed, displays=displays)


def moments(changes: dict[str, str], changed: Section6, x: Database | None = X) -> Mutation:
    return Mutation("lemma-6.1", changes, NEAR, x, changed.moments)


MASS, LOSS = "log Σ H_R", "Σ H_R L_x"
NO_ALPHA = {"base-regret": "1/10^6", "base-selection": "1/10^6"}

MUTATIONS = (
    moments({"moment": "1/100"}, Section6(moment=fmpq(1, 100))),
    moments({"moment": "1/100"}, Section6(moment=fmpq(1, 100)), None),
    moments({"kappa": "1/10"}, Section6(kappa=fmpq(1, 10))),
    near({"near-growth": "1/100"}, Section6(near=fmpq(1, 100)), "L/r + A_R r"),
    near({"near-order-slack": "1/1000"}, Section6(slack=fmpq(1, 1000)), "r < √(L/A_R) + 2", strict=True),
    near({"near-order": "-1"}, Section6(offset=-1), "√(L/A_R) ≤ r"),
    near({"ball-growth": "1/100"}, Section6(growth=fmpq(1, 100)), "A_R + 4√(A_R L) ≤ 5√(A_R L)", MASS),
    near({"codebook-label": "-29/10"}, Section6(label=fmpq(-29, 10)), MASS),
    near({"moment": "1/100"}, Section6(moment=fmpq(1, 100)), "log average of E Λ_v^r"),
    near({"kappa": "1/1000"}, Section6(kappa=fmpq(1, 1000)), "log average of E Λ_v^r", MASS),
    near({**NO_ALPHA, "ball-growth": "9/2"}, Section6(regret=TINY, selection=TINY, growth=fmpq(9, 2)), LOSS),
    far({"far-growth": "1/100"}, Section6(far=fmpq(1, 100)), "2√(A_R L) + L ≤ 3√(A_R L)"),
    far({"far-growth-ceiling": "1/1000"}, Section6(ceiling=fmpq(1, 1000)), "A_R/m + mL"),
    far({**NO_ALPHA, "ball-loss": "1/10^12"}, Section6(regret=TINY, selection=TINY, loss=fmpq(1, 10**12)), LOSS),
    far(
        {"codebook-label": "-29/10", "kappa": "1/100"},
        Section6(label=fmpq(-29, 10), kappa=fmpq(1, 100)),
        MASS,
    ),
    boxed({"ball-growth": "1/100"}, Section6(growth=fmpq(1, 100)), MASS),
    boxed({"ball-growth": "1/100"}, Section6(growth=fmpq(1, 100)), MASS, x=None),
    boxed({"codebook-label": "-299/100"}, Section6(label=fmpq(-299, 100)), MASS),
    boxed({**NO_ALPHA, "ball-loss": "1/10^6"}, Section6(regret=TINY, selection=TINY, loss=TINY), LOSS),
)


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_false_claim_is_refuted(mutation: Mutation, bits: int) -> None:
    assert_refuted(mutation, bits)
