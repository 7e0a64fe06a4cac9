"""Finds the maps of a Lean directory, or reads the ones that were named."""

from collections.abc import Iterable
from pathlib import Path

from lean_bridge.maps.attribute_map import read_attributes
from lean_bridge.maps.blueprint import read_blueprint
from lean_bridge.maps.entry import Map
from lean_bridge.maps.markdown_table import read_markdown
from lean_bridge.maps.toml_map import read_toml_map
from lean_bridge.project import Project

_OWN_MAP = "crosswalk.toml"
_LIMIT = 20_000_000


def read_maps(paths: Iterable[Path]) -> Map:
    """The maps in the given files, by suffix: .toml, .md, .tex. Problems are collected."""
    found = Map()
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            found.problems.append(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8'}")
            continue
        before = len(found.entries)
        if path.suffix == ".toml":
            part = read_toml_map(path, text)
            found.entries += part.entries
            found.commands += part.commands
            found.problems += part.problems
        elif path.suffix == ".md":
            found.entries += read_markdown(str(path), text)
        elif path.suffix == ".tex":
            found.entries += read_blueprint(str(path), text)
        else:
            found.problems.append(f"{path}: a map is a .toml, .md or .tex file")
            continue
        if len(found.entries) == before and not found.problems:
            found.problems.append(f"{path}: holds no item with a Lean name")
    return found


def discover_maps(project: Project) -> Map:
    """`crosswalk.toml`, LaTeX under `blueprint/`, `@[blueprint]` attributes, tables in top-level Markdown."""
    root = project.root
    own = root / _OWN_MAP
    found = read_maps([own]) if own.is_file() else Map()
    for path in _inside(root, root.glob("blueprint/**/*.tex")):
        found.entries += read_blueprint(path.relative_to(root).as_posix(), _text(path))
    found.entries += read_attributes(project.declarations)
    for path in _inside(root, root.glob("*.md")):
        found.entries += read_markdown(path.name, _text(path))
    return found


def _inside(root: Path, paths: Iterable[Path]) -> list[Path]:
    """Regular files whose real place is inside the root, in a fixed order."""
    resolved = root.resolve()
    fit = []
    for path in sorted(paths):
        try:
            if path.is_file() and path.resolve().is_relative_to(resolved) and path.stat().st_size < _LIMIT:
                fit.append(path)
        except (OSError, RuntimeError):
            continue
    return fit


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
