"""What the statements of the release paper measure over transcript blocks: sums and maxima, each mergeable.

A measurement is a frozen value (its parameters). ``start`` makes an empty accumulator, ``reduce`` adds one
block, accumulators merge. What the sums and maxima mean is said here once; the statements only compare
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from certify.arithmetic.arrays import IntervalArray
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.positive import BallArithmetic, PositiveArithmetic, RelativeBound
from certify.arithmetic.rounding import ENTRY_ROUNDINGS
from certify.arithmetic.scalar import Scalar
from certify.engine.accumulators import ExactSum, Largest
from certify.release.sweep import BlockView, Sweep

Raw = NDArray[Any]


class Measurement(ABC):
    """One quantity measured over all transcripts. The class attributes say what the sweep must provide."""

    needs_balls: ClassVar[bool] = False
    needs_neighbours: ClassVar[bool] = False
    needs_codebooks: ClassVar[bool] = False

    @abstractmethod
    def start(self, sweep: Sweep) -> dict[str, Any]:
        """Empty accumulators by name."""

    @abstractmethod
    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        """Add one block."""


def merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    """Merge the accumulators of another set of blocks."""
    for name, accumulator in into.items():
        accumulator.merge(other[name])


def _sum(sweep: Sweep, *shape: int) -> ExactSum:
    return ExactSum(shape, balls=isinstance(sweep.law.arithmetic, BallArithmetic))


def _largest(sweep: Sweep, *shape: int) -> Largest:
    return Largest(shape, balls=isinstance(sweep.law.arithmetic, BallArithmetic))


def _excess_bounds(arithmetic: PositiveArithmetic, over: Raw, base: Raw) -> tuple[Raw, Raw]:
    """Lower and upper bounds of ``sum max(over - base, 0)`` along the last axis; exactly 0 where over < base is sure.

    Float lemma: with truth in ``[v/F, vF]`` and G a double at least ``F (1 + 8u)``, ``over*G - base/G``
    computed in floats and widened by ``1 + 8u`` bounds each positive difference from above, ``over/G -
    base*G`` from below. Where small masses count as 0, `_FLUSHED` is more than twice what one may lose.
    """
    clear = arithmetic.surely_below(over, base)
    if bool(np.all(clear)):
        zero: Raw = np.zeros(clear.shape[:-1]) if arithmetic.dtype != object else _ball_zeros(clear.shape[:-1])
        return zero, zero
    high, low = arithmetic.masses(over), arithmetic.masses(base)
    if isinstance(arithmetic, BallArithmetic):
        zero_ball = arb(0)
        positive = np.frompyfunc(lambda d, is_clear: zero_ball if is_clear else d.max(zero_ball), 2, 1)
        excess = np.add.reduce(positive(high - low, clear), axis=-1)
        return excess, excess
    bound = arithmetic.mass_bound()
    grow = float(np.nextafter(float(arb(bound.factor).upper()), np.inf)) * (1 + 2.0**-49)
    widen = 1 + 2.0**-49
    floor = _FLUSHED if bound.absolute else 0.0
    upper = np.where(clear, 0.0, np.maximum(high * grow - low / grow, 0.0) * widen + floor)
    lower = np.where(clear, 0.0, np.maximum((high / grow - low * grow) / widen - floor, 0.0))
    return lower.sum(axis=-1), upper.sum(axis=-1)


_FLUSHED = 2.0**-990


def _ball_zeros(shape: tuple[int, ...]) -> Raw:
    return np.full(shape, arb(0), dtype=object)


@dataclass(frozen=True)
class EnvelopeMass(Measurement):
    """``Z_x - 1`` for every point, and ``sum p~_x L_x`` for every centre."""

    def start(self, sweep: Sweep) -> dict[str, Any]:
        points = len(sweep.points)
        return {
            "excess_lower": _sum(sweep, points),
            "excess_upper": _sum(sweep, points),
            "loss": _sum(sweep, sweep.centre_count),
        }

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        lower, upper = _excess_bounds(view.arithmetic, view.rival, view.own)
        into["excess_lower"].add(lower)
        into["excess_upper"].add(upper)
        for centre in range(view.sweep.centre_count):
            masses = view.arithmetic.masses(view.envelope[centre])
            into["loss"].add((masses * view.loss(centre)).sum(), (centre,))


@dataclass(frozen=True)
class LossBeyond(Measurement):
    """Bounds of ``sum p~_x (L_x - t)_+`` for every centre, where `threshold` gives ``t >= 0`` (BC-1)."""

    threshold: Callable[[], Scalar]

    def start(self, sweep: Sweep) -> dict[str, Any]:
        return {"lower": _sum(sweep, sweep.centre_count), "upper": _sum(sweep, sweep.centre_count)}

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        threshold = arb(self.threshold())
        for centre in range(view.sweep.centre_count):
            masses = view.arithmetic.masses(view.envelope[centre])
            lower, upper = _beyond(view.loss(centre), view.sweep.decoder.error[centre], threshold)
            into["lower"].add((masses * lower).sum(), (centre,))
            into["upper"].add((masses * upper).sum(), (centre,))


def _beyond(loss: Raw, error: fmpq, threshold: arb) -> tuple[Raw, Raw]:
    """Bounds of ``(L - t)_+`` for losses within ``error`` of the values given: each float step is rounded outward."""
    if loss.dtype == object:
        balls = np.frompyfunc(lambda v: (v - threshold).max(arb(0)), 1, 1)(loss)
        return balls, balls
    low = float(np.nextafter(float((threshold - arb(error)).lower()), -np.inf))
    high = float(np.nextafter(float((threshold + arb(error)).upper()), np.inf))
    return np.maximum(np.nextafter(loss - high, -np.inf), 0.0), np.maximum(np.nextafter(loss - low, np.inf), 0.0)


@dataclass(frozen=True)
class BallMass(Measurement):
    """``sum H_R - 1`` and ``sum H_R L_x`` for R = 1..n and every centre."""

    needs_balls = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        shape = (sweep.rows + 1, sweep.centre_count)
        return {
            "excess_lower": _sum(sweep, *shape),
            "excess_upper": _sum(sweep, *shape),
            "loss": _sum(sweep, *shape),
        }

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        for centre in range(view.sweep.centre_count):
            balls = view.balls[1:, centre]
            lower, upper = _excess_bounds(view.arithmetic, balls, view.own[centre])
            index = (slice(1, None), centre)
            into["excess_lower"].add(lower, index)
            into["excess_upper"].add(upper, index)
            into["loss"].add((view.arithmetic.masses(balls) * view.loss(centre)).sum(axis=-1), index)


@dataclass(frozen=True)
class BallLossBeyond(Measurement):
    """Bounds of ``sum H_R phi`` for R = 1..n and of ``sum p_x phi^2``, for every centre, where ``phi = (L_x - t)_+``.

    `threshold` encloses ``t >= 0``. ``possible`` counts the classes where phi may be positive; the others add 0.
    """

    threshold: Enclosure
    needs_balls = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        balls, own = (sweep.rows + 1, sweep.centre_count), (sweep.centre_count,)
        shapes = {"lower": balls, "upper": balls, "square_lower": own, "square_upper": own, "possible": own}
        return {name: _sum(sweep, *shape) for name, shape in shapes.items()}

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        decoder, threshold = view.sweep.decoder, self.threshold.ball()
        for centre in range(view.sweep.centre_count):
            if decoder.is_exactly_zero(centre):
                continue
            lower, upper = _beyond(view.loss(centre), decoder.error[centre], threshold)
            positive = np.asarray(~(upper <= 0.0) if upper.dtype != object else _may_be_positive(upper)).astype(bool)
            if not np.any(positive):
                continue
            lower, upper = lower[positive], upper[positive]
            balls = view.arithmetic.masses(view.balls[1:, centre][:, positive])
            own = view.arithmetic.masses(view.own[centre][positive])
            index = (slice(1, None), centre)
            for name, value in (("lower", lower), ("upper", upper)):
                into[name].add((balls * value).sum(axis=-1), index)
                into[f"square_{name}"].add((own * (value * value)).sum(), (centre,))
            count = int(positive.sum())
            into["possible"].add(arb(count) if upper.dtype == object else float(count), (centre,))


_may_be_positive = np.frompyfunc(lambda value: not value <= 0, 1, 1)


@dataclass(frozen=True)
class TargetMoments(Measurement):
    """``E_{P_a} L_x`` and ``E_{P_a} L_x^2`` for every centre and every target, code families included."""

    needs_codebooks = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        shape = (sweep.centre_count, len(sweep.law.targets))
        return {"first": _sum(sweep, *shape), "second": _sum(sweep, *shape)}

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        for centre in range(view.sweep.centre_count):
            loss = view.loss(centre)
            into["first"].add(_expectations(view, loss), (centre,))
            into["second"].add(_expectations(view, loss * loss), (centre,))


def _expectations(view: BlockView, values: Raw) -> Raw:
    """``sum_omega p_a values`` for every target, by one matrix product a segment where the masses are products."""
    law, arithmetic = view.sweep.law, view.arithmetic
    count = len(law.targets)
    if arithmetic.combine is np.multiply:
        total: Raw | None = None
        for segment in view.block.segments:
            weights = values[segment.offset : segment.offset + segment.size].reshape(segment.shape)
            folded = law.prefix[:, segment.first : segment.last] @ weights
            part = (folded * law.suffix[:, segment.suffix_first : segment.suffix_last]).sum(axis=1)
            total = part if total is None else total + part
        assert total is not None
        return total
    result = np.empty(count)
    buffer = np.empty((1, view.block.size), dtype=arithmetic.dtype)
    for row in range(count):
        filled = law.fill(view.block, np.array([row]), buffer)
        result[row] = (arithmetic.masses(filled[0]) * values).sum()
    return result


@dataclass(frozen=True)
class PrivacyRatio(Measurement):
    """``max_omega p~_a / p~_b`` for every ordered pair of neighbouring points, as given."""

    pairs: tuple[tuple[int, int], ...]
    needs_neighbours = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        return {"ratio": _largest(sweep, len(self.pairs))}

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        for i, (a, b) in enumerate(self.pairs):
            ratio = view.arithmetic.ratio(view.envelope[a], view.envelope[b])
            into["ratio"].add(ratio, view.number, (i,))


@dataclass(frozen=True)
class MaureyRatio(Measurement):
    """``max_omega H_R / max_v p_v`` over V_{x,R,m}, for every m given, R = 1..n and every centre."""

    code_lengths: tuple[int, ...]
    needs_balls = True
    needs_codebooks = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        return {"ratio": _largest(sweep, len(self.code_lengths), sweep.rows, sweep.centre_count)}

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        for i, m in enumerate(self.code_lengths):
            for radius in range(1, view.sweep.rows + 1):
                for centre in range(view.sweep.centre_count):
                    ratio = view.arithmetic.ratio(view.balls[radius, centre], view.codebook(centre, radius, m))
                    into["ratio"].add(ratio, view.number, (i, radius - 1, centre))


@dataclass(frozen=True)
class CodebookMass(Measurement):
    """``sum max_v p_v`` and ``sum max_v p_v L_x`` over V_{x,R,1} for the radii given, and ``E_{P_x} L_x^{r/(r-1)}``.

    ``orders[i]`` is the order r >= 2 that goes with ``radii[i]``.
    """

    radii: tuple[int, ...]
    orders: tuple[int, ...]
    needs_codebooks = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        shape = (len(self.radii), sweep.centre_count)
        distinct = len(set(self.orders))
        return {
            "mass": _sum(sweep, *shape),
            "loss": _sum(sweep, *shape),
            "power_lower": _sum(sweep, distinct, sweep.centre_count),
            "power_upper": _sum(sweep, distinct, sweep.centre_count),
        }

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        arithmetic = view.arithmetic
        for centre in range(view.sweep.centre_count):
            loss = view.loss(centre)
            for i, radius in enumerate(self.radii):
                masses = arithmetic.masses(view.codebook(centre, radius, 1))
                into["mass"].add(masses.sum(), (i, centre))
                into["loss"].add((masses * loss).sum(), (i, centre))
            own = arithmetic.masses(view.own[centre])
            for i, order in enumerate(sorted(set(self.orders))):
                lower, upper = _powers(loss, view.sweep.decoder.error[centre], order)
                into["power_lower"].add((own * lower).sum(), (i, centre))
                into["power_upper"].add((own * upper).sum(), (i, centre))


def _powers(loss: Raw, error: fmpq, order: int) -> tuple[Raw, Raw]:
    """Bounds of ``L^b``, b = r/(r-1) in (1, 2], for losses within ``error`` of the values given."""
    if loss.dtype == object:
        power = np.frompyfunc(lambda v: v.nonnegative_part() ** arb(fmpq(order, order - 1)), 1, 1)
        balls = power(loss) if order > 2 else loss * loss
        return balls, balls
    slack = float(np.nextafter(float(arb(error).upper()), np.inf)) if error else 0.0
    values = IntervalArray(np.maximum(np.nextafter(loss - slack, -np.inf), 0.0), np.nextafter(loss + slack, np.inf))
    exponent = IntervalArray.constant(fmpq(order, order - 1))
    powers = (values.log() * exponent).exp()
    # log of a lower end 0 is -inf and exp brings it back to 0; the upper end stays positive.
    return np.maximum(powers.lower, 0.0), powers.upper


@dataclass(frozen=True)
class BlockTerm:
    """``sum_{i < count} exp(-lambda (first + i step))`` times ``H_R``, R <= n; first and step are distances."""

    first: fmpq
    step: fmpq
    count: int
    radius: int

    def logarithm(self, rate: arb) -> arb:
        if self.count == 1:
            return -rate * self.first
        ratio = (-rate * self.step).expm1()
        whole = (-rate * self.step * self.count).expm1()
        return -rate * self.first + (whole / ratio).log()


@dataclass(frozen=True)
class BlockRatio(Measurement):
    """``max_omega p~_x / (p_x + sum of the terms)`` for every centre (§7); not measured in logarithms."""

    terms: tuple[BlockTerm, ...]
    needs_balls = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        return {"ratio": _largest(sweep, sweep.centre_count)}

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        arithmetic, law = view.arithmetic, view.sweep.law
        if arithmetic.combine is not np.multiply:
            return
        logs = np.array([term.logarithm(law.rate) for term in self.terms], dtype=object)
        weights = arithmetic.entries(logs)
        for centre in range(view.sweep.centre_count):
            bound = view.own[centre]
            for weight, term in zip(weights, self.terms, strict=True):
                bound = bound + weight * view.balls[term.radius, centre]
            into["ratio"].add(arithmetic.ratio(view.envelope[centre], bound), view.number, (centre,))

    @property
    def roundings(self) -> int:
        """Roundings of the right side beyond those of a likelihood."""
        return ENTRY_ROUNDINGS + 1 + len(self.terms)


@dataclass(frozen=True)
class AnswerLaw(Measurement):
    """``sum p~_x`` over each set of transcripts that decode from the same states, for every point."""

    needs_neighbours = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        return {"mass": _sum(sweep, len(sweep.points), sweep.answer_groups.count)}

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        groups = view.sweep.answer_groups.of_block(view.number)
        local, inverse = np.unique(groups, return_inverse=True)
        for point in range(len(view.sweep.points)):
            masses = view.arithmetic.masses(view.envelope[point])
            sums = np.zeros(len(local), dtype=masses.dtype)
            np.add.at(sums, inverse, masses)
            into["mass"].add(sums, (point, local))


@dataclass(frozen=True)
class ErrorPattern(Measurement):
    """The law of one copy at ``eps / copies`` by pattern of errors (§9), for every centre.

    A pattern says of each query that is not constant whether its answer errs by more than ``threshold``
    below (0), not at all (1), or above (2); ``mass[pattern]`` sums the envelope at the smaller epsilon,
    ``unclear`` the classes where the loss cannot be told from the threshold. ``excess`` is Z - 1 at the
    smaller epsilon.
    """

    copies: int
    threshold_text: str
    threshold: Callable[[], Scalar]
    needs_balls = True

    def start(self, sweep: Sweep) -> dict[str, Any]:
        patterns = 3 ** len(sweep.decoder.queries)
        return {
            "mass": _sum(sweep, sweep.centre_count, patterns),
            "unclear": _sum(sweep, sweep.centre_count),
            "excess_lower": _sum(sweep, sweep.centre_count),
            "excess_upper": _sum(sweep, sweep.centre_count),
        }

    def reduce(self, view: BlockView, into: dict[str, Any]) -> None:
        arithmetic, law = view.arithmetic, view.sweep.law
        penalties = law.penalty_entries(fmpq(1, self.copies))
        for centre in range(view.sweep.centre_count):
            balls = view.balls[:, centre]
            rival = arithmetic.combine(balls[1], penalties[1])
            for radius in range(2, len(balls)):
                arithmetic.maximum(rival, arithmetic.combine(balls[radius], penalties[radius]), out=rival)
            lower, upper = _excess_bounds(arithmetic, rival, view.own[centre])
            into["excess_lower"].add(lower, (centre,))
            into["excess_upper"].add(upper, (centre,))
            masses = arithmetic.masses(arithmetic.maximum(rival, view.own[centre]))
            patterns, clear = self._patterns(view, centre)
            for pattern in np.unique(patterns[clear]):
                into["mass"].add(masses[clear & (patterns == pattern)].sum(), (centre, int(pattern)))
            if not np.all(clear):
                into["unclear"].add(masses[~clear].sum(), (centre,))

    def _patterns(self, view: BlockView, centre: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        deviations = view.sweep.decoder.deviations(view.block, centre)
        pattern = np.zeros(view.block.size, dtype=np.int64)
        clear = np.ones(view.block.size, dtype=bool)
        if view.sweep.decoder.is_exactly_zero(centre):
            return pattern + (3 ** len(deviations) - 1) // 2, clear
        threshold = arb(self.threshold())
        if deviations.dtype == object:
            above = np.frompyfunc(lambda v: v > threshold, 1, 1)(deviations).astype(bool)
            below = np.frompyfunc(lambda v: v < -threshold, 1, 1)(deviations).astype(bool)
            within = np.frompyfunc(lambda v: abs(v) <= threshold, 1, 1)(deviations).astype(bool)
        else:
            slack = float(arb(view.sweep.decoder.error[centre]).upper()) * 2
            high = float(np.nextafter(float(threshold.upper()), np.inf)) + slack
            low = float(np.nextafter(float(threshold.lower()), -np.inf)) - slack
            above, below, within = deviations > high, deviations < -high, np.abs(deviations) <= low
        for q in range(len(deviations)):
            clear &= above[q] | below[q] | within[q]
            pattern = 3 * pattern + np.where(above[q], 2, np.where(below[q], 0, 1))
        return pattern, clear


def positive_total(total: ExactSum, index: tuple[int, ...], bound: RelativeBound) -> arb:
    """The true sum behind an exact sum of float64 block sums that each obey ``bound``; a ball of Arb as it is."""
    value = total.value(index)
    if isinstance(value, arb):
        return value
    return Enclosure(value / bound.factor - bound.absolute, value * bound.factor + bound.absolute).ball()
