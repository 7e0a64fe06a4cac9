"""The report as plain lines. The last one is the verdict."""

from collections.abc import Iterator

from lean_bridge.report.content import Content

_MARK = {"clean": "ok  ", "open": "look", "wrong": "FAIL"}
_MOST = 20


def text_lines(content: Content) -> Iterator[str]:
    """Line by line, what an auditor reads on a terminal."""
    source = content["source"]
    toolchain = f", {source['toolchain']}" if source["toolchain"] else ""
    yield (
        f"{source['path']}: {source['files']} files, {source['lines']} lines, "
        f"{source['declarations']} declarations{toolchain}"
    )
    for item in content["items"]:
        yield from _item(item)
    yield from _some(
        "numerical verdicts on items that no map mentions",
        [f"{v['id']}: {v['verdict']}" for v in content["numerical_only"]],
    )
    yield from _some(
        "docstrings that cite an item (a suggestion, not a mapping)",
        [f"{s['item']}: {s['name']}  {s['file']}:{s['line']}" for s in content["suggestions"]],
    )
    yield from _some(
        "declarations with sorry, admit, stop or axiom in their own text",
        [f"{g['name'] or g['kind']} ({', '.join(g['flags'])})  {g['file']}:{g['line']}" for g in content["given_up"]],
    )
    yield from _some(
        "text that could not be placed",
        [f"{u['file']}:{u['start'][0]}-{u['end'][0]}: {u['reason']}" for u in content["unparsed"]],
    )
    yield from _some(
        "diagnostics",
        [f"{d['file']}:{d['at'][0]}:{d['at'][1]}: {d['message']}" for d in content["diagnostics"]],
    )
    yield from _some("files not read", [f"{p['path']}: {p['message']}" for p in content["problems"]])
    summary = content["summary"]
    if not content["items"]:
        yield "no map: write one with `python -m lean_bridge suggest LEAN_DIR`"
    yield (f"{summary['clean']} clean, {summary['open']} to look at, {summary['wrong']} wrong: {summary['verdict']}")


def _item(item: Content) -> Iterator[str]:
    title = f"  {item['title']}" if item["title"] else ""
    yield f"{item['id']}{title}"
    for verdict in item["numerical"]:
        yield f"      numbers  {verdict['id']}: {verdict['verdict']} {verdict['coverage']}".rstrip()
    for row in item["rows"]:
        yield f"  {_MARK[row['judgement']]}  {row['name']}: {row['status']}{_reason(row['reason'])}"
        declaration = row["declaration"]
        if declaration:
            place = f"{declaration['file']}:{declaration['line']}"
            yield f"        {declaration['kind']} {declaration['name']}  {place}"
            yield f"        {row['wording']}"
        for site in [*row["sites"], *row["other_sites"]]:
            yield f"        {site['kind']} {site['name']}  {site['file']}:{site['line']}"
        for note in row_notes(row):
            yield f"        {note}"


def row_notes(row: Content) -> Iterator[str]:
    """Everything beside the status, one remark each."""
    if row["suggestions"]:
        yield f"did you mean {', '.join(row['suggestions'])}?"
    if row["flags"]:
        yield f"flags: {', '.join(row['flags'])}"
    constant = row["constant"]
    if constant:
        words = {
            "equal": "equals the ledger's",
            "different": "DIFFERS from the ledger's",
            "undecided": "could not be compared with the ledger's",
            "outside": "is outside the arithmetic subset",
        }
        yield f"constant {words[constant['verdict']]} {constant['ledger']}{_reason(constant['reason'])}"
    if row["changed"]:
        yield "the statement changed since the previous report"
    yield from row["notes"]
    yield from row["remarks"]


def _reason(reason: str | None) -> str:
    return f" ({reason})" if reason else ""


def _some(title: str, lines: list[str]) -> Iterator[str]:
    if not lines:
        return
    yield f"{title}: {len(lines)}"
    yield from (f"  {line}" for line in lines[:_MOST])
    if len(lines) > _MOST:
        yield f"  … and {len(lines) - _MOST} more in the JSON report"
