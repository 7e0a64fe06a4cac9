"""certify.selection.laws: AboveThreshold in closed form, by independent routes and at the edges."""

from fractions import Fraction

import pytest
from above_threshold_law import laplace_law
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from certify.arithmetic.scalar import Undetermined
from certify.selection.laws.accuracy import inaccurate, worst_failure
from certify.selection.laws.exponential_sum import BallRing, ExactRing, ExponentialSum, Point
from certify.selection.laws.geometric import GeometricLaw, Ratio
from certify.selection.laws.laplace import LaplaceLaw, exact_laplace
from certify.selection.laws.stream import block_lengths

rationals = st.builds(fmpq, st.integers(-40, 40), st.integers(1, 4))
scales = st.builds(fmpq, st.integers(1, 12), st.integers(1, 4))


def points(values: list[fmpq]) -> list[Point]:
    return [Point(value) for value in values]


def tail(x: arb) -> arb:
    """``P(Lap(1) > x)`` for a ball that does not contain 0 inside."""
    return (-x).exp() / 2 if x >= 0 else 1 - x.exp() / 2


# Laplace


@given(values=st.lists(rationals, min_size=1, max_size=5), threshold=scales, query=scales)
@example(values=[fmpq(0)], threshold=fmpq(2), query=fmpq(4))
@example(values=[fmpq(3)] * 5, threshold=fmpq(2), query=fmpq(2))  # equal points, and rates that cancel
@example(values=[fmpq(0), fmpq(-1), fmpq(1)], threshold=fmpq(1), query=fmpq(3))
@settings(max_examples=40)
def test_balls_and_exponential_sums_agree_and_add_up(values: list[fmpq], threshold: fmpq, query: fmpq) -> None:
    with ctx.workprec(160):
        balls = LaplaceLaw(BallRing(), threshold, query, strict=True).index_law(points(values), points(values))
        sums = exact_laplace(threshold, query, strict=True).index_law(points(values), points(values))
        assert all(ball.overlaps(exact.value()) for ball, exact in zip(balls, sums, strict=True))
        total: ExponentialSum = sums[0]
        for exact in sums[1:]:
            total = total + exact
        assert (total - ExactRing().constant(fmpq(1))).is_certainly_zero  # exactly 1, by cancellation of exponentials
        assert all(ball > 0 for ball in balls)


@pytest.mark.parametrize("c", [fmpq(-7), fmpq(0), fmpq(1, 3), fmpq(9)])
def test_one_query_is_the_difference_of_two_laplace_variables(c: fmpq) -> None:
    """``P(u - γ > x) = (16 e^{-x/4} - 4 e^{-x/2})/24`` for u ~ Lap(4), γ ~ Lap(2), x >= 0."""
    with ctx.workprec(120):
        x = arb(abs(c))
        upper = (16 * (-x / 4).exp() - 4 * (-x / 2).exp()) / 24
        (yes, no) = LaplaceLaw(BallRing(), fmpq(2), fmpq(4), strict=True).index_law(points([c]), points([c]))
        assert (yes if c <= 0 else no).overlaps(upper)
        assert yes.rel_accuracy_bits() > 80


@given(values=st.lists(rationals, min_size=1, max_size=4), answers=st.text("yn", min_size=4, max_size=4))
def test_the_two_answers_of_a_query_add_up(values: list[fmpq], answers: str) -> None:
    law = exact_laplace(fmpq(2), fmpq(4), strict=True)
    given_answers = answers[: len(values)]
    both = [law.answers_probability(points(values), given_answers[:-1] + last) for last in "yn"]
    fewer = law.answers_probability(points(values[:-1]), given_answers[:-1])
    assert (both[0] + both[1] - fewer).is_certainly_zero


def test_runs_of_equal_answers_are_the_same_by_the_binomial_theorem() -> None:
    law = exact_laplace(fmpq(2), fmpq(3), strict=True)
    same = [fmpq(1)] * 3 + [fmpq(-1)] * 2
    by_runs = law.answers_probability(points(same), "nnnyy")
    mixed = law.answers_probability(points([fmpq(1), fmpq(-1), fmpq(1), fmpq(-1), fmpq(1)]), "nynyn")
    assert (by_runs - mixed).is_certainly_zero  # the order of independent answers does not matter


@pytest.mark.parametrize(("strict", "tie"), [(True, "n"), (False, "y")])
def test_without_any_noise_the_comparison_decides_ties(strict: bool, tie: str) -> None:
    law = LaplaceLaw(BallRing(), fmpq(0), fmpq(0), strict=strict)
    assert law.answers_probability(points([fmpq(1), fmpq(-1), fmpq(0)]), f"yn{tie}") == 1
    assert law.answers_probability(points([fmpq(0)]), "ny"[tie == "n"]).is_zero()


def test_without_threshold_noise_answers_are_independent() -> None:
    law = LaplaceLaw(BallRing(), fmpq(0), fmpq(2), strict=True)
    with ctx.workprec(100):
        found = law.answers_probability(points([fmpq(1), fmpq(-3)]), "ny")
        assert found.overlaps((1 - tail(arb(fmpq(-1, 2)))) * tail(arb(fmpq(3, 2))))


def test_without_query_noise_an_outcome_against_the_order_is_impossible() -> None:
    law = LaplaceLaw(BallRing(), fmpq(2), fmpq(0), strict=True)
    assert law.answers_probability(points([fmpq(1), fmpq(0)]), "ny").is_zero()
    assert law.answers_probability(points([fmpq(0), fmpq(1)]), "ny") > 0


def test_ball_breakpoints_need_a_certain_order() -> None:
    ring = BallRing(arb(1, 0.5))
    assert ring.sign(Point(fmpq(-1, 4), fmpq(1))) == 1
    with pytest.raises(Undetermined, match="order of two breakpoints"):
        ring.sign(Point(fmpq(-1), fmpq(1)))


def test_sums_that_differ_are_not_called_equal() -> None:
    ring = ExactRing()
    tiny = ring.exponential(Point(fmpq(1, 10**30))) - ring.constant(fmpq(1))
    assert not tiny.is_certainly_zero
    with ctx.workprec(300):
        assert tiny.value() > 0


# geometric


def direct(points_: list[fmpq], answers: str, r1: Fraction, r2: Fraction, strict: bool, reach: int) -> Fraction:
    """The probability summed over the threshold noise in [-reach, reach], in fractions."""
    total = Fraction(0)
    for g in range(-reach, reach + 1):
        product = (1 - r1) / (1 + r1) * r1 ** abs(g)
        for value, answer in zip(points_, answers, strict=True):
            bound = g - Fraction(int(value.p), int(value.q))
            k = -(-bound.numerator // bound.denominator)  # ceiling
            if strict and bound.denominator == 1:
                k += 1
            yes = r2**k / (1 + r2) if k >= 0 else 1 - r2 ** (1 - k) / (1 + r2)
            product *= yes if answer == "y" else 1 - yes
        total += product
    return total


@given(
    values=st.lists(st.builds(fmpq, st.integers(-12, 12), st.integers(1, 2)), min_size=1, max_size=4),
    answers=st.text("yn", min_size=4, max_size=4),
    r1=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(2, 3)]),
    r2=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(3, 5)]),
    strict=st.booleans(),
)
@example(values=[fmpq(0)], answers="yyyy", r1=Fraction(1, 2), r2=Fraction(1, 2), strict=False)  # ratios that cancel
@example(values=[fmpq(-12), fmpq(12)], answers="nyyy", r1=Fraction(1, 4), r2=Fraction(1, 2), strict=True)
@settings(max_examples=60)
def test_geometric_laws_are_the_direct_sum(
    values: list[fmpq], answers: str, r1: Fraction, r2: Fraction, strict: bool
) -> None:
    law = GeometricLaw(
        Ratio(fmpq(r1.numerator, r1.denominator)), Ratio(fmpq(r2.numerator, r2.denominator)), strict=strict
    )
    given_answers, reach = answers[: len(values)], 60
    found = law.answers_probability(points(values), given_answers)
    summed = direct(values, given_answers, r1, r2, strict, reach)
    left_out = 2 * r1 ** (reach + 1)
    exact_value = Fraction(int(found.p), int(found.q))
    assert summed <= exact_value <= summed + left_out


def test_the_two_kinds_of_ratio_agree() -> None:
    values = points([fmpq(-2), fmpq(-1), fmpq(0)])
    with ctx.workprec(100):
        balls = GeometricLaw(Ratio(rate=fmpq(1, 2)), Ratio(rate=fmpq(1, 4)), strict=False).index_law(values, values)
        total = arb(0)
        for ball in balls:
            total += ball
        assert total.overlaps(arb(1)) and total.rel_accuracy_bits() > 80
    with pytest.raises(ValueError, match="different kinds"):
        GeometricLaw(Ratio(rate=fmpq(1)), Ratio(value=fmpq(1, 2)), strict=True)


def test_a_point_a_million_away_has_an_exact_geometric_probability() -> None:
    law = GeometricLaw(Ratio(fmpq(1, 2)), Ratio(fmpq(1, 2)), strict=False)
    far = law.answers_probability(points([fmpq(-20_000)]), "y")
    near = law.answers_probability(points([fmpq(-20_001)]), "y")
    assert isinstance(far, fmpq) and 0 < near < far and far.q.bit_length() > 19_000


# blocks and accuracy


@pytest.mark.parametrize(
    ("answers", "resample", "lengths"),
    [
        ("nnyny", "never", [5]),
        ("nnyny", "after-yes", [3, 2]),
        ("nnynn", "after-yes", [3, 2]),
        ("yy", "after-yes", [1, 1]),
        ("nnn", "after-yes", [3]),
        ("nny", "per-query", [1, 1, 1]),
    ],
)
def test_threshold_noise_serves_blocks(answers: str, resample: str, lengths: list[int]) -> None:
    assert block_lengths(answers, resample) == lengths


@given(
    z=st.sampled_from([fmpq(1, 100), fmpq(1, 7), fmpq(9, 20)]),
    count=st.integers(1, 6),
    shift=st.lists(st.integers(-9, 9), min_size=6, max_size=6),
)
@settings(max_examples=40)
def test_no_sums_are_worse_than_the_worst(z: fmpq, count: int, shift: list[int]) -> None:
    """Sums at ±α or between, moved at will: their failure probability is at most that of -α, …, -α, α."""
    with ctx.workprec(128):
        log = (1 / arb(z)).log()
        worst = worst_failure(count, fmpq(3), log, fmpq(2), fmpq(4))
        chosen = [Point(fmpq(s, 5), fmpq(3 * (s % 3 - 1))) for s in shift[:count]]
        ring = BallRing(log)
        law = LaplaceLaw(ring, fmpq(2), fmpq(4), strict=True).index_law(chosen, chosen)
        missed, failure = False, arb(0)
        for point, probability in zip(chosen, law, strict=False):
            if missed or ring.sign(point.plus(Point(fmpq(0), fmpq(3)))) <= 0:
                failure += probability
            missed = missed or ring.sign(point.minus(Point(fmpq(0), fmpq(3)))) >= 0
        if missed:
            failure += law[-1]
        assert not failure > worst


def test_outcomes_are_inaccurate_exactly_where_an_answer_is() -> None:
    log = arb(1)
    assert inaccurate([fmpq(0), fmpq(5), fmpq(-5), fmpq(0)], fmpq(4), log) == [False, False, True, True, True]
    assert inaccurate([fmpq(0), fmpq(1)], fmpq(4), log) == [False, False, False]


@given(values=st.lists(st.builds(fmpq, st.integers(-20, 20), st.sampled_from([1, 3])), min_size=1, max_size=5))
@settings(max_examples=20)
def test_the_law_is_that_of_the_route_that_tests_the_sampler(values: list[fmpq]) -> None:
    """`above_threshold_law` integrates on its own, without this package's polynomials."""
    with ctx.workprec(200):
        ours = LaplaceLaw(BallRing(), fmpq(2), fmpq(4), strict=True).index_law(points(values), points(values))
        theirs = laplace_law([-value for value in values], fmpq(2), fmpq(4))
        assert all(a.overlaps(b) for a, b in zip(ours, theirs, strict=True))
