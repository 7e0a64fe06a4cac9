"""Selection instances through the command: dispatch, the law in text and JSON, exit statuses, `select`."""

import json
from pathlib import Path

import pytest

from certify.command import run
from certify.exit_status import ExitStatus

EXAMPLES = Path(__file__).parents[2] / "examples"
ABOVE = str(EXAMPLES / "selection" / "above-threshold.json")


def test_a_false_printed_theorem_is_refuted_with_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([ABOVE, "--statements", "thm-5.2.printed,thm-5.2"]) is ExitStatus.REFUTED
    printed = capsys.readouterr().out
    assert "REFUTED thm-5.2.printed" in printed
    assert printed.splitlines()[-1] == "refuted: 1 statement proved, 1 refuted, 0 undecided, 0 not applicable"


def test_the_law_is_shown_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.json"
    run([ABOVE, "--json", str(target), "--statements", "thm-5.1"])
    printed = capsys.readouterr().out
    assert "none" in printed and "0.254524" in printed
    report = json.loads(target.read_text(encoding="utf-8"))
    assert report["instance"]["theory"] == "selection"
    assert [row["output"] for row in report["quantities"]["law"]] == [1, 2, 3, "none"]
    row = report["quantities"]["law"][3]["probability"]
    assert row["lower"] <= "0.254524493746744" <= row["upper"]


def test_two_theories_in_one_call_each_take_their_own_statements(capsys: pytest.CaptureFixture[str]) -> None:
    status = run([ABOVE, str(EXAMPLES / "singleton.json"), "--quiet", "--statements", "thm-5.1,eq-7.damping"])
    assert status is ExitStatus.PROVED
    assert capsys.readouterr().out.count("proved: 1 statement proved") == 2


def test_statements_of_the_other_theory_alone_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([ABOVE, "--statements", "eq-7.damping"]) is ExitStatus.INVALID
    assert "--statements" in capsys.readouterr().err


def test_select_runs_an_algorithm_on_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scores.json"
    instance = {
        "schema": 1,
        "theory": "selection",
        "epsilon": "1",
        "beta": "1/100",
        "selection": {"sums": [40000, 100, 0], "n": 65536, "algorithm": "geometric-binary-search"},
    }
    file.write_text(json.dumps(instance), encoding="utf-8")
    assert run(["select", str(file)]) is ExitStatus.PROVED
    assert "1" in capsys.readouterr().out
