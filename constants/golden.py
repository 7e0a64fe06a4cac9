"""The recorded enclosures, `golden.json`: written with producer, versions and date; and what has changed since."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flint import ctx

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.exact import parse_rational
from certify.arithmetic.expression import Expression, parse_expression
from certify.instance_file import InputProblem, InstanceError, quoted
from certify.report.environment import Environment
from constants.difference import Order, order_of
from constants.ledger import Ledger

GOLDEN = Path(__file__).with_name("golden.json")
SCHEMA = "constants-golden/1"
PRECISION = 256
DIGITS = 40
PRODUCER = "python -m constants golden"

_SOURCE = "golden.json"


@dataclass(frozen=True)
class Recorded:
    """A constant as it was recorded: its expression, and the enclosure that was computed then."""

    value: Expression
    enclosure: Enclosure


@dataclass(frozen=True)
class Comparison:
    """One constant against its record; `before` and `now` are expressions as text, empty where there is none."""

    id: str
    order: Order
    before: str
    now: str


def enclosure(expression: Expression) -> Enclosure:
    """The enclosure of a constant at `PRECISION` bits."""
    with ctx.workprec(PRECISION):
        return Enclosure.of(expression.value({}))


def golden_text(ledger: Ledger, environment: Environment, date: str) -> str:
    """The text of a golden file: every constant, and every printed value, with outward decimals."""
    constants: dict[str, Any] = {}
    for constant in ledger.constants.values():
        entry = _entry(constant.value)
        if constant.printed is not None:
            entry["printed"] = _entry(constant.printed)
        constants[constant.id] = entry
    document = {
        "schema": SCHEMA,
        "producer": PRODUCER,
        "date": date,
        "certify": environment.certify,
        "python": environment.python,
        "python-flint": environment.python_flint,
        "flint": environment.flint,
        "precision_bits": PRECISION,
        "constants": constants,
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _entry(value: Expression) -> dict[str, Any]:
    return {"value": value.text(), **enclosure(value).decimals(DIGITS)}


def read_golden(text: str) -> Mapping[str, Recorded]:
    """The records by id; that of a printed value has the id `ID (printed)`. Raises InstanceError."""
    advice = f"write the file anew with {PRODUCER}"
    try:
        document = json.loads(text)
        constants = document["constants"]
        if document["schema"] != SCHEMA:
            raise InstanceError([InputProblem("$.schema", f"is not {quoted(SCHEMA)}: {advice}")], _SOURCE)
        records = {}
        for constant_id, entry in constants.items():
            records[constant_id] = _recorded(entry)
            if "printed" in entry:
                records[printed_id(constant_id)] = _recorded(entry["printed"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InstanceError([InputProblem("$", f"is damaged ({type(error).__name__}): {advice}")], _SOURCE) from None
    return records


def provenance(text: str) -> Mapping[str, str]:
    """Who wrote a golden file, with what and when."""
    document = json.loads(text)
    return {name: str(document[name]) for name in ("producer", "date", "certify", "python-flint", "flint")}


def printed_id(constant_id: str) -> str:
    return f"{constant_id} (printed)"


def _recorded(entry: Mapping[str, str]) -> Recorded:
    ends = Enclosure(parse_rational(entry["lower"]), parse_rational(entry["upper"]))
    return Recorded(parse_expression(entry["value"]), ends)


def compare(ledger: Ledger, records: Mapping[str, Recorded]) -> list[Comparison]:
    """Every constant and printed value against its record, then the records that the ledger no longer has."""
    current: dict[str, Expression] = {}
    for constant in ledger.constants.values():
        current[constant.id] = constant.value
        if constant.printed is not None:
            current[printed_id(constant.id)] = constant.printed
    comparisons = []
    for constant_id, value in current.items():
        record = records.get(constant_id)
        if record is None:
            comparisons.append(Comparison(constant_id, Order.NEW, "", value.text()))
        else:
            order = _order(value, record)
            comparisons.append(Comparison(constant_id, order, record.value.text(), value.text()))
    removed = [constant_id for constant_id in records if constant_id not in current]
    comparisons += [Comparison(each, Order.REMOVED, records[each].value.text(), "") for each in removed]
    return comparisons


def _order(value: Expression, record: Recorded) -> Order:
    order = order_of(value, record.value)
    if order is Order.SAME and not enclosure(value).overlaps(record.enclosure):
        return Order.CONTRADICTED
    return order
