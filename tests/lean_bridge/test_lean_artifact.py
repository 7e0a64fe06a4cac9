"""The fixture artifact and its faulty twin: every fault is found, nothing else is objected to."""

from pathlib import Path

import pytest

from constants.ledger import default_ledger
from lean_bridge.audit import Audit, Inputs, audit
from lean_bridge.discover import discover_maps
from lean_bridge.project import read_project

ARTIFACT = Path(__file__).parent / "artifact"
MAIN = "PureDP.optimal_pureDP_decoded_statistical_query_release_rate"


def audited(copy: str) -> Audit:
    project = read_project(ARTIFACT / copy)
    found = discover_maps(project)
    assert not found.problems
    return audit(project, Inputs(found), default_ledger())


def test_it_says_on_top_that_it_is_a_fixture() -> None:
    sources = list(ARTIFACT.rglob("*.lean"))
    assert len(sources) == 8
    for path in sources:
        assert path.read_text(encoding="utf-8").startswith(
            "/- Fixture of the companion's tests, not the authors' artifact"
        )


def test_the_sound_copy_is_clean() -> None:
    result = audited("sound")
    assert result.exit_status == 0
    assert {row.status for row in result.rows} == {"found"}
    assert not list(result.project.unparsed)
    assert not list(result.project.diagnostics)
    verdicts = {row.name: row.constant.verdict for row in result.rows if row.constant}
    assert verdicts == {
        "PureDP.Envelope.ball_mass": "equal",
        "PureDP.envelope_error": "equal",
        MAIN: "equal",
        "PureDP.error_le_rate": "equal",
    }


@pytest.mark.parametrize(
    ("name", "status", "gaps", "constant", "suggestions"),
    [
        ("PureDP.Envelope.one_le_normaliser", "missing", (), None, ()),
        ("PureDP.Envelope.likelihood_maurey", "renamed", (), None, ("PureDP.Envelope.likelihood_Maurey",)),
        ("PureDP.Envelope.ball_mass", "found", ("sorry",), "equal", ()),
        ("PureDP.envelope_error", "found", ("axiom",), "equal", ()),
        (MAIN, "found", (), "different", ()),
        ("PureDP.error_le_rate", "found", (), "equal", ()),
    ],
)
def test_every_fault_is_found(
    name: str, status: str, gaps: tuple[str, ...], constant: str | None, suggestions: tuple[str, ...]
) -> None:
    (row,) = [row for row in audited("faulty").rows if row.name == name]
    assert (row.status, row.gaps, row.suggestions) == (status, gaps, suggestions)
    assert (row.constant.verdict if row.constant else None) == constant


def test_the_faulty_copy_fails() -> None:
    assert audited("faulty").exit_status == 1


def test_the_ledger_decides_and_not_a_number_typed_here() -> None:
    project = read_project(ARTIFACT / "sound")
    changed = default_ledger().replaced({"theorem-constant": "2^19*exp(1)"})
    result = audit(project, Inputs(discover_maps(project)), changed)
    verdicts = {row.name: row.constant.verdict for row in result.rows if row.constant}
    assert (verdicts[MAIN], verdicts["PureDP.Envelope.ball_mass"]) == ("different", "equal")
