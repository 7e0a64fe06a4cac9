"""Markdown tables such as `§ | Kind | Item from paper | File | Name`: a cell of § inherits from above."""

import re
from collections.abc import Iterator

from lean_bridge.maps.entry import Entry, item_kind

_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_QUOTED = re.compile(r"`([^`]*)`")
_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\))?")
_COLUMNS = {
    "section": ("§", "section"),
    "kind": ("kind",),
    "item": ("item", "item from paper", "paper", "paper item", "statement", "paper statement"),
    "file": ("file", "path"),
    "name": ("name", "lean", "lean name", "declaration", "lean declaration"),
    "note": ("note", "notes", "comment"),
}


def read_markdown(source: str, text: str) -> Iterator[Entry]:
    """One entry per table row that gives a Lean name; only tables with an item and a name column count."""
    columns: dict[str, int] | None = None
    inherited = ""
    previous: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if "|" not in line:
            columns, previous = None, []
            continue
        cells = _cells(line)
        if _RULE.fullmatch(line):
            columns = _columns(previous)
            inherited = ""
        elif columns:
            inherited = _cell(cells, columns, "section") or inherited
            entry = _entry(source, number, cells, columns, inherited)
            if entry:
                yield entry
        previous = cells


def _cells(line: str) -> list[str]:
    stripped = line.strip().removeprefix("|")
    cells = [cell.replace("\\|", "|").strip() for cell in _CELL.split(stripped)]
    return cells[:-1] if cells and not cells[-1] else cells


def _columns(header: list[str]) -> dict[str, int] | None:
    found = {
        column: i
        for i, cell in enumerate(header)
        for column, titles in _COLUMNS.items()
        if cell.strip("` *").lower() in titles
    }
    return found if "item" in found and "name" in found else None


def _cell(cells: list[str], columns: dict[str, int], column: str) -> str:
    i = columns.get(column, -1)
    return cells[i] if 0 <= i < len(cells) else ""


def _entry(source: str, line: int, cells: list[str], columns: dict[str, int], section: str) -> Entry | None:
    cell = _cell(cells, columns, "name")
    names = tuple(name.strip() for name in _QUOTED.findall(cell) if name.strip())
    if not names and cell:
        names = (cell,)
    if not names:
        return None
    kind = _cell(cells, columns, "kind")
    title = _cell(cells, columns, "item").replace("`", "")
    place = _cell(cells, columns, "file")
    link = _LINK.match(place)
    return Entry(
        item=f"§{section.removeprefix('§')}, {title or kind or names[0]}" if section else title or names[0],
        names=names,
        source=source,
        line=line,
        kind=item_kind("", kind),
        title=title or None,
        note=_cell(cells, columns, "note") or None,
        file=(link[1] if link else place).strip("` ") or None,
    )
