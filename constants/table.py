"""The ledger and its check as text: one line a constant, the errata, what changed and what depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from certify.arithmetic.verdict import Verdict
from certify.instance_file import printable
from certify.report import figures
from certify.report.page import Page
from constants.difference import Order
from constants.golden import Comparison, enclosure
from constants.ledger import Constant, Ledger
from constants.regression import Dependent, Regression
from constants.relations import Proof, as_printed, prove_of, tightest

if TYPE_CHECKING:
    from rich.console import RenderableType

DIGITS = 5
GAP = 2
MARK = "†"
WIDE, ROOMY = 130, 90
SHORT_ITEM = 14
LEAST_USED = 12
SHORT_RELATION = 60
DETAIL = 4

_STYLES = {Verdict.PROVED: "green", Verdict.REFUTED: "bold red", Verdict.UNDECIDED: "bold yellow"}


def ledger_text(ledger: Ledger, page: Page) -> str:
    """Every constant, paper by paper; then those that the paper prints otherwise."""
    parts: list[RenderableType] = []
    for paper in ledger.papers.values():
        constants = [c for c in ledger.constants.values() if c.paper_id == paper.id]
        if constants:
            parts += [Text(paper.title, style="bold"), _constants(constants, ledger, page), ""]
    printed = [c for c in ledger.constants.values() if c.printed is not None]
    if printed:
        parts += [
            Text(f"{MARK} printed otherwise in the paper, and what fails then", style="bold"),
            *_errata(printed, ledger),
            "",
        ]
    parts.append(Text(_legend(ledger), style="dim"))
    return page.render(*parts)


def _legend(ledger: Ledger) -> str:
    relations = sum(len(constant.relations) for constant in ledger.constants.values())
    return (
        f"{len(ledger.constants)} constants, {relations} relations. Decimals are rounded outward. Slack is the share "
        "of the budget that the tightest relation of the constant leaves (0%: an exact tie)."
    )


def _constants(constants: Sequence[Constant], ledger: Ledger, page: Page) -> Table:
    """One line a constant; a wide page shows items and uses in full."""
    gap = GAP if page.width >= ROOMY else 1
    table = _grid(("constant", "left"), ("value", "left"), ("decimals", "left"), ("slack", "right"), gap=gap)
    wide = page.width >= WIDE
    rows = [_row(constant, ledger) for constant in constants]
    widths = [max(len(cell.plain) for cell in column) for column in zip(*rows, strict=True)]
    for column, width in zip(table.columns, widths, strict=True):
        column.width = max(width, len(str(column.header)))
    room = page.width - sum(int(column.width or 0) + gap for column in table.columns)
    items = wide or room >= SHORT_ITEM + gap + LEAST_USED
    if wide:
        table.add_column("item", overflow="fold", ratio=2)
        table.add_column("used by", overflow="fold", ratio=3)
    else:
        if items:
            table.add_column("item", no_wrap=True, overflow="ellipsis", width=SHORT_ITEM)
            room -= SHORT_ITEM + gap
        table.add_column("used by", no_wrap=True, overflow="ellipsis", width=max(room, LEAST_USED))
    for constant, row in zip(constants, rows, strict=True):
        item = constant.paper if wide else _short_item(constant.paper)
        used = ", ".join(constant.used_by) if wide else _short_list(constant.used_by, max(room, LEAST_USED))
        table.add_row(*row, *([Text(item)] if items else []), Text(used, style="dim"))
    return table


def _row(constant: Constant, ledger: Ledger) -> list[Text]:
    errata = constant.printed is not None
    name = Text(constant.id + (f" {MARK}" if errata else ""), style="bold yellow" if errata else "")
    best = tightest(prove_of([constant], ledger.expressions))
    return [name, Text(constant.value.text()), Text(_decimals(constant)), _slack(best)]


def _short_item(item: str) -> str:
    """The item without what is said of it: `§7` for `§7, theta >= 3`."""
    item = item.split(":")[0]
    return item if len(item) <= SHORT_ITEM else item.split(",")[0]


def _short_list(names: Sequence[str], width: int) -> str:
    """As many names as fit, and how many more there are; where none fits, how many there are."""
    for count in range(len(names), 0, -1):
        more = f" +{len(names) - count}" if count < len(names) else ""
        if len(text := ", ".join(names[:count]) + more) <= width:
            return text
    return names[0] if len(names) == 1 else f"{len(names)} statements"


def _decimals(constant: Constant) -> str:
    text = figures.interval(enclosure(constant.value), DIGITS)
    return "" if text == constant.value.text() else text


def _slack(proof: Proof | None) -> Text:
    if proof is None:
        return Text("")
    if proof.verdict is not Verdict.PROVED:
        return Text("FAILS" if proof.verdict is Verdict.REFUTED else "?", style=_STYLES[proof.verdict])
    return Text(slack_text(proof))


def slack_text(proof: Proof) -> str:
    """The room that a proved relation leaves, in percent, rounded down."""
    least = proof.slack.lower
    if proof.tie or least is None:
        return "0%" if proof.tie else ""
    tenths = (least * 1000).floor()
    return f"{tenths // 10}.{tenths % 10}%" if tenths else "<0.1%"


def _errata(constants: Sequence[Constant], ledger: Ledger) -> Iterable[RenderableType]:
    """One line a constant; below it the relation that decided, and the note."""
    widths = [max(len(text) for text in column) for column in zip(*map(_both_values, constants), strict=True)]
    for constant in constants:
        verdict, proof = as_printed(constant, ledger)
        outcome = {Verdict.REFUTED: "a relation fails", Verdict.PROVED: "no relation fails"}.get(verdict, "undecided")
        name, printed, here = (t.ljust(width) for t, width in zip(_both_values(constant), widths, strict=True))
        line = Text(f"{name}  printed {printed}  here {here}  ")
        yield line.append(outcome, "bold red" if verdict is Verdict.REFUTED else "")
        details = Text(proof.relation.text() if proof is not None else "")
        if constant.note:
            details.append(f"\n{constant.note}" if details.plain else constant.note, style="dim")
        if details.plain:
            yield Padding(details, (0, 0, 0, DETAIL))


def _both_values(constant: Constant) -> tuple[str, str, str]:
    """Name, printed value and value, of a constant that is printed otherwise."""
    assert constant.printed is not None
    return constant.id, constant.printed.text(), constant.value.text()


def check_text(result: Regression, record: Mapping[str, str], page: Page) -> str:
    """What was checked, what failed, what changed, and the statements that depend on it; the verdict last."""
    verdicts = [proof.verdict for proof in result.proofs]
    same = len(result.comparisons) - len(result.changes)
    facts = [
        ("relations", ", ".join(f"{verdicts.count(verdict)} {verdict.value}" for verdict in Verdict)),
        ("enclosures", f"{same} as recorded, {len(result.changes)} not ({_provenance(record)})"),
    ]
    parts: list[RenderableType] = [_pairs(facts), ""]
    failed = [proof for proof in result.proofs if proof.verdict is not Verdict.PROVED]
    if failed:
        parts += [Text("relations that fail", style="bold"), *(_failure(proof) for proof in failed), ""]
    if result.changes:
        parts += [Text("not as recorded", style="bold"), _changes(result.changes), ""]
    if result.dependents:
        parts += [Text("statements that depend on a change", style="bold"), _dependents(result.dependents), ""]
    parts.append(Text(_closing(result), style=_STYLES[result.verdict]))
    return page.render(*parts)


def _provenance(record: Mapping[str, str]) -> str:
    return printable(", ".join(f"{name} {record[name]}".strip() for name in record))


def _failure(proof: Proof) -> RenderableType:
    word = "refuted" if proof.verdict is Verdict.REFUTED else "undecided"
    lines = [
        (f"{proof.constant.id}, {word}", proof.relation.text()),
        ("", f"left side {figures.interval(proof.lhs, DIGITS)}, right side {figures.interval(proof.rhs, DIGITS)}"),
    ]
    if proof.reason:
        lines.append(("", printable(proof.reason)))
    return _pairs(lines, indent=2)


def _changes(changes: Sequence[Comparison]) -> Padding:
    table = _grid(("constant", "left"), ("recorded", "left"), ("now", "left"), ("", "left"))
    for change in changes:
        style = "bold red" if change.order is Order.CONTRADICTED else ""
        table.add_row(Text(change.id), Text(change.before), Text(change.now), Text(change.order.value, style))
    return Padding(table, (0, 0, 0, 2))


def _dependents(dependents: Sequence[Dependent]) -> Padding:
    table = _grid(("statement", "left"))
    table.add_column("still holds?", overflow="fold", min_width=12)
    table.add_column("because", overflow="fold", ratio=1)
    for each in dependents:
        style = "" if each.verdict is None else _STYLES[each.verdict]
        table.add_row(Text(each.statement), Text(each.answer, style), Text("\n".join(_because(each))))
    return Padding(table, (0, 0, 0, 2))


def _because(dependent: Dependent) -> Iterable[str]:
    yield f"uses {', '.join(dependent.constants)}" if dependent.constants else "follows from a failing relation"
    for proof in dependent.relations:
        if proof.verdict is not Verdict.PROVED:
            text = proof.relation.text()
            short = text if len(text) <= SHORT_RELATION else f"that of {proof.constant.id}, above"
            yield f"relation {proof.verdict.value}: {short}"
    for claim in dependent.claims:
        reason = f" ({printable(claim.reason)})" if claim.reason else ""
        yield f"for all parameters, {claim.id}: {claim.verdict.value}{reason}"
    if dependent.instances is not None:
        verdict, reason = dependent.instances.verdict, printable(dependent.instances.reason)
        yield f"instances: {reason}" if verdict is Verdict.PROVED else f"instances: {verdict.value}, {reason}"
    elif not dependent.claims:
        yield "no check yet: neither an instance nor a universal claim decides it"
    if (
        dependent.answer == "undecided"
        and dependent.uncovered
        and (dependent.instances is not None or dependent.claims)
    ):
        yield f"no universal claim about {', '.join(dependent.uncovered)}: instances prove nothing for all parameters"


def _closing(result: Regression) -> str:
    failing = sum(proof.verdict is Verdict.REFUTED for proof in result.proofs)
    counted = f"{figures.plural(failing, 'relation fails', 'relations fail')}, {len(result.changes)} not as recorded"
    if result.dependents:
        fallen = [each for each in result.dependents if each.verdict is Verdict.REFUTED]
        refuted = sum(each.is_refuted for each in fallen)
        unclear = sum(each.verdict is Verdict.UNDECIDED for each in result.dependents)
        statements = figures.plural(len(result.dependents), "statement", "statements")
        counted += f"; of {statements} {refuted} refuted, {len(fallen) - refuted} not proved, {unclear} undecided"
    return f"{result.verdict.value}: {counted}"


def _grid(*columns: tuple[str, Literal["left", "right"]], gap: int = GAP) -> Table:
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for name, justify in columns:
        table.add_column(name, justify=justify, no_wrap=True, overflow="fold")
    return table


def _pairs(entries: Iterable[tuple[str, str]], indent: int = 0) -> Padding:
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in entries:
        grid.add_row(Text(label, style="dim"), Text(value))
    return Padding(grid, (0, 0, 0, indent))
