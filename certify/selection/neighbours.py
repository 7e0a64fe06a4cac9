"""The vectors of sums that neighbouring databases may have, and the ones among them that are worst for an outcome.

The probability of a stream's outcome is, given the threshold noise, a product of factors that rise with the sum
of every query answered yes and fall with that of every query answered no. So over a box of sums its extremes
lie at two corners, whatever the noise. A released value v multiplies by the density of the query noise at
``v - f``, which is largest at the point of the interval nearest v and least at the end farther from it, while
the yes itself then no longer depends on f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from certify.selection.instance_model import Against, Box, Neighbours, ReplaceOne, Scores, Vector


@dataclass(frozen=True, slots=True)
class SumBox:
    """All vectors between ``lower`` and ``upper``, coordinate by coordinate; ``origin`` says where they come from."""

    lower: Vector
    upper: Vector
    origin: str


def neighbour_boxes(neighbours: Neighbours, scores: Scores, n: int | None) -> list[SumBox]:
    """The boxes whose union is the set of neighbours: one user moves a sum of values in [0,1] by at most 1."""
    if isinstance(neighbours, Against):
        return [SumBox(neighbours.values, neighbours.values, "the given neighbour")]
    if isinstance(neighbours, ReplaceOne):
        assert scores.records is not None
        boxes: dict[Vector, SumBox] = {}
        for number, record in enumerate(scores.records, 1):
            lower = tuple(f - x for f, x in zip(scores.sums, record, strict=True))
            upper = tuple(f + 1 for f in lower)
            boxes.setdefault(record, SumBox(lower, upper, f"record {number} replaced"))
        return list(boxes.values())
    assert isinstance(neighbours, Box)
    lower = tuple(_cut(f - 1, n) for f in scores.sums)
    upper = tuple(_cut(f + 1, n) for f in scores.sums)
    return [SumBox(lower, upper, "‖f-f'‖_∞ ≤ 1")]


def _cut(value: fmpq, n: int | None) -> fmpq:
    return value if n is None else min(max(value, fmpq(0)), fmpq(n))


def least_likely(box: SumBox, answers: str, value: fmpq | None = None) -> Vector:
    """The sums in the box at which the outcome, with its released value, is least likely."""
    corner = _corner(box, answers, most=False)
    if value is None:
        return corner
    last = len(answers) - 1
    low, high = box.lower[last], box.upper[last]
    farther = high if abs(value - high) >= abs(value - low) else low
    return (*corner[:last], farther, *corner[last + 1 :])


def most_likely(box: SumBox, answers: str, value: fmpq | None = None) -> Vector:
    """The sums in the box at which the outcome, with its released value, is most likely."""
    corner = _corner(box, answers, most=True)
    if value is None:
        return corner
    last = len(answers) - 1
    nearest = min(max(value, box.lower[last]), box.upper[last])
    return (*corner[:last], nearest, *corner[last + 1 :])


def _corner(box: SumBox, answers: Sequence[str], *, most: bool) -> Vector:
    ends = {"y": box.upper if most else box.lower, "n": box.lower if most else box.upper}
    answered = tuple(ends[answer][i] for i, answer in enumerate(answers))
    return answered + box.lower[len(answers) :]
