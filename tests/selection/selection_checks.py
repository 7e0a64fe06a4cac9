"""Checking selection instances in tests: example files by name, or instances written down as data."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from flint import fmpq

from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Outcome
from certify.instance_file import parse_instance_bytes
from certify.release.check import CheckOptions
from certify.selection.check import CheckResult, check, plan, prepare
from certify.selection.instance import parse_selection_instance
from certify.selection.instance_model import SelectionInstance
from certify.selection.statements import STATEMENT_IDS
from constants.ledger import default_ledger

EXAMPLES = Path(__file__).parents[2] / "examples" / "selection"

PROVED, REFUTED, UNDECIDED, NOT_APPLICABLE = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED, None


def parsed(data: Mapping[str, Any]) -> SelectionInstance:
    """The instance that plain data describes, schema and theory added."""
    content = json.dumps({"schema": 1, "theory": "selection", **data}).encode()
    return parse_selection_instance(parse_instance_bytes(content), STATEMENT_IDS)


def example(name: str) -> dict[str, Any]:
    """The data of an example file."""
    data: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return data


def checked(
    data: Mapping[str, Any], *statements: str, changes: Mapping[str, str] | None = None, max_precision: int = 4096
) -> CheckResult:
    """The check of an instance, with a changed ledger where asked for."""
    ledger = default_ledger().replaced(changes or {})
    options = CheckOptions(statements=statements or None, max_precision=max_precision)
    problem = prepare(parsed(data), ledger)
    assert plan(problem, options).refusal is None
    return check(problem, options)


@cache
def checked_example(name: str) -> CheckResult:
    """The whole check of an example, once."""
    return checked(example(name))


def outcome(result: CheckResult, statement: str) -> Outcome:
    """The outcome of one statement."""
    (found,) = [o for o in result.outcomes if o.statement.id == statement]
    return found


def decided(data: Mapping[str, Any], statement: str, changes: Mapping[str, str] | None = None) -> Outcome:
    """The outcome of one statement on an instance."""
    return outcome(checked(data, statement, changes=changes), statement)


def exact(text: str) -> fmpq:
    """A decimal as a rational."""
    whole, _, places = text.partition(".")
    return fmpq(int(whole + places), 10 ** len(places))


def agrees(lower: fmpq | None, upper: fmpq | None, digits: str) -> bool:
    """Whether an enclosure lies within one unit of the last digit of a printed number."""
    value = exact(digits)
    unit = fmpq(1, 10 ** len(digits.partition(".")[2]))
    return lower is not None and upper is not None and value - unit <= lower and upper <= value + unit
