"""Names that six public repositories must contain, on checkouts named by LEAN_BRIDGE_CHECKOUTS."""

import os
from pathlib import Path

import pytest

from constants.ledger import default_ledger
from lean_bridge.audit import Inputs, audit
from lean_bridge.crosswalk import Row
from lean_bridge.maps.entry import Entry, Map
from lean_bridge.project import read_project

TRUTH = sorted((Path(__file__).parent / "data/truth").glob("*.txt"))
# What the truth calls a status, and the statuses that say it.
SAYS = {
    "found": {"found"},
    "via suffix": {"via suffix"},
    "generated": {"generated", "generated (derived)"},
    "anonymous instance": {"anonymous instance"},
    "stale": {"renamed", "missing"},
    "not a name": {"not a name"},
}
RENAMED = {
    "pureDP": "SLang.PureDP",
    "DiscreteLaplaceOptimized": "SLang.DiscreteLaplaceSampleOptimized",
    "privParComp": "SLang.privParCompose",
    "sv1_AboveThresh": "SLang.sv1_aboveThresh",
    "sv9_AboveThresh": "SLang.sv9_aboveThresh",
    "sv9_AboveThresh_SPMF": "SLang.sv9_aboveThresh_SPMF",
    "sv9_AboveThresh_pmf_DP": "SLang.sv9_aboveThresh_pmf_DP",
}


def truth(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(name, status) for name, status in (line.split("\t") for line in lines if not line.startswith("#"))]


def test_the_truth_is_complete() -> None:
    assert {path.stem: len(truth(path)) for path in TRUTH} == {
        "FLT": 159,
        "LeanAPAP": 36,
        "SampCert": 54,
        "brownian-motion": 291,
        "pfr": 246,
        "sphere-eversion": 80,
    }


@pytest.fixture(params=TRUTH, ids=lambda path: path.stem)
def rows(request: pytest.FixtureRequest) -> list[tuple[Row, str]]:
    """Each name of one repository as a row, with the status it must get."""
    directory = os.environ.get("LEAN_BRIDGE_CHECKOUTS")
    if not directory:
        pytest.skip("LEAN_BRIDGE_CHECKOUTS is not set: it names a directory with checkouts of the repositories")
    root = Path(directory) / request.param.stem
    if not root.is_dir():
        pytest.skip(f"no checkout of {request.param.stem} in LEAN_BRIDGE_CHECKOUTS")
    names = truth(request.param)
    entries = [Entry(name, (name,), request.param.name, i) for i, (name, _) in enumerate(names, 2)]
    found = audit(read_project(root), Inputs(Map(entries)), default_ledger()).rows
    return list(zip(found, (status for _, status in names), strict=True))


def test_every_name_gets_its_status(rows: list[tuple[Row, str]]) -> None:
    wrong = [(row.name, row.status, status) for row, status in rows if row.status not in SAYS[status]]
    assert wrong == []
    for row, status in rows:
        if status in ("generated", "anonymous instance"):
            assert row.sites[0].keyword[0] >= 1
        if row.status == "renamed":
            assert row.suggestions[0] == RENAMED[row.name]
    assert {row.name for row, _ in rows if row.status == "renamed"} <= set(RENAMED)
