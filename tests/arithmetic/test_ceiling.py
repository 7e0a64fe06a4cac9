"""certify.arithmetic.ceiling: integers that are certain, or a reason why not."""

import math
from collections.abc import Callable

import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.ceiling import certified_ceiling, certified_floor
from certify.arithmetic.scalar import Scalar, Undetermined, logarithm

RAMANUJAN = fmpq(262537412640768744)  # e^(pi sqrt 163) is 7.5e-13 less


def ramanujan() -> arb:
    return (arb.pi() * arb(163).sqrt()).exp()


def near_integer(bits: int) -> arb:
    """5 + 2^-bits by way of sqrt(2), so that no ball is exact."""
    root = arb(2).sqrt()
    return root * root + 3 + arb(fmpq(1, fmpz(2) ** bits))


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**15))
@example(0, 1)
@example(-7, 2)
@example(6, 2)
@example(10**30 + 1, 10**15)
def test_rationals_are_exact(p: int, q: int) -> None:
    assert certified_ceiling(lambda: fmpq(p, q)) == -(-p // q)
    assert certified_floor(lambda: fmpq(p, q)) == p // q


@given(st.integers(0, 10**18))
@example(2)
@example(10**18 - 1)
def test_irrational_square_roots_agree_with_isqrt(n: int) -> None:
    root = math.isqrt(n)
    if root * root != n:
        assert certified_floor(lambda: arb(n).sqrt()) == root
        assert certified_ceiling(lambda: arb(n).sqrt()) == root + 1


def test_a_near_integer_needs_and_gets_more_bits() -> None:
    assert certified_ceiling(ramanujan) == RAMANUJAN
    assert certified_floor(ramanujan) == RAMANUJAN - 1
    with pytest.raises(Undetermined, match="separated from an integer at 64 bits"):
        certified_ceiling(ramanujan, max_precision=64)


def test_the_precision_cap_decides_what_can_be_told() -> None:
    assert certified_ceiling(lambda: near_integer(1000)) == 6
    assert certified_floor(lambda: near_integer(1000)) == 5
    with pytest.raises(Undetermined, match="separated from the integer 5 at 4096 bits"):
        certified_ceiling(lambda: near_integer(5000))
    assert certified_ceiling(lambda: near_integer(5000), max_precision=8192) == 6


@pytest.mark.parametrize("rounding", [certified_ceiling, certified_floor])
def test_an_irrational_route_to_an_integer_is_undetermined(rounding: Callable[..., int]) -> None:
    with pytest.raises(Undetermined, match="the integer 3 at 4096 bits"):
        rounding(lambda: arb(8).log() / arb(2).log())


def test_an_exact_ball_is_an_exact_number() -> None:
    assert certified_ceiling(lambda: arb(3)) == certified_floor(lambda: arb(3)) == 3
    assert certified_ceiling(lambda: arb((5, -1))) == 3


def test_undetermined_inside_is_tried_again_with_more_precision() -> None:
    # sqrt(2)^2 - 2 + 2^-100 straddles 0 at 64 bits, and its logarithm is -100 log 2
    assert certified_floor(lambda: logarithm(near_integer(100) - 5)) == -70
    with pytest.raises(Undetermined, match="log cannot be separated from 0 at 4096 bits"):
        certified_floor(lambda: logarithm(near_integer(9000) - 5))


@pytest.mark.parametrize("value", [arb("nan"), arb("inf"), arb(0, "inf"), arb(10**25).exp()])
def test_no_finite_enclosure_no_integer(value: Scalar) -> None:
    with pytest.raises(Undetermined, match="no finite enclosure at 4096 bits"):
        certified_ceiling(lambda: value)


def test_a_number_beyond_the_precision_is_undetermined_in_few_words() -> None:
    with pytest.raises(Undetermined, match="from an integer at 4096 bits") as caught:
        certified_ceiling(lambda: arb(10**6).exp())
    assert len(str(caught.value)) < 100


def test_the_precision_is_restored_also_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        certified_ceiling(lambda: fmpq(1) / 0)
    assert ctx.prec == 53


def test_an_impossible_range_of_precisions_is_refused() -> None:
    with pytest.raises(ValueError, match="precision"):
        certified_ceiling(lambda: fmpq(1), precision=128, max_precision=64)
