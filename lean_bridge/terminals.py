"""Cuts one declaring command into the terminals of lean.lark.

A terminal covers a stretch of text: BINDERS all binder groups, TYPE a whole type, BODY what follows `:=` or
`where`. The only hard question is where a type ends, since it may hold `let … :=`, `have … :=`, `match … |
… =>`, absolute values and notation of its own.
"""

import re

from lean_bridge.brackets import Brackets
from lean_bridge.layout import skip_blanks
from lean_bridge.names import COMPONENT, NAME, REST
from lean_bridge.scopes import MAX_NAME_LENGTH
from lean_bridge.split import Command

Span = tuple[int, int]

_NAME = re.compile(rf"{NAME}(?=([{REST}]?))")
_PRIORITY = re.compile(r"\(\s*prio(?:rity)?\b")
_BARE_BINDER = re.compile(COMPONENT)
_TYPE_EDGE = re.compile(
    r"[(\[{⟨⦃⟪⟦‹]|:=|\||←|(?:let_fun|let|have|letI|haveI|match|with|where|extends|deriving)"
    rf"(?![{REST}])"
)
_ARROW_EDGE = re.compile(rf"[(\[{{⟨⦃⟪⟦‹]|:=|=>|λ|fun(?![{REST}])")
_BEFORE_WORD = re.compile(rf"[{REST}.«@]")
_ABSOLUTE = re.compile(r"\|(?=[^\s|])[^|\n]*(?<=\S)\|(?!\s*=>)")
_SCOPES = frozenset({"NAMESPACE", "SECTION", "END"})
_TYPE_KIND = frozenset({"STRUCTURE", "INDUCTIVE"})


class Terminals:
    """Terminal names and their spans, cut from `code[command.after:command.end]`."""

    __slots__ = ("_close", "_code", "_kind", "_no_arrow", "end", "names", "spans")

    def __init__(self, command: Command, code: str, brackets: Brackets) -> None:
        self._code = code
        self._close = brackets.close
        self._kind = command.kind
        self.end = command.after + len(code[command.after : command.end].rstrip())
        self._no_arrow = -1
        self.names: list[str] = [command.kind]
        self.spans: list[Span] = [(command.keyword, command.after)]
        at = skip_blanks(self._code, command.after)
        if command.kind in ("ALIAS", "EXPORT"):
            self._alias(at)
        elif command.kind == "INITIALIZE":
            self._initialize(at)
        elif command.kind in _SCOPES:
            self._name(at)
        elif command.kind != "MUTUAL":
            self._declaration(at)

    def _add(self, terminal: str, start: int, end: int) -> None:
        self.names.append(terminal)
        self.spans.append((start, end))

    def _group(self, at: int) -> int:
        """Offset after the bracket group that opens at `at`, or -1 where it does not close in the command."""
        close = self._close.get(at)
        return -1 if close is None or close >= self.end else close + 1

    def _name(self, at: int) -> int:
        match = _NAME.match(self._code, at, self.end)
        if not match or match[1] or match[0] == "_":
            return at
        if match.end() - at > MAX_NAME_LENGTH and self._kind not in _SCOPES:
            return at
        self._add("NAME", at, match.end())
        return match.end()

    def _alias(self, at: int) -> None:
        after = self._name(at)
        at = skip_blanks(self._code, after)
        if at < self.end and self._code[at] in "⟨(":
            close = self._group(at)
            if close < 0:
                return self._other(at)
            self._add("NAMES", at + 1, close - 1)
            at = skip_blanks(self._code, close)
        if self._code.startswith(":=", at) and at < self.end:
            self._assign(at)
        elif at < self.end:
            self._other(at)
        return None

    def _initialize(self, at: int) -> None:
        match = _NAME.match(self._code, at, self.end)
        colon = skip_blanks(self._code, match.end()) if match else at
        if match and self._code.startswith(":", colon) and not self._code.startswith(":=", colon):
            self._add("NAME", at, match.end())
            self._add("COLON", colon, colon + 1)
            at = self._type(skip_blanks(self._code, colon + 1))
            if not self._code.startswith("←", at):
                return self._other(at)
            self._add("ARROW", at, at + 1)
            at = skip_blanks(self._code, at + 1)
        if at < self.end:
            self._add("BODY", at, self.end)
        return None

    def _declaration(self, at: int) -> None:
        code, end = self._code, self.end
        if self._kind == "INSTANCE" and _PRIORITY.match(code, at):
            after = self._group(at)
            if after < 0:
                return self._other(at)
            self._add("PRIORITY", at, after)
            at = skip_blanks(self._code, after)
        if self._kind != "EXAMPLE":
            at = self._name(at)
        if code.startswith(".{", at):
            after = self._group(at + 1)
            if after < 0:
                return self._other(at)
            self._add("UNIVERSES", at, after)
            at = after
        at = self._binders(skip_blanks(self._code, at))
        doc = -1
        while at < end:
            char = code[at]
            if code.startswith(":=", at):
                return self._assign(at)
            if char == ":":
                self._add("COLON", at, at + 1)
                at = self._type(skip_blanks(self._code, at + 1))
            elif char == "|":
                return self._add("ALTERNATIVES", at if doc < 0 else doc, end)
            elif code.startswith("/--", at) and doc < 0:
                # The docstring of the first constructor; its text is blank.
                doc, at = at, skip_blanks(code, at + 3)
            elif code.startswith("where", at):
                self._add("WHERE", at, at + 5)
                return self._body(at + 5)
            elif code.startswith("extends", at):
                self._add("EXTENDS", at, at + 7)
                at = self._parents(skip_blanks(self._code, at + 7))
            elif code.startswith("deriving", at):
                return self._add("DERIVING", at, end)
            else:
                return self._other(at)
        return None

    def _binders(self, at: int) -> int:
        """Skip binder groups and bare binder names; one BINDERS terminal for all of them."""
        code, start, after = self._code, at, at
        while at < self.end:
            char = code[at]
            if char in "([{⦃":
                at = self._group(at)
                if at < 0:
                    return after
            elif char == "⟨":
                break
            else:
                word = _BARE_BINDER.match(code, at, self.end)
                if not word or word[0] in ("where", "extends", "deriving"):
                    break
                at = word.end()
            after = at
            at = skip_blanks(self._code, at)
        if after > start:
            self._add("BINDERS", start, after)
        return skip_blanks(self._code, after)

    def _type(self, at: int) -> int:
        end = self._type_end(at)
        if (doc := self._code.find("/--", at, end)) >= 0:
            end = doc
        stop = at + len(self._code[at:end].rstrip())
        if stop > at:
            self._add("TYPE", at, stop)
        return end

    def _type_end(self, at: int) -> int:
        """Offset of the token that ends the type which starts at `at`: its own `:=`, `where`, patterns, …"""
        code, end, kind = self._code, self.end, self._kind
        owed = 0
        in_match = False
        while edge := _TYPE_EDGE.search(code, at, end):
            start, token = edge.start(), edge[0]
            at = edge.end()
            if token == ":=":
                if not owed:
                    return start
                owed -= 1
            elif token == "|":
                if in_match:
                    continue
                absolute = _ABSOLUTE.match(code, start, end)
                if absolute:
                    at = absolute.end()
                elif kind == "INDUCTIVE" or (not owed and self._arrow_follows(start)):
                    return start
            elif token == "←":
                if kind == "INITIALIZE":
                    return start
            elif len(token) == 1:
                close = self._close.get(start)
                if close is not None and close < end:
                    at = close + 1
            elif _BEFORE_WORD.match(code, start - 1):
                continue
            elif token in ("where", "extends", "deriving"):
                if token == "where" or kind in _TYPE_KIND:
                    return start
            elif token == "match":
                in_match = True
            elif token != "with":
                owed += 1
        return end

    def _arrow_follows(self, bar: int) -> bool:
        """Whether `=>` comes before `:=` at depth 0 after the bar, other than that of a `fun`."""
        if bar < self._no_arrow:
            return False
        code, at, functions = self._code, bar + 1, 0
        while edge := _ARROW_EDGE.search(code, at, self.end):
            token, at = edge[0], edge.end()
            if token == "=>":
                if not functions:
                    return True
                functions -= 1
            elif token == ":=":
                break
            elif token in ("fun", "λ"):
                functions += not _BEFORE_WORD.match(code, edge.start() - 1)
            else:
                close = self._close.get(edge.start())
                at = at if close is None else close + 1
        self._no_arrow = at if edge else self.end
        return False

    def _parents(self, at: int) -> int:
        """PARENTS up to `where`, `:=`, `deriving`, or a `:` that starts the structure's own type."""
        code = self._code
        end = self._type_end(at)
        stop = end
        colon = _own_type(code, at, end, self._close)
        if colon is not None:
            stop = colon
        self._add("PARENTS", at, at + len(code[at:stop].rstrip()))
        return stop

    def _assign(self, at: int) -> None:
        self._add("ASSIGN", at, at + 2)
        self._body(at + 2)

    def _body(self, at: int) -> None:
        at = skip_blanks(self._code, at)
        if at < self.end:
            self._add("BODY", at, self.end)

    def _other(self, at: int) -> None:
        self._add("OTHER", at, self.end)


_COLON_EDGE = re.compile(r"[(\[{⟨⦃⟪⟦‹]|:(?!=)")
_SORT = re.compile(r"\s*(?:Type|Sort|Prop)\b")


def _own_type(code: str, at: int, end: int, close: dict[int, int]) -> int | None:
    """Offset of the colon in `extends A, B : Type u`; that of `extends toP : P` names a parent instead."""
    while edge := _COLON_EDGE.search(code, at, end):
        if edge[0] == ":":
            if _SORT.match(code, edge.end()):
                return edge.start()
            at = edge.end()
        else:
            at = close.get(edge.start(), edge.start()) + 1
    return None
