"""One line of a map from paper items to Lean names, whatever file it was read from."""

import re
from dataclasses import dataclass, field

STATUSES = ("verbatim", "specialised", "auxiliary")
_KINDS = {
    "thm": "theorem",
    "theorem": "theorem",
    "lem": "lemma",
    "lemma": "lemma",
    "prop": "proposition",
    "proposition": "proposition",
    "cor": "corollary",
    "corollary": "corollary",
    "def": "definition",
    "defn": "definition",
    "definition": "definition",
    "instance": "instance",
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a letter of the paper is in a Lean statement: any of the texts `lean`, of the type `type`."""

    name: str
    lean: tuple[str, ...]
    type: str = "real"
    positive: bool = False


@dataclass(frozen=True, slots=True)
class ConstantClaim:
    """Which constant one side of a relation in the Lean statement's conclusion must be.

    `ledger` is an id of the constants' ledger or an expression; `bound`, if given, an expression in the
    symbols in which C stands for it. `occurrence` counts the relations of that sign from 1.
    """

    ledger: str
    bound: str | None = None
    relation: str | None = None
    occurrence: int | None = None
    side: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """The Lean names given for one paper item. `file` is where the map says that they are declared."""

    item: str
    names: tuple[str, ...]
    source: str
    line: int
    kind: str | None = None
    title: str | None = None
    status: str | None = None
    note: str | None = None
    file: str | None = None
    external: bool = False
    symbols: tuple[Symbol, ...] = ()
    constant: ConstantClaim | None = None


@dataclass(frozen=True, slots=True)
class CustomCommand:
    """A command that declares names: `word` with an argument that matches `argument` declares `declares`."""

    word: str
    argument: re.Pattern[str]
    declares: str


@dataclass(slots=True)
class Map:
    """All entries read, with the problems met on the way."""

    entries: list[Entry] = field(default_factory=list)
    commands: list[CustomCommand] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def item_kind(item: str, given: str | None = None) -> str | None:
    """`lemma` for `lemma-5.1` or `lem:maurey`; None where neither the id nor `given` names a kind."""
    if given:
        return _KINDS.get(given.strip().lower())
    return _KINDS.get(re.split(r"[-:.\s\d]", item.lower(), maxsplit=1)[0])
