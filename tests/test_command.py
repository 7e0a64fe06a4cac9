"""The command: exit statuses, what is written where, and that nothing gets out as a traceback."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certify import __main__, command
from certify.arithmetic.rounding import RoundingModeError
from certify.arithmetic.scalar import Undetermined
from certify.arithmetic.verdict import Verdict
from certify.command import run
from certify.engine.statement import Outcome
from certify.exit_status import ExitStatus
from certify.release import check as release
from certify.release.check import CheckOptions, CheckResult
from certify.release.size import Plan
from certify.release.statements import CATALOGUE, STATEMENT_IDS
from certify.schema import instance_schema
from certify.version import VERSION
from constants.ledger import default_ledger

ROOT = Path(__file__).parents[1]

FIELDS: dict[str, Any] = {
    "schema": 1,
    "theory": "release",
    "universe": ["yes", "no"],
    "queries": {"is-yes": [1, 0]},
    "database": {"yes": 2, "no": 1},
    "epsilon": "1/2",
    "mechanism": {"rounds": 3, "eta": "1/3", "gamma": "1/4"},
}

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write an instance with some fields changed into the working directory; its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def write_instance(name: str = "instance.json", **changes: Any) -> str:
        Path(name).write_text(json.dumps({**FIELDS, **changes}), encoding="utf-8")
        return name

    return write_instance


def outcome(verdict: Verdict | None) -> Outcome:
    return Outcome(type(CATALOGUE[0]), verdict, 1, None, 53, 0.0, None if verdict is Verdict.PROVED else "why")


@pytest.fixture
def finding(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[CheckOptions]]:
    """Replace the check by one that finds the given verdicts on the given instances; the options it was given."""

    def find(*verdicts: Sequence[Verdict | None]) -> list[CheckOptions]:
        waiting = list(verdicts)
        seen: list[CheckOptions] = []

        def check(_: Any, options: CheckOptions, progress: Any) -> CheckResult:
            progress(1, 1)
            seen.append(options)
            return CheckResult({"B": 6}, [outcome(verdict) for verdict in waiting.pop(0)])

        monkeypatch.setattr(release, "check", check)
        return seen

    return find


PROVED, REFUTED, UNDECIDED, INAPPLICABLE = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED, None


@pytest.mark.parametrize(
    ("verdicts", "status", "last"),
    [
        ([PROVED, INAPPLICABLE], 0, "proved: 1 statement proved, 0 refuted, 0 undecided, 1 not applicable"),
        ([INAPPLICABLE], 0, "not applicable: 0 statements proved, 0 refuted, 0 undecided, 1 not applicable"),
        ([PROVED, REFUTED, UNDECIDED], 1, "refuted: 1 statement proved, 1 refuted, 1 undecided, 0 not applicable"),
        ([PROVED, UNDECIDED], 3, "undecided: 1 statement proved, 0 refuted, 1 undecided, 0 not applicable"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_the_exit_status_and_the_last_line_say_the_verdict(
    write: Write,
    finding: Any,
    capsys: pytest.CaptureFixture[str],
    verdicts: list[Verdict | None],
    status: int,
    last: str,
    quiet: list[str],
) -> None:
    finding(verdicts)
    assert run([write(), *quiet]) == status
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == last
    assert captured.err == ""


@pytest.mark.parametrize(
    ("verdicts", "status", "last"),
    [
        (
            [[PROVED], [REFUTED], [UNDECIDED]],
            1,
            "refuted: of 3 instances 1 proved, 1 refuted, 1 undecided, 0 not applicable",
        ),
        (
            [[UNDECIDED], [PROVED], [INAPPLICABLE]],
            3,
            "undecided: of 3 instances 1 proved, 0 refuted, 1 undecided, 1 not applicable",
        ),
        (
            [[PROVED], [PROVED], [PROVED]],
            0,
            "proved: of 3 instances 3 proved, 0 refuted, 0 undecided, 0 not applicable",
        ),
    ],
)
def test_over_several_instances_the_gravest_verdict_counts(
    write: Write,
    finding: Any,
    capsys: pytest.CaptureFixture[str],
    verdicts: list[list[Verdict | None]],
    status: int,
    last: str,
) -> None:
    finding(*verdicts)
    names = [write(f"{i}.json", epsilon=f"1/{i + 1}") for i in range(3)]
    assert run([*names, "--json", "report.json"]) == status
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == last
    assert sum(line.startswith("instance ") for line in out) == 3
    reports = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert [report["instance"]["path"] for report in reports] == names
    assert len({report["instance"]["sha256"] for report in reports}) == 3


def test_quiet_names_the_instances_where_there_are_several(
    write: Write, finding: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    finding([PROVED], [PROVED])
    run([write("a.json"), write("b.json"), "--quiet"])
    verdict = "proved: 1 statement proved, 0 refuted, 0 undecided, 0 not applicable"
    assert capsys.readouterr().out.splitlines() == [
        *("instance  a.json", "", verdict),
        *("instance  b.json", "", verdict),
        *("", "proved: of 2 instances 2 proved, 0 refuted, 0 undecided, 0 not applicable"),
    ]


def test_the_options_reach_the_check(write: Write, finding: Any) -> None:
    seen = finding([PROVED], [PROVED])
    run([write()])
    run(
        [
            "check",
            write(),
            *("--statements", "lemma-5.1,eq-3.3,lemma-5.1", "--precision", "128"),
            *("--max-precision", "256", "--max-pairs", "5000"),
        ]
    )
    assert seen == [CheckOptions(), CheckOptions(("lemma-5.1", "eq-3.3"), 128, 256, 5000)]


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        (
            ["--statements", "lema-5.1"],
            ['--statements: "lema-5.1" is not the id of a statement: did you mean "lemma-5.1"?'],
        ),
        (["--statements", "eq-3.3,,thm-1.1"], ['--statements: "" is not the id of a statement: write one of']),
        (["--statements", "x\x1b[31m"], ['--statements: "x\\x1b[31m" is not the id of a statement: write one of']),
        (["--precision", "8192"], ["--precision: 8192 is above --max-precision 4096: raise that as well"]),
        (["--precision", "52"], ['--precision: "52" is not an integer from 53 to 1,048,576: write one']),
        (["--precision", "1e3"], ['--precision: "1e3" is not an integer']),
        (["--precision", "9" * 5000], [f'--precision: "{"9" * 60}…" (5,000 characters) is not an integer']),
        (["--max-pairs", "0"], ['--max-pairs: "0" is not an integer from 1 to ']),
        (["--max-pairs=-1"], ['--max-pairs: "-1" is not an integer']),
        (["--max-precision", "٣٠٠"], ['--max-precision: "٣٠٠" is not an integer']),
        (["--json", "nowhere/report.json"], ['--json: "nowhere/report.json" lies in a directory that does not exist']),
        (["--json", "instance.json"], ['--json: "instance.json" is an instance to be checked']),
        (["--json", "."], ['--json: "." is a directory']),
        (
            ["--json", ".", "--statements", "a,b", "--precision", "8192", "--max-pairs", "many"],
            ["--max-pairs: ", "--precision: ", "--statements: ", "--statements: ", "--json: "],
        ),
    ],
)  # fmt: skip
def test_usage_that_makes_no_sense_is_refused_before_any_work(
    write: Write, capsys: pytest.CaptureFixture[str], arguments: list[str], problems: list[str]
) -> None:
    assert run([write(), *arguments]) == ExitStatus.INVALID
    captured = capsys.readouterr()
    assert captured.out == ""
    header, *found = captured.err.splitlines()
    assert header == f"command line: {len(problems)} problem{'s' * (len(problems) > 1)}"
    assert len(found) == len(problems)
    for line, start in zip(found, problems, strict=True):
        assert line.startswith(f"  {start}")
        assert line.isprintable()
    assert os.listdir() == ["instance.json"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["instance.json", "--unknown"],
        ["instance.json", "--quie"],
        ["schema", "more"],
    ],
)
def test_usage_that_argparse_refuses(write: Write, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    write()
    with pytest.raises(SystemExit) as stop:
        run(arguments)
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith(("certify: error: ", "certify schema: error: "))
    assert len(captured.err) < 2000


def test_problems_of_files_and_of_the_command_line_are_shown_together(
    write: Write, finding: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = finding([PROVED])
    names = [write("good.json"), write("bad.json", epsilon=0), write("worse.json", queries={})]
    assert run([*names, "missing.json", "--statements", "thm-1"]) == ExitStatus.INVALID
    captured = capsys.readouterr()
    assert captured.out == ""
    headers = [line for line in captured.err.splitlines() if not line.startswith("  ")]
    assert headers == [f"{name}: 1 problem" for name in ("command line", "bad.json", "worse.json", "missing.json")]
    assert seen == []


def test_an_instance_that_is_too_large_is_refused_with_count_estimate_and_advice(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    name = write(mechanism={"rounds": 1000, "eta": 1, "gamma": "1/2"})
    assert run([name, "--json", "report.json"]) == ExitStatus.INVALID
    captured = capsys.readouterr()
    assert captured.out == ""
    header, line = captured.err.splitlines()
    assert header == "instance.json: 1 problem"
    assert line.startswith("  $: too large to enumerate: 4 histograms × about 10^301 transcripts")
    assert "--max-pairs" in line
    assert not Path("report.json").exists()


def test_a_limit_on_pairs_refuses_what_was_fine(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([write(), "--max-pairs", "10"]) == ExitStatus.INVALID
    assert "the limit is --max-pairs 10." in capsys.readouterr().err


def test_a_refusal_is_that_of_the_plan(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "plan", lambda *_: Plan(1, 1, 1, 1.0, 1, "take less"))
    assert run([write()]) == ExitStatus.INVALID
    assert capsys.readouterr().err == "instance.json: 1 problem\n  $: take less\n"


def test_an_instance_that_cannot_be_decided_is_refused_with_the_reason(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def prepare(*_: Any) -> Any:
        raise Undetermined("the ceiling of 3/epsilon is not clear")

    monkeypatch.setattr(release, "prepare", prepare)
    assert run([write()]) == ExitStatus.INVALID
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "instance.json: 1 problem"
    assert lines[1].startswith("  $: the ceiling of 3/epsilon is not clear: ")


# a real check


def test_a_small_instance_is_checked_from_end_to_end(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    status = run([write(description="A small one."), "--json", "report.json"])
    captured = capsys.readouterr()
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert status == ExitStatus.PROVED
    assert report["summary"]["verdict"] == "proved"
    assert captured.out.splitlines()[-1].startswith(f"proved: {report['summary']['proved']} statements proved, ")
    assert [statement["id"] for statement in report["statements"]] == list(STATEMENT_IDS)
    table = {line.split(" ")[0] for line in captured.out.splitlines()}
    assert set(STATEMENT_IDS) <= table
    assert "A small one." in captured.out
    assert "4 histograms × 8 transcripts" in captured.out
    assert VERSION in captured.out


def test_a_constant_made_too_small_is_refuted_with_a_counterexample(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = default_ledger().replaced({"maurey": "1/1000"})
    monkeypatch.setattr(command, "default_ledger", lambda: changed)
    name = write(queries={"is-yes": [1, -1]}, mechanism={"rounds": 3, "eta": 1, "gamma": "1/2"})
    assert run([name, "--statements", "lemma-5.1,eq-3.3", "--json", "report.json"]) == ExitStatus.REFUTED
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == "refuted: 1 statement proved, 1 refuted, 0 undecided, 0 not applicable"
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    refuted = next(statement for statement in report["statements"] if statement["verdict"] == "refuted")
    worst = refuted["worst"]
    assert Fraction(worst["lhs"]["lower"]) > Fraction(worst["rhs"]["upper"])
    assert Fraction(refuted["budget_used"]["lower"]) > 1
    start = next(i for i, line in enumerate(out) if line.startswith("REFUTED lemma-5.1 "))
    shown = dict(line.split(maxsplit=1) for line in out[start + 1 : out.index("", start)])
    assert shown["transcript"] == ", ".join(worst["witness"]["transcript"])
    assert shown["R"] == str(worst["witness"]["R"])


@pytest.mark.parametrize("name", ["all-databases", "berkeley", "growth", "singleton", "zero-branch"])
def test_the_small_examples_are_proved(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    assert run([str(ROOT / "examples" / f"{name}.json"), "--json", str(report)]) == ExitStatus.PROVED
    assert capsys.readouterr().out.splitlines()[-1].startswith("proved: ")
    statements = json.loads(report.read_text(encoding="utf-8"))["statements"]
    assert [statement["id"] for statement in statements] == list(STATEMENT_IDS)
    for statement in statements:
        assert (statement["coverage"] is None) == (statement["verdict"] == "not applicable")
        assert (statement["reason"] is None) == (statement["verdict"] == "proved")


def test_chosen_statements_alone_are_reported(write: Write) -> None:
    name = write(check={"statements": ["eq-6.2"]})
    for arguments, ids in (
        ([], ["eq-6.2"]),
        (["--statements", "thm-1.1,eq-4.normaliser"], ["eq-4.normaliser", "thm-1.1"]),
    ):
        assert run([name, "--quiet", "--json", "report.json", *arguments]) == ExitStatus.PROVED
        report = json.loads(Path("report.json").read_text(encoding="utf-8"))
        assert [statement["id"] for statement in report["statements"]] == ids


def test_two_runs_agree_but_for_their_times(write: Write) -> None:
    reports = []
    for _ in range(2):
        run([write(), "--quiet", "--json", "report.json"])
        report = json.loads(Path("report.json").read_text(encoding="utf-8"))
        for statement in report["statements"]:
            del statement["seconds"]
        reports.append(json.dumps(report))
    assert reports[0] == reports[1]


# other verbs and options


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == ExitStatus.PROVED
    assert json.loads(capsys.readouterr().out) == instance_schema()


def test_a_file_may_be_called_like_a_verb(write: Write, finding: Any) -> None:
    write("schema")
    finding([PROVED], [PROVED])
    assert run(["check", "schema"]) == ExitStatus.PROVED
    assert run(["./schema"]) == ExitStatus.PROVED


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit) as stop:
            run([option])
        assert stop.value.code == 0
    out = capsys.readouterr().out
    for status in ExitStatus:
        assert f"\n  {status.value} " in out, "the help explains every exit status"
    assert out.splitlines()[-1].startswith(f"certify {VERSION}, Python 3")


# what gets out of the process


def test_an_interruption_is_130(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def check(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(release, "check", check)
    monkeypatch.setattr(sys, "argv", ["certify", write(), "--json", "report.json"])
    assert __main__.main() == 130
    assert capsys.readouterr().err == "interrupted: no verdict\n"
    assert not Path("report.json").exists()


@pytest.mark.parametrize(
    "error", [ValueError("two\nlines \x1b[31m"), RecursionError("deep"), MemoryError(), KeyError("k")]
)
def test_a_fault_is_one_line_and_70(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def check(*_: Any) -> Any:
        raise error

    monkeypatch.delenv("CERTIFY_DEBUG", raising=False)
    monkeypatch.setattr(release, "check", check)
    monkeypatch.setattr(sys, "argv", ["certify", write(), "--json", "report.json"])
    assert __main__.main() == ExitStatus.INTERNAL_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: out of memory" if isinstance(error, MemoryError) else "internal error: ")
    assert " at theory.py:" in line
    assert line.isprintable()
    assert not Path("report.json").exists()


def test_a_fault_is_raised_where_it_is_looked_for(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*_: Any) -> Any:
        raise ValueError("a fault")

    monkeypatch.setenv("CERTIFY_DEBUG", "1")
    monkeypatch.setattr(release, "check", check)
    monkeypatch.setattr(sys, "argv", ["certify", write()])
    with pytest.raises(ValueError, match="a fault"):
        __main__.main()


def test_a_report_that_cannot_be_written_after_all_is_said(
    write: Write, finding: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    finding([PROVED])
    monkeypatch.setattr(command, "write_atomically", full)
    assert run([write(), "--json", "report.json"]) == ExitStatus.INVALID
    assert '--json: "report.json" cannot be written (No space left on device)' in capsys.readouterr().err


def test_another_rounding_mode_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise RoundingModeError("float64 arithmetic does not round to nearest")

    monkeypatch.setattr(command, "check_rounding", refuse)
    assert run([write()]) == ExitStatus.INVALID
    assert capsys.readouterr().err == "error: float64 arithmetic does not round to nearest\n"
