"""Ledgers from TOML text and files. Everything wrong is reported at once, with its path and the fix."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from flint import fmpq

from certify.arithmetic.decide import decide_le
from certify.arithmetic.expression import FUNCTIONS, Expression, ExpressionError, parse_expression
from certify.arithmetic.scalar import Scalar, Undetermined
from certify.arithmetic.verdict import Verdict
from certify.claims.relation import Relation, parse_relation
from certify.instance_file import InputProblem, InstanceError, quoted
from certify.instance_node import suggestion
from constants.ledger import Constant, Domain, Ledger, Paper, Role, default_ledger

MAX_FILE_BYTES = 1024 * 1024
MAX_TEXT = 500
MAX_MAGNITUDE_BITS = 4096
MAX_PRECISION = 4096

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_REQUIRED = ("paper_id", "value", "paper", "role", "used_by")
_OPTIONAL = ("rule", "printed", "note", "lean", "page", "domain", "relations")
_PAPER_FIELDS = ("title", "edition")

_RATIONAL = (Domain.RATIONAL, Domain.POSITIVE_RATIONAL, Domain.POSITIVE_INTEGER)
_BOUND = fmpq(2) ** MAX_MAGNITUDE_BITS
_LEAST = {Domain.NONNEGATIVE: fmpq(0), Domain.RATIONAL: -_BOUND}


_Choice = TypeVar("_Choice", bound=Enum)


def read_ledger(path: str) -> tuple[str, Ledger]:
    """The text of a file, and the copy of the shipped ledger that it holds: the same constants, other values.

    Raises InstanceError with everything that is wrong, a constant that is missing or unknown included.
    """
    text = _content(path)
    ledger = parse_ledger(text, path)
    shipped = default_ledger()
    problems = [
        InputProblem(f"constant.{constant_id}", "is missing: copy the shipped ledger, then change values")
        for constant_id in shipped.constants
        if constant_id not in ledger.constants
    ]
    for constant_id, constant in ledger.constants.items():
        if constant_id not in shipped.constants:
            advice = suggestion(constant_id, list(shipped.constants))
            problems.append(InputProblem(f"constant.{constant_id}", f"is not in the shipped ledger: {advice}"))
        elif constant.domain is not shipped[constant_id].domain:
            wanted = shipped[constant_id].domain.value
            problems.append(InputProblem(f"constant.{constant_id}.domain", f"the program relies on it: leave {wanted}"))
    if problems:
        raise InstanceError(problems, path)
    return text, ledger


def parse_ledger(text: str, source: str = "ledger") -> Ledger:
    """A ledger from TOML text. Raises InstanceError with everything that is wrong."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InstanceError([InputProblem("$", f"is not TOML: {error}")], source) from None
    except RecursionError:
        raise InstanceError([InputProblem("$", "is nested too deeply: a ledger is flat")], source) from None
    reader = _Reader()
    ledger = reader.ledger(data)
    if reader.problems:
        raise InstanceError(reader.problems, source)
    return ledger


def _content(path: str) -> str:
    def unreadable(message: str) -> InstanceError:
        return InstanceError([InputProblem("$", message)], path)

    if not path or "\0" in path:
        raise unreadable("is not a file name: give the path of a ledger")
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise unreadable("is not a regular file: give the path of a ledger")
        with Path(path).open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise unreadable(f"cannot be read ({error.strerror}): give the path of a ledger") from None
    if len(content) > MAX_FILE_BYTES:
        raise unreadable(f"is larger than {MAX_FILE_BYTES:,} bytes: a ledger is a copy of the shipped one")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise unreadable(f"is not UTF-8 text (byte {error.start}): save the file as UTF-8") from None


class _Wrong(Exception):
    """One thing wrong, at the path of the part being read."""


class _Reader:
    def __init__(self) -> None:
        self.problems: list[InputProblem] = []

    @contextmanager
    def _at(self, path: str) -> Iterator[None]:
        try:
            yield
        except (_Wrong, ExpressionError) as error:
            self.problems.append(InputProblem(path, str(error)))

    def ledger(self, data: Mapping[str, Any]) -> Ledger:
        with self._at("$"):
            _known(data, ("paper", "constant"), "a ledger")
        papers: dict[str, Paper] = {}
        for paper_id, entry in self._tables(data, "paper"):
            with self._at(f"paper.{paper_id}"):
                _known(entry, _PAPER_FIELDS, "a paper")
                papers[paper_id] = Paper(paper_id, *(_text(entry, field) for field in _PAPER_FIELDS))
        entries = list(self._tables(data, "constant"))
        names = {constant_id.replace("-", "_") for constant_id, _ in entries}
        constants: dict[str, Constant] = {}
        for constant_id, entry in entries:
            constant = self._constant(constant_id, entry, papers, names)
            if constant is not None:
                constants[constant_id] = constant
        return Ledger(MappingProxyType(constants), MappingProxyType(papers))

    def _tables(self, data: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        tables = data.get(kind)
        with self._at(kind):
            if not isinstance(tables, dict) or not tables:
                raise _Wrong(f"there is none: write a table [{kind}.ID]")
            for table_id, entry in tables.items():
                with self._at(f"{kind}.{table_id[:60]!a}"):
                    if not _ID.fullmatch(table_id) or table_id in FUNCTIONS:
                        raise _Wrong("an id has small letters, digits and single hyphens, and is no function's name")
                    if not isinstance(entry, dict):
                        raise _Wrong(f"is not a table: write [{kind}.{table_id}]")
                    yield table_id, entry

    def _constant(
        self, constant_id: str, entry: Mapping[str, Any], papers: Mapping[str, Paper], names: set[str]
    ) -> Constant | None:
        """The constant; None where something is wrong with it, which is then among the problems."""
        path, found = f"constant.{constant_id}", len(self.problems)
        with self._at(path):
            _known(entry, (*_REQUIRED, *_OPTIONAL), "a constant")
            for field in _REQUIRED:
                if field not in entry:
                    raise _Wrong(f"{field} is missing: every constant has {', '.join(_REQUIRED)}")
        domain, role = Domain.POSITIVE, Role.BOUND
        value: Expression | None = None
        printed: Expression | None = None
        used: tuple[str, ...] = ()
        texts: dict[str, str] = {}
        for field in ("paper_id", "paper", "rule", "note", "lean", "page"):
            with self._at(f"{path}.{field}"):
                texts[field] = _text(entry, field) if field in entry else ""
        with self._at(f"{path}.paper_id"):
            if texts.get("paper_id") and texts["paper_id"] not in papers:
                raise _Wrong(f"there is no [paper.{texts['paper_id'][:60]}]: {suggestion(texts['paper_id'], papers)}")
        with self._at(f"{path}.domain"):
            domain = _choice(Domain, entry.get("domain", domain.value))
        with self._at(f"{path}.role"):
            role = _choice(Role, entry.get("role", role.value))
        with self._at(f"{path}.value"):
            value = _value(entry.get("value", "1"), domain)
        if "printed" in entry:
            with self._at(f"{path}.printed"):
                printed = _value(entry["printed"], domain)
        with self._at(f"{path}.used_by"):
            used = tuple(_strings(entry.get("used_by", ["-"]), "used_by"))
        relations: list[Relation] = []
        with self._at(f"{path}.relations"):
            for index, text in enumerate(_strings(entry["relations"], "relations") if "relations" in entry else ()):
                with self._at(f"{path}.relations[{index}]"):
                    relations.append(_relation(text, constant_id.replace("-", "_"), names))
        if value is None or len(self.problems) > found:
            return None
        return Constant(
            id=constant_id,
            value=value,
            role=role,
            used_by=used,
            printed=printed,
            domain=domain,
            relations=tuple(relations),
            **texts,
        )


def _known(entry: Mapping[str, Any], fields: tuple[str, ...], what: str) -> None:
    for field in entry:
        if field not in fields:
            raise _Wrong(f"{what} has no field {quoted(field)}: {suggestion(field, fields)}")


def _text(entry: Mapping[str, Any], field: str) -> str:
    text = entry.get(field)
    if not isinstance(text, str) or not text.strip():
        raise _Wrong(f"{field} is text in quotes, and not empty")
    if len(text) > MAX_TEXT or not text.isprintable():
        raise _Wrong(f"{field} is one line of at most {MAX_TEXT} printable characters")
    return text


def _strings(value: Any, field: str) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
        raise _Wrong(f'{field} is a list of texts, and not empty: ["…"]')
    if len(set(value)) < len(value):
        raise _Wrong(f"{field} lists something twice: keep one")
    return value


def _choice(choices: type[_Choice], text: Any) -> _Choice:
    for choice in choices:
        if choice.value == text:
            return choice
    known = [choice.value for choice in choices]
    raise _Wrong(f"{quoted(text) if isinstance(text, str) else 'this'} is none: {suggestion(str(text), known)}")


def _value(text: Any, domain: Domain) -> Expression:
    """The expression, without names, of a number in the domain and of a moderate size."""
    if not isinstance(text, str):
        raise _Wrong("the value is text in quotes, so that no number passes through a float")
    expression = parse_expression(text)
    if expression.names():
        raise _Wrong(f"{quoted(min(expression.names()))} is a name: a constant is a number")

    def value() -> Scalar:
        return expression.value({})

    exact: Scalar | None = None
    with suppress(Undetermined):
        exact = value()
    if domain in _RATIONAL and not isinstance(exact, fmpq):
        raise _Wrong("the program needs a rational number here: write a fraction or a decimal")
    if domain is Domain.POSITIVE_INTEGER and isinstance(exact, fmpq) and exact.q != 1:
        raise _Wrong("the program needs an integer here")
    if not _proved(_constant(_LEAST.get(domain, 1 / _BOUND)), value):
        sign = "not negative" if domain is Domain.NONNEGATIVE else "positive"
        raise _Wrong(f"the number must be {sign}, and not beyond 2^±{MAX_MAGNITUDE_BITS}")
    if not _proved(value, _constant(_BOUND)):
        raise _Wrong(f"the number must be at most 2^{MAX_MAGNITUDE_BITS}")
    return expression


def _constant(number: fmpq) -> Callable[[], Scalar]:
    return lambda: number


def _proved(lhs: Callable[[], Scalar], rhs: Callable[[], Scalar]) -> bool:
    return decide_le(lhs, rhs, precision=64, max_precision=MAX_PRECISION).verdict is Verdict.PROVED


def _relation(text: str, name: str, names: Collection[str]) -> Relation:
    """A relation of the constant called `name`."""
    if len(text) > MAX_TEXT or not text.isprintable():
        raise _Wrong(f"a relation is one line of at most {MAX_TEXT} printable characters")
    relation = parse_relation(text)
    if relation.symbol not in ("<=", "<"):
        raise _Wrong(f'{quoted(relation.symbol)} is not used here: write "smaller <= larger" or "smaller < larger"')
    for unknown in sorted(relation.names() - set(names)):
        raise _Wrong(f"{quoted(unknown)} is no constant: {suggestion(unknown, names)}")
    if name not in relation.names():
        raise _Wrong(f"it does not speak of {name}: write it where it belongs")
    return relation
