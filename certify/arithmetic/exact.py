"""Exact rationals from text, never by way of a float."""

import re

from flint import fmpq, fmpz

MAX_NUMBER_LENGTH = 5_000
MAX_EXPONENT = 9_999

NUMBER = re.compile(
    r"(?P<sign>-?)(?P<whole>[0-9]+)"
    r"(?:/(?P<denominator>[0-9]+)|(?:\.(?P<decimals>[0-9]+))?(?:[eE](?P<exponent>[+-]?[0-9]+))?)"
)
"""The form of a number's text."""


class NumberError(ValueError):
    """The text is not a number this package reads; the message says why and what to write instead."""


def parse_rational(text: str) -> fmpq:
    """The rational that `text` denotes: an integer, a decimal (`0.1` is 1/10, `1e-9`), or a fraction `p/q`.

    ASCII digits only; no spaces, no underscores, no leading `+` or `.`, and no exponent on a fraction
    (`1/2e3` could be read in two ways). At most 5,000 characters and an exponent between -9999 and 9999, so
    that numerator and denominator have at most about 50,000 bits. Raises NumberError.
    """
    if len(text) > MAX_NUMBER_LENGTH:
        raise NumberError(f"a number of {len(text)} characters is too long; use at most {MAX_NUMBER_LENGTH}")
    match = NUMBER.fullmatch(text)
    if match is None:
        raise NumberError(f'{shown(text)} is not a number; write one such as "12", "0.25", "1e-9" or "1/3"')
    if match["denominator"] is not None:
        numerator, denominator = fmpz(match["whole"]), fmpz(match["denominator"])
        if denominator == 0:
            raise NumberError(f"{shown(text)} has denominator 0; write a positive denominator")
    else:
        decimals = match["decimals"] or ""
        shift = _exponent(match["exponent"] or "0", text) - len(decimals)
        numerator = fmpz(match["whole"] + decimals) * fmpz(10) ** max(shift, 0)
        denominator = fmpz(10) ** max(-shift, 0)
    return fmpq(-numerator if match["sign"] else numerator, denominator)


def shown(text: str, limit: int = 40) -> str:
    """`text` quoted for a message: escaped to ASCII, and cut after `limit` characters."""
    return f"{text!a}" if len(text) <= limit else f"{text[:limit]!a}..."


def _exponent(digits: str, text: str) -> int:
    if len(digits.lstrip("+-").lstrip("0")) > len(str(MAX_EXPONENT)):
        raise NumberError(f"{shown(text)} has an exponent beyond ±{MAX_EXPONENT}; write a smaller exponent")
    return int(digits)
