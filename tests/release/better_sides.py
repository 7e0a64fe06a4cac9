"""Both sides of one case of a lemma of the smaller constant, recomputed by brute force from the case's witness.

``LEFT[id](tiny, witness)`` is the number that the statement compares, ``LARGEST[id]`` the maximum where the witness
names a transcript that attains it, as in `witness_sides`. `Better` has the right sides.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, fmpq
from reference import (
    Tiny,
    at_reference_precision,
    ball_maximum,
    dataset_target,
    largest,
    target_distance,
    total,
    transcripts,
)
from reference_better import (
    ball_loss,
    gap_beyond,
    gap_exponential,
    gap_mean,
    own_norm,
    path_exponential,
    real_log_moment,
    two_sided_code,
    two_sided_jensen_gap,
    two_sided_maurey_gap,
    two_sided_surrogates,
    worst_two_sided_maurey_gap,
)
from reference_statements import softmax_gap_l2
from reference_witness import require_in_ball, target_from_texts
from witness_sides import Left, Witness, database, target, transcript

LOSS, BEYOND, MASS = "Σ H_R L_x", "Σ H_R (L_x-t)₊", "log Σ H_R"
NEAR_EXPONENT, FAR_EXPONENT = "A/2+L/r+A(r-1)", "A/(2m)+mL"


def _mean(tiny: Tiny, witness: Witness) -> arb:
    if "rival" in witness:
        x, y = database(tiny, witness), database(tiny, witness, "rival")
        values, goal = two_sided_surrogates(tiny, x, y, tiny.n, 1), dataset_target(tiny, y)
        means = [sum((v[q] for v in values), fmpq(0)) / len(values) for q in range(tiny.query_count)]
        return arb(max(abs(a - b) for a, b in zip(means, goal, strict=True)))
    x = (0,) * tiny.n
    code = set(two_sided_code(tiny, x, 1, witness["m"]))
    if "V'" in witness["quantity"]:
        return arb(len(code))
    return arb(max(target_distance(tiny, v, dataset_target(tiny, x)) for v in code))


def _jensen(tiny: Tiny, witness: Witness) -> arb:
    x, y = database(tiny, witness), database(tiny, witness, "rival")
    require_in_ball(tiny, x, y, witness["R"])
    return two_sided_jensen_gap(tiny, x, y, transcript(tiny, witness), witness["R"], witness["m"])


def _largest_jensen(tiny: Tiny, witness: Witness) -> arb:
    x, y = database(tiny, witness), database(tiny, witness, "rival")
    return largest(two_sided_jensen_gap(tiny, x, y, omega, witness["R"], witness["m"]) for omega in transcripts(tiny))


def _maurey(tiny: Tiny, witness: Witness) -> arb:
    x, y = database(tiny, witness), database(tiny, witness, "rival")
    require_in_ball(tiny, x, y, witness["R"])
    return two_sided_maurey_gap(tiny, x, y, transcript(tiny, witness), witness["R"], witness["m"])


def _largest_maurey(tiny: Tiny, witness: Witness) -> arb:
    return worst_two_sided_maurey_gap(tiny, database(tiny, witness), witness["R"], witness["m"])


def rational(text: str) -> fmpq:
    """A rational from the text of a witness."""
    (value,) = target_from_texts({"": text}, [""])
    return value


def _moment(tiny: Tiny, witness: Witness) -> arb:
    if "ψ" in witness.get("quantity", ""):
        return arb(fmpq(1, 2))
    return real_log_moment(tiny, database(tiny, witness), target(tiny, witness), rational(witness["r"]))


@at_reference_precision
def _ball(tiny: Tiny, witness: Witness) -> arb:
    quantity = witness["quantity"]
    if quantity in (NEAR_EXPONENT, FAR_EXPONENT):
        return Better().exponent(tiny, quantity, witness["R"])
    x, radius = database(tiny, witness), witness["R"]
    if quantity == MASS:
        return total(ball_maximum(tiny, x, radius).values()).log()
    return ball_loss(tiny, x, radius, above=quantity == BEYOND)


@at_reference_precision
def _softmax(tiny: Tiny, witness: Witness) -> arb:
    a, prefix = target(tiny, witness), transcript(tiny, witness, "state")
    if witness["quantity"] == "E ηG":
        return gap_mean(tiny, a, prefix)
    norm = tiny.eta * softmax_gap_l2(tiny, a, prefix)
    return norm * norm


def _exponential(tiny: Tiny, witness: Witness) -> arb:
    a = target(tiny, witness)
    if "state" in witness:
        return gap_exponential(tiny, a, transcript(tiny, witness, "state"))
    return _log(path_exponential(tiny, a))


@at_reference_precision
def _log(value: arb) -> arb:
    return value.log()


@at_reference_precision
def _excess(tiny: Tiny, witness: Witness) -> arb:
    a, quantity = target(tiny, witness), witness["quantity"]
    if "from the moment" in quantity:
        return path_exponential(tiny, a).log() - tiny.rounds * arb(2 * tiny.query_count).log() / 2
    return gap_beyond(tiny, a, 2 if "²" in quantity else 1)


LEFT: dict[str, Left] = {
    "bc-2.mean": _mean,
    "bc-2.jensen": _jensen,
    "bc-2": _maurey,
    "bc-3": _moment,
    "bc-4.near": _ball,
    "bc-4.far": _ball,
    "bc-5.softmax": _softmax,
    "bc-5.moment": _exponential,
    "bc-5.excess": _excess,
}

LARGEST: dict[str, Left] = {"bc-2.jensen": at_reference_precision(_largest_jensen), "bc-2": _largest_maurey}

Number = int | fmpq
HALF, THREE_HALVES, NORM = fmpq(1, 2), fmpq(3, 2), fmpq(10028, 10000)


@dataclass(frozen=True)
class Better:
    """The numbers of BC-2 to BC-5 as they are claimed, and the right sides with them."""

    reach: Number = 1
    label: Number = 1
    maurey: Number = HALF
    moment: Number = 1
    near: Number = 2
    far: Number = THREE_HALVES
    loss: Number = 4
    mean: Number = 1
    norm: Number = NORM
    exponential: Number = HALF
    excess: Number = 2
    excess_norm: Number = 4
    kappa: Number = 2

    def scale(self, tiny: Tiny, radius: Number) -> fmpq:
        """A_R."""
        return fmpq(self.kappa) * tiny.rounds * tiny.eta**2 * radius**2 / tiny.n**2

    def entropy(self, tiny: Tiny) -> arb:
        """L = 2 log T."""
        return 2 * arb(tiny.universe_size).log()

    def ratio(self, tiny: Tiny, radius: int) -> arb:
        """x = sqrt(A_R/L)."""
        return (self.scale(tiny, radius) / self.entropy(tiny)).sqrt()

    def root(self, tiny: Tiny, radius: int) -> arb:
        return (self.scale(tiny, radius) * self.entropy(tiny)).sqrt()

    def order(self, tiny: Tiny, radius: int) -> int:
        """max(2, ceil(1/x)); raises TypeError where the ceiling is not certain."""
        return max(2, int((1 / self.ratio(tiny, radius)).ceil().unique_fmpz()))

    def length(self, tiny: Tiny, radius: int) -> int:
        """floor(x); raises TypeError where it is not certain."""
        return int(self.ratio(tiny, radius).floor().unique_fmpz())

    def exponent(self, tiny: Tiny, name: str, radius: int) -> arb:
        """An exponent by the name that a witness gives it."""
        scale, entropy = self.scale(tiny, radius), self.entropy(tiny)
        if name == NEAR_EXPONENT:
            order = self.order(tiny, radius)
            return self.maurey * scale + entropy / order + self.moment * scale * (order - 1)
        if name == FAR_EXPONENT:
            length = self.length(tiny, radius)
            return self.maurey * scale / length + length * entropy
        factor = {"2 √(A_R L)": self.near, "3/2 √(A_R L)": self.far}[name]
        return factor * self.root(tiny, radius)

    def near_right(self, tiny: Tiny, witness: Witness) -> arb:
        quantity, radius = witness["quantity"], witness["R"]
        if quantity == NEAR_EXPONENT:
            return self.near * self.root(tiny, radius)
        exponent = self.exponent(tiny, witness["exponent"], radius)
        if quantity == MASS:
            return exponent
        return exponent.exp() * own_norm(tiny, database(tiny, witness), above=quantity == BEYOND)

    def far_right(self, tiny: Tiny, witness: Witness) -> arb:
        quantity, radius = witness["quantity"], witness["R"]
        if quantity == FAR_EXPONENT:
            return self.far * self.root(tiny, radius)
        exponent = self.exponent(tiny, witness["exponent"], radius)
        if quantity == MASS:
            return exponent
        shift = fmpq(self.loss) * radius / tiny.n
        if quantity == BEYOND:
            return exponent.exp() * (shift + self.tail(tiny))
        regret = arb(tiny.universe_size).log() / (tiny.gamma * tiny.rounds) + tiny.gamma / 2
        return exponent.exp() * (regret + self.mean * arb(2 * tiny.query_count).log() / tiny.eta + shift)

    def near_left(self, tiny: Tiny, witness: Witness) -> arb:
        if witness["quantity"] == NEAR_EXPONENT:
            return self.exponent(tiny, NEAR_EXPONENT, witness["R"])
        return _ball(tiny, witness)

    def far_left(self, tiny: Tiny, witness: Witness) -> arb:
        if witness["quantity"] == FAR_EXPONENT:
            return self.exponent(tiny, FAR_EXPONENT, witness["R"])
        return _ball(tiny, witness)

    def nu(self, tiny: Tiny) -> arb:
        """(1 + K^{-1/2})/2."""
        return self.exponential * (1 + 1 / arb(2 * tiny.query_count).sqrt())

    def tail(self, tiny: Tiny) -> arb:
        """(2/(e eta J)) nu^J."""
        return self.excess * self.nu(tiny) ** tiny.rounds / (arb(1).exp() * tiny.eta * tiny.rounds)

    def mean_right(self, tiny: Tiny, witness: Witness) -> arb:
        if "rival" in witness:
            return arb(0)
        if "V'" in witness["quantity"]:
            return arb(self.label * tiny.universe_size**2) ** int(witness["m"])
        return arb(self.reach)

    def code_right(self, tiny: Tiny, witness: Witness) -> arb:
        return arb(self.maurey * self.scale(tiny, witness["R"]) / witness["m"])

    def moment_right(self, tiny: Tiny, witness: Witness) -> arb:
        if "ψ" in witness.get("quantity", ""):
            return arb(fmpq(self.moment) * self.kappa / 4)
        order, own = rational(witness["r"]), dataset_target(tiny, database(tiny, witness))
        reach = target_distance(tiny, target(tiny, witness), own)
        assert reach == rational(witness["R"])
        return arb(self.moment * self.scale(tiny, reach) * order * (order - 1))

    def softmax_right(self, tiny: Tiny, witness: Witness) -> arb:
        entropy = arb(2 * tiny.query_count).log()
        if witness["quantity"] == "E ηG":
            return self.mean * entropy
        return (self.norm * entropy) * (self.norm * entropy)

    def exponential_right(self, tiny: Tiny, witness: Witness) -> arb:
        bound = self.exponential * (1 + arb(2 * tiny.query_count).sqrt())
        return bound if "state" in witness else tiny.rounds * bound.log()

    def excess_right(self, tiny: Tiny, witness: Witness) -> arb:
        quantity, unit = witness["quantity"], arb(1).exp() * tiny.rounds
        whole = self.excess_norm * self.excess_norm / unit if "²" in quantity else arb(self.excess)
        if "from the moment" in quantity:
            ratio = fmpq(self.excess_norm) ** 2 / 16 if "²" in quantity else fmpq(self.excess) / 2
            return tiny.rounds * self.nu(tiny).log() + arb(ratio).log()
        return whole * self.nu(tiny) ** tiny.rounds / unit

    def right(self, statement: str) -> Left:
        """The right side of a statement."""
        return at_reference_precision(
            {
                "bc-2.mean": self.mean_right,
                "bc-2.jensen": self.code_right,
                "bc-2": self.code_right,
                "bc-3": self.moment_right,
                "bc-4.near": self.near_right,
                "bc-4.far": self.far_right,
                "bc-5.softmax": self.softmax_right,
                "bc-5.moment": self.exponential_right,
                "bc-5.excess": self.excess_right,
            }[statement]
        )

    def left(self, statement: str) -> Left:
        """The left side, where the numbers change it too."""
        changed = {"bc-4.near": self.near_left, "bc-4.far": self.far_left}
        return at_reference_precision(changed.get(statement, LEFT[statement]))
