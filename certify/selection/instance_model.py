"""What an instance of the selection paper says, after reading: exact numbers only."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from certify.arithmetic.scalar import Scalar, exponential, logarithm, power
from certify.selection.laws.geometric import Ratio

Vector = tuple[fmpq, ...]


@dataclass(frozen=True, slots=True)
class PrivacyLevel:
    """The claimed ε > 0: a rational, or the logarithm of the rational ``exp_epsilon`` > 1."""

    epsilon: fmpq | None = None
    exp_epsilon: fmpq | None = None

    def factor(self, multiple: fmpq) -> Scalar:
        """``e^(multiple ε)``, exact where ``exp_epsilon`` and an integer multiple are given."""
        if self.exp_epsilon is not None:
            return power(self.exp_epsilon, multiple)
        assert self.epsilon is not None
        return exponential(multiple * self.epsilon)

    def value(self) -> Scalar:
        """ε itself, exact where it is given."""
        if self.epsilon is not None:
            return self.epsilon
        assert self.exp_epsilon is not None
        return logarithm(self.exp_epsilon)

    @property
    def text(self) -> str:
        return str(self.epsilon) if self.epsilon is not None else f"log({self.exp_epsilon})"


@dataclass(frozen=True, slots=True)
class Box:
    """Every vector with ``‖f - f'‖_∞ ≤ 1``, cut to [0, n] where n is given."""


@dataclass(frozen=True, slots=True)
class ReplaceOne:
    """Every vector of sums that replacing one of the records gives."""


@dataclass(frozen=True, slots=True)
class Against:
    """One given vector."""

    values: Vector


Neighbours = Box | ReplaceOne | Against


@dataclass(frozen=True, slots=True)
class Scores:
    """Sums of K candidates or queries, with the records they came from (clipped to [0,1]) and how many were clipped."""

    sums: Vector
    records: tuple[Vector, ...] | None = None
    clipped: int = 0


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Scales of threshold and query noise, at least 0; 0 is no noise."""

    threshold: fmpq
    query: fmpq


@dataclass(frozen=True, slots=True)
class GeometricNoise:
    """Ratios of the two-sided geometric threshold and query noise."""

    threshold: Ratio
    query: Ratio


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """A stream of K queries and its switches; the paper's own has the defaults of the reader.

    ``output`` is an outcome as its answers, a string of ``y`` and ``n``; ``value`` the value released with its
    last yes. ``max_yes`` None is no cap on the yes answers.
    """

    scores: Scores
    thresholds: Vector
    noise: LaplaceNoise | GeometricNoise
    strict: bool
    max_yes: int | None
    resample: str
    release_value: bool
    neighbours: Neighbours
    n: int | None
    output: str | None
    value: fmpq | None


@dataclass(frozen=True, slots=True)
class SelectionSpec:
    """One run of Algorithm 6-9 or of the sum estimate on scores in [0, n]."""

    scores: Scores
    n: int
    algorithm: str
    alpha_factor: fmpq | None
    rounds: int | None


@dataclass(frozen=True, slots=True)
class ExponentialSpec:
    """``draws`` exponential mechanisms at ε/draws each, weights ``exp(ε s/(2 draws sensitivity))``.

    Without ``repeat`` a score that was drawn is left out of the later draws.
    """

    scores: Vector
    sensitivity: fmpq
    neighbours: Neighbours
    draws: int
    repeat: bool


@dataclass(frozen=True, slots=True)
class RoundedLaplaceSpec:
    """An integer plus Laplace noise, rounded to the nearest integer; ``sensitivity`` is that of the integer."""

    scale: fmpq
    sensitivity: int


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """A query of Algorithm 5, asked ``count`` times in a row."""

    sum: fmpq
    low: fmpq
    high: fmpq
    count: int = 1


@dataclass(frozen=True, slots=True)
class ComparisonSpec:
    """A sequence of queries to CompareToThresholds; ``order`` says which of the two tests comes first."""

    queries: tuple[ComparisonQuery, ...]
    threshold_scale: fmpq
    query_scale: fmpq
    high_first: bool
    check_gap: bool
    output: str | None


Kind = StreamSpec | SelectionSpec | ExponentialSpec | RoundedLaplaceSpec | ComparisonSpec


@dataclass(frozen=True, slots=True)
class SelectionInstance:
    """A checked instance: the claim (ε, δ, β) and the one thing that it is about."""

    level: PrivacyLevel
    beta: fmpq | None
    delta: fmpq | None
    kind: Kind
    statements: tuple[str, ...] | None = None
    description: str = ""
