"""Reads a declaration's binders, type and body again from its file: reports keep only the signature."""

import re
from functools import lru_cache
from pathlib import Path

from lean_bridge.brackets import Brackets
from lean_bridge.formula.meaning import TYPES
from lean_bridge.formula.term import OutsideError
from lean_bridge.model import Declaration
from lean_bridge.names import COMPONENT
from lean_bridge.quotation import blank_quotations
from lean_bridge.scan import Scan, scan
from lean_bridge.split import Command, split
from lean_bridge.terminals import Terminals

_NAME = re.compile(COMPONENT)
_EXPLICIT = re.compile(r"\s*\(([^()]*):([^()]*)\)")


class SourceText:
    """A Lean file, cut into commands once more."""

    def __init__(self, text: str) -> None:
        self.scan: Scan = scan(text.removeprefix("\ufeff"))
        self.brackets = Brackets(self.scan.points)
        self.scan.code = blank_quotations(self.scan.code, self.brackets)
        self.commands: list[Command] = split(self.scan, self.brackets).commands

    def variables(self) -> list[str]:
        """The text of every `variable` command of the file."""
        texts = []
        for command in self.commands:
            if command.word == "variable":
                texts.append(self._plain(command.after, command.end))
            texts += [self._plain(start, end) for word, start, end in command.prefixes if word == "variable"]
        return texts

    def definition(self, declaration: Declaration) -> tuple[tuple[tuple[str, str], ...], str, str]:
        """Explicit parameters with types, type of the value and body of a definition. Raises OutsideError."""
        line, column = declaration.keyword
        starts = [0, *(m.end() for m in re.finditer("\n", self.scan.text))]
        at = starts[line - 1] + column
        command = next((command for command in self.commands if command.keyword == at), None)
        if command is None:
            raise OutsideError(f"{declaration.name} is not where it was")
        terminals = Terminals(command, self.scan.code, self.brackets)
        spans = dict(zip(terminals.names, terminals.spans, strict=True))
        if not {"TYPE", "ASSIGN", "BODY"} <= spans.keys():
            raise OutsideError(f"{declaration.name} is not of the form `def name : type := term`")
        type_ = TYPES.get(self._plain(*spans["TYPE"]))
        if type_ is None:
            raise OutsideError(f"{declaration.name} has type {self._plain(*spans['TYPE'])}")
        binders = self._plain(*spans["BINDERS"]) if "BINDERS" in spans else ""
        return _parameters(declaration.name, binders), type_, self._plain(*spans["BODY"])

    def _plain(self, start: int, end: int) -> str:
        return " ".join(self.scan.uncommented(start, end).split())


@lru_cache(maxsize=64)
def source_text(path: Path) -> SourceText:
    """The file's text, kept for the next question. Raises OutsideError where it can no longer be read."""
    try:
        return SourceText(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise OutsideError(f"{path} can no longer be read: {error}") from None


def _parameters(name: str, binders: str) -> tuple[tuple[str, str], ...]:
    parameters: list[tuple[str, str]] = []
    at = 0
    while at < len(binders):
        group = _EXPLICIT.match(binders, at)
        type_ = TYPES.get(group[2].strip()) if group else None
        if not group or type_ is None:
            raise OutsideError(f"parameters of {name} beyond explicit numbers: {binders[at : at + 40].strip()}")
        parameters += [(parameter, type_) for parameter in _NAME.findall(group[1])]
        at = group.end()
    return tuple(parameters)
