"""`crosswalk.toml`, the project's own map.

[item."lemma-5.1"]
lean = ["Envelope.likelihood_maurey"]
status = "verbatim"                     # or "specialised", "auxiliary"
note = "integer radius"

[item."thm-1.1".symbols]
T = { lean = ["Fintype.card D"], type = "nat", positive = true }

[item."thm-1.1".constant]
ledger = "theorem-constant"             # an id of constants/ledger.toml, or an expression
bound = "C * min(1, sqrt(log(2*T)))"    # optional; C is the ledger's constant
relation = "≤"                          # optional, as are occurrence = 1 and side = "right"

[[command]]                             # a macro that declares names
word = "equation"
argument = '(\\d+)'
declares = "Equation$1"
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from certify.arithmetic.expression import FUNCTIONS
from lean_bridge.maps.entry import STATUSES, ConstantClaim, CustomCommand, Entry, Map, Symbol, item_kind

_TYPES = ("real", "rat", "int", "nat")
_RELATIONS = ("≤", "<", "=", "≥", ">")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIDES = ("left", "right")


def read_toml_map(path: Path, text: str) -> Map:
    """Entries and custom commands of a map; everything wrong with it is listed, each with its place."""
    found = Map()
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found.problems.append(f"{path}: {error}")
        return found
    reader = _Reader(path, text, found)
    reader.fields(data, "$", {"item": reader.items, "command": reader.commands})
    return found


class _Reader:
    def __init__(self, path: Path, text: str, found: Map) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.found = found

    def problem(self, where: str, message: str) -> None:
        self.found.problems.append(f"{self.path}: {where}: {message}")

    def fields(self, data: Any, where: str, readers: dict[str, Callable[[Any, str], Any]]) -> dict[str, Any]:
        """Each known field through its reader; an unknown one is a problem."""
        if not isinstance(data, dict):
            self.problem(where, "must be a table")
            return {}
        read = {}
        for name, value in data.items():
            place = f"{where}.{name}"
            if name in readers:
                read[name] = readers[name](value, place)
            else:
                self.problem(place, f"unknown field; the fields are {', '.join(readers)}")
        return read

    def items(self, data: Any, where: str) -> None:
        if not isinstance(data, dict):
            return self.problem(where, 'must be tables such as [item."lemma-5.1"]')
        for item, value in data.items():
            self.item(item, value, f'{where}."{item}"')
        return None

    def item(self, item: str, data: Any, where: str) -> None:
        got = self.fields(
            data,
            where,
            {
                "lean": self.texts,
                "note": self.text,
                "title": self.text,
                "kind": self.text,
                "file": self.text,
                "status": self.one_of(*STATUSES),
                "external": self.flag,
                "symbols": self.symbols,
                "constant": self.constant,
            },
        )
        if isinstance(data, dict) and "lean" not in data:
            self.problem(where, 'lean is missing: a list of names such as lean = ["A.b"]')
        line = next((i for i, line in enumerate(self.lines, 1) if f'"{item}"' in line or f".{item}]" in line), 1)
        self.found.entries.append(
            Entry(
                item=item,
                names=got.get("lean") or (),
                source=str(self.path),
                line=line,
                kind=item_kind(item, got.get("kind")),
                title=got.get("title"),
                status=got.get("status"),
                note=got.get("note"),
                file=got.get("file"),
                external=bool(got.get("external")),
                symbols=got.get("symbols") or (),
                constant=got.get("constant"),
            )
        )

    def symbols(self, data: Any, where: str) -> tuple[Symbol, ...]:
        symbols = []
        for name, value in data.items() if isinstance(data, dict) else ():
            place = f"{where}.{name}"
            if not _SYMBOL.fullmatch(name) or name in FUNCTIONS or name == "C":
                self.problem(place, "a symbol is named by letters, digits and _, and not C or a function")
                continue
            got = self.fields(value, place, {"lean": self.texts, "type": self.one_of(*_TYPES), "positive": self.flag})
            if not got.get("lean"):
                self.problem(place, "lean is missing: the Lean texts that the symbol stands for")
            symbols.append(Symbol(name, got.get("lean") or (), got.get("type") or "real", bool(got.get("positive"))))
        if not isinstance(data, dict):
            self.problem(where, "must be a table")
        return tuple(symbols)

    def constant(self, data: Any, where: str) -> ConstantClaim | None:
        got = self.fields(
            data,
            where,
            {
                "ledger": self.text,
                "bound": self.text,
                "relation": self.one_of(*_RELATIONS),
                "occurrence": self.count,
                "side": self.one_of(*_SIDES),
            },
        )
        if not got.get("ledger"):
            self.problem(where, "ledger is missing: the id of the constant, or an expression")
            return None
        return ConstantClaim(
            got["ledger"], got.get("bound"), got.get("relation"), got.get("occurrence"), got.get("side")
        )

    def commands(self, data: Any, where: str) -> None:
        if not isinstance(data, list):
            return self.problem(where, "must be [[command]] tables")
        for i, value in enumerate(data):
            place = f"{where}[{i}]"
            got = self.fields(value, place, {"word": self.text, "argument": self.pattern, "declares": self.text})
            if got.get("word") and got.get("argument") and got.get("declares"):
                self.found.commands.append(CustomCommand(got["word"], got["argument"], got["declares"]))
            elif isinstance(value, dict) and not {"word", "argument", "declares"} <= set(value):
                self.problem(place, "needs word, argument and declares")
        return None

    def text(self, value: Any, where: str) -> str | None:
        if isinstance(value, str):
            return value
        self.problem(where, "must be a string")
        return None

    def texts(self, value: Any, where: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return tuple(value)
        self.problem(where, 'must be a list of strings such as ["A.b"]')
        return ()

    def flag(self, value: Any, where: str) -> bool:
        if not isinstance(value, bool):
            self.problem(where, "must be true or false")
        return value is True

    def count(self, value: Any, where: str) -> int | None:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        self.problem(where, "must be a whole number, 1 or more")
        return None

    def one_of(self, *allowed: str) -> Callable[[Any, str], str | None]:
        def read(value: Any, where: str) -> str | None:
            if value in allowed and isinstance(value, str):
                return value
            self.problem(where, f"must be one of {', '.join(allowed)}")
            return None

        return read

    def pattern(self, value: Any, where: str) -> re.Pattern[str] | None:
        try:
            return re.compile(value)
        except (re.error, TypeError) as error:
            self.problem(where, f"is not a regular expression: {error}")
            return None
