"""Every statement of the catalogue has its tests: reported, proved, refuted when changed, not applicable, left open.

A statement or a bound that is added without them fails here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
import test_statements_appendix
import test_statements_section3
import test_statements_section4
import test_statements_section5
import test_statements_section6
import test_statements_section7
import test_statements_section8
import test_statements_section9
from instances import explicit, instance, outcome, run, statement, with_alpha, zero_branch
from mutation import Mutation
from test_statements_section8 import SMALL

from certify.arithmetic.verdict import Verdict
from certify.release.check import CheckOptions
from certify.release.instance import ReleaseInstance, TheoremMechanism
from certify.release.statements import CATALOGUE, STATEMENT_IDS
from certify.release.statements.base import ZERO_BRANCH, ReleaseStatement
from certify.report.environment import this_environment
from certify.report.json_report import report_json
from certify.report.model import InstanceIdentity, report_on
from constants.ledger import Role, default_ledger

MUTATIONS: tuple[Mutation, ...] = (
    *test_statements_appendix.MUTATIONS,
    *test_statements_section3.MUTATIONS,
    *test_statements_section4.MUTATIONS,
    *test_statements_section5.MUTATIONS,
    *test_statements_section6.MUTATIONS,
    *test_statements_section7.MUTATIONS,
    *test_statements_section8.MUTATIONS,
    *test_statements_section9.MUTATIONS,
)

TWO_QUERIES = [[1, 0, -1], ["1/3", -1, 1]]
FAR = instance(TWO_QUERIES, [1, 2, 0], 1, explicit(2, 4, "1/2"), amplify=(3, 1))
NEAR = instance(TWO_QUERIES, [1, 2, 0], "3/2", explicit(3, "1/8", 1))
GROWTH = instance(TWO_QUERIES, [1, 1, 1], 1, explicit(2, "1/2048", "1/2"))
EVERYWHERE = instance([[1, 0, "-1/2"]], None, 1, explicit(2, 1, "1/2"), n=2)
THEOREM = instance([[1, -1]], [1, 0], 4_030_336, TheoremMechanism())
"""The proof's own branch at its least epsilon for n = 1: J = 23."""

_LAW = (
    "eq-2.sensitivity", "lemma-a.1", "lemma-a.2", "lemma-a.3", "prop-3.1", "prop-3.2.path", "prop-3.2", "eq-3.3",
    "prop-4.1.transcript", "prop-4.1.answer", "eq-4.normaliser", "lemma-5.1.mean", "lemma-5.1.jensen", "lemma-5.1",
    "lemma-6.1", "eq-6.2", "eq-7.block-index", "eq-7.block", "lemma-7.1", "eq-7.damping",
)  # fmt: skip
PROVED: dict[str, tuple[ReleaseInstance, tuple[str, ...]]] = {
    "far": (FAR, (*_LAW, "eq-6.far", "sec-9.radius-sum", "sec-9.median")),
    "near": (NEAR, (*_LAW, "lemma-a.4", "eq-6.near")),
    "growth": (GROWTH, (*_LAW, "lemma-a.4", "eq-6.near", "eq-7.growth", "eq-7.normaliser", "eq-7.error")),
    "everywhere": (EVERYWHERE, (*_LAW, "lemma-a.4", "eq-6.near")),
    "theorem": (THEOREM, ("eq-8.choice", "eq-8.growth", "eq-8.6", "eq-8.7", "thm-1.1")),
    "zero branch": (
        zero_branch(),
        ("eq-2.sensitivity", "lemma-7.1", "eq-7.damping", "thm-1.1", "sec-9.radius-sum"),
    ),
}

GROWTH_FAILS = "the hypothesis κ ≤ c₀ε²/L fails: κ ≥ 7.11111, c₀ε²/L ≤ 4.14176e-7"
NO_ALPHA = 'the mechanism is explicit; (8.3) speaks of {"alpha": …} or "theorem"'
PREMISE_FAILS = "the premise (8.2) 2^21 L_D L_Q ≤ εnα² fails: 2^21 L_D L_Q ≥ 2015160, εnα² ≤ 1"
NOT_ITS_MECHANISM = 'the mechanism is not the one of the proof; write "mechanism": "theorem"'
BY_ALPHA = instance([[1, -1]], [2, 0], 2, with_alpha("1/2"))

NOT_APPLICABLE: tuple[tuple[str, ReleaseInstance, Mapping[str, str] | None, str], ...] = (
    ("lemma-a.4", FAR, None, "no radius is near (A_R > L already at R = 1), so no order a = r_R arises"),
    ("eq-6.near", FAR, None, "no radius is near: A_R > L already at R = 1"),
    ("eq-6.far", GROWTH, None, "no radius is far: A_R ≤ L up to R = n = 3"),
    ("eq-7.growth", FAR, None, GROWTH_FAILS),
    ("eq-7.normaliser", FAR, None, GROWTH_FAILS),
    ("eq-7.error", FAR, None, GROWTH_FAILS),
    ("eq-8.choice", FAR, None, NO_ALPHA),
    ("eq-8.growth", FAR, None, NO_ALPHA),
    ("eq-8.6", FAR, None, NO_ALPHA),
    ("eq-8.7", FAR, None, NO_ALPHA),
    ("eq-8.growth", BY_ALPHA, SMALL, PREMISE_FAILS),
    ("eq-8.6", BY_ALPHA, SMALL, PREMISE_FAILS),
    ("eq-8.7", BY_ALPHA, SMALL, PREMISE_FAILS),
    ("thm-1.1", FAR, None, NOT_ITS_MECHANISM),
    ("thm-1.1", BY_ALPHA, SMALL, NOT_ITS_MECHANISM),
    ("sec-9.radius-sum", NEAR, None, "the remark is for 0 < ε ≤ 1"),
    (
        "sec-9.median",
        NEAR,
        None,
        'no amplification is asked for; write "check": {"amplify": {"copies": N, "error": t}}',
    ),
)
"""Statements with a hypothesis: an instance where it fails, the constants to run it with, and what the report says."""

LEFT_OPEN = {
    ("privacy", "thm-1.1"): "decided by prop-4.1; here a step that does not close leaves it undecided",
    ("privacy", "sec-9.median"): "likewise",
    ("theorem-premise", "thm-1.1"): "a relation between constants: the statement does not read it",
    **{
        ("codebook-label", name): "it enters through L, on which eq-6.near and eq-6.2 are refuted"
        for name in ("lemma-a.4", "eq-7.growth", "eq-7.normaliser", "eq-7.error", "eq-8.growth")
    },
}
"""(bound, statement) of the ledger that no mutation refutes, and why."""


def test_every_statement_is_in_the_report_of_a_small_instance() -> None:
    result = run(FAR)
    identity = InstanceIdentity("far.json", "0" * 64, "release")
    report = report_json(report_on(identity, this_environment(), result.quantities, result.outcomes))
    assert tuple(each["id"] for each in report["statements"]) == STATEMENT_IDS
    assert len(set(STATEMENT_IDS)) == len(STATEMENT_IDS)
    assert {each["verdict"] for each in report["statements"]} == {"proved", "not applicable"}
    for each in report["statements"]:
        assert (each["reason"] is None) == (each["verdict"] == "proved"), each["id"]


@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved(name: str) -> None:
    given, statements = PROVED[name]
    for each in run(given, *statements).outcomes:
        assert each.verdict is Verdict.PROVED, (each.statement.id, each.verdict, each.reason)
        assert each.cases > 0, each.statement.id


@pytest.mark.parametrize("name", ["far", "near", "growth", "everywhere"])
def test_what_is_proved_in_arb(name: str) -> None:
    given, statements = PROVED[name]
    for each in run(given, *statements, options=CheckOptions(precision=128)).outcomes:
        assert each.verdict is Verdict.PROVED, (each.statement.id, each.verdict, each.reason)


@pytest.mark.parametrize(("name", "given", "changes", "reason"), NOT_APPLICABLE)
def test_where_a_hypothesis_fails(
    name: str, given: ReleaseInstance, changes: Mapping[str, str] | None, reason: str
) -> None:
    found = outcome(given, name, changes)
    assert (found.verdict, found.reason) == (None, reason)
    assert (found.cases, found.worst, found.budget_used) == (0, None, None)


@pytest.mark.parametrize("name", STATEMENT_IDS)
def test_the_zero_branch_has_no_transcript(name: str) -> None:
    found = outcome(zero_branch(), name)
    if statement(name).about_transcripts:
        assert (found.verdict, found.reason) == (None, ZERO_BRANCH)
    else:
        assert found.verdict is Verdict.PROVED


# nothing is without its tests


def test_every_statement_is_proved_somewhere() -> None:
    assert {name for _, statements in PROVED.values() for name in statements} == set(STATEMENT_IDS)


def test_every_statement_is_refuted_somewhere() -> None:
    assert {mutation.statement for mutation in MUTATIONS} == set(STATEMENT_IDS)


def test_every_hypothesis_fails_somewhere() -> None:
    own = {each.id for each in CATALOGUE if type(each).not_applicable is not ReleaseStatement.not_applicable}
    assert {name for name, _, _, _ in NOT_APPLICABLE} == own


def test_every_bound_of_the_ledger_is_refuted_when_too_small() -> None:
    changed = {(constant, mutation.statement) for mutation in MUTATIONS for constant in mutation.changes}
    missing = set(_bounds()) - changed
    assert missing == set(LEFT_OPEN)


def _bounds() -> Iterator[tuple[str, str]]:
    for constant in default_ledger().constants.values():
        if constant.role is Role.BOUND:
            yield from ((constant.id, name) for name in constant.used_by if name in STATEMENT_IDS)
