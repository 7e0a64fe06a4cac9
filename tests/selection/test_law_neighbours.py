"""certify.selection.neighbours: no vector in the box is worse than the corners, whatever the noise and the switches."""

from typing import Any

import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selection_checks import checked, parsed

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, ball
from certify.selection.instance_model import Box, ReplaceOne, Scores, StreamSpec
from certify.selection.laws.stream import StreamLaw
from certify.selection.neighbours import least_likely, most_likely, neighbour_boxes
from certify.selection.neighbours_worst import StreamPrivacy

NOISES: list[dict[str, Any]] = [
    {},
    {"threshold_scale": "1/2", "query_scale": 3},
    {"threshold_scale": 0, "query_scale": 2},
    {"threshold_scale": 2, "query_scale": 0},
    {"noise": "geometric"},
    {"noise": "geometric", "threshold_ratio": "1/2", "query_ratio": "2/3", "strict": False},
]
SWITCHES: list[dict[str, Any]] = [
    {},
    {"max_yes": 2},
    {"max_yes": None},
    {"max_yes": 2, "resample": "after-yes"},
    {"max_yes": None, "resample": "per-query"},
]


def read(stream: dict[str, Any]) -> StreamSpec:
    kind = parsed({"epsilon": 1, "stream": stream}).kind
    assert isinstance(kind, StreamSpec)
    return kind


@given(
    sums=st.lists(st.integers(-3, 3), min_size=1, max_size=3),
    moves=st.lists(st.integers(-4, 4), min_size=3, max_size=3),
    noise=st.sampled_from(NOISES),
    switches=st.sampled_from(SWITCHES),
)
@example(sums=[0, 0, 0], moves=[4, 4, -4], noise=NOISES[0], switches=SWITCHES[1])
@settings(max_examples=60)
def test_every_outcome_is_extreme_at_its_corners(
    sums: list[int], moves: list[int], noise: dict[str, Any], switches: dict[str, Any]
) -> None:
    spec = read({"sums": sums, "thresholds": 0, **noise, **switches})
    privacy = StreamPrivacy(spec)
    (box,) = privacy.boxes
    neighbour = tuple(fmpq(f) + fmpq(move, 4) for f, move in zip(sums, moves, strict=False))
    with ctx.workprec(128):
        law = StreamLaw(spec)
        for answers in privacy.outcomes:
            probability = law.probability(neighbour, answers)
            assert not law.probability(least_likely(box, answers), answers) > probability
            assert not law.probability(most_likely(box, answers), answers) < probability


def test_the_sweeps_of_the_index_law_are_the_corners() -> None:
    spec = read({"sums": [0, 2, -1], "thresholds": [1, 0, 0]})
    privacy = StreamPrivacy(spec)
    with ctx.workprec(128):
        law = StreamLaw(spec)
        for comparison in privacy.comparisons:
            numerator, denominator = privacy.sides(comparison)
            assert ball(numerator).overlaps(law.probability(comparison.numerator, comparison.answers))
            assert ball(denominator).overlaps(law.probability(comparison.denominator, comparison.answers))


def test_a_released_value_has_its_own_corner() -> None:
    """Five sums at 0 and the value -1: raising all of them gives the log ratio 5/4, the corner of the index law 3/4."""
    stream = {"sums": [0] * 5, "thresholds": 0, "release_value": True, "output": 5, "value": -1}
    loss = checked({"epsilon": 1, "stream": stream}, "thm-5.1.variants").quantities["epsilon"]
    assert isinstance(loss, Enclosure) and loss.contains(fmpq(5, 4))
    spec = read(stream)
    (box,) = StreamPrivacy(spec).boxes
    assert spec.output is not None
    index_corner = least_likely(box, spec.output)
    with ctx.workprec(128):
        law = StreamLaw(spec)
        given_sums = law.probability(spec.scores.sums, spec.output)
        assert (given_sums / law.probability(index_corner, spec.output)).log().overlaps(arb(fmpq(3, 4)))


@given(
    moves=st.lists(st.integers(-4, 4), min_size=3, max_size=3), value=st.builds(fmpq, st.integers(-8, 8), st.just(4))
)
@settings(max_examples=40)
def test_no_neighbour_is_worse_for_a_released_value(moves: list[int], value: fmpq) -> None:
    spec = read({"sums": [0, 1, 0], "thresholds": 0, "release_value": True, "output": 3, "value": str(value)})
    (box,) = StreamPrivacy(spec).boxes
    assert spec.output is not None
    neighbour = tuple(f + fmpq(move, 4) for f, move in zip(spec.scores.sums, moves, strict=True))
    with ctx.workprec(128):
        law = StreamLaw(spec)
        density: Scalar = law.probability(neighbour, spec.output)
        assert not law.probability(least_likely(box, spec.output, spec.value), spec.output) > density
        assert not law.probability(most_likely(box, spec.output, spec.value), spec.output) < density


def test_boxes_of_records_hold_every_replacement() -> None:
    records = ((fmpq(1), fmpq(0)), (fmpq(1, 3), fmpq(1)), (fmpq(1), fmpq(0)))
    scores = Scores((fmpq(7, 3), fmpq(1)), records)
    boxes = neighbour_boxes(ReplaceOne(), scores, 3)
    assert len(boxes) == 2  # two records are alike
    for record, box in zip(records, boxes, strict=False):
        for new in ((fmpq(0), fmpq(0)), (fmpq(1), fmpq(1, 2)), (fmpq(1), fmpq(1))):
            replaced = tuple(f - old + x for f, old, x in zip(scores.sums, record, new, strict=True))
            assert all(low <= f <= high for low, f, high in zip(box.lower, replaced, box.upper, strict=True))


@pytest.mark.parametrize(("n", "ends"), [(None, (-1, 1, 4, 6)), (5, (0, 1, 4, 5))])
def test_the_box_is_cut_to_the_number_of_users(n: int | None, ends: tuple[int, ...]) -> None:
    (box,) = neighbour_boxes(Box(), Scores((fmpq(0), fmpq(5))), n)
    assert (box.lower[0], box.upper[0], box.lower[1], box.upper[1]) == tuple(fmpq(end) for end in ends)
