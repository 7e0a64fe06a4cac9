import pytest
from flint import fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st

from certify.arithmetic.enclosure import Enclosure
from certify.engine.statement import Worst
from certify.report import figures
from certify.report.model import StatementVerdict

PROVED, REFUTED = StatementVerdict.PROVED, StatementVerdict.REFUTED
UNDECIDED = StatementVerdict.UNDECIDED

rationals = st.builds(
    lambda numerator, denominator, shift: fmpq(numerator, denominator) * fmpq(10) ** shift,
    st.integers(-(10**12), 10**12),
    st.integers(1, 10**12),
    st.integers(-40, 40),
)


def value_of(decimal: str) -> fmpq:
    """The number that a decimal of the report denotes, read independently of the code under test."""
    mantissa, _, exponent = decimal.partition("e")
    point = len(mantissa) - mantissa.index(".") - 1 if "." in mantissa else 0
    return fmpq(int(mantissa.replace(".", ""))) * fmpq(10) ** (int(exponent or 0) - point)


def enclosure(lower: fmpq | int, upper: fmpq | int | None = None) -> Enclosure:
    lower = fmpq(lower)
    return Enclosure(lower, lower if upper is None else fmpq(upper))


@given(rationals, st.integers(1, 20))
@example(fmpq(1, 3), 4)
@example(fmpq(-1, 3), 4)
@example(fmpq(99999999), 4)
@example(fmpq(123456789), 4)
@example(fmpq(-(10**30) - 1), 6)
@example(fmpq(0), 1)
def test_ends_are_rounded_outward_and_not_far(value: fmpq, digits: int) -> None:
    low, high = value_of(figures.below(value, digits)), value_of(figures.above(value, digits))
    assert low <= value <= high
    assert high - low <= abs(value) * fmpq(10) ** (1 - digits)


def test_an_unbounded_end_is_infinite() -> None:
    assert figures.below(None, 4) == "-inf"
    assert figures.above(None, 4) == "inf"
    assert figures.interval(Enclosure(None, fmpq(1)), 4) == "[-inf, 1]"


def test_an_interval_is_one_number_only_where_it_is_exact() -> None:
    assert figures.interval(enclosure(fmpq(3, 8)), 4) == "0.375"
    assert figures.interval(enclosure(fmpq(1, 3)), 4) == "[0.3333, 0.3334]"
    assert figures.interval(enclosure(fmpq(1, 3), fmpq(1, 2)), 4) == "[0.3333, 0.5]"


@given(rationals, rationals)
@example(fmpq(1), fmpq(1) + fmpq(1, 10**80))
@example(fmpq(-1) - fmpq(1, 10**50), fmpq(-1))
@example(fmpq(0), fmpq(1, 10**40))
def test_the_digits_of_the_json_show_the_verdict(a: fmpq, b: fmpq) -> None:
    assume(a != b)
    small, large = enclosure(min(a, b)), enclosure(max(a, b))
    proved, refuted = Worst(small, large, {}), Worst(large, small, {})
    for verdict, worst in ((PROVED, proved), (REFUTED, refuted)):
        digits = figures.telling_digits(verdict, worst, figures.JSON_DIGITS)
        assert digits is not None
        low, high = small.decimals(digits)["upper"], large.decimals(digits)["lower"]
        assert value_of(low) <= value_of(high)


def test_no_number_of_digits_shows_a_tie_of_endless_decimals() -> None:
    third = enclosure(fmpq(1, 3))
    assert figures.telling_digits(PROVED, Worst(third, third, {}), figures.JSON_DIGITS) is None
    half = enclosure(fmpq(1, 2))
    assert figures.telling_digits(PROVED, Worst(half, half, {}), figures.JSON_DIGITS) == 12


@pytest.mark.parametrize(
    ("verdict", "lhs", "rhs", "shown"),
    [
        (PROVED, enclosure(fmpq(137, 10000)), enclosure(1), "0.0137 ≤ 1"),
        (PROVED, enclosure(fmpq(1, 3)), enclosure(fmpq(2, 3)), "0.3334 ≤ 0.6666"),
        (PROVED, enclosure(fmpq(1, 3)), enclosure(fmpq(1, 3)), "1/3 ≤ 1/3"),
        (PROVED, enclosure(fmpq(1, 7**9)), enclosure(fmpq(1, 7**9)), "tie near 2.478e-8"),
        (PROVED, enclosure(5), enclosure(5), "5 ≤ 5"),
        (PROVED, enclosure(fmpq(3333, 10**4)), enclosure(fmpq(1, 3)), "0.3333 ≤ 0.3333"),
        (PROVED, enclosure(fmpq(33333, 10**5)), enclosure(fmpq(1, 3)), "0.33333 ≤ 0.333333"),
        (PROVED, enclosure(1), enclosure(1 + fmpq(1, 10**30)), "1 ≤ 1"),
        (PROVED, enclosure(fmpq(1, 3)), enclosure(fmpq(1, 3) + fmpq(1, 10**30)), "0.3333… ≤ 0.3333…"),
        (PROVED, enclosure(fmpq(9, 10), fmpq(11, 10)), enclosure(1), "tie near 1"),
        (REFUTED, enclosure(2, 3), enclosure(0, 1), "2 > 1"),
        (REFUTED, enclosure(1), enclosure(1), "1 ≥ 1"),
        (REFUTED, enclosure(fmpq(10**7 + 1, 10**7)), enclosure(1), "1.0000001 > 1"),
        (REFUTED, enclosure(fmpq(1, 3) + fmpq(1, 10**30)), enclosure(fmpq(1, 3)), "0.3333… > 0.3333…"),
        (UNDECIDED, enclosure(fmpq(9, 10), fmpq(11, 10)), enclosure(1), "1.1 ? 1"),
        (UNDECIDED, Enclosure(None, None), enclosure(1), "inf ? 1"),
    ],
)
def test_a_comparison_reads_as_its_verdict(
    verdict: StatementVerdict, lhs: Enclosure, rhs: Enclosure, shown: str
) -> None:
    assert figures.comparison(verdict, Worst(lhs, rhs, {})) == shown


@pytest.mark.parametrize(
    ("verdict", "share", "shown"),
    [
        (PROVED, enclosure(fmpq(1, 3)), "33.4%"),
        (PROVED, enclosure(fmpq(1, 100)), "1%"),
        (PROVED, enclosure(1), "100%"),
        (PROVED, enclosure(fmpq(999999, 10**6), fmpq(1000001, 10**6)), "100%"),
        (PROVED, enclosure(fmpq(1, 10**9)), "<0.01%"),
        (PROVED, enclosure(0), "0%"),
        (PROVED, enclosure(-3), "<0%"),
        (UNDECIDED, enclosure(fmpq(9, 10), fmpq(11, 10)), "110%"),
        (UNDECIDED, Enclosure(fmpq(1), None), ""),
        (REFUTED, enclosure(fmpq(1001, 1000), 2), "100.1%"),
        (REFUTED, enclosure(fmpq(10**7 + 1, 10**7), 2), ">100%"),
        (REFUTED, enclosure(1, 1), "100%"),
        (REFUTED, enclosure(10**9, 10**9), "1e11%"),
        (REFUTED, Enclosure(None, fmpq(1)), ""),
    ],
)
def test_a_share_is_rounded_toward_its_verdict(verdict: StatementVerdict, share: Enclosure, shown: str) -> None:
    assert figures.percentage(share, verdict) == shown


def test_counts() -> None:
    assert figures.count(1234567) == "1,234,567"
    assert figures.count(10**15 - 1) == "999,999,999,999,999"
    assert figures.count(10**15 + 1) == "about 1e15"
    assert figures.count(3**1_000_000) == "about 1.79e477121"
    assert figures.table_count(10**12 - 1) == "999,999,999,999"
    assert figures.table_count(5_356_789_012_345) == "5.35e12"
    assert figures.plural(1, "case", "cases") == "1 case"
    assert figures.plural(0, "case", "cases") == "0 cases"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "under a second"),
        (3.2, "about 3 s"),
        (130.0, "about 2 min"),
        (7200.0, "about 2 h"),
        (1e6, "about 12 days"),
        (1e9, "about 32 years"),
        (float("inf"), "thousands of years"),
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert figures.duration(seconds) == shown


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "1 MB"),
        (1_000_001, "2 MB"),
        (1_500_000_000, "1.5 GB"),
        (10**12, "1,000 GB"),
        (10**40, "about 1e31 GB"),
    ],
)
def test_memory_is_rounded_up(size: int, shown: str) -> None:
    assert figures.memory(size) == shown
