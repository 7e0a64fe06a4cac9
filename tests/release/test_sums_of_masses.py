"""certify.release.measurements: sums over a block, whatever the truths behind its float64 values are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.positive import BallArithmetic, LinearArithmetic, LogArithmetic, RelativeBound
from certify.arithmetic.rounding import growth_factor
from certify.engine.accumulators import ExactSum
from certify.release.measurements import _excess_bounds, _powers, positive_total

PRECISION = 200


def rational(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def ends(ball: arb) -> tuple[fmpq, fmpq]:
    enclosure = Enclosure.of(ball)
    assert enclosure.lower is not None and enclosure.upper is not None
    return enclosure.lower, enclosure.upper


def positive(value: fmpq) -> fmpq:
    return max(value, fmpq(0))


def total(values: list[fmpq]) -> fmpq:
    return sum(values, fmpq(0))


def held(lower: float, upper: float, exact: fmpq, count: int) -> bool:
    """As the evidence reads the sums: widened by the roundings of a sum over a block."""
    slack = growth_factor(count + 8)
    return rational(lower) / slack <= exact <= rational(upper) * slack


masses = st.floats(1e-280, 1.0) | st.sampled_from([1.0, 0.5, 1e-280, 1 / 3])
pairs = st.lists(
    st.tuples(masses | st.just(0.0), masses, st.sampled_from(["as it is", "equal", "a step above", "a step below"])),
    min_size=1,
    max_size=12,
)


def rows(given_pairs: list[tuple[float, float, str]]) -> tuple[list[float], list[float]]:
    """Masses over and base; some over are the base or a neighbour of it, where the excess is all rounding."""
    over = []
    for a, b, how in given_pairs:
        near = {"as it is": a, "equal": b, "a step above": math.nextafter(b, 2), "a step below": math.nextafter(b, 0)}
        over.append(near[how])
    return over, [b for _, b, _ in given_pairs]


@given(pairs, st.integers(0, 10**6))
@example([(0.5, 0.25, "as it is")], 0)
@example([(0.5, 0.25, "equal"), (0.5, 1 / 3, "a step above")], 3)
@example([(0.0, 1e-280, "as it is")], 100)
@example([(1.0, 1.0, "a step below")] * 12, 10**6)
def test_an_excess_is_enclosed_for_the_extreme_truths(given_pairs: list[tuple[float, float, str]], n: int) -> None:
    linear = LinearArithmetic()
    linear.roundings = n
    factor = linear.mass_bound().factor
    over, base = rows(given_pairs)
    lower, upper = _excess_bounds(linear, np.array(over), np.array(base))
    least = total([positive(rational(a) / factor - rational(b) * factor) for a, b in zip(over, base, strict=True)])
    most = total([positive(rational(a) * factor - rational(b) / factor) for a, b in zip(over, base, strict=True)])
    for exact in (least, most):
        assert held(float(lower), float(upper), exact, len(over))
    if upper == 0:
        assert most == 0  # an exact zero is a zero for every truth


@given(pairs)
@example([(0.5, 0.25, "as it is"), (0.3, 0.3, "equal")])
def test_an_excess_is_as_narrow_as_the_bound_of_its_masses(given_pairs: list[tuple[float, float, str]]) -> None:
    linear = LinearArithmetic()
    linear.roundings = 50
    over, base = rows(given_pairs)
    lower, upper = _excess_bounds(linear, np.array(over), np.array(base))
    size = total([rational(a) + rational(b) for a, b in zip(over, base, strict=True)])
    assert rational(float(upper)) - rational(float(lower)) <= size * 200 * fmpq(1, 2**52)


logs = st.floats(-760, 0) | st.sampled_from([-700.0, -699.99, -700.01, -1e6, -math.inf, 0.0])


@given(st.lists(st.tuples(logs, st.floats(-760, 0) | st.sampled_from([-700.0, -1e6, 0.0])), min_size=1, max_size=6))
@example([(-700.0, -700.0)])
@example([(-699.9999999, -700.0000001)])
@example([(-710.0, -720.0)])
@example([(-math.inf, -1e6)])
@example([(-0.5, -0.5)])
def test_an_excess_of_logarithms_is_enclosed_also_below_the_cut(given_pairs: list[tuple[float, float]]) -> None:
    log = LogArithmetic()
    log.charge(np.array([800.0]), 20)
    over, base = ([pair[i] for pair in given_pairs] for i in range(2))
    lower, upper = _excess_bounds(log, np.array(over), np.array(base))
    with ctx.workprec(PRECISION):
        for shift in (log.error(), -log.error(), fmpq(0)):
            high = [fmpq(0) if a == -math.inf else ends(arb(rational(a) + shift).exp())[1] for a in over]
            low = [ends(arb(rational(b) - shift).exp())[0] for b in base]
            exact = total([positive(a - b) for a, b in zip(high, low, strict=True)])
            assert held(float(lower), float(upper), exact, len(over))


def test_an_excess_of_balls_is_enclosed_and_exactly_zero_where_it_is_sure() -> None:
    def objects(*values: arb) -> np.ndarray:
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found

    wide, third = arb(1, fmpq(1, 8)), arb(1) / 3
    for over, base, least, most in (
        (objects(wide, third), objects(arb(1), arb(1)), fmpq(0), fmpq(1, 8)),
        (objects(arb(3), third), objects(wide, arb(0)), 2 - fmpq(1, 8) + fmpq(1, 3), 2 + fmpq(1, 8) + fmpq(1, 3)),
    ):
        lower, upper = _excess_bounds(BallArithmetic(), over, base)
        for found in (lower, upper):
            assert Enclosure.of(found).contains(least) and Enclosure.of(found).contains(most)
    lower, upper = _excess_bounds(BallArithmetic(), objects(third, third), objects(wide, arb(1)))
    assert lower == 0 and upper == 0


def test_an_excess_without_its_margin_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the masses' own bound taken for exact the same attack leaves the interval."""
    linear = LinearArithmetic()
    linear.roundings = 1000
    factor = linear.mass_bound().factor
    monkeypatch.setattr(linear, "mass_bound", lambda: RelativeBound(fmpq(1)))
    lower, upper = _excess_bounds(linear, np.array([0.5]), np.array([0.25]))
    assert not held(float(lower), float(upper), fmpq(1, 2) * factor - fmpq(1, 4) / factor, 1)


# ---- totals


@given(st.lists(masses, min_size=1, max_size=20), st.integers(0, 1000), st.booleans(), st.booleans())
@example([1.0], 0, True, False)
@example([1e-280] * 20, 1000, False, True)
def test_a_total_is_enclosed_for_the_extreme_truths(values: list[float], n: int, high: bool, cut: bool) -> None:
    bound = RelativeBound(growth_factor(n), fmpq(1, 2**1000) if cut else fmpq(0))
    truths = [rational(v) * bound.factor + bound.absolute if high else rational(v) / bound.factor for v in values]
    exact_sum = ExactSum((1,), balls=False)
    exact_sum.add(np.array(values).sum(), (0,))
    with ctx.workprec(PRECISION):
        found = Enclosure.of(positive_total(exact_sum, (0,), bound.after(len(values), terms=len(values))))
    assert found.contains(total(truths))
    width = found.width()
    assert width is not None and width <= 3 * (total(truths) * (n + 25) * fmpq(1, 2**52) + 25 * bound.absolute)


# ---- powers of losses


@given(st.floats(0, 2) | st.sampled_from([0.0, 1e-15, 5e-324, 1.0, 2.0]), st.integers(2, 40), st.integers(0, 60))
@example(0.0, 2, 10)
@example(1e-16, 3, 0)
@example(1.0, 2, 0)
def test_powers_are_enclosed_for_every_loss_within_the_error(value: float, order: int, units: int) -> None:
    error = fmpq(units, 2**52)
    lower, upper = _powers(np.array([value]), error, order)
    with ctx.workprec(PRECISION):
        for loss in (positive(rational(value) - error), rational(value), rational(value) + error):
            if loss == 0:
                assert lower[0] == 0
                continue
            low, high = ends((arb(loss).log() * fmpq(order, order - 1)).exp())
            assert rational(float(lower[0])) <= low and high <= rational(float(upper[0]))
    assert upper[0] - lower[0] <= 1e-11


def test_powers_of_balls_enclose_the_power() -> None:
    with ctx.workprec(PRECISION):
        values = np.empty(3, dtype=object)
        values[:] = [arb(2) / 7, arb(0), arb(1)]
        for order in (2, 3, 7):
            lower, upper = _powers(values, fmpq(0), order)
            for i, x in enumerate((fmpq(2, 7), fmpq(0), fmpq(1))):
                exact = (arb(x).log() * fmpq(order, order - 1)).exp() if x else arb(0)
                assert lower[i].overlaps(exact) or not lower[i].is_finite()
                assert upper[i].overlaps(exact) or not upper[i].is_finite()


def test_a_power_without_the_error_of_the_loss_is_found_out() -> None:
    _, upper = _powers(np.array([0.5]), fmpq(0), 3)
    with ctx.workprec(PRECISION):
        _, high = ends((arb(fmpq(1, 2) + fmpq(1, 2**40)).log() * fmpq(3, 2)).exp())
    assert high > rational(float(upper[0]))
