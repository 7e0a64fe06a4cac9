"""No input crashes the reader or keeps it busy: binary files, links in circles, a megabyte of any one token.

A test that does not end within the suite's own limit is the failure here; none measures time.
"""

import os
from pathlib import Path

import pytest

from lean_bridge.command_line import main
from lean_bridge.maps.blueprint import read_blueprint
from lean_bridge.maps.markdown_table import read_markdown
from lean_bridge.project import ProjectError, read_project
from lean_bridge.reader import read_source

MEGABYTE = 1_000_000
TOKENS = [
    *("`(", "/-", "@[", '"', "(", 's!"{', "/--", "/-- x -/ ", '\\"', 'r#"', "'", "«", "--", "-/", "#", "\0"),
    *("theorem ", "theorem a : T := x ", "open ", "open A in ", "private ", "|", "| a ", "where ", "let rec "),
    *("mutual\n", "namespace A\n", "end\n", "section\n", "foo +\nbar\n", "foo\n", "a.", "by\n", "(\n theorem x\n"),
    *("structure A where a : N ", "  x\n", "@[simp] ", "a,", "deriving instance ", " in", "fun x => ", "let x := "),
    *("alias ⟨a, b⟩ := c\n", "inductive I | a | b\n", "\n  |x| ", "sorry ", "set_option a b in ", ":=", "=>", "⟨"),
]


def read_repeated(before: str, token: str, length: int) -> None:
    text = before + token * (length // len(token))
    found = read_source("X.lean", text)
    assert found.lines == text.count("\n") + (not text.endswith("\n"))


@pytest.mark.parametrize("token", ["`(", "/-", "@[", '"', "(", 's!"{'])
def test_a_megabyte_of_one_token(token: str) -> None:
    read_repeated("", token, MEGABYTE)


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("before", ["", "theorem a : ", "structure A where\n  ", "inductive A : T "])
def test_many_of_one_token(before: str, token: str) -> None:
    read_repeated(before, token, MEGABYTE // 16)


def test_names_do_not_grow_with_every_member() -> None:
    found = read_source("X.lean", f"structure {'A' * 400} where\n" + "  x : N\n" * 20_000)
    assert len(found.declarations) == 20_002
    assert read_source("X.lean", f"structure {'A' * 600} where\n  x : N\n").declarations == ()


@pytest.mark.parametrize("text", [r"\lean{" * 200_000, r"\begin{a}" * 100_000, "%" * MEGABYTE, r"\label{a}" * 100_000])
def test_hostile_blueprints(text: str) -> None:
    assert list(read_blueprint("a.tex", text)) == []


def test_hostile_tables() -> None:
    assert list(read_markdown("a.md", "|" * MEGABYTE + "\n" + "|-" * 500_000 + "|\n")) == []


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A directory with one good file among everything that can be wrong with a file."""
    root = tmp_path / "lean"
    root.mkdir()
    (root / "Good.lean").write_bytes(b"\xef\xbb\xbftheorem a : T := x\r\n")
    (root / "Binary.lean").write_bytes(bytes(range(256)))
    (root / "Null.lean").write_bytes(b"\0" * 1000)
    (root / "Empty.lean").write_bytes(b"")
    (root / ".hidden").mkdir()
    (root / ".hidden" / "H.lean").write_text("theorem hidden : T := x")
    (root / "Directory.lean").mkdir()
    outside = tmp_path / "Outside.lean"
    outside.write_text("theorem outside : T := x")
    (root / "Link.lean").symlink_to(outside)
    (root / "Dangling.lean").symlink_to(root / "nowhere")
    (root / "Self.lean").symlink_to(root / "Self.lean")
    (root / "loop").symlink_to(root)
    (root / "Inside.lean").symlink_to(root / "Good.lean")
    os.mkfifo(root / "Pipe.lean")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.lean")).write_text("theorem bytes : T := x")
    return root


def test_one_bad_file_never_hides_the_others(hostile: Path) -> None:
    project = read_project(hostile)
    assert [d.file for d in project.declarations if d.name == "a"] == ["Good.lean", "Inside.lean"]
    assert {p.path: p.message.split(",")[0] for p in project.problems} == {
        "Binary.lean": "not UTF-8 at byte 128",
        "Dangling.lean": "link that leads nowhere",
        "Link.lean": "link to a file outside the directory",
        "Pipe.lean": "not a regular file",
        "Self.lean": "link that leads nowhere",
        "loop": "link to a directory",
        "\ufffd.lean": "the name is not UTF-8",
    }


def test_a_file_that_cannot_be_read_is_a_problem(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "Good.lean":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert any(p.message == "cannot be read: Permission denied" for p in read_project(hostile).problems)


def test_a_directory_without_declarations_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for make in (lambda: None, lambda: (tmp_path / "A.lean").write_text("-- theorem a : T := x\nexample : T := x")):
        make()
        with pytest.raises(ProjectError, match=r"no \.lean file|no declaration in 1"):
            read_project(tmp_path)
        assert main([str(tmp_path), "--no-cache"]) == 2
        assert "Lean sources" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["absent", "file.lean", "with\nline break"])
def test_what_is_no_directory_is_an_error(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file.lean").write_text("theorem a : T := x")
    assert main([str(tmp_path / name), "--no-cache"]) == 2
    assert "not a directory" in capsys.readouterr().err
