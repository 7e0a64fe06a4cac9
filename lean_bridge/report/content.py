"""The report as plain data: what every writer shows, schema `lean-bridge-report/1`."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lean_bridge.audit import Audit, is_open, is_wrong
from lean_bridge.cache import reader_version
from lean_bridge.certify_report import NumericalVerdict, belongs_to
from lean_bridge.crosswalk import Row
from lean_bridge.model import Declaration

SCHEMA = "lean-bridge-report/1"
Content = dict[str, Any]
_WORDS = {
    0: "every row found and clean",
    1: "something is missing, unproved or contradicted",
    3: "something is open or only suggested",
}


def report_content(audit: Audit) -> Content:
    """Everything a report says, in a fixed order; nothing in it depends on when or how fast it was made."""
    project = audit.project
    status = audit.exit_status
    items = _items(audit)
    return {
        "schema": SCHEMA,
        "source": {
            "path": str(project.root),
            "files": len(project.files),
            "lines": project.lines,
            "declarations": sum(1 for d in project.declarations if d.kind not in ("generated", "export", "local")),
            "toolchain": _toolchain(project.root),
            "reachable_files": len(audit.reachable) if audit.reachable is not None else None,
        },
        "environment": {"reader": reader_version()},
        "summary": {
            "status": status,
            "verdict": _WORDS[status],
            "rows": dict(sorted(Counter(row.status for row in audit.rows).items())),
            "wrong": sum(map(is_wrong, audit.rows)),
            "open": sum(is_open(row) and not is_wrong(row) for row in audit.rows),
            "clean": sum(not is_open(row) and not is_wrong(row) for row in audit.rows),
            "axioms_known": audit.inputs.axioms is not None,
            "allowed_axioms": list(audit.inputs.allowed),
        },
        "items": items,
        "numerical_only": [
            _numerical(verdict)
            for verdict in audit.inputs.numerical
            if not any(belongs_to(verdict.id, item["id"]) for item in items)
        ],
        "suggestions": [
            {"item": citation.item, **_site(citation.declaration)}
            for citation in audit.citations
            if not any(row.entry.item == citation.item for row in audit.rows)
        ],
        "given_up": [_site(declaration) for declaration in audit.given_up],
        "unparsed": [
            {
                "file": span.file,
                "start": list(span.start),
                "end": list(span.end),
                "reason": span.reason,
                "excerpt": span.excerpt,
            }
            for span in project.unparsed
        ],
        "diagnostics": [{"file": d.file, "at": list(d.at), "message": d.message} for d in project.diagnostics],
        "problems": [{"path": p.path, "message": p.message} for p in project.problems],
    }


def _items(audit: Audit) -> list[Content]:
    by_item: dict[str, list[Row]] = {}
    for row in audit.rows:
        by_item.setdefault(row.entry.item, []).append(row)
    items = []
    for item, rows in by_item.items():
        entry = rows[0].entry
        numerical = [v for v in audit.inputs.numerical if belongs_to(v.id, item)]
        items.append(
            {
                "id": item,
                "kind": entry.kind,
                "title": entry.title or next((v.title for v in numerical if v.title), None),
                "claim": next((v.claim for v in numerical if v.claim), None),
                "note": entry.note,
                "correspondence": entry.status,
                "map": f"{entry.source}:{entry.line}",
                "numerical": [_numerical(verdict) for verdict in numerical],
                "judgement": _worst(_judgement(rows), numerical),
                "rows": [_row(row) for row in rows],
            }
        )
    return items


def _judgement(rows: Iterable[Row]) -> str:
    rows = list(rows)
    if any(map(is_wrong, rows)):
        return "wrong"
    return "open" if any(map(is_open, rows)) else "clean"


def _worst(judgement: str, numerical: list[NumericalVerdict]) -> str:
    """The judgement on the rows, or a worse one that the numerical verdicts call for."""
    verdicts = {verdict.verdict for verdict in numerical}
    if judgement == "wrong" or "refuted" in verdicts:
        return "wrong"
    return "open" if "undecided" in verdicts else judgement


def _row(row: Row) -> Content:
    return {
        "name": row.name,
        "status": row.status,
        "reason": row.reason,
        "wording": wording(row),
        "judgement": _judgement([row]),
        "declaration": _declaration(row.declaration) if row.declaration else None,
        "sites": [_site(site) for site in row.sites] if not row.declaration else [],
        "other_sites": [_site(site) for site in row.others],
        "suggestions": list(row.suggestions),
        "gaps": list(row.gaps),
        "flags": list(row.noted),
        "axioms": list(row.axioms) if row.axioms is not None else None,
        "forbidden_axioms": list(row.forbidden),
        "changed": row.changed,
        "notes": list(row.notes),
        "remarks": list(row.remarks),
        "constant": {
            "verdict": row.constant.verdict,
            "ledger": row.constant.ledger,
            "lean": row.constant.lean,
            "reason": row.constant.reason,
        }
        if row.constant
        else None,
    }


def wording(row: Row) -> str:
    """What the source shows about the declaration, and no more: never that it is proved."""
    declaration = row.declaration
    if declaration is None:
        return ""
    if row.gaps:
        text = f"its own text has {', '.join(row.gaps)}"
    elif declaration.kind in ("alias",):
        text = f"an alias of {declaration.target}"
    else:
        text = "no sorry in its own text"
    if row.forbidden:
        return f"{text}; depends on axioms {', '.join(row.forbidden)}"
    if row.axioms is None:
        return f"{text}; axioms unknown"
    return f"{text}; axioms {', '.join(row.axioms) or 'none'}"


def _declaration(declaration: Declaration) -> Content:
    return {
        **_site(declaration),
        "span": [list(declaration.start), list(declaration.end)],
        "name_at": list(declaration.at),
        "doc": declaration.doc,
        "attributes": list(declaration.attributes),
        "signature": declaration.signature,
        "digest": declaration.digest,
        "context": declaration.context,
    }


def _site(declaration: Declaration) -> Content:
    return {
        "name": declaration.name,
        "kind": declaration.kind,
        "file": declaration.file,
        "line": declaration.keyword[0],
        "column": declaration.keyword[1],
        "flags": list(declaration.flags),
    }


def _numerical(verdict: NumericalVerdict) -> Content:
    return {
        "id": verdict.id,
        "title": verdict.title,
        "claim": verdict.claim,
        "verdict": verdict.verdict,
        "coverage": verdict.coverage,
        "reason": verdict.reason,
        "instance": verdict.instance,
    }


def _toolchain(root: Path) -> str | None:
    try:
        return (root / "lean-toolchain").read_text(encoding="utf-8").strip()[:200] or None
    except (OSError, UnicodeDecodeError):
        return None


def to_json(content: Content) -> bytes:
    """The report as JSON text."""
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")


def previous_fingerprints(path: Path, text: str) -> tuple[dict[str, str], list[str]]:
    """Digest and context of each declaration in an earlier report, by name, and what is wrong with it."""
    try:
        data = json.loads(text)
        if data.get("schema") != SCHEMA:
            return {}, [f'{path}: $.schema must be "{SCHEMA}"']
        found = {}
        for item in data["items"]:
            for row in item["rows"]:
                declaration = row["declaration"]
                if declaration:
                    found[declaration["name"]] = f"{declaration['digest']}:{declaration['context']}"
    except (json.JSONDecodeError, RecursionError, KeyError, TypeError, AttributeError) as error:
        return {}, [f"{path}: not a report of lean_bridge: {type(error).__name__} {error}"]
    return found, []
