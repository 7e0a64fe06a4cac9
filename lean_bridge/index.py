"""Finds declarations of a project by name, by suffix, by what generates them, by resemblance."""

import re
from collections.abc import Iterable
from functools import cached_property

from lean_bridge.model import Declaration
from lean_bridge.names import NAME, Name, parse_name
from lean_bridge.near import NearNames

_NAME = re.compile(NAME)
_CAPITAL = re.compile(r"[A-Z][a-z0-9]*")
# Attributes and commands that generate names of the form `x_…` from x; which ones, only Lean knows.
_GENERATING = frozenset({"simps", "simps!", "reassoc", "elementwise", "mk_iff", "ext", "to_additive", "to_dual"})
# What Lean adds to every inductive type, structure or definition.
_AUTOMATIC = re.compile(
    r"(?:rec|recOn|casesOn|below|brecOn|noConfusion|noConfusionType|ndrec|ctorIdx|toCtorIdx|sizeOf_spec|injEq|inj"
    r"|ofNat|elim|induct|induct_unfolding|eq_def|eq_\d+|congr_simp|match_\d+|proof_\d+|unsafe_rec|fun_cases)"
)


class Index:
    """All names a project's source declares. Names are compared by components."""

    def __init__(self, declarations: Iterable[Declaration]) -> None:
        self._constants: dict[Name, list[Declaration]] = {}
        self._candidates: dict[Name, list[Declaration]] = {}
        self._exports: dict[Name, list[Declaration]] = {}
        self._by_last: dict[str, list[tuple[Name, Declaration]]] = {}
        self.anonymous: list[Declaration] = []
        for declaration in declarations:
            name = parse_name(declaration.name)
            if name is None:
                self.anonymous.append(declaration)
                continue
            kind = declaration.kind
            if kind == "generated":
                self._candidates.setdefault(name, []).append(declaration)
            elif kind == "export":
                self._exports.setdefault(name, []).append(declaration)
            else:
                self._constants.setdefault(name, []).append(declaration)
                if kind != "local":
                    self._by_last.setdefault(name[-1], []).append((name, declaration))

    def constants(self, name: Name) -> list[Declaration]:
        """Every place where source declares exactly this name."""
        return self._constants.get(name, [])

    def candidates(self, name: Name) -> list[Declaration]:
        """Attributes that by their rule generate this name."""
        return self._candidates.get(name, [])

    def exported(self, name: Name) -> list[Declaration]:
        """What `export` lets this name stand for; empty where the target is not declared here."""
        found: list[Declaration] = []
        for export in self._exports.get(name, ()):
            target = parse_name(export.target or "")
            for kept in range(len(name) - 1, -1, -1) if target else ():
                sites = self.constants((*name[:kept], *target)) if target else []
                if sites:
                    found += sites
                    break
        return found

    def by_suffix(self, name: Name) -> list[Declaration]:
        """Declarations whose name ends in these components and has more in front."""
        length = len(name)
        return [
            declaration
            for full, declaration in self._by_last.get(name[-1], ())
            if len(full) > length and full[-length:] == name
        ]

    def candidates_by_suffix(self, name: Name) -> list[Declaration]:
        """Candidates whose name ends in these components."""
        length = len(name)
        return [
            declaration
            for full, declarations in self._candidates.items()
            if len(full) > length and full[-length:] == name
            for declaration in declarations
        ]

    def generating(self, name: Name) -> tuple[Declaration, str] | None:
        """The declaration that makes Lean generate `name`, by an attribute or by being one; and the reason."""
        *owner, last = name
        for length in range(len(owner), 0, -1):
            sites = self.constants(tuple(owner[:length]))
            if not sites:
                continue
            site = sites[0]
            if length == len(owner) and _AUTOMATIC.fullmatch(last):
                return site, "made by Lean itself"
            if site.kind in ("structure", "class") and length == len(owner) and re.match(r"to[A-Z]", last):
                return site, "parent written in notation"
            break
        for cut in range(len(last) - 1, 0, -1):
            if last[cut] != "_":
                continue
            for site in self.constants((*owner, last[:cut])):
                for attribute in site.attributes:
                    word = attribute.split(" ", 1)[0]
                    if word in _GENERATING:
                        return site, f"@[{word}]"
        return None

    def anonymous_instances(self, name: Name) -> list[Declaration]:
        """Unnamed instances that Lean may have called `name`, the most probable first.

        Lean composes `inst` and the heads of the class and its arguments, so the class must come first and
        the words of the name must occur in the type; the namespace must agree.
        """
        *namespace, last = name
        if not last.startswith("inst"):
            return []
        words = _CAPITAL.findall(last[4:])
        scored = []
        for declaration in self.anonymous:
            if parse_name(declaration.parent or "") not in (tuple(namespace), None if not namespace else ()):
                continue
            class_name = _class_of(declaration.type)
            if not class_name or not last[4:].startswith(class_name[:1].upper() + class_name[1:]):
                continue
            text = declaration.signature.casefold()
            score = sum(len(word) for word in words if word.casefold() in text)
            scored.append((-score, declaration.file, declaration.keyword, declaration))
        scored.sort(key=lambda row: row[:3])
        return [row[3] for row in scored]

    def near(self, name: Name) -> tuple[str, ...]:
        """At most three declared names that resemble `name`."""
        return self._near.near(name)

    @cached_property
    def _near(self) -> NearNames:
        return NearNames(full for pairs in self._by_last.values() for full, _ in pairs)


def _class_of(type_text: str) -> str | None:
    """Last component of the name at the head of an instance's type."""
    match = _NAME.match(type_text)
    return match[0].rsplit(".", 1)[-1] if match else None
