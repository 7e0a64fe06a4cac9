"""A rung of the smaller constant on one instance: what its tuning chooses, and the bounds of its proof with values.

Every formula is an expression whose names get the instance's values; the bounds are those of
`constants.search.formulas`, which the universal claims quantify over. `W = εn`, `l = log T`, `K = 2k`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

from flint import fmpq

from certify.arithmetic.ceiling import certified_ceiling
from certify.arithmetic.decide import decide_le
from certify.arithmetic.expression import Expression, Operation, parse_expression
from certify.arithmetic.scalar import Scalar, Undetermined, divide, logarithm, multiply, square_root
from certify.arithmetic.verdict import Verdict
from certify.claims.calculus import expanded
from constants.search.certificate import shipped_names, shipped_tuning
from constants.search.formulas import BLOCK_WIDTH, ROUNDS, block_sums, envelope, regret_factor
from constants.search.rung import Envelope, Growth, Rung, Threshold, Tuning

MAX_PRECISION = 4096

_THRESHOLDS = {
    Threshold.NOTHING: "0",
    Threshold.REGRET: "regret_J",
    Threshold.REGRET_AND_GAP: "regret_J + gap_J",
}


def tuning_names() -> tuple[str, ...]:
    """The rungs that an instance may name."""
    return shipped_names()


def tuning_named(name: str) -> Tuning:
    """The tuning of a rung, from the certificate that comes with the package. Raises KeyError where there is none."""
    return shipped_tuning(name)


@dataclass(frozen=True)
class TunedInstance:
    """A tuning on an instance with T = `universe_size`, k = `query_count` and n = `rows`.

    The scalars are evaluated at the current precision; what is an integer is certain.
    """

    tuning: Tuning
    universe_size: int
    query_count: int
    rows: int
    epsilon: Callable[[], Scalar]

    @property
    def rung(self) -> Rung:
        """The structure of the proof."""
        return self.tuning.rung

    @property
    def constant(self) -> fmpq:
        """C."""
        return self.tuning.constant

    def tau(self) -> Scalar:
        """``τ = √(L_D L_Q/W)``."""
        product = multiply(logarithm(fmpq(2 * self.universe_size)), logarithm(fmpq(2 * self.query_count)))
        return square_root(divide(product, self.weight()))

    def weight(self) -> Scalar:
        """``W = εn``."""
        return self.epsilon() * self.rows

    def scaled_tau(self) -> Scalar:
        """``C τ``."""
        return multiply(self.constant, self.tau())

    @cached_property
    def is_beyond_zero(self) -> bool:
        """Whether ``C τ <= 1``, so that the zero output does not do. Raises `Undetermined`."""
        branch = decide_le(self.scaled_tau, lambda: fmpq(1), precision=64, max_precision=MAX_PRECISION)
        if branch.verdict is Verdict.UNDECIDED:
            raise Undetermined(f"the branch of rung {self.rung.name} (C tau <= 1) cannot be decided: {branch.reason}")
        return branch.verdict is Verdict.PROVED


@dataclass(frozen=True)
class TunedEnvelope(TunedInstance):
    """The envelope branch of a tuning, T >= 2, with the free choices of its range."""

    choices: Envelope

    @property
    def growth(self) -> Growth:
        """How balls of databases grow."""
        return self.rung.growth

    @cached_property
    def rounds(self) -> int:
        """``J = ⌈j W/L_Q⌉``. Raises `Undetermined`."""
        return certified_ceiling(lambda: self._given(ROUNDS), max_precision=MAX_PRECISION)

    @property
    def least_rounds(self) -> int:
        """``⌈j C² L_D⌉``, at most J where ``C τ <= 1``. Raises `Undetermined`."""
        return certified_ceiling(lambda: self._given("j*C^2*L_D"), max_precision=MAX_PRECISION)

    @cached_property
    def block_width(self) -> int:
        """``B = ⌈b/ε⌉``. Raises `Undetermined`."""
        return certified_ceiling(lambda: self._given(BLOCK_WIDTH), max_precision=MAX_PRECISION)

    def threshold(self) -> Scalar:
        """t of BC-1."""
        return self.evaluate("threshold")

    def grows_at_rate(self, scale: fmpq) -> bool:
        """Whether ``near √(A_R L) = g ε R`` identically, where ``A_R = scale J η² R²/n²``."""
        from constants.relations import identical

        eta = expanded(self._definitions["eta"], {"root_J": self._definitions["root_J"]})
        growth = Operation("*", _parsed(f"{self.growth.near}*sqrt({scale}*J*L)/n"), eta)
        return identical(growth, _parsed("g*W/n"))

    def theta(self) -> Scalar:
        """``θ = εB``."""
        return self.epsilon() * self.block_width

    def eta(self) -> Scalar:
        """``η = (g/near) W/√(2JL)``."""
        return self.evaluate("eta")

    def gamma(self) -> Scalar:
        """``γ = √(2l/J)``."""
        return self.evaluate("gamma")

    def evaluate(self, text: str) -> Scalar:
        """An expression in g, b, j, C, l, K, W, epsilon, L_D, L_Q, J and the names that the formulas define.

        These are L, X, S, S_f, F (BC-6), regret_factor, gap_factor (BC-7), eta, gamma, regret_J (of Hedge),
        gap_J (``log K/η``), threshold (of BC-1), error (the bound of BC-7), near, far and far_rate.
        """
        values = {**self._names(), "J": fmpq(self.rounds)}
        expression = _parsed(text)
        for name in _needed(expression, self._definitions):
            values[name] = self._definitions[name].value(values)
        return expression.value(values)

    @cached_property
    def _definitions(self) -> dict[str, Expression]:
        """By name; each uses those before it."""
        growth = self.growth
        texts = {
            "near": growth.near,
            "far": growth.far,
            "far_rate": f"g*{growth.far}/{growth.near}",
            **block_sums(self.rung),
            **envelope(self.rung),
            "regret_factor": regret_factor(self.rung),
            "threshold": _THRESHOLDS[self.rung.threshold],
        }
        return {name: _parsed(text) for name, text in texts.items()}

    def _names(self) -> dict[str, Scalar]:
        return {
            "g": self.choices.g,
            "b": self.choices.b,
            "j": self.choices.j,
            "C": self.constant,
            "l": logarithm(fmpq(self.universe_size)),
            "K": fmpq(2 * self.query_count),
            "L_D": logarithm(fmpq(2 * self.universe_size)),
            "L_Q": logarithm(fmpq(2 * self.query_count)),
            "epsilon": self.epsilon(),
            "W": self.weight(),
        }

    def _given(self, text: str) -> Scalar:
        return _parsed(text).value(self._names())


def _needed(expression: Expression, definitions: dict[str, Expression]) -> list[str]:
    """The names to be evaluated for an expression, in the order of the definitions."""
    wanted = set(expression.names())
    for name in reversed(definitions):
        if name in wanted:
            wanted |= definitions[name].names()
    return [name for name in definitions if name in wanted]


@cache
def _parsed(text: str) -> Expression:
    return parse_expression(text)
