"""certify.arithmetic.elementary: the proved errors of exp and log on float64, attacked at 200 bits."""

import math

import numpy as np
import pytest
from flint import arb, fmpq
from float_truth import UNIT, rational, relative_error, steps, truth, worst_error
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certify.arithmetic import elementary
from certify.arithmetic.elementary import EXP_LIMIT, RELATIVE_ERROR, exp_array, exp_bounds, log_bounds, log_near_one

Floats = NDArray[np.float64]
LEAST = 2.0**-1074
TINY = 2.0**-1022
LARGEST = float(np.finfo(np.float64).max)
EIGHT = fmpq(8)  # RELATIVE_ERROR in units of 2^-53


def exp(x: arb) -> arb:
    return x.exp()


def log(x: arb) -> arb:
    return x.log()


def array(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


# ---- exp_array


def exp_inputs() -> Floats:
    """Random arguments, and those at the ends of the reduced range: around odd multiples of log(2)/2, and multiples."""
    rng = np.random.default_rng(20)
    ties = (np.arange(-1009, 1009) + 0.5) * math.log(2)
    centres = np.arange(-1009, 1010) * math.log(2)
    random = rng.uniform(-EXP_LIMIT, EXP_LIMIT, 1500)
    small = rng.uniform(-0.35, 0.35, 1500)
    tiny = np.array([0.0, -0.0, LEAST, -LEAST, TINY, -TINY, 2.0**-60, -(2.0**-53), EXP_LIMIT, -EXP_LIMIT])
    near = np.concatenate([np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)])
    found = np.concatenate([random, small, tiny, ties, centres, near])
    return found[np.abs(found) <= EXP_LIMIT]


def test_the_stated_error_is_eight_units() -> None:
    assert rational(RELATIVE_ERROR) == EIGHT * UNIT


def test_exp_stays_within_its_error_and_comes_near_it() -> None:
    inputs = exp_inputs()
    worst, _ = worst_error(exp, inputs.tolist(), exp_array(inputs).tolist())
    assert 1 <= worst < EIGHT


@given(st.floats(-EXP_LIMIT, EXP_LIMIT))
@example(0.0)
@example(-0.0)
@example(LEAST)
@example(EXP_LIMIT)
@example(-EXP_LIMIT)
@example(0.34657359027997264)  # log(2)/2
def test_exp_at_any_double(x: float) -> None:
    value = float(exp_array(array(x))[0])
    assert relative_error(value, *truth(exp, x)) < EIGHT
    assert value >= TINY


def test_exp_is_worked_through_in_pieces_without_seams() -> None:
    long = np.random.default_rng(3).uniform(-1, 1, (3, elementary.CACHED // 2))
    found = exp_array(long)
    assert found.shape == long.shape
    assert found.ravel().tolist() == [float(exp_array(array(x))[0]) for x in long.ravel().tolist()]


def test_exp_takes_any_shape() -> None:
    assert exp_array(np.array(1.0)).shape == ()
    assert exp_array(np.empty((2, 0))).shape == (2, 0)
    strided = np.linspace(-3, 3, 12).reshape(3, 4).T
    assert exp_array(strided).tolist() == exp_array(strided.copy()).tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, steps(EXP_LIMIT, 1), -steps(EXP_LIMIT, 1), 1e308])
def test_exp_refuses_what_it_cannot_bound(bad: float) -> None:
    with pytest.raises(ValueError, match="at most 700"):
        exp_array(array(0.0, bad))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_EXP_COEFFICIENTS", [1.0 / math.factorial(j) for j in range(11)]),
        ("LN2_LOW", 0.0),
        ("LN2_HIGH", math.log(2)),  # 53 bits: k times it is rounded
        ("INVERSE_LN2", 1.3),
    ],
    ids=["fewer terms", "log 2 cut off", "log 2 in one piece", "wrong multiple"],
)
def test_the_attack_on_exp_finds_a_worse_method(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    monkeypatch.setattr(elementary, name, value)
    inputs = exp_inputs()
    worst, _ = worst_error(exp, inputs.tolist(), exp_array(inputs).tolist())
    assert worst > EIGHT


# ---- exp_bounds


def exp_holds(lower: float, upper: float, a: float, b: float) -> bool:
    """Whether e^x lies in [a, b] for every real x in [lower, upper]; an end that is nan is unbounded."""
    if math.isnan(a) or math.isnan(b) or a == math.inf or b == -math.inf:
        return False
    bottom = -math.inf if math.isnan(lower) else lower
    top = math.inf if math.isnan(upper) else upper
    if a > 0 and (bottom == -math.inf or (math.isfinite(bottom) and rational(a) > power(bottom)[0])):
        return False
    return b == math.inf or (top != math.inf and (top == -math.inf or rational(b) >= power(top)[1]))


def power(x: float) -> tuple[fmpq, fmpq]:
    """e^x between rationals; beyond 1000 the powers of two that the comparisons need."""
    if abs(x) <= 1000:
        return truth(exp, x)
    return (fmpq(2) ** 1400, fmpq(2) ** 1500) if x > 0 else (fmpq(0), fmpq(2) ** -1400)


SPECIAL = [
    -math.inf, math.inf, math.nan, 0.0, -0.0, LEAST, -LEAST, TINY, -TINY, 2.0**-11, 2.0**-10, -(2.0**-10), 699.0, 699.5,
    EXP_LIMIT, -EXP_LIMIT, steps(EXP_LIMIT, 1), -steps(EXP_LIMIT, 1), 709.0, 745.0, -745.2, 1e10, -1e10,
    LARGEST, -LARGEST,
]  # fmt: skip
any_end = st.sampled_from(SPECIAL) | st.floats(-710, 710) | st.floats(allow_nan=True)


def ordered(x: float, y: float) -> tuple[float, float]:
    return (y, x) if y < x else (x, y)


@given(st.lists(st.builds(ordered, any_end, any_end), min_size=1, max_size=4))
@example([(0.0, 0.0)])
@example([(-0.0, 0.0), (2.0**-11, 2.0**-10)])
@example([(1.0, steps(1.0, 1))])
@example([(699.0, steps(699.0, 2))])
@example([(0.0, 2.0**-9)])
@example([(0.0, 2.0**-9 + 2.0**-61)])
@example([(-LEAST, LEAST)])
@example([(math.nan, 1.0), (1.0, math.nan)])
@example([(-math.inf, -math.inf), (math.inf, math.inf)])
@example([(1.0, 1.0), (-math.inf, math.inf)])
def test_exp_of_an_interval_is_enclosed(intervals: list[tuple[float, float]]) -> None:
    lower, upper = (np.array(end) for end in zip(*intervals, strict=True))
    a, b = exp_bounds(lower, upper)
    for i, (low, high) in enumerate(intervals):
        assert exp_holds(low, high, float(a[i]), float(b[i])), (low, high, a[i], b[i])


@given(st.floats(-EXP_LIMIT + 2, EXP_LIMIT - 2), st.floats(0, 2.0**-10))
@example(698.0, 2.0**-10)
@example(0.0, 0.0)
def test_narrow_intervals_stay_narrow(x: float, width: float) -> None:
    """One relative rounding of 16u beyond the width of the exponent, with 2^-9 of slack in the width."""
    a, b = exp_bounds(array(x), array(x + width))
    real_width = rational(x + width) - rational(x)
    allowed = 40 * UNIT + real_width * fmpq(130, 128)
    assert rational(float(b[0])) <= rational(float(a[0])) * (1 + allowed) * (1 + allowed)
    assert exp_holds(x, x + width, float(a[0]), float(b[0]))


def test_wide_intervals_lose_a_few_units_at_each_end() -> None:
    a, b = exp_bounds(array(-3.0, 1.0), array(5.0, 2.0))
    for i, (low, high) in enumerate([(-3.0, 5.0), (1.0, 2.0)]):
        assert relative_error(float(a[i]), *truth(exp, low)) < 32
        assert relative_error(float(b[i]), *truth(exp, high)) < 32


def test_a_worse_exponential_breaks_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 40u of error instead of 8u the same bounds no longer hold: the attack can find it."""
    honest = elementary.exp_array
    monkeypatch.setattr(elementary, "exp_array", lambda x: honest(x) * (1 + 40 * 2.0**-53))
    a, b = exp_bounds(array(1.0), array(1.0))
    assert not exp_holds(1.0, 1.0, float(a[0]), float(b[0]))
    a, b = exp_bounds(array(-3.0), array(1.0))
    assert not exp_holds(-3.0, 1.0, float(a[0]), float(b[0]))


def test_bounds_of_scalars_keep_their_shape() -> None:
    a, b = exp_bounds(np.array(1.0), np.array(3.0))
    assert np.shape(a) == np.shape(b) == ()
    assert exp_holds(1.0, 3.0, float(a), float(b))


# ---- log_near_one


def log_inputs() -> Floats:
    rng = np.random.default_rng(21)
    above = 1 + np.arange(1, 200) * 2.0**-52
    below = 1 - np.arange(1, 200) * 2.0**-53
    edges = np.concatenate([np.linspace(0.70, 0.7072, 300), np.linspace(1.4143, 1.42, 300)])
    return np.concatenate([rng.uniform(0.70, 1.42, 3000), above, below, edges])


def test_log_near_one_stays_within_its_error_and_comes_near_it() -> None:
    inputs = log_inputs()
    worst, _ = worst_error(log, inputs.tolist(), log_near_one(inputs).tolist())
    assert 2 <= worst < EIGHT


@given(st.floats(0.70, 1.42))
@example(0.70)
@example(1.42)
@example(steps(1.0, 1))
@example(steps(1.0, -1))
def test_log_near_one_at_any_double(m: float) -> None:
    value = float(log_near_one(array(m))[0])
    if m == 1:
        assert value == 0 and math.copysign(1, value) == 1
    else:
        assert relative_error(value, *truth(log, m)) < EIGHT


@pytest.mark.parametrize("terms", [6, 8])
def test_the_attack_on_log_finds_a_shorter_series(monkeypatch: pytest.MonkeyPatch, terms: int) -> None:
    monkeypatch.setattr(elementary, "_ATANH_COEFFICIENTS", elementary._ATANH_COEFFICIENTS[:terms])
    inputs = log_inputs()
    worst, _ = worst_error(log, inputs.tolist(), log_near_one(inputs).tolist())
    assert worst > EIGHT


# ---- log_bounds


def log_holds(lower: float, upper: float, a: float, b: float) -> bool:
    """Whether log x lies in [a, b] for every positive real x in [lower, upper]; an end that is nan is unbounded."""
    if math.isnan(a) or math.isnan(b) or a == math.inf or b == -math.inf:
        return False
    if a > -math.inf:
        if not lower > 0:
            return False
        if math.isfinite(lower) and rational(a) > truth(log, lower)[0]:
            return False
    if b == math.inf:
        return True
    if math.isnan(upper) or upper == math.inf:
        return False
    return upper <= 0 or rational(b) >= truth(log, upper)[1]


POSITIVE = [
    0.0, -0.0, LEAST, 3 * LEAST, steps(TINY, -1), TINY, steps(TINY, 1), 0.5, 0.7071, 0.7072, steps(0.7072, -1), 1.0,
    steps(1.0, 1), steps(1.0, -1), 1.4142, 2.0, steps(2.0, -1), LARGEST, math.inf, math.nan, -1.0, -math.inf,
]  # fmt: skip
log_end = st.sampled_from(POSITIVE) | st.floats(0, 10) | st.floats(allow_nan=True) | st.floats(0, LARGEST)


@given(st.lists(st.builds(ordered, log_end, log_end), min_size=1, max_size=4))
@example([(1.0, 1.0)])
@example([(0.0, LEAST)])
@example([(-1.0, -0.5)])
@example([(TINY, LARGEST)])
@example([(math.inf, math.inf)])
@example([(math.nan, 2.0), (2.0, math.nan)])
@example([(steps(1.0, -1), steps(1.0, 1))])
def test_log_of_an_interval_is_enclosed(intervals: list[tuple[float, float]]) -> None:
    lower, upper = (np.array(end) for end in zip(*intervals, strict=True))
    a, b = log_bounds(lower, upper)
    for i, (low, high) in enumerate(intervals):
        assert log_holds(low, high, float(a[i]), float(b[i])), (low, high, a[i], b[i])


@given(st.floats(TINY, LARGEST) | st.floats(0.5, 2.0))
@example(TINY)
@example(LARGEST)
@example(steps(1.0, 1))
@example(steps(1.0, -1))
@example(0.7071)
@example(1.4143)
def test_log_bounds_are_a_few_units_apart(x: float) -> None:
    """At most 16u (|log m| + |log x|) on each side, a little more for the two roundings of the ends."""
    a, b = log_bounds(array(x), array(x))
    low, high = truth(log, x)
    mantissa, _ = math.frexp(x)
    folded = mantissa if mantissa >= 0.7072 else 2 * mantissa
    size = max(abs(low), abs(high)) + max(abs(end) for end in truth(log, folded))
    assert log_holds(x, x, float(a[0]), float(b[0]))
    assert rational(float(b[0])) - rational(float(a[0])) <= 40 * UNIT * size


def test_the_log_of_one_is_zero_exactly() -> None:
    a, b = log_bounds(array(1.0), array(1.0))
    assert a[0] == b[0] == 0


def test_a_worse_logarithm_breaks_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = elementary.log_near_one
    monkeypatch.setattr(elementary, "log_near_one", lambda m: honest(m) * (1 + 80 * 2.0**-53))
    a, b = log_bounds(array(1.25), array(1.25))
    assert not log_holds(1.25, 1.25, float(a[0]), float(b[0]))
    a, b = log_bounds(array(0.75), array(0.75))
    assert not log_holds(0.75, 0.75, float(a[0]), float(b[0]))
