"""An instance made ready: domain, mechanism, what would be enumerated, and the evidence the statements read.

`ReleaseProblem` holds what does not depend on the precision; `Evidence` is one level of it, float64 or Arb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from certify.arithmetic.arrays import BallArray, CertifiedArray, IntervalArray
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.positive import (
    TABLE_PRECISION,
    BallArithmetic,
    LinearArithmetic,
    LogArithmetic,
    PositiveArithmetic,
)
from certify.arithmetic.precision import doubling
from certify.arithmetic.rounding import growth_factor
from certify.arithmetic.scalar import Scalar, Undetermined, ball
from certify.engine.decide_statement import Precision
from certify.engine.statement import Statement
from certify.release.decoding import Decoder
from certify.release.domain import Domain, Integers
from certify.release.histogram import Counts, HistogramLaw
from certify.release.instance import ReleaseInstance
from certify.release.kernels import Kernels
from certify.release.law import Law, fits_linear
from certify.release.measurements import Measurement, positive_total
from certify.release.mechanism import ResolvedMechanism, ZeroOutput, resolve_mechanism
from certify.release.parameters import MAX_PRECISION, Parameters
from certify.release.pmw import StateGraph, build_state_graph, signed_answers
from certify.release.sweep import BlockView, Neighbourhood, Sweep
from certify.release.targets import TargetTable, code_word_count
from certify.release.transcripts import TranscriptSpace
from constants.ledger import Ledger

BLOCK_BYTES = 2**27
"""Memory that the arrays of one block may take together."""

BALL_BYTES = 200
"""About what an Arb ball in an object array takes."""

BLOCK_CLASSES = 16384
"""Classes in a block where memory does not ask for fewer: two float64 arrays of this length fit in a core's cache."""


class ReleaseProblem:
    """One instance with one ledger. ``zero_output`` marks the trivial branch of Theorem 1.1; ``has_transcripts`` is
    false there, and wherever else the mechanism is not the envelope.
    """

    def __init__(self, instance: ReleaseInstance, ledger: Ledger) -> None:
        """Raises `Undetermined` where the mechanism's branch or a ceiling (J or B) cannot be decided."""
        self.instance = instance
        self.ledger = ledger
        self.domain = Domain(instance.universe, instance.query_names, instance.query_values, instance.n)
        self.mechanism = resolve_mechanism(instance, ledger)
        self.zero_output = isinstance(self.mechanism, ZeroOutput)
        self.has_transcripts = isinstance(self.mechanism, ResolvedMechanism)
        if isinstance(self.mechanism, ResolvedMechanism):
            rounds, eta, gamma = self.mechanism.rounds, self.mechanism.eta, self.mechanism.gamma
        else:
            rounds, eta, gamma = 1, _one, _one
        self.parameters = Parameters(
            ledger,
            universe_size=self.domain.universe_size,
            query_count=self.domain.query_count,
            rows=instance.n,
            rounds=rounds,
            eta=eta,
            gamma=gamma,
            epsilon=instance.epsilon.value,
        )
        self.block_width = self.parameters.block_width

    @property
    def rounds(self) -> int:
        return self.parameters.rounds

    @property
    def is_tuned(self) -> bool:
        """Whether the tuning of a rung chose the mechanism."""
        return self.mechanism.tuned is not None

    @property
    def all_databases(self) -> bool:
        return self.instance.database is None

    @cached_property
    def centres(self) -> list[int]:
        """The databases whose claims are checked, as histogram numbers."""
        if self.instance.database is None:
            return list(range(self.domain.histogram_count))
        return [self.domain.histogram_index[self.instance.database]]

    @cached_property
    def centre_counts(self) -> list[Counts]:
        """The databases whose claims are checked, as histograms."""
        if self.instance.database is not None:
            return [self.instance.database]
        return [tuple(row) for row in self.domain.histograms.tolist()]

    @cached_property
    def histogram_law(self) -> HistogramLaw:
        """The law of the noisy histogram (BC-10); its noise has the ledger's rate."""
        return HistogramLaw(
            self.domain, lambda: self.parameters.epsilon() * self.ledger.rational("better-histogram-noise-rate")
        )

    @cached_property
    def points(self) -> list[int]:
        """The centres, then (for one centre) its neighbours."""
        if self.all_databases:
            return self.centres
        return [*self.centres, *self.domain.neighbours_of(self.centres[0])]

    @cached_property
    def neighbour_pairs(self) -> list[tuple[int, int]]:
        """Ordered pairs of neighbouring points (numbers in `points`) that contain a centre."""
        position = {h: p for p, h in enumerate(self.points)}
        pairs = []
        for p in range(len(self.centres)):
            for neighbour in self.domain.neighbours_of(self.points[p]):
                pairs.append((p, position[neighbour]))
                if not self.all_databases:
                    pairs.append((position[neighbour], p))
        return pairs

    @cached_property
    def graph(self) -> StateGraph:
        return build_state_graph(self.domain, self.rounds)

    @cached_property
    def space(self) -> TranscriptSpace:
        return TranscriptSpace(self.graph)

    @cached_property
    def targets(self) -> TargetTable:
        """Dataset targets and every code family of the instance."""
        return self._targets(with_codebooks=True)

    @cached_property
    def dataset_targets(self) -> TargetTable:
        """Dataset targets alone, for statements that need no code family."""
        return self._targets(with_codebooks=False)

    @cached_property
    def code_words(self) -> int | None:
        """A bound on the targets of all code families; None where they are too many to form."""
        centres = self.domain.histogram_count if self.all_databases else 1
        return code_word_count(self.domain, self._code_lengths, centres)

    @property
    def _code_lengths(self) -> tuple[int, ...]:
        return tuple(sorted({1, *self.instance.code_lengths}))

    def _targets(self, *, with_codebooks: bool) -> TargetTable:
        radii = range(1, self.instance.n + 1)
        return TargetTable(self.domain, self.centres, self._code_lengths, radii, with_codebooks=with_codebooks)

    def quantity(self, evaluate: Callable[[], Scalar]) -> Enclosure:
        """A scalar of the instance, enclosed at 128 bits, or at the first doubling that gives it a finite ball."""
        for bits in doubling(128, MAX_PRECISION):
            with ctx.workprec(bits), suppress(Undetermined):
                value = Enclosure.of(evaluate())
                if value.width() is not None:
                    return value
        return Enclosure(None, None)

    def evidence_at(
        self,
        precision: Precision,
        statements: Sequence[Statement[Any, Any]],
        progress: Callable[[int, int], None] | None = None,
        extra: Sequence[Measurement] = (),
    ) -> Evidence:
        """Everything the statements read at one precision: one pass over the blocks serves all their measurements."""
        wanted = dict.fromkeys([*extra, *(m for statement in statements for m in statement.measurements(self))])
        return Evidence(self, precision, list(wanted), progress)


def _one() -> Scalar:
    return fmpq(1)


@dataclass(frozen=True)
class _Tables:
    eta: arb
    rate: arb
    answers: Any


class Evidence:
    """One level of evidence on a problem. `results` maps each measurement to its merged accumulators."""

    def __init__(
        self,
        problem: ReleaseProblem,
        precision: Precision,
        measurements: list[Measurement],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.problem = problem
        self.parameters = problem.parameters
        self.precision = precision
        self.array: type[CertifiedArray] = IntervalArray if precision.in_floats else BallArray
        self.table_precision = TABLE_PRECISION if precision.in_floats else precision.bits
        self.measurements = measurements
        self.results: dict[Measurement, dict[str, Any]] = {}
        if measurements:
            with ctx.workprec(self.table_precision):
                self._sweep_blocks(progress)

    @cached_property
    def targets(self) -> TargetTable:
        """The targets of this pass: with code families only where a measurement ranges over them."""
        if any(m.needs_codebooks for m in self.measurements):
            return self.problem.targets
        return self.problem.dataset_targets

    @cached_property
    def _tables(self) -> _Tables:
        with ctx.workprec(self.table_precision):
            answers = signed_answers(self.problem.domain, self.problem.graph, self.parameters.gamma())
            return _Tables(ball(self.parameters.eta()), ball(self.parameters.penalty_rate()), answers)

    @cached_property
    def kernels(self) -> Kernels[Any]:
        """Kernels over the state graph for every target, code families included where they can be formed."""
        problem, tables = self.problem, self._tables
        targets = problem.dataset_targets if problem.code_words is None else problem.targets
        with ctx.workprec(self.table_precision):
            return Kernels(self.array, problem.graph, targets, tables.eta, tables.answers)

    @cached_property
    def arithmetic(self) -> PositiveArithmetic:
        """Linear float64 where the exponent range allows it, logarithms where not, balls above float precision."""
        if not self.precision.in_floats:
            return BallArithmetic()
        fits = fits_linear(
            self.problem.rounds,
            self.problem.domain.query_count,
            self._tables.eta,
            self.targets.largest_answer(),
            self._tables.rate,
            self.problem.instance.n,
        )
        return LinearArithmetic() if fits else LogArithmetic()

    @cached_property
    def sweep(self) -> Sweep:
        problem, tables = self.problem, self._tables
        needs_balls = any(m.needs_balls for m in self.measurements)
        needs_neighbours = any(m.needs_neighbours for m in self.measurements)
        law = Law(
            problem.space,
            self.targets,
            self.arithmetic,
            eta=tables.eta,
            rate=tables.rate,
            answers=tables.answers,
        )
        decoder = Decoder(
            problem.domain,
            self.targets,
            problem.space,
            tables.answers,
            problem.centres,
            in_floats=self.precision.in_floats,
        )
        points = problem.points if needs_neighbours else problem.centres
        neighbourhood = None if problem.all_databases else Neighbourhood(problem.domain, self.targets, points)
        return Sweep(
            law,
            decoder,
            points,
            neighbourhood,
            needs_balls=needs_balls,
            block_size=self._block_size(len(points)),
        )

    def _block_size(self, points: int) -> int:
        centres, n = len(self.problem.centres), self.problem.instance.n
        rows = 4 * points + 8
        if any(m.needs_balls for m in self.measurements):
            rows += 2 * (n + 1) * centres
        if any(m.needs_codebooks for m in self.measurements):
            rows += len(self.problem.targets.codebooks)
        if self.problem.all_databases:
            rows += 2 * self.problem.domain.histogram_count
        entry = 8 if self.precision.in_floats else BALL_BYTES
        return int(max(256, min(BLOCK_CLASSES, BLOCK_BYTES // (entry * rows))))

    def _sweep_blocks(self, progress: Callable[[int, int], None] | None) -> None:
        sweep = self.sweep
        self.results = {m: m.start(sweep) for m in self.measurements}
        done, total = 0, self.problem.space.class_count
        for number, block in enumerate(self.problem.space.blocks(sweep.block_size)):
            view = BlockView(number, block, sweep)
            for measurement in self.measurements:
                measurement.reduce(view, self.results[measurement])
            done += block.size
            if progress is not None:
                progress(done, total)

    # what the statements read

    @cached_property
    def histogram_errors(self) -> list[Enclosure]:
        """The expected error of the noisy histogram for every database whose claims are checked."""
        law, in_floats = self.problem.histogram_law, self.precision.in_floats
        with ctx.workprec(self.table_precision):
            return [law.expected_error(counts, in_floats=in_floats) for counts in self.problem.centre_counts]

    def total(self, measurement: Measurement, name: str, index: tuple[int, ...]) -> arb:
        """A positive sum over transcripts, enclosed."""
        return positive_total(self.results[measurement][name], index, self._sum_bound)

    @cached_property
    def _sum_bound(self) -> Any:
        # one product with a loss or weight, and the sum over a block twice (matrix product, then its row)
        classes = self.problem.space.class_count
        return self.arithmetic.mass_bound().after(2 * self.sweep.block_size + 4, terms=classes)

    def excess(self, measurement: Measurement, index: tuple[int, ...]) -> arb:
        """A sum of nonnegative excesses from its lower and upper sums; the sum in a block rounds once per class."""
        lower = self.results[measurement]["excess_lower"].value(index)
        upper = self.results[measurement]["excess_upper"].value(index)
        if isinstance(lower, arb):
            return lower.max(arb(0))
        if upper == 0:
            return arb(0)
        slack = growth_factor(self.sweep.block_size + 8)
        return Enclosure(lower / slack, upper * slack).ball()

    def with_loss(self, measurement: Measurement, name: str, index: tuple[int, ...], mass: arb, centre: int) -> arb:
        """``sum p L`` from ``sum p v`` with ``|v - L_x| <= error``: widened by error times the mass."""
        if self.sweep.decoder.is_exactly_zero(centre):
            return arb(0)
        error = self.sweep.decoder.error[centre]
        total = self.total(measurement, name, index)
        if error == 0:
            return total
        spread = arb(error) * mass
        return (total + arb(0, 1) * spread).nonnegative_part()

    def log_ratio(self, measurement: Measurement, name: str, index: tuple[int, ...]) -> arb:
        """The logarithm of a largest ratio."""
        return self.arithmetic.log_ratio(self.results[measurement][name].value(index))

    def transcript_at(self, measurement: Measurement, name: str, index: tuple[int, ...]) -> list[str]:
        """One transcript of the class where a largest ratio was met, as signed query names."""
        pair = self._pair_at(*self.results[measurement][name].place(index))
        return [self.problem.domain.signed_name(s) for s in self.problem.space.transcript(*pair)]

    def maurey_witness(
        self, measurement: Measurement, index: tuple[int, ...], distances: Integers, radius: int
    ) -> dict[str, Any]:
        """The transcript of a largest Maurey ratio, and a database of the ball that is likeliest there (a guide)."""
        number, position = self.results[measurement]["ratio"].place(index)
        law, targets = self.sweep.law, self.targets
        i, j = self._pair_at(number, position)
        inside = np.flatnonzero(distances <= radius)
        rows = targets.of_histogram[inside]
        values = self.arithmetic.combine(law.prefix[rows, i], law.suffix[rows, j])
        likeliest = int(inside[int(np.argmax(self.arithmetic.guides(values)))])
        names = [self.problem.domain.signed_name(s) for s in self.problem.space.transcript(i, j)]
        return {"rival": self.problem.domain.database(likeliest), "transcript": names}

    def _pair_at(self, number: int, position: int) -> tuple[int, int]:
        for i, block in enumerate(self.problem.space.blocks(self.sweep.block_size)):
            if i == number:
                return block.pair(position)
        raise AssertionError("a place names a block of the partition")

    def transcript_in_group(self, group: int) -> list[str]:
        """One transcript of a set that decodes from the same states, as signed query names."""
        for number, block in enumerate(self.problem.space.blocks(self.sweep.block_size)):
            places = np.flatnonzero(self.sweep.answer_groups.of_block(number) == group)
            if len(places):
                pair = block.pair(int(places[0]))
                return [self.problem.domain.signed_name(s) for s in self.problem.space.transcript(*pair)]
        raise AssertionError("every group has a member")

    def normaliser(self, measurement: Measurement, point: int) -> arb:
        """``Z_x = 1 + excess``: the base law has mass one, and no excess is exactly one (§4)."""
        return 1 + self.excess(measurement, (point,))
