"""The closed inequalities of report files, read back: nothing of a file is believed but its text."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flint import ctx

from certify.arithmetic.expression import Expression, ExpressionError, parse_expression
from certify.arithmetic.precision import doubling
from certify.arithmetic.scalar import Undetermined
from certify.instance_file import InputProblem, InstanceError, member_path, printable
from certify.report.json_report import SCHEMA
from certify.report.witness_text import short_witness

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_PRECISION = 4096

_ADVICE = "write the report again with `certify INSTANCE --json FILE`"


@dataclass(frozen=True, slots=True)
class ReportedInequality:
    """``lhs <= rhs`` (``<`` if strict) as a report states it; both sides have a value and no names.

    ``witness`` is on one line.
    """

    lhs: Expression
    rhs: Expression
    strict: bool
    cases: int
    witness: str


@dataclass(frozen=True, slots=True)
class ReportedStatement:
    """A statement with its closed inequalities, and the number of other cases by the reason why they are none.

    ``verdict`` is the report's word for it; ``closed`` is False where no case was looked at.
    """

    id: str
    title: str
    source: str
    claim: str
    verdict: str
    closed: bool
    inequalities: tuple[ReportedInequality, ...]
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class ReportedInstance:
    """The part of one report that has closed inequalities: path and hash of the instance, and its statements."""

    path: str
    sha256: str
    statements: tuple[ReportedStatement, ...]


def read_report(path: str) -> list[ReportedInstance]:
    """The reports of a file, one or a list. Raises InstanceError with everything that is wrong with it."""
    try:
        data = json.loads(_content(path), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InstanceError([InputProblem("$", f"is not JSON ({reason}): {_ADVICE}")], path) from None
    reader = _Reader()
    several = isinstance(data, list) and len(data) > 0
    parts = [(each, f"$[{i}]") for i, each in enumerate(data)] if several else [(data, "$")]
    reports = [reader.report(each, at) for each, at in parts]
    if reader.problems:
        raise InstanceError(reader.problems, path)
    return [report for report in reports if report is not None]


def _content(path: str) -> str:
    """The text of a regular file. Raises InstanceError, and ValueError where it is not UTF-8."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InstanceError([InputProblem("$", "is not a regular file: give the path of a report")], path)
        with open(path, "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        message = f"cannot be read ({reason}): give the path of a report"
        raise InstanceError([InputProblem("$", message)], path) from None
    if len(content) > MAX_FILE_BYTES:
        message = f"is larger than {MAX_FILE_BYTES:,} bytes: check fewer instances at once"
        raise InstanceError([InputProblem("$", message)], path)
    return content.decode("utf-8")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


class _Reader:
    """Reads on after a problem, so that all are found; a part that is wrong is None."""

    def __init__(self) -> None:
        self.problems: list[InputProblem] = []

    def report(self, data: Any, path: str) -> ReportedInstance | None:
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            self._wrong(path, f'is not a report of schema "{SCHEMA}": {_ADVICE}')
            return None
        top = self._members(data, path, {"instance": dict, "statements": list})
        if top is None:
            return None
        instance = self._members(top["instance"], f"{path}.instance", {"path": str, "sha256": str})
        read = [self._statement(each, f"{path}.statements[{i}]") for i, each in enumerate(top["statements"])]
        statements = tuple(each for each in read if each is not None)
        return None if instance is None else ReportedInstance(instance["path"], instance["sha256"], statements)

    def _statement(self, data: Any, path: str) -> ReportedStatement | None:
        texts = dict.fromkeys(("id", "title", "source", "claim", "verdict"), str)
        own = self._members(data, path, {**texts, "closed": dict | None})
        if own is None:
            return None
        named = {name: own[name] for name in texts}
        if own["closed"] is None:
            return ReportedStatement(**named, closed=False, inequalities=(), left_out={})
        closed = self._members(own["closed"], f"{path}.closed", {"inequalities": list, "left_out": dict})
        if closed is None:
            return None
        left_out = self._members(closed["left_out"], f"{path}.closed.left_out", dict.fromkeys(closed["left_out"], int))
        places = [f"{path}.closed.inequalities[{i}]" for i in range(len(closed["inequalities"]))]
        found = [self._inequality(each, at) for each, at in zip(closed["inequalities"], places, strict=True)]
        inequalities = tuple(each for each in found if each is not None)
        return ReportedStatement(**named, closed=True, inequalities=inequalities, left_out=left_out or {})

    def _inequality(self, data: Any, path: str) -> ReportedInequality | None:
        kinds = {"lhs": str, "rhs": str, "strict": bool, "cases": int, "witness": dict}
        own = self._members(data, path, kinds)
        if own is None:
            return None
        lhs, rhs = (self._number(own[name], f"{path}.{name}") for name in ("lhs", "rhs"))
        try:
            witness = short_witness(own["witness"])
        except RecursionError:
            self._wrong(f"{path}.witness", f"is nested too deeply: {_ADVICE}")
            return None
        if lhs is None or rhs is None:
            return None
        return ReportedInequality(lhs, rhs, own["strict"], own["cases"], witness)

    def _number(self, text: str, path: str) -> Expression | None:
        try:
            expression = parse_expression(text)
            _require_value(expression)
        except (ExpressionError, Undetermined) as error:
            self._wrong(path, f"is no number ({error}): {_ADVICE}")
            return None
        return expression

    def _members(self, data: Any, path: str, kinds: Mapping[str, Any]) -> dict[str, Any] | None:
        """The members of these kinds of an object, or None where one is missing or of another kind."""
        if not isinstance(data, dict):
            self._wrong(path, f"is not an object: {_ADVICE}")
            return None
        before = len(self.problems)
        for name, kind in kinds.items():
            value = data.get(name, _MISSING)
            if (isinstance(value, bool) and kind is not bool) or not isinstance(value, kind):
                problem = "is missing" if value is _MISSING else f"is not {_KINDS[kind]}"
                self._wrong(member_path(path, name), f"{problem}: {_ADVICE}")
        return data if len(self.problems) == before else None

    def _wrong(self, path: str, message: str) -> None:
        self.problems.append(InputProblem(printable(path), printable(message)))


_MISSING = object()
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "an integer",
    dict | None: "an object or null",
}


def _require_value(expression: Expression) -> None:
    """Raise ExpressionError where the expression has no value, or a name; Undetermined where that cannot be told.

    A proof assistant's division, logarithm and root are total, and would give it one.
    """
    for bits in doubling(64, MAX_PRECISION):
        try:
            with ctx.workprec(bits):
                expression.value({})
            return
        except Undetermined:
            if bits == MAX_PRECISION:
                raise
