"""The relations in the conclusion of a statement: `a ≤ b` with the text of both sides.

Quantifiers and hypotheses are passed over, conjunctions taken apart; a relation inside an argument is not
seen.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lean_bridge.brackets import CLOSING, OPENING
from lean_bridge.formula.term import OutsideError
from lean_bridge.names import COMPONENT, REST

RELATIONS = ("≤", "<", "=", "≥", ">")
_MAX_DEPTH = 200
_QUANTIFIER = re.compile(r"(?:∀|∃!?)")
_CONNECTIVE = re.compile(r"→|∧|↔|∨|,|≤|≥|≠|(?<![<>=:!|])=(?![=>])|<(?![|;=])|(?<![|=-])>(?!=)")
_BINDER = re.compile(rf"[(\[{{⦃]\s*((?:{COMPONENT}\s+)*{COMPONENT})\s*:(?!=)")
_BOUND = re.compile(rf"(?:∀|∃!?|∑|∏|∫|⨆|⨅|(?<![{REST}])(?:fun|let|have))\s*((?:{COMPONENT}[\s,]*)+)")
_TYPED = re.compile(
    rf"(?:[(\[{{⦃]|∀|∃!?)\s*((?:{COMPONENT}\s+)*{COMPONENT})\s*:(?!=)\s*([^()\[\]{{}}⦃⦄:=,]*?)\s*[)\]}}⦄,]"
)
_NAME = re.compile(COMPONENT)


@dataclass(frozen=True, slots=True)
class Relation:
    """`left sign right`, sign one of RELATIONS."""

    left: str
    sign: str
    right: str


def conclusion(text: str) -> list[Relation]:
    """The relations of the conclusion of a proposition, in order. Raises OutsideError if too nested."""
    return list(_relations(text, 0))


def bound_names(signature: str) -> frozenset[str]:
    """Names that the signature binds, so that they do not mean a global constant (some more than that)."""
    names: set[str] = set()
    for pattern in (_BINDER, _BOUND):
        for match in pattern.finditer(signature):
            names.update(_NAME.findall(match[1]))
    return frozenset(names)


def binder_types(signature: str) -> dict[str, set[str]]:
    """The types, where they are simple, with which names are bound in a signature or `variable` command."""
    types: dict[str, set[str]] = {}
    for match in _TYPED.finditer(signature):
        for name in _NAME.findall(match[1]):
            types.setdefault(name, set()).add(match[2])
    return types


def _relations(text: str, depth: int) -> Iterator[Relation]:
    if depth > _MAX_DEPTH:
        raise OutsideError(f"a statement nested more than {_MAX_DEPTH} deep")
    text = _stripped(text)
    if _QUANTIFIER.match(text):
        commas = [at for at, token in _top_level(text) if token == ","]
        if commas:
            yield from _relations(text[commas[0] + 1 :], depth + 1)
        return
    # A quantifier reaches as far as it can: what stands after the first one is a part of it.
    reach = _first_quantifier(text)
    tokens = [(at, token) for at, token in _top_level(text) if at < reach]
    arrows = [at for at, token in tokens if token == "→"]
    if any(token == "↔" for _, token in tokens):
        return
    if arrows:
        yield from _relations(text[arrows[-1] + 1 :], depth + 1)
        return
    if any(token == "∨" for _, token in tokens):
        return
    ands = [at for at, token in tokens if token == "∧"]
    if ands:
        for start, end in zip([-1, *ands], [*ands, len(text)], strict=True):
            yield from _relations(text[start + 1 : end], depth + 1)
        return
    signs = [(at, token) for at, token in tokens if token in RELATIONS or token == "≠"]
    if len(signs) == 1 and signs[0][1] in RELATIONS and ":=" not in text:
        at, sign = signs[0]
        yield Relation(text[:at].strip(), sign, text[at + 1 :].strip())


def _first_quantifier(text: str) -> int:
    """Offset of the first quantifier outside brackets: what follows it belongs to it."""
    level = 0
    for at, char in enumerate(text):
        if char in OPENING:
            level += 1
        elif char in CLOSING:
            level -= 1
        elif char in "∀∃" and level == 0:
            return at
    return len(text)


def _top_level(text: str) -> Iterator[tuple[int, str]]:
    """Connectives and relations outside brackets; bars `|x|` and binders of quantifiers count as text."""
    level = 0
    matches = {match.start(): match[0] for match in _CONNECTIVE.finditer(text)}
    for at, char in enumerate(text):
        if char in OPENING:
            level += 1
        elif char in CLOSING:
            level -= 1
        elif level == 0 and at in matches:
            yield at, matches[at]


def _stripped(text: str) -> str:
    """Without blanks and without brackets around the whole."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")"):
        level = 0
        for at, char in enumerate(text):
            if char in OPENING:
                level += 1
            elif char in CLOSING:
                level -= 1
            if level == 0 and at < len(text) - 1:
                return text
        text = text[1:-1].strip()
    return text
