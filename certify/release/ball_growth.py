"""How much larger the maximum over a ball of databases is than one likelihood, for the growth of a rung (BC-4).

Near the centre one move of the code and a moment of order r of the likelihood ratio bound it, farther out m moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from certify.arithmetic.ceiling import certified_ceiling, certified_floor
from certify.arithmetic.decide import decide_le
from certify.arithmetic.expression import parse_expression
from certify.arithmetic.scalar import Scalar, Undetermined, divide, logarithm, multiply, square_root
from certify.arithmetic.verdict import Verdict
from certify.release.mechanism import ResolvedMechanism
from certify.release.parameters import MAX_PRECISION, Parameters
from certify.release.problem import ReleaseProblem
from constants.search.rung import BETTER_OF_BOTH, PAPER, SHARP, TWO_SIDED, Growth, Labels

Rounding = Callable[[Callable[[], Scalar]], int]


@dataclass(frozen=True)
class _Choice:
    """r near and m far as functions of ``x = √(A_R/L)``: ``max(2, order(1/x))`` and ``max(1, length(x))``."""

    order: Rounding
    length: Rounding


def _ceiling(value: Callable[[], Scalar]) -> int:
    return certified_ceiling(value, max_precision=MAX_PRECISION)


def _floor(value: Callable[[], Scalar]) -> int:
    return certified_floor(value, max_precision=MAX_PRECISION)


def _over_root_two(value: Callable[[], Scalar]) -> Callable[[], Scalar]:
    return lambda: divide(value(), square_root(fmpq(2)))


_CHOICES = {
    PAPER: _Choice(lambda inverse: _ceiling(inverse) + 1, _ceiling),
    BETTER_OF_BOTH: _Choice(_floor, _ceiling),
    SHARP: _Choice(lambda inverse: _ceiling(_over_root_two(inverse)), lambda x: _ceiling(_over_root_two(x))),
    TWO_SIDED: _Choice(_ceiling, _floor),
}


def _shown(factor: str) -> str:
    """A factor as it stands before a root: without the brackets of a whole quotient."""
    return factor[1:-1] if factor.startswith("(") else factor


@dataclass(frozen=True)
class BallGrowth:
    """The growth of a rung at the radii 1..n of an instance. Methods raise `Undetermined` as their operations do.

    With the two-sided code the ledger's constants are read, with the code of the paper those of the paper.
    """

    parameters: Parameters
    growth: Growth

    @classmethod
    def of(cls, problem: ReleaseProblem) -> BallGrowth:
        """That of the instance's rung, and the two-sided one for a mechanism that is not tuned."""
        mechanism = problem.mechanism
        tuned = mechanism.tuned if isinstance(mechanism, ResolvedMechanism) else None
        return cls(problem.parameters, TWO_SIDED if tuned is None else tuned.growth)

    def entropy(self) -> Scalar:
        """L, a bound on the logarithm of the number of labels of one move: ``2 log T``, or ``2 log 2T``."""
        size = self.parameters.universe_size
        return 2 * logarithm(fmpq(size if self.growth.labels is Labels.PLAIN else 2 * size))

    def ratio(self, radius: int) -> Scalar:
        """``x = √(A_R/L)``."""
        return square_root(divide(self.parameters.moment_scale(radius), self.entropy()))

    def root(self, radius: int) -> Scalar:
        """``√(A_R L)``."""
        return square_root(multiply(self.parameters.moment_scale(radius), self.entropy()))

    @cached_property
    def near_radii(self) -> range:
        """The radii with ``x <= far_from``: an initial segment of 1..n, found by bisection."""
        low, high = 0, self.parameters.rows
        while low < high:
            middle = (low + high + 1) // 2
            if self._is_near(middle):
                low = middle
            else:
                high = middle - 1
        return range(1, low + 1)

    @property
    def far_radii(self) -> range:
        """The other radii of 1..n."""
        return range(len(self.near_radii) + 1, self.parameters.rows + 1)

    def near_order(self, radius: int) -> int:
        """The order r of a near radius."""
        inverse = _CHOICES[self.growth].order(lambda: divide(fmpq(1), self.ratio(radius)))
        return max(2, inverse)

    def far_length(self, radius: int) -> int:
        """The code length m of a far radius."""
        return max(1, _CHOICES[self.growth].length(lambda: self.ratio(radius)))

    def near_exponent(self, radius: int, order: int) -> Scalar:
        """What one move costs, ``L/r``, and 1/r of the exponent of the moment: for the two-sided code ``A/2 + L/r +
        A(r-1)``.
        """
        return self._cost(radius, 1) + self.entropy() / order + self._moment(radius, order) / order

    def far_exponent(self, radius: int, length: int) -> Scalar:
        """What m moves cost, and ``mL``: for the two-sided code ``A/(2m) + mL``."""
        return self._cost(radius, length) + multiply(fmpq(length), self.entropy())

    @property
    def near_formula(self) -> str:
        """`near_exponent` as text."""
        cost = "A/2" if self.growth.two_sided else "A"
        return f"{cost}+L/r+{'A(r-1)' if self._is_sharp else 'A r'}"

    @property
    def far_formula(self) -> str:
        """`far_exponent` as text."""
        return "A/(2m)+mL" if self.growth.two_sided else "A/m+mL"

    @property
    def near_bound_formula(self) -> str:
        """`near_bound` as text."""
        return f"{_shown(self.growth.near)} √(A_R L)"

    @property
    def far_bound_formula(self) -> str:
        """`far_bound` as text."""
        return f"{_shown(self.growth.far)} √(A_R L)"

    def near_bound(self, radius: int) -> Scalar:
        """``near √(A_R L)``."""
        return multiply(self._constant("better-near", self.growth.near), self.root(radius))

    def far_bound(self, radius: int) -> Scalar:
        """``far √(A_R L)``."""
        return multiply(self._constant("better-far", self.growth.far), self.root(radius))

    def _is_near(self, radius: int) -> bool:
        """``A_R <= far_from^2 L``."""

        def limit() -> Scalar:
            far_from = parse_expression(self.growth.far_from).value({})
            return multiply(multiply(far_from, far_from), self.entropy())

        decision = decide_le(
            lambda: self.parameters.moment_scale(radius), limit, precision=64, max_precision=MAX_PRECISION
        )
        if decision.verdict is Verdict.UNDECIDED:
            raise Undetermined(f"whether R = {radius} is near cannot be decided: {decision.reason}")
        return decision.verdict is Verdict.PROVED

    def _cost(self, radius: int, length: int) -> Scalar:
        """The exponent of the likelihood Maurey bound: BC-2, or Lemma 5.1."""
        p = self.parameters
        if self.growth.two_sided:
            return p.constant("better-maurey") * p.moment_scale(radius) / length
        return p.constant("maurey") * p.rho() * fmpq(radius**2, length)

    def _moment(self, radius: int, order: int) -> Scalar:
        """The exponent of the moment of order r: BC-3, or Lemma 6.1."""
        p = self.parameters
        if self._is_sharp:
            return p.constant("better-moment") * p.moment_scale(radius) * (order * (order - 1))
        return p.constant("moment") * p.moment_scale(radius) * order**2

    @property
    def _is_sharp(self) -> bool:
        """Whether the moment is that of BC-3."""
        return self.growth not in (PAPER, BETTER_OF_BOTH)

    def _constant(self, constant_id: str, text: str) -> Scalar:
        """The ledger's for the two-sided code, which it is about; that of the rung for any other."""
        return self.parameters.constant(constant_id) if self.growth == TWO_SIDED else parse_expression(text).value({})
