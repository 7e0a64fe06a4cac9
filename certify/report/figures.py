"""Numbers as a person reads them; a bound is rounded in the direction that keeps it one."""

from flint import fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.engine.statement import Worst
from certify.report.model import StatementVerdict

JSON_DIGITS = (12, 24, 48, 96)
TEXT_DIGITS = (4, 6, 9, 12)

MAX_COUNT_DIGITS, MAX_TABLE_DIGITS = 15, 12
MAX_POSITIONAL = 8
MAX_FRACTION = 9

_ONE = fmpq(1)


def below(end: fmpq | None, digits: int) -> str:
    """A decimal of about ``digits`` significant digits that is at most the end given; None is -infinity."""
    return "-inf" if end is None else _short(Enclosure(end, end).decimals(digits)["lower"])


def above(end: fmpq | None, digits: int) -> str:
    """A decimal of about ``digits`` significant digits that is at least the end given; None is infinity."""
    return "inf" if end is None else _short(Enclosure(end, end).decimals(digits)["upper"])


def interval(enclosure: Enclosure, digits: int) -> str:
    """An enclosure: one decimal where that is exact, else ``[lower, upper]`` rounded outward."""
    lower, upper = below(enclosure.lower, digits), above(enclosure.upper, digits)
    return lower if lower == upper else f"[{lower}, {upper}]"


def telling_digits(verdict: StatementVerdict, worst: Worst, choices: tuple[int, ...]) -> int | None:
    """The first of ``choices`` whose outward decimals still show the verdict, or None where none does.

    A proved ``lhs <= rhs`` keeps the upper decimal of lhs at most the lower decimal of rhs, a refuted one the
    reverse. The first of ``choices`` is enough where there is nothing to show: undecided, or a side
    unbounded.
    """
    low, high = _ends(verdict, worst)
    if verdict is StatementVerdict.UNDECIDED or low is None or high is None:
        return choices[0]
    return next((d for d in choices if _exact(above(low, d)) <= _exact(below(high, d))), None)


def comparison(verdict: StatementVerdict, worst: Worst) -> str:
    """``lhs ≤ rhs`` where proved, ``lhs > rhs`` where refuted, ``lhs ? rhs`` where neither is known.

    Each side is shown by the end that carries the verdict (the upper end of the smaller side, the lower
    end of the larger), with as many digits as it takes: ``1… ≤ 1…`` are sides too close for that. Equal
    sides that are no short decimal become a fraction; enclosures that overlap, where the proof does not
    rest on them, are a tie.
    """
    low, high = _ends(verdict, worst)
    tie = low is not None and low == high
    refuted = verdict is StatementVerdict.REFUTED
    sign = "?" if verdict is StatementVerdict.UNDECIDED else "≤" if not refuted else "≥" if tie else ">"
    digits = telling_digits(verdict, worst, TEXT_DIGITS)
    if digits is not None:
        smaller, larger = above(low, digits), below(high, digits)
        return f"{larger} {sign} {smaller}" if refuted else f"{smaller} {sign} {larger}"
    if tie and len(str(low)) <= MAX_FRACTION:
        return f"{low} {sign} {low}"
    near = below(high, TEXT_DIGITS[0])
    return f"{near}… {sign} {near}…" if low is not None and high is not None and low < high else f"tie near {near}"


def _ends(verdict: StatementVerdict, worst: Worst) -> tuple[fmpq | None, fmpq | None]:
    """The upper end of the side that should be smaller by the verdict, and the lower end of the other."""
    if verdict is StatementVerdict.REFUTED:
        return worst.rhs.upper, worst.lhs.lower
    return worst.lhs.upper, worst.rhs.lower


def percentage(share: Enclosure, verdict: StatementVerdict) -> str:
    """A share of the budget in percent, rounded up; of a refuted statement, whose share is above 1, down.

    A proof bounds the share by 1, even where the enclosures alone do not.
    """
    if verdict is StatementVerdict.REFUTED:
        if share.lower is None:
            return ""
        text = below(share.lower * 100, 3)
        return f"{text}%" if _exact(text) > 100 or share.lower <= 1 else ">100%"
    if share.upper is None:
        return ""
    upper = min(share.upper, _ONE) if verdict is StatementVerdict.PROVED else share.upper
    if upper < 0:
        return "<0%"
    if 0 < upper * 10_000 < 1:
        return "<0.01%"
    return f"{above(upper * 100, 3)}%"


def count(number: int) -> str:
    """A count in full with thousands separators, or to three digits (rounded down) where it is long."""
    if number < 10**MAX_COUNT_DIGITS:
        return f"{number:,}"
    return f"about {_leading(number)}"


def table_count(number: int) -> str:
    """A count for a column: in full below 10^12, else to three digits (rounded down)."""
    return f"{number:,}" if number < 10**MAX_TABLE_DIGITS else _leading(number)


def plural(number: int, one: str, many: str) -> str:
    """``1 histogram``, ``66 histograms``."""
    return f"{count(number)} {one if number == 1 else many}"


def duration(seconds: float) -> str:
    """A length of time in its natural unit."""
    if seconds < 1:
        return "under a second"
    for limit, unit, name in _TIME_UNITS:
        if seconds < limit:
            return f"about {max(1, round(seconds / unit))} {name}"
    years = seconds / _YEAR
    return f"about {years:,.0f} years" if years < 1000 else "thousands of years"


_YEAR = 365.25 * 86_400
_TIME_UNITS = ((100, 1, "s"), (100 * 60, 60, "min"), (48 * 3600, 3600, "h"), (730 * 86_400, 86_400, "days"))


def memory(size: int) -> str:
    """A number of bytes in MB or GB, rounded up."""
    if size < 10**9:
        return f"{max(1, -(-size // 10**6))} MB"
    tenths = -(-size // 10**8)
    return f"{tenths // 10}.{tenths % 10} GB" if tenths < 100 else f"{count(-(-size // 10**9))} GB"


def _leading(number: int) -> str:
    return _short(Enclosure.of(number).decimals(3)["lower"], longest=0)


def _exact(decimal: str) -> fmpq:
    figures, _, exponent = decimal.partition("e")
    whole, _, fraction = figures.partition(".")
    value = fmpq(int(whole + fraction), 10 ** len(fraction))
    return value * fmpq(10) ** int(exponent or 0)


def _short(decimal: str, longest: int = MAX_POSITIONAL) -> str:
    """The same decimal number, with an exponent where its whole part has more than ``longest`` digits."""
    sign, digits = ("-", decimal[1:]) if decimal.startswith("-") else ("", decimal)
    whole, _, fraction = digits.partition(".")
    if "e" in decimal or len(whole) <= longest:
        return decimal
    figures = (whole + fraction).rstrip("0")
    point = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{sign}{figures[0]}{point}e{len(whole) - 1}"
