"""certify.arithmetic.expression: the grammar, exactness, domains, and hostile text."""

import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import example, given
from hypothesis import strategies as st

import certify
from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.expression import (
    ExpressionError,
    Number,
    Undetermined,
    parse_expression,
)
from certify.arithmetic.expression_parser import parse_tree
from certify.arithmetic.scalar import Scalar

EXACT: dict[str, Scalar] = {"n": fmpq(5), "epsilon": fmpq(1, 2), "T": fmpq(3), "_x1": fmpq(-2, 3)}


def evaluate(text: str, environment: Mapping[str, Scalar] = EXACT) -> Scalar:
    return parse_expression(text).value(environment)


# ---- the grammar


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", fmpq(12)),
        ("0.1", fmpq(1, 10)),
        ("1e-3", fmpq(1, 1000)),
        ("-1/3", fmpq(-1, 3)),
        ("  7\t", fmpq(7)),
        ("n", fmpq(5)),
        ("_x1 + T", fmpq(7, 3)),
        ("1 + 2 * 3", fmpq(7)),
        ("(1 + 2) * 3", fmpq(9)),
        ("10 - 4 - 3", fmpq(3)),
        ("10 - (4 - 3)", fmpq(9)),
        ("2 / 3 / 4", fmpq(1, 6)),
        ("2 / 3 * 4", fmpq(8, 3)),
        ("1/2^3", fmpq(1, 8)),
        ("2^3^2", fmpq(512)),
        ("(2^3)^2", fmpq(64)),
        ("-2^2", fmpq(-4)),
        ("(-2)^2", fmpq(4)),
        ("2^-12", fmpq(1, 4096)),
        ("2^-2^2", fmpq(1, 16)),
        ("2*-3", fmpq(-6)),
        ("2--3", fmpq(5)),
        ("--3", fmpq(3)),
        ("-n*2", fmpq(-10)),
        ("1e2*n", fmpq(500)),
        ("sqrt(4/9)", fmpq(2, 3)),
        ("8^(2/3)", fmpq(4)),
        ("4^0.5", fmpq(2)),
        ("log(1) + exp(0)", fmpq(1)),
        ("min(3, n, 1/2)", fmpq(1, 2)),
        ("max(3)", fmpq(3)),
        ("ceil(7/2) - floor(7/2)", fmpq(1)),
        ("ceil(-7/2)", fmpq(-3)),
        ("floor(-7/2)", fmpq(-4)),
        ("abs(-7/2)", fmpq(7, 2)),
        ("0*log(2)", fmpq(0)),
        ("0^0", fmpq(1)),
        ("max(1, log(2))", fmpq(1)),
        ("ceil(3/epsilon)", fmpq(6)),
        ("(log(2))^0", fmpq(1)),
    ],
)
def test_values_are_exact_rationals(text: str, expected: fmpq) -> None:
    value = evaluate(text)
    assert isinstance(value, fmpq)
    assert value == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("128*log(4)", lambda: 256 * arb(2).log()),
        ("2^0.5", lambda: arb(2).sqrt()),
        ("n^epsilon", lambda: arb(5).sqrt()),
        ("exp(-epsilon)", lambda: arb(fmpq(-1, 2)).exp()),
        ("sqrt(2)^-3", lambda: arb(fmpq(1, 8)).sqrt()),
        ("abs(log(1/2))", lambda: arb(2).log()),
        ("min(log(2), sqrt(2))", lambda: arb(2).log()),
        ("max(sqrt(2), 7/5)", lambda: arb(2).sqrt()),
        ("log(2)/3 - 1", lambda: arb(2).log() / 3 - 1),
        ("(-sqrt(2))^3", lambda: -arb(8).sqrt()),
    ],
)
def test_irrational_values_are_tight_balls(text: str, same) -> None:  # type: ignore[no-untyped-def]
    value = evaluate(text)
    assert isinstance(value, arb)
    enclosure = Enclosure.of(value)
    width = enclosure.width()
    assert width is not None and width < fmpq(1, 2**40)
    with ctx.workprec(200):
        assert enclosure.overlaps(Enclosure.of(same()))


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("", 1, "the end where a number"),
        ("   ", 4, "the end where a number"),
        ("1+", 3, "the end where a number"),
        ("(1", 3, "a closing bracket is missing"),
        ("log(2", 6, "a closing bracket is missing"),
        ("1)", 2, "')' where an operator"),
        ("()", 2, "')' where a number"),
        ("min()", 5, "')' where a number"),
        ("min(1,)", 7, "')' where a number"),
        ("2n", 2, "'n' where an operator"),
        ("2 3", 3, "'3' where an operator"),
        ("2(3)", 2, "'(' where an operator"),
        ("(2)(3)", 4, "'(' where an operator"),
        ("1 + * 2", 5, "'*' where a number"),
        ("+1", 1, "'+' where a number"),
        ("2**3", 3, "write ^ for a power"),
        (".5", 1, "'.' where a number"),
        ("1.", 2, "'.' where an operator"),
        ("n.real", 2, "'.' where an operator"),
        ("1,2", 2, "',' where an operator"),
        ("1;2", 2, "';' where an operator"),
        ("x = 2", 3, "'=' where an operator"),
        ("1\n+2", 2, r"'\n' where an operator"),
        ("1_000", 2, "'_000' where an operator"),
        ("2^", 3, "the end where a number"),
        ("__import__('os')", 12, "where a number"),
        ("lambda: 1", 7, "':' where an operator"),
        ("[1]", 1, "'[' where a number"),
        ("ε + 1", 1, r"'\u03b5' where a number"),
        ("1 − 2", 3, r"'\u2212' where an operator"),
        ("foo(1)", 1, "unknown function 'foo'; the functions are sqrt, log"),
        ("1 + eval(1)", 5, "unknown function 'eval'"),
        ("1 + log", 5, "log is a function; write log"),
        (" log ", 2, "log is a function; write log"),
        ("sqrt(1, 2)", 1, "sqrt takes one argument, not 2"),
        ("2 * 1e3000000", 5, "exponent beyond"),
        ("  1e3000000", 3, "exponent beyond"),
    ],
)
def test_errors_name_the_column_and_the_reason(text: str, column: int, reason: str) -> None:
    with pytest.raises(ExpressionError, match=rf"^column {column}: .*{re.escape(reason)}") as caught:
        parse_expression(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1" * 100_000, "100000 characters is too long"),
        ("(" * 100_000, "100000 characters is too long"),
        ("(" * 5_000, "column 5001: the end"),
        ("-" * 3_000 + "1", "more than 100 deep"),
        ("+".join("1" * 2_000), "more than 100 deep"),
        ("2^" * 2_000 + "1", "more than 100 deep"),
        ("exp(" * 101 + "0" + ")" * 101, "more than 100 deep"),
    ],
)
def test_oversized_text_is_refused_in_few_words(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=reason) as caught:
        parse_expression(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2^2^2^2^2^2", "524288 bits, in '2^2^2^2^2^2'"),
        ("10^10^10", "524288 bits, in '10^10^10'"),
        ("(1/3)^(10^9)", "524288 bits"),
        ("9^9^9^9", "524288 bits"),
        ("2^-10^9", "524288 bits"),
        ("(2^300000)*(2^300000)", "524288 bits"),
        ("sqrt(2)^(10^30)", "beyond 2^64"),
        ("+".join(f"3^{k}00000" for k in [1] * 30), "the exact values together"),
        ("1/0", "division by zero, in '1/0'"),
        ("1/(2-2)", "division by zero, in '1/(2 - 2)'"),
        ("0^-1", "division by zero"),
        ("0^(-1/2)", "division by zero"),
        ("1/(n-5)", "division by zero"),
        ("log(0)", "not positive, in 'log(0)'"),
        ("log(-1)", "not positive"),
        ("log(-sqrt(2))", "not positive"),
        ("sqrt(-1)", "square root of a negative number"),
        ("sqrt(log(1/2))", "square root of a negative number"),
        ("(-8)^(1/3)", "negative number whose exponent is not an integer"),
        ("(-8)^sqrt(2)", "negative number whose exponent is not an integer"),
        ("alpha", "unknown name 'alpha'; the names are: T, _x1, epsilon, n"),
        ("1 + __class__", "unknown name '__class__'"),
    ],
)
def test_values_that_do_not_exist_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(reason)) as caught:
        evaluate(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1/(sqrt(2)*sqrt(2)-2)", "divisor cannot be separated from 0 at 53 bits"),
        ("log(sqrt(2)*sqrt(2)-2)", "log cannot be separated from 0"),
        ("sqrt(sqrt(2)*sqrt(2)-2)", "sqrt cannot be separated from 0"),
        ("(sqrt(2)*sqrt(2)-2)^0.5", "base of a power cannot be separated from 0"),
        ("0^(sqrt(2)*sqrt(2)-2)", "exponent of a power of 0"),
        ("ceil(log(8)/log(2))", "separated from the integer 3 at 4096 bits, in 'ceil(log(8)/log(2))'"),
        ("floor(sqrt(2)*sqrt(2))", "separated from the integer 2 at 4096 bits"),
        ("exp(exp(exp(10)))", "no finite enclosure"),
        ("ceil(exp(10^6))", "separated from an integer at 4096 bits"),
        ("ceil(1/(sqrt(2)*sqrt(2)-2))", "divisor cannot be separated from 0 at 4096 bits"),
    ],
)
def test_what_the_balls_cannot_tell_is_undetermined(text: str, reason: str) -> None:
    with pytest.raises(Undetermined, match=re.escape(reason)) as caught:
        evaluate(text)
    assert len(str(caught.value)) < 200
    assert ctx.prec == 53


# ---- ceil and floor


def test_rounding_takes_the_precision_it_needs() -> None:
    assert evaluate("floor(10^30*sqrt(2))") == math.isqrt(2 * 10**60)
    assert evaluate("ceil(10^30*sqrt(2))") == math.isqrt(2 * 10**60) + 1
    assert evaluate("ceil(exp(log(10)/2)*10^600)") == math.isqrt(10**1201) + 1
    # sqrt(2)^2 - 2 + 2^-500 straddles 0 until about 600 bits
    assert evaluate("floor(log(sqrt(2)*sqrt(2) - 2 + 2^-500))") == math.floor(-500 * math.log(2))


class CountingEnvironment(Mapping[str, Scalar]):
    def __init__(self) -> None:
        self.lookups = 0

    def __getitem__(self, name: str) -> Scalar:
        self.lookups += 1
        return arb(2).sqrt()

    def __contains__(self, name: object) -> bool:
        return name == "x"

    def __iter__(self) -> Iterator[str]:
        return iter("x")

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("argument", ["10^400*x", "x*x"])
def test_nested_rounding_is_not_repeated_at_every_precision(argument: str) -> None:
    environment = CountingEnvironment()
    text = "ceil(" * 95 + argument + ")" * 95
    if argument == "x*x":
        with pytest.raises(Undetermined, match="the integer 2"):
            evaluate(text, environment)
    else:
        assert evaluate(text, environment) == math.isqrt(2 * 10**800) + 1
    assert 3 <= environment.lookups <= 14  # at most the seven precisions from 64 to 4096 bits


def test_rounding_inside_rounding_is_done_once() -> None:
    environment = CountingEnvironment()
    text = "ceil(10^100*x + " * 20 + "0" + ")" * 20
    assert evaluate(text, environment) == 20 * (math.isqrt(2 * 10**200) + 1)
    assert environment.lookups <= 20 * 7


def test_rounding_goes_at_least_to_the_current_precision() -> None:
    text = "ceil(sqrt(2)*sqrt(2) + 2^-5000)"
    with pytest.raises(Undetermined, match="the integer 2 at 4096 bits"):
        evaluate(text)
    with ctx.workprec(6000):
        assert evaluate(text) == 3


# ---- environments


@pytest.mark.parametrize("wrong", [0.5, True, 1, "1", None, Fraction(1, 2), fmpz(1)])
def test_an_environment_value_that_is_no_scalar_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match=f"value of n is a {type(wrong).__name__}"):
        evaluate("n + 1", {"n": wrong})  # type: ignore[dict-item]


@pytest.mark.parametrize("bad", [arb("nan"), arb("inf"), arb(0, "inf")], ids=lambda b: b.repr())
def test_an_environment_value_that_is_not_finite_is_undetermined(bad: arb) -> None:
    for text in ("n", "0*n", "min(n, 1)", "n^0", "ceil(n)"):
        with pytest.raises(Undetermined, match="no finite enclosure"):
            evaluate(text, {"n": bad})


# ---- plain numbers and names without the parser


@given(st.from_regex(r"-?[0-9]{1,20}(/[1-9][0-9]{0,20}|\.[0-9]{1,20})?", fullmatch=True))
@example("-1/3")
@example("-0.1")
@example("007")
def test_plain_numbers_mean_the_same_with_and_without_the_grammar(text: str) -> None:
    assert parse_expression(text) == Number(text)
    assert parse_expression(text).value({}) == parse_tree(text).value({})


@given(st.text("0123456789.eE+-/*^()n ,", max_size=12) | st.text(max_size=12))
@example("1/2e3")
@example("1e5/2")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree = parse_expression(text)
        value = tree.value(EXACT)
    except (ExpressionError, Undetermined) as error:
        assert str(error)
        return
    assert isinstance(value, fmpq) or value.is_finite()
    assert parse_tree(text).text() == tree.text() or isinstance(tree, Number)


def test_plain_numbers_do_not_load_the_parser() -> None:
    code = (
        "import sys; from certify.arithmetic.expression import parse_expression as p; "
        "p('1/3'), p('epsilon'), print('lark' in sys.modules), p('1+1'), print('lark' in sys.modules)"
    )
    root = Path(certify.__path__[0]).parent
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert ran.stdout.split() == ["False", "True"]
