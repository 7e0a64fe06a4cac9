"""certify.arithmetic.scalar: inclusion, exactness, and domains."""

from collections.abc import Callable

import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import example, given
from hypothesis import strategies as st
from taylor import exp_bounds

from certify.arithmetic import scalar
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Scalar, Undefined, Undetermined

HALF, THIRD = fmpq(1, 2), fmpq(1, 3)
STRADDLING = arb(0, 1)

rationals = st.builds(fmpq, st.integers(-1000, 1000), st.integers(1, 1000))
positives = st.builds(fmpq, st.integers(1, 10**6), st.integers(1, 10**6))


@st.composite
def enclosed(draw: st.DrawFn) -> tuple[fmpq, Scalar]:
    """A rational, and either itself or a ball, wide or narrow, that contains it."""
    truth = draw(rationals)
    if draw(st.booleans()):
        return truth, truth
    other = truth + draw(rationals) / fmpq(10) ** draw(st.integers(0, 20))
    return truth, Enclosure(min(truth, other), max(truth, other)).ball()


BINARY: list[tuple[Callable[[Scalar, Scalar], Scalar], Callable[[fmpq, fmpq], fmpq]]] = [
    (scalar.add, lambda x, y: x + y),
    (scalar.subtract, lambda x, y: x - y),
    (scalar.multiply, lambda x, y: x * y),
    (scalar.divide, lambda x, y: x / y),
    (lambda x, y: scalar.minimum([x, y]), lambda x, y: x if x < y else y),
    (lambda x, y: scalar.maximum([x, y]), lambda x, y: x if x > y else y),
]


@pytest.mark.parametrize(("operation", "truth"), BINARY)
@given(enclosed(), enclosed())
@example((fmpq(0), fmpq(0)), (fmpq(0), fmpq(0)))
@example((fmpq(0), STRADDLING), (fmpq(0), STRADDLING))
@example((THIRD, arb(1) / 3), (THIRD, THIRD))
def test_binary_operations_include_the_truth(
    operation: Callable[[Scalar, Scalar], Scalar],
    truth: Callable[[fmpq, fmpq], fmpq],
    x: tuple[fmpq, Scalar],
    y: tuple[fmpq, Scalar],
) -> None:
    exact_operands = isinstance(x[1], fmpq) and isinstance(y[1], fmpq)
    try:
        result = operation(x[1], y[1])
    except Undefined:
        with pytest.raises(ZeroDivisionError):
            truth(x[0], y[0])
        return
    except Undetermined:
        assert not exact_operands
        return
    assert Enclosure.of(result).contains(truth(x[0], y[0]))
    assert isinstance(result, fmpq) or not exact_operands


@given(enclosed(), st.integers(-9, 9))
@example((fmpq(0), STRADDLING), 1)  # arb(0, 1) ** 1 is nan
@example((fmpq(0), STRADDLING), 2)
@example((fmpq(-1, 3), arb(-1) / 3), -3)
@example((fmpq(0), fmpq(0)), 0)
@example((fmpq(0), fmpq(0)), -1)
def test_integer_powers_include_the_truth(x: tuple[fmpq, Scalar], n: int) -> None:
    try:
        result = scalar.power(x[1], fmpq(n))
    except Undefined:
        assert x[0] == 0 and n < 0
        return
    except Undetermined:
        assert n < 0 and isinstance(x[1], arb)
        return
    enclosure = Enclosure.of(result)
    assert enclosure.contains(x[0] ** n)
    assert n % 2 == 1 or (enclosure.lower is not None and enclosure.lower >= 0)


@given(enclosed())
@example((fmpq(0), STRADDLING))
@example((fmpq(-1), arb(0, 1)))
@example((fmpq(-3), Enclosure(fmpq(-3), fmpq(1)).ball()))
@example((fmpq(1, 10**6), arb(1, 4)))
def test_absolute_value_includes_the_truth_and_is_not_negative(x: tuple[fmpq, Scalar]) -> None:
    enclosure = Enclosure.of(scalar.absolute(x[1]))
    assert enclosure.contains(abs(x[0]))
    assert enclosure.lower is not None and enclosure.lower >= 0


@given(positives)
@example(fmpq(2))
@example(fmpq(1, 10**40))
def test_square_roots_bracket_the_argument(q: fmpq) -> None:
    enclosure = Enclosure.of(scalar.square_root(q))
    assert enclosure.lower is not None and enclosure.upper is not None
    assert enclosure.lower**2 <= q <= enclosure.upper**2
    assert enclosure.upper - enclosure.lower <= enclosure.upper / 2**48
    if enclosure.is_exact:
        assert enclosure.upper**2 == q


@given(rationals)
@example(fmpq(-1000))
@example(fmpq(1, 10**12))
def test_exponentials_agree_with_taylor(q: fmpq) -> None:
    low, high = exp_bounds(q)
    enclosure = Enclosure.of(scalar.exponential(q))
    assert enclosure.lower is not None and enclosure.upper is not None
    assert enclosure.lower <= high and low <= enclosure.upper
    assert enclosure.upper - enclosure.lower <= high / 2**40


@given(positives)
@example(fmpq(10**30 + 1, 10**30))
def test_logarithms_agree_with_taylor(q: fmpq) -> None:
    with ctx.workprec(100):
        enclosure = Enclosure.of(scalar.logarithm(q))
    assert enclosure.lower is not None and enclosure.upper is not None
    assert exp_bounds(enclosure.lower)[0] <= q <= exp_bounds(enclosure.upper)[1]
    assert enclosure.upper - enclosure.lower <= fmpq(1, 2**90)


@given(positives, rationals)
@example(fmpq(2), HALF)
@example(fmpq(1), fmpq(3, 7))
def test_real_powers_are_exponentials_of_logarithms(x: fmpq, y: fmpq) -> None:
    power = Enclosure.of(scalar.power(x, y))
    with ctx.workprec(200):
        assert power.overlaps(Enclosure.of((arb(y) * arb(x).log()).exp()))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (scalar.square_root(fmpq(4, 9)), fmpq(2, 3)),
        (scalar.square_root(fmpq(0)), fmpq(0)),
        (scalar.logarithm(fmpq(1)), fmpq(0)),
        (scalar.exponential(fmpq(0)), fmpq(1)),
        (scalar.power(fmpq(8, 27), fmpq(2, 3)), fmpq(4, 9)),
        (scalar.power(fmpq(8, 27), fmpq(-2, 3)), fmpq(9, 4)),
        (scalar.power(fmpq(0), HALF), fmpq(0)),
        (scalar.power(fmpq(0), arb(2).sqrt()), fmpq(0)),
        (scalar.power(fmpq(0), fmpq(0)), fmpq(1)),
        (scalar.power(fmpq(1), fmpq(10) ** 1000), fmpq(1)),
        (scalar.power(fmpq(-1), fmpq(10) ** 1000 + 1), fmpq(-1)),
        (scalar.power(fmpq(-1), fmpq(10) ** 1000), fmpq(1)),
        (scalar.power(fmpq(0), fmpq(10) ** 1000), fmpq(0)),
        (scalar.power(fmpq(1), fmpq(1, 10**30)), fmpq(1)),
        (scalar.power(STRADDLING, fmpq(0)), fmpq(1)),
        (scalar.power(fmpq(2), fmpq(-250_000)), fmpq(1, fmpz(2) ** 250_000)),
        (scalar.multiply(fmpq(0), arb(2).sqrt()), fmpq(0)),
        (scalar.divide(fmpq(0), arb(2).sqrt()), fmpq(0)),
        (scalar.minimum([fmpq(1), arb(2).sqrt(), fmpq(2)]), fmpq(1)),
        (scalar.maximum([fmpq(1), arb(2).sqrt(), fmpq(2)]), fmpq(2)),
    ],
)
def test_rational_results_stay_rational(value: Scalar, expected: fmpq) -> None:
    assert isinstance(value, fmpq)
    assert value == expected


@pytest.mark.parametrize(
    "operation",
    [
        lambda: scalar.divide(fmpq(1), fmpq(0)),
        lambda: scalar.divide(arb(2).sqrt(), fmpq(0)),
        lambda: scalar.divide(fmpq(1), arb(0)),
        lambda: scalar.logarithm(fmpq(0)),
        lambda: scalar.logarithm(fmpq(-1, 10**100)),
        lambda: scalar.logarithm(-arb(2).sqrt()),
        lambda: scalar.logarithm(arb((-1, 0), (1, 0))),  # at most 0
        lambda: scalar.square_root(fmpq(-1, 10**100)),
        lambda: scalar.square_root(-arb(2).sqrt()),
        lambda: scalar.power(fmpq(-8), THIRD),
        lambda: scalar.power(fmpq(-8), arb(2).sqrt()),
        lambda: scalar.power(fmpq(0), fmpq(-1)),
        lambda: scalar.power(fmpq(0), -HALF),
        lambda: scalar.power(fmpq(0), -arb(2).sqrt()),
        lambda: scalar.power(fmpq(10), fmpq(10) ** 10),
        lambda: scalar.power(THIRD, fmpq(-(10**9))),
        lambda: scalar.power(arb(2).sqrt(), fmpq(2) ** 65),
        lambda: scalar.multiply(fmpq(2) ** 300_000, fmpq(2) ** 300_000),
        lambda: scalar.add(fmpq(1, fmpz(3) ** 200_000), fmpq(1, fmpz(5) ** 100_000)),
    ],
)
def test_what_is_certainly_undefined_or_too_large_is_refused(operation: Callable[[], Scalar]) -> None:
    with pytest.raises(Undefined, match=r"."):
        operation()


@pytest.mark.parametrize(
    "operation",
    [
        lambda: scalar.divide(fmpq(1), STRADDLING),
        lambda: scalar.divide(fmpq(0), STRADDLING),
        lambda: scalar.logarithm(STRADDLING),
        lambda: scalar.logarithm(arb((1, 0), (1, 0))),  # may be 0
        lambda: scalar.square_root(STRADDLING),
        lambda: scalar.power(STRADDLING, HALF),
        lambda: scalar.power(STRADDLING, fmpq(-2)),
        lambda: scalar.power(fmpq(0), STRADDLING),
        lambda: scalar.power(fmpq(-8), arb(3)),
        lambda: scalar.exponential(fmpq(10) ** 200),
        lambda: scalar.finite(arb("nan")),
        lambda: scalar.add(arb("inf"), fmpq(1)),
        lambda: scalar.multiply(fmpq(0), arb("inf")),
        lambda: scalar.power(arb("nan"), fmpq(1)),
        lambda: scalar.minimum([fmpq(1), arb("nan")]),
        lambda: scalar.maximum([arb("nan"), fmpq(1)]),
    ],
)
def test_what_cannot_be_told_is_undetermined(operation: Callable[[], Scalar]) -> None:
    with pytest.raises(Undetermined, match=r"bits"):
        operation()


def test_an_operand_that_is_rounded_is_still_contained() -> None:
    with ctx.workprec(10):
        total = Enclosure.of(scalar.add(THIRD, arb(2).sqrt()))
    assert total.lower is not None and total.upper is not None
    assert (total.lower - THIRD) ** 2 < 2 < (total.upper - THIRD) ** 2
