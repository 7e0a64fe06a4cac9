"""Writes a first `crosswalk.toml` for a Lean directory: what its own maps say, and what docstrings cite."""

from collections.abc import Iterable, Iterator

from lean_bridge.maps.citations import citations
from lean_bridge.maps.entry import Entry
from lean_bridge.project import Project

_HEAD = """\
# First map of {root}, written by `python -m lean_bridge suggest`.
# Read every entry before you keep it. status is one of "verbatim", "specialised", "auxiliary".
"""


def suggested_map(project: Project, entries: Iterable[Entry]) -> str:
    """TOML text. Entries of existing maps are live; citations of docstrings are commented out."""
    return "\n".join([_HEAD.format(root=project.root.name), *_entries(entries), *_citations(project)]) + "\n"


def _entries(entries: Iterable[Entry]) -> Iterator[str]:
    by_item: dict[str, list[Entry]] = {}
    for entry in entries:
        by_item.setdefault(entry.item, []).append(entry)
    for item, same in by_item.items():
        names = dict.fromkeys(name for entry in same for name in entry.names)
        yield f"[item.{_string(item)}]  # {same[0].source}:{same[0].line}".replace("\n", " ")
        yield f"lean = [{', '.join(map(_string, names))}]"
        if same[0].title:
            yield f"title = {_string(same[0].title)}"
        if same[0].kind:
            yield f"kind = {_string(same[0].kind)}"
        yield ""


def _citations(project: Project) -> Iterator[str]:
    by_item: dict[str, list[str]] = {}
    for citation in citations(project.declarations):
        by_item.setdefault(citation.item, []).append(citation.declaration.name)
    if by_item:
        yield "# Cited by docstrings: a hint, not a mapping. Uncomment what is right."
    for item, names in by_item.items():
        yield f"# [item.{_string(item)}]"
        yield f"# lean = [{', '.join(map(_string, dict.fromkeys(names)))}]"


def _string(text: str) -> str:
    """A TOML basic string."""
    escaped = "".join(_character(char) for char in text)
    return f'"{escaped}"'


def _character(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if ord(char) < 0x20 or ord(char) == 0x7F or 0xD800 <= ord(char) < 0xE000:
        return " " if 0xD800 <= ord(char) < 0xE000 else f"\\u{ord(char):04x}"
    return char
