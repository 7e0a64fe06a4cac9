"""certify.arithmetic.positive: one bound for whole arrays of positive numbers, attacked entry by entry at 200 bits."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from float_truth import PRECISION, UNIT, ends, rational, steps
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certify.arithmetic import positive
from certify.arithmetic.positive import (
    EXP_ROUNDINGS,
    LINEAR_LIMIT,
    TABLE_PRECISION,
    BallArithmetic,
    LinearArithmetic,
    LogArithmetic,
    PositiveArithmetic,
    RelativeBound,
    linear_range_is_safe,
)
from certify.arithmetic.rounding import ENTRY_ROUNDINGS, growth_factor
from certify.arithmetic.scalar import Undetermined

TINY = float(np.finfo(np.float64).tiny)
Raw = NDArray[np.float64]


def objects(values: list[arb], shape: tuple[int, ...] | None = None) -> NDArray[np.object_]:
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result if shape is None else result.reshape(shape)


def random_logs(shape: tuple[int, ...], size: float, seed: int) -> NDArray[np.object_]:
    """Logarithms that are not doubles."""
    found = np.random.default_rng(seed).uniform(-size, size, math.prod(shape))
    return objects([arb(rational(v)) * fmpq(10, 9) for v in found.tolist()], shape)


# ---- a small law: products of entries, reciprocals of dot products, sums, penalties, maxima


class Chain:
    """The steps by which the law makes its likelihoods, with the charges it makes for them."""

    def __init__(self, arithmetic: PositiveArithmetic, rounds: int, size: float) -> None:
        self.arithmetic = arithmetic
        with ctx.workprec(max(ctx.prec, TABLE_PRECISION)):
            selections, discounts = random_logs((4, 3), size, 1), random_logs((2, 3), size, 2)
            exp = np.frompyfunc(lambda x: x.exp(), 1, 1)
            entries = arithmetic.entries(selections)
            reciprocal, roundings = arithmetic.reciprocal_dot(exp(selections), exp(discounts))
            current = np.broadcast_to(arithmetic.entries(objects([arb(0)])), (4, 6))
            for t in range(rounds):
                arithmetic.charge(entries, ENTRY_ROUNDINGS)
                current = arithmetic.combine(current, entries[:, [t % 3, (t + 1) % 3, 2, 0, 1, 1]])
                arithmetic.charge(current, 1)
                arithmetic.charge(reciprocal, roundings)
                current = arithmetic.combine(current, reciprocal[:, [0, 1, t % 2, 0, 1, (t + 1) % 2]])
                arithmetic.charge(current, 1)
            self.likelihoods = current
            penalties = arithmetic.entries(objects([-arb(fmpq(3, 7)) * d for d in range(4)]))
            arithmetic.charge_penalties(penalties, ENTRY_ROUNDINGS + 1)
            self.penalised = arithmetic.combine(current, penalties[:, None])
            self.envelope = arithmetic.maximum.reduce(self.penalised, axis=0)


CASES = [(1, 0.5), (1, 30.0), (3, 2.0), (7, 10.0), (20, 0.01), (20, 8.0)]


@pytest.mark.parametrize(("rounds", "size"), CASES)
@pytest.mark.parametrize("which", ["likelihoods", "penalised", "envelope"])
def test_linear_entries_obey_their_bound(rounds: int, size: float, which: str) -> None:
    linear = LinearArithmetic()
    floats = getattr(Chain(linear, rounds, size), which)
    factor = linear.mass_bound().factor
    assert linear.mass_bound().absolute == 0
    with ctx.workprec(PRECISION):
        reals = getattr(Chain(BallArithmetic(), rounds, size), which)
        for value, ball in zip(floats.ravel().tolist(), reals.ravel().tolist(), strict=True):
            lower, upper = ends(ball)
            assert rational(value) / factor <= lower and upper <= rational(value) * factor


@pytest.mark.parametrize(("rounds", "size"), [*CASES, (20, 400.0), (3, 1e6), (50, 1e5)])
@pytest.mark.parametrize("which", ["likelihoods", "penalised", "envelope"])
def test_logarithms_obey_their_bound(rounds: int, size: float, which: str) -> None:
    logs = LogArithmetic()
    floats = getattr(Chain(logs, rounds, size), which)
    error = logs.error() if which != "likelihoods" else logs.units * UNIT
    with ctx.workprec(PRECISION):
        reals = getattr(Chain(BallArithmetic(), rounds, size), which)
        for value, ball in zip(floats.ravel().tolist(), reals.ravel().tolist(), strict=True):
            lower, upper = ends(ball.log())
            assert abs(rational(value) - lower) <= error and abs(rational(value) - upper) <= error


@pytest.mark.parametrize("make", [LinearArithmetic, LogArithmetic])
def test_the_masses_of_both_float_kinds_obey_their_bounds(make: Callable[[], PositiveArithmetic]) -> None:
    arithmetic = make()
    envelope = arithmetic.masses(Chain(arithmetic, 6, 3.0).envelope)
    bound = arithmetic.mass_bound()
    with ctx.workprec(PRECISION):
        reals = Chain(BallArithmetic(), 6, 3.0).envelope
        for value, ball in zip(envelope.ravel().tolist(), reals.ravel().tolist(), strict=True):
            lower, upper = ends(ball)
            assert rational(value) / bound.factor - bound.absolute <= lower
            assert upper <= rational(value) * bound.factor + bound.absolute
    assert bound.factor - 1 < fmpq(1, 10**10)


def adverse_product(arithmetic: PositiveArithmetic, count: int, log: fmpq) -> float:
    """The raw product of ``count`` equal entries, charged."""
    entry = arithmetic.entries(objects([arb(log)]))
    current = entry
    arithmetic.charge(entry, ENTRY_ROUNDINGS)
    for _ in range(count - 1):
        arithmetic.charge(entry, ENTRY_ROUNDINGS)
        current = arithmetic.combine(current, entry)
        arithmetic.charge(current, 1)
    return float(current[0])


@pytest.mark.parametrize("terms", [1, 2, 3, 20])
def test_a_reciprocal_dot_product_is_off_by_its_count_at_most_and_by_two_entries_at_least(terms: int) -> None:
    """Entries of 1 + 0.99 u become 1 in both tables: the products are off by 1.98 u before anything is added."""
    with ctx.workprec(PRECISION):
        adverse = objects([arb(1 + UNIT * fmpq(99, 100))] * terms, (1, terms))
        value, roundings = LinearArithmetic().reciprocal_dot(adverse, adverse)
        truth = ends(BallArithmetic().reciprocal_dot(adverse, adverse)[0][0, 0])
    for end in truth:
        assert rational(float(value[0, 0])) / growth_factor(roundings) <= end
        assert rational(float(value[0, 0])) * (1 - UNIT) > end or terms > 2
    # an entry each, their product, the sum, the reciprocal
    assert roundings == 2 * ENTRY_ROUNDINGS + 1 + (terms - 1) + 1


def test_the_linear_bound_is_within_a_small_factor_of_what_happens() -> None:
    """exp(0.99 u) becomes 1, so n factors are off by 0.99 n u; the bound counts 5n roundings."""
    linear, count = LinearArithmetic(), 1000
    with ctx.workprec(PRECISION):
        log = UNIT * fmpq(99, 100)
        value = adverse_product(linear, count, log)
        _, truth = ends(arb(log * count).exp())
    assert truth <= rational(value) * linear.mass_bound().factor
    assert (truth / rational(value) - 1) * 6 > linear.mass_bound().factor - 1


def test_one_rounding_fewer_for_each_entry_would_be_too_few() -> None:
    """The lemma can fail: with no roundings counted for entries the same product leaves its bound."""
    count = 1000
    with ctx.workprec(PRECISION):
        log = UNIT * fmpq(99, 100)
        value = adverse_product(LinearArithmetic(), count, log)
        _, truth = ends(arb(log * count).exp())
    assert truth > rational(value) * growth_factor(count * 9 // 10)


def test_the_logarithmic_bound_is_within_a_small_factor_of_what_happens() -> None:
    """1 + 0.99 * 2^-53 becomes 1: n terms are off by 0.99 n u while the sums, n^2/2 units large, are exact."""
    logs, count = LogArithmetic(), 8
    with ctx.workprec(PRECISION):
        log = 1 + UNIT * fmpq(99, 100)
        value = adverse_product(logs, count, log)
    miss = log * count - rational(value)
    assert 0 < miss <= logs.units * UNIT < 14 * miss


@pytest.mark.parametrize("make", [LinearArithmetic, LogArithmetic])
def test_the_attack_finds_uncharged_roundings(make: Callable[[], PositiveArithmetic]) -> None:
    arithmetic = make()
    with ctx.workprec(PRECISION):
        log = UNIT * fmpq(99, 100) + (1 if make is LogArithmetic else 0)
        value = adverse_product(arithmetic, 40, log)
    if isinstance(arithmetic, LinearArithmetic):
        arithmetic.roundings = 1
        truth = ends(arb(log * 40).exp())[1]
        assert truth > rational(value) * arithmetic.mass_bound().factor
    else:
        assert isinstance(arithmetic, LogArithmetic)
        assert log * 40 - rational(value) > LogArithmetic().units * UNIT


# ---- comparisons that are sure


counts = st.integers(0, 200) | st.sampled_from([10**6, 2**27, 2**28, 10**9, 2**33, 2**40])


@given(st.floats(1e-290, 1e290), st.integers(-3000, 3000), counts)
@example(1.0, 10, 0)
@example(1.0, 1, 2**28)  # the square of the bound's linear term is more than a few units here
@example(1.5, 2**20, 2**33)
@example(1e-290, 1, 100)
def test_surely_below_is_sure(a: float, offset: int, roundings: int) -> None:
    """Put b just around a F^2: only where the truths cannot meet may it say yes."""
    linear = LinearArithmetic()
    linear.roundings = roundings
    factor = linear.mass_bound().factor
    b = steps(float(arb(rational(a) * factor * factor)), max(-40, min(40, offset)))
    yes = bool(linear.surely_below(np.array([a]), np.array([b]))[0])
    if yes:
        assert rational(a) * factor < rational(b) / factor
    if rational(a) * factor * factor * (1 + 16 * UNIT) < rational(b):
        assert yes


def test_the_margin_of_surely_below_can_be_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    linear = LinearArithmetic()
    linear.roundings = 100
    factor = linear.mass_bound().factor
    monkeypatch.setattr(positive, "_float_above", lambda value: 1.0)
    a, b = 1.0, steps(1.0, 1)
    assert linear.surely_below(np.array([a]), np.array([b]))[0]
    assert not rational(a) * factor < rational(b) / factor


@given(st.floats(-1e6, 1e6), st.floats(0, 1e-6), st.integers(1, 10**9))
@example(0.0, 0.0, 1)
@example(-1e6, 1e-7, 10**8)
@example(0.0, 1.6e-7, 10**9)  # more than one error, less than two
def test_surely_below_is_sure_of_logarithms(a: float, gap: float, units: int) -> None:
    logs = LogArithmetic()
    logs.units = units
    b = a + gap
    yes = bool(logs.surely_below(np.array([a]), np.array([b]))[0])
    if yes:
        assert rational(a) + logs.error() < rational(b) - logs.error()
    if rational(b) - rational(a) > 4 * logs.error() + (abs(rational(b)) + 1) * UNIT:
        assert yes


def test_nothing_is_below_everything() -> None:
    for arithmetic in (LinearArithmetic(), LogArithmetic(), BallArithmetic()):
        nothing = np.full(1, arithmetic.nothing, dtype=arithmetic.dtype)
        with ctx.workprec(TABLE_PRECISION):
            something = arithmetic.entries(objects([arb(-600)]))
        assert arithmetic.surely_below(nothing, something).all()
        assert not arithmetic.surely_below(something, nothing).any()
        kept = arithmetic.maximum(nothing, something)
        assert arithmetic.masses(kept).tolist() == arithmetic.masses(something).tolist() or kept.dtype == object


def test_balls_that_meet_or_are_nan_are_not_surely_below() -> None:
    balls = BallArithmetic()
    for a, b in (
        (arb(1, 1), arb(2, 1)),
        (arb("nan"), arb(1)),
        (arb(1), arb("nan")),
        (arb(2), arb(1)),
        (arb(1), arb(1)),
    ):
        assert not balls.surely_below(objects([a]), objects([b])).any()
    assert balls.surely_below(objects([arb(1)]), objects([arb(2)])).all()


# ---- quotients


@pytest.mark.parametrize("make", [LinearArithmetic, LogArithmetic])
def test_the_logarithm_of_a_quotient_is_enclosed(make: Callable[[], PositiveArithmetic]) -> None:
    arithmetic = make()
    chain = Chain(arithmetic, 5, 4.0)
    raw = arithmetic.ratio(chain.envelope[:-1], chain.envelope[1:])
    with ctx.workprec(PRECISION):
        reals = Chain(BallArithmetic(), 5, 4.0).envelope
        exact = BallArithmetic().ratio(reals[:-1], reals[1:])
        for value, ball in zip(raw.ravel().tolist(), exact.ravel().tolist(), strict=True):
            found = arithmetic.log_ratio(value)
            (low, high), (least, most) = ends(found), ends(ball.log())
            assert low <= least and most <= high
            assert high - low < fmpq(1, 10**9)


@pytest.mark.parametrize("raw", [0.0, math.inf, math.nan, -math.inf])
def test_a_quotient_that_left_the_range_is_no_number(raw: float) -> None:
    assert not LinearArithmetic().log_ratio(raw).is_finite()
    if raw != 0:
        assert not LogArithmetic().log_ratio(raw).is_finite()


# ---- the ends of the range


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan, TINY, steps(TINY, -1), 2.0**-1074])
def test_linear_values_outside_the_range_are_refused(bad: float) -> None:
    linear = LinearArithmetic()
    for charge in (linear.charge, linear.charge_penalties):
        with pytest.raises(Undetermined, match="range of float64"):
            charge(np.array([1.0, bad]), 1)
    assert linear.roundings == 0


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, 2.0**40, -(2.0**41)])
def test_logarithms_without_a_useful_bound_are_refused(bad: float) -> None:
    logs = LogArithmetic()
    for charge in (logs.charge, logs.charge_penalties):
        with pytest.raises(Undetermined, match=r"beyond 2\^40"):
            charge(np.array([1.0, bad]), 1)


def test_sums_of_logarithms_that_are_too_large_are_refused() -> None:
    logs = LogArithmetic()
    logs.charge(np.array([2.0**39]), 2**15)
    with pytest.raises(Undetermined, match="too large for sums"):
        logs.mass_bound()


@pytest.mark.parametrize("logs", [[arb(710)], [arb(-710)], [arb("nan")], [arb(0, fmpq(1, 2**50))]])
def test_linear_entries_that_no_double_stands_for_are_refused(logs: list[arb]) -> None:
    with pytest.raises(Undetermined):
        LinearArithmetic().entries(objects(logs))


@pytest.mark.parametrize("log", [arb("nan"), arb("inf"), arb(0, fmpq(1, 2**59)), arb(1000, fmpq(1, 2**49))])
def test_logarithmic_entries_that_are_not_known_are_refused(log: arb) -> None:
    with pytest.raises(Undetermined, match=r"2\^-60"):
        LogArithmetic().entries(objects([log]))


@given(st.integers(-(2**60), 2**60), st.integers(-1200, -20), st.booleans())
@example(2**53 + 1, -60, True)
@example(1, -1200, True)
@example(0, -20, True)
def test_a_logarithmic_entry_is_off_by_its_charge_at_most(mantissa: int, exponent: int, wide: bool) -> None:
    with ctx.workprec(PRECISION):
        middle = fmpq(mantissa) * fmpq(2) ** exponent
        ball = arb(middle)
        if wide:
            ball += arb(0, fmpq(99, 100) * fmpq(1, 2**60))
        assume(abs(middle) < 2**40)
        value = float(LogArithmetic().entries(objects([ball]))[0])
        allowed = ENTRY_ROUNDINGS * max(abs(rational(value)), fmpq(1)) * UNIT
        assert all(abs(rational(value) - end) <= allowed for end in ends(ball))


@given(st.floats(-760, 5))
@example(-700.0)
@example(steps(-700.0, -1))
@example(-745.0)
@example(-math.inf)
@example(0.0)
def test_the_masses_of_logarithms_obey_their_bound_at_the_cut(raw: float) -> None:
    """Whatever the truth of the logarithm within the error, the mass is enclosed; below -700 it counts as 0."""
    logs = LogArithmetic()
    logs.charge(np.array([900.0]), 12)
    logs.charge_penalties(np.array([-50.0]), 5)
    value, bound = float(logs.masses(np.array([raw]))[0]), logs.mass_bound()
    assert (value == 0) == (raw < -700)
    with ctx.workprec(PRECISION):
        if raw == -math.inf:
            assert value == 0
            return
        error = logs.error() if raw < -700 else logs.mass_error()
        low, high = ends(arb(rational(raw) - error).exp())[0], ends(arb(rational(raw) + error).exp())[1]
    assert rational(value) / bound.factor - bound.absolute <= low
    assert high <= rational(value) * bound.factor + bound.absolute


def test_the_error_of_masses_is_at_most_that_of_logarithms() -> None:
    logs = LogArithmetic()
    logs.charge(np.array([5000.0]), 30)
    logs.charge_penalties(np.array([-1e9]), 15)
    assert logs.mass_error() < logs.error() <= fmpq(1)
    # the penalty itself, 10^9, is rounded: but not in a sum where what is left is above e^-700
    assert logs.mass_error() < 10**7 * UNIT < logs.error()


@given(st.integers(0, 1000), st.integers(1, 10**6), st.integers(1, 10**6))
@example(EXP_ROUNDINGS, 1, 1)
def test_a_bound_grows_with_roundings_and_terms(roundings: int, terms: int, absolute: int) -> None:
    before = RelativeBound(1 + UNIT, fmpq(absolute, 2**1000))
    after = before.after(roundings, terms)
    assert after.factor == before.factor * growth_factor(roundings)
    assert after.absolute == before.absolute * terms


def test_a_float_sum_of_positive_terms_obeys_its_count() -> None:
    """n - 1 additions in any order: the exact sum is within that many roundings of what numpy computes."""
    rng = np.random.default_rng(8)
    for n in (1, 2, 100, 5000):
        values = np.exp(rng.uniform(-300, 300, n))
        exact = sum((rational(v) for v in values.tolist()), fmpq(0))
        for total in (float(values.sum()), float(np.cumsum(values)[-1]), float(values @ np.ones(n))):
            bound = RelativeBound(fmpq(1)).after(n)
            assert rational(total) / bound.factor <= exact <= rational(total) * bound.factor


# ---- the gate


def test_the_gate_is_open_only_where_it_is_proved() -> None:
    assert linear_range_is_safe(arb(0)) and linear_range_is_safe(arb(LINEAR_LIMIT) - 1)
    for size in (arb(LINEAR_LIMIT), arb(LINEAR_LIMIT + 1), arb(LINEAR_LIMIT, 1), arb("nan"), arb("inf"), arb(0, "inf")):
        assert not linear_range_is_safe(size)


def test_the_limit_leaves_the_range_of_doubles_alone() -> None:
    """exp(690) times all the roundings a run could take stays inside the normal range, and so does its inverse."""
    with ctx.workprec(PRECISION):
        room = arb(growth_factor(2**40))
        assert arb(LINEAR_LIMIT).exp() * room < arb(rational(float(np.finfo(np.float64).max)))
        assert arb(-LINEAR_LIMIT).exp() / room > arb(rational(TINY))


# ---- guides


def test_guides_follow_the_order_of_the_numbers() -> None:
    logs = [arb(-3), arb(2), arb(-900), arb(5), arb(-1000)]
    for arithmetic in (LogArithmetic(), BallArithmetic()):
        guides = arithmetic.guides(arithmetic.entries(objects(logs)))
        assert np.argsort(guides).tolist() == [4, 2, 0, 1, 3]
