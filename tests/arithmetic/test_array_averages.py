"""certify.arithmetic.arrays: averages over draws, whose sums are matrix products in whatever order numpy likes."""

import numpy as np
import pytest
from flint import arb, fmpq
from float_truth import rational
from interval_attacks import INF, agree, encloses, interval, objects, points, sound
from numpy.typing import NDArray

from certify.arithmetic import arrays
from certify.arithmetic.arrays import BallArray, IntervalArray


def weights(rows: int, columns: int, seed: int) -> tuple[NDArray[np.int64], int]:
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(10**9, np.ones(columns) / columns, size=rows).astype(np.int64)
    return counts, 10**9


def exact_average(values: list[fmpq], counts: list[int], total: int) -> fmpq:
    return sum((fmpq(c, total) * v for c, v in zip(counts, values, strict=True)), fmpq(0))


@pytest.mark.parametrize("columns", [1, 2, 17, 300])
def test_averages_contain_the_exact_average(columns: int) -> None:
    counts, total = weights(3, columns, columns)
    values = [points(columns, 0.0, 5.0, 40 + z) for z in range(2)]
    x = objects([arb(v) for row in values for v in row], (2, columns))
    floats, reals = IntervalArray.from_balls(x).averaged(counts, total), BallArray.from_balls(x).averaged(counts, total)
    exact = [exact_average(row, counts[h].tolist(), total) for row in values for h in range(3)]
    assert encloses(floats, exact)
    agree(floats, reals)
    assert all(
        floats.enclosure(i).width() <= value * fmpq(2 * columns + 40, 2**52)
        for i, value in zip(np.ndindex(floats.shape), exact, strict=True)
    )


def adverse_sum() -> tuple[NDArray[np.object_], NDArray[np.int64], fmpq]:
    """64 numbers of 2^53 and 5,000 ones: a float sum, in whatever order of up to 64 lanes, loses most of the ones."""
    values = [fmpq(2**53)] * 64 + [fmpq(1)] * 5000
    counts = np.ones((1, len(values)), dtype=np.int64)
    return objects([arb(v) for v in values], (1, len(values))), counts, sum(values, fmpq(0))


def test_a_sum_that_loses_its_small_terms_is_enclosed() -> None:
    x, counts, exact = adverse_sum()
    assert encloses(IntervalArray.from_balls(x).averaged(counts, 1), [exact])


def test_without_the_slack_of_the_dot_product_the_attack_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    x, counts, exact = adverse_sum()
    monkeypatch.setattr(arrays, "_dot_slack", lambda counts: 0.0)
    assert not encloses(IntervalArray.from_balls(x).averaged(counts, 1), [exact])
    base = IntervalArray.exact([0])[None]
    gap = IntervalArray.from_balls(x).largest_average_gap(counts, 1, base)
    assert rational(float(gap.upper[0])) < exact


@pytest.mark.parametrize("states", [1, 4])
def test_the_largest_gap_is_bounded_from_above(states: int) -> None:
    counts, total = weights(5, 7, 9)
    values = [points(7, 0.6, 5.0, 50 + z) for z in range(states)]
    bases = [points(5, 0.6, 5.0, 60 + z) for z in range(states)]
    x = objects([arb(v) for row in values for v in row], (states, 7))
    b = objects([arb(v) for row in bases for v in row], (states, 5))
    exact = [
        max(exact_average(values[z], counts[h].tolist(), total) - bases[z][h] for z in range(states)) for h in range(5)
    ]
    for kind in (IntervalArray, BallArray):
        found = kind.from_balls(x).largest_average_gap(counts, total, kind.from_balls(b))
        for h in range(5):
            upper = found.enclosure((h,)).upper
            assert upper is not None and exact[h] <= upper <= exact[h] + fmpq(1, 2**40)


def test_the_gap_of_adverse_sums_is_bounded_from_above() -> None:
    x, counts, exact = adverse_sum()
    gap = IntervalArray.from_balls(x).largest_average_gap(counts, 1, IntervalArray.exact([0])[None])
    assert rational(float(gap.upper[0])) >= exact


def test_a_gap_with_an_unbounded_operand_says_nothing() -> None:
    unknown = interval((0.0, INF), (1.0, 1.0))[None]
    base = IntervalArray.exact([1])[None]
    for counts in ([[1, 1]], [[0, 2]]):
        gap = unknown.largest_average_gap(np.array(counts), 2, base)
        assert not gap.proved_at_most(IntervalArray.constant(10**9)).any()
        averaged = unknown.averaged(np.array(counts), 2)
        sound(averaged)
        assert encloses(averaged, [fmpq(counts[0][1], 2)])
    assert not (base.largest_average_gap(np.array([[2]]), 2, unknown[:, :1])).proved_above(base[0]).any()
