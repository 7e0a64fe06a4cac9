"""certify.arithmetic.arrays: both kinds of array enclose the exact results of every operation, and agree."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from float_truth import PRECISION, ends, rational, steps
from hypothesis import assume, example, given
from hypothesis import strategies as st
from interval_attacks import INF, Interval, agree, encloses, interval, objects, points, scalar, sound
from numpy.typing import NDArray

from certify.arithmetic import arrays
from certify.arithmetic.arrays import BallArray, CertifiedArray, IntervalArray, ball_maximum
from certify.arithmetic.enclosure import Enclosure

LEAST = 2.0**-1074
TINY = 2.0**-1022
LARGEST = float(np.finfo(np.float64).max)
NAN = math.nan


def balls(values: Sequence[fmpq | arb]) -> BallArray:
    return BallArray(objects(arb(value) for value in values))


ADVERSE = [
    0.0, -0.0, LEAST, -LEAST, 3 * LEAST, TINY, -TINY, steps(TINY, -1), 2.0**-600, 1.0, -1.0, steps(1.0, 1),
    steps(1.0, -1), 1 / 3, -0.1, 2.0**52 + 0.5, 2.0**53 - 1, 2.0**600, -(2.0**600), LARGEST, -LARGEST,
    steps(LARGEST, -1),
]  # fmt: skip
finite = st.sampled_from(ADVERSE) | st.floats(-10, 10) | st.floats(allow_nan=False, allow_infinity=False)
end = finite | st.sampled_from([INF, -INF])


def ordered(x: float, y: float) -> Interval:
    low, high = (y, x) if y < x else (x, y)
    return (-INF if low == INF else low), (INF if high == -INF else high)


intervals = st.builds(ordered, end, end) | st.builds(lambda x: (x, x), finite)


@st.composite
def interval_and_point(draw: st.DrawFn) -> tuple[Interval, fmpq]:
    """An interval and a rational in it, often one of its ends."""
    low, high = draw(intervals)
    bottom = rational(low) if low > -INF else min(rational(high) if high < INF else fmpq(0), fmpq(0)) - fmpq(2) ** 2000
    top = rational(high) if high < INF else max(bottom, fmpq(0)) + fmpq(2) ** 2000
    share = draw(st.sampled_from([fmpq(0), fmpq(1)]) | st.builds(lambda p: fmpq(p, 997), st.integers(0, 997)))
    return (low, high), bottom + share * (top - bottom)


ARITHMETIC: dict[str, Callable[..., object]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "max": lambda a, b: a.maximum(b) if isinstance(a, CertifiedArray) else max(a, b),
}


# ---- IntervalArray: the arithmetic contains every exact result


@pytest.mark.parametrize("symbol", ARITHMETIC)
@given(interval_and_point(), interval_and_point())
@example(((0.0, 0.0), fmpq(0)), ((0.0, INF), fmpq(5)))
@example(((-INF, INF), fmpq(2)), ((0.0, 0.0), fmpq(0)))
@example(((LARGEST, LARGEST), rational(LARGEST)), ((LARGEST, LARGEST), rational(LARGEST)))
@example(((LEAST, LEAST), rational(LEAST)), ((0.5, 0.5), fmpq(1, 2)))
@example(((-LEAST, -LEAST), -rational(LEAST)), ((2.0**600, 2.0**600), fmpq(2) ** 600))
@example(((-1.0, 1.0), fmpq(1, 3)), ((-0.0, 2.0), fmpq(2)))
@example(((1.0, 1.0), fmpq(1)), ((0.1, 0.1), rational(0.1)))
@example(((1.0, 1.0), fmpq(1)), ((-1.0, 1.0), fmpq(1, 3)))
@example(((1.0, 1.0), fmpq(1)), ((0.0, 1.0), fmpq(1, 3)))
@example(((-2.0, 3.0), fmpq(-2)), ((-1.0, 0.0), fmpq(-1, 5)))
@example(((LARGEST, LARGEST), rational(LARGEST)), ((-INF, -LARGEST), -rational(LARGEST)))
def test_every_exact_result_is_inside(symbol: str, left: tuple[Interval, fmpq], right: tuple[Interval, fmpq]) -> None:
    (a, x), (b, y) = left, right
    assume(symbol != "/" or y != 0)
    exact = ARITHMETIC[symbol](x, y)
    for first, second in ((interval(a), interval(b)), (interval(a, a), scalar(b)), (scalar(a), interval(b))):
        result = ARITHMETIC[symbol](first, second)
        assert isinstance(result, IntervalArray)
        sound(result)
        assert encloses(result, [exact] * result.lower.size)


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
@given(finite, finite)
@example(1.0, 3.0)
@example(LEAST, 3.0)
@example(2.0**-600, 2.0**-474)
def test_an_operation_on_doubles_loses_a_few_units(symbol: str, x: float, y: float) -> None:
    """The ends are at most 2^-50 of the value and 2^-1068 apart: the outward step is no more than it must be."""
    assume(symbol != "/" or y != 0)
    exact = ARITHMETIC[symbol](rational(x), rational(y))
    assume(abs(exact) < rational(LARGEST) / 2)
    result = ARITHMETIC[symbol](interval((x, x)), interval((y, y)))
    width = result.enclosure((0,)).width()
    assert width is not None and width <= abs(exact) * fmpq(3, 2) * fmpq(2) ** -50 + fmpq(2) ** -1068


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_without_the_outward_step_the_attack_wins(monkeypatch: pytest.MonkeyPatch, symbol: str) -> None:
    pairs = [(0.1, 0.7), (1.0, 3.0), (1 / 3, 1e-20)]

    def holds() -> bool:
        return all(
            encloses(
                ARITHMETIC[symbol](interval((x, x)), interval((y, y))), [ARITHMETIC[symbol](rational(x), rational(y))]
            )
            for x, y in pairs
        )

    assert holds()
    monkeypatch.setattr(arrays, "_STEP", 0.0)
    without_absolute_step(monkeypatch)
    assert not holds()


def test_the_absolute_step_is_what_covers_underflow(monkeypatch: pytest.MonkeyPatch) -> None:
    def holds() -> bool:
        return encloses(interval((LEAST, LEAST)) * interval((0.25, 0.25)), [rational(LEAST) / 4])

    assert holds()
    without_absolute_step(monkeypatch)
    assert not holds()


def without_absolute_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IntervalArray._outward.__func__, "__defaults__", (0.0,))


@pytest.mark.parametrize("factor", [-7, -1, 0, 1, 7])
def test_a_multiple_of_a_wide_interval_is_as_wide_as_it_must_be(factor: int) -> None:
    found = (interval((1.0, 2.0)) * IntervalArray.exact(factor)).enclosure((0,))
    assert found.contains(fmpq(factor)) and found.contains(fmpq(2 * factor))
    width = found.width()
    assert width is not None and width <= abs(factor) * (1 + fmpq(1, 2**40)) + fmpq(1, 2**1000)


@given(finite)
@example(LEAST)
@example(TINY)
def test_an_exact_difference_is_exact(x: float) -> None:
    """x - x is 0 and nothing more, so that a comparison of equal numbers is a tie and not a doubt."""
    zero = interval((x, x)) - interval((x, x))
    assert zero.enclosure((0,)) == Enclosure.of(0)


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_an_end_that_is_nan_says_nothing(symbol: str) -> None:
    for a, b in (
        ((NAN, 1.0), (2.0, 3.0)),
        ((1.0, NAN), (2.0, 3.0)),
        ((2.0, 3.0), (NAN, NAN)),
        ((1.0, 1.0), (NAN, 2.0)),
    ):
        result = ARITHMETIC[symbol](interval(a), interval(b))
        sound(result)
        lower, upper = float(result.lower[0]), float(result.upper[0])
        assert lower == -INF or not (math.isnan(a[0]) or math.isnan(b[0]))
        assert (lower, upper) == (-INF, INF) or math.isnan(a[1]) or math.isnan(b[1]) or upper == INF


def test_results_beyond_the_range_say_nothing_false() -> None:
    huge, tiny = interval((LARGEST, LARGEST)), interval((LEAST, LEAST))
    for result, exact in (
        (huge + huge, 2 * rational(LARGEST)),
        (huge * huge, rational(LARGEST) ** 2),
        (huge / tiny, rational(LARGEST) / rational(LEAST)),
        (tiny * tiny, rational(LEAST) ** 2),
        (tiny / huge, rational(LEAST) / rational(LARGEST)),
        (interval((0.0, 0.0)) - huge - huge, -2 * rational(LARGEST)),
    ):
        sound(result)
        assert encloses(result, [exact])


# ---- exp, log, log-sum-exp


@given(intervals)
@example((0.0, 0.0))
@example((-INF, INF))
@example((-INF, -LARGEST))
@example((LARGEST, INF))
def test_exp_and_log_are_sound_at_every_end(pair: Interval) -> None:
    for result in (interval(pair).exp(), interval(pair).log()):
        sound(result)
    low, high = pair
    with ctx.workprec(PRECISION):
        for x in (low, high):
            if abs(x) < 700:
                assert encloses(interval(pair).exp(), [ends(arb(x).exp())[0]])
            if 0 < x < INF:
                assert interval(pair).log().enclosure((0,)).overlaps(Enclosure.of(arb(x).log()))


# ---- both kinds of array agree


Pair = tuple[IntervalArray, BallArray]


def both(values: NDArray[np.object_]) -> Pair:
    return IntervalArray.from_balls(values), BallArray.from_balls(values)


def table(shape: tuple[int, ...], low: float, high: float, seed: int, radius: str = "0") -> NDArray[np.object_]:
    """Balls around random doubles; a positive radius makes them wide."""
    found = [arb(x, arb(radius)) for x in points(math.prod(shape), low, high, seed)]
    return objects(found, shape)


OPERATIONS: dict[str, Callable[..., CertifiedArray]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "scalar multiple": lambda a, b: a * type(a).constant(fmpq(1, 3)),
    "exact multiple": lambda a, b: type(a).exact(7) * a,
    "negative multiple": lambda a, b: a * type(a).exact(-7),
    "last of three axes": lambda a, b: (a[None] - b[:, None]).sum(-1).max(-2),
    "row multiple": lambda a, b: a * b[0],
    "column multiple": lambda a, b: a * b[:, :1],
    "exp": lambda a, b: a.exp(),
    "log": lambda a, b: b.log(),
    "maximum": lambda a, b: a.maximum(b),
    "nonnegative": lambda a, b: (a * a - a * a).nonnegative(),
    "square": lambda a, b: a.square(),
    "where": lambda a, b: a.where(np.arange(12).reshape(3, 4) % 2 == 0),
    "hull": lambda a, b: a.hull(b),
    "sum first": lambda a, b: a.sum(0),
    "sum last": lambda a, b: a.sum(-1),
    "max first": lambda a, b: a.max(0),
    "max last": lambda a, b: a.max(1),
    "log_sum_exp first": lambda a, b: a.log_sum_exp(0),
    "log_sum_exp last": lambda a, b: a.log_sum_exp(1),
    "entry": lambda a, b: a[1, 2],
    "rows": lambda a, b: a[np.array([2, 0, 0])],
    "new axis": lambda a, b: a[:, None] + b[None],
    "concatenate": lambda a, b: type(a).concatenate([a, b, a[:1]]),
    "concatenate columns": lambda a, b: type(a).concatenate([a, b], axis=1),
    "averaged": lambda a, b: b.averaged(np.array([[3, 0, 1, 2], [0, 0, 6, 0]]), 6),
    "exact sequence": lambda a, b: a * type(a).exact([1, fmpq(-2, 3), 0, fmpq(1, 10**30)]),
    "total": lambda a, b: a.sum(0).sum(0),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("radius", ["0", "1e-12", "0.1"])
@pytest.mark.parametrize("low", [-3.0, 0.5])
def test_interval_and_ball_arrays_agree(name: str, radius: str, low: float) -> None:
    operation = OPERATIONS[name]
    with ctx.workprec(PRECISION):
        left, right = table((3, 4), low, 4.0, 1, radius), table((3, 4), 0.5, 6.0, 2, radius)
        floats, reals = (operation(a, b) for a, b in zip(both(left), both(right), strict=True))
        assert isinstance(floats, IntervalArray) and isinstance(reals, BallArray)
        agree(floats, reals)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "hull"])
def test_the_interval_result_encloses_the_ball_result_of_points(name: str) -> None:
    """For exact operands the 200-bit ball is all but a point, and lies inside (a hull's radius has only 30 bits)."""
    with ctx.workprec(PRECISION):
        left, right = table((3, 4), -3.0, 4.0, 5), table((3, 4), 0.5, 6.0, 6)
        floats, reals = (OPERATIONS[name](a, b) for a, b in zip(both(left), both(right), strict=True))
        for index in np.ndindex(reals.shape):
            inner, outer = reals.enclosure(index), floats.enclosure(index)
            assert inner.lower is not None and inner.upper is not None
            assert outer.contains(inner.lower) and outer.contains(inner.upper), index
            width = outer.width()
            assert width is not None and width <= fmpq(1, 2**40)


@given(st.lists(st.floats(-1e6, 1e6) | st.sampled_from([-1e300, 1e300, 0.0, 700.0, -745.0]), min_size=1, max_size=6))
@example([1e300, 1e300])
@example([0.0])
@example([-1e300, 0.0])
@example([0.0, 0.0, 0.0, 0.0])
def test_log_sum_exp_neither_overflows_nor_excludes_the_truth(values: list[float]) -> None:
    with ctx.workprec(PRECISION):
        x = objects([arb(v) for v in values])
        floats = IntervalArray.from_balls(x).log_sum_exp(0)
        sound(floats)
        peak = max(values)
        exact = arb(peak) + sum(((arb(v) - arb(peak)).exp() for v in values), arb(0)).log()
        assert floats.enclosure(()).overlaps(Enclosure.of(exact))
        assert floats.enclosure(()).contains(ends(exact)[0]) and floats.enclosure(()).contains(ends(exact)[1])
        width = floats.enclosure(()).width()
        assert width is not None and width <= (abs(rational(peak)) + 10) * fmpq(1, 2**45)


def test_log_sum_exp_of_what_is_unknown_says_nothing() -> None:
    unknown = interval((-INF, INF), (0.0, 0.0)).log_sum_exp(0)
    assert (float(unknown.lower), float(unknown.upper)) == (-INF, INF)


# ---- comparison


comparable = st.builds(ordered, end, end)


@given(comparable, comparable)
@example((1.0, 1.0), (1.0, 1.0))
@example((-0.0, -0.0), (0.0, 0.0))
@example((-INF, INF), (-INF, INF))
def test_comparisons_are_decided_by_exact_ends(a: Interval, b: Interval) -> None:
    left, right = interval(a), interval(b)
    at_most, above = bool(left.proved_at_most(right)[0]), bool(left.proved_above(right)[0])
    assert not (at_most and above)
    assert at_most == (a[1] <= b[0]) and above == (a[0] > b[1])


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_what_is_not_finite_is_never_evidence(bad: float) -> None:
    known = IntervalArray.constant(1)
    for pair in ((-INF, INF), (NAN, NAN)):
        for left, right in ((scalar(pair), known), (known, scalar(pair)), (scalar(pair), scalar(pair))):
            assert not left.proved_at_most(right) and not left.proved_above(right)
    for ball in (arb(bad), arb(0, "inf")):
        unknown, one = balls([ball]), balls([fmpq(1)])
        for left, right in ((unknown, one), (one, unknown), (unknown, unknown)):
            assert not left.proved_at_most(right).any() and not left.proved_above(right).any()


@pytest.mark.parametrize("name", [n for n in OPERATIONS if n not in ("exact sequence", "exact multiple", "averaged")])
def test_a_nan_ball_never_becomes_evidence(name: str) -> None:
    values, other = table((3, 4), 1.0, 2.0, 1), table((3, 4), 1.0, 2.0, 2)
    values[...] = arb("nan")
    result = OPERATIONS[name](BallArray(values), BallArray(other))
    for bound in (BallArray.constant(-(10**9)), BallArray.constant(10**9)):
        proved = np.broadcast_to(result.proved_at_most(bound) | result.proved_above(bound), result.shape)
        known = [np.isfinite(v) for v in np.ravel(result.midpoints())]
        assert [bool(p) for p in proved.ravel()] == known  # only entries that came from `other`, or exact zeros


def test_ties_of_exact_numbers_are_decided() -> None:
    for kind in (IntervalArray, BallArray):
        half = kind.exact([fmpq(1, 2)])
        assert half.proved_at_most(half).all() and not half.proved_above(half).any()


# ---- from balls to doubles


exact_balls = st.builds(
    lambda m, e: arb((m, e)), st.integers(-(2**70), 2**70) | st.integers(-(2**53), 2**53), st.integers(-1200, 1100)
)


@given(exact_balls)
@example(arb((2**53 + 1, 0)))
@example(arb((2**54 + 1, -1128)))
@example(arb((1, -1080)))
@example(arb((-1, -1080)))
@example(arb((-1, -1075)))
@example(arb((3, -1075)))
@example(arb((1, 1024)))
@example(arb((-1, 1024)))
@example(arb((2**54 - 1, 970)))
def test_exact_balls_become_the_doubles_around_them(ball: arb) -> None:
    exact = ball.fmpq()
    found = IntervalArray.from_balls(objects([ball]))
    lower, upper = float(found.lower[0]), float(found.upper[0])
    assert lower == -INF or rational(lower) <= exact
    assert upper == INF or exact <= rational(upper)
    assert lower < INF and upper > -INF
    if abs(exact) <= rational(LARGEST):
        assert exact < rational(steps(lower, 2)) or lower == upper or steps(lower, 2) == INF
        assert rational(steps(upper, -2)) < exact or lower == upper or steps(upper, -2) == -INF


@given(st.floats(-1e300, 1e300), st.floats(0, 1e290))
@example(1.0, 1e-16)
@example(0.0, LEAST)
@example(-1.0, 0.0)
def test_wide_balls_are_contained(middle: float, radius: float) -> None:
    ball = arb(rational(middle), arb(rational(radius)))
    assert encloses(IntervalArray.from_balls(objects([ball])), [ends(ball)[0]])
    assert encloses(IntervalArray.from_balls(objects([ball])), [ends(ball)[1]])


def test_balls_that_are_not_finite_become_everything() -> None:
    found = IntervalArray.from_balls(objects([arb("nan"), arb("inf"), arb("-inf"), arb(0, "inf")]))
    assert np.all(found.lower == -INF) and np.all(found.upper == INF)
    assert [found.enclosure((i,)) for i in range(4)] == [Enclosure(None, None)] * 4


def test_a_rounding_that_is_not_moved_outward_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_float_below", float)
    assert not encloses(IntervalArray.from_balls(objects([arb(fmpq(1, 10))])), [fmpq(1, 10)])


# ---- the rest


def test_ball_maximum_is_not_pythons_maximum() -> None:
    wide, point = arb(1, 2), arb(2)
    with ctx.workprec(PRECISION):
        top = ball_maximum(objects([wide]), objects([point]))[0]
        assert Enclosure.of(top).contains(fmpq(3)) and Enclosure.of(top).contains(fmpq(2))
        assert ball_maximum.reduce(objects([arb(1), arb(5), arb(3)])) == 5


def test_guides_are_finite_numbers_near_the_entries() -> None:
    for kind in (IntervalArray, BallArray):
        values = kind.exact([fmpq(1, 3), -2])
        assert np.allclose(values.midpoints(), [1 / 3, -2], atol=1e-15)
        assert np.all(values.upper_guides() >= values.midpoints())


def test_scalars_behave_as_arrays_of_no_dimension() -> None:
    for kind in (IntervalArray, BallArray):
        third = kind.constant(fmpq(1, 3))
        for value in (third, third + third, third * third, third / third, third.exp().log(), third.hull(third)):
            assert value.shape == ()
            assert value[()].shape == ()
            assert value.enclosure(()).width() < fmpq(1, 2**40)
        assert kind.concatenate([third[None], third[None]]).shape == (2,)
