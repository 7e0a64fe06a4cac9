"""Reads the report of `python -m certify` for the numerical verdicts on the paper's items."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCHEMA = "certify-report/1"


@dataclass(frozen=True, slots=True)
class NumericalVerdict:
    """One statement of a certify report."""

    id: str
    title: str
    source: str
    claim: str
    verdict: str
    coverage: str
    reason: str | None
    instance: str


def read_certify_report(path: Path, text: str) -> tuple[list[NumericalVerdict], list[str]]:
    """The statements of a report and what is wrong with it."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        return [], [f"{path}: {error}"]
    if not isinstance(data, dict) or data.get("schema") != _SCHEMA:
        return [], [f'{path}: $.schema must be "{_SCHEMA}"; write one with python -m certify … --json FILE']
    instance = data.get("instance")
    shown = str(instance.get("path", "")) if isinstance(instance, dict) else ""
    verdicts: list[NumericalVerdict] = []
    problems: list[str] = []
    statements = data.get("statements")
    for i, statement in enumerate(statements if isinstance(statements, list) else []):
        if not isinstance(statement, dict) or not isinstance(statement.get("id"), str):
            problems.append(f"{path}: $.statements[{i}].id is missing")
            continue
        verdicts.append(
            NumericalVerdict(
                statement["id"],
                _text(statement, "title"),
                _text(statement, "source"),
                _text(statement, "claim"),
                _text(statement, "verdict") or "undecided",
                _text(statement, "coverage"),
                _text(statement, "reason") or None,
                shown,
            )
        )
    if not isinstance(statements, list):
        problems.append(f"{path}: $.statements is missing")
    return verdicts, problems


def belongs_to(statement: str, item: str) -> bool:
    """Whether a statement id is the item or a part of it: `lemma-5.1.mean` belongs to `lemma-5.1`."""
    return statement == item or statement.startswith(f"{item}.")


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
