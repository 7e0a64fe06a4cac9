"""Which Lean files a directory holds. Nothing outside the directory is read, whatever its links say."""

import os
from dataclasses import dataclass
from pathlib import Path

_NOT_OURS = frozenset({"lake-packages", "node_modules"})


@dataclass(frozen=True, slots=True)
class Problem:
    """A path that could not be read, and why."""

    path: str
    message: str


def lean_files(root: Path) -> tuple[list[str], list[Problem]]:
    """Relative paths (with `/`) of the `.lean` files below `root`, sorted, and what had to be left out.

    Hidden directories (`.lake` holds the dependencies) are not entered. A link to a directory is not
    followed, a link to a file only when its target lies inside `root`.
    """
    inside = root.resolve()
    files: list[str] = []
    problems: list[Problem] = []
    pending = [root]
    while pending:
        directory = pending.pop()
        shown = directory.relative_to(root).as_posix()
        try:
            with os.scandir(directory) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(Problem(shown, f"cannot be listed: {error.strerror}"))
            continue
        for entry in found:
            path = Path(entry.path)
            relative = path.relative_to(root).as_posix()
            if not _is_text(entry.name):
                problems.append(Problem(_shown(relative), "the name is not UTF-8, not read"))
            elif entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _NOT_OURS:
                    pending.append(path)
            elif entry.name.endswith(".lean") and not entry.name.startswith("."):
                problem = _unfit(entry, path, inside)
                if problem:
                    problems.append(Problem(relative, problem))
                else:
                    files.append(relative)
            elif entry.is_symlink() and entry.is_dir():
                problems.append(Problem(relative, "link to a directory, not followed"))
    return sorted(files), sorted(problems, key=lambda problem: problem.path)


def _is_text(name: str) -> bool:
    return name.isascii() or not any(0xDC80 <= ord(char) <= 0xDCFF for char in name)


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _unfit(entry: os.DirEntry[str], path: Path, inside: Path) -> str | None:
    try:
        if entry.is_symlink() and not path.resolve(strict=True).is_relative_to(inside):
            return "link to a file outside the directory, not read"
        if not entry.is_file():
            return "not a regular file"
    except (OSError, RuntimeError):
        return "link that leads nowhere"
    return None


def read_text(root: Path, relative: str) -> tuple[bytes, Problem | None]:
    """The bytes of a file, or a problem: unreadable, or not UTF-8 as Lean requires."""
    try:
        content = (root / relative).read_bytes()
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return b"", Problem(relative, f"not UTF-8 at byte {error.start}, so not Lean source")
    except OSError as error:
        return b"", Problem(relative, f"cannot be read: {error.strerror}")
    return content, None
