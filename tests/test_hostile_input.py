"""Hostile input is refused: a line per problem with its JSON path and the fix, and nothing else happens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_cases import CASES, FIELDS, STATEMENTS, Hostile, instance
from hypothesis import given
from hypothesis import strategies as st

from certify.command import ExitStatus, run
from certify.instance_file import InstanceError, parse_instance_bytes
from certify.release.instance import ReleaseInstance, parse_release_instance


def read(content: bytes) -> ReleaseInstance:
    return parse_release_instance(parse_instance_bytes(content, "instance.json"), STATEMENTS)


def test_the_unchanged_instance_is_read() -> None:
    assert read(instance()).n == 3


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hostile_input_is_refused_with_paths_and_fixes(case: Hostile) -> None:
    with pytest.raises(InstanceError) as caught:
        read(case.content)
    problems = caught.value.problems
    assert [problem.path for problem in problems] == [path for path, _ in case.problems]
    for problem, (_, part) in zip(problems, case.problems, strict=True):
        assert part in problem.message
        assert problem.message.isprintable()
        assert len(problem.message) < 400
    count = len(problems)
    header, *lines = str(caught.value).splitlines()
    assert header == f"instance.json: {count} {'problem' if count == 1 else 'problems'}"
    assert lines == [f"  {path}: {message}" for path, message in problems]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["1/2", "all", "a", "theorem"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.sampled_from(["a", "rounds"]), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*FIELDS, "n", "check", "description"]), json_values, max_size=3))
def test_any_values_of_the_fields_are_read_or_refused(changes: dict[str, object]) -> None:
    content = instance(**{name: json.dumps(value) for name, value in changes.items()})
    try:
        assert isinstance(read(content), ReleaseInstance)
    except InstanceError as error:
        assert error.problems
        assert all(problem.path.startswith("$") and problem.message.isprintable() for problem in error.problems)


@given(st.text(alphabet="0123456789.eE+-*/^()nTk,logexpsqrtminaceil _", max_size=40))
def test_any_expression_is_read_or_refused(text: str) -> None:
    try:
        assert read(instance(epsilon=json.dumps(text))).epsilon.text
    except InstanceError as error:
        assert [problem.path for problem in error.problems] == ["$.epsilon"] * len(error.problems)


def lines_of(case: Hostile) -> list[tuple[str, str]]:
    return [(f"  {path}: ", part) for path, part in case.problems]


def assert_refused(errors: str, file: Path, case: Hostile) -> None:
    header, *lines = errors.splitlines()
    count = len(case.problems)
    assert header == f"{file}: {count} {'problem' if count == 1 else 'problems'}"
    assert len(lines) == count
    for line, (start, part) in zip(lines, lines_of(case), strict=True):
        assert line.startswith(start)
        assert part in line


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_command_refuses_it_and_writes_nothing(
    case: Hostile, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "instance.json"
    file.write_bytes(case.content)
    status = run([str(file), "--json", str(tmp_path / "report.json")])
    captured = capsys.readouterr()
    assert status == ExitStatus.INVALID == 2
    assert captured.out == ""
    assert_refused(captured.err, file, case)
    assert os.listdir(tmp_path) == ["instance.json"]


IN_A_PROCESS = [
    "binary",
    "100,000 brackets",
    "100,000 digits",
    "code",
    "tower of powers",
    "everything at once",
]


@pytest.mark.parametrize("case", [case for case in CASES if case.name in IN_A_PROCESS], ids=lambda case: case.name)
def test_the_process_exits_with_2_and_no_traceback(case: Hostile, tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    file.write_bytes(case.content)
    command = [sys.executable, "-m", "certify", str(file), "--json", str(tmp_path / "report.json")]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, cwd=root, encoding="utf-8", timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert_refused(done.stderr, file, case)
    assert os.listdir(tmp_path) == ["instance.json"]


def test_the_cases_for_a_process_exist() -> None:
    assert set(IN_A_PROCESS) <= {case.name for case in CASES}


def test_every_bad_file_is_shown_and_the_good_ones_are_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, worse = (tmp_path / name for name in ("good.json", "bad.json", "worse.json"))
    good.write_bytes(instance())
    bad.write_bytes(instance(epsilon="0"))
    worse.write_bytes(b"")
    status = run([str(path) for path in (bad, good, worse, tmp_path, tmp_path / "absent.json")])
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    starts = [line.split(": ")[0] for line in captured.err.splitlines() if not line.startswith("  ")]
    assert starts == [str(bad), str(worse), str(tmp_path), str(tmp_path / "absent.json")]


def test_an_earlier_report_is_left_alone(tmp_path: Path) -> None:
    file, report = tmp_path / "instance.json", tmp_path / "report.json"
    file.write_bytes(b"{}")
    report.write_text("earlier")
    assert run([str(file), "--json", str(report)]) == 2
    assert report.read_text() == "earlier"


@pytest.mark.parametrize("name", ["a\nb.json", "\x1b[31m.json", "ü.json", os.fsdecode(b"\xff.json")])
def test_a_file_name_cannot_disturb_the_output(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(b"")
    assert run([str(tmp_path / name)]) == 2
    header, line = capsys.readouterr().err.splitlines()
    assert header.isprintable()
    assert header.endswith(".json: 1 problem")
    assert line.startswith("  $: is empty")
