"""Algorithm 9 on (d, n, ε, β): its parameters and phases in certified arithmetic, and adversarial oracles for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256

from flint import fmpq

from certify.arithmetic.ceiling import certified_ceiling
from certify.arithmetic.decide import decide_le
from certify.arithmetic.scalar import Scalar, Undetermined, divide, logarithm, multiply, power
from certify.arithmetic.verdict import Verdict
from certify.selection.oracle import SequentialStream
from certify.selection.parameters import log_upper
from constants.ledger import Ledger

PRECISION, MAX_PRECISION = 64, 4096
MAX_PHASES = 64


def log2(value: Scalar) -> Scalar:
    """``log2 value`` for value > 0, exact for an exact power of two."""
    if isinstance(value, fmpq):
        exponent = int(value.p.bit_length()) - int(value.q.bit_length())
        if value == fmpq(2) ** exponent:
            return fmpq(exponent)
    return divide(logarithm(value), logarithm(fmpq(2)))


@dataclass(frozen=True)
class PhaseNumbers:
    """``t`` of a phase and the exact ``next_x`` = 64 t³; ``x`` is its x, evaluated at the current precision."""

    t: int
    x: Callable[[], Scalar]
    next_x: fmpq


class SamplingRun:
    """What Algorithm 9 fixes in advance; ``count_power`` is that of ``N = 3 log2(2n)^power``."""

    def __init__(self, d: int, n: int, epsilon: fmpq, beta: fmpq, ledger: Ledger) -> None:
        self.d, self.n, self.epsilon, self.beta, self.ledger = d, n, epsilon, beta, ledger

    def constant(self, constant_id: str) -> fmpq:
        """A rational constant of the ledger."""
        return self.ledger.rational(constant_id)

    def log_2n(self) -> Scalar:
        """``log2(2n)``."""
        return log2(fmpq(2 * self.n))

    def count(self, count_power: fmpq) -> Scalar:
        """``N = 3 log2(2n)^count_power``."""
        return multiply(self.constant("run-count-multiple"), power(self.log_2n(), count_power))

    def runs(self) -> Scalar:
        """N as corrected."""
        return self.count(self.constant("run-count-power"))

    def log(self) -> Scalar:
        """``log(384 d log2³(2n)/β)``."""
        base = divide(logarithm(fmpq(2 * self.n)), logarithm(self.ledger.value("alpha-log-base")))
        length = self.log_2n() if self.ledger.value("alpha-log-base") == 2 else base
        argument = multiply(
            self.constant("alpha-argument") * self.d / self.beta, power(length, self.constant("alpha-power"))
        )
        return logarithm(argument)

    def alpha(self) -> Scalar:
        """``(8/ε) log(384 d log2³(2n)/β)``."""
        return multiply(self.constant("svt-accuracy") / self.epsilon, self.log())

    @property
    def limit(self) -> fmpq:
        """``2^64``, below which no phase runs."""
        return fmpq(2) ** int(self.constant("final-rounds").p)

    def first_x(self) -> Scalar:
        """``n/α``."""
        return divide(fmpq(self.n), self.alpha())

    @cached_property
    def phases(self) -> list[PhaseNumbers]:
        """The phases in order. Raises Undetermined where n/α cannot be told from 2^64."""
        found: list[PhaseNumbers] = []
        x = self.first_x
        while self._reaches(x):
            if len(found) == MAX_PHASES:
                raise Undetermined(f"more than {MAX_PHASES} phases: x does not shrink")
            found.append(self._phase(x))
            x = partial(_same, found[-1].next_x)
        return found

    def _phase(self, x: Callable[[], Scalar]) -> PhaseNumbers:
        t = certified_ceiling(lambda: log2(x()))
        return PhaseNumbers(t, x, self.constant("phase-multiple") * fmpq(t) ** int(self.constant("phase-power").p))

    def final_x(self) -> Scalar:
        """x after the last phase."""
        return self.phases[-1].next_x if self.phases else self.first_x()

    def _reaches(self, x: Callable[[], Scalar]) -> bool:
        decision = decide_le(lambda: self.limit, x, precision=PRECISION, max_precision=MAX_PRECISION)
        if decision.verdict is Verdict.UNDECIDED:
            raise Undetermined(f"n/α cannot be told from 2^64: {decision.reason}")
        return decision.verdict is Verdict.PROVED


def _same(value: fmpq) -> Scalar:
    return value


ORACLES = ("noise", "always yes", "always no", "random")
"""How an adversary answers where the score is within the accuracy of the threshold."""


class AdversarialOracle:
    """Streams that are accurate to ``accuracy/ε'`` and otherwise answer as they like, the same on every run.

    ``noise`` compares after adding a pseudo-random multiple of the accuracy in [-1, 1], ``random`` tosses a coin.
    """

    def __init__(self, scores: tuple[fmpq, ...], accuracy: fmpq, manner: str) -> None:
        self.scores, self.accuracy, self.manner = scores, accuracy, manner
        self.asked = 0

    def open_stream(self, epsilon: fmpq) -> SequentialStream:
        """A stream with that budget."""
        return _AdversarialStream(self, self.accuracy / epsilon)

    def draw(self) -> int:
        """The next pseudo-random integer below 2^32; nothing private rests on it."""
        self.asked += 1
        return int.from_bytes(sha256(f"{self.manner}:{self.asked}".encode()).digest()[:4], "big")


class _AdversarialStream(SequentialStream):
    def __init__(self, oracle: AdversarialOracle, alpha: fmpq) -> None:
        super().__init__()
        self._oracle, self._alpha = oracle, alpha

    def answer(self, candidate: int, threshold: fmpq) -> bool:
        oracle = self._oracle
        excess = oracle.scores[candidate] - threshold
        if abs(excess) >= self._alpha:
            return bool(excess > 0)
        if oracle.manner == "noise":
            return bool(excess + self._alpha * (fmpq(oracle.draw(), 2**31) - 1) > 0)
        if oracle.manner == "random":
            return oracle.draw() % 2 == 0
        return oracle.manner == "always yes"


def stream_accuracy(run: SamplingRun, runs: int) -> fmpq:
    """A rational at least ``8 log(2dN/β)``, so that every stream is accurate to that over its budget."""
    return run.constant("svt-accuracy") * log_upper(lambda: 2 * run.d * runs / run.beta)
