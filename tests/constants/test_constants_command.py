"""`python -m constants`: what it prints, what it writes, and its exit statuses."""

import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from certify.exit_status import ExitStatus
from constants import command
from constants.command import run
from constants.golden import GOLDEN
from constants.ledger import SHIPPED, default_ledger

TEXT = SHIPPED.read_text(encoding="utf-8")

Copy = Callable[..., str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def copy() -> Copy:
    """Write a copy of the shipped ledger in which one value is another; its name."""

    def write(before: str, after: str) -> str:
        assert TEXT.count(before) == 1
        Path("copy.toml").write_text(TEXT.replace(before, after), encoding="utf-8")
        return "copy.toml"

    return write


def test_the_table_shows_every_constant_and_marks_what_is_printed_otherwise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([]) == ExitStatus.PROVED
    out = capsys.readouterr().out
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    for constant in default_ledger().constants.values():
        assert constant.id in rows
        main = next(line for line in out.splitlines() if line.startswith(f"{constant.id} "))
        assert ("†" in main) == (constant.printed is not None)
        assert constant.value.text() in main
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100
    assert "43.1%" in next(line for line in out.splitlines() if line.startswith("final-error"))
    assert "2 statements" in out or "+1" in out


@pytest.mark.parametrize("width", ["80", "100", "160"])
def test_the_table_fits_the_page(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    run(["table"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= int(width)
    line = next(line for line in out.splitlines() if line.startswith("growth-hypothesis"))
    assert "[9.5367e-7, 9.5368e-7]" in line and "51.1%" in line and "eq-7.growth" in line


def test_the_decimals_shown_lie_outside_the_number(capsys: pytest.CaptureFixture[str]) -> None:
    run([])
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("block-peak"))
    lower, upper = line[line.index("[") + 1 : line.index("]")].split(", ")
    low = high = Fraction(1)
    term = Fraction(1)
    for k in range(1, 30):
        term /= k
        low += term
    high = low + term
    assert Fraction(lower) <= low < high <= Fraction(upper)


def test_the_json_holds_every_constant_with_relations_slack_and_printed_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["--json", "ledger.json"]) == ExitStatus.PROVED
    capsys.readouterr()
    document = json.loads(Path("ledger.json").read_text(encoding="utf-8"))
    assert document["schema"] == "constants/1"
    constants = {entry["id"]: entry for entry in document["constants"]}
    assert set(constants) == set(default_ledger().constants)
    theorem = constants["theorem-constant"]
    assert theorem["lean"] == "optimal_pureDP_decoded_statistical_query_release_rate"
    assert [relation["verdict"] for relation in theorem["relations"]] == ["proved", "proved"]
    assert theorem["relations"][0]["tie"] is True
    assert theorem["relations"][0]["slack"] == {"lower": "0", "upper": "0"}
    assert constants["svt-accuracy"]["printed"]["value"] == "2"
    assert constants["svt-accuracy"]["printed"]["verdict"] == "refuted"
    assert constants["rho"]["printed"] is None
    for entry in constants.values():
        assert Fraction(entry["decimals"]["lower"]) <= Fraction(entry["decimals"]["upper"])


def test_check_proves_the_shipped_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check"]) == ExitStatus.PROVED
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("relations") and ", 0 refuted, 0 undecided" in out[0]
    assert out[-1] == "proved: 0 relations fail, 0 not as recorded"


def test_check_names_and_refutes_a_constant_made_too_small(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy('[constant.softmax-gap]\npaper_id = "release"\nvalue = "4"', SOFTMAX)
    assert run(["check", "--ledger", path]) == ExitStatus.REFUTED
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "  softmax-gap  4         1/10  smaller" in captured.out.splitlines()
    line = next(line for line in captured.out.splitlines() if line.startswith("  lemma-a.3"))
    assert "REFUTED" in line
    assert "2 <= (softmax_gap*log(2))^2" in captured.out
    assert captured.out.splitlines()[-1].startswith("refuted: ")


SOFTMAX = '[constant.softmax-gap]\npaper_id = "release"\nvalue = "1/10"'


def test_check_says_what_instances_alone_leave_open(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy('[constant.renyi]\npaper_id = "release"\nvalue = "1"', RENYI)
    assert run(["check", "--ledger", path]) == ExitStatus.UNDECIDED
    out = capsys.readouterr().out
    assert "no universal claim about renyi: instances prove nothing for all parameters" in " ".join(out.split())
    closing = "of 1 statement 0 refuted, 0 not proved, 1 undecided"
    assert out.splitlines()[-1] == f"undecided: 0 relations fail, 1 not as recorded; {closing}"


RENYI = '[constant.renyi]\npaper_id = "release"\nvalue = "2"'


def test_golden_is_written_with_its_date_and_is_what_the_package_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["golden", "--output", "golden.json"]) == ExitStatus.PROVED
    assert capsys.readouterr().out == "wrote golden.json\n"
    document = json.loads(Path("golden.json").read_text(encoding="utf-8"))
    assert document["constants"] == json.loads(GOLDEN.read_text(encoding="utf-8"))["constants"]
    assert len(document["date"].split("-")) == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--ledger", "nowhere.toml"], "$: cannot be read (No such file or directory): give the path of a ledger"),
        (["check", "--ledger", "."], "$: is not a regular file: give the path of a ledger"),
        (["check", "--ledger", "bad.toml"], "$: is not TOML"),
        (["golden", "--ledger", "bad.toml"], "$: is not TOML"),
        (["--json", "nowhere/x.json"], '--json: "nowhere/x.json" lies in a directory that does not exist'),
        (["golden", "--output", "."], '--output: "." is a directory'),
    ],
)
def test_bad_input_gives_one_line_with_the_fix(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.toml").write_text("constant = [", encoding="utf-8")
    assert run(arguments) == ExitStatus.INVALID
    captured = capsys.readouterr()
    assert captured.out == ""
    header, line = captured.err.splitlines()
    assert header.endswith(": 1 problem")
    assert line.startswith(f"  {problem}")


def test_a_ledger_is_not_overwritten_by_its_own_report(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy('value = "2^20*exp(1)"', 'value = "2^21*exp(1)"')
    assert run(["--ledger", path, "--json", path]) == ExitStatus.INVALID
    assert "is the ledger itself" in capsys.readouterr().err
    assert "2^21*exp(1)" in Path(path).read_text(encoding="utf-8")


def test_a_missing_record_is_reported_with_the_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "GOLDEN", Path("gone.json"))
    assert run(["check"]) == ExitStatus.INVALID
    assert capsys.readouterr().err.splitlines() == [
        "gone.json: 1 problem",
        "  $: cannot be read: write it anew with python -m constants golden",
    ]


@pytest.mark.parametrize("arguments", [["--unknown"], ["check", "one.json", "more.json"], ["--ledge", "x"]])
def test_usage_is_refused_by_argparse(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().out == ""


def test_the_module_runs_as_a_command_and_a_closed_pipe_is_silent() -> None:
    done = subprocess.run(
        f"{sys.executable} -m constants | head -1; {sys.executable} -m constants --ledger nowhere",
        shell=True,
        capture_output=True,
        text=True,
        cwd=Path(command.__file__).parents[1],
        check=False,
    )
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr.splitlines()[0] == "nowhere: 1 problem"


def test_help_lists_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(f"  {verb} " in shown for verb in command.VERBS)


def test_check_runs_the_selection_statements_and_names_a_long_relation_once(
    copy: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy('[constant.svt-accuracy]\npaper_id = "selection"\nvalue = "8"', ACCURACY)
    assert run(["check", "--ledger", path]) == ExitStatus.REFUTED
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert "REFUTED" in next(line for line in lines if line.startswith("  thm-5.2 "))
    assert "refuted, as before" in next(line for line in lines if line.startswith("  thm-5.2.printed "))
    assert "instances: refuted, one-query.json: 0.2387 > 0.05" in " ".join(out.split())
    assert "relation refuted: that of svt-accuracy, above" in out
    assert out.count("svt_query_scale^2*(1/100)") == 1
    assert max(map(len, lines)) <= 100


ACCURACY = '[constant.svt-accuracy]\npaper_id = "selection"\nvalue = "1"'


@pytest.mark.parametrize("width", ["80", "120"])
def test_what_is_printed_otherwise_has_a_line_of_its_own(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    run([])
    lines = capsys.readouterr().out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("† printed otherwise"))
    at = next(i for i, line in enumerate(lines[start:], start) if line.startswith("mwem-rest "))
    assert lines[at].split() == ["mwem-rest", "printed", "0", "here", "2", "a", "relation", "fails"]
    assert lines[at + 1].startswith("    4000 <= ")
