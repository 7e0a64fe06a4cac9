"""`python -m certify --ledger FILE`: another number in a copy of the ledger changes the verdicts, and is shown."""

import json
from pathlib import Path

import pytest

from certify.command import run
from certify.exit_status import ExitStatus
from constants.instance_checks import INSTANCES
from constants.ledger import SHIPPED

TEXT = SHIPPED.read_text(encoding="utf-8")
NEAR, CHOICE = (str(INSTANCES / "release" / f"{name}.json") for name in ("near", "choice"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def copy(constant_id: str, before: str, after: str) -> str:
    start = f'[constant.{constant_id}]\npaper_id = "release"\nvalue = '
    assert f'{start}"{before}"' in TEXT
    Path("copy.toml").write_text(TEXT.replace(f'{start}"{before}"', f'{start}"{after}"'), encoding="utf-8")
    return "copy.toml"


@pytest.mark.parametrize(
    ("instance", "statement", "constant_id", "before", "after"),
    [
        (NEAR, "lemma-5.1", "maurey", "1/4", "1/1000"),
        (NEAR, "eq-6.near", "near-growth", "4", "1"),
        (NEAR, "eq-7.growth", "growth-rate", "1/100", "1/1000"),
        (CHOICE, "eq-8.7", "final-error", "512*exp(1)", "exp(1)/2"),
        (CHOICE, "eq-8.choice", "rounds-upper", "32", "16"),
    ],
)
def test_a_changed_number_changes_the_verdict(
    instance: str,
    statement: str,
    constant_id: str,
    before: str,
    after: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([instance, "--statements", statement]) == ExitStatus.PROVED
    assert run([instance, "--statements", statement, "--ledger", copy(constant_id, before, before)]) == 0
    assert "ledger" in capsys.readouterr().out
    path = copy(constant_id, before, after)
    assert run([instance, "--statements", statement, "--ledger", path, "--json", "report.json"]) == ExitStatus.REFUTED
    out = " ".join(capsys.readouterr().out.split())
    assert f"copy.toml: {constant_id} = {after} (not {before}); SHA-256" in out
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert report["quantities"]["ledger"].startswith(f"copy.toml: {constant_id} = {after} (not {before}); SHA-256 ")
    assert report["statements"][0]["verdict"] == "refuted"


@pytest.mark.parametrize("instances", [[NEAR], [NEAR, CHOICE]])
def test_another_ledger_is_shown_even_when_quiet(instances: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = copy("maurey", "1/4", "1/3")
    assert run([*instances, "--statements", "lemma-5.1", "--quiet", "--ledger", path]) == ExitStatus.PROVED
    assert capsys.readouterr().out.count("maurey = 1/3 (not 1/4)") == len(instances)


def test_without_the_option_nothing_is_said_of_a_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    run([NEAR, "--statements", "lemma-5.1", "--json", "report.json"])
    assert "ledger" not in capsys.readouterr().out
    assert "ledger" not in json.loads(Path("report.json").read_text(encoding="utf-8"))["quantities"]


def test_problems_of_the_ledger_are_reported_with_those_of_the_instances(capsys: pytest.CaptureFixture[str]) -> None:
    path = copy("maurey", "1/4", "-1/4")
    text = Path(path).read_text(encoding="utf-8").replace("[constant.rho]", "[constant.roh]")
    Path(path).write_text(text, encoding="utf-8")
    assert run(["missing.json", "--ledger", path]) == ExitStatus.INVALID
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert "copy.toml: " in lines[0]
    assert "  constant.maurey.value: the number must be positive, and not beyond 2^±4096" in lines
    assert "missing.json: 1 problem" in lines
    assert all(line.isprintable() and len(line) < 400 for line in lines)


def test_constants_that_leave_a_statement_without_a_value_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    path = copy("growth-rate", "1/100", "1/2")
    assert run([NEAR, "--statements", "lemma-7.1", "--ledger", path]) == ExitStatus.INVALID
    assert capsys.readouterr().err.splitlines() == [
        "copy.toml: 1 problem",
        "  $: with these constants a statement has no value (division by zero): choose others",
    ]


def test_the_report_does_not_overwrite_the_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    path = copy("maurey", "1/4", "1/3")
    assert run([NEAR, "--ledger", path, "--json", path]) == ExitStatus.INVALID
    assert '--json: "copy.toml" is the ledger: give the report another path' in capsys.readouterr().err


def test_the_scales_that_an_instance_leaves_out_are_those_of_the_copy(capsys: pytest.CaptureFixture[str]) -> None:
    stream, compare = (str(INSTANCES / "selection" / f"{name}.json") for name in ("stream", "compare-near"))
    for instance, statement, constant_id, before, after in (
        (stream, "thm-5.1", "svt-query-scale", "4", "2"),
        (compare, "alg-4.privacy", "ctt-query-scale", "6", "1"),
    ):
        start = f'[constant.{constant_id}]\npaper_id = "selection"\nvalue = '
        assert f'{start}"{before}"' in TEXT
        Path("copy.toml").write_text(TEXT.replace(f'{start}"{before}"', f'{start}"{after}"'), encoding="utf-8")
        assert run([instance, "--statements", statement]) == ExitStatus.PROVED
        assert run([instance, "--statements", statement, "--ledger", "copy.toml"]) == ExitStatus.REFUTED
    capsys.readouterr()
