"""Cuts a blanked file into commands: where each begins, its docstring, attributes, modifiers and keyword.

Lean's keywords are tokens, so outside strings, comments and quotations a keyword starts a command. What code
in the wild adds to that: a word in column 0 always counts; an indented keyword counts unless a bracket around
it closes again; one in the middle of a line only at bracket depth 0; and both must be followed by
a name, a binder or a colon (`class=` of JSX is none). `open … in` inside a proof begins nothing.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from lean_bridge.brackets import Brackets
from lean_bridge.keywords import (
    CONTEXT,
    CONTINUING,
    DECLARING,
    ELSEWHERE,
    FOLLOWS,
    FOLLOWS_SCOPE,
    IN_COLUMN_0,
    MODIFIERS,
    NOTATION,
    SCOPING,
    SILENT,
    UNFINISHED,
    WORD,
)
from lean_bridge.layout import first_on_line, skip_blanks, text_before
from lean_bridge.names import LETTER, REST
from lean_bridge.scan import Scan

_IN = re.compile(rf"[(\[{{⟨]|(?<![{REST}.])in(?![{REST}])")
_ATTRIBUTES = re.compile(r"@\[")
_DOTTED = re.compile(rf"\.[{LETTER}«]")
# Whether a word begins with these three letters, read as one number: one vectorised search finds all words.
_BEGINS = np.zeros(1 << 21, dtype=np.bool_)
_BEGINS[[(ord(word[0]) * 128 + ord(word[1])) * 128 + ord(word[2]) for word in ELSEWHERE]] = True
_LAST_WORD = re.compile(rf"(?:#?[{REST}]+|:=|=>)$")
_CLOSES_TERM = re.compile(rf"[{REST}\])}}⟩\"»⌋⌉₊ᶜ⁻¹]")


@dataclass(slots=True)
class Command:
    """One command. Offsets: `start` of its first modifier, `keyword`, `after` the keyword, exclusive `end`.

    `kind` is a terminal of lean.lark, or CONTEXT, NOTATION, SILENT, UNKNOWN. `prefixes` are the commands that
    stand before it with `in`, as (word, start, end of arguments).
    """

    kind: str
    word: str
    start: int
    keyword: int
    after: int
    end: int = 0
    doc: int | None = None
    attributes: list[tuple[int, int]] = field(default_factory=list)
    modifiers: list[str] = field(default_factory=list)
    prefixes: list[tuple[str, int, int]] = field(default_factory=list)
    unbalanced: bool = False


@dataclass(slots=True)
class Split:
    """The commands of a file and the text after `#doc` or `#exit` that is not Lean code (start, reason)."""

    commands: list[Command]
    skipped: tuple[int, str] | None = None


def split(scan: Scan, brackets: Brackets) -> Split:
    """Cut `scan.code` into commands, in time proportional to its length."""
    return _Splitter(scan, brackets).run()


class _Splitter:
    def __init__(self, scan: Scan, brackets: Brackets) -> None:
        self.code = scan.code
        self.docs = scan.docs
        self.brackets = brackets
        self.column_0 = [m.start() for m in IN_COLUMN_0.finditer(self.code)]
        self.commands: list[Command] = []
        self.base = 0
        self.flush_left_block = False
        self.known_in = (0, 0, -1)  # every search that starts in [0] .. [1] finds [2]

    def run(self) -> Split:
        code = self.code
        first = set(self.column_0)
        elsewhere = self._elsewhere()
        limit = 0
        skipped = None
        for at in sorted({*self.column_0, *elsewhere}):
            if at < limit:
                continue
            flush_left = at in first
            command, limit = self._read(at)
            if command is None:
                continue
            if not self._begins(command, at, flush_left):
                limit = min(limit, self._next_in_column_0(at))
                continue
            self._append(command, at)
            if command.word in ("#doc", "#exit"):
                self.commands.pop()
                skipped = (command.start, f"text after {command.word}")
                break
        end = skipped[0] if skipped else len(code)
        if self.commands:
            self._close(end)
        return Split(self.commands, skipped)

    def _elsewhere(self) -> list[int]:
        """Offsets outside column 0 where a command may begin: keywords after a blank, docstrings, `@[`."""
        code = self.code
        found = [at for at in self.docs if first_on_line(code, at)]
        found += [m.start() for m in _ATTRIBUTES.finditer(code) if first_on_line(code, m.start())]
        points = self.brackets.points
        blanks = np.flatnonzero((points[:-3] == 0x20) | (points[:-3] == 0x09)) if len(points) > 3 else points[:0]
        key = (points[blanks + 1] * 128 + points[blanks + 2]) * 128 + points[blanks + 3]
        for at in (blanks[_BEGINS.take(key, mode="clip")] + 1).tolist():
            word = WORD.match(code, at)
            if word and word[0] in ELSEWHERE and not _DOTTED.match(code, word.end()):
                found.append(at)
        return found

    def _append(self, command: Command, at: int) -> None:
        if self.commands:
            self._close(at)
        self.base = self.brackets.depth(at)
        self.flush_left_block = False
        self.commands.append(command)

    def _close(self, end: int) -> None:
        last = self.commands[-1]
        last.end = end
        last.unbalanced = self.brackets.depth(end) != self.base

    def _read(self, start: int) -> tuple[Command | None, int]:
        """The command that begins at `start`, if one does, and the offset before which nothing new begins."""
        code = self.code
        at = start
        command = Command("", "", start, start, start)
        while True:
            at = skip_blanks(code, at)
            if code.startswith("/--", at):
                command.doc, command.start = at, at
                command.attributes, command.modifiers = [], []
                at = self.docs[at]
                continue
            if code.startswith("@[", at):
                close = self.brackets.close.get(at + 1)
                if close is None:
                    return None, at + 2
                command.attributes.append((at + 2, close))
                at = close + 1
                continue
            if code.startswith("/-!", at):
                command.kind, command.word, command.keyword, command.after = "SILENT", "/-!", at, at + 3
                return (command, at + 3) if at == start else (None, at)
            found = WORD.match(code, at)
            if not found:
                return None, max(at, start + 1)
            word, after = found[0], found.end()
            if word in MODIFIERS:
                command.modifiers.append(word)
                at = after
                if word == "scoped" and code.startswith("[", at):
                    at = self.brackets.close.get(at, at) + 1
                continue
            command.word, command.keyword, command.after = word, at, after
            if word in DECLARING or word in SCOPING:
                command.kind = DECLARING.get(word) or SCOPING[word]
                if word == "class":
                    self._class(command)
                return command, command.after
            command.kind = _kind(word)
            if word == "deriving":
                second = WORD.match(code, skip_blanks(code, after))
                if not second or second[0] != "instance":
                    return None, after
                command.kind, command.after = "SILENT", second.end()
                return command, second.end()
            inner = self._after_in(after)
            if inner is None:
                return command, after
            body, is_command = inner
            if not is_command:
                command.kind = command.kind + "_IN"
                return command, after
            command.prefixes.append((word, at, body))
            command.start, command.doc, command.attributes, command.modifiers = body, None, [], []
            at = body

    def _class(self, command: Command) -> None:
        second = WORD.match(self.code, skip_blanks(self.code, command.after))
        if second and second[0] in ("inductive", "abbrev"):
            command.word = f"class {second[0]}"
            command.kind = "INDUCTIVE" if second[0] == "inductive" else "DEF"
            command.after = second.end()

    def _after_in(self, at: int) -> tuple[int, bool] | None:
        """Where the text after the next `in` starts and whether a command starts there; None without `in`."""
        code = self.code
        low, high, found = self.known_in
        if not low <= at <= high:
            low = at
            high = self._next_in_column_0(at)
            found = -1
            while match := _IN.search(code, at, high):
                if match[0] == "in":
                    found = high = match.end()
                    break
                at = self.brackets.close.get(match.start(), match.start()) + 1
            self.known_in = (low, high, found)
        if found < 0:
            return None
        body = skip_blanks(code, found)
        if code.startswith(("@[", "/--"), body):
            return body, True
        word = WORD.match(code, body)
        return body, word is not None and (word[0] in ELSEWHERE or word[0].startswith("#"))

    def _begins(self, command: Command, at: int, flush_left: bool) -> bool:
        """Whether the command read at `at` really begins one there."""
        code, kind = self.code, command.kind
        declares = kind in DECLARING.values() or kind in SCOPING.values()
        if flush_left:
            command.kind = kind.removesuffix("_IN")
            return command.kind != "UNKNOWN" or self._unknown_begins(command, at)
        if kind == "UNKNOWN" or kind.endswith("_IN"):
            return False
        indented = first_on_line(code, at)
        if declares:
            follows = FOLLOWS_SCOPE if kind in SCOPING.values() else FOLLOWS
            if not follows.match(code, command.after):
                return False
        elif not indented or kind == "SILENT":
            return indented and command.word == "deriving"
        if text_before(code, at).endswith("deriving"):
            return False
        if self.brackets.depth(at) == self.base:
            return True
        if not indented:
            return False
        close = self.brackets.enclosing_close(at)
        return close is None or close >= self._next_in_column_0(at)

    def _next_in_column_0(self, at: int) -> int:
        i = bisect_right(self.column_0, at)
        return self.column_0[i] if i < len(self.column_0) else len(self.code)

    def _unknown_begins(self, command: Command, at: int) -> bool:
        """Whether an unknown word in column 0 starts a command of its own or goes on with the last one."""
        code = self.code
        if command.word in CONTINUING or self.brackets.depth(at) > self.base:
            return False
        if not self.commands or command.keyword != at:
            return True
        if self.flush_left_block:
            return False
        before = text_before(code, at, self.commands[-1].after)
        if not before:
            return self.commands[-1].kind in ("SILENT", "END", "SECTION", "MUTUAL")
        last = _LAST_WORD.search(before)
        if last and last[0] in UNFINISHED:
            self.flush_left_block = last[0] in ("by", "do")
            return False
        return bool(_CLOSES_TERM.match(before[-1]))


def _kind(word: str) -> str:
    if word in CONTEXT:
        return "CONTEXT"
    if word in NOTATION:
        return "NOTATION"
    return "SILENT" if word in SILENT or word.startswith("#") else "UNKNOWN"
