"""Where a worst case is, for a person: in short for a line of the table, in full for a counterexample.

Names come from the instance, so whatever could disturb a terminal is escaped.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from flint import arb

from certify.arithmetic.enclosure import Enclosure
from certify.engine.statement import Witness
from certify.instance_file import printable
from certify.report.figures import interval

FULL_DIGITS, SHORT_DIGITS = 12, 4

QUANTITY = "quantity"
"""The entry that says which of a statement's inequalities this is."""

_PLAIN_NAME = re.compile(r"[+-]?\w[\w.+/-]*")


SYMBOLS = {"transcript": "ω", "database": "x", "neighbour": "x'", "rival": "y", "target": "a", "against": "b"}
"""How the papers write what a witness names in words."""


def short_witness(witness: Witness) -> str:
    """The witness on one line: which quantity, numbers, then vectors with repeated elements counted.

    ``R=3 ω=+a×2,-b x=yes:3,no:2``; entries that are 0 are left out.
    """
    entries = sorted(witness.items(), key=lambda entry: _rank(*entry))
    return " ".join(
        _short(value) if key == QUANTITY else f"{printable(SYMBOLS.get(key, key))}={_short(value)}"
        for key, value in entries
    )


def _rank(key: str, value: object) -> int:
    """Where an entry stands in a short witness: what is shortest and says most comes first."""
    if key == QUANTITY:
        return 0
    return 3 if isinstance(value, Mapping) else 2 if isinstance(value, (list, tuple)) else 1


def full_witness(witness: Witness) -> list[tuple[str, str]]:
    """Every entry of the witness, nothing left out."""
    return [(printable(key), _full(value)) for key, value in witness.items()]


def _full(value: object) -> str:
    """An entry in full: text as it is, otherwise as within a list."""
    match value:
        case str():
            return printable(value)
        case Mapping():
            return ", ".join(f"{_name(key)}: {_element(entry)}" for key, entry in value.items()) or "nothing"
        case list() | tuple():
            return ", ".join(_element(entry) for entry in value) or "nothing"
    return _element(value)


def _element(value: object, digits: int = FULL_DIGITS) -> str:
    """A value within others: names quoted where they are not plain words, enclosures outward."""
    match value:
        case str():
            return _name(value)
        case Mapping():
            return f"{{{_full(value)}}}"
        case list() | tuple():
            return f"[{_full(value)}]"
        case Enclosure():
            return interval(value, digits)
        case arb():
            return interval(Enclosure.of(value), digits)
    return printable(str(value))


def _short(value: object) -> str:
    match value:
        case str():
            return printable(value)
        case Mapping():
            return ",".join(f"{_name(key)}:{_element(entry)}" for key, entry in value.items() if entry != 0)
        case list() | tuple():
            return _runs(value)
    return _element(value, SHORT_DIGITS)


def _runs(values: Sequence[object]) -> str:
    runs = [(each, sum(1 for _ in group)) for each, group in groupby(_element(value) for value in values)]
    return ",".join(each if length == 1 else f"{each}×{length}" for each, length in runs)


def _name(text: str) -> str:
    return text if _PLAIN_NAME.fullmatch(text) else printable(json.dumps(text, ensure_ascii=False))
