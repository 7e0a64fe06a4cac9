"""The command from outside: exit statuses, files written, problems listed, nothing half written."""

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from lean_projects import write_project

from lean_bridge.command_line import main
from lean_bridge.maps.toml_map import read_toml_map

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
ARTIFACT = Path(__file__).parent / "artifact"
MAIN = "PureDP.optimal_pureDP_decoded_statistical_query_release_rate"


def test_as_a_program(tmp_path: Path) -> None:
    for copy, status, last in (
        ("sound", 0, "8 clean, 0 to look at, 0 wrong: every row found and clean"),
        ("faulty", 1, "3 clean, 0 to look at, 5 wrong: something is missing, unproved or contradicted"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "lean_bridge", str(ARTIFACT / copy), "--cache", str(tmp_path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (status, "")
        assert done.stdout.splitlines()[-1] == last
        assert "proved" not in done.stdout.replace("unproved", "")


def run(*words: str | Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = main([*map(str, words), "--no-cache"])
    out, err = capsys.readouterr()
    return status, out, err


def test_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"report.{name}" for name in ("json", "md", "html", "decls")}
    status, out, _ = run(
        *(ARTIFACT / "faulty", "--certify", DATA / "certify-report.json", "--quiet"),
        *("--json", files["json"], "--md", files["md"], "--html", files["html"], "--lean-decls", files["decls"]),
        capsys=capsys,
    )
    assert (status, len(out.splitlines())) == (1, 1)
    report = json.loads(files["json"].read_text(encoding="utf-8"))
    assert report["schema"] == "lean-bridge-report/1"
    assert report["source"]["toolchain"] == "leanprover/lean4:v4.28.0"
    items = {item["id"]: item for item in report["items"]}
    assert [v["id"] for v in items["prop-4.1"]["numerical"]] == ["prop-4.1.transcript", "prop-4.1.answer"]
    assert [v["id"] for v in report["numerical_only"]] == ["lemma-7.1"]
    (main_row, _) = items["thm-1.1"]["rows"]
    assert main_row["constant"]["verdict"] == "different"
    assert (main_row["declaration"]["line"], main_row["declaration"]["column"]) == (28, 0)
    assert "ball_mass" in {site["name"].rsplit(".", 1)[-1] for site in report["given_up"]}
    assert MAIN in files["decls"].read_text(encoding="utf-8").splitlines()
    table = [line for line in files["md"].read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(table) == 9
    page = files["html"].read_text(encoding="utf-8")
    assert page.count("<article") == 6
    assert "constant differs" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in files.values())


def test_a_report_does_not_depend_on_when_or_how_it_was_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "1.json", tmp_path / "2.json"
    run(ARTIFACT / "faulty", "--json", one, capsys=capsys)
    run(ARTIFACT / "faulty", "--json", two, "--jobs", "2", capsys=capsys)
    assert one.read_bytes() == two.read_bytes()


class Tags(HTMLParser):
    """Every tag that a page really has."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def test_nothing_from_outside_becomes_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "<img src=x onerror=alert(1)>"
    files = {
        "A.lean": f"/-- {evil} -/\ntheorem a : T := sorry\n{evil}\nfoo {evil}\n",
        "crosswalk.toml": f"[item.'{evil}|`x`']\nlean = ['a', '{evil}']\nnote = '{evil}'\ntitle = '{evil}'\n",
    }
    write_project(tmp_path / "lean", files)
    page, table = tmp_path / "page.html", tmp_path / "table.md"
    run(tmp_path / "lean", "--html", page, "--md", table, capsys=capsys)
    found = Tags()
    found.feed(page.read_text(encoding="utf-8"))
    assert "img" not in found.tags
    assert not [name for name in found.attributes if name.startswith("on") or name == "src"]
    rows = [line for line in table.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert all("<img" not in line.replace("\\<", "") for line in rows)


def test_axioms_env_and_previous(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "before.json"
    assert run(ARTIFACT / "sound", "--json", report, capsys=capsys)[0] == 0
    status, out, _ = run(ARTIFACT / "sound", "--previous", report, capsys=capsys)
    assert (status, "changed" in out) == (0, False)
    status, out, _ = run(ARTIFACT / "faulty", "--previous", report, capsys=capsys)
    assert "the statement changed since the previous report" in out
    names = [row["name"] for item in json.loads(report.read_text())["items"] for row in item["rows"]]
    axioms, env = tmp_path / "axioms.txt", tmp_path / "env.txt"
    axioms.write_text("".join(f"'{name}' depends on axioms: [propext]\n" for name in names))
    env.write_text("\n".join(names))
    status, out, _ = run(ARTIFACT / "sound", "--axioms", axioms, "--env", env, capsys=capsys)
    assert (status, "axioms unknown" in out) == (0, False)
    status, out, _ = run(ARTIFACT / "sound", "--axioms", axioms, "--allow-axioms", "Quot.sound", capsys=capsys)
    assert (status, "depends on axioms propext" in out) == (1, True)
    axioms.write_text(f"'{names[0]}' depends on axioms: [propext]\n")
    assert run(ARTIFACT / "sound", "--axioms", axioms, capsys=capsys)[0] == 3


def test_a_refuted_number_fails_the_audit_and_an_undecided_one_leaves_it_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads((DATA / "certify-report.json").read_text(encoding="utf-8"))
    report = tmp_path / "report.json"
    for verdict, status in (("proved", 0), ("undecided", 3), ("refuted", 1)):
        for statement in data["statements"]:
            statement["verdict"] = verdict if statement["id"] in ("eq-6.2", "lemma-7.1") else "proved"
        report.write_text(json.dumps(data))
        assert run(ARTIFACT / "sound", "--certify", report, capsys=capsys)[0] == status


@pytest.mark.parametrize(
    ("name", "text", "option"),
    [
        ("map.toml", "[item.a]\nlean = 1\nx = 2", "--map"),
        ("map.md", "no table", "--map"),
        ("report.json", "{}", "--certify"),
        ("report.json", '{"schema": "certify-report/1"}', "--certify"),
        ("report.json", '{"schema": "certify-report/1", "statements": [{}, 1]}', "--certify"),
        ("report.json", "[" * 100_000, "--certify"),
        ("axioms.txt", "nothing", "--axioms"),
        ("env.txt", "???", "--env"),
        ("previous.json", '{"schema": "other"}', "--previous"),
        ("previous.json", '{"schema": "lean-bridge-report/1", "items": [{}]}', "--previous"),
        ("previous.json", "[]", "--previous"),
        ("empty", "", "--env"),
    ],
)
def test_bad_input_is_listed_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, option: str
) -> None:
    (tmp_path / name).write_text(text)
    out_file = tmp_path / "out.json"
    status, out, err = run(ARTIFACT / "sound", option, tmp_path / name, "--json", out_file, capsys=capsys)
    assert (status, out, out_file.exists()) == (2, "", False)
    assert str(tmp_path / name) in err
    assert "Traceback" not in err


def test_all_bad_inputs_are_listed_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.toml").write_text("x = 1\ny = 2")
    missing = tmp_path / "absent"
    _, _, err = run(
        ARTIFACT / "sound", "--map", tmp_path / "m.toml", "--env", missing, "--axioms", missing, capsys=capsys
    )
    assert len(err.splitlines()) >= 4


@pytest.mark.parametrize(
    "words", [[], ["--jobs", "0", "x"], ["--jobs", "²", "x"], ["--unknown", "x"], ["suggest"], ["x", "y"]]
)
def test_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "usage" in capsys.readouterr().err


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "exit status" in capsys.readouterr().out


def test_an_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(ARTIFACT / "sound", "--html", tmp_path / "no" / "page.html", capsys=capsys)
    assert (status, "cannot be written" in err) == (2, True)


def test_suggest_writes_a_map_that_reads_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "A.lean": '/-- Lemma 5.1, by "induction" -/\ntheorem a : T := x\n@[blueprint "thm:\\"b"]\ntheorem b : T := x\n',
        "map.md": '| Item | Kind | Name |\n|---|---|---|\n| q"u\\o | Lemma | `a` |\n| q"u\\o | Lemma | `b` |\n',
    }
    write_project(tmp_path / "lean", files)
    target = tmp_path / "crosswalk.toml"
    status, out, _ = run("suggest", tmp_path / "lean", "--map", target, capsys=capsys)
    assert (status, out) == (0, "")
    text = target.read_text(encoding="utf-8")
    found = read_toml_map(target, text)
    assert not found.problems
    assert {entry.item: entry.names for entry in found.entries}['q"u\\o'] == ("a", "b")
    assert '# [item."lemma-5.1"]\n# lean = ["a"]' in text
    uncommented = text.replace("\n# [item", "\n[item").replace("\n# lean", "\nlean")
    assert "lemma-5.1" in {entry.item for entry in read_toml_map(target, uncommented).entries}
    assert run("suggest", tmp_path / "lean", capsys=capsys)[1] == text


def test_suggestions_alone_leave_the_audit_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_project(tmp_path, {"A.lean": "/-- Lemma 5.1 -/\ntheorem a : T := x"})
    status, out, _ = run(tmp_path, capsys=capsys)
    assert status == 3
    assert "lemma-5.1: a  A.lean:2" in out
