"""certify.engine.accumulators: sums without rounding and maxima with their places, however the blocks are spread."""

import itertools
import json
import math
import random

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certify.arithmetic.enclosure import Enclosure
from certify.engine.accumulators import ExactSum, Largest

LEAST = 2.0**-1074
LARGEST = float(np.finfo(np.float64).max)

ADVERSE = [0.0, -0.0, LEAST, -LEAST, 2.0**-1022, -(2.0**-1030), 1.0, -1.0, 1e-300, LARGEST, -LARGEST, 2.0**53, 1 / 3]
doubles = st.sampled_from(ADVERSE) | st.floats(allow_nan=False, allow_infinity=False)


def rational(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def exact(values: list[float]) -> fmpq:
    return sum((rational(value) for value in values), fmpq(0))


def objects(values: list[arb]) -> NDArray[np.object_]:
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


# ---- ExactSum of doubles


@given(st.lists(doubles, max_size=30))
@example([LARGEST] * 30)
@example([LEAST] * 7)
@example([-0.0, -0.0])
@example([1.0, 2.0**-1074, -1.0])
@example([1e308, 1e308, -1e308, LEAST])
def test_a_sum_of_doubles_is_exact(values: list[float]) -> None:
    one_by_one, at_once = ExactSum((), balls=False), ExactSum((len(values),), balls=False)
    for value in values:
        one_by_one.add(np.float64(value))
    at_once.add(np.array(values))
    assert one_by_one.value(()) == exact(values)
    assert [at_once.value((i,)) for i in range(len(values))] == [rational(value) for value in values]


@given(st.lists(st.lists(doubles, min_size=3, max_size=3), min_size=1, max_size=8), st.randoms(use_true_random=False))
@example([[1.0, LEAST, -0.0], [2.0**53, -LEAST, 0.0], [1.0, LARGEST, -0.0]], random.Random(1))
def test_every_order_and_partition_gives_the_same_sum(rows: list[list[float]], rng: random.Random) -> None:
    straight = ExactSum((3,), balls=False)
    for row in rows:
        straight.add(np.array(row))
    shuffled = rng.sample(rows, len(rows))
    parts = [ExactSum((3,), balls=False) for _ in range(3)]
    for row in shuffled:
        rng.choice(parts).add(np.array(row))
    rng.shuffle(parts)
    left = parts[0]
    left.merge(parts[1])
    left.merge(parts[2])
    assert left.to_plain() == straight.to_plain()
    # the other bracketing
    parts[1].merge(parts[2])
    assert [left.value((i,)) for i in range(3)] == [exact([row[i] for row in rows]) for i in range(3)]


@given(st.lists(doubles, min_size=4, max_size=4))
@example([-0.0, LEAST, -LEAST, LARGEST])
@example([-1.5, 0.0, -(2.0**-1030), 1.0])
def test_sums_of_doubles_survive_plain_form(values: list[float]) -> None:
    before = ExactSum((2, 2), balls=False)
    before.add(np.array(values).reshape(2, 2))
    plain = json.loads(json.dumps(before.to_plain()))
    after = ExactSum.from_plain(plain)
    assert after.to_plain() == before.to_plain() and after.shape == before.shape
    assert [after.value(i) for i in np.ndindex(2, 2)] == [rational(value) for value in values]
    after.add(np.ones((2, 2)))
    assert after.value((0, 0)) == rational(values[0]) + 1


def test_zeros_of_either_sign_are_zero() -> None:
    positive, negative = ExactSum((1,), balls=False), ExactSum((1,), balls=False)
    positive.add(np.array([0.0]))
    negative.add(np.array([-0.0]))
    assert positive.to_plain() == negative.to_plain() == ExactSum((1,), balls=False).to_plain()


def test_parts_of_a_sum_are_added_where_they_belong() -> None:
    total = ExactSum((2, 3), balls=False)
    total.add(np.array([1.0, 2.0]), (1, slice(1, None)))
    total.add(np.float64(0.5), (0, 2))
    total.add(np.array([8.0, 16.0]), (0, np.array([2, 0])))
    assert [total.value(i) for i in np.ndindex(2, 3)] == [16, 0, fmpq(17, 2), 0, 1, 2]


def test_sums_without_a_shape_merge() -> None:
    left, right = ExactSum((), balls=False), ExactSum((), balls=False)
    left.add(np.float64(0.25))
    right.add(np.float64(0.5))
    left.merge(right)
    left.merge(right)
    assert left.shape == () and left.value(()) == fmpq(5, 4)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_no_part_of_a_sum(bad: float) -> None:
    total = ExactSum((2,), balls=False)
    total.add(np.array([1.0, 2.0]))
    before = total.to_plain()
    with pytest.raises(ValueError, match="not finite"):
        total.add(np.array([1.0, bad]))
    assert total.to_plain() == before


# ---- ExactSum of balls


def random_balls(count: int, seed: int) -> list[arb]:
    rng = random.Random(seed)
    return [arb((rng.getrandbits(180) - 2**179, -150), (rng.getrandbits(20), -160)) for _ in range(count)]


def test_sums_of_balls_enclose_the_sum_in_every_order() -> None:
    values = random_balls(6, 1)
    with ctx.workprec(128):
        for order in itertools.permutations(range(6), 6):
            total = ExactSum((1,), balls=True)
            other = ExactSum((1,), balls=True)
            for i in order[:3]:
                total.add(objects([values[i]]))
            for i in order[3:]:
                other.add(objects([values[i]]))
            total.merge(other)
            found = Enclosure.of(total.value((0,)))
            assert found.contains(sum((v.mid().fmpq() for v in values), fmpq(0)))


@pytest.mark.parametrize("precision", [53, 128, 4096, 20_000])
def test_balls_survive_plain_form_bit_by_bit(precision: int) -> None:
    with ctx.workprec(precision):
        third = arb(1) / 3
        values = [third, -third.exp(), arb(0), arb(fmpq(-7, 8)), third * fmpq(10) ** 5000]
        before = ExactSum((5,), balls=True)
        before.add(objects(values))
    plain = json.loads(json.dumps(before.to_plain()))
    after = ExactSum.from_plain(plain)  # read at 53 bits
    assert after.to_plain() == before.to_plain()
    for i in range(5):
        assert Enclosure.of(after.value((i,))) == Enclosure.of(before.value((i,)))


@pytest.mark.parametrize("ball", [arb("nan"), arb("inf"), arb(0, "inf")])
def test_balls_that_say_nothing_stay_so_in_plain_form(ball: arb) -> None:
    total = ExactSum((1,), balls=True)
    total.add(objects([ball]))
    assert not ExactSum.from_plain(total.to_plain()).value((0,)).is_finite()
    largest = Largest((1,), balls=True)
    largest.add(objects([ball])[None], 0)
    assert not Largest.from_plain(largest.to_plain()).value((0,)).is_finite()


# ---- Largest of doubles

Blocks = dict[int, list[float]]
blocks = st.dictionaries(
    st.integers(0, 20),
    st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.0, -math.inf]) | st.floats(-5, 5), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


def earliest_of_the_largest(given_blocks: Blocks) -> tuple[float, tuple[int, int]]:
    top = max(value for values in given_blocks.values() for value in values)
    places = [(b, i) for b, values in given_blocks.items() for i, value in enumerate(values) if value == top]
    return top, min(places)


@given(blocks, st.randoms(use_true_random=False))
@example({3: [2.0, 2.0], 1: [2.0], 0: [1.0]}, random.Random(5))
@example({5: [-math.inf], 2: [-math.inf, -math.inf]}, random.Random(5))
@example({2: [0.0], 1: [-0.0]}, random.Random(2))
def test_the_largest_is_met_earliest_whatever_the_order(given_blocks: Blocks, rng: random.Random) -> None:
    straight = Largest((1,), balls=False)
    for number in sorted(given_blocks):
        straight.add(np.array([given_blocks[number]]), number)
    parts = [Largest((1,), balls=False) for _ in range(3)]
    for number in rng.sample(sorted(given_blocks), len(given_blocks)):
        rng.choice(parts).add(np.array([given_blocks[number]]), number)
    rng.shuffle(parts)
    parts[0].merge(parts[1])
    parts[2].merge(parts[0])
    value, place = earliest_of_the_largest(given_blocks)
    for largest in (straight, parts[2], Largest.from_plain(json.loads(json.dumps(parts[2].to_plain())))):
        assert largest.value((0,)) == value
        assert largest.place((0,)) == place
    assert parts[2].to_plain()["places"] == straight.to_plain()["places"]


def test_a_nan_is_never_forgotten_and_its_place_is_known() -> None:
    for order in itertools.permutations([0, 1, 2]):
        values = {0: [5.0, 1.0], 1: [3.0, math.nan], 2: [math.inf, 7.0]}
        largest = Largest((1,), balls=False)
        for number in order:
            largest.add(np.array([values[number]]), number)
        assert math.isnan(largest.value((0,)))
        assert largest.place((0,)) == (1, 1)
        other = Largest((1,), balls=False)
        other.merge(largest)
        assert math.isnan(other.value((0,)))


def test_entries_are_offered_where_they_belong() -> None:
    largest = Largest((2, 2), balls=False)
    largest.add(np.array([[1.0, 4.0, 2.0], [7.0, 0.0, 7.0]]), 3, (1,))
    largest.add(np.array([9.0, 10.0]), 4, (0, 1))
    largest.add(np.array([4.0]), 2, (1, 0))
    assert [largest.value(i) for i in np.ndindex(2, 2)] == [-math.inf, 10.0, 4.0, 7.0]
    assert [largest.place(i) for i in [(0, 1), (1, 0), (1, 1)]] == [(4, 1), (2, 0), (3, 0)]
    assert largest.guides().tolist() == [[-math.inf, 10.0], [4.0, 7.0]]
    again = Largest.from_plain(json.loads(json.dumps(largest.to_plain())))
    assert again.to_plain() == largest.to_plain() and again.shape == (2, 2)


def test_maxima_without_a_shape() -> None:
    left, right = Largest((), balls=False), Largest((), balls=False)
    left.add(np.array([1.0, 3.0]), 0)
    right.add(np.array([3.0]), 1)
    right.merge(left)
    assert right.value(()) == 3.0 and right.place(()) == (0, 1)


# ---- Largest of balls


def test_the_largest_of_balls_encloses_the_maximum() -> None:
    values = [arb(3, 1), arb(fmpq(7, 2), fmpq(1, 4)), arb(1), arb(-2, 3)]
    with ctx.workprec(128):
        for order in itertools.permutations(range(4)):
            left, right = Largest((1,), balls=True), Largest((1,), balls=True)
            for number in order[:2]:
                left.add(objects([values[number]])[None], number)
            for number in order[2:]:
                right.add(objects([values[number]])[None], number)
            left.merge(right)
            found = Enclosure.of(left.value((0,)))
            # the truth may be anything from 7/2 - 1/4 to 3 + 1
            assert found.contains(fmpq(13, 4)) and found.contains(fmpq(4))
            assert left.place((0,)) == (1, 0)  # the largest midpoint, a guide


def test_equal_balls_go_to_the_earliest_place() -> None:
    for order in itertools.permutations([0, 1, 2]):
        largest = Largest((1,), balls=True)
        for number in order:
            largest.add(objects([arb(1), arb(2), arb(2)])[None], number)
        assert largest.place((0,)) == (0, 1)


def test_a_nan_ball_is_never_forgotten() -> None:
    for first, second in ((arb("nan"), arb(1)), (arb(1), arb("nan"))):
        largest = Largest((1,), balls=True)
        largest.add(objects([first])[None], 0)
        largest.add(objects([second])[None], 1)
        other = Largest((1,), balls=True)
        other.merge(largest)
        assert largest.value((0,)).is_nan() and other.value((0,)).is_nan()
        assert largest.place((0,)) == (0 if first.is_nan() else 1, 0)


def test_balls_beyond_the_range_of_doubles_keep_their_order() -> None:
    largest = Largest((1,), balls=True)
    largest.add(objects([arb(10) ** 400, arb(10) ** 500, arb(10) ** 450])[None], 0)
    assert largest.place((0,)) == (0, 1)


def test_maxima_of_balls_survive_plain_form() -> None:
    largest = Largest((2, 1), balls=True)
    largest.add(objects([arb(1) / 3, arb(2) / 7])[None], 5, (1,))
    again = Largest.from_plain(json.loads(json.dumps(largest.to_plain())))
    assert again.to_plain() == largest.to_plain()
    assert again.place((1, 0)) == (5, 0)
    again.merge(Largest((2, 1), balls=True))
    assert again.to_plain() == largest.to_plain()
