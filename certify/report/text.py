"""The report as text: what is enumerated, one line a statement, what failed in full, and the verdict last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from certify.arithmetic.enclosure import Enclosure
from certify.engine.statement import Worst
from certify.instance_file import printable
from certify.report import figures
from certify.report.figures import comparison, count, percentage, table_count
from certify.report.model import LawRow, Report, StatementReport, StatementVerdict, Summary
from certify.report.page import Page
from certify.report.witness_text import FULL_DIGITS, full_witness, short_witness

if TYPE_CHECKING:
    from rich.console import RenderableType

QUANTITY_DIGITS = 6
LAW_ROWS = 12
GAP, MAX_ACROSS = 2, 4
LEAST_TITLE, LEAST_PLACE = 14, 20

IN_HEADING = {
    "release": ("J", "eta", "gamma", "epsilon", "histograms", "transcripts", "ledger"),
    "selection": ("claimed_epsilon", "ledger"),
}
"""Quantities that the heading has shown, by theory."""

_STYLES = {
    StatementVerdict.PROVED: "green",
    StatementVerdict.REFUTED: "bold red",
    StatementVerdict.UNDECIDED: "bold yellow",
    StatementVerdict.NOT_APPLICABLE: "dim",
}


def heading(facts: Sequence[tuple[str, str]], page: Page) -> str:
    """What is about to be done: label and value a line."""
    return page.render(_labelled(facts), "")


def report_text(report: Report, page: Page, *, quiet: bool = False) -> str:
    """Quantities, table, reasons and the verdict; when quiet, only what failed and the verdict."""
    parts: list[RenderableType] = []
    if not quiet:
        parts += [*_quantities(report, page), _table(report.statements, page), ""]
    parts += [part for statement in report.statements for part in _failure(statement)]
    if not quiet:
        parts += [*_routes(report.statements), *_inapplicable(report.statements)]
    parts.append(_closing(verdict_line(report.summary), report.summary.verdict))
    return page.render(*parts)


def overall_text(summaries: Sequence[Summary], page: Page) -> str:
    """The closing line over several instances."""
    verdicts = [summary.verdict for summary in summaries]
    overall = Summary(*(verdicts.count(verdict) for verdict in StatementVerdict))
    counted = _counts(f"of {len(summaries)} instances {overall.proved} proved", overall)
    return page.render("", _closing(f"{overall.verdict.value}: {counted}", overall.verdict))


def verdict_line(summary: Summary) -> str:
    """``proved: 38 statements proved, 0 refuted, 0 undecided, 4 not applicable``."""
    proved = f"{figures.plural(summary.proved, 'statement', 'statements')} proved"
    return f"{summary.verdict.value}: {_counts(proved, summary)}"


def _counts(proved: str, summary: Summary) -> str:
    return (
        f"{proved}, {summary.refuted} refuted, {summary.undecided} undecided, {summary.not_applicable} not applicable"
    )


def _closing(line: str, verdict: StatementVerdict) -> Text:
    return Text(line, style=_STYLES[verdict])


def _labelled(entries: Iterable[tuple[str, str]], indent: int = 0) -> Padding:
    """Label and value a line; long values wrap beside their label."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in entries:
        grid.add_row(Text(label, style="dim"), Text(value))
    return Padding(grid, (0, 0, 0, indent))


def _quantities(report: Report, page: Page) -> Iterable[RenderableType]:
    """Numbers in as many columns as fit, then what is text; without those that the heading has shown."""
    hidden = IN_HEADING.get(report.instance.theory, ())
    shown = {name: value for name, value in report.quantities.items() if name not in hidden}
    numbers = [(name, _number(value)) for name, value in shown.items() if isinstance(value, Enclosure | int)]
    texts = [(name, printable(value)) for name, value in shown.items() if isinstance(value, str)]
    laws = [line for name, value in shown.items() if isinstance(value, tuple) for line in _law(name, value)]
    return [_in_columns(numbers, page), *([_labelled(texts)] if texts else []), *laws, ""]


def _law(name: str, rows: tuple[LawRow, ...]) -> Iterable[RenderableType]:
    """A law as one outcome a line; a long one is cut, and the JSON has it whole."""
    outcomes = []
    for row in rows[:LAW_ROWS]:
        value = row["probability"]
        shown = _number(value) if isinstance(value, Enclosure) else str(value)
        exact = f", {row['exact']}" if "exact" in row else ""
        outcomes.append((printable(str(row["output"])), f"{shown}{exact}"))
    if len(rows) > LAW_ROWS:
        outcomes.append(("…", f"{count(len(rows) - LAW_ROWS)} more outcomes in the JSON report"))
    return [Text(name, style="dim"), _labelled(outcomes, indent=2)]


def _number(value: Enclosure | int) -> str:
    return count(value) if isinstance(value, int) else figures.interval(value, QUANTITY_DIGITS)


def _in_columns(entries: Sequence[tuple[str, str]], page: Page) -> Table:
    across = next((n for n in range(MAX_ACROSS, 1, -1) if _width(entries, n) <= page.width), 1)
    grid = Table.grid(padding=(0, GAP, 0, 0))
    for start in range(0, len(entries), across):
        cells = [(Text(name, style="dim"), Text(value)) for name, value in entries[start : start + across]]
        grid.add_row(*(text for cell in cells for text in cell))
    return grid


def _width(entries: Sequence[tuple[str, str]], across: int) -> int:
    """The width of a grid with so many entries in a row."""
    columns = [entries[start::across] for start in range(min(across, len(entries)))]
    widest = [max(cell_len(entry[side]) + GAP for entry in column) for column in columns for side in (0, 1)]
    return sum(widest) - GAP


def _table(statements: Sequence[StatementReport], page: Page) -> Table:
    """One line a statement; titles and witnesses take what width the numbers leave."""
    columns: dict[str, list[Text]] = {
        "statement": [Text(s.id) for s in statements],
        "title": [Text(s.title) for s in statements],
        "worst case": [Text(_worst(s)) for s in statements],
        "at": [Text(_place(s), style="dim") for s in statements],
        "used": [Text(_used(s)) for s in statements],
        "verdict": [Text(_verdict(s.verdict), style=_STYLES[s.verdict]) for s in statements],
        "cases": [Text(table_count(s.cases) if s.coverage else "") for s in statements],
    }
    widths = {name: max(cell_len(text.plain) for text in (Text(name), *columns[name])) for name in columns}
    title, place = widths.pop("title"), widths.pop("at")
    spare = page.width - sum(widths.values()) - GAP * (len(widths) - 1)
    widths["worst case"] += min(spare, 0)  # what is cut is in the JSON, and below where it failed
    widths["title"], widths["at"] = _share_out(spare, title, place)

    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    shown = [name for name in columns if widths[name]]
    for name in shown:
        justify: Literal["left", "right"] = "right" if name in ("used", "cases") else "left"
        table.add_column(name, no_wrap=True, overflow="ellipsis", justify=justify, width=widths[name])
    for row in zip(*(columns[name] for name in shown), strict=True):
        table.add_row(*row)
    return table


def _share_out(spare: int, title: int, place: int) -> tuple[int, int]:
    """Widths of the title and the place from those they would like; 0 for a column that does not fit."""
    if spare < LEAST_TITLE + GAP:
        return 0, 0
    for_both = spare - 2 * GAP
    if for_both < 2 * LEAST_PLACE:
        return min(title, spare - GAP), 0
    title = min(title, max(for_both // 2, for_both - place))
    return title, min(place, for_both - title)


def _verdict(verdict: StatementVerdict) -> str:
    return "REFUTED" if verdict is StatementVerdict.REFUTED else verdict.value


def _worst(statement: StatementReport) -> str:
    if statement.worst is not None:
        return comparison(statement.verdict, statement.worst)
    return "by structure" if statement.verdict is StatementVerdict.PROVED else ""


def _place(statement: StatementReport) -> str:
    if statement.worst is not None:
        return short_witness(statement.worst.witness)
    return printable("; ".join(statement.notes))


def _used(statement: StatementReport) -> str:
    used = statement.budget_used
    return "" if used is None else percentage(used, statement.verdict)


def _failure(statement: StatementReport) -> list[RenderableType]:
    """Everything known about a statement that is refuted or undecided."""
    if statement.verdict not in (StatementVerdict.REFUTED, StatementVerdict.UNDECIDED):
        return []
    title = Text(f"{_verdict(statement.verdict)} ", style=_STYLES[statement.verdict])
    title.append(f"{statement.id}  {statement.title} ({statement.source})", style="default")
    entries = [("claim", statement.claim)]
    if statement.reason:
        entries.append(("reason", printable(statement.reason)))
    if statement.worst is not None:
        entries += _sides(statement.verdict, statement.worst)
        entries += full_witness(statement.worst.witness)
        entries.append(("decided" if statement.verdict is StatementVerdict.REFUTED else "tried", _effort(statement)))
    entries += [("note", printable(note)) for note in statement.notes]
    return [title, _labelled(entries, indent=2), ""]


def _sides(verdict: StatementVerdict, worst: Worst) -> list[tuple[str, str]]:
    digits = figures.telling_digits(verdict, worst, figures.JSON_DIGITS) or FULL_DIGITS
    return [("lhs", figures.interval(worst.lhs, digits)), ("rhs", figures.interval(worst.rhs, digits))]


def _effort(statement: StatementReport) -> str:
    return f"at {statement.precision_bits} bits, over {figures.plural(statement.cases, 'case', 'cases')}"


def _routes(statements: Sequence[StatementReport]) -> list[RenderableType]:
    """How cases were proved that no comparison of numbers settles."""
    proved = [s for s in statements if s.verdict is StatementVerdict.PROVED and s.notes]
    if not proved:
        return []
    entries = [(statement.id, printable("; ".join(statement.notes))) for statement in proved]
    return [Text("proved without comparing numbers", style="dim"), _labelled(entries, indent=2), ""]


def _inapplicable(statements: Sequence[StatementReport]) -> list[RenderableType]:
    """Which hypothesis fails, once for all the statements that need it."""
    by_reason: dict[str, list[str]] = {}
    for statement in statements:
        if statement.verdict is StatementVerdict.NOT_APPLICABLE:
            by_reason.setdefault(printable(statement.reason or ""), []).append(statement.id)
    if not by_reason:
        return []
    parts: list[RenderableType] = [Text("not applicable", style="dim")]
    for reason, ids in by_reason.items():
        parts += [
            Padding(Text(", ".join(ids)), (0, 0, 0, 2)),
            Padding(Text(reason, style="dim"), (0, 0, 0, 4)),
        ]
    return [*parts, ""]
