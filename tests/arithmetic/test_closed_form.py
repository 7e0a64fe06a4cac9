"""certify.arithmetic.closed_form: the formula found denotes the number computed, or there is none."""

from collections.abc import Callable
from typing import Any

import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic import scalar
from certify.arithmetic.closed_form import closed_form
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import (
    MAX_DEPTH,
    MAX_TEXT_LENGTH,
    Call,
    Expression,
    ExpressionError,
    Negation,
    Number,
    Operation,
    parse_expression,
)
from certify.arithmetic.scalar import (
    Scalar,
    Undetermined,
    absolute,
    ball,
    divide,
    exponential,
    logarithm,
    maximum,
    minimum,
    multiply,
    power,
    square_root,
    subtract,
)


def formula(side: Callable[[], Scalar]) -> str:
    found = closed_form(side)
    assert found is not None
    return found.text()


def log(n: int) -> Scalar:
    return logarithm(fmpq(n))


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (lambda: fmpq(-2, 3), "-2/3"),
        (lambda: square_root(fmpq(4)), "2"),
        (lambda: log(2), "log(2)"),
        (lambda: -log(2), "-log(2)"),
        (lambda: 3 * log(2) / 7, "3*log(2)/7"),
        (lambda: 1 - exponential(-log(2)), "1 - exp(-log(2))"),
        (lambda: fmpz(3) + log(2) - fmpq(1, 2), "3 + log(2) - 1/2"),
        (lambda: fmpq(1, 3) / log(2), "1/3/log(2)"),
        (lambda: divide(log(2), log(3)), "log(2)/log(3)"),
        (lambda: 1 * log(2) + 0, "log(2)"),
        (lambda: log(2) + fmpq(-1, 3), "log(2) - 1/3"),
        (lambda: subtract(log(2), log(3) + 1), "log(2) - (log(3) + 1)"),
        (lambda: 0 + log(2) * 1, "log(2)"),
        (lambda: log(2) * log(2) * log(2), "log(2)^3"),
        (lambda: power(square_root(fmpq(2)), fmpq(-3)), "1/sqrt(2)^3"),
        (lambda: power(fmpq(2), fmpq(1, 3)), "exp(1/3*log(2))"),
        (lambda: absolute(log(2)), "log(2)"),
        (lambda: ball(log(2)).expm1(), "exp(log(2)) - 1"),
        (lambda: minimum([fmpq(1), log(7)]), "min(1, log(7))"),
        (lambda: maximum([fmpq(1), log(7), log(2)]), "max(1, log(7), log(2))"),
        (lambda: minimum([fmpq(1), fmpq(2)]), "1"),
    ],
)
def test_the_formula_is_what_was_computed(side: Callable[[], Scalar], text: str) -> None:
    assert formula(side) == text


def test_a_ball_from_elsewhere_has_no_formula() -> None:
    measured = arb(2).sqrt()
    for side in (
        lambda: measured,
        lambda: measured + log(2),
        lambda: log(2) + measured,
        lambda: multiply(log(2), measured),
        lambda: minimum([log(2), measured]),
        lambda: ball(log(2)).tanh(),
        lambda: ball(fmpq(1, 3)).union(arb(1)),
    ):
        assert closed_form(side) is None


def test_an_operand_that_min_chose_does_not_pass_for_the_minimum() -> None:
    measured = arb(2).sqrt()
    assert closed_form(lambda: minimum([fmpq(1), measured])) is None
    assert formula(lambda: minimum([fmpq(1), log(2)])) == "min(1, log(2))"


def test_a_part_whose_sign_is_open_has_no_formula() -> None:
    assert formula(lambda: ball(log(2)).nonnegative_part()) == "log(2)"
    assert closed_form(lambda: ball(log(2) - log(2)).nonnegative_part()) is None


def test_an_undetermined_side_has_no_formula() -> None:
    assert closed_form(lambda: divide(fmpq(1), log(2) - log(2))) is None


def test_nothing_is_recorded_outside_even_after_an_error() -> None:
    def fails() -> Scalar:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        closed_form(fails)
    assert type(ball(fmpq(1, 3))) is arb
    assert scalar._recorder is None


def test_what_is_kept_from_a_recorded_evaluation_is_a_ball_like_any_other() -> None:
    kept: list[Any] = []

    def side() -> Scalar:
        kept.append(log(2))
        return fmpq(kept[0] > 0)

    assert formula(side) == "1"
    assert Enclosure.of(kept[0]) == Enclosure.of(log(2))
    assert Enclosure.of(kept[0] + kept[0]) == Enclosure.of(log(2) + log(2))


def test_recording_does_not_round_a_ball_of_more_bits() -> None:
    with ctx.workprec(300):
        fine = log(2)

    def side() -> Scalar:
        with ctx.workprec(300):
            return -log(2)

    with ctx.workprec(64):
        assert formula(side) == "-log(2)"
    with ctx.workprec(300):
        assert Enclosure.of(-fine) == Enclosure.of(side())


@pytest.mark.parametrize("steps", [50, 99, 150, 3000])
def test_a_formula_is_one_that_can_be_read_back(steps: int) -> None:
    def deep() -> Scalar:
        result = log(2)
        for _ in range(steps):
            result = exponential(-result)
        return result

    def wide() -> Scalar:
        result = log(2)
        for _ in range(steps.bit_length()):
            result = result + 1 / result
        return result

    for side in (deep, wide):
        found = closed_form(side)
        if found is not None:
            assert len(found.text()) <= MAX_TEXT_LENGTH
            assert parse_expression(found.text()).text() == found.text()
    assert closed_form(deep) is None or 2 * steps < MAX_DEPTH


def test_a_rational_with_too_many_digits_has_no_formula() -> None:
    assert closed_form(lambda: fmpq(10**4990)) is not None
    assert closed_form(lambda: fmpq(10**5010)) is None
    assert closed_form(lambda: fmpq(10**5010) * log(2)) is None


def trees() -> st.SearchStrategy[Expression]:
    numbers = st.builds(
        lambda p, q: Number(f"{p}/{q}"), st.integers(min_value=-20, max_value=20), st.integers(min_value=1, max_value=9)
    )

    def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        exponents = st.sampled_from(["-3", "-1", "0", "2", "5", "1/2", "3/2"]).map(Number)
        return st.one_of(
            st.builds(Operation, st.sampled_from("+-*/"), inner, inner),
            st.builds(lambda base, exponent: Operation("^", base, exponent), inner, exponents),
            st.builds(Negation, inner),
            st.builds(lambda f, x: Call(f, (x,)), st.sampled_from(["sqrt", "log", "exp", "abs"]), inner),
            st.builds(lambda f, x, y: Call(f, (x, y)), st.sampled_from(["min", "max"]), inner, inner),
        )

    return st.recursive(numbers, grown, max_leaves=12)


@given(trees())
@example(parse_expression("(1 - log(2))^2*(1 - log(2))^3/(1 - log(2))^-1"))
@example(parse_expression("-(-3)^3*log(2) - (-log(2))^2"))
@example(parse_expression("min(log(2), -1/3)^2 - max(2/3, log(2))"))
@example(parse_expression("log(3)/(log(2)/log(5)) - (1 - (1 - log(2)))"))
def test_the_formula_denotes_the_number(tree: Expression) -> None:
    with ctx.workprec(128):
        try:
            number = tree.value({})
        except (ExpressionError, Undetermined):
            return
        found = closed_form(lambda: tree.value({}))
    if found is None:
        return
    read = parse_expression(found.text())
    with ctx.workprec(256):
        try:
            again = read.value({})
        except Undetermined:
            return
    assert Enclosure.of(again).overlaps(Enclosure.of(number))


def test_the_formula_of_every_operation_is_told_from_its_neighbours() -> None:
    """The overlap asked for above means something: formulas of different operations do not overlap."""
    x, y = log(2), square_root(fmpq(3))
    sides: list[Callable[[], Scalar]] = [
        lambda: log(2) + square_root(fmpq(3)),
        lambda: log(2) - square_root(fmpq(3)),
        lambda: square_root(fmpq(3)) - log(2),
        lambda: log(2) * square_root(fmpq(3)),
        lambda: log(2) / square_root(fmpq(3)),
        lambda: square_root(fmpq(3)) / log(2),
    ]
    values = [Enclosure.of(v) for v in (x + y, x - y, y - x, x * y, x / y, y / x)]
    for i, side in enumerate(sides):
        found = Enclosure.of(parse_expression(formula(side)).value({}))
        assert [found.overlaps(value) for value in values] == [i == j for j in range(len(values))]
