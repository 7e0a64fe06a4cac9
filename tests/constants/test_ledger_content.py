"""The shipped ledger: what must be in it, that sources are given, and that `used_by` is what the code reads."""

import ast
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from flint import arb, fmpq

from certify.arithmetic.expression import parse_expression
from certify.arithmetic.verdict import Verdict
from certify.claims.claim_file import parse_claims
from certify.engine.statement import ScalarCase
from certify.release.check import CheckOptions, check, prepare
from certify.release.measurements import BlockRatio, EnvelopeMass
from certify.release.statements import CATALOGUE, STATEMENT_IDS
from certify.selection.statements import CATALOGUE as CATALOGUE_OF_SELECTION
from certify.selection.statements import STATEMENT_IDS as SELECTION_IDS
from certify.theory import RELEASE as RELEASE_THEORY
from certify.theory import SELECTION as SELECTION_THEORY
from constants.instance_checks import built_in_instances
from constants.ledger import Domain, Ledger, default_ledger
from constants.relations import as_printed, identical
from constants.universal_checks import claims_text, statement_of

ROOT = Path(__file__).parents[2]

RELEASE = {
    "theorem-constant": "2^20*exp(1)", "theorem-threshold": "2048", "premise": "2^21", "theorem-premise": "2^22",
    "final-error": "512*exp(1)", "regret-multiple": "3*exp(1)", "linear-multiple": "288*exp(1)",
    "block-error": "32*exp(1)", "block-mass": "2*exp(1)", "block-weighted-mass": "4*exp(1)", "damping-width": "9",
    "ball-growth": "5", "far-growth": "3", "near-growth": "4", "ball-loss": "8", "growth-hypothesis": "1/1048576",
    "growth-rate": "1/100", "block-width": "3", "theta-least": "3", "theta-small-epsilon": "4",
    "theta-large-epsilon": "3", "damping-rate": "1/3", "rounds-choice": "16", "rounds-upper": "32",
    "selection-choice": "128", "update-choice": "1/4", "base-regret": "2", "base-selection": "16", "rho": "8",
    "kappa": "2", "maurey": "1/4", "moment": "1", "softmax-gap": "4",
}  # fmt: skip
SELECTION = {
    "svt-threshold-scale": "2", "svt-query-scale": "4", "svt-accuracy": "8", "search-accuracy": "32",
    "search-decay": "3/4", "search-normaliser": "4", "search-sum": "3", "search-error": "384", "final-rounds": "64",
    "filter-threshold": "50", "filter-inner": "49", "phase-run": "48", "interval-length": "51",
    "phase-multiple": "64", "phase-power": "3", "final-accuracy": "97", "selection-error": "776",
    "run-count-multiple": "3", "run-count-power": "2", "alpha-argument": "384", "alpha-power": "3", "ctt-gap": "12",
    "ctt-gap-argument": "10", "mwem-accuracy": "8", "hellinger-gap": "1/18", "information-bound": "1/54",
    "sample-bound": "1/108",
}  # fmt: skip
PRINTED = {
    "svt-accuracy": "2", "binary-search-share": "2", "run-count-power": "1", "alpha-log-base": "exp(1)",
    "filter-stop-power": "1", "mwem-potential": "1", "mwem-regret": "1", "mwem-selection": "1", "mwem-rest": "0",
    "mwem-rate": "1", "information-transfer": "2/3",
}  # fmt: skip


@pytest.mark.parametrize(("paper", "wanted"), [("release", RELEASE), ("selection", SELECTION)])
def test_every_constant_that_the_papers_use_is_there_with_its_value(paper: str, wanted: dict[str, str]) -> None:
    ledger = default_ledger()
    for constant_id, value in wanted.items():
        constant = ledger[constant_id]
        assert identical(constant.value, parse_expression(value)), constant_id
        assert constant.paper_id == paper


def test_every_constant_names_its_item_its_paper_and_its_users() -> None:
    ledger = default_ledger()
    assert set(ledger.papers) == {"release", "selection", "better"}
    for paper in ledger.papers.values():
        assert paper.title and ("SHA-256" in paper.edition or paper.id == "better")
    for constant in ledger.constants.values():
        assert constant.paper and constant.paper_id in ledger.papers and constant.used_by, constant.id


def test_what_the_papers_print_wrongly_is_recorded_and_refuted_by_a_relation() -> None:
    ledger = default_ledger()
    printed = {c.id: c.printed for c in ledger.constants.values() if c.printed is not None}
    assert set(PRINTED) <= set(printed)
    for constant_id, text in PRINTED.items():
        assert printed[constant_id] == parse_expression(text)
    for constant_id in printed:
        verdict, proof = as_printed(ledger[constant_id], ledger)
        assert verdict is Verdict.REFUTED and proof is not None, constant_id
        assert ledger[constant_id].name in proof.relation.names()


def test_nothing_of_the_release_paper_is_printed_wrongly() -> None:
    assert not [c for c in default_ledger().constants.values() if c.paper_id == "release" and c.printed is not None]


def test_the_main_declaration_of_the_lean_development_belongs_to_the_theorem() -> None:
    lean = {c.id: c.lean for c in default_ledger().constants.values() if c.lean}
    assert lean["theorem-constant"] == "optimal_pureDP_decoded_statistical_query_release_rate"


# used_by


class Recorder(Ledger):
    """A ledger that notes which constants are read while a statement is checked.

    Not counted: the quantities and the tables that every report computes, and the choices (8.3) that made the
    mechanism, except for the statements about them.
    """

    about_choices = False
    reads: set[str]

    def value(self, constant_id: str) -> Any:
        names, files = set(), set()
        frame: Any = sys._getframe(1)
        while frame is not None:
            names.add(frame.f_code.co_name)
            files.add(os.path.basename(frame.f_code.co_filename))
            frame = frame.f_back
        shared = {"_quantities", "_tables"} & names or ("mechanism.py" in files and not self.about_choices)
        if not shared:
            self.reads.add(constant_id)
        return super().value(constant_id)


def _recorded() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """For each release statement: the constants read while it is checked, and those read to prepare it."""
    shipped = default_ledger()
    ledger = Recorder(shipped.constants, shipped.papers)
    checked: dict[str, set[str]] = {}
    prepared: dict[str, set[str]] = {}
    for name, tree in built_in_instances(RELEASE_THEORY).items():
        instance = RELEASE_THEORY.parse(tree, shipped)
        for statement in STATEMENT_IDS:
            if (name in ("theorem", "zero")) != (statement == "thm-1.1"):
                continue
            object.__setattr__(ledger, "about_choices", statement.startswith(("eq-8", "thm-1.1")))
            for reads in (prepared, checked):
                object.__setattr__(ledger, "reads", reads.setdefault(statement, set()))
                if reads is prepared:
                    problem = prepare(instance, ledger)
                else:
                    check(problem, CheckOptions(statements=(statement,)))
    return checked, prepared


@pytest.fixture(scope="module")
def recorded() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    return _recorded()


def test_a_statement_that_reads_a_constant_is_listed_as_its_user(recorded: Any) -> None:
    checked, _ = recorded
    ledger = default_ledger()
    missing = [(c, s) for s, reads in checked.items() for c in reads if s not in ledger[c].used_by]
    assert missing == []
    assert sum(len(reads) for reads in checked.values()) > 100  # the recorder records


def test_a_release_statement_listed_as_a_user_reads_the_constant(recorded: Any) -> None:
    checked, prepared = recorded
    through_the_law = {s.id for s in CATALOGUE if _uses_the_envelope(s)}
    for constant in default_ledger().constants.values():
        if constant.paper_id != "release" or constant.id == "theorem-premise":  # which only relations and claims use
            continue
        readers = {s for s, reads in checked.items() if constant.id in reads | prepared[s]}
        if constant.id == "envelope-penalty":
            readers |= through_the_law
        assert set(constant.used_by) <= readers, constant.id


def test_statements_about_the_envelope_use_its_penalty() -> None:
    used = default_ledger()["envelope-penalty"].used_by
    assert {s.id for s in CATALOGUE if _uses_the_envelope(s)} <= set(used)


def _uses_the_envelope(statement: Any) -> bool:
    for tree in built_in_instances(RELEASE_THEORY).values():
        problem = prepare(RELEASE_THEORY.parse(tree, default_ledger()), default_ledger())
        if statement.not_applicable(problem) is None:
            return any(isinstance(each, EnvelopeMass | BlockRatio) for each in statement.measurements(problem))
    raise AssertionError(f"{statement.id} is applicable to no built-in instance")


def test_every_release_user_is_a_statement() -> None:
    for constant in default_ledger().constants.values():
        if constant.paper_id == "release":
            assert set(constant.used_by) <= set(STATEMENT_IDS), constant.id


def _selection_claims() -> dict[str, set[str]]:
    """The constants of the selection paper's claims, by the statement that each belongs to."""
    text = claims_text("selection")
    assert text is not None
    found: dict[str, set[str]] = {}
    known = {statement for c in default_ledger().constants.values() for statement in c.used_by}
    for claim in parse_claims(text, default_ledger()):
        found.setdefault(statement_of(claim.id, known), set()).update(claim.constants)
    return found


def test_every_selection_user_is_a_statement_or_a_claim() -> None:
    known = set(SELECTION_IDS) | set(_selection_claims())
    for constant in default_ledger().constants.values():
        if constant.paper_id == "selection":
            assert set(constant.used_by) <= known, constant.id


def test_a_statement_that_only_claims_decide_uses_the_constants_of_its_claims() -> None:
    claims = {each: used for each, used in _selection_claims().items() if each not in SELECTION_IDS}
    assert {"lemma-7.3", "lemma-7.4", "lemma-7.6", "lemma-b.4", "cor-7.5", "cor-7.5.printed"} <= set(claims)
    ledger = default_ledger()
    for statement, used in claims.items():
        assert used == {c.id for c in ledger.constants.values() if statement in c.used_by}, statement


def test_a_selection_statement_that_reads_a_constant_is_listed_as_its_user() -> None:
    shipped = default_ledger()
    ledger = Recorder(shipped.constants, shipped.papers)
    reads: dict[str, set[str]] = {}
    for tree in built_in_instances(SELECTION_THEORY).values():
        instance = SELECTION_THEORY.parse(tree, shipped)
        for statement in CATALOGUE_OF_SELECTION:
            object.__setattr__(ledger, "reads", reads.setdefault(statement.id, set()))
            problem = SELECTION_THEORY.prepare(instance, ledger)
            if statement.not_applicable(problem) is None:
                for case in statement.cases(problem):
                    if isinstance(case, ScalarCase):
                        case.lhs(), case.rhs()
    assert set(reads) == set(SELECTION_IDS) and all(reads.values())
    assert [(c, s) for s, used in reads.items() for c in used if s not in shipped[c].used_by] == []


def _reads_in_source(theory: str) -> list[tuple[str, str, str]]:
    """(file, method, id) of every constant read by its id in the source of a theory."""
    found = []
    for path in sorted((ROOT / "certify" / theory).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("value", "rational", "constant")
                and len(node.args) == 1
                and isinstance(node.args[0], ast.Constant)
                and isinstance(node.args[0].value, str)
            ):
                found.append((path.name, node.func.attr, node.args[0].value))
    return found


@pytest.mark.parametrize(("theory", "least"), [("release", 80), ("selection", 40)])
def test_every_constant_that_the_source_names_is_in_the_ledger(theory: str, least: int) -> None:
    reads = _reads_in_source(theory)
    assert len(reads) > least
    assert {constant_id for _, _, constant_id in reads} <= set(default_ledger().constants)


@pytest.mark.parametrize(("theory", "methods"), [("release", {"rational"}), ("selection", {"rational", "constant"})])
def test_what_is_read_as_a_rational_must_be_rational_in_every_copy(theory: str, methods: set[str]) -> None:
    ledger = default_ledger()
    rational = {constant_id for _, method, constant_id in _reads_in_source(theory) if method in methods}
    assert rational
    for constant_id in rational:
        assert ledger[constant_id].domain not in (Domain.POSITIVE, Domain.NONNEGATIVE), constant_id
        assert isinstance(ledger.rational(constant_id), fmpq)


def test_what_is_read_as_an_integer_must_be_one_in_every_copy() -> None:
    integers = set()
    for theory in ("release", "selection"):
        for path in (ROOT / "certify" / theory).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            integers |= set(re.findall(r'int\([\w.]+\.(?:constant|rational)\("([a-z0-9-]+)"\)\.p\)', text))
    assert {"near-order", "final-rounds", "phase-power", "filter-stop-power"} <= integers
    for constant_id in integers:
        assert default_ledger()[constant_id].domain is Domain.POSITIVE_INTEGER, constant_id


def test_a_constant_that_is_not_rational_is_refused_as_one() -> None:
    assert isinstance(default_ledger().value("final-error"), arb)
    with pytest.raises(ValueError, match="final-error is not rational"):
        default_ledger().rational("final-error")
