"""Fields, parents and constructors of a structure or inductive type, and local definitions of a body."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lean_bridge.brackets import Brackets
from lean_bridge.layout import first_on_line, skip_blanks, text_before
from lean_bridge.names import COMPONENT, NAME, REST
from lean_bridge.scan import Scan

_FIELD_NAME = re.compile(COMPONENT)
_NAME = re.compile(NAME)
_MODIFIER = re.compile(rf"(?:private|protected|public|noncomputable|unsafe|partial)(?![{REST}])")
_CUSTOM_MK = re.compile(rf"({NAME})\s*::(?!:)")
_DERIVING = re.compile(rf"deriving(?![{REST}])")
_BAR = re.compile(r"[(\[{⟨⦃⟪⟦‹]|\||/--|(?<=\s)deriving\b|:(?!=)")
_FIELD_EDGE = re.compile(r"[(\[{⟨⦃⟪⟦‹]|:=|:")
_COMMA = re.compile(r"[(\[{⟨⦃⟪⟦‹]|,")
_NAMED_PARENT = re.compile(rf"({COMPONENT})\s*:(?!=)\s*")
_ARGUMENT = re.compile(rf"(?:ℝ≥0∞?|[{REST}\s.@«»\"]|:=)+|(?=[(\[{{⟨⦃])")
_LET_REC = re.compile(rf"let\s+rec\s+(?:@\[[^\]\n]*\]\s*)?({NAME})")
_WHERE = re.compile(rf"(?<![{REST}.])where(?![{REST}])")
_LOCAL = re.compile(rf"({NAME})(?=\s*(?:[:({{\[⦃|]|{COMPONENT}))")
_OPERATOR = re.compile(r"[:→←∧∨=<>≤≥≠+\-*/^∘,∀∃∈⊆λ↦|&]")


@dataclass(slots=True)
class Member:
    """A name that belongs to a declaration, with its offset, docstring, modifiers and span of its type."""

    name: str
    kind: str
    at: int
    doc: int | None = None
    modifiers: tuple[str, ...] = ()
    type: tuple[int, int] | None = None


class Members:
    """Reads members between two offsets of a scanned file, each method in time linear in the stretch."""

    def __init__(self, scan: Scan, brackets: Brackets) -> None:
        self.scan = scan
        self.code = scan.code
        self.brackets = brackets
        self.close = brackets.close

    def parents(self, start: int, end: int) -> Iterator[Member | None]:
        """One member `toP` per parent of `extends P, …`; None for a parent written in notation."""
        for left, right in self._parts(start, end):
            at = skip_blanks(self.code, left)
            while self.code.startswith("(", at) and (close := self.close.get(at, right)) < right:
                if self.code[close + 1 : right].strip():
                    break
                at, right = skip_blanks(self.code, at + 1), close
            named = _NAMED_PARENT.match(self.code, at, right)
            if named:
                yield Member(named[1], "parent", at)
                continue
            if self.code.startswith("(", at) and self.code.startswith(".", self.close.get(at, right) + 1):
                at = self.close[at] + 2  # `(f x).P`: the class is P
            head = _NAME.match(self.code, at + self.code.startswith("@", at), right)
            if head and self._are_arguments(head.end(), right):
                yield Member("to" + head[0].rsplit(".", 1)[-1], "parent", at)
            else:
                yield None

    def _parts(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        at = left = start
        while edge := _COMMA.search(self.code, at, end):
            at = edge.end()
            if edge[0] == ",":
                yield left, edge.start()
                left = at
            else:
                at = self.close.get(edge.start(), edge.start()) + 1
        yield left, end

    def _are_arguments(self, at: int, end: int) -> bool:
        """Whether only names, literals and bracket groups stand there: no operator at depth 0."""
        while at < end:
            match = _ARGUMENT.match(self.code, at, end)
            if not match:
                return False
            at = match.end()
            if not match[0]:
                at = self.close.get(at, end) + 1
        return True

    def fields(self, start: int, end: int) -> Iterator[Member]:
        """The constructor `mk' ::`, if written, then the fields."""
        code = self.code
        _, modifiers, name_at = self._lead(skip_blanks(code, start), end)
        custom = _CUSTOM_MK.match(code, name_at, end)
        if custom:
            yield Member(custom[1], "constructor", name_at, None, modifiers)
            start = custom.end()
        for at, item_end in self._items(start, end):
            doc, modifiers, name_at = self._lead(at, item_end)
            if name_at >= item_end or _DERIVING.match(code, name_at):
                return
            if code[name_at] in "([{⦃":
                yield from self._groups(name_at, item_end, doc, modifiers)
                continue
            field = _FIELD_NAME.match(code, name_at, item_end)
            type_at = self._type_at(field.end(), item_end) if field else None
            if field and type_at is not None:
                yield Member(field[0], "field", name_at, doc, modifiers, (type_at, item_end))

    def _groups(self, at: int, end: int, doc: int | None, modifiers: tuple[str, ...]) -> Iterator[Member]:
        """Fields of bracketed groups `(a b : T) {c : T}` that follow one another."""
        code = self.code
        while at < end and code[at] in "([{⦃":
            close = self.close.get(at)
            if close is None or close >= end:
                return
            edge = _FIELD_EDGE.search(code, at + 1, close)
            if edge and edge[0] == ":":
                for name in _FIELD_NAME.finditer(code, at + 1, edge.start()):
                    yield Member(name[0], "field", name.start(), doc, modifiers, (edge.end(), close))
            elif edge and edge[0] != ":=":
                # Binders inside the group make it one field: `(f (x : N) : N)`.
                field = _FIELD_NAME.match(code, skip_blanks(code, at + 1), close)
                type_at = self._type_at(field.end(), close) if field else None
                if field and type_at is not None:
                    yield Member(field[0], "field", field.start(), doc, modifiers, (type_at, close))
            at = skip_blanks(code, close + 1)

    def _type_at(self, at: int, end: int) -> int | None:
        """Offset after the colon of a field's type; None for `x := v`, which sets a parent's default."""
        while edge := _FIELD_EDGE.search(self.code, at, end):
            if edge[0] == ":=":
                return None
            at = edge.end()
            if edge[0] == ":":
                return at
            at = self.close.get(edge.start(), edge.start()) + 1
        return None

    def _items(self, start: int, end: int) -> list[tuple[int, int]]:
        """The items of a block: the first token starts one, and so does every later line in its column."""
        code = self.code
        start = skip_blanks(code, start)
        if start >= end:
            return []
        column = start - code.rfind("\n", 0, start) - 1
        depth = self.brackets.depth(start)
        starts = [start]
        led_until = self._lead(start, end)[2]
        in_column = re.compile(rf"^[ \t]{{{min(column, 999)}}}(?=\S)", re.MULTILINE)
        for match in in_column.finditer(code, start, end):
            at = match.end()
            if at <= led_until or self.brackets.depth(at) != depth:
                continue
            starts.append(at)
            led_until = self._lead(at, end)[2]
        return list(zip(starts, [*starts[1:], end], strict=True))

    def _lead(self, at: int, end: int) -> tuple[int | None, tuple[str, ...], int]:
        """Docstring, attributes and modifiers at `at`: the docstring's offset, the words, where they end."""
        code = self.code
        doc = None
        modifiers: list[str] = []
        while at < end:
            if code.startswith("/--", at):
                doc = at
                at = skip_blanks(code, self.scan.docs[at])
            elif code.startswith("@[", at) and at + 1 in self.close:
                at = skip_blanks(code, self.close[at + 1] + 1)
            elif word := _MODIFIER.match(code, at, end):
                modifiers.append(word[0])
                at = skip_blanks(code, word.end())
            else:
                break
        return doc, tuple(modifiers), at

    def constructors(self, start: int, end: int) -> Iterator[Member]:
        """The constructors `| a (x : N) | b : I` between two offsets."""
        code = self.code
        at = start
        in_type = False
        doc_above: int | None = None
        while edge := _BAR.search(code, at, end):
            bar, token = edge.start(), edge[0]
            at = edge.end()
            if token == "|":
                if not self._starts_constructor(bar, in_type):
                    continue
                doc, modifiers, name_at = self._lead(skip_blanks(code, at), end)
                if doc is None and doc_above is not None:
                    doc = doc_above if code[self.scan.docs[doc_above] : bar].isspace() else None
                name = _NAME.match(code, name_at, end)
                if name:
                    yield Member(name[0], "constructor", name_at, doc, modifiers)
                    at, in_type, doc_above = name.end(), False, None
            elif token == "/--":
                doc_above, at = bar, self.scan.docs.get(bar, at)
            elif token == ":":
                in_type = True
            elif token == "deriving":
                return
            else:
                at = self.close.get(bar, bar) + 1

    def _starts_constructor(self, bar: int, in_type: bool) -> bool:
        """A bar inside a constructor's type may belong to an absolute value `|x|`."""
        code = self.code
        line_first = first_on_line(code, bar)
        if not in_type and not line_first:
            return True
        if code[bar + 1 : bar + 2].isspace():
            return line_first or code[bar - 1 : bar].isspace()
        before = text_before(code, bar)
        return line_first and not (before and _OPERATOR.match(before[-1]))

    def locals(self, start: int, end: int, *, any_where: bool) -> Iterator[Member]:
        """Names of `let rec` and of a `where` block; a `where` in mid-line counts with `any_where`."""
        code = self.code
        for rec in _LET_REC.finditer(code, start, end):
            yield Member(rec[1], "local", rec.start(1))
        depth = self.brackets.depth(start)
        for where in _WHERE.finditer(code, start, end):
            if self.brackets.depth(where.start()) != depth:
                continue
            if not any_where and not first_on_line(code, where.start()):
                continue
            for at, item_end in self._items(where.end(), end):
                doc, modifiers, name_at = self._lead(at, item_end)
                name = _LOCAL.match(code, name_at, item_end)
                if name:
                    yield Member(name[1], "local", name.start(1), doc, modifiers)
            return
