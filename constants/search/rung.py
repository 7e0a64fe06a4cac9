"""The rungs: which of the sharper lemmas a constant rests on, and the free choices that were tuned for it.

A rung fixes the structure of the proof (BC-0 to BC-10 of `constants/BETTER_CONSTANT.md`); a tuning fixes its
numbers. T is the size of the universe, l = log T, L_D = log 2T, L_Q = log 2k, W = εn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from flint import fmpq


class Gap(Enum):
    """The bound on the gap of a selection round, K = 2k: on its mean and on its L2 norm, both times η."""

    PRINTED = "4 log(2K) for both (Lemma A.3)"
    EXACT = "log K + 1 and √(log²K + 2 log K + 2) (the end of the proof of Lemma A.3)"
    SOFTMAX = "log K and 1.0028 log K (BC-5, the largest gap of a softmax)"
    MOMENT = "log K, beyond which its exponential moment leaves ν^J (BC-5)"


class Threshold(Enum):
    """What the loss is compared with before the sum over databases (BC-1)."""

    NOTHING = "nothing: the regret is multiplied by the sum of the block weights"
    REGRET = "the regret"
    REGRET_AND_GAP = "the regret and log K/η"


class Labels(Enum):
    """The bound L on the logarithm of the number of labels of one move of the code."""

    DOUBLED = "2 log 2T"
    PLAIN = "2 log T"


@dataclass(frozen=True)
class Growth:
    """How much larger the maximum over a ball of databases is than one likelihood, and the code that shows it.

    At a radius with ``x = √(A_R/L)`` at most `far_from` the growth is ``e^{near √(A_R L)}``, beyond it
    ``e^{far √(A_R L)}``; these are expressions without names, and `reach` is ``far_from * near``, `near_square` the
    square of `near`. `two_sided` is the code of BC-2, else it is the paper's.
    """

    near: str
    far: str
    far_from: str
    reach: str
    near_square: fmpq
    labels: Labels
    two_sided: bool = False


PAPER = Growth("5", "5", "1", "5", fmpq(25), Labels.DOUBLED)
BETTER_OF_BOTH = Growth("(5/2)", "(5/2)", "1/2", "5/4", fmpq(25, 4), Labels.DOUBLED)
SHARP = Growth("(3*sqrt(2)/2)", "(3*sqrt(2)/2)", "sqrt(2)/2", "3/2", fmpq(9, 2), Labels.PLAIN)
TWO_SIDED = Growth("2", "(3/2)", "1", "2", fmpq(4), Labels.PLAIN, two_sided=True)


@dataclass(frozen=True)
class Rung:
    """The structure of one proof. With `histogram`, small universes have the mechanism of BC-10."""

    name: str
    title: str
    growth: Growth
    gap: Gap
    threshold: Threshold
    histogram: bool = False


_RUNGS = (
    Rung("1", "the paper's lemmas, parameters balanced", PAPER, Gap.PRINTED, Threshold.NOTHING),
    Rung("2", "the better of near and far at every radius", BETTER_OF_BOTH, Gap.PRINTED, Threshold.NOTHING),
    Rung("3", "the softmax gap as A.3 proves it", BETTER_OF_BOTH, Gap.EXACT, Threshold.NOTHING),
    Rung("4", "the threshold step BC-1", BETTER_OF_BOTH, Gap.EXACT, Threshold.REGRET),
    Rung("5", "the sharp softmax gap", BETTER_OF_BOTH, Gap.SOFTMAX, Threshold.REGRET),
    Rung("6", "the sharp Lemma 6.1 (BC-3)", SHARP, Gap.SOFTMAX, Threshold.REGRET),
    Rung("7", "the exponential moment of the gap (BC-5)", SHARP, Gap.MOMENT, Threshold.REGRET_AND_GAP),
    Rung("8", "the two-sided code (BC-2)", TWO_SIDED, Gap.MOMENT, Threshold.REGRET_AND_GAP),
    Rung("9", "a noisy histogram for small universes (BC-10)", TWO_SIDED, Gap.MOMENT, Threshold.REGRET_AND_GAP, True),
)

RUNGS: Mapping[str, Rung] = MappingProxyType({rung.name: rung for rung in _RUNGS})
"""By name, from the paper's own proof on; each adds one step to the one before it."""


@dataclass(frozen=True)
class Histogram:
    """The mechanism of BC-10 for universes of `first` elements up to the next range."""

    first: int


@dataclass(frozen=True)
class Envelope:
    """The envelope mechanism for universes of `first` elements up to the next range.

    ``J = ⌈j W/L_Q⌉``, ``η = (g/near) W/√(2JL)``, ``γ = √(2l/J)``, so that a ball of radius R grows by
    ``e^{g ε R}``; blocks have ``B = ⌈b/ε⌉`` radii.
    """

    first: int
    g: fmpq
    b: fmpq
    j: fmpq


@dataclass(frozen=True)
class Tuning:
    """A constant C and the free choices for which it is to be certified.

    For ``C τ > 1`` the output is zero, for T = 1 it is exact; otherwise the last of `ranges` whose `first` is
    at most T says which mechanism runs.
    """

    rung: Rung
    constant: fmpq
    ranges: tuple[Histogram | Envelope, ...]

    def range_of(self, universe_size: int) -> Histogram | Envelope:
        """The range of a universe with at least two elements."""
        return [each for each in self.ranges if each.first <= universe_size][-1]
