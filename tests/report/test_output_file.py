import os
import stat
from pathlib import Path

import pytest

from certify.report.output_file import problem_with, write_atomically


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_report_is_written_with_the_usual_permissions(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    mask = os.umask(0o027)
    try:
        write_atomically(str(target), "κ ≤ 1\n")
    finally:
        os.umask(mask)
    assert target.read_bytes() == "κ ≤ 1\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert names(tmp_path) == ["report.json"]


def test_a_failure_leaves_the_older_report_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.json"
    target.write_text("older")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(str(target), "newer")
    assert target.read_text() == "older"
    assert names(tmp_path) == ["report.json"]


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(str(tmp_path / "report.json"), "text")
    assert names(tmp_path) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("older")
    (tmp_path / "link.json").symlink_to("real.json")
    write_atomically(str(tmp_path / "link.json"), "newer")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "newer"


def test_a_writable_target_has_no_problem(tmp_path: Path) -> None:
    existing = tmp_path / "report.json"
    existing.write_text("older")
    for path in (existing, tmp_path / "new.json"):
        assert problem_with(str(path), [str(tmp_path / "instance.json")]) is None


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("", "is not a file name"),
        ("a\0b", "is not a file name"),
        (".", "is a directory"),
        ("nowhere/report.json", "lies in a directory that does not exist"),
        ("instance.json", "is an instance to be checked"),
        ("link.json", "is an instance to be checked"),
        ("fifo", "is not a regular file"),
        (os.devnull, "is not a regular file"),
        ("instance.json/report.json", "cannot be written"),
        ("x" * 300, "cannot be written"),
    ],
)
def test_a_target_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("instance.json").write_text("{}")
    Path("link.json").symlink_to("instance.json")
    os.mkfifo("fifo")
    message = problem_with(path, ["instance.json", "missing.json"])
    assert message is not None
    assert message.startswith(problem)
    assert ": " in message, "a problem says what to do"
