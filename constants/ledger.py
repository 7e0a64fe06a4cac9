"""The ledger of constants: exact expressions by id, read from `ledger.toml`.

No number of a paper is typed into a statement; it is asked for here. A copy of the ledger with one value
changed (`Ledger.replaced`, or `--ledger FILE` on the command line) is how a mutated claim is made, in the
tests and by a reader who wonders what a constant is for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from flint import fmpq

from certify.arithmetic.expression import Expression, parse_expression
from certify.arithmetic.scalar import Scalar

if TYPE_CHECKING:
    from certify.claims.relation import Relation

SHIPPED = Path(__file__).with_name("ledger.toml")


class Role(Enum):
    """What a constant is for."""

    PROOF_CONSTANT = "proof constant"
    PARAMETER_CHOICE = "parameter choice"
    BOUND = "bound"
    HYPOTHESIS = "hypothesis"
    UNIVERSAL_CONSTANT = "universal constant"


class Domain(Enum):
    """Which values a constant may be given; the program relies on it."""

    POSITIVE = "positive"
    NONNEGATIVE = "nonnegative"
    RATIONAL = "rational"
    POSITIVE_RATIONAL = "positive-rational"
    POSITIVE_INTEGER = "positive-integer"


@dataclass(frozen=True)
class Paper:
    """One of the papers: its title, and which edition the items and equations refer to."""

    id: str
    title: str
    edition: str


@dataclass(frozen=True)
class Constant:
    """One constant of a paper: its exact value, where it stands, what it is for, and which statements use it.

    `paper` is the item or the equation. `rule` shows the constant in its formula. `printed` is what the paper
    prints where that is wrong. `lean` is the declaration of the Lean development that states the constant.
    Each relation is an inequality, lhs <= rhs or lhs < rhs, that the constant must satisfy for the proof to
    close; the names in it are those of constants.
    """

    id: str
    value: Expression
    paper_id: str
    paper: str
    role: Role
    used_by: tuple[str, ...]
    rule: str = ""
    printed: Expression | None = None
    note: str = ""
    lean: str = ""
    page: str = ""
    domain: Domain = Domain.POSITIVE
    relations: tuple[Relation, ...] = ()

    @property
    def name(self) -> str:
        """The id as a name in expressions: with underscores for hyphens."""
        return self.id.replace("-", "_")


@dataclass(frozen=True)
class Ledger:
    """Constants by id, and the papers that they come from."""

    constants: Mapping[str, Constant]
    papers: Mapping[str, Paper]

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

    @cached_property
    def expressions(self) -> Mapping[str, Expression]:
        """The values by name, as expressions without names."""
        return {constant.name: constant.value for constant in self.constants.values()}

    def named(self, name: str) -> Constant:
        """The constant of that name. Raises KeyError."""
        return self.constants[name.replace("_", "-")]

    def replaced(self, changes: Mapping[str, str]) -> Ledger:
        """A copy in which some constants have other values. Raises KeyError for an unknown id."""
        constants = dict(self.constants)
        for constant_id, text in changes.items():
            constants[constant_id] = replace(constants[constant_id], value=parse_expression(text))
        return Ledger(MappingProxyType(constants), self.papers)


class ShippedLedger(Ledger):
    """The ledger that comes with the package. A value is parsed when it is asked for, all the rest when an entry is:
    a check of one instance reads some tens of values and no relation."""

    def __init__(self) -> None:
        self.__dict__["_values"] = {}

    @cached_property
    def _tables(self) -> Mapping[str, Mapping[str, str]]:
        tables: Mapping[str, Mapping[str, str]] = tomllib.loads(self._text)["constant"]
        return tables

    @cached_property
    def _text(self) -> str:
        return SHIPPED.read_text(encoding="utf-8")

    @cached_property
    def _whole(self) -> Ledger:
        from constants.ledger_file import parse_ledger

        return parse_ledger(self._text, SHIPPED.name)

    @property
    def constants(self) -> Mapping[str, Constant]:
        return self._whole.constants

    @property
    def papers(self) -> Mapping[str, Paper]:
        return self._whole.papers

    def value(self, constant_id: str) -> Scalar:
        values: dict[str, Expression] = self.__dict__["_values"]
        if constant_id not in values:
            values[constant_id] = parse_expression(self._tables[constant_id]["value"])
        return values[constant_id].value({})


@cache
def default_ledger() -> Ledger:
    """The ledger that comes with the package."""
    return ShippedLedger()
