"""certify.arithmetic.verdict: three answers, and no evidence from what could not be separated."""

from itertools import product

import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.verdict import Verdict, compare_le, compare_lt, conjunction

P, R, U = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED
THIRD = fmpq(1, 3)

rationals = st.builds(fmpq, st.integers(-(10**20), 10**20), st.integers(1, 10**20))
exponents = st.integers(-40, 0)


def ends(center: fmpq, exponent: int) -> tuple[arb, fmpq, fmpq]:
    """A ball near `center` of radius 2^exponent, with its exact ends."""
    midpoint = arb(center).mid()
    radius = fmpq(2) ** exponent
    ball = arb(midpoint.man_exp(), (1, exponent))
    return ball, midpoint.fmpq() - radius, midpoint.fmpq() + radius


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_verdict_refuses_to_be_a_truth_value(verdict: Verdict) -> None:
    with pytest.raises(TypeError, match=r"no truth value.*is Verdict\.PROVED"):
        bool(verdict)


def test_values_are_the_words_of_the_report() -> None:
    assert [verdict.value for verdict in Verdict] == ["proved", "refuted", "undecided"]


@pytest.mark.parametrize("verdicts", [v for n in range(4) for v in product(Verdict, repeat=n)])
def test_conjunction(verdicts: tuple[Verdict, ...]) -> None:
    expected = R if R in verdicts else U if U in verdicts else P
    assert conjunction(iter(verdicts)) is expected


@given(rationals, rationals)
@example(THIRD, THIRD)
@example(THIRD, THIRD + fmpq(1, 10**400))
@example(THIRD + fmpq(1, 10**400), THIRD)
def test_rationals_are_always_decided_exactly(x: fmpq, y: fmpq) -> None:
    assert compare_le(x, y) is (P if x <= y else R)
    assert compare_lt(x, y) is (P if x < y else R)


@given(rationals, exponents, rationals, exponents)
@example(fmpq(0), 0, fmpq(2), 0)  # touching: <= proved, < not
@example(fmpq(2), 0, fmpq(0), 0)  # touching from above: < refuted, <= not
@example(fmpq(0), 0, fmpq(0), 0)
def test_balls_are_decided_by_their_exact_ends(x: fmpq, r: int, y: fmpq, s: int) -> None:
    (left, left_low, left_high), (right, right_low, right_high) = ends(x, r), ends(y, s)
    assert compare_le(left, right) is (P if left_high <= right_low else R if left_low > right_high else U)
    assert compare_lt(left, right) is (P if left_high < right_low else R if left_low >= right_high else U)


@given(rationals, rationals, exponents)
@example(THIRD, THIRD, -40)
@example(fmpq(1), fmpq(0), 0)
def test_a_rational_against_a_ball_claims_only_what_is_true(x: fmpq, y: fmpq, s: int) -> None:
    ball, low, high = ends(y, s)
    for verdict in (compare_le(x, ball), compare_lt(x, ball)):
        assert not (verdict is P and x > low) and not (verdict is R and x < high)
    for verdict in (compare_le(ball, x), compare_lt(ball, x)):
        assert not (verdict is P and high > x) and not (verdict is R and low < x)


def test_an_exact_tie_against_a_ball_is_undecided_at_any_precision() -> None:
    for bits in (2, 53, 4096):
        with ctx.workprec(bits):
            third = arb(1) / 3
            assert compare_le(third, THIRD) is U
            assert compare_le(THIRD, third) is U
            assert compare_lt(third, THIRD) is U


def test_a_false_claim_is_refuted_and_its_mutation_proved() -> None:
    root = arb(2).sqrt()
    assert compare_le(root, fmpq(1414213562, 10**9)) is R
    assert compare_le(root, fmpq(1414213563, 10**9)) is P


@pytest.mark.parametrize("bad", [arb("nan"), arb("inf"), arb("-inf"), arb(0, "inf")], ids=lambda b: b.repr())
@pytest.mark.parametrize("other", [fmpq(1), arb(1), arb("inf"), arb("-inf"), arb("nan")], ids=str)
def test_what_is_not_finite_decides_nothing(bad: arb, other: fmpq | arb) -> None:
    for compare in (compare_le, compare_lt):
        assert compare(bad, other) is U
        assert compare(other, bad) is U
