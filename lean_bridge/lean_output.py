"""Files that Lean wrote: axioms of declarations (`#print axioms`) and the names that exist."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from lean_bridge.names import Name, parse_name

_MARKER = re.compile(r"' (?:depends on axioms:\s*\[([^\[\]]*)\]|does not depend on any axioms)")


@dataclass(slots=True)
class LeanNames:
    """Names that Lean knows, each with the module it comes from where that is told."""

    modules: dict[Name, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class LeanAxioms:
    """For each declaration that was asked about, the axioms its proof uses."""

    axioms: dict[Name, tuple[str, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_axioms(path: Path, text: str) -> LeanAxioms:
    """Output of `#print axioms`, one or many, in any order and with other output between."""
    found = LeanAxioms()
    for marker in _MARKER.finditer(text):
        line = text[max(text.rfind("\n", 0, marker.start()) + 1, marker.start() - 10_000) : marker.start()]
        word = line[line.find("'") + 1 :]
        name = parse_name(word)
        if name is None:
            found.problems.append(f"{path}: {word[:60]!r} is not a Lean name")
        else:
            listed = (marker[1] or "").split(",")
            found.axioms[name] = tuple(sorted(part.strip() for part in listed if part.strip()))
    if not found.axioms:
        found.problems.append(f"{path}: no line such as 'name' depends on axioms: [propext]")
    return found


def read_names(path: Path, text: str) -> LeanNames:
    """A list with one name per line, or doc-gen4's declaration data (JSON with a `declarations` object)."""
    found = LeanNames()
    if text.lstrip().startswith("{"):
        _read_doc_gen(path, text, found)
    else:
        for number, line in enumerate(text.split("\n"), 1):
            word = line.strip()
            if not word or word.startswith(("#", "--")):
                continue
            name = parse_name(word)
            if name is None:
                found.problems.append(f"{path}:{number}: {word[:60]!r} is not a Lean name")
            else:
                found.modules[name] = None
    if not found.modules and not found.problems:
        found.problems.append(f"{path}: holds no name")
    return found


def _read_doc_gen(path: Path, text: str, found: LeanNames) -> None:
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        found.problems.append(f"{path}: {error}")
        return
    declarations = data.get("declarations")
    if not isinstance(declarations, dict):
        found.problems.append(f"{path}: $.declarations is missing: doc-gen4's declaration data has it")
        return
    for word, value in declarations.items():
        name = parse_name(word)
        if name is None:
            continue
        link = value.get("docLink") if isinstance(value, dict) else None
        module = None
        if isinstance(link, str):
            module = link.removeprefix("./").split(".html", 1)[0].replace("/", ".")
        found.modules[name] = module
