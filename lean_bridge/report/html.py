"""The audit page: one self-contained HTML file, the numerical verdict beside the Lean declaration."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from lean_bridge.report.content import Content
from lean_bridge.report.text import row_notes

_NUMERICAL = {"proved": "clean", "refuted": "wrong", "not_applicable": ""}
_STATUS = {0: "clean", 1: "wrong", 3: "open"}
_CONNECTION = {"different": "bad", "undecided": "look", "outside": "look"}
_MEANING = """
<b>found</b>: the source declares this name. <b>no sorry in its own text</b>: that, and no more; a lemma the
proof uses may still have one. Only Lean can say that something is proved: give its <code>#print axioms</code>
with <code>--axioms</code>. <b>proved</b> in the left column is the verdict of certified arithmetic on the
instance of the certify report, not of Lean. Names that Lean generates are candidates, never found.
"""


def html_page(content: Content) -> str:
    """The page. Every text from outside is escaped; nothing is loaded from elsewhere."""
    source = content["source"]
    head = files("lean_bridge.report")
    style = head.joinpath("page.css").read_text(encoding="utf-8")
    script = head.joinpath("page.js").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Lean audit: {escape(source['path'])}</title>",
            f"<style>\n{style}</style></head><body>",
            _header(content),
            "<main>",
            _filters(content),
            '<div class="columns heads"><div>Paper item, in numbers</div><div>In Lean</div></div>',
            *(_item(item) for item in content["items"]),
            f'<p class="empty"{" hidden" if content["items"] else ""}>No item to show.</p>',
            *_appendices(content),
            "</main>",
            f"<footer>{_MEANING}</footer>",
            f"<script>\n{script}</script></body></html>",
            "",
        ]
    )


def _header(content: Content) -> str:
    source, summary = content["source"], content["summary"]
    tone = _STATUS[summary["status"]]
    total = max(1, summary["clean"] + summary["open"] + summary["wrong"])
    bar = "".join(
        f'<span class="{part}" style="width:{100 * summary[part] / total:.2f}%"></span>'
        for part in ("clean", "open", "wrong")
        if summary[part]
    )
    axioms = (
        f"Allowed axioms: {escape(', '.join(summary['allowed_axioms']))}."
        if summary["axioms_known"]
        else "Axioms unknown: no output of #print axioms was given."
    )
    toolchain = f" · <code>{escape(source['toolchain'])}</code>" if source["toolchain"] else ""
    return (
        f"<header><h1>Lean artifact audit</h1>"
        f'<p class="facts"><code>{escape(source["path"])}</code>{toolchain} · {source["files"]:,} files · '
        f"{source['lines']:,} lines · {source['declarations']:,} declarations</p>"
        f'<div class="verdict {tone}"><div><strong>{escape(summary["verdict"].capitalize())}</strong>'
        f"<p>{summary['clean']} clean · {summary['open']} to look at · {summary['wrong']} wrong. {axioms}</p>"
        f'</div></div><div class="bar" aria-hidden="true">{bar}</div></header>'
    )


def _filters(content: Content) -> str:
    counts = {"all": len(content["items"]), "wrong": 0, "open": 0, "clean": 0}
    for item in content["items"]:
        counts[item["judgement"]] += 1
    labels = {"all": "All", "wrong": "Wrong", "open": "To look at", "clean": "Clean"}
    buttons = "".join(
        f'<button data-show="{name}" aria-pressed="{"true" if name == "all" else "false"}">'
        f"{label} {counts[name]}</button>"
        for name, label in labels.items()
    )
    search = '<input type="search" placeholder="Search items, names, files">'
    return f'<nav aria-label="Filter">{buttons}{search}</nav>'


def _item(item: Content) -> str:
    judgement = item["judgement"]
    title = f'<p class="title">{escape(item["title"])}</p>' if item["title"] else ""
    claim = f'<p class="claim">{escape(item["claim"])}</p>' if item["claim"] else ""
    note = f'<p class="title">{escape(item["note"])}</p>' if item["note"] else ""
    kind = f" {_pill(item['correspondence'], '')}" if item["correspondence"] else ""
    numbers = "".join(map(_number, item["numerical"]))
    rows = "".join(map(_row, item["rows"]))
    return (
        f'<article class="{judgement}"><div class="columns"><div>'
        f"<h3>{escape(item['id'])}{kind}</h3>{title}{claim}{numbers}{note}</div><div>{rows}</div></div></article>"
    )


def _number(verdict: Content) -> str:
    tone = _NUMERICAL.get(verdict["verdict"], "open")
    more = " · ".join(part for part in (verdict["coverage"], verdict["reason"]) if part)
    where = f'<span class="where">{escape(verdict["id"])}</span>'
    pill = _pill(verdict["verdict"].replace("_", " "), tone)
    return f'<p class="number">{pill} {where}{" · " + escape(more) if more else ""}</p>'


def _row(row: Content) -> str:
    declaration = row["declaration"]
    reason = f" ({row['reason']})" if row["reason"] else ""
    constant = row["constant"]
    bad = [*row["gaps"], *row["forbidden_axioms"]]
    if constant and constant["verdict"] == "different":
        bad.append("constant differs")
    status = _pill(row["status"] + reason, "clean" if bad else row["judgement"])
    pills = " ".join([status, *(_pill(text, "wrong") for text in bad)])
    parts = [f'<div class="row"><span class="name">{escape(row["name"])}</span> {pills}']
    if declaration:
        named = "" if declaration["name"] == row["name"] else f"{declaration['name']} · "
        parts.append(f'<p class="where">{escape(named + _place(declaration))}</p><p>{escape(row["wording"])}</p>')
    for site in [*row["sites"], *row["other_sites"]]:
        parts.append(f'<p class="where">{escape(site["name"])} · {escape(_place(site))}</p>')
    notes = list(row_notes(row))
    if notes:
        tone = _CONNECTION.get((constant or {}).get("verdict", ""), "")
        lines = "".join(
            f'<li class="{tone if note.startswith("constant ") else ""}">{escape(note)}</li>' for note in notes
        )
        parts.append(f"<ul>{lines}</ul>")
    if declaration and declaration["signature"]:
        doc = f"<p>{escape(declaration['doc'])}</p>" if declaration["doc"] else ""
        compared = f"<p>compared: <code>{escape(constant['lean'])}</code></p>" if constant else ""
        text = f"<pre>{escape(declaration['signature'])}</pre>"
        parts.append(f"<details><summary>statement</summary>{doc}{text}{compared}</details>")
    return "".join([*parts, "</div>"])


def _place(site: Content) -> str:
    return f"{site['kind']} · {site['file']}:{site['line']}"


def _pill(text: str, tone: str) -> str:
    return f'<span class="pill {tone}">{escape(text)}</span>'


def _appendices(content: Content) -> Iterable[str]:
    yield _table(
        "Numerical verdicts on items that no map mentions",
        ("Statement", "Verdict", "Claim"),
        [(v["id"], v["verdict"], v["claim"]) for v in content["numerical_only"]],
    )
    yield _table(
        "Docstrings that cite an item: a suggestion, not a mapping",
        ("Item", "Declaration", "Where"),
        [(s["item"], s["name"], f"{s['file']}:{s['line']}") for s in content["suggestions"]],
    )
    yield _table(
        "Declarations with sorry, admit, stop or axiom in their own text",
        ("Declaration", "Flags", "Where"),
        [(g["name"] or g["kind"], ", ".join(g["flags"]), f"{g['file']}:{g['line']}") for g in content["given_up"]],
    )
    yield _table(
        "Text that could not be placed",
        ("Where", "Why", "Text"),
        [(f"{u['file']}:{u['start'][0]}-{u['end'][0]}", u["reason"], u["excerpt"]) for u in content["unparsed"]],
    )
    yield _table(
        "Diagnostics",
        ("Where", "What"),
        [(f"{d['file']}:{d['at'][0]}:{d['at'][1]}", d["message"]) for d in content["diagnostics"]],
    )
    yield _table("Files not read", ("Path", "Why"), [(p["path"], p["message"]) for p in content["problems"]])


def _table(title: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<details><summary><h2 style='display:inline'>{escape(title)} · {len(rows)}</h2></summary>"
        f"<table><tr>{head}</tr>{body}</table></details>"
    )
