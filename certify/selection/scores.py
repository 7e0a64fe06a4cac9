"""The curator's side of a query: per-user values clipped to [0,1] and summed, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from certify.selection.parameters import Exact, rational

MAX_VECTOR_SUM = 2**60
"""Sums up to this size are also kept as an int64 array."""

_ZERO, _ONE = fmpq(0), fmpq(1)

Query_contra = TypeVar("Query_contra", contravariant=True)
Record = TypeVar("Record")


class Scores(Protocol[Query_contra]):
    """Private data that can sum a query over its users."""

    def total(self, query: Query_contra) -> fmpq:
        """The sum of the query's clipped values over all users."""
        ...


def clip(value: fmpq) -> fmpq:
    """The nearest number in [0,1]."""
    return min(max(value, _ZERO), _ONE)


@dataclass(frozen=True)
class ScoreTable:
    """d candidates with known sums; the query is the candidate's index 0, ..., d-1.

    `sums` are integers or rationals of any size and sign. `clipped` says how many values `from_records` clipped.
    """

    sums: tuple[fmpq, ...]
    clipped: int = 0
    integers: NDArray[np.int64] | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", tuple(rational(each, f"sum {i}") for i, each in enumerate(self.sums)))
        if not self.sums:
            raise ValueError("there are no sums: give at least one candidate")
        object.__setattr__(self, "integers", _integers(self.sums))

    @classmethod
    def from_records(cls, records: Sequence[Sequence[Exact]]) -> ScoreTable:
        """The column sums of one row of d values per user, each value clipped to [0,1].

        Raises ValueError when there are no rows, or rows of different lengths.
        """
        if not records or any(len(row) != len(records[0]) for row in records):
            raise ValueError("records need at least one row, and as many values in every row")
        sums, clipped = [_ZERO] * len(records[0]), 0
        for row in records:
            for j, entry in enumerate(row):
                value = rational(entry, f"value {j} of a record")
                inside = clip(value)
                clipped += inside != value
                sums[j] += inside
        return cls(tuple(sums), clipped)

    def __len__(self) -> int:
        return len(self.sums)

    def total(self, query: int) -> fmpq:
        """The sum of candidate `query`. Raises IndexError outside 0, ..., d-1."""
        if not 0 <= query < len(self.sums):
            raise IndexError(f"there is no candidate {query}: they are 0 to {len(self.sums) - 1}")
        return self.sums[query]


@dataclass(frozen=True)
class Records(Generic[Record]):
    """Users' records; the query is any function from a record to an exact number, clipped here.

    An exception that the function raises on a record gets through, and tells about the data: the analyst's
    functions have to be total, as in the paper.
    """

    rows: tuple[Record, ...]

    def total(self, query: Callable[[Record], Exact]) -> fmpq:
        """The sum over the users of the clipped values of `query`."""
        return sum((clip(rational(query(row), "the value of the query")) for row in self.rows), start=_ZERO)


def _integers(sums: tuple[fmpq, ...]) -> NDArray[np.int64] | None:
    """The sums as int64, if they are integers of at most MAX_VECTOR_SUM in size."""
    if any(each.q != 1 or abs(each.p) > MAX_VECTOR_SUM for each in sums):
        return None
    array = np.array([int(each.p) for each in sums], dtype=np.int64)
    array.flags.writeable = False
    return array
