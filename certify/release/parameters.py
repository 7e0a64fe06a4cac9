"""The scalars of §§3-8 as functions of the instance, each evaluated at the current precision and exact where rational.

Notation as in the paper: rho, kappa, L, A_R (§§3, 6), alpha_0 (3.3), B, theta, u_eps (§7), L_D, L_Q, tau
(§8).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from flint import arb, fmpq

from certify.arithmetic.ceiling import certified_ceiling
from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import (
    Scalar,
    Undetermined,
    ball,
    divide,
    exponential,
    logarithm,
    multiply,
    square_root,
)
from certify.arithmetic.verdict import Verdict
from constants.ledger import Ledger

MAX_PRECISION = 4096


class Parameters:
    """Scalars of one instance with mechanism (J, eta, gamma). Methods raise `Undetermined` as their operations do."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        universe_size: int,
        query_count: int,
        rows: int,
        rounds: int,
        eta: Callable[[], Scalar],
        gamma: Callable[[], Scalar],
        epsilon: Callable[[], Scalar],
    ) -> None:
        self.ledger = ledger
        self.universe_size = universe_size
        self.query_count = query_count
        self.rows = rows
        self.rounds = rounds
        self.eta = eta
        self.gamma = gamma
        self.epsilon = epsilon

    def constant(self, constant_id: str) -> Scalar:
        """A constant of the ledger."""
        return self.ledger.value(constant_id)

    def rho(self) -> Scalar:
        """``rho = 8 J eta^2 / n^2`` (3.1)."""
        return self.constant("rho") * self._eta_squared_over_rows()

    def kappa(self) -> Scalar:
        """``kappa = 2 J eta^2 / n^2`` (§6)."""
        return self.constant("kappa") * self._eta_squared_over_rows()

    def _eta_squared_over_rows(self) -> Scalar:
        eta = self.eta()
        return self.rounds * eta * eta / fmpq(self.rows**2)

    def log_universe(self) -> Scalar:
        """``L_0 = log T``."""
        return logarithm(fmpq(self.universe_size))

    def code_entropy(self) -> Scalar:
        """``L = log(T^2 + 1)`` (§6)."""
        return logarithm(self.code_size())

    def code_size(self) -> fmpq:
        """``T^2 + 1``, the labels of one move (§5)."""
        return self.universe_size**2 + self.ledger.rational("codebook-label")

    def moment_scale(self, radius: int) -> Scalar:
        """``A_R = kappa R^2`` (§6)."""
        return self.kappa() * fmpq(radius**2)

    def regret(self) -> Scalar:
        """``log T/(gamma J) + gamma/2``, Hedge's regret per round (Lemma A.2)."""
        gamma = self.gamma()
        entropy = self.constant("hedge-entropy") * self.log_universe() / (gamma * self.rounds)
        return entropy + self.constant("hedge-step") * gamma

    def alpha_0(self) -> Scalar:
        """``alpha_0 = 2 (log T/(gamma J) + gamma/2) + 16 log(4k)/eta`` (3.3)."""
        gamma = self.gamma()
        regret = self.log_universe() / (gamma * self.rounds) + gamma / 2
        selection = self.constant("base-selection") * logarithm(fmpq(4 * self.query_count)) / self.eta()
        return self.constant("base-regret") * regret + selection

    @cached_property
    def block_width(self) -> int:
        """``B = max(1, ceil(3/eps))`` (§7)."""
        width = self.constant("block-width")
        return max(1, certified_ceiling(lambda: divide(width, self.epsilon()), max_precision=MAX_PRECISION))

    def theta(self) -> Scalar:
        """``theta = eps B`` (§7)."""
        return self.epsilon() * self.block_width

    @cached_property
    def epsilon_at_most_one(self) -> bool:
        """Whether eps <= 1, the first case of u_eps; raises `Undetermined` where that cannot be told."""
        decision = decide_le(self.epsilon, lambda: fmpq(1), precision=64, max_precision=MAX_PRECISION)
        if decision.verdict is Verdict.UNDECIDED:
            raise Undetermined(f"epsilon cannot be separated from 1: {decision.reason}")
        return decision.verdict is Verdict.PROVED

    def damping(self) -> Scalar:
        """``u_eps``: 1 for eps <= 1, else exp(-eps/3) (§7)."""
        if self.epsilon_at_most_one:
            return fmpq(1)
        return exponential(-(self.epsilon() * self.constant("damping-rate")))

    def penalty_rate(self) -> Scalar:
        """``lambda = eps/2``, the envelope's penalty for a changed row (§4)."""
        return self.epsilon() * self.constant("envelope-penalty")

    def log_twice_universe(self) -> Scalar:
        """``L_D = log 2T`` (8.1)."""
        return logarithm(fmpq(2 * self.universe_size))

    def log_twice_queries(self) -> Scalar:
        """``L_Q = log 2k`` (8.1)."""
        return logarithm(fmpq(2 * self.query_count))

    def tau(self) -> Scalar:
        """``tau = sqrt(L_D L_Q / (eps n))`` (§8)."""
        product = multiply(self.log_twice_universe(), self.log_twice_queries())
        return square_root(divide(product, self.epsilon() * self.rows))

    def root_growth(self, radius: int) -> Scalar:
        """``sqrt(A_R L) = R eta sqrt(2 J L)/n`` (§6)."""
        return square_root(multiply(self.moment_scale(radius), self.code_entropy()))

    def is_near(self, radius: int) -> bool:
        """Whether ``A_R <= L`` (§6.1); raises `Undetermined` where that cannot be told."""
        decision = decide_le(
            lambda: self.moment_scale(radius), self.code_entropy, precision=64, max_precision=MAX_PRECISION
        )
        if decision.verdict is Verdict.UNDECIDED:
            raise Undetermined(f"A_R cannot be separated from L at R = {radius}")
        return decision.verdict is Verdict.PROVED

    @cached_property
    def near_radii(self) -> range:
        """The radii 1..n with ``A_R <= L``: an initial segment, since A_R grows with R; found by bisection."""
        low, high = 0, self.rows
        while low < high:
            middle = (low + high + 1) // 2
            if self.is_near(middle):
                low = middle
            else:
                high = middle - 1
        return range(1, low + 1)

    @property
    def far_radii(self) -> range:
        """The radii 1..n with ``A_R > L`` (§6.2)."""
        return range(len(self.near_radii) + 1, self.rows + 1)

    def near_order(self, radius: int) -> int:
        """``r_R = ceil(sqrt(L/A_R)) + 1`` (§6.1)."""
        ceiling = certified_ceiling(lambda: self._ratio_root(radius, invert=True), max_precision=MAX_PRECISION)
        return ceiling + int(self.ledger.rational("near-order").p)

    def far_length(self, radius: int) -> int:
        """``m_R = max(1, ceil(sqrt(A_R/L)))`` (§6.2)."""
        ceiling = certified_ceiling(lambda: self._ratio_root(radius, invert=False), max_precision=MAX_PRECISION)
        return max(1, ceiling)

    def ratio_root(self, radius: int) -> Scalar:
        """``sqrt(L/A_R)`` (§6.1)."""
        return self._ratio_root(radius, invert=True)

    def _ratio_root(self, radius: int, *, invert: bool) -> Scalar:
        scale, entropy = self.moment_scale(radius), self.code_entropy()
        return square_root(divide(entropy, scale) if invert else divide(scale, entropy))

    def as_ball(self, value: Scalar) -> arb:
        return ball(value)
