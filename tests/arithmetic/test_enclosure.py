"""certify.arithmetic.enclosure: exact ends, and decimals that never round inward."""

import re
from collections.abc import Callable

import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.enclosure import MAX_MAGNITUDE_BITS, Enclosure
from certify.arithmetic.exact import parse_rational

THIRD = fmpq(1, 3)
EVERYTHING = Enclosure(None, None)
TINY = fmpq(1, fmpz(2) ** 250_000)

rationals = st.builds(
    lambda p, q, e: fmpq(p, q) * fmpq(10) ** e,
    st.integers(-(10**25), 10**25),
    st.integers(1, 10**25),
    st.integers(-60, 60),
)
ends = st.none() | rationals


def ordered(x: fmpq | None, y: fmpq | None) -> Enclosure:
    return Enclosure(y, x) if x is not None and y is not None and y < x else Enclosure(x, y)


enclosures = st.builds(ordered, ends, ends)


def value_of(text: str) -> fmpq:
    """The number a decimal text denotes, whatever its exponent (parse_rational caps it)."""
    match = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:e(-?[0-9]+))?", text)
    assert match is not None, text
    sign, whole, decimals, exponent = match.groups()
    units = fmpz(whole + (decimals or "")) * (-1 if sign else 1)
    return units * fmpq(10) ** (int(exponent or 0) - len(decimals or ""))


def significant_digits(text: str) -> int:
    return len(re.sub(r"e.*|[-.]", "", text).strip("0"))


def lies_below(x: Enclosure, y: Enclosure) -> bool:
    return x.upper is not None and y.lower is not None and x.upper < y.lower


# ---- construction


@given(rationals)
@example(fmpq(0))
def test_a_rational_is_its_own_enclosure(q: fmpq) -> None:
    enclosure = Enclosure.of(q)
    assert (enclosure.lower, enclosure.upper) == (q, q)
    assert enclosure.is_exact and enclosure.width() == 0


def test_an_int_is_exact_and_other_types_are_refused() -> None:
    assert Enclosure.of(3) == Enclosure(fmpq(3), fmpq(3))
    for wrong in (True, 0.5, "1", None):
        with pytest.raises(TypeError, match=type(wrong).__name__):
            Enclosure.of(wrong)  # type: ignore[arg-type]


@given(st.integers(-(10**40), 10**40), st.integers(-200, 200), st.integers(0, 10**8), st.integers(-60, 60))
@example(1, 0, 0, 0)
@example(0, 0, 1, 0)
def test_a_ball_has_its_exact_ends(mantissa: int, exponent: int, radius: int, shift: int) -> None:
    ball = arb((mantissa, exponent), (radius, exponent + shift))
    enclosure = Enclosure.of(ball)
    middle, reach = ball.mid().fmpq(), ball.rad().fmpq()
    assert enclosure.lower is not None and enclosure.upper is not None
    assert enclosure.lower <= middle - reach and middle + reach <= enclosure.upper
    assert (middle - reach) - enclosure.lower <= (abs(middle) + reach) / 2**60
    assert enclosure.upper - (middle + reach) <= (abs(middle) + reach) / 2**60


def test_a_precise_ball_is_not_widened_at_a_low_precision() -> None:
    with ctx.workprec(300):
        root = arb(2).sqrt()
        fine = Enclosure.of(root)
    assert Enclosure.of(root).width() == fine.width() < fmpq(1, 2**290)


@pytest.mark.parametrize("ball", [arb("nan"), arb("inf") - arb("inf"), arb(0, "inf")], ids=lambda b: b.repr())
def test_a_ball_that_says_nothing_is_everything(ball: arb) -> None:
    assert Enclosure.of(ball) == EVERYTHING


def test_infinities_are_unbounded_ends() -> None:
    huge = fmpq(fmpz(2) ** MAX_MAGNITUDE_BITS)
    assert Enclosure.of(arb("inf")).upper is None
    assert Enclosure.of(arb("-inf")).lower is None
    assert Enclosure.of(arb(10**25).exp()) == Enclosure(huge, None)
    assert Enclosure.of(-arb(10**25).exp()) == Enclosure(None, -huge)


def test_magnitudes_beyond_the_limit_move_outward() -> None:
    tiny = fmpq(1, fmpz(2) ** MAX_MAGNITUDE_BITS)
    assert Enclosure.of(arb((1, -(10**30)))) == Enclosure(fmpq(0), tiny)
    assert Enclosure.of(arb((-1, -(10**30)))) == Enclosure(-tiny, fmpq(0))
    assert Enclosure.of(arb((0, 0), (1, -(10**30)))) == Enclosure(-tiny, tiny)
    one = Enclosure.of(arb((1, 0), (1, -(10**30))))
    assert one.contains(fmpq(1)) and not one.is_exact


def test_reversed_ends_are_refused() -> None:
    with pytest.raises(ValueError, match="lower <= upper"):
        Enclosure(fmpq(1), THIRD)


# ---- relations


@given(enclosures)
@example(Enclosure(THIRD, THIRD))
@example(Enclosure(THIRD, fmpq(1, 3) + fmpq(1, 10**30)))
@example(Enclosure(fmpq(0), None))
def test_the_ball_contains_the_enclosure(enclosure: Enclosure) -> None:
    ball = Enclosure.of(enclosure.ball())
    for end in (enclosure.lower, enclosure.upper):
        assert end is None or ball.contains(end)
    if enclosure.lower is None or enclosure.upper is None:
        assert ball == EVERYTHING
    else:
        size = max(abs(enclosure.lower), abs(enclosure.upper))
        assert ball.upper is not None and ball.upper - enclosure.upper <= size / 2**25


@given(enclosures, enclosures)
@example(Enclosure(fmpq(0), fmpq(1)), Enclosure(fmpq(1), fmpq(2)))
@example(EVERYTHING, Enclosure(THIRD, THIRD))
def test_hull_and_overlap(x: Enclosure, y: Enclosure) -> None:
    hull = x.hull(y)
    assert hull == y.hull(x) and x.hull(x) == x
    for part in (x, y):
        assert hull.lower is None or (part.lower is not None and hull.lower <= part.lower)
        assert hull.upper is None or (part.upper is not None and part.upper <= hull.upper)
    assert hull.lower in (x.lower, y.lower) and hull.upper in (x.upper, y.upper)
    apart = any(a.upper is not None and b.lower is not None and a.upper < b.lower for a, b in [(x, y), (y, x)])
    assert x.overlaps(y) is y.overlaps(x) is not apart
    shared = [end for end in (x.lower, x.upper) if end is not None and y.contains(end)]
    assert not shared or x.overlaps(y)


def test_a_hair_outside_is_outside() -> None:
    hair = fmpq(1, fmpz(10) ** 5000)
    unit = Enclosure(fmpq(0), fmpq(1))
    assert unit.contains(fmpq(1)) and not unit.contains(1 + hair)
    assert unit.contains(fmpq(0)) and not unit.contains(-hair)
    assert unit.overlaps(Enclosure(fmpq(1), None)) and not unit.overlaps(Enclosure(1 + hair, None))
    assert Enclosure(None, fmpq(0)).contains(fmpq(-(10**9))) and not Enclosure(None, fmpq(0)).contains(hair)


def test_the_width_of_an_unbounded_enclosure_is_none() -> None:
    assert Enclosure(fmpq(0), None).width() is None and EVERYTHING.width() is None
    assert not EVERYTHING.is_exact and not Enclosure(fmpq(0), None).is_exact


# ---- decimals


@given(enclosures, st.integers(1, 30))
@example(Enclosure(THIRD, THIRD), 12)
@example(Enclosure(-THIRD, -THIRD), 12)
@example(Enclosure(fmpq(999_999_999_999_999, 10**15), fmpq(1)), 12)
@example(Enclosure(fmpq(-1), fmpq(-999_999_999_999_999, 10**15)), 12)
@example(Enclosure(TINY, 3 * TINY), 12)
@example(Enclosure(-3 * TINY, 1 / TINY), 3)
def test_decimals_are_outward_and_close(enclosure: Enclosure, digits: int) -> None:
    text = enclosure.decimals(digits)
    assert (enclosure.lower is None) is (text["lower"] == "-inf")
    assert (enclosure.upper is None) is (text["upper"] == "inf")
    unit = fmpq(10) ** (1 - digits)
    if enclosure.lower is not None:
        slack = enclosure.lower - value_of(text["lower"])
        assert slack >= 0 and (slack == 0 or slack < abs(enclosure.lower) * unit)
    if enclosure.upper is not None:
        slack = value_of(text["upper"]) - enclosure.upper
        assert slack >= 0 and (slack == 0 or slack < abs(enclosure.upper) * unit)
    if not enclosure.is_exact:
        assert all(significant_digits(end) <= digits for end in text.values() if "inf" not in end)


@given(st.integers(-(10**12) + 1, 10**12 - 1), st.integers(-40, 40))
@example(1, -1)
@example(0, 0)
@example(-(10**11), 11)
def test_short_decimals_are_exact_on_both_ends(units: int, exponent: int) -> None:
    q = units * fmpq(10) ** exponent
    text = Enclosure.of(q).decimals(12)
    assert text["lower"] == text["upper"]
    assert value_of(text["lower"]) == parse_rational(text["lower"]) == q


@pytest.mark.parametrize(
    ("value", "lower", "upper"),
    [
        (fmpq(0), "0", "0"),
        (arb(0), "0", "0"),
        (fmpq(1, 2), "0.5", "0.5"),
        (fmpq(-3), "-3", "-3"),
        (fmpq(1, 64), "0.015625", "0.015625"),
        (fmpq(1, 2**20), "9.5367431640625e-7", "9.5367431640625e-7"),
        (THIRD, "0.333333333333", "0.333333333334"),
        (-THIRD, "-0.333333333334", "-0.333333333333"),
        (fmpq(2, 3) / 10**9, "6.66666666666e-10", "6.66666666667e-10"),
        (fmpq(1, 10**4), "0.0001", "0.0001"),
        (fmpq(1, 10**5), "1e-5", "1e-5"),
        (fmpq(10**20), "100000000000000000000", "100000000000000000000"),
        (fmpq(10**21), "1e21", "1e21"),
        (fmpq(2**64), "18446744073709551616", "18446744073709551616"),
        (fmpq(10**30 - 1), "9.99999999999e29", "1e30"),
        (fmpq(1, 10**2) - fmpq(1, 10**30), "0.00999999999999", "0.01"),
        (1 - arb(fmpq(1, 2**50)), "0.999999999999", "1"),
        (fmpq(1, fmpz(2) ** 250_000), "3.17018060534e-75258", "3.17018060535e-75258"),
        (fmpq(12, fmpz(10) ** 250_877), "1.2e-250876", "1.2e-250876"),
        (arb((0, 0), (1, -10)), "-0.0009765625", "0.0009765625"),
        (arb("nan"), "-inf", "inf"),
    ],
)
def test_printed_forms(value: fmpq | arb, lower: str, upper: str) -> None:
    assert Enclosure.of(value).decimals() == {"lower": lower, "upper": upper}


def test_the_printed_tiny_power_agrees_with_its_logarithm() -> None:
    with ctx.workprec(200):
        mantissa = (arb(10).log() * 75_258 - arb(2).log() * 250_000).exp()
    assert mantissa > fmpq(317018060534, 10**11) and mantissa < fmpq(317018060535, 10**11)


@pytest.mark.parametrize("narrow", [lambda: arb(2).sqrt(), lambda: arb.pi(), lambda: arb(-7).exp()])
def test_a_tight_enclosure_shows_the_digits_asked_for(narrow: Callable[[], arb]) -> None:
    with ctx.workprec(200):
        text = Enclosure.of(narrow()).decimals(20)
    lower, upper = value_of(text["lower"]), value_of(text["upper"])
    assert upper - lower <= fmpq(10) ** -18 * upper
    assert max(significant_digits(end) for end in text.values()) >= 19


def test_no_digits_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one digit"):
        Enclosure.of(1).decimals(0)
