"""One audit: the project, its maps, what Lean and certify wrote, and the rows that follow from them."""

from dataclasses import dataclass, field, replace

from constants.ledger import Ledger
from lean_bridge.bound_check import BoundCheck
from lean_bridge.certify_report import NumericalVerdict, belongs_to
from lean_bridge.crosswalk import ABSENT, ALLOWED_AXIOMS, PRESENT, Evidence, Row, crosswalk
from lean_bridge.imports import reachable_files, root_modules
from lean_bridge.index import Index
from lean_bridge.lean_output import LeanAxioms, LeanNames
from lean_bridge.maps.citations import Citation, citations
from lean_bridge.maps.entry import CustomCommand, Map
from lean_bridge.model import Declaration, Unparsed
from lean_bridge.project import Project

CLEAN, PROBLEMS, BAD_INPUT, OPEN, INTERRUPTED = 0, 1, 2, 3, 130
_MAX_REGION = 4_000_000


@dataclass(frozen=True)
class Inputs:
    """What the user gave besides the directory."""

    map: Map
    roots: tuple[str, ...] = ()
    names: LeanNames | None = None
    axioms: LeanAxioms | None = None
    allowed: tuple[str, ...] = ALLOWED_AXIOMS
    previous: dict[str, str] = field(default_factory=dict)
    numerical: tuple[NumericalVerdict, ...] = ()


@dataclass(frozen=True)
class Audit:
    """Rows, and everything beside them that a report shows."""

    project: Project
    inputs: Inputs
    rows: tuple[Row, ...]
    citations: tuple[Citation, ...]
    given_up: tuple[Declaration, ...]
    reachable: frozenset[str] | None

    @property
    def numerical(self) -> tuple[NumericalVerdict, ...]:
        """Verdicts of the certify report on the items of the maps."""
        items = {row.entry.item for row in self.rows}
        return tuple(v for v in self.inputs.numerical if any(belongs_to(v.id, item) for item in items))

    @property
    def exit_status(self) -> int:
        """0 all rows found and clean, 1 something missing or wrong, 3 something unknown or only suggested."""
        verdicts = {verdict.verdict for verdict in self.numerical}
        if "refuted" in verdicts or any(is_wrong(row) for row in self.rows):
            return PROBLEMS
        incomplete = not self.rows or bool(self.project.problems) or "undecided" in verdicts
        return OPEN if incomplete or any(is_open(row) for row in self.rows) else CLEAN


def audit(project: Project, inputs: Inputs, ledger: Ledger) -> Audit:
    """Judge every row of the maps."""
    declared = _with_custom(project, inputs.map.commands)
    index = Index(declared)
    roots = inputs.roots or tuple(root_modules(project.root))
    reachable = reachable_files(project.files, roots)
    evidence = Evidence(reachable, inputs.names, inputs.axioms, inputs.allowed, inputs.previous, _regions(project))
    bounds = BoundCheck(project, index, ledger)
    rows = []
    for row in crosswalk(inputs.map.entries, index, evidence):
        constant = bounds.check(row.entry, row.declaration) if row.declaration else None
        rows.append(replace(row, constant=constant))
    given_up = tuple(d for d in project.declarations if {"sorry", "admit", "stop", "axiom"} & set(d.flags))
    return Audit(project, inputs, tuple(rows), tuple(citations(declared)), given_up, reachable)


def is_wrong(row: Row) -> bool:
    """Whether the row alone makes the audit fail."""
    different = row.constant is not None and row.constant.verdict == "different"
    return row.status in ABSENT or bool(row.gaps or row.forbidden) or different


def is_open(row: Row) -> bool:
    """Whether the row leaves something for a person or for Lean to settle."""
    known = row.status in PRESENT or (row.status == "external" and row.reason is not None)
    constant = row.constant is not None and row.constant.verdict in ("undecided", "outside")
    return not known or constant or bool(row.noted or row.notes) or row.changed


def _with_custom(project: Project, commands: list[CustomCommand]) -> list[Declaration]:
    """All declarations, with those that user-declared commands make."""
    declared = list(project.declarations)
    for span in project.unparsed if commands else ():
        for command in commands:
            word, _, argument = span.excerpt.partition(" ")
            match = command.argument.match(argument) if word == command.word else None
            if match:
                name = command.declares
                for i, group in enumerate(match.groups(), 1):
                    name = name.replace(f"${i}", group or "")
                declared.append(Declaration(name, "custom", span.file, span.start, span.start, span.start, span.end))
    return declared


def _regions(project: Project) -> tuple[tuple[Unparsed, str], ...]:
    """The text of every unparsed stretch, so that a name can be looked for there."""
    regions = []
    total = 0
    lines: dict[str, list[str]] = {}
    for span in project.unparsed:
        if span.file not in lines:
            try:
                lines[span.file] = (project.root / span.file).read_bytes().decode("utf-8", "replace").split("\n")
            except OSError:
                lines[span.file] = []
        text = "\n".join(lines[span.file][span.start[0] - 1 : span.end[0]])[:_MAX_REGION]
        total += len(text)
        if total > 10 * _MAX_REGION:
            break
        regions.append((span, text))
    return tuple(regions)
