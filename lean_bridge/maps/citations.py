"""Docstrings that cite an item of a paper ("Lemma 5.1"): a hint where to look, never a mapping."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lean_bridge.model import Declaration

_PREFIX = {
    "theorem": "thm",
    "lemma": "lemma",
    "proposition": "prop",
    "corollary": "cor",
    "definition": "def",
    "equation": "eq",
}
_CITATION = re.compile(
    r"\b(?:(Theorem|Thm|Lemma|Lem|Proposition|Prop|Corollary|Cor|Definition|Def)\.?[ ~\n]+"
    r"|(Equation|Eq)\.?[ ~\n]*\(?)((?:[A-Z]\.)?\d+(?:\.\d+)*)"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """A declaration whose docstring cites `item`."""

    item: str
    declaration: Declaration


def citations(declarations: Iterable[Declaration]) -> Iterator[Citation]:
    """Each cited item once per declaration, in the order of the text."""
    for declaration in declarations:
        if not declaration.doc or not declaration.name:
            continue
        seen = set()
        for match in _CITATION.finditer(declaration.doc):
            word = (match[1] or match[2]).lower()
            full = next(name for name in _PREFIX if name.startswith(word) or (word == "thm" and name == "theorem"))
            item = f"{_PREFIX[full]}-{match[3].lower()}"
            if item not in seen:
                seen.add(item)
                yield Citation(item, declaration)
