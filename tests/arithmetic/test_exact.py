"""certify.arithmetic.exact: exact rationals from text."""

import re
from fractions import Fraction

import pytest
from flint import fmpq, fmpz
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.exact import NumberError, parse_rational, shown

digits = st.text("0123456789", min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", fmpq(0)),
        ("-0", fmpq(0)),
        ("007", fmpq(7)),
        ("0.1", fmpq(1, 10)),
        ("-0.25", fmpq(-1, 4)),
        ("2/6", fmpq(1, 3)),
        ("-1/3", fmpq(-1, 3)),
        ("0/5", fmpq(0)),
        ("1e3", fmpq(1000)),
        ("1E+3", fmpq(1000)),
        ("1.50e-2", fmpq(3, 200)),
        ("0.1e1", fmpq(1)),
        ("1e0000003", fmpq(1000)),
        ("1e-9999", fmpq(1, fmpz(10) ** 9999)),
        ("1.5e9999", fmpq(15 * fmpz(10) ** 9998)),
        ("9" * 5000, fmpq(fmpz(10) ** 5000 - 1)),
    ],
)
def test_reads_exactly(text: str, expected: fmpq) -> None:
    assert parse_rational(text) == expected


@given(st.sampled_from(["", "-"]), digits, digits, st.integers(-50, 50))
@example("", "0", "1000000000000000055511151231257827", 0)  # the double nearest 0.1 is not 1/10
@example("-", "0", "0", -50)
def test_decimals_agree_with_the_definition(sign: str, whole: str, decimals: str, exponent: int) -> None:
    value = Fraction(int(whole + decimals)) * Fraction(10) ** (exponent - len(decimals))
    expected = -value if sign else value
    parsed = parse_rational(f"{sign}{whole}.{decimals}e{exponent}")
    assert (int(parsed.p), int(parsed.q)) == (expected.numerator, expected.denominator)


@given(st.integers(), st.integers(1))
def test_fractions_agree_with_the_definition(p: int, q: int) -> None:
    assert parse_rational(f"{p}/{q}") == fmpq(p, q)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a number"),
        (" 1", "not a number"),
        ("1\n", "not a number"),
        ("+1", "not a number"),
        ("--1", "not a number"),
        (".5", "not a number"),
        ("5.", "not a number"),
        ("1_000", "not a number"),
        ("0x10", "not a number"),
        ("٣", "not a number"),
        ("１", "not a number"),
        ("nan", "not a number"),
        ("Infinity", "not a number"),
        ("1e", "not a number"),
        ("1e-+5", "not a number"),
        ("1e5.0", "not a number"),
        ("1/2e3", "not a number"),
        ("1.5/2", "not a number"),
        ("1/-2", "not a number"),
        ("1/2/3", "not a number"),
        ("1,5", "not a number"),
        ("true", "not a number"),
        ("1/0", "denominator 0"),
        ("1/000", "denominator 0"),
        ("1e3000000", "exponent beyond"),
        ("1e-10000", "exponent beyond"),
        ("0e99999999999999999999", "exponent beyond"),
        ("1" * 5001, "5001 characters is too long"),
        ("1" * 100_000, "100000 characters is too long"),
        ("x" * 100_000, "100000 characters is too long"),
    ],
)
def test_hostile_text_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(NumberError, match=re.escape(reason)) as caught:
        parse_rational(text)
    assert len(str(caught.value)) < 200
    assert "write" in str(caught.value) or "use" in str(caught.value)


@given(st.text())
@example("0" * 50 + "\x00")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = parse_rational(text)
    except NumberError:
        return
    assert text.isascii() and isinstance(value, fmpq)


@given(st.text())
def test_shown_text_is_short_printable_ascii(text: str) -> None:
    assert shown(text).isascii() and shown(text).isprintable()
    assert len(shown(text, limit=3)) <= 3 * len(r"\U0010ffff") + 5
