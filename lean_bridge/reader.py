"""Reads one Lean file: text in, declarations, unparsed stretches and diagnostics out."""

import re
from bisect import bisect_right
from hashlib import sha256

import numpy as np

from lean_bridge.attributes import Attribute, attributes
from lean_bridge.brackets import Brackets
from lean_bridge.generated import generated_names
from lean_bridge.given_up import given_up
from lean_bridge.members import Member, Members
from lean_bridge.model import Declaration, Diagnostic, Position, SourceFile, Unparsed
from lean_bridge.names import NAME, Name, show_name, split_name
from lean_bridge.quotation import blank_quotations
from lean_bridge.scan import scan
from lean_bridge.scopes import Scopes, chain, joined_opens, opened
from lean_bridge.shape import shape
from lean_bridge.split import Command, split
from lean_bridge.terminals import Span, Terminals

_EXCERPT = 120
_NAME = re.compile(NAME)
_IMPORT = re.compile(rf"\s*(?:all\s+)?({NAME})")
_TOKEN = re.compile(r'"\s*([^"]*?)\s*"')
_STANDARD_NOTATION = "+ - * / ^ • = ≠ < ≤ > ≥ ∈ ∉ ⊆ ∣ ∧ ∨ ¬ → ↔ ∑ ∏ ∫ √ ‖ | ⁻¹ min max exp log sqrt rexp ∀ ∃"
_STANDARD = frozenset(_STANDARD_NOTATION.split())
_SKIPS_KERNEL = re.compile(r"set_option\s+debug\.skipKernelTC\s+true")
_SCOPE_RULES = ("namespace", "section", "end", "mutual")
_FLAGGED_MODIFIERS = frozenset({"private", "protected", "unsafe", "partial", "meta", "scoped", "local"})
_FLAGGED_ATTRIBUTES = frozenset({"implemented_by", "extern", "csimp"})
_STATEMENT_ONLY = frozenset({"theorem", "axiom", "opaque"})
_COMPUTED = frozenset({"DEF", "INSTANCE"})


def read_source(path: str, text: str) -> SourceFile:
    """Read a file's text. Never raises for any text: what cannot be placed is listed as unparsed."""
    return _Reader(path, text.removeprefix("\ufeff")).read()


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.scan = scan(text)
        self.brackets = Brackets(self.scan.points)
        self.given_up = given_up(self.scan.code)
        self.scan.code = blank_quotations(self.scan.code, self.brackets)
        self.code = self.scan.code
        self.members = Members(self.scan, self.brackets)
        self.lines: list[int] = np.flatnonzero(self.brackets.points == 0x0A).tolist()
        self.scopes = Scopes()
        self.end = 0  # of the command that is being read, without trailing blanks
        self.module = False
        self.imports: list[str] = []
        self.declarations: list[Declaration] = []
        self.unparsed: list[Unparsed] = []
        self.diagnostics: list[Diagnostic] = []

    def read(self) -> SourceFile:
        for at, message in self.scan.stray:
            self._diagnose(at, message)
        cut = split(self.scan, self.brackets)
        self._assign_given_up(cut.commands)
        for command in cut.commands:
            if command.kind in ("SILENT", "CONTEXT", "NOTATION", "UNKNOWN"):
                self._undeclaring(command)
            else:
                self._declaring(command)
        if cut.skipped:
            self._skip(cut.skipped[0], len(self.text), cut.skipped[1])
        return SourceFile(
            self.path,
            len(self.lines) + (not self.text.endswith("\n") and bool(self.text)),
            self.module,
            tuple(self.imports),
            tuple(self.declarations),
            tuple(self.unparsed),
            tuple(self.diagnostics),
        )

    # Positions

    def _position(self, at: int) -> Position:
        line = bisect_right(self.lines, at - 1)
        return line + 1, at - (self.lines[line - 1] + 1 if line else 0)

    def _diagnose(self, at: int, message: str) -> None:
        self.diagnostics.append(Diagnostic(self.path, self._position(at), message))

    def _skip(self, start: int, end: int, reason: str) -> None:
        piece = self.text[start : start + _EXCERPT].split("\n", 1)[0].rstrip()
        end = start + len(self.text[start:end].rstrip())
        self.unparsed.append(Unparsed(self.path, self._position(start), self._position(end), piece, reason))

    # Words such as `sorry`

    def _assign_given_up(self, commands: list[Command]) -> None:
        """Which command each word stands in; one in text of unknown kind counts for the command above too."""
        self.words: dict[int, set[str]] = {}
        starts = [command.start for command in commands]
        for at, word in self.given_up:
            i = bisect_right(starts, at) - 1
            if i < 0:
                continue
            self.words.setdefault(commands[i].start, set()).add(word)
            if commands[i].kind == "UNKNOWN" and i and word in ("sorry", "admit"):
                self.words.setdefault(commands[i - 1].start, set()).add(word)

    # Commands that declare nothing

    def _undeclaring(self, command: Command) -> None:
        word = command.word
        if command.kind == "UNKNOWN":
            self._skip(command.keyword, command.end, f"unknown command `{word}`")
        elif command.kind == "NOTATION":
            self._notation(command)
        elif command.kind == "CONTEXT":
            text = self._plain(command.keyword, command.end)
            if word == "set_option" and _SKIPS_KERNEL.match(text):
                self.scopes.skip_kernel()
            if word not in ("attribute", "set_option"):
                self.scopes.depend(text)
            if word == "open":
                self.scopes.open(opened(text))
            late = sorted(name for name in _FLAGGED_ATTRIBUTES if name in text) if word == "attribute" else ()
            if late:
                self._diagnose(command.keyword, f"`{text[:_EXCERPT]}` sets {', '.join(late)} away from its declaration")
        elif word == "module":
            self.module = True
        elif word == "import":
            found = _IMPORT.match(self.code, command.after)
            if found:
                self.imports.append(found[1])

    def _notation(self, command: Command) -> None:
        text = self._plain(command.keyword, command.end)
        given_up = self.words.get(command.start)
        if given_up:
            self._diagnose(
                command.keyword,
                f"`{command.word}` expands to {', '.join(sorted(given_up))}; its uses carry no flag",
            )
        self.scopes.depend(text)
        tokens = _TOKEN.findall(text.split("=>", 1)[0])
        if tokens and all(token in _STANDARD for token in tokens):
            self.scopes.shadow()
            self._diagnose(command.keyword, f"`{command.word}` redefines standard notation {' '.join(tokens)}")

    # Commands that declare

    def _declaring(self, command: Command) -> None:
        terminals = Terminals(command, self.code, self.brackets)
        self.end = terminals.end
        form = shape(tuple(terminals.names))
        if form is None:
            self._skip(command.keyword, command.end, f"`{command.word}` is not followed by what it needs")
            return
        rule, first = form
        spans = terminals.spans
        if rule in _SCOPE_RULES:
            self._scope(rule, command, spans[first["NAME"]] if "NAME" in first else None)
        elif self.scopes.top.lost:
            self._skip(command.keyword, command.end, "in a namespace whose name is too long to read")
        elif rule == "alias":
            self._alias(command, spans, first)
        elif rule == "export":
            self._export(command, spans, first)
        elif rule != "example" and (rule != "initialize" or "NAME" in first):
            self._declaration(rule, command, spans, first)

    def _scope(self, rule: str, command: Command, name: Span | None) -> None:
        parts = split_name(self.code[slice(*name)]) if name else None
        if rule == "namespace" and parts:
            if not self.scopes.namespace(parts):
                self._skip(command.keyword, command.end, "a namespace whose name is too long to read")
        elif rule == "section":
            self.scopes.section(parts, command.modifiers)
        elif rule == "mutual":
            self.scopes.mutual()
        elif not self.scopes.end(parts):
            shown = show_name(parts) if parts else "without a name"
            self._diagnose(command.keyword, f"`end` {shown} closes nothing that is open")

    def _alias(self, command: Command, spans: list[Span], first: dict[str, int]) -> None:
        target = self._plain(*spans[first["BODY"]])
        start, end = spans[first.get("NAME", first.get("NAMES", 0))]
        attribute_list = self._attributes(command)
        for name in _NAME.finditer(self.code, start, end):
            if name[0] != "_":
                flags = self._flags(command, attribute_list)
                self._declare(name[0], "alias", command, name.start(), flags, target=target)
                full = self.scopes.full_name(split_name(name[0]))
                self._generate(full, command, attribute_list)

    def _export(self, command: Command, spans: list[Span], first: dict[str, int]) -> None:
        source = self.code[slice(*spans[first["NAME"]])]
        start, end = spans[first["NAMES"]]
        for name in _NAME.finditer(self.code, start, end):
            target = show_name((*split_name(source), *split_name(name[0])))
            self._declare(name[0], "export", command, command.keyword, [], target=target)

    def _declaration(self, rule: str, command: Command, spans: list[Span], first: dict[str, int]) -> None:
        attribute_list = self._attributes(command)
        flags = self._flags(command, attribute_list)
        if rule in ("axiom", "opaque"):
            flags.append(rule)
        head = max((spans[first[t]][1] for t in _HEAD_TERMINALS if t in first), default=command.after)
        signature = self._plain(command.after, head)
        stated = signature
        if rule not in _STATEMENT_ONLY and spans[-1][1] > head:
            stated = f"{signature} {self._plain(head, spans[-1][1])}"
        type_text = self._plain(*spans[first["TYPE"]]) if "TYPE" in first else ""
        name = spans[first["NAME"]] if "NAME" in first else None
        if name is None:
            self._declare(
                "",
                "anonymous instance",
                command,
                command.keyword,
                flags,
                stated=stated,
                signature=signature,
                type_text=type_text,
                attribute_list=attribute_list,
                parent=show_name(self.scopes.top.namespace),
            )
            return
        written = self.code[slice(*name)]
        parts = split_name(written)
        if "protected" in command.modifiers and len(parts) == 1 and not self.scopes.top.namespace:
            self._diagnose(command.keyword, f"protected {written} outside a namespace is an error")
            return
        full = self.scopes.full_name(parts)
        kind = "theorem" if command.word == "lemma" else command.word
        self._declare(
            written,
            kind,
            command,
            name[0],
            flags,
            stated=stated,
            signature=signature,
            type_text=type_text,
            attribute_list=attribute_list,
        )
        self._members(rule, command, full, name[0], spans, first)
        self._generate(full, command, attribute_list)

    def _members(
        self, rule: str, command: Command, full: Name, name_at: int, spans: list[Span], first: dict[str, int]
    ) -> None:
        body = spans[first["BODY"]] if "BODY" in first else None
        if rule == "structure":
            if "PARENTS" in first:
                for parent in self.members.parents(*spans[first["PARENTS"]]):
                    if parent:
                        self._member(parent, full, command, name_at)
                    else:
                        self._note_unknown_parent(full, name_at)
            made = False
            for member in self.members.fields(*body) if body else ():
                made |= member.kind == "constructor"
                self._member(member, full, command, member.at)
            if not made:
                self._member(Member("mk", "constructor", name_at), full, command, name_at)
        elif rule == "inductive":
            start = body or (spans[first["ALTERNATIVES"]] if "ALTERNATIVES" in first else None)
            for member in self.members.constructors(*start) if start else ():
                self._member(member, full, command, member.at)
        elif rule != "initialize":
            span = body or (spans[first["ALTERNATIVES"]] if "ALTERNATIVES" in first else None)
            if span and (rule != "theorem" or self._has_locals(*span)):
                for member in self.members.locals(*span, any_where="WHERE" not in first):
                    self._member(member, full, command, member.at)

    def _has_locals(self, start: int, end: int) -> bool:
        return self.code.find("where", start, end) >= 0 or self.code.find("let rec", start, end) >= 0

    def _note_unknown_parent(self, full: Name, at: int) -> None:
        self._diagnose(at, f"{show_name(full)} extends a parent written in notation; its projection is unknown")

    def _member(self, member: Member, owner: Name, command: Command, at: int) -> None:
        flags = [word for word in member.modifiers if word in _FLAGGED_MODIFIERS]
        doc = None
        if member.doc is not None:
            doc = self._doc(member.doc)
            flags.append("doc")
        position = self._position(at)
        self.declarations.append(
            Declaration(
                show_name((*owner, *split_name(member.name))),
                member.kind,
                self.path,
                position,
                position,
                position,
                self._position(at + len(member.name)),
                tuple(sorted(flags)),
                doc,
                type=self._plain(*member.type) if member.type else "",
                parent=show_name(owner),
            )
        )

    def _generate(self, full: Name, command: Command, attribute_list: list[Attribute]) -> None:
        for name, reason in generated_names(full, command.word, attribute_list):
            position = self._position(command.keyword)
            self.declarations.append(
                Declaration(
                    show_name(name),
                    "generated",
                    self.path,
                    position,
                    position,
                    position,
                    position,
                    ("candidate",),
                    parent=show_name(full),
                    reason=reason,
                )
            )

    def _declare(
        self,
        written: str,
        kind: str,
        command: Command,
        at: int,
        flags: list[str],
        *,
        stated: str = "",
        signature: str = "",
        type_text: str = "",
        attribute_list: list[Attribute] | None = None,
        target: str | None = None,
        parent: str | None = None,
    ) -> None:
        shown = set(flags)
        doc = None
        if command.doc is not None:
            doc = self._doc(command.doc)
            shown.add("doc")
        context = self.scopes.top.context
        opens: list[str] = []
        for word, start, end in command.prefixes:
            text = self._plain(start, end)
            if word == "set_option" and _SKIPS_KERNEL.match(text):
                shown.add("skipKernelTC")
            if word in ("open", "variable", "include", "omit", "universe"):
                context = chain(context, text)
            if word == "open":
                opens += opened(text.removesuffix("in"))
        self.declarations.append(
            Declaration(
                show_name(self.scopes.full_name(split_name(written))) if written else "",
                kind,
                self.path,
                self._position(command.keyword),
                self._position(at),
                self._position(command.start),
                self._position(self.end),
                tuple(sorted(shown)),
                doc,
                tuple(f"{name} {arguments}".rstrip() for name, _, arguments in attribute_list or ()),
                signature,
                type_text,
                sha256(stated.encode("utf-8", "surrogatepass")).hexdigest() if stated else "",
                context.hex(),
                parent,
                target,
                opens=joined_opens(self.scopes.top.opens, opens) if opens else self.scopes.top.opens,
            )
        )

    def _flags(self, command: Command, attribute_list: list[Attribute]) -> list[str]:
        scope = self.scopes.top
        flags = [word for word in command.modifiers if word in _FLAGGED_MODIFIERS]
        if command.kind in _COMPUTED and (scope.noncomputable or "noncomputable" in command.modifiers):
            flags.append("noncomputable")
        if scope.meta:
            flags.append("meta")
        if self.module:
            public = "public" in command.modifiers or (scope.public and "private" not in command.modifiers)
            flags.append("exported" if public else "not-exported")
        if scope.skips_kernel:
            flags.append("skipKernelTC")
        if scope.shadows:
            flags.append("shadowed-notation")
        if command.unbalanced:
            flags.append("unbalanced")
        flags += [name for name, *_ in attribute_list if name in _FLAGGED_ATTRIBUTES]
        flags += self.words.get(command.start, ())
        return flags

    def _attributes(self, command: Command) -> list[Attribute]:
        return [
            Attribute(name, self.code[start:end].strip(), self._plain(start, end))
            for name, start, end in attributes(self.code, command.attributes, self.brackets.close)
        ]

    # Text

    def _doc(self, at: int) -> str:
        return self.text[at + 3 : self.scan.docs[at]].removesuffix("-/").strip()

    def _plain(self, start: int, end: int) -> str:
        return " ".join(self.scan.uncommented(start, end).split())


_HEAD_TERMINALS = ("NAME", "UNIVERSES", "BINDERS", "TYPE", "PARENTS", "NAMES")
