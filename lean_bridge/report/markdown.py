"""The report as a Markdown table, for a pull request or an issue."""

import re
from collections.abc import Iterator

from lean_bridge.report.content import Content
from lean_bridge.report.text import row_notes

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def markdown_lines(content: Content) -> Iterator[str]:
    """The summary, then one table row per Lean name."""
    source, summary = content["source"], content["summary"]
    yield f"# Crosswalk of {_escaped(source['path'])}"
    yield ""
    yield (
        f"{source['files']} files, {source['lines']} lines, {source['declarations']} declarations. "
        f"**{summary['clean']} clean, {summary['open']} to look at, {summary['wrong']} wrong**: "
        f"{summary['verdict']}."
    )
    yield ""
    yield "| Item | In numbers | Lean name | Status | Where | What the source shows |"
    yield "|---|---|---|---|---|---|"
    for item in content["items"]:
        numbers = ", ".join(f"{v['id']}: {v['verdict']}" for v in item["numerical"])
        for row in item["rows"]:
            sites = [row["declaration"]] if row["declaration"] else row["sites"]
            where = ", ".join(f"{site['file']}:{site['line']}" for site in sites)
            remarks = "; ".join(part for part in [row["wording"], *row_notes(row)] if part)
            status = row["status"] + (f" ({row['reason']})" if row["reason"] else "")
            cells = [item["id"], numbers, row["name"], status, where, remarks]
            yield f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
