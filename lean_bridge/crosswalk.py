"""Paper items × Lean names: one row each, with what the source says about it.

The wording is deliberate. Source text can show that a declaration is there and that its own text holds no
`sorry`; whether it is proved, only Lean can say.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lean_bridge.index import Index
from lean_bridge.keywords import DECLARING
from lean_bridge.lean_output import LeanAxioms, LeanNames
from lean_bridge.maps.entry import Entry
from lean_bridge.model import Declaration, Unparsed
from lean_bridge.names import COMPONENT, NAME, Name, parse_name

ALLOWED_AXIOMS = ("propext", "Classical.choice", "Quot.sound")

# How a name fares. Those in PRESENT name one declaration of this source.
PRESENT = frozenset({"found", "via suffix", "via export", "via alias"})
ABSENT = frozenset({"missing", "renamed"})
_GAPS = frozenset({"sorry", "admit", "stop", "native_decide", "bv_decide", "axiom", "skipKernelTC"})
_NOTED = frozenset(
    {
        "implemented_by",
        "extern",
        "csimp",
        "unsafe",
        "partial",
        "opaque",
        "shadowed-notation",
        "unbalanced",
    }
)
_MOST_LISTED = 5
_WORD = re.compile(COMPONENT)
_DECLARES = re.compile(rf"(?:{'|'.join(DECLARING)})\s+({NAME})")
_PROOFS = frozenset({"theorem"})
_STATEMENTS = frozenset({"theorem", "lemma", "proposition", "corollary"})


@dataclass(frozen=True, slots=True)
class Row:
    """One Lean name given for one paper item."""

    entry: Entry
    name: str
    status: str
    sites: tuple[Declaration, ...] = ()
    others: tuple[Declaration, ...] = ()
    suggestions: tuple[str, ...] = ()
    reason: str | None = None
    axioms: tuple[str, ...] | None = None
    forbidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    changed: bool = False
    constant: "ConstantResult | None" = None

    @property
    def declaration(self) -> Declaration | None:
        """The one declaration of this source that the name means, where there is exactly one."""
        return self.sites[0] if self.status in PRESENT and len(self.sites) == 1 else None

    @property
    def gaps(self) -> tuple[str, ...]:
        """Words in its own text that leave the declaration unproved or trust more than the kernel."""
        return tuple(f for f in self.declaration.flags if f in _GAPS) if self.declaration else ()

    @property
    def noted(self) -> tuple[str, ...]:
        """Flags of the declaration's own text that an auditor should look at."""
        return tuple(f for f in self.declaration.flags if f in _NOTED) if self.declaration else ()


@dataclass(frozen=True, slots=True)
class ConstantResult:
    """Comparison of a constant in a statement: `equal`, `different`, `undecided`, `outside` (the subset)."""

    verdict: str
    ledger: str
    lean: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rows are judged by, besides the source itself."""

    reachable: frozenset[str] | None = None
    names: LeanNames | None = None
    axioms: LeanAxioms | None = None
    allowed: tuple[str, ...] = ALLOWED_AXIOMS
    previous: Mapping[str, str] = field(default_factory=dict)
    unparsed: tuple[tuple[Unparsed, str], ...] = ()


def crosswalk(entries: Iterable[Entry], index: Index, evidence: Evidence) -> list[Row]:
    """A row for every name of every entry, in the order of the entries."""
    rows = [_judged(_found(entry, name, index, evidence), evidence) for entry in entries for name in entry.names]
    return _with_shared(rows)


def _found(entry: Entry, text: str, index: Index, evidence: Evidence) -> Row:
    name = parse_name(text.strip())
    row = Row(entry, text.strip(), "missing")
    if name is None or text.strip() in ("TODO", "todo", "sorry"):
        return replace(row, status="not a name")
    if len(name) > 1 and name[0] == "_root_":
        name = name[1:]
    sites = index.constants(name)
    if sites:
        status = "via alias" if sites[0].kind == "alias" else "found"
        return _chosen(row, sites, status, evidence)
    exported = index.exported(name)
    if exported:
        return _chosen(row, exported, "via export", evidence)
    candidates = index.candidates(name)
    if candidates:
        return replace(row, status="generated (derived)", sites=tuple(candidates), reason=candidates[0].reason)
    suffixed = _in_file(index.by_suffix(name), entry)
    if suffixed:
        return _chosen(row, suffixed, "via suffix", evidence)
    return _not_in_source(row, name, index, evidence)


def _not_in_source(row: Row, name: Name, index: Index, evidence: Evidence) -> Row:
    derived = index.candidates_by_suffix(name)
    if len(derived) == 1:
        return replace(row, status="generated (derived)", sites=tuple(derived), reason=derived[0].reason)
    generating = index.generating(name)
    if generating:
        return replace(row, status="generated", sites=(generating[0],), reason=generating[1])
    instances = index.anonymous_instances(name)
    if instances:
        return replace(row, status="anonymous instance", sites=tuple(instances[:1]), others=tuple(instances[1:3]))
    if row.entry.external or (evidence.names and name in evidence.names.modules):
        module = evidence.names.modules.get(name) if evidence.names else None
        return replace(row, status="external", reason=f"in {module}" if module else None)
    for span, text in evidence.unparsed:
        made = span.reason.startswith("unknown command")
        if _mentions(text, name[-1]) if made else _seems_to_declare(text, name[-1]):
            status = "not in source, may be generated" if made else "unparsed region"
            return replace(row, status=status, reason=f"{span.file}:{span.start[0]}: {span.reason}")
    suggestions = index.near(name)
    if suggestions:
        return replace(row, status="renamed", suggestions=suggestions)
    reason = "Lean's own list does not have it either" if evidence.names else "not in this source"
    return replace(row, status="missing", reason=reason)


def _chosen(row: Row, sites: list[Declaration], status: str, evidence: Evidence) -> Row:
    """One site where the name, its kind of visibility and the imports leave only one; else all of them."""
    if len(sites) > 1 and evidence.reachable is not None:
        near = [site for site in sites if site.file in evidence.reachable]
        far = [site for site in sites if site.file not in evidence.reachable]
        if len(near) == 1:
            return replace(row, status=status, sites=tuple(near), others=tuple(far))
    if len(sites) > 1:
        public = [site for site in sites if "private" not in site.flags]
        if len(public) == 1:
            rest = tuple(site for site in sites if site is not public[0])
            return replace(row, status=status, sites=tuple(public), others=rest)
        return replace(row, status="ambiguous", sites=tuple(sites))
    return replace(row, status=status, sites=tuple(sites))


def _in_file(sites: list[Declaration], entry: Entry) -> list[Declaration]:
    """Those in the file that the map gives, when there are several and that settles it."""
    if len(sites) < 2 or not entry.file:
        return sites
    here = [site for site in sites if site.file == entry.file or site.file.endswith(f"/{entry.file}")]
    return here or sites


def _mentions(text: str, last: str) -> bool:
    """Whether the text has the word `last`, or begins with a command and argument that read like it."""
    words = text[:200].replace(":=", " ").split()
    return last.casefold() == "".join(words[:2]).casefold() or last in _WORD.findall(text)


def _seems_to_declare(text: str, last: str) -> bool:
    """Whether a declaring keyword stands before a name that ends in `last`; prose that mentions it does not count."""
    return any(match[1].rsplit(".", 1)[-1] == last for match in _DECLARES.finditer(text))


def _judged(row: Row, evidence: Evidence) -> Row:
    """The row with what else is known of its declaration."""
    declaration = row.declaration
    if declaration is None:
        return row
    notes = []
    entry = row.entry
    if entry.kind in _STATEMENTS and declaration.kind not in _PROOFS and declaration.kind != "alias":
        notes.append(f"the paper has a {entry.kind}, Lean a {declaration.kind}")
    if entry.kind == "definition" and declaration.kind == "theorem":
        notes.append("the paper has a definition, Lean a theorem")
    if entry.file and not declaration.file.endswith(entry.file.rstrip("/")) and entry.file not in declaration.file:
        notes.append(f"the map says {entry.file}")
    name = parse_name(declaration.name) or ()
    if evidence.names and name not in evidence.names.modules and "private" not in declaration.flags:
        notes.append("Lean's own list of names does not have it")
    axioms = evidence.axioms.axioms.get(name) if evidence.axioms else None
    forbidden = tuple(axiom for axiom in axioms or () if axiom not in evidence.allowed)
    if evidence.axioms and axioms is None:
        notes.append("not among the declarations whose axioms Lean printed")
    before = evidence.previous.get(declaration.name)
    changed = before is not None and before != fingerprint(declaration)
    return replace(row, notes=tuple(notes), axioms=axioms, forbidden=forbidden, changed=changed)


def fingerprint(declaration: Declaration) -> str:
    """What the statement is: its digest and that of the context it is read in."""
    return f"{declaration.digest}:{declaration.context}"


def _with_shared(rows: list[Row]) -> list[Row]:
    """Note declarations that several items claim."""
    items: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.declaration:
            items.setdefault((row.declaration.name, row.declaration.file), []).append(row.entry.item)
    shared = []
    for row in rows:
        claimed = items[row.declaration.name, row.declaration.file] if row.declaration else []
        others = sorted({item for item in claimed if item != row.entry.item})
        if others:
            row = replace(row, remarks=(f"also claimed by {_listed(others)}",))
        shared.append(row)
    return shared


def _listed(items: list[str]) -> str:
    rest = len(items) - _MOST_LISTED
    return ", ".join(items[:_MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "")
