import json

import pytest

from certify.instance_file import parse_instance_bytes
from certify.release import check
from certify.release.check import CheckOptions
from certify.release.instance import parse_release_instance
from certify.release.size import Plan
from certify.report.heading import enumeration, release_facts
from certify.report.model import InstanceIdentity
from constants.ledger import default_ledger

FIELDS = {
    "schema": 1,
    "theory": "release",
    "universe": ["yes", "no"],
    "queries": {"is-yes": [1, 0]},
    "database": {"yes": 2, "no": 1},
    "epsilon": "log(3)",
    "mechanism": {"rounds": 3, "eta": "1/3", "gamma": "1/4"},
}
IDENTITY = InstanceIdentity("x\x1b.json", "ab" * 32, "release")


def facts(options: CheckOptions | None = None, **changes: object) -> dict[str, str]:
    tree = parse_instance_bytes(json.dumps({**FIELDS, **changes}).encode())
    problem = check.prepare(parse_release_instance(tree, ()), default_ledger())
    options = options or CheckOptions()
    return dict(release_facts(IDENTITY, problem, check.plan(problem, options), options))


def test_a_heading_says_what_is_checked_and_how() -> None:
    found = facts(description="What it shows.")
    assert found["instance"] == "x\\x1b.json"
    assert found["sha256"] == "ab" * 32
    assert found["shows"] == "What it shows."
    assert found["model"] == "T = 2, k = 1, n = 3, ε = log(3); one database"
    assert found["mechanism"] == "envelope with J = 3, η = [0.333333, 0.333334], γ = 0.25"
    assert found["enumerates"].startswith("4 histograms × 8 transcripts, ")
    assert found["arithmetic"].startswith("float64 with proved bounds")
    assert "4,096 bits" in found["arithmetic"]
    assert "shows" not in facts()


def test_all_databases_and_the_choices_for_alpha() -> None:
    found = facts(database="all", n=3, mechanism={"alpha": 1})
    assert found["model"].endswith("every database")
    assert found["mechanism"].startswith("envelope with J = 23, η = [88.7228, 88.7229], γ = 0.25")
    assert found["mechanism"].endswith("the choices (8.3) at α = 1")


def test_both_branches_of_the_theorem() -> None:
    assert facts(mechanism="theorem")["mechanism"] == "zero output, the trivial branch of Theorem 1.1"
    envelope = facts(mechanism="theorem", epsilon=503792, database={"yes": 3, "no": 5})["mechanism"]
    assert "J = 23" in envelope
    assert "the envelope branch of Theorem 1.1 at α = [0.99" in envelope


def test_arb_from_the_start() -> None:
    assert facts(CheckOptions(precision=128))["arithmetic"] == "Arb from 128 up to 4,096 bits"


def test_a_long_expression_is_cut() -> None:
    assert len(facts(epsilon="+".join(["1"] * 100))["model"]) < 100


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (
            Plan(66, 4096, 270336, 3.0, 140 * 10**6, None),
            "66 histograms × 4,096 transcripts, 270,336 pairs, about 3 s and 140 MB",
        ),
        (Plan(1, 1, 1, 0.0, 0, None), "1 histogram × 1 transcript, 1 pair, under a second and 1 MB"),
        (Plan(66, 0, 0, 0.0, 0, None), "66 histograms and no transcript"),
    ],
)
def test_what_is_enumerated(plan: Plan, text: str) -> None:
    assert enumeration(plan) == text
