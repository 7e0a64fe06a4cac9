"""One block of transcript classes, with everything that a measurement may ask of it, computed when first asked.

Centres are the databases x whose claims are checked (the instance's own, or all of them); points are the
databases whose envelopes are needed: the centres and, for one centre, its neighbours. All arrays have
transcripts contiguous in the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certify.release.decoding import Decoder
from certify.release.domain import Domain, Integers
from certify.release.law import Law
from certify.release.targets import TargetTable
from certify.release.transcripts import AnswerGroups, Block

Raw = NDArray[Any]

BATCH_ROWS = 8
"""Targets multiplied out at a time: enough to hide numpy's call overhead, few enough to stay in cache."""


@dataclass(frozen=True)
class TargetGroup:
    """Dataset targets at the same distances from every point: ``distances[p]`` for point p."""

    rows: Integers
    distances: tuple[int, ...]


class Neighbourhood:
    """Distances from the points, for one centre: groups of targets, ordered by distance from the centre.

    A group's offsets ``distance from point p - distance from the centre`` lie in {-1, 0, 1}, so that one
    penalised maximum per pattern of offsets serves every point.
    """

    def __init__(self, domain: Domain, targets: TargetTable, points: list[int]) -> None:
        distances = np.stack([domain.distances_from(domain.histograms[p]) for p in points])
        least = np.full((len(points), targets.dataset_count), domain.rows + 1, dtype=np.int64)
        for p in range(len(points)):
            np.minimum.at(least[p], targets.of_histogram, distances[p])
        keys: dict[tuple[int, ...], list[int]] = {}
        for row, column in enumerate(least.T.tolist()):
            keys.setdefault(tuple(column), []).append(row)
        self.groups = [TargetGroup(np.array(keys[key], dtype=np.int64), key) for key in sorted(keys)]
        self.least = least


class BlockView:
    """The likelihoods of one block, seen from the centres and points. Raw arrays of the law's arithmetic."""

    def __init__(self, number: int, block: Block, sweep: Sweep) -> None:
        self.number = number
        self.block = block
        self.sweep = sweep
        self.arithmetic = sweep.law.arithmetic

    def loss(self, centre: int) -> Raw:
        """``L_x`` for centre number ``centre``, shape (B,)."""
        if centre not in self._losses:
            self._losses[centre] = self.sweep.decoder.loss(self.block, centre)
        return self._losses[centre]

    @cached_property
    def _losses(self) -> dict[int, Raw]:
        return {}

    @property
    def own(self) -> Raw:
        """``p_x`` for every point, shape (points, B)."""
        return self._own_and_rival[0]

    @property
    def rival(self) -> Raw:
        """``max_{y != x} e^{-eps d(x,y)/2} p_y`` for every point, shape (points, B); -inf-like where there is no y.

        Multiples ``e^{-eps d/2} p_x`` with d >= 1 (of x itself, or of a y that answers alike) may be in it or
        not: they never exceed ``p_x``.
        """
        return self._own_and_rival[1]

    @cached_property
    def envelope(self) -> Raw:
        """``p~_x = max(p_x, rival)`` for every point, shape (points, B) (§4)."""
        return np.asarray(self.arithmetic.maximum(self.own, self.rival))

    @cached_property
    def balls(self) -> Raw:
        """``H_R`` for R = 0..n and every centre, shape (n + 1, centres, B) (§6)."""
        if self.sweep.neighbourhood is None:
            return self._balls_everywhere()
        return self._balls_of_centre()

    @cached_property
    def _own_and_rival(self) -> tuple[Raw, Raw]:
        if self.sweep.neighbourhood is None:
            return self._own_and_rival_everywhere()
        if len(self.sweep.points) == 1 and not self.sweep.needs_balls:
            return self._own_and_rival_direct()
        return self._grouped[:2]

    # one centre

    def group_maxima(self) -> Iterator[tuple[TargetGroup, Raw]]:
        """``max p_y`` over each group of targets; the array is reused by the next group."""
        assert self.sweep.neighbourhood is not None
        buffer = self.sweep.buffer(self.block.size)
        spare = np.empty(self.block.size, dtype=buffer.dtype)
        for group in self.sweep.neighbourhood.groups:
            peak: Raw | None = None
            for start in range(0, len(group.rows), BATCH_ROWS):
                rows = group.rows[start : start + BATCH_ROWS]
                filled = self.sweep.law.fill(self.block, rows, buffer[: len(rows), : self.block.size])
                if len(rows) == 1 and peak is None:
                    peak = filled[0]
                    continue
                top = self.arithmetic.maximum.reduce(filled, axis=0)
                peak = top if peak is None else self.arithmetic.maximum(peak, top, out=spare)
            assert peak is not None
            yield group, peak

    def _own_and_rival_direct(self) -> tuple[Raw, Raw]:
        """The envelope of one x alone, with the penalty folded into the prefix table: one product, one maximum."""
        law, block = self.sweep.law, self.block
        maximum, combine = self.arithmetic.maximum, self.arithmetic.combine
        prefix = self.sweep.penalised_prefix
        own_row = int(self.sweep.law.targets.of_histogram[self.sweep.points[0]])
        own = law.fill(block, np.array([own_row]), self._empty(1))
        rival = self._nothing((1, block.size))[0]
        buffer = self.sweep.buffer(block.size)
        rows = np.array([r for r in range(law.targets.dataset_count) if r != own_row], dtype=np.int64)
        for start in range(0, len(rows), BATCH_ROWS):
            batch = rows[start : start + BATCH_ROWS]
            filled = buffer[: len(batch), : block.size]
            for segment in block.segments:
                view = filled[:, segment.offset : segment.offset + segment.size].reshape(len(batch), *segment.shape)
                left = prefix[batch, segment.first : segment.last]
                right = law.suffix[batch, segment.suffix_first : segment.suffix_last]
                combine(left[:, :, None], right[:, None, :], out=view)
            for row in filled:
                maximum(rival, row, out=rival)
        return own, rival[None, :]

    @cached_property
    def _grouped(self) -> tuple[Raw, Raw, Raw]:
        """own, rival (points, B) and the maxima by exact distance from the centre (n + 1, B)."""
        assert self.sweep.neighbourhood is not None
        combine, maximum = self.arithmetic.combine, self.arithmetic.maximum
        penalties = self.sweep.law.penalties
        points = len(self.sweep.points)
        own = self._empty(points)
        rival = self._nothing((points, self.block.size))
        shells = self._nothing((self.sweep.rows + 1 if self.sweep.needs_balls else 0, self.block.size))
        patterns: dict[tuple[int, ...], Raw] = {}
        for group, peak in self.group_maxima():
            d = group.distances[0]
            if self.sweep.needs_balls:
                maximum(shells[d], peak, out=shells[d])
            itself = [p for p, distance in enumerate(group.distances) if distance == 0]
            for p in itself:
                own[p] = peak
            penalised = combine(peak, penalties[d])
            if itself:
                for p, distance in enumerate(group.distances):
                    if distance > 0:
                        maximum(rival[p], combine(peak, penalties[distance]), out=rival[p])
                continue
            offsets = tuple(distance - d for distance in group.distances)
            if offsets in patterns:
                maximum(patterns[offsets], penalised, out=patterns[offsets])
            else:
                patterns[offsets] = penalised
        gain = self.arithmetic.ratio(penalties[:1], penalties[1:2])[0]
        for offsets, peak in patterns.items():
            shifted = {-1: None, 0: peak, 1: None}
            for p, offset in enumerate(offsets):
                if shifted[offset] is None:
                    shifted[offset] = combine(peak, gain if offset < 0 else penalties[1])
                maximum(rival[p], shifted[offset], out=rival[p])
        return own, rival, shells

    def _balls_of_centre(self) -> Raw:
        shells = self._grouped[2]
        balls = np.empty_like(shells)
        balls[0] = shells[0]
        for radius in range(1, len(shells)):
            self.arithmetic.maximum(balls[radius - 1], shells[radius], out=balls[radius])
        return balls[:, None, :]

    # every database

    @cached_property
    def _likelihoods(self) -> Raw:
        """``p_y`` for every histogram, shape (histograms, B)."""
        targets = self.sweep.law.targets
        rows = np.arange(targets.dataset_count, dtype=np.int64)
        values = self.sweep.law.fill(self.block, rows, self._empty(targets.dataset_count))
        return values[targets.of_histogram]

    def _own_and_rival_everywhere(self) -> tuple[Raw, Raw]:
        """Directional max-plus sweeps: one in each direction d -> d', any number of rows moved, gives every envelope.

        From h to h' move rows from surplus to deficit, direction by direction: no intermediate leaves the
        simplex, and the moves add to ``d(h, h')``, so whatever the order of the directions each p_y reaches
        each x.
        """
        own = self._likelihoods
        combine, maximum = self.arithmetic.combine, self.arithmetic.maximum
        penalty = self.sweep.law.penalties[1]
        swept = own.copy()
        for direction in self.sweep.directions:
            for source, sink in direction:
                swept[sink] = maximum(swept[sink], combine(swept[source], penalty))
        rival = self._nothing(own.shape)
        for source, sink in self.sweep.steps:
            rival[sink] = maximum(rival[sink], combine(swept[source], penalty))
        return own, rival

    def _balls_everywhere(self) -> Raw:
        balls = np.empty((self.sweep.rows + 1, *self._likelihoods.shape), dtype=self.arithmetic.dtype)
        balls[0] = self._likelihoods
        for radius in range(1, self.sweep.rows + 1):
            balls[radius] = balls[radius - 1]
            for source, sink in self.sweep.steps:
                balls[radius, sink] = self.arithmetic.maximum(balls[radius, sink], balls[radius - 1, source])
        return balls

    def codebook(self, centre: int, radius: int, code_length: int) -> Raw:
        """``max_v p_v`` over V_{x,R,m}, shape (B,) (§5)."""
        key = (self.sweep.points[centre], radius, code_length)
        if key not in self._codebooks:
            rows = self.sweep.law.targets.codebooks[key].rows
            buffer = self.sweep.buffer(self.block.size)
            peak: Raw | None = None
            for start in range(0, len(rows), BATCH_ROWS):
                batch = rows[start : start + BATCH_ROWS]
                filled = self.sweep.law.fill(self.block, batch, buffer[: len(batch), : self.block.size])
                top = self.arithmetic.maximum.reduce(filled, axis=0)
                peak = top if peak is None else self.arithmetic.maximum(peak, top)
            assert peak is not None
            self._codebooks[key] = peak
        return self._codebooks[key]

    @cached_property
    def _codebooks(self) -> dict[tuple[int, int, int], Raw]:
        return {}

    def _empty(self, rows: int) -> Raw:
        return np.empty((rows, self.block.size), dtype=self.arithmetic.dtype)

    def _nothing(self, shape: tuple[int, ...]) -> Raw:
        """A raw array below every likelihood: the maximum over no target."""
        return np.full(shape, self.arithmetic.nothing, dtype=self.arithmetic.dtype)


class Sweep:
    """What the blocks of one pass share: the law, the decoder, and the geometry of distances.

    With ``neighbourhood`` None the centres are all histograms, in their order, and so are the points.
    """

    def __init__(
        self,
        law: Law,
        decoder: Decoder,
        points: list[int],
        neighbourhood: Neighbourhood | None,
        *,
        needs_balls: bool,
        block_size: int,
    ) -> None:
        self.block_size = block_size
        self.law = law
        self.decoder = decoder
        self.domain = law.targets.domain
        self.rows = self.domain.rows
        self.points = points
        self.neighbourhood = neighbourhood
        self.needs_balls = needs_balls
        if neighbourhood is None:
            law.allow_chained_penalties(len(self.directions) * self.rows + 1)

    @property
    def centre_count(self) -> int:
        return len(self.points) if self.neighbourhood is None else 1

    @cached_property
    def penalised_prefix(self) -> Raw:
        """The prefix table with ``e^{-eps d(x, y)/2}`` folded in, for the first point."""
        assert self.neighbourhood is not None
        distances = self.neighbourhood.least[0]
        penalties = self.law.penalties[distances][:, None]
        return np.asarray(self.law.arithmetic.combine(self.law.prefix[: len(distances)], penalties))

    def buffer(self, size: int) -> Raw:
        """Scratch space for `BATCH_ROWS` rows of a block, reused."""
        if self._buffer.shape[1] < size:
            self._buffer = np.empty((BATCH_ROWS, size), dtype=self.law.arithmetic.dtype)
        return self._buffer

    @cached_property
    def _buffer(self) -> Raw:
        return np.empty((BATCH_ROWS, 0), dtype=self.law.arithmetic.dtype)

    @cached_property
    def answer_groups(self) -> AnswerGroups:
        """Which classes decode from the same states."""
        return AnswerGroups(self.law.space, self.block_size)

    @cached_property
    def steps(self) -> list[tuple[Integers, Integers]]:
        """For each direction d -> d': the histograms that have a row in d, and where moving it leads."""
        return [
            (np.concatenate([s for s, _ in chain]), np.concatenate([t for _, t in chain])) for chain in self.directions
        ]

    @cached_property
    def directions(self) -> list[list[tuple[Integers, Integers]]]:
        """For each direction d -> d': source and sink histograms, in batches of falling count in d.

        Taken in this order a value can travel along its whole line in one sweep.
        """
        size, index = self.domain.universe_size, self.domain.histogram_index
        histograms = self.domain.histograms
        found = []
        for d in range(size):
            for e in range(size):
                if d == e:
                    continue
                chain = []
                for count in range(self.rows, 0, -1):
                    source = np.flatnonzero(histograms[:, d] == count)
                    moved = histograms[source].copy()
                    moved[:, d] -= 1
                    moved[:, e] += 1
                    sink = np.array([index[tuple(row)] for row in moved.tolist()], dtype=np.int64)
                    chain.append((source, sink))
                found.append(chain)
        return found
