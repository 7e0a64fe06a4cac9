"""The interface between a selection algorithm and whoever answers it: the SVT, an exact law, or an adversary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flint import fmpq


class StreamClosed(Exception):
    """The stream has answered yes, and answers no more."""


class ThresholdStream(Protocol):
    """One stream: it answers until its first yes. Candidates are indices 0, ..., d-1."""

    def query(self, candidate: int, threshold: fmpq) -> bool:
        """Whether the candidate's score is, up to the stream's error, above the threshold; yes closes the stream.

        Raises StreamClosed after a yes.
        """
        ...

    def first_yes(self, candidates: Sequence[int], threshold: fmpq) -> int | None:
        """The position in `candidates` of the first that is answered yes, all asked in turn; None if none is."""
        ...


class ThresholdOracle(Protocol):
    """Opens streams."""

    def open_stream(self, epsilon: fmpq) -> ThresholdStream:
        """A new stream with budget `epsilon`, charged at once."""
        ...


class SequentialStream(ABC):
    """A stream that is given by single answers."""

    def __init__(self) -> None:
        self._closed = False

    @abstractmethod
    def answer(self, candidate: int, threshold: fmpq) -> bool:
        """The answer while the stream is open."""

    def query(self, candidate: int, threshold: fmpq) -> bool:
        """See `ThresholdStream.query`."""
        if self._closed:
            raise StreamClosed("the stream is closed by its yes: open a new one")
        self._closed = self.answer(candidate, threshold)
        return self._closed

    def first_yes(self, candidates: Sequence[int], threshold: fmpq) -> int | None:
        """See `ThresholdStream.first_yes`."""
        return next((i for i, each in enumerate(candidates) if self.query(each, threshold)), None)


@dataclass(frozen=True, slots=True)
class Usage:
    """What an algorithm asked for: SVT queries answered, streams opened, and the sum of the streams' budgets."""

    queries: int
    streams: int
    epsilon: fmpq


class Meter:
    """An oracle that passes everything on and counts it."""

    def __init__(self, oracle: ThresholdOracle) -> None:
        self._oracle = oracle
        self._queries = 0
        self._streams = 0
        self._epsilon = fmpq(0)

    def open_stream(self, epsilon: fmpq) -> ThresholdStream:
        """See `ThresholdOracle.open_stream`."""
        stream = self._oracle.open_stream(epsilon)
        self._streams += 1
        self._epsilon += epsilon
        return _MeteredStream(stream, self)

    def count(self, queries: int) -> None:
        """Add to the queries."""
        self._queries += queries

    @property
    def usage(self) -> Usage:
        """The counts so far."""
        return Usage(self._queries, self._streams, self._epsilon)


class _MeteredStream:
    def __init__(self, stream: ThresholdStream, meter: Meter) -> None:
        self._stream = stream
        self._meter = meter

    def query(self, candidate: int, threshold: fmpq) -> bool:
        answer = self._stream.query(candidate, threshold)
        self._meter.count(1)
        return answer

    def first_yes(self, candidates: Sequence[int], threshold: fmpq) -> int | None:
        position = self._stream.first_yes(candidates, threshold)
        self._meter.count(len(candidates) if position is None else position + 1)
        return position
