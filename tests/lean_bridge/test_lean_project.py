"""Processes and cache change how a project is read, never what is found."""

from pathlib import Path

import pytest
from lean_projects import write_project

from lean_bridge import cache, project
from lean_bridge.project import read_project

FILES = {f"M{i}.lean": f"namespace N{i}\ntheorem t{i} : T := x\nend N{i}\n" for i in range(12)}


def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    one = write_project(tmp_path, FILES)
    assert read_project(tmp_path, jobs=2).files == one.files
    assert one.lines == 36


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the files that were really read."""
    seen: list[str] = []
    read_source = project.read_source

    def count(path: str, text: str) -> object:
        seen.append(path)
        return read_source(path, text)

    monkeypatch.setattr(project, "read_source", count)
    return seen


def test_an_unchanged_file_is_read_once(tmp_path: Path, counted: list[str]) -> None:
    root, kept = tmp_path / "lean", tmp_path / "cache"
    write_project(root, FILES)
    counted.clear()
    first = read_project(root, cache_directory=kept)
    assert len(counted) == 12
    assert read_project(root, cache_directory=kept).files == first.files
    assert len(counted) == 12
    (root / "M3.lean").write_text("theorem changed : T := x")
    again = read_project(root, cache_directory=kept)
    assert counted[12:] == ["M3.lean"]
    assert "changed" in {d.name for d in again.declarations}


def test_a_file_that_moved_is_read_again(tmp_path: Path, counted: list[str]) -> None:
    root, kept = tmp_path / "lean", tmp_path / "cache"
    write_project(root, {"A.lean": "theorem a : T := x"})
    read_project(root, cache_directory=kept)
    (root / "A.lean").rename(root / "B.lean")
    assert [d.file for d in read_project(root, cache_directory=kept).declarations] == ["B.lean"]


@pytest.mark.parametrize("damage", [b"", b"\xff\xff", b"\x92\xa1x\x80"])
def test_a_damaged_cache_is_ignored(tmp_path: Path, damage: bytes) -> None:
    root, kept = tmp_path / "lean", tmp_path / "cache"
    first = write_project(root, FILES)
    read_project(root, cache_directory=kept)
    (stored,) = kept.iterdir()
    stored.write_bytes(damage)
    assert read_project(root, cache_directory=kept).files == first.files


def test_another_version_of_the_reader_counts_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, kept = tmp_path / "lean", tmp_path / "cache"
    write_project(root, FILES)
    read_project(root, cache_directory=kept)
    assert cache.load(kept, root)
    monkeypatch.setattr(cache, "reader_version", lambda: "another")
    assert cache.load(kept, root) == {}


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    root = tmp_path / "lean"
    blocked = tmp_path / "file"
    blocked.write_text("")
    first = write_project(root, FILES)
    assert read_project(root, cache_directory=blocked / "cache").files == first.files


def test_no_cache_directory_no_cache(tmp_path: Path) -> None:
    write_project(tmp_path / "lean", FILES)
    read_project(tmp_path / "lean")
    assert [path.name for path in tmp_path.iterdir()] == ["lean"]
