"""The ledger as JSON, schema `constants/1`. Every decimal is rounded outward."""

from __future__ import annotations

import json
from typing import Any

from certify.arithmetic.expression import Expression
from certify.report.environment import Environment
from constants.golden import DIGITS, enclosure
from constants.ledger import Constant, Ledger
from constants.relations import Proof, as_printed, prove_of

SCHEMA = "constants/1"


def ledger_json(ledger: Ledger, environment: Environment) -> str:
    """Every constant with its enclosure, and its relations with verdict and slack, as the text of a file."""
    document = {
        "schema": SCHEMA,
        "environment": {
            "certify": environment.certify,
            "python": environment.python,
            "python-flint": environment.python_flint,
            "flint": environment.flint,
        },
        "papers": {paper.id: {"title": paper.title, "edition": paper.edition} for paper in ledger.papers.values()},
        "constants": [_constant(constant, ledger) for constant in ledger.constants.values()],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _constant(constant: Constant, ledger: Ledger) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": constant.id,
        **_number(constant.value),
        "paper_id": constant.paper_id,
        "paper": constant.paper,
        "page": constant.page or None,
        "role": constant.role.value,
        "rule": constant.rule or None,
        "lean": constant.lean or None,
        "note": constant.note or None,
        "used_by": list(constant.used_by),
        "relations": [_relation(proof) for proof in prove_of([constant], ledger.expressions)],
        "printed": None,
    }
    if constant.printed is not None:
        verdict, proof = as_printed(constant, ledger)
        entry["printed"] = {
            **_number(constant.printed),
            "verdict": verdict.value,
            "relation": None if proof is None else proof.relation.text(),
        }
    return entry


def _number(value: Expression) -> dict[str, Any]:
    return {"value": value.text(), "decimals": enclosure(value).decimals(DIGITS)}


def _relation(proof: Proof) -> dict[str, Any]:
    return {
        "relation": proof.relation.text(),
        "verdict": proof.verdict.value,
        "lhs": proof.lhs.decimals(),
        "rhs": proof.rhs.decimals(),
        "tie": proof.tie,
        "slack": proof.slack.decimals(),
        "reason": proof.reason or None,
    }
