"""Small Lean projects written for one test, and the rows an audit of them gives."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from constants.ledger import default_ledger
from lean_bridge.audit import Audit, Inputs, audit
from lean_bridge.crosswalk import Row
from lean_bridge.maps.entry import CustomCommand, Entry, Map
from lean_bridge.project import Project, read_project


def write_project(root: Path, files: Mapping[str, str]) -> Project:
    """Write the files below `root` and read the project back."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_project(root)


def audited(root: Path, files: Mapping[str, str], entries: Iterable[Entry], **inputs: Any) -> Audit:
    """The audit of a project for given map entries."""
    commands: list[CustomCommand] = list(inputs.pop("commands", ()))
    found = Map(list(entries), commands)
    return audit(write_project(root, files), Inputs(found, **inputs), default_ledger())


def rows(root: Path, files: Mapping[str, str], *names: str, **inputs: Any) -> tuple[Row, ...]:
    """One row per name, each an item of its own."""
    return audited(root, files, [Entry(name, (name,), "test", 1) for name in names], **inputs).rows
