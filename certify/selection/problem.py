"""An instance of the selection paper made ready: what the statements read, each part computed when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from flint import ctx, fmpq

from certify.arithmetic.scalar import Scalar, logarithm
from certify.selection.instance_model import (
    ComparisonSpec,
    ExponentialSpec,
    LaplaceNoise,
    RoundedLaplaceSpec,
    SelectionInstance,
    SelectionSpec,
    StreamSpec,
)
from certify.selection.laws.accuracy import inaccurate, total
from certify.selection.laws.comparison import ComparisonPrivacy
from certify.selection.laws.stream import StreamLaw
from certify.selection.neighbours_worst import StreamPrivacy
from certify.selection.sampling_run import SamplingRun
from certify.selection.search_run import BisectionRun, GeometricRun, ScanRun, SearchRun
from constants.ledger import Ledger

ORDER_BITS = 512
"""Sums are told from τ ± α at this precision; they differ unless a logarithm is rational."""


@dataclass
class SelectionProblem:
    """The instance and the ledger its statements take their numbers from."""

    instance: SelectionInstance
    ledger: Ledger

    def constant(self, constant_id: str) -> Scalar:
        """A constant of the ledger."""
        return self.ledger.value(constant_id)

    def printed(self, constant_id: str) -> fmpq:
        """What the paper prints for a constant whose printed value is wrong."""
        expression = self.ledger[constant_id].printed
        value = None if expression is None else expression.value({})
        if not isinstance(value, fmpq):
            raise ValueError(f"the constant {constant_id} has no rational printed value")
        return value

    @property
    def stream(self) -> StreamSpec | None:
        kind = self.instance.kind
        return kind if isinstance(kind, StreamSpec) else None

    @property
    def selection(self) -> SelectionSpec | None:
        kind = self.instance.kind
        return kind if isinstance(kind, SelectionSpec) else None

    @property
    def exponential(self) -> ExponentialSpec | None:
        kind = self.instance.kind
        return kind if isinstance(kind, ExponentialSpec) else None

    @property
    def rounded(self) -> RoundedLaplaceSpec | None:
        kind = self.instance.kind
        return kind if isinstance(kind, RoundedLaplaceSpec) else None

    @property
    def comparison(self) -> ComparisonSpec | None:
        kind = self.instance.kind
        return kind if isinstance(kind, ComparisonSpec) else None

    @property
    def epsilon(self) -> fmpq:
        """ε where it is rational."""
        value = self.instance.level.epsilon
        if value is None:
            raise ValueError("epsilon is not rational")
        return value

    @cached_property
    def search(self) -> SearchRun:
        """The run of Algorithm 6, 7 or 8."""
        spec, beta = self.selection, self.instance.beta
        assert spec is not None and beta is not None
        kind = {"binary-search": BisectionRun, "linear-scan": ScanRun}.get(spec.algorithm, GeometricRun)
        return kind(spec, self.epsilon, beta, self.ledger)

    @cached_property
    def sampling(self) -> SamplingRun:
        """The parameters of Algorithm 9."""
        spec, beta = self.selection, self.instance.beta
        assert spec is not None and beta is not None
        return SamplingRun(len(spec.scores.sums), spec.n, self.epsilon, beta, self.ledger)

    @cached_property
    def comparisons(self) -> ComparisonPrivacy:
        """The laws of CompareToThresholds."""
        assert self.comparison is not None
        return ComparisonPrivacy(self.comparison)

    @cached_property
    def privacy(self) -> StreamPrivacy:
        """The comparisons of a stream."""
        assert self.stream is not None
        return StreamPrivacy(self.stream)

    @cached_property
    def departures(self) -> tuple[str, ...]:
        """In what the stream differs from Algorithms 1-3."""
        spec = self.stream
        assert spec is not None
        found = []
        if not isinstance(spec.noise, LaplaceNoise):
            found.append("the noise is not Laplace noise")
        elif self.instance.level.epsilon is None:
            found.append("epsilon is not rational, so neither are the scales of the paper")
        else:
            scales = (("threshold", spec.noise.threshold), ("query", spec.noise.query))
            for name, scale in scales:
                if scale != self.ledger.rational(f"svt-{name}-scale") / self.epsilon:
                    found.append(f"the scale of the {name} noise is {scale}")
        if spec.max_yes != 1:
            found.append("there may be more than one yes")
        elif spec.resample == "per-query" and len(spec.scores.sums) > 1:
            found.append("the threshold noise is fresh for every query")
        if spec.release_value:
            found.append("a value is released")
        return tuple(found)

    def failure_at(self, factor: fmpq) -> Callable[[], Scalar] | None:
        """The probability that an answer to the stream's sums is not α-accurate, ``α = factor log(2K/β)``.

        None where no outcome is inaccurate, so that it is exactly 0. Raises Undetermined where a sum cannot be
        told from ``τ ± α``.
        """
        spec, beta = self.stream, self.instance.beta
        assert spec is not None and beta is not None
        points = [f - tau for f, tau in zip(spec.scores.sums, spec.thresholds, strict=True)]
        with ctx.workprec(ORDER_BITS):
            bad = inaccurate(points, factor, logarithm(2 * len(points) / beta))
        if not any(bad):
            return None

        def failure() -> Scalar:
            law = StreamLaw(spec).index_law(spec.scores.sums, spec.scores.sums)
            result: Scalar = total([p for p, wrong in zip(law, bad, strict=True) if wrong])
            return result

        return failure
