"""The report as JSON, schema ``certify-report/1``. Every decimal is rounded outward."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, SupportsIndex

from flint import arb, fmpq

from certify.arithmetic.enclosure import Enclosure
from certify.engine.statement import ClosedCases, Worst
from certify.report.figures import JSON_DIGITS, telling_digits
from certify.report.model import Report, StatementReport, StatementVerdict

SCHEMA = "certify-report/1"

MAX_INTEGER_BITS = 10_000
"""Longer integers become outward decimals: common JSON readers refuse numbers of more than 4,300 digits."""

Json = dict[str, Any]


def report_json(report: Report) -> Json:
    """The whole report as plain data, in the order of the schema."""
    environment = report.environment
    return {
        "schema": SCHEMA,
        "instance": {
            "path": report.instance.path,
            "sha256": report.instance.sha256,
            "theory": report.instance.theory,
        },
        "environment": {
            "certify": environment.certify,
            "python": environment.python,
            "python-flint": environment.python_flint,
            "flint": environment.flint,
        },
        "quantities": {name: plain(value) for name, value in report.quantities.items()},
        "summary": {
            "verdict": report.summary.verdict.value,
            "proved": report.summary.proved,
            "refuted": report.summary.refuted,
            "undecided": report.summary.undecided,
            "not_applicable": report.summary.not_applicable,
        },
        "statements": [_statement(statement) for statement in report.statements],
    }


def canonical_json(report: Report) -> Json:
    """The part that the instance and the options alone determine: without path, environment and seconds."""
    whole = report_json(report)
    del whole["environment"], whole["instance"]["path"]
    for statement in whole["statements"]:
        del statement["seconds"]
    return whole


def json_text(reports: Sequence[Report]) -> str:
    """The text of a report file: one object for one instance, the list of them for several."""
    documents = [report_json(report) for report in reports]
    whole = documents[0] if len(documents) == 1 else documents
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _statement(statement: StatementReport) -> Json:
    return {
        "id": statement.id,
        "title": statement.title,
        "source": statement.source,
        "claim": statement.claim,
        "verdict": statement.verdict.value,
        "coverage": statement.coverage,
        "cases": plain(statement.cases),
        "budget_used": None if statement.budget_used is None else plain(statement.budget_used),
        "worst": None if statement.worst is None else _worst(statement.verdict, statement.worst),
        "precision_bits": statement.precision_bits,
        "seconds": round(statement.seconds, 4),
        "reason": statement.reason,
        "notes": list(statement.notes),
        "closed": None if statement.closed is None else _closed(statement.closed),
    }


def _closed(closed: ClosedCases) -> Json:
    """Expressions as text that `certify.arithmetic.expression.parse_expression` reads back."""
    return {
        "inequalities": [
            {
                "lhs": each.lhs.text(),
                "rhs": each.rhs.text(),
                "strict": each.strict,
                "cases": plain(each.cases),
                "witness": plain(each.witness),
            }
            for each in closed.inequalities
        ],
        "left_out": {reason: plain(count) for reason, count in closed.left_out.items()},
    }


def _worst(verdict: StatementVerdict, worst: Worst) -> Json:
    """Both sides, with as many digits as it takes for the decimals alone to show the verdict."""
    digits = telling_digits(verdict, worst, JSON_DIGITS) or JSON_DIGITS[0]
    return {
        "lhs": worst.lhs.decimals(digits),
        "rhs": worst.rhs.decimals(digits),
        "witness": plain(worst.witness),
    }


def plain(value: object) -> Any:
    """A quantity or a witness as JSON data: rationals as exact text, balls and enclosures outward.

    Raises TypeError for anything else, floats included: no float is a certified number.
    """
    match value:
        case None | bool() | str():
            return value
        case Enclosure():
            return value.decimals(JSON_DIGITS[0])
        case fmpq():
            return str(value)
        case arb():
            return Enclosure.of(value).decimals(JSON_DIGITS[0])
        case Mapping():
            return {str(key): plain(entry) for key, entry in value.items()}
        case list() | tuple():
            return [plain(entry) for entry in value]
        case SupportsIndex():
            number = index(value)
            return number if number.bit_length() <= MAX_INTEGER_BITS else plain(Enclosure.of(number))
    raise TypeError(f"a report cannot hold {type(value).__name__}")
