"""The ledger of constants: exact expressions by id, read from `ledger.toml`.

No number of a paper is typed into a statement; it is asked for here. A copy of the ledger with one value
changed (`Ledger.replaced`) is how a mutated claim is made, in the tests and by a reader who wonders what a
constant is for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from flint import fmpq

from certify.arithmetic.expression import Expression, parse_expression
from certify.arithmetic.scalar import Scalar


@dataclass(frozen=True)
class Constant:
    """One constant of a paper: its exact value, where it stands, what it is for, and which statements use it."""

    id: str
    value: Expression
    paper_id: str
    paper: str
    role: str
    used_by: tuple[str, ...]


@dataclass(frozen=True)
class Ledger:
    """Constants by id."""

    constants: Mapping[str, Constant]

    def __getitem__(self, constant_id: str) -> Constant:
        return self.constants[constant_id]

    def value(self, constant_id: str) -> Scalar:
        """The constant: a rational where it is one, else a ball at the current precision."""
        return self.constants[constant_id].value.value({})

    def rational(self, constant_id: str) -> fmpq:
        """The constant as an exact rational. Raises ValueError where it is none."""
        value = self.value(constant_id)
        if not isinstance(value, fmpq):
            raise ValueError(f"the constant {constant_id} is not rational")
        return value

    def replaced(self, changes: Mapping[str, str]) -> Ledger:
        """A copy in which some constants have other values. Raises KeyError for an unknown id."""
        constants = dict(self.constants)
        for constant_id, text in changes.items():
            constants[constant_id] = replace(constants[constant_id], value=parse_expression(text))
        return Ledger(MappingProxyType(constants))


@cache
def default_ledger() -> Ledger:
    """The ledger that comes with the package."""
    return parse_ledger(Path(__file__).with_name("ledger.toml").read_text(encoding="utf-8"))


def parse_ledger(text: str) -> Ledger:
    """A ledger from TOML text. Raises ValueError (with the id) for an entry that is incomplete or no expression."""
    constants: dict[str, Constant] = {}
    for constant_id, entry in tomllib.loads(text).get("constant", {}).items():
        try:
            constants[constant_id] = Constant(
                id=constant_id,
                value=parse_expression(entry["value"]),
                paper_id=entry["paper_id"],
                paper=entry["paper"],
                role=entry["role"],
                used_by=tuple(entry["used_by"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"ledger entry {constant_id}: {error}") from error
    return Ledger(MappingProxyType(constants))
