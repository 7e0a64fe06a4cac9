"""The README is run: its commands, its output, its instance, its file names."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from certify.instance_file import read_instance_file
from certify.release.check import CheckOptions, check, prepare
from certify.release.instance import parse_release_instance
from certify.release.statements import STATEMENT_IDS
from constants.ledger import default_ledger

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OUTPUTS = re.findall(r"<!-- output: (\S+) -->\n```\n(.*?)```", README, flags=re.DOTALL)


def test_ci_runs_exactly_the_commands_of_the_readme() -> None:
    commands = re.findall(r"```sh\n(.*?)\n```", README, flags=re.DOTALL)[:2]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert len(commands) == 2
    for command in commands:
        assert command in script


@pytest.mark.parametrize(("path", "shown"), OUTPUTS)
def test_output_is_what_the_command_prints(path: str, shown: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "certify", path],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    printed = iter(done.stdout.splitlines())
    for line in shown.splitlines():
        assert line in printed, f"not printed, or not in this order: {line}"


def test_there_is_output_to_check() -> None:
    assert OUTPUTS


def test_the_instance_shown_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", README, flags=re.DOTALL)
    file = tmp_path / "instance.json"
    file.write_text(text, encoding="utf-8")
    problem = prepare(parse_release_instance(read_instance_file(file), STATEMENT_IDS), default_ledger())
    outcomes = check(problem, CheckOptions(statements=("eq-7.damping",))).outcomes
    assert [outcome.statement.id for outcome in outcomes] == ["eq-7.damping"]
    assert json.loads(text)["schema"] == 1


def test_every_example_is_in_the_table_and_every_path_exists() -> None:
    for example in (ROOT / "examples").glob("*.json"):
        assert f"`{example.name}`" in README
    for path in re.findall(r"`((?:certify|constants|tests|benchmarks|examples)/[\w./*-]*)`", README):
        assert list(ROOT.glob(path.rstrip("/"))), path
